# SPDX-License-Identifier: Apache-2.0
"""What operators look after: services, quotas, images, networks; and registries."""

import functools

import fixtures
import testscenarios

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.common import states
from zun.control import containers
from zun.control import images
from zun.control import networks
from zun.control import quotas
from zun.control import registries
from zun.control import services
from zun.placement import ledger
from zun.tests.functional.control import world

load_tests = testscenarios.load_tests_apply_scenarios


class ServicesTest(world.TestCase):
    def _candidates(self):
        return len(self.ledger.candidates({ledger.VCPU: 1},
                                          forbidden=[ledger.DISABLED_TRAIT]))

    def test_switch(self):
        service = services.disable(self.administrator, world.HOST, 'zun-compute', 'broken')
        self.assertEqual((True, 'broken', 0),
                         (service.disabled, service.disabled_reason, self._candidates()))
        service = services.enable(self.administrator, world.HOST, 'zun-compute')
        self.assertEqual((False, None, 1),
                         (service.disabled, service.disabled_reason, self._candidates()))

    def test_the_ledger_is_down(self):
        def fail(*_args):
            raise exception.LedgerUnavailable(reason='x')
        self.ledger.set_disabled = fail
        self.assertTrue(services.disable(self.administrator, world.HOST,
                                         'zun-compute').disabled)

    def test_no_host_yet(self):
        objects.ZunService(self.admin, host='new', binary='zun-compute').create(self.admin)
        self.assertTrue(services.disable(self.administrator, 'new', 'zun-compute').disabled)

    def test_unknown(self):
        for call, args in ((services.enable, ()), (services.disable, ()),
                           (services.force_down, (True,)), (services.delete, ())):
            error = self.assertRaises(exception.ZunServiceNotFound, call, self.administrator,
                                      'nope', 'zun-compute', *args)
            self.assertEqual('Zun service zun-compute on host nope could not be found.',
                             error.message)

    def test_up(self):
        self.assertTrue(services.is_up(self.service))
        self.assertTrue(services.host_is_up(self.context, world.HOST))
        self.assertFalse(services.host_is_up(self.context, 'nope'))
        services.force_down(self.administrator, world.HOST, 'zun-compute', True)
        self.assertFalse(services.host_is_up(self.context, world.HOST))
        services.force_down(self.administrator, world.HOST, 'zun-compute', False)
        self.config(service_down_time=1)
        self.service.last_seen_up = self.service.created_at.replace(year=2020)
        self.service.save()
        self.assertFalse(services.host_is_up(self.context, world.HOST))

    def test_delete(self):
        made = containers.create(self.context, {'image': 'busybox'})
        self.placed(made)
        self.assertRaises(exception.Conflict, services.delete, self.administrator, world.HOST,
                          'zun-compute')
        made.destroy()
        services.delete(self.administrator, world.HOST, 'zun-compute')
        self.assertEqual(([], [], 0),
                         (objects.ZunService.list(self.admin),
                          objects.ComputeNode.list(self.admin), self._candidates()))

    def test_zones(self):
        for host, zone in (('b', 'z'), ('c', 'a'), ('d', 'z')):
            objects.ZunService(self.admin, host=host, binary='zun-compute',
                               availability_zone=zone).create(self.admin)
        self.assertEqual([None, 'a', 'z'], services.zones(self.context))


class QuotasTest(world.TestCase):
    DEFAULTS = {'containers': 40, 'memory': 51200, 'disk': 100, 'cpu': 20}

    def test_precedence(self):
        admin = self.administrator
        self.assertEqual(self.DEFAULTS, quotas.limits(admin, 'project'))
        self.assertEqual({**self.DEFAULTS, 'cpu': 4},
                         quotas.update_class(admin, 'default', {'cpu': '4'}))
        self.assertEqual({**self.DEFAULTS, 'memory': -1},
                         quotas.update_class(admin, 'gold', {'memory': -1}))
        self.assertEqual(self.DEFAULTS | {'cpu': 4}, quotas.defaults(admin))
        self.assertEqual(self.DEFAULTS | {'cpu': 4, 'disk': 0},
                         quotas.update(admin, 'project', {'disk': 0}))
        self.assertEqual(self.DEFAULTS | {'cpu': 4}, quotas.limits(admin, 'other'))
        quotas.delete(admin, 'project')
        quotas.delete(admin, 'project')
        self.assertEqual(self.DEFAULTS | {'cpu': 4}, quotas.limits(admin, 'project'))
        self.assertEqual(self.DEFAULTS | {'memory': -1}, quotas.class_limits(admin, 'gold'))

    def test_usages(self):
        containers.create(self.context, {'image': 'busybox', 'cpu': 0.5, 'disk': 3})
        self.assertEqual({
            'containers': {'limit': 40, 'in_use': 1}, 'cpu': {'limit': 20, 'in_use': 0.5},
            'memory': {'limit': 51200, 'in_use': 512.0}, 'disk': {'limit': 100, 'in_use': 3.0}},
            quotas.usages(self.context, 'project'))

    def test_defaults_count(self):
        self.config(group='quota', memory=600)
        containers.create(self.context, {'image': 'busybox'})
        error = self.assertRaises(exception.OverQuota, containers.create, self.context,
                                  {'image': 'busybox'})
        self.assertEqual("Quota exceeded for resources: ['memory']", error.message)

    def test_no_limits(self):
        self.config(group='quota', driver='zun.common.quota.NoopQuotaDriver', containers=0)
        containers.create(self.context, {'image': 'busybox'})
        self.assertEqual(dict.fromkeys(self.DEFAULTS, -1), quotas.limits(self.context, 'project'))
        self.assertEqual(dict.fromkeys(self.DEFAULTS, {'limit': -1, 'in_use': -1}),
                         quotas.usages(self.context, 'project'))
        self.assertIsNone(quotas.reservation(self.context, 'project', {'containers': 1}))


