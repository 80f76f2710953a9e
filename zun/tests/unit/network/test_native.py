# SPDX-License-Identifier: Apache-2.0
"""What users may name and bring, against a Neutron over HTTP."""

from zun.common import context as zun_context
from zun.common import exception
from zun.network import driver
from zun.network import native
from zun.network import neutron
from zun.tests import base
from zun.tests import neutron as fake_neutron

_UUID = '5a000000-0000-4000-8000-00000000000{}'.format


class NativeTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.server = self.useFixture(fake_neutron.Server())
        self.driver = native.NativeDriver(neutron=self.server.client)
        self.context = zun_context.RequestContext(
            project_id='p1', user_id='u1', auth_token='user:p1', overwrite=False)

    def _network(self, ident, project='p1', **values):
        return self.server.add('networks', ident, project_id=project, **values)

    def _port(self, ident, network='n1', project='p1', **values):
        return self.server.add('ports', ident, network_id=network, project_id=project, **values)

    def _resolve(self, *nets):
        return self.driver.resolve(self.context, list(nets))


class ResolveTest(NativeTest):
    def test_default_is_the_oldest_of_the_project(self):
        self._network('young', created_at='2026-02-01T00:00:00Z')
        self._network('old', created_at='2025-02-01T00:00:00Z')
        self._network('bare', created_at='2024-02-01T00:00:00Z', subnets=[])
        self._network('outside', created_at='2023-02-01T00:00:00Z', **{'router:external': True})
        self._network('others', project='p2', created_at='2022-02-01T00:00:00Z', shared=True)
        self.assertEqual([{
            'network': 'old', 'port': '', 'router:external': False, 'shared': False,
            'fixed_ip': '', 'preserve_on_delete': False, 'pci_request_id': None}],
            self._resolve())

    def test_default_is_shared_when_the_project_has_none(self):
        self._network('others', project='p2', shared=True)
        self.assertEqual([('others', True)],
                         [(net['network'], net['shared']) for net in self._resolve()])

    def test_no_network(self):
        self._network('bare', subnets=[])
        error = self.assertRaises(exception.Conflict, self._resolve)
        self.assertEqual('There is no neutron network available', error.message)

    def test_by_id_and_name(self):
        self._network(_UUID(1), name='blue')
        for ident in (_UUID(1), 'blue'):
            self.assertEqual(_UUID(1), self._resolve({'network': ident})[0]['network'])

    def test_a_name_may_look_like_an_id(self):
        self._network('n1', name=_UUID(7))
        self.assertEqual('n1', self._resolve({'network': _UUID(7)})[0]['network'])

    def test_refused_networks(self):
        self._network('n1', name='twin')
        self._network('n2', name='twin')
        self._network('n3', project='p2', name='foreign')
        self.assertRaises(exception.Conflict, self._resolve, {'network': 'twin'})
        for ident in ('foreign', 'nope', _UUID(9)):
            self.assertRaises(exception.NetworkNotFound, self._resolve, {'network': ident})

    def test_order_is_kept(self):
        self._network('n1')
        self._network('n2')
        self._port('p')
        found = self._resolve({'network': 'n2'}, {'port': 'p'}, {'network': 'n1'})
        self.assertEqual([('n2', '', False), ('n1', 'p', True), ('n1', '', False)],
                         [(net['network'], net['port'], net['preserve_on_delete'])
                          for net in found])

    def test_twice(self):
        self._network('n1')
        self._port('p')
        self.assertRaises(exception.PortInUse, self._resolve, {'port': 'p'}, {'port': 'p'})
        self.assertRaises(exception.Invalid, self._resolve, {'network': 'n1'},
                          {'network': 'n1'})

    def test_addresses(self):
        self._network('n1')
        self.server.add('subnets', 's4', network_id='n1', cidr='10.0.0.0/24', anyone=True)
        self.server.add('subnets', 's6', network_id='n1', cidr='fd00::/64', anyone=True)
        both = self._resolve({'network': 'n1', 'v4-fixed-ip': '10.0.0.5',
                              'v6-fixed-ip': 'fd00::5'})[0]
        self.assertEqual(('10.0.0.5', ['10.0.0.5', 'fd00::5']),
                         (both['fixed_ip'], both['fixed_ips']))
        one = self._resolve({'network': 'n1', 'fixed_ip': 'fd00::5'})[0]
        self.assertEqual('fd00::5', one['fixed_ip'])
        self.assertNotIn('fixed_ips', one)
        self.assertRaises(exception.Invalid, self._resolve,
                          {'network': 'n1', 'v4-fixed-ip': '10.0.1.5'})

    def test_port_usability(self):
        self._network('n1')
        table = (
            ('foreign', {'project': 'p2', 'anyone': True}, exception.PortNotUsable),
            ('used', {'device_id': 'x', 'status': 'ACTIVE'}, exception.PortInUse),
            ('active', {'status': 'ACTIVE'}, exception.PortNotUsable),
            ('build', {'status': 'BUILD'}, exception.PortNotUsable),
            ('error', {'status': 'ERROR'}, exception.PortNotUsable),
            ('broken', {'binding:vif_type': 'binding_failed'}, exception.PortBindingFailed),
            ('direct', {'binding:vnic_type': 'direct'}, exception.PortNotUsable),
        )
        for ident, values, expected in table:
            self._port(ident, **values)
            self.assertRaises(expected, self._resolve, {'port': ident})
        self._port('a', name='twin')
        self._port('b', name='twin')
        self.assertRaises(exception.Conflict, self._resolve, {'port': 'twin'})
        self.assertRaises(exception.PortNotFound, self._resolve, {'port': 'nope'})

    def test_find_port_in_any_state(self):
        self._port(_UUID(1), name='busy', device_id='x')
        self.assertEqual(_UUID(1), self.driver.find_port(self.context, 'busy'))
        self.assertRaises(exception.PortNotFound, self.driver.find_port, self.context, 'nope')

    def test_lookups_are_made_with_the_users_rights(self):
        self._network('n1')
        self._resolve({'network': 'n1'})
        self.assertEqual({'user:p1'}, {token for _, _, token in self.server.seen})


