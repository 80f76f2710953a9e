# SPDX-License-Identifier: Apache-2.0
"""Every call of the library python-zunclient."""

import collections.abc
import inspect
import io
import os
import tarfile
import typing as ty
import uuid

from zunclient import api_versions
from zunclient.common.apiclient import exceptions
from zunclient.v1 import client

from zun.tests.functional.lab import base


class _Traced:
    """A manager of the library.

    :param called: gets the names of its methods that are used
    """

    def __init__(self, name: str, manager: ty.Any, called: set[str]) -> None:
        self._name, self._manager, self._called = name, manager, called

    def __getattr__(self, method: str) -> ty.Any:
        self._called.add(f'{self._name}.{method}')
        return getattr(self._manager, method)


def _managers(found: client.Client) -> dict[str, ty.Any]:
    return {name: member for name, member in vars(found).items() if name != 'http_client'}


class TestLibrary(base.LabTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.called: set[str] = set()
        self.mine, self.all = self._client(self.user), self._client(self.admin)
        self.name = f'library-{uuid.uuid4().hex[:8]}'

    def _client(self, user: base.User, version: str = '1.40') -> ty.Any:
        found = client.Client(session=user.session, api_version=api_versions.APIVersion(version))
        for name, manager in _managers(found).items():
            setattr(found, name, _Traced(name, manager, self.called))
        return found

    def _refused(self, status: int, call: collections.abc.Callable[..., ty.Any],
                 *args: ty.Any, **kwargs: ty.Any) -> None:
        error = self.assertRaises(exceptions.HttpError, call, *args, **kwargs)
        self.assertEqual(status, error.http_status)

    def _create(self) -> str:
        containers, image = self.mine.containers, os.environ['E2E_IMAGE']
        made = containers.run(name=self.name, image=image, command=base.FOREVER, cpu=0.1,
                              memory='64', interactive=True)
        idle = containers.create(name=f'{self.name}-idle', image=image, memory='64', cpu=0.1)
        self.made += [made.uuid, idle.uuid]
        self.wait_status(made.uuid, 'Running')
        self.wait_status(idle.uuid, 'Created')
        self.assertEqual(self.name, containers.get(made.uuid).name)
        self.assertIn(made.uuid, [found.uuid for found in containers.list()])
        self.assertEqual(2, len(containers.list(limit=2)))
        return made.uuid

    def _inside(self, ident: str) -> None:
        containers = self.mine.containers
        self.assertEqual('hello\n', containers.execute(
            ident, command='echo hello', run=True, interactive=False)['output'])
        self.assertEqual('', containers.logs(ident, stdout=True, stderr=True))
        self.assertIn('PID', containers.top(ident)['Titles'])
        self.assertEqual(64.0, containers.stats(ident)['MEM LIMIT(MiB)'])
        containers.resize(ident, 80, 24)
        self.assertIn('token=', containers.attach(ident))
        prepared = containers.execute(ident, command='sh', run=False, interactive=True)
        self.assertIn('token=', prepared['proxy_url'])
        containers.execute_resize(ident, prepared['exec_id'], 80, 24)
        sent = io.BytesIO()
        with tarfile.open(fileobj=sent, mode='w') as archive:
            archive.addfile(tarfile.TarInfo('empty'))
        containers.put_archive(ident, '/tmp', sent.getvalue())
        received = containers.get_archive(ident, '/tmp/empty')
        with tarfile.open(fileobj=io.BytesIO(received['data'])) as archive:
            self.assertEqual(['empty'], archive.getnames())

    def _lacking(self, ident: str) -> None:
        """What needs a service that the lab does not have."""
        containers = self.mine.containers
        self._refused(501, containers.commit, ident, 'snapshot')
        self._refused(501, containers.commit, ident, 'snapshot', 'tag')
        old = self._client(self.user, '1.14').containers
        self._refused(400, old.add_security_group, ident, 'default')
        self._refused(400, old.remove_security_group, ident, 'default')

    def _change(self, ident: str) -> None:
        containers = self.mine.containers
        self.assertEqual('128', containers.update(ident, memory='128').memory)
        self._client(self.user, '1.13').containers.rename(ident, f'{self.name}-renamed')
        self.assertEqual(f'{self.name}-renamed', containers.get(ident).name)
        network = containers.network_list(ident)[0].net_id
        containers.network_detach(ident, network=network)
        self.wait_done(ident, 'Running')
        containers.network_attach(ident, network=network)
        self.wait_done(ident, 'Running')
        self.assertEqual([network], [found.net_id for found in containers.network_list(ident)])

    def _power(self, ident: str) -> None:
        containers = self.mine.containers
        for call, status in (
                (lambda: containers.pause(ident), 'Paused'),
                (lambda: containers.unpause(ident), 'Running'),
                (lambda: containers.restart(ident, 5), 'Running'),
                (lambda: containers.stop(ident, 5), 'Stopped'),
                (lambda: containers.start(ident), 'Running'),
                (lambda: containers.kill(ident, 'SIGKILL'), 'Stopped'),
                (lambda: containers.rebuild(ident), 'Created')):
            call()
            self.wait_done(ident, status)
        actions = self.mine.actions.list(ident)
        self.assertEqual('rebuild', actions[0].action)
        shown = self.mine.actions.get(ident, actions[0].request_id)
        self.assertEqual('Success', shown.events[0]['result'])
        containers.delete(ident)
        self.wait('the end', lambda: self.user.show(ident) is None)

    def _administrate(self) -> None:
        host = self.all.hosts.list()[0].hostname
        self.assertEqual(host, self.all.hosts.get(host).hostname)
        self.assertEqual(['nova'], [zone.availability_zone
                                    for zone in self.all.availability_zones.list()])
        scheduler = next(service for service in self.all.services.list()
                         if service.binary == 'zun-scheduler')
        services, named = self.all.services, (scheduler.host, scheduler.binary)
        self.assertTrue(services.disable(*named, reason='why')[1]['service']['disabled'])
        self.assertFalse(services.enable(*named)[1]['service']['disabled'])
        for down in (True, False):
            self.assertEqual(
                down, services.force_down(*named, force_down=down)[1]['service']['forced_down'])
        self._refused(404, services.delete, 'nowhere', 'zun-compute')
        self._images(host)

    def _images(self, host: str) -> None:
        images = self.all.images
        made = images.create(repo=os.environ['E2E_IMAGE_TWO'], host=host)
        self.wait('the image', lambda: images.get(made.uuid).image_id)
        self.assertIn(made.uuid, [found.uuid for found in images.list()])
        images.delete(made.uuid)
        self.wait('no image', lambda: made.uuid not in [i.uuid for i in images.list()])
        error = self.assertRaises(exceptions.HttpError, images.search_image,
                                  os.environ['E2E_IMAGE'], image_driver='docker')
        self.assertIn(error.http_status, (501, 503))

    def _limits(self) -> None:
        quotas, classes = self.all.quotas, self.all.quota_classes
        self.assertEqual(40, quotas.defaults(self.user.project).containers)
        self.assertEqual(41, quotas.update(self.user.project, containers=41).containers)
        self.assertEqual(41, quotas.get(self.user.project, usages=True).containers['limit'])
        quotas.delete(self.user.project)
        self.assertEqual(40, quotas.get(self.user.project).containers)
        self.assertEqual(7, classes.update('gold', containers=7).containers)
        self.assertEqual(7, classes.get('gold').containers)

    def _registries(self) -> None:
        registries = self.mine.registries
        made = registries.create(name=self.name, domain='example.org', username='u',
                                 password='p').registry['uuid']
        self.assertEqual('v', registries.update(made, username='v').registry['username'])
        self.assertEqual('v', registries.get(self.name).registry['username'])
        self.assertIn(made, [found.uuid for found in registries.list()])
        registries.delete(made)
        self._refused(404, registries.get, made)

    def _capsules(self) -> None:
        capsules = self.mine.capsules
        made = capsules.create(template={
            'capsuleVersion': 'beta', 'kind': 'capsule', 'metadata': {'name': self.name},
            'spec': {'containers': [{
                'image': os.environ['E2E_IMAGE'], 'command': ['sleep'], 'args': ['1000'],
                'resources': {'requests': {'cpu': 0.1, 'memory': 64}}}]}})
        self.addCleanup(self.user.http, 'DELETE', f'/v1/capsules/{made.uuid}')
        self.wait('a running capsule', lambda: capsules.get(made.uuid).status == 'Running')
        self.assertEqual(self.name, capsules.describe(made.uuid).name)
        self.assertIn(made.uuid, [found.uuid for found in capsules.list()])
        capsules.delete(made.uuid)
        self.wait('no capsule', lambda: made.uuid not in [c.uuid for c in capsules.list()])

    def test_every_call(self) -> None:
        ident = self._create()
        for part in (self._inside, self._lacking, self._change, self._power):
            part(ident)
        for part in (self._administrate, self._limits, self._registries, self._capsules):
            part()
        self.assertEqual('1.43', self.mine.versions.get_current().max_version)
        self.assertEqual(1, len(self.mine.versions.list()))
        plain = client.Client(session=self.user.session)
        known = {f'{name}.{method}' for name, manager in _managers(plain).items()
                 for method, _ in inspect.getmembers(type(manager), inspect.isfunction)
                 if not method.startswith('_')}
        self.assertEqual(set(), known - self.called)
