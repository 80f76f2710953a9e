# SPDX-License-Identifier: Apache-2.0

import uuid

import fixtures
from webob import exc

from zun.api import errors
from zun.common import exception
from zun.tests import base


class ResponseTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger(format='%(message)s'))

    def error(self, raised, status, code):
        response = errors.response(raised)
        self.assertEqual(status, response.status_int)
        error, = response.json['errors']
        self.assertEqual((code, status), (error['code'], error['status']))
        return error

    def test_client_error_shows_its_message(self):
        error = self.error(exception.ContainerNotFound(container='c1'), 404,
                           'container.container-not-found')
        self.assertEqual('Container c1 could not be found.', error['title'])
        self.assertEqual(error['title'], error['detail'])
        self.assertEqual('', self.log.output)

    def test_temporary_error_shows_its_message(self):
        self.error(exception.ContainerHostNotUp(container='c1'), 503,
                   'container.container-host-not-up')
        self.error(exception.NodeTimeout(), 504, 'container.node-timeout')
        self.error(exception.OperationNotSupported(driver='x', method='y'), 501,
                   'container.operation-not-supported')

    def test_internal_error_is_found_in_the_log(self):
        for raised in (RuntimeError('secret'), exception.ZunException('secret'),
                       exception.DockerError(error_msg='secret')):
            error = self.error(raised, 500, 'container.')
            self.assertNotIn('secret', error['title'] + error['detail'])
            identifier = error['detail'].split()[-1]
            uuid.UUID(identifier)
            self.assertIn(identifier, self.log.output)
            self.assertIn('secret', self.log.output)

    def test_version_names_the_range(self):
        error = self.error(exception.MicroversionUnsupported(
            version='1.44', min_version='1.1', max_version='1.43'), 406,
            'container.microversion-unsupported')
        self.assertEqual(('1.1', '1.43'), (error['min_version'], error['max_version']))
        self.assertEqual(['help'], [link['rel'] for link in error['links']])

    def test_routing(self):
        self.error(exc.HTTPNotFound(), 404, 'container.not-found')
        error = self.error(exc.HTTPNotAcceptable('because'), 406, 'container.not-acceptable')
        self.assertEqual('because', error['detail'])

    def test_routing_keeps_allow(self):
        response = errors.response(exc.HTTPMethodNotAllowed(headers=[('Allow', 'GET, POST')]))
        self.assertEqual('GET, POST', response.headers['Allow'])
