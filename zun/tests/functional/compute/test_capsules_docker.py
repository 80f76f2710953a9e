# SPDX-License-Identifier: Apache-2.0
"""Capsules on a real engine."""

from zun.common import states
from zun.compute import heal
from zun.compute import sync
from zun.container.docker import pause
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base
from zun.tests.functional.compute import capsule_base

_SERVER = ['sh', '-c', 'echo shared >/tmp/index.html; exec httpd -f -p 8080 -h /tmp']


class DockerCapsuleTest(capsule_base.CapsuleTestCase):
    driver = 'docker'

    def setUp(self):
        super().setUp()
        self.useFixture(base.Quick(heal, '_FIRST_PAUSE', 0.05))
        follower = sync.Follower(self.node)
        follower.start()
        self.addCleanup(follower.stop)

    def wait_status(self, capsule, *statuses):
        real.wait_for(f'{statuses}', lambda: self.row(capsule).status in statuses)
        return self.settled(capsule)

    def read(self, member, url):
        """What a member of a capsule gets from an address."""
        name = f'zun-{member.uuid}'
        made = self.docker.api.exec_create(name, ['wget', '-qO-', url])
        return self.docker.api.exec_start(made['Id'])

    def test_members_share_what_the_sandbox_holds(self):
        server, client = self.member(command=_SERVER), self.member()
        capsule = self.created_capsule(server, client)
        self.assertEqual(states.RUNNING, capsule.status)
        page = 'http://127.0.0.1:8080/'
        real.wait_for('the page', lambda: self.read(client, page) == b'shared\n')
        address = [a['addr'] for nets in capsule.addresses.values() for a in nets]
        found = self.docker.inspect(capsule)
        self.assertEqual(address, [
            net['IPAddress'] for net in found['NetworkSettings']['Networks'].values()])
        host = found['HostConfig']
        self.assertEqual(
            ('shareable', True, ['ALL'], 16 << 20, 8, 'no'),
            (host['IpcMode'], host['ReadonlyRootfs'], host['CapDrop'], host['Memory'],
             host['PidsLimit'], host['RestartPolicy']['Name'] or 'no'))
        self.assertEqual(self.docker.api.inspect_image(f'{pause.NAME}:{pause.TAG}')['Id'],
                         found['Image'])

    def test_init_containers_one_after_the_other(self):
        inits = [self.init('sh', '-c', 'sleep 0.3'), self.init('true')]
        member = self.member()
        capsule = self.created_capsule(*inits, member)
        self.wait_status(capsule, states.RUNNING)
        times = [self.docker.inspect(each)['State'] for each in (*inits, member)]
        self.assertEqual([0, 0], [t['ExitCode'] for t in times[:2]])
        self.assertTrue(times[0]['FinishedAt'] <= times[1]['StartedAt']
                        and times[1]['FinishedAt'] <= times[2]['StartedAt'])
        self.assert_closed(capsule)

    def test_init_container_that_fails_at_last(self):
        init = self.init('false', restart_policy={'Name': 'on-failure',
                                                  'MaximumRetryCount': '1'})
        capsule = self.created_capsule(init, self.member())
        found = self.wait_status(capsule, states.ERROR)
        self.assertIn(f'init container {init.name} failed: exit 1', found.status_reason)
        self.assertEqual(1, self.docker.inspect(init)['RestartCount'])
        self.assertFalse(self.docker.inspect(capsule)['State']['Running'])
        self.deleted(capsule)
        self.assertIsNone(self.docker.inspect(capsule))

    def test_command_that_does_not_exist(self):
        one = self.member()
        capsule = self.created_capsule(one, self.member(command=['no-such-command']))
        self.assertEqual(states.ERROR, capsule.status)
        self.assertIn('no-such-command', capsule.status_reason)
        self.assertFalse(self.docker.inspect(one)['State']['Running'])
        self.deleted(capsule)
        self.assertIsNone(self.docker.inspect(one))

    def test_sandbox_that_is_killed(self):
        server = self.member(command=_SERVER, policy='always')
        client = self.member(policy='always')
        capsule = self.created_capsule(server, client, policy='always')
        self.docker.api.kill(f'zun-{capsule.uuid}')
        real.wait_for('the repair', lambda: ('rebuild', None, True) in self.actions(capsule))
        self.wait_status(capsule, states.RUNNING)
        address = next(iter(capsule.addresses.values()))[0]['addr']
        real.wait_for('the page', lambda: self.read(
            client, f'http://{address}:8080/') == b'shared\n')

    def test_sandbox_that_is_removed(self):
        one = self.member(policy='always')
        capsule = self.created_capsule(one, policy='always')
        before = self.docker.inspect(one)['Id']
        self.docker.remove(f'zun-{capsule.uuid}')
        real.wait_for('the repair', lambda: ('rebuild', None, True) in self.actions(capsule), 30)
        found = self.wait_status(capsule, states.RUNNING)
        self.assertEqual(capsule.addresses, found.addresses)
        self.assertNotEqual(before, self.docker.inspect(one)['Id'])

    def test_member_that_is_killed_by_hand_comes_back(self):
        one, two = self.member(policy='always'), self.member(policy='always')
        capsule = self.created_capsule(one, two, policy='always')
        untouched = self.docker.inspect(two)['State']['StartedAt']
        self.docker.api.kill(f'zun-{one.uuid}')
        real.wait_for('the repair', lambda: ('rebuild', None, True) in self.actions(capsule))
        self.wait_status(capsule, states.RUNNING)
        self.assertTrue(self.docker.inspect(one)['State']['Running'])
        self.assertEqual(untouched, self.docker.inspect(two)['State']['StartedAt'])

    def test_sandbox_ends_at_once_when_told(self):
        capsule = self.created_capsule(self.member())
        self.docker.api.stop(f'zun-{capsule.uuid}', timeout=10)
        self.assertEqual(0, self.docker.inspect(capsule)['State']['ExitCode'])

    def test_exposed_ports_are_those_of_the_members(self):
        self.config(group='embedded_network', publish_exposed_ports=True)
        capsule = self.created_capsule(self.member(exposed_ports={'8080/tcp': {}}),
                                       self.member(exposed_ports={'53/udp': {}}))
        self.assertEqual(states.RUNNING, capsule.status, capsule.status_reason)
        found = self.docker.inspect(capsule)['NetworkSettings']['Ports']
        self.assertEqual({'8080/tcp', '53/udp'}, set(found))
