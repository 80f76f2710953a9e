# SPDX-License-Identifier: Apache-2.0
"""What a container asks for, as a real engine has it."""

from zun.common import exception
from zun.common import states
from zun.container import driver
from zun.container.docker import disk
from zun.container.docker import host
from zun.tests.functional import engine
from zun.tests.functional.container import base

MIB = 1 << 20


class TestOptions(base.DriverTestCase):
    def test_what_the_process_sees(self):
        container = self.run_container(
            environment={'COLOUR': 'dark blue'}, workdir='/tmp', hostname='box-one',
            labels={'tier': 'web', 'zun.op': 'forged'})
        config = self.engine.inspect(container)['Config']
        self.assertIn('COLOUR=dark blue', config['Env'])
        self.assertEqual(('/tmp', 'box-one', 'web'),
                         (config['WorkingDir'], config['Hostname'], config['Labels']['tier']))
        self.assertEqual(('dark blue /tmp box-one\n', 0), self.driver.execute(
            container, "sh -c 'echo $COLOUR $PWD $(hostname)'"))

    def test_labels_of_ours(self):
        labels = self.engine.inspect(self.create(labels={'zun.op': 'forged'}))['Config']['Labels']
        uuid = labels.pop('zun.uuid')
        self.assertEqual(36, len(uuid))
        self.assertEqual({'zun.kind': 'container', 'zun.host': self.CONF.host,
                          'zun.project': 'test-project', 'zun.generation': '3',
                          'zun.op': 'req-1', 'zun.image': engine.IMAGE}, labels)

    def test_limits(self):
        limits = self.engine.inspect(self.create(cpu=0.25, memory='80'))['HostConfig']
        self.assertEqual((80 * MIB, -1, 256, 250_000_000),
                         (limits['Memory'], limits['MemorySwap'], limits['CpuShares'],
                          limits['NanoCpus']))

    def test_swap_on_top(self):
        self.config(default_memory_swap=16)
        limits = self.engine.inspect(self.create(memory='80'))['HostConfig']
        self.assertEqual((80 * MIB, 96 * MIB), (limits['Memory'], limits['MemorySwap']))

    def test_whole_host_and_more_has_no_hard_limit(self):
        cpus = self.driver.host_info().cpus
        for cpu in (float(cpus), cpus + 14.0):
            limits = self.engine.inspect(self.create(cpu=cpu))['HostConfig']
            self.assertEqual((0, int(cpu * 1024)), (limits['NanoCpus'], limits['CpuShares']))

    def test_shares_only(self):
        self.config(group='compute', cpu_limit_mode='shares')
        limits = self.engine.inspect(self.create(cpu=0.001))['HostConfig']
        self.assertEqual((0, 2), (limits['NanoCpus'], limits['CpuShares']))

    def test_memory_that_the_engine_refuses(self):
        self.assertRaises(exception.Invalid, self.create, memory='5')

    def test_restart_policies(self):
        for policy, count, sent in (
                ('always', 0, 'unless-stopped'), ('unless-stopped', 0, 'unless-stopped'),
                ('no', 0, 'no'), ('on-failure', 3, 'on-failure')):
            container = self.create(
                restart_policy={'Name': policy, 'MaximumRetryCount': str(count)})
            self.assertEqual({'Name': sent, 'MaximumRetryCount': count},
                             self.engine.inspect(container)['HostConfig']['RestartPolicy'])

    def test_auto_remove_is_not_the_engines(self):
        container = self.run_container(command=['true'], auto_remove=True)
        self.engine.wait_state(container, 'exited')
        self.assertFalse(self.engine.inspect(container)['HostConfig']['AutoRemove'])

    def test_interactive_and_tty(self):
        config = self.engine.inspect(self.create(interactive=True, tty=False))['Config']
        self.assertEqual((True, False, False, False),
                         (config['OpenStdin'], config['StdinOnce'], config['AttachStdin'],
                          config['Tty']))
        config = self.engine.inspect(self.create(interactive=True, tty=True))['Config']
        self.assertEqual((True, True), (config['OpenStdin'], config['Tty']))

    def test_entrypoint_and_command(self):
        container = self.create(entrypoint=['sh', '-c'], command=['sleep 30'])
        config = self.engine.inspect(container)['Config']
        self.assertEqual((['sh', '-c'], ['sleep 30']), (config['Entrypoint'], config['Cmd']))

    def test_images_own_command(self):
        container = self.create(command=[])
        self.assertEqual(('sh',), self.driver.inspect(container).command)

    def test_healthcheck(self):
        container = self.create(healthcheck={
            'test': 'test -d /tmp', 'interval': 2, 'retries': 4, 'timeout': 3})
        self.assertEqual(
            {'Test': ['CMD-SHELL', 'test -d /tmp'], 'Interval': 2 * 10**9, 'Timeout': 3 * 10**9,
             'Retries': 4}, self.engine.inspect(container)['Config']['Healthcheck'])
        found = self.engine.inspect(self.create(healthcheck={'test': 'true', 'start_period': 9}))
        self.assertEqual(9 * 10**9, found['Config']['Healthcheck']['StartPeriod'])
        for none in ({}, {'test': ''}, {'interval': 5}):
            config = self.engine.inspect(self.create(healthcheck=none))['Config']
            self.assertNotIn('Healthcheck', config)

    def test_mount(self):
        source = self.create_tempfiles([('sauce', 'secret')])[0]
        container = self.create(mounts=[driver.Mount(source, '/etc/sauce', read_only=True)])
        self.driver.start(container)
        self.assertEqual(('secret', 0), self.driver.execute(container, 'cat /etc/sauce'))
        self.assertNotEqual(0, self.driver.execute(container, 'touch /etc/sauce')[1])
        self.assertEqual(source, self.engine.inspect(container)['Mounts'][0]['Source'])

    def test_mount_without_source(self):
        self.assertRaises(exception.Invalid, self.create,
                          mounts=[driver.Mount('/no/such/source', '/x')])

    def test_disk_is_kept_or_refused(self):
        if self.driver.host_info().disk_quota_supported:
            container = self.create(disk=2)
            self.assertEqual({'size': '2G'},
                             self.engine.inspect(container)['HostConfig']['StorageOpt'])
        else:
            error = self.assertRaises(exception.Invalid, self.create, disk=2)
            self.assertEqual('Your host does not support disk quota feature.', error.message)

    def test_try_of_a_disk_leaves_nothing(self):
        before = self._held()
        self.assertEqual(self.driver.host_info().disk_quota_supported,
                         disk.is_accepted(self.driver._engine))
        self.assertEqual(before, self._held())

    def _held(self):
        images = {image['Id'] for image in self.engine.api.images(all=True)}
        return images, self.engine.api.containers(all=True, filters={'name': 'zun-disk-probe'})

    def test_engine_refuses_a_disk_that_it_cannot_limit(self):
        if self.driver.host_info().disk_quota_supported:
            self.skipTest('this engine can')
        self.driver._engine._limits = host.Limits(cpus=2, disk_quota=True, cgroup2=False)
        self.assertRaises(exception.Invalid, self.create, disk=2)

    def test_runtime(self):
        self.assertEqual('runc', self.driver.inspect(self.create(runtime='runc')).runtime)
        error = self.assertRaises(exception.Invalid, self.create, runtime='no-such-runtime')
        self.assertIn('no-such-runtime', error.message)

    def test_privileged(self):
        found = self.engine.inspect(self.create(privileged=True))['HostConfig']
        self.assertTrue(found['Privileged'])
        self.assertFalse(found['SecurityOpt'] and 'no-new-privileges' in found['SecurityOpt'])

    def test_operators_options(self):
        found = self.engine.inspect(self.create())['HostConfig']
        self.assertEqual({'Type': 'json-file', 'Config': {'max-size': '10m', 'max-file': '3'}},
                         found['LogConfig'])
        self.assertEqual((4096, ['no-new-privileges'], 'none'),
                         (found['PidsLimit'], found['SecurityOpt'], found['NetworkMode']))
        self.config(group='docker', log_driver='local', log_opts={'max-size': '1m'},
                    pids_limit=100, no_new_privileges=False, init_default=True,
                    cgroup_parent='/zun-test')
        found = self.engine.inspect(self.create())['HostConfig']
        self.assertEqual(('local', 100, None, True, '/zun-test'),
                         (found['LogConfig']['Type'], found['PidsLimit'], found['SecurityOpt'],
                          found['Init'], found['CgroupParent']))

    def test_hardening(self):
        self.config(group='docker', cap_drop=['ALL'], read_only_rootfs=True, shm_size=8,
                    ulimits=['msgqueue=123:456'], sysctls={'net.ipv4.ip_forward': '0'},
                    devices=['/dev/fuse'])
        container = self.run_container()
        for command, output in (
                ('sh -c "grep -c \'CapEff:.*0000000000000000\' /proc/1/status"', '1\n'),
                ('sh -c "grep -c \'msgqueue size *123 *456 \' /proc/1/limits"', '1\n'),
                ('cat /proc/sys/net/ipv4/ip_forward', '0\n'),
                ('sh -c "df -k /dev/shm | grep -c \' 8192 \'"', '1\n'),
                ('sh -c "test -c /dev/fuse && ! touch /sauce 2>/dev/null"', '')):
            self.assertEqual((output, 0), self.driver.execute(container, command), command)

    def test_init_ends_at_once(self):
        self.config(group='docker', init_default=True)
        container = self.run_container(command=['sleep', '1000'])
        self.assertEqual(143, self.driver.stop(container, 20).exit_code)

    def test_exposed_ports(self):
        container = self.create(exposed_ports={'80/tcp': {}, '53/udp': {}})
        self.assertEqual({80, 53}, set(self.driver.inspect(container).ports))

    def test_cpuset(self):
        container = self.create(cpuset=engine.objects.Cpuset(cpuset_cpus={1, 0}, cpuset_mems={0}))
        found = self.engine.inspect(container)['HostConfig']
        self.assertEqual(('0,1', '0'), (found['CpusetCpus'], found['CpusetMems']))
        self.assertRaises(exception.Invalid, self.create, cpuset=engine.objects.Cpuset(
            cpuset_cpus={4000}, cpuset_mems=None))


