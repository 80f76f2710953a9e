# SPDX-License-Identifier: Apache-2.0
"""Images and files through the whole cloud; with ``tools/lab up glance`` also a real Glance."""

import base64
import os

from keystoneauth1 import exceptions as ks_exc

from zun.tests.functional import engine as real
from zun.tests.functional.lab import base

MIB = 1 << 20


class ImagesTest(base.LabTestCase):
    def setUp(self):
        super().setUp()
        self.container = self.running()

    def running(self, **fields):
        made = self.post(**fields)['uuid']
        self.wait_status(made, 'Running')
        return made

    def ask(self, verb, action, version='1.40', container=None, **kwargs):
        return self.user.http(
            verb, f'/v1/containers/{container or self.container}/{action}', version, **kwargs)

    def put(self, data, **kwargs):
        return self.ask('POST', 'put_archive', params={'path': '/tmp'},
                        json={'data': base64.b64encode(data).decode()}, **kwargs)

    def get(self, path, **kwargs):
        answer = self.ask('GET', 'get_archive', params={'path': path}, **kwargs)
        self.assertEqual(200, answer.status_code, answer.text[:500])
        return base64.b64decode(answer.json()['data'])

    def test_large_file_both_ways(self):
        blob = os.urandom(15 * MIB)
        answer = self.put(real.tar({'blob': blob}))
        self.assertEqual(200, answer.status_code, answer.text)
        self.assertEqual(blob, real.untar(self.get('/tmp/blob'))['blob'])

    def test_too_large_both_ways(self):
        for answer in (self.put(bytes(16 * MIB + 1)), self._too_much()):
            self.assertEqual(413, answer.status_code, answer.text[:500])
            self.assertIn(str(16 * MIB), answer.text)

    def _too_much(self):
        self.ask('POST', 'execute', params={'command': 'dd if=/dev/zero of=/tmp/z bs=1M count=17'})
        return self.ask('GET', 'get_archive', params={'path': '/tmp/z'})

    def test_bytes_survive_at_old_versions(self):
        tar = real.tar({'x': bytes(range(256))})
        answer = self.ask('POST', 'put_archive', '1.24', params={'path': '/tmp'},
                          json={'data': tar.decode('latin-1')})
        self.assertEqual(200, answer.status_code, answer.text)
        answer = self.ask('GET', 'get_archive', '1.24', params={'path': '/tmp/x'})
        found = real.untar(answer.json()['data'].encode('latin-1'))
        self.assertEqual(bytes(range(256)), found['x'])

    def test_long_logs(self):
        self.ask('POST', 'execute', params={
            'command': "sh -c 'yes 0123456789abcdef | head -c 4000000 >/proc/1/fd/1'"})
        answer = self.ask('GET', 'logs')
        self.assertEqual(200, answer.status_code)
        self.assertGreater(len(answer.json()), MIB)

    def test_commit_and_run_it(self):
        self._need_glance()
        answer = self.ask('POST', 'execute', params={'command': 'touch /mark'})
        self.assertEqual(200, answer.status_code)
        answer = self.ask('POST', 'commit', params={'repository': 'lab/snap', 'tag': 'one'})
        self.assertEqual(202, answer.status_code, answer.text)
        image = answer.json()['uuid']
        self.addCleanup(self._glance, f'/v2/images/{image}', 'DELETE')
        self.wait('the image', lambda: self._glance(
            f'/v2/images/{image}').json().get('status') == 'active')
        made = self.running(image=image, image_driver='glance')
        self.assertIn('mark', real.untar(self.get('/mark', container=made)))
        actions = self.ask('GET', 'container_actions').json()['containerActions']
        self.assertIn('commit', [action['action'] for action in actions])

    def _need_glance(self):
        try:
            endpoint = self.user.session.get_endpoint(service_type='image')
        except ks_exc.EndpointNotFound:
            endpoint = None
        if not endpoint:
            self.skipTest('no image service: tools/lab up glance')
        self.image_service = endpoint.rstrip('/').removesuffix('/v2')

    def _glance(self, path, method='GET'):
        return self.user.session.request(self.image_service + path, method, raise_exc=False)
