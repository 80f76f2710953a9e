# SPDX-License-Identifier: Apache-2.0
from zun import objects
from zun.common import exception
from zun.container import driver
from zun.container.docker import host
from zun.container.docker import spec
from zun.network import driver as network_driver
from zun.tests import base

UUID = '11111111-2222-4333-8444-555555555555'
LIMITS = host.Limits(cpus=4, disk_quota=True, cgroup2=False)
MIB = 1 << 20

FIRST = network_driver.Attachment(
    network_id='n1', engine_network='zun-n1', mac='02:42:00:00:00:01', aliases=('web', 'box'),
    addresses=({'addr': '10.0.0.5', 'version': 4}, {'addr': 'fd00::5', 'version': 6}))
SECOND = network_driver.Attachment(
    network_id='n2', engine_network='zun-n2', mac='02:42:00:00:00:02',
    addresses=({'addr': '10.0.1.5', 'version': 4},))
OUTSIDE = network_driver.Attachment(network_id='n3', addresses=())

#: A container with all that can be asked for, as API 1.41 takes it.
RICH = {
    'Image': 'sha256:abc', 'Cmd': ['sleep 30'], 'Entrypoint': ['sh', '-c'],
    'Env': ['COLOUR=dark blue', 'EMPTY='], 'WorkingDir': '/tmp', 'Hostname': 'box', 'Tty': True,
    'OpenStdin': True,
    'Labels': {'tier': 'web', 'zun.uuid': UUID, 'zun.kind': 'container', 'zun.host': 'node-1',
               'zun.project': 'p1', 'zun.generation': '2', 'zun.op': 'req-1',
               'zun.image': 'lab/web:1'},
    'ExposedPorts': {'80/tcp': {}, '53/udp': {}},
    'Healthcheck': {'Test': ['CMD-SHELL', 'true'], 'Interval': 5 * 10**9, 'Retries': 3},
    'MacAddress': '02:42:00:00:00:01',
    'NetworkingConfig': {'EndpointsConfig': {'zun-n1': {
        'IPAMConfig': {'IPv4Address': '10.0.0.5', 'IPv6Address': 'fd00::5'},
        'Aliases': ['web', 'box']}}},
    'HostConfig': {
        'NetworkMode': 'zun-n1', 'Runtime': 'kata',
        'RestartPolicy': {'Name': 'on-failure', 'MaximumRetryCount': 3},
        'Mounts': [{'Type': 'bind', 'Source': '/s', 'Target': '/d', 'ReadOnly': True,
                    'BindOptions': {'Propagation': 'private'}}],
        'StorageOpt': {'size': '5G'},
        'LogConfig': {'Type': 'json-file', 'Config': {'max-size': '10m', 'max-file': '3'}},
        'PidsLimit': 4096, 'SecurityOpt': ['no-new-privileges'],
        'Memory': 128 * MIB, 'MemorySwap': -1, 'CpuShares': 1536, 'NanoCpus': 1500000000,
        'CpusetCpus': '0,2', 'CpusetMems': '0'},
}


def container(**fields):
    return objects.Container(uuid=UUID, **fields)


def rich():
    return container(
        image='lab/web:1', project_id='p1', command=['sleep 30'], entrypoint=['sh', '-c'],
        environment={'COLOUR': 'dark blue', 'EMPTY': ''}, workdir='/tmp', hostname='box', tty=True,
        interactive=True, labels={'tier': 'web', 'zun.op': 'forged'},
        exposed_ports={'80/tcp': {}, '53/udp': {}}, runtime='kata', disk=5, memory='128', cpu=1.5,
        healthcheck={'test': 'true', 'interval': 5, 'retries': 3, 'timeout': None},
        restart_policy={'Name': 'on-failure', 'MaximumRetryCount': '3'}, auto_remove=True,
        cpuset=objects.Cpuset(cpuset_cpus={2, 0}, cpuset_mems={0}))


class SpecTestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.config(host='node-1')

    def create(self, row=None, api='1.41', limits=LIMITS, **workload):
        return spec.create(driver.Workload(**{
            'container': row or container(), 'image': 'sha256:abc', **workload}), api, limits)

    def host_config(self, row=None, **kwargs):
        return self.create(row, **kwargs)['HostConfig']