class RegistriesTest(world.TestCase):
    def test_life(self):
        made = registries.create(self.context, {'domain': 'reg.example', 'name': 'reg',
                                                'username': 'joe', 'password': 'secret'})
        self.assertEqual(('project', 'user'), (made.project_id, made.user_id))
        found = registries.find(self.context, made.uuid)
        self.assertEqual('secret', found.plain_password())
        registries.update(self.context, found, {'password': 'other', 'domain': 'x.example'})
        found = registries.find(self.context, 'reg')
        self.assertEqual(('x.example', 'other'), (found.domain, found.plain_password()))
        for domain in ('reg', 'https://reg.example', 'reg.example/team'):
            for refused in (functools.partial(registries.create, self.context),
                            functools.partial(registries.update, self.context, found)):
                error = self.assertRaises(exception.InvalidValue, refused, {'domain': domain})
                self.assertIn(f"'{domain}'", error.message)
        used = containers.create(self.context, {'image': 'busybox', 'registry': 'reg'})
        self.assertRaises(exception.Conflict, registries.delete, self.context, found)
        used.destroy()
        registries.delete(self.context, found)
        self.assertRaises(exception.RegistryNotFound, registries.find, self.context, made.uuid)

    def test_passwords_need_a_key_that_is_secret(self):
        self.config(allow_default_encryption_key=False)
        plain = {'domain': 'reg.example', 'name': 'reg'}
        found = registries.create(self.context, plain)
        for refused in (functools.partial(registries.create, self.context,
                                          {**plain, 'password': 'secret'}),
                        functools.partial(registries.update, self.context, found,
                                          {'password': 'secret'})):
            self.assertRaises(exception.OperationNotSupported, refused)
        registries.update(self.context, found, {'username': 'joe'})
        self.config(auth_encryption_key='k' * 32)
        registries.update(self.context, found, {'password': 'secret'})
        self.assertEqual('secret', found.plain_password())

    def test_rotation_of_the_key(self):
        old, new = 'o' * 32, 'n' * 32
        everywhere = zun_context.get_admin_context(all_projects=True)
        self.useFixture(fixtures.MonkeyPatch('zun.control.registries._PAGE', 2))
        self.config(auth_encryption_key='x' * 32)
        lost = registries.create(self.context, {'domain': 'lost.example', 'password': 'lost'})
        self.config(auth_encryption_key=old)
        made = [registries.create(self.as_user(f'p{number}'), {
            'domain': 'reg.example', 'password': f'secret {number}'}) for number in range(4)]
        plain = registries.create(self.context, {'domain': 'reg.example'})
        self.config(auth_encryption_key=f'{new},{old}')
        self.assertEqual((4, [lost.uuid]), registries.renew_passwords(everywhere))
        self.assertEqual((0, [lost.uuid]), registries.renew_passwords(everywhere))
        self.config(auth_encryption_key=new)
        for number, registry in enumerate(made):
            found = objects.Registry.get_by_uuid(everywhere, registry.uuid)
            self.assertEqual(f'secret {number}', found.plain_password())
        self.assertIsNone(objects.Registry.get_by_uuid(everywhere, plain.uuid).password)

    def test_password_that_changes_during_rotation(self):
        made = registries.create(self.context, {'domain': 'reg.example', 'password': 'old'})
        read = registries.find(self.context, made.uuid)
        registries.update(self.context, registries.find(self.context, made.uuid),
                          {'password': 'new'})
        self.config(auth_encryption_key=f'{"n" * 32},{self.CONF.auth_encryption_key}')
        self.assertFalse(read.renew_password())
        self.assertEqual('new', registries.find(self.context, made.uuid).plain_password())

    def test_of_others(self):
        made = registries.create(self.as_user('other'), {'domain': 'reg.example', 'name': 'reg'})
        for ident in (made.uuid, 'reg'):
            self.assertRaises(exception.RegistryNotFound, registries.find, self.context, ident)


