# SPDX-License-Identifier: Apache-2.0
from zun import objects
from zun.common import exception
from zun.placement import amounts
from zun.placement import client
from zun.placement import ledger
from zun.scheduler import request
from zun.tests import base
from zun.tests import vectors


class QueryTest(base.TestCase):
    def _query(self, args):
        extra = {**args['extra_spec'], f'trait:{ledger.DISABLED_TRAIT}': 'forbidden'}
        in_tree, limit = request.scope(extra.get('requested_host'), extra.get('hints'),
                                       args.get('nodes', ()))
        groups = request.groups(amounts.of(args['cpu'], args['memory'], args['disk']), extra)
        return client.query(groups, limit, in_tree, group_policy=extra.get('group_policy'))

    def test_recorded_queries(self):
        count = 0
        for args, result, status in vectors.of('placement_query'):
            count += 1
            self.config(group='scheduler',
                        max_placement_results=args.get('max_placement_results', 1000))
            with self.subTest(args=args):
                if status:
                    error = self.assertRaises(exception.NoValidHost, self._query, args)
                    self.assertEqual(status, error.code)
                else:
                    self.assertEqual(result, self._query(args))
        self.assertEqual(30, count)

    def test_several_numbered_groups_need_a_policy(self):
        extra = {'resources1:VGPU': 1, 'resources2:FPGA': '2', 'trait2:CUSTOM_FAST': 'required'}
        groups = request.groups({'VCPU': 1}, extra)
        self.assertEqual('group_policy=none&required2=CUSTOM_FAST&resources=VCPU%3A1'
                         '&resources1=VGPU%3A1&resources2=FPGA%3A2', client.query(groups))

    def test_member_of(self):
        self.assertEqual('member_of=abc&resources=VCPU%3A1',
                         client.query({'': client.Group({'VCPU': 1})}, member_of='abc'))


class AmountsTest(base.TestCase):
    def test_memory_of_old_rows(self):
        for text, mib in (('512.5', 513), ('512m', 512), ('2g', 2048), ('524288k', 512),
                          ('536870912b', 512)):
            self.assertEqual(mib, amounts.of(1, text, None)[ledger.MEMORY_MB])

    def test_without_default_limits_one_is_the_least(self):
        self.config(default_cpu=0, default_memory=0)
        self.assertEqual({ledger.VCPU: 1, ledger.MEMORY_MB: 1}, amounts.of(None, None, None))


class BuildTest(base.TestCase):
    def _asked(self, **values):
        return objects.ContainerRequest(**{
            'generation': 0, 'availability_zone': None, 'hints': {}, 'requested_host': None,
            'excluded_hosts': [], 'pci_requests': None, **values})

    def _container(self, cls=objects.Container, **values):
        return cls(**{
            'uuid': '11111111-1111-4111-8111-111111111111', 'project_id': 'p', 'user_id': 'u',
            'cpu': 1.5, 'memory': '512', 'disk': 0, 'runtime': None, 'cpu_policy': 'shared',
            **values})

    def test_container(self):
        self.config(default_schedule_zone='here')
        wanted = request.build(self._container(runtime='kata', disk=3), self._asked(
            excluded_hosts=['a'], hints=None))
        self.assertEqual(ledger.Consumer('11111111-1111-4111-8111-111111111111', 'p', 'u',
                                         'CONTAINER'), wanted.consumer)
        self.assertEqual({'VCPU': 2, 'MEMORY_MB': 512, 'DISK_GB': 3}, wanted.resources)
        self.assertEqual(({ledger.DISABLED_TRAIT}, set()),
                         (set(wanted.main.forbidden), set(wanted.main.required)))
        self.assertEqual(('kata', 'here', 1.5, 512, 3, frozenset({'a'})), (
            wanted.runtime, wanted.zone, wanted.cpu, wanted.memory, wanted.disk, wanted.excluded))
        self.assertEqual({}, wanted.hints)

    def test_capsule_is_another_kind_of_consumer(self):
        wanted = request.build(self._container(objects.Capsule, cpu=3.0), self._asked(
            availability_zone='z'))
        self.assertEqual(('CAPSULE', 'z', 3),
                         (wanted.consumer.kind, wanted.zone, wanted.resources[ledger.VCPU]))

    def test_pci_requests_in_every_form(self):
        spec = {'physical_network': 'net1', 'dev_type': 'PF'}
        stored = objects.ContainerPCIRequests(
            container_uuid='11111111-1111-4111-8111-111111111111',
            requests=[objects.ContainerPCIRequest(count=1, spec=[spec])])
        expected = (request.PciRequest(1, (spec,)),)
        for form in ([{'count': 1, 'spec': [spec]}], {'requests': [{'count': 1, 'spec': [spec]}]},
                     stored.obj_to_primitive()):
            self.assertEqual(expected, request.pci_requests(form))
        self.assertEqual((), request.pci_requests(None))
        self.assertEqual((), request.pci_requests([]))