class ClaimTest(NativeTest):
    def setUp(self):
        super().setUp()
        self._network('n1')
        self._port('a')
        self._port('b')
        self.wanted = self._resolve({'port': 'a'}, {'port': 'b'})

    def _holders(self):
        return {ident: row['device_id'] for ident, row in self.server.store['ports'].items()}

    def test_claim_and_disclaim(self):
        self.driver.claim(self.context, 'c1', self.wanted)
        self.assertEqual({'a': 'c1', 'b': 'c1'}, self._holders())
        self.assertEqual('compute:zun', self.server.store['ports']['a']['device_owner'])
        self.driver.claim(self.context, 'c1', self.wanted)
        self.driver.disclaim(self.context, 'c1', self.wanted)
        self.assertEqual({'a': '', 'b': ''}, self._holders())

    def test_all_or_none(self):
        self.server.store['ports']['b']['device_id'] = 'other'
        self.assertRaises(exception.PortInUse, self.driver.claim, self.context, 'c1',
                          self.wanted)
        self.assertEqual({'a': '', 'b': 'other'}, self._holders())

    def test_somebody_is_faster(self):
        def snatch(row):
            self.server.before_update = None
            row.update(device_id='other', revision_number=row['revision_number'] + 1)
        self.server.before_update = snatch
        self.assertRaises(exception.PortInUse, self.driver.claim, self.context, 'c1',
                          self.wanted)
        self.assertEqual({'a': 'other', 'b': ''}, self._holders())

    def test_disclaim_leaves_what_is_not_ours(self):
        self.server.store['ports']['a']['device_id'] = 'other'
        del self.server.store['ports']['b']
        self.driver.disclaim(self.context, 'c1', self.wanted)
        self.assertEqual({'a': 'other'}, self._holders())

    def test_networks_need_no_claim(self):
        self.driver.claim(self.context, 'c1', self._resolve({'network': 'n1'}))
        self.assertEqual({'a': '', 'b': ''}, self._holders())

    def test_neutron_fails_half_way(self):
        self.server.faults['PUT', '/ports/b'] = 503
        self.assertRaises(exception.ZunException, self.driver.claim, self.context, 'c1',
                          self.wanted)
        self.assertEqual({'a': '', 'b': ''}, self._holders())

    def test_held(self):
        self._port('own', device_id='c1', tags=['zun'])
        self._port('elsewhere', network='n2', device_id='c1')
        self._port('foreign', network='n3', device_id='c2')
        self.assertEqual({'n1', 'n2'}, self.driver.held(self.context, 'c1'))

    def test_release(self):
        self._port('own', device_id='c1', tags=['zun', 'zun-container=c1'])
        self._port('elsewhere', network='n2', device_id='c1', tags=['zun'])
        self._port('foreign', device_id='c2', tags=['zun'])
        self.driver.claim(self.context, 'c1', self.wanted[:1])
        self.driver.release(self.context, 'c1', 'n1')
        self.assertEqual({'a': '', 'b': '', 'elsewhere': 'c1', 'foreign': 'c2'}, self._holders())
        self.driver.release(self.context, 'c1')
        self.driver.release(self.context, 'c1')
        self.assertEqual({'a': '', 'b': '', 'foreign': 'c2'}, self._holders())