class ImagesTest(world.TestCase):
    def test_pull(self):
        node = objects.ComputeNode.get_by_name(self.admin, world.HOST)
        digest = 'sha256:' + 'a' * 64
        glance = '16000000-0000-4000-8000-000000000016'
        table = (('nginx', ('nginx', 'latest')), ('nginx:1.25', ('nginx', '1.25')),
                 ('reg.example:5000/a/b:t', ('reg.example:5000/a/b', 't')),
                 (f'redis@{digest}', ('redis', digest)), (glance, (glance, '')))
        for repo, expected in table:
            self.nodes.sent.clear()
            image = images.pull(self.administrator, {'repo': repo, 'host': node.uuid,
                                                     'size': '5m', 'tag': 'ignored'})
            self.assertEqual((*expected, world.HOST, '5m'),
                             (image.repo, image.tag, image.host, image.size))
            self.assertEqual([('image_pull', (world.HOST, image.uuid), {})], self.nodes.sent)
        images.delete(self.administrator, image)
        self.assertEqual(('image_delete', (world.HOST, image.uuid), {}), self.nodes.sent[-1])

    def test_refused(self):
        values = {'repo': 'nginx', 'host': world.HOST}
        images.pull(self.administrator, values)
        table = ((values, exception.ImageAlreadyExists),
                 ({**values, 'host': 'nope'}, exception.InvalidValue),
                 ({**values, 'host': '99999999-0000-4000-8000-000000000000'},
                  exception.InvalidValue),
                 ({**values, 'repo': 'a..b'}, exception.ReferenceInvalidFormat))
        for given, expected in table:
            self.assertRaises(expected, images.pull, self.administrator, given)

    def test_what_failed_is_pulled_again(self):
        values = {'repo': 'nginx', 'host': world.HOST}
        image = images.pull(self.administrator, values)
        self.assertEqual((states.PULLING, None), (image.status, image.status_reason))
        image.status, image.status_reason = states.ERROR, 'no such image'
        image.save()
        self.nodes.answers['image_pull'] = exception.BusUnavailable(reason='x')
        self.assertRaises(exception.BusUnavailable, images.pull, self.administrator, values)
        row = objects.Image.list(self.admin)[0]
        self.assertEqual((states.ERROR, 'no such image'), (row.status, row.status_reason))
        del self.nodes.answers['image_pull']
        again = images.pull(self.administrator, values)
        self.assertEqual((image.uuid, states.PULLING, None),
                         (again.uuid, again.status, again.status_reason))
        self.assertEqual(('image_pull', (world.HOST, image.uuid), {}), self.nodes.sent[-1])
        self.assertRaises(exception.ImageAlreadyExists, images.pull, self.administrator, values)

    def test_bus_down(self):
        self.nodes.answers['image_pull'] = exception.BusUnavailable(reason='x')
        self.assertRaises(exception.BusUnavailable, images.pull, self.administrator,
                          {'repo': 'nginx', 'host': world.HOST})
        self.assertEqual([], objects.Image.list(self.admin))

    def test_search(self):
        self.nodes.answers['image_search'] = [{'name': 'nginx'}]
        self.assertEqual([{'name': 'nginx'}], images.search(self.context, 'nginx'))
        images.search(self.context, 'nginx', 'glance', exact_match=True)
        self.assertEqual([(None, 'nginx', 'docker', False), (None, 'nginx', 'glance', True)],
                         [args for _method, args, _kwargs in self.nodes.sent])


class NetworksTest(world.TestCase):
    def test_create(self):
        self.nodes.answers['network_create'] = {'uuid': 'u'}
        self.assertEqual({'uuid': 'u'}, networks.create(self.administrator, 'n', 'private'))
        self.assertEqual([('network_create', (None, 'private'), {})], self.nodes.sent)
        self.assertRaises(exception.OperationNotSupported, networks.create, self.administrator,
                          'n', None)

    def test_delete(self):
        for host in ('b', 'a'):
            objects.ZunNetwork(self.admin, neutron_net_id='n1', host=host,
                               project_id='other').create(self.admin)
        networks.delete(self.administrator, 'n1')
        self.assertEqual([('network_delete', ('a', 'n1'), {}), ('network_delete', ('b', 'n1'), {})],
                         self.nodes.sent)
        self.assertRaises(exception.NetworkNotFound, networks.delete, self.administrator, 'nope')

    def test_delete_of_one_that_zun_defines(self):
        objects.ZunNetwork(self.admin, neutron_net_id='n1', host=None).create(self.admin)
        networks.delete(self.administrator, 'n1')
        for host in ('b', 'a'):
            objects.ZunNetwork(self.admin, neutron_net_id='n1', host=host).create(self.admin)
        networks.delete(self.administrator, 'n1')
        self.assertEqual([(None, 'n1'), ('a', 'n1')],
                         [args for _method, args, _kwargs in self.nodes.sent])