class TestCreate(SpecTestCase):
    def _rich(self, api):
        return self.create(rich(), api, generation=2, operation='req-1',
                           attachments=(OUTSIDE, FIRST, SECOND),
                           mounts=[driver.Mount('/s', '/d', read_only=True)])

    def test_rich_by_version(self):
        endpoint = RICH['NetworkingConfig']['EndpointsConfig']['zun-n1']
        per_endpoint = {**endpoint, 'MacAddress': '02:42:00:00:00:01'}
        modern = {key: value for key, value in RICH.items() if key != 'MacAddress'}
        for api, expected in (
                ('1.41', RICH),
                ('1.44', {**modern, 'NetworkingConfig': {
                    'EndpointsConfig': {'zun-n1': per_endpoint}}}),
                ('1.47', {**modern, 'NetworkingConfig': {
                    'EndpointsConfig': {'zun-n1': per_endpoint}}}),
                ('1.52', {**modern, 'NetworkingConfig': {
                    'EndpointsConfig': {'zun-n1': {**per_endpoint, 'GwPriority': 1}}}})):
            self.assertEqual(expected, self._rich(api), api)

    def test_plain(self):
        """What is not asked for is not sent: the image's and the engine's defaults apply."""
        self.assertEqual({
            'Image': 'sha256:abc',
            'Labels': {'zun.uuid': UUID, 'zun.kind': 'container', 'zun.host': 'node-1',
                       'zun.project': '', 'zun.generation': '0', 'zun.op': '', 'zun.image': ''},
            'HostConfig': {
                'NetworkMode': 'none', 'Runtime': 'runc', 'PidsLimit': 4096,
                'LogConfig': {'Type': 'json-file',
                              'Config': {'max-size': '10m', 'max-file': '3'}},
                'SecurityOpt': ['no-new-privileges']},
        }, self.create())

    def test_row_whose_columns_are_empty(self):
        empty = container(
            command=[], entrypoint=[], environment={}, workdir=None, hostname=None, tty=False,
            interactive=False, labels={}, exposed_ports={}, healthcheck={}, restart_policy={},
            runtime=None, privileged=False, disk=0, memory=None, cpu=None, cpuset=None,
            image='', project_id='')
        self.assertEqual(self.create(), self.create(empty))

    def test_further_networks(self):
        workload = driver.Workload(container(), 'x', attachments=(FIRST, OUTSIDE, SECOND))
        self.assertEqual([SECOND], spec.further_networks(workload))
        self.assertEqual([], spec.further_networks(driver.Workload(container(), 'x')))

    def test_network_of_the_drivers_own(self):
        self.assertEqual('none', self.host_config(attachments=(OUTSIDE,))['NetworkMode'])

    def test_kinds(self):
        for row, kind in ((objects.Container, 'container'), (objects.Capsule, 'sandbox'),
                          (objects.CapsuleContainer, 'member'),
                          (objects.CapsuleInitContainer, 'init')):
            self.assertEqual(kind, self.create(row(uuid=UUID))['Labels']['zun.kind'])

    def test_restart_policy(self):
        for given, sent in (
                ({'Name': 'always', 'MaximumRetryCount': '0'}, {'Name': 'unless-stopped'}),
                ({'Name': 'unless-stopped'}, {'Name': 'unless-stopped'}),
                ({'Name': 'on-failure', 'MaximumRetryCount': '2'},
                 {'Name': 'on-failure', 'MaximumRetryCount': 2}),
                ({'Name': 'no'}, {'Name': 'no'}), ({}, None)):
            self.assertEqual(
                sent, self.host_config(container(restart_policy=given)).get('RestartPolicy'))

    def test_auto_remove_is_never_sent(self):
        self.assertNotIn('AutoRemove', self.host_config(container(auto_remove=True)))

    def test_healthcheck(self):
        for given in ({'test': '', 'interval': 5}, {'interval': 5}, {}):
            self.assertNotIn('Healthcheck', self.create(container(healthcheck=given)))
        self.assertEqual(
            {'Test': ['CMD-SHELL', 'x'], 'Timeout': 7 * 10**9, 'StartPeriod': 9 * 10**9},
            self.create(container(healthcheck={
                'test': 'x', 'timeout': '7', 'interval': 0, 'start_period': 9}))['Healthcheck'])

    def test_privileged_may_gain_privileges(self):
        found = self.host_config(container(privileged=True))
        self.assertTrue(found['Privileged'])
        self.assertNotIn('SecurityOpt', found)

    def test_options(self):
        self.config(group='docker', pids_limit=0, no_new_privileges=False, init_default=True,
                    cgroup_parent='zun.slice', log_driver='journald', log_opts={})
        self.config(container_runtime='crun')
        self.assertEqual({'NetworkMode': 'none', 'Runtime': 'crun', 'Init': True,
                          'CgroupParent': 'zun.slice',
                          'LogConfig': {'Type': 'journald', 'Config': {}}}, self.host_config())

    def test_hardening(self):
        self.config(group='docker', cap_drop=['NET_RAW'], read_only_rootfs=True, shm_size=128,
                    ulimits=['nofile=1024:4096', 'nproc=-1'], userns_mode='host',
                    sysctls={'net.core.somaxconn': '99'}, devices=['/dev/fuse'])
        found = self.host_config()
        expected = {
            'CapDrop': ['NET_RAW'], 'ReadonlyRootfs': True, 'ShmSize': 128 << 20,
            'Ulimits': [{'Name': 'nofile', 'Soft': 1024, 'Hard': 4096},
                        {'Name': 'nproc', 'Soft': -1, 'Hard': -1}],
            'UsernsMode': 'host', 'Sysctls': {'net.core.somaxconn': '99'},
            'Devices': [{'PathOnHost': '/dev/fuse', 'PathInContainer': '/dev/fuse',
                         'CgroupPermissions': 'rwm'}]}
        self.assertEqual(expected, {name: found.get(name) for name in expected})
        privileged = self.host_config(container(privileged=True))
        self.assertEqual(set(), {'CapDrop', 'ReadonlyRootfs'} & set(privileged))

    def test_ulimit_that_is_none(self):
        for text in ('nofile', 'nofile=many', 'nofile=1:', '=1'):
            self.assertRaises(ValueError, self.config, group='docker', ulimits=[text])

    def test_disk(self):
        self.assertEqual({'size': '3G'}, self.host_config(container(disk=3))['StorageOpt'])
        none = host.Limits(cpus=4, disk_quota=False, cgroup2=False)
        self.assertRaises(exception.Invalid, self.create, container(disk=3), limits=none)
        self.assertNotIn('StorageOpt', self.host_config(container(disk=0), limits=none))

    def test_ports_are_published_on_networks_of_the_engine(self):
        self.config(group='embedded_network', publish_exposed_ports=True,
                    publish_address='192.0.2.1')
        row = container(exposed_ports={'80/tcp': {}})
        self.assertEqual({'80/tcp': [{'HostIp': '192.0.2.1', 'HostPort': ''}]},
                         self.host_config(row, attachments=(FIRST,))['PortBindings'])
        self.assertNotIn('PortBindings', self.host_config(row, attachments=(OUTSIDE,)))