class SecurityGroupsTest(NativeTest):
    def setUp(self):
        super().setUp()
        for ident, name, project in ((_UUID(1), 'web', 'p1'), (_UUID(2), 'twin', 'p1'),
                                     (_UUID(3), 'twin', 'p1'), (_UUID(4), 'foreign', 'p2')):
            self.server.add('security-groups', ident, name=name, project_id=project, anyone=True)

    def _resolve(self, *names, project='p1'):
        return self.driver.resolve_security_groups(self.context, list(names), project)

    def test_names_and_ids(self):
        self.assertEqual([_UUID(1), _UUID(2)], self._resolve('web', _UUID(2), _UUID(1)))
        self.assertEqual([], self._resolve())
        self.assertEqual([_UUID(4)], self._resolve('foreign', project='p2'))

    def test_refused(self):
        for name in ('nope', 'foreign', _UUID(4), _UUID(9)):
            error = self.assertRaises(exception.InvalidValue, self._resolve, name)
            self.assertEqual(f'Security group {name} not found.', error.message)
        self.assertRaises(exception.Conflict, self._resolve, 'twin')


class ServiceTest(NativeTest):
    def test_failures(self):
        table = ((400, exception.Invalid), (401, exception.NotAuthorized),
                 (403, exception.NotAuthorized), (409, exception.Conflict))
        for status, expected in table:
            self.server.faults['GET', '/networks'] = status
            error = self.assertRaises(expected, self._resolve, {'network': 'n'})
            self.assertEqual('planned', error.message)
        self.server.faults['GET', '/networks'] = 502
        error = self.assertRaises(exception.ServiceUnavailable, self._resolve, {'network': 'n'})
        self.assertEqual((503, 'The network service answers 502.'), (error.code, error.message))

    def test_configured(self):
        """The endpoint comes from the options; the user's token goes along as it is."""
        self.config(group='neutron_client', endpoint_override=self.server.url)
        self.config(group='keystone_auth', auth_type='none')
        self._network('n1')
        found = neutron.Neutron.of(self.context).list_networks(name='n1')
        self.assertEqual(['n1'], [network['id'] for network in found])
        self.assertEqual([('GET', '/v2.0/networks', 'user:p1')], self.server.seen)

    def test_the_nodes_side_says_that_it_is_not_there(self):
        node = native.NativeDriver(engine=object())
        for method in (node.plan, node.attach, node.detach):
            self.assertRaises(exception.OperationNotSupported, method, self.context, None, None)

    def test_it_is_a_network_driver(self):
        self.assertIsInstance(native.NativeDriver(), driver.NetworkDriver)