class TestUpdate(base.DriverTestCase):
    def _limits(self, container):
        found = self.engine.inspect(container)['HostConfig']
        return (found['Memory'] // MIB, found['MemorySwap'], found['NanoCpus'],
                found['CpuShares'])

    def test_in_every_state(self):
        container = self.create(cpu=0.5, memory='64')
        self.assertEqual(states.RUNNING, self.driver.start(container).status)
        for cpu, memory, change in (
                (1.0, 128, lambda: None), (0.25, 32, lambda: self.driver.pause(container)),
                (0.5, 256, lambda: self.driver.stop(container, 0))):
            change()
            self.driver.update(container, cpu, memory)
            self.assertEqual((memory, -1, int(cpu * 10**9), int(cpu * 1024)),
                             self._limits(container))
        container = self.create()
        self.driver.update(container, 0.1, 96)
        self.assertEqual(96, self._limits(container)[0])

    def test_the_process_feels_it(self):
        container = self.run_container(memory='64')
        self.driver.update(container, 0.5, 96)
        self.assertEqual(96.0, self.driver.stats(container)['MEM LIMIT(MiB)'])

    def test_with_swap_limit(self):
        self.config(default_memory_swap=0)
        container = self.run_container(memory='64')
        for memory in (128, 48):
            self.driver.update(container, 0.5, memory)
            self.assertEqual((memory, memory * MIB), self._limits(container)[:2])

    def test_to_the_whole_host(self):
        """The old hard limit must not stay."""
        container, cpus = self.run_container(cpu=0.5), self.driver.host_info().cpus
        self.driver.update(container, cpus + 4.0, 0)
        self.assertEqual((64, -1, cpus * 10**9, (cpus + 4) * 1024), self._limits(container))

    def test_without_a_hard_limit_any_more(self):
        container, cpus = self.run_container(cpu=0.5), self.driver.host_info().cpus
        self.config(group='compute', cpu_limit_mode='shares')
        self.driver.update(container, 0.25, 0)
        self.assertEqual((64, -1, cpus * 10**9, 256), self._limits(container))

    def _using_memory(self):
        container = self.run_container(
            command=['sh', '-c',
                     'x=a; while [ ${#x} -lt 8000000 ]; do x=$x$x; done; sleep 1000; true'])
        engine.wait_for('it to use memory', lambda: (
            self.driver.stats(container)['MEM USAGE(MiB)'] > 7))
        return container

    def test_memory_below_use(self):
        container = self._using_memory()
        error = self.assertRaises(exception.Conflict, self.driver.update, container, 0.5, 6)
        self.assertEqual('The memory limit is below what the container uses now.', error.message)
        self.assertEqual(64, self._limits(container)[0])

    def test_memory_below_use_where_the_kernel_would_kill(self):
        container = self._using_memory()
        self.driver._engine._limits = host.Limits(cpus=2, disk_quota=False, cgroup2=True)
        self.assertRaises(exception.Conflict, self.driver.update, container, 0.5, 6)
        self.driver.update(container, 0.5, 96)
        self.assertEqual(96, self._limits(container)[0])

    def test_memory_that_the_engine_refuses(self):
        self.assertRaises(exception.Invalid, self.driver.update, self.create(), 0.5, 4)


class TestHost(base.DriverTestCase):
    def test_host_info(self):
        info, found = self.engine.api.info(), self.driver.host_info()
        self.assertEqual((info['NCPU'], info['MemTotal'] // MIB, info['Name']),
                         (found.cpus, found.memory, found.name))
        self.assertGreater(found.disk, 0)
        self.assertIn('runc', found.runtimes)

    def test_check_names_the_engine(self):
        version = self.engine.api.version()
        self.assertEqual(f"Docker Engine {version['Version']}, API "
                         f"{min(version['ApiVersion'], '1.52')}", self.driver.check())

    def test_operators_version(self):
        self.config(group='docker', docker_remote_api_version='1.40')
        self.assertTrue(base.docker_driver.DockerDriver().check().endswith('API 1.41'))