class TestCpuAndMemory(SpecTestCase):
    def limits(self, found):
        return tuple(found.get(name) for name in ('Memory', 'MemorySwap', 'NanoCpus', 'CpuShares'))

    def test_create(self):
        for mode, cpu, nano, shares in (
                ('quota', 0.1, 10**8, 102), ('quota', 0.001, 10**6, 2),
                ('quota', 3.999, 3999 * 10**6, 4094), ('quota', 4.0, None, 4096),
                ('quota', 16.0, None, 16384), ('quota', 0.0, None, None),
                ('shares', 0.5, None, 512), ('shares', 16.0, None, 16384)):
            self.config(group='compute', cpu_limit_mode=mode)
            self.assertEqual((None, None, nano, shares),
                             self.limits(self.host_config(container(cpu=cpu))), (mode, cpu))

    def test_update(self):
        for mode, cpu, nano, shares in (
                ('quota', 0.5, 5 * 10**8, 512), ('quota', 4.0, 4 * 10**9, 4096),
                ('quota', 16.0, 4 * 10**9, 16384), ('quota', 0.0, None, None),
                ('shares', 0.5, 4 * 10**9, 512), ('shares', 0.0, None, None)):
            self.config(group='compute', cpu_limit_mode=mode)
            self.assertEqual((None, None, nano, shares),
                             self.limits(spec.update(cpu, 0, LIMITS)), (mode, cpu))

    def test_memory_goes_with_swap_in_both(self):
        for option, memory, swap in ((-1, 64, -1), (0, 64, 64 * MIB), (1024, 64, 1088 * MIB)):
            self.config(default_memory_swap=option)
            expected = (memory * MIB, swap, None, None)
            self.assertEqual(expected, self.limits(
                self.host_config(container(memory=str(memory)))), option)
            self.assertEqual(expected, self.limits(spec.update(0.0, memory, LIMITS)), option)

    def test_memory_of_old_rows(self):
        for text, mib in (('512m', 512), ('1g', 1024), ('64', 64), ('', None), (None, None)):
            found = self.host_config(container(memory=text)).get('Memory')
            self.assertEqual(mib and mib * MIB, found, text)
