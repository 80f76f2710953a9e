# SPDX-License-Identifier: Apache-2.0
"""Sandbox and members as parameters of the engine, and the program that the sandbox runs."""

import io
import tarfile

from oslo_utils import uuidutils

from zun import objects
from zun.container import driver
from zun.container.docker import capsules
from zun.container.docker import host
from zun.container.docker import pause
from zun.container.docker import spec
from zun.network import driver as network_driver
from zun.tests import base

LIMITS = host.Limits(cpus=4, disk_quota=False, cgroup2=False)
NETWORK = network_driver.Attachment(
    'network', ({'addr': '10.0.0.5', 'version': 4, 'port': 'p', 'subnet_id': 's',
                 'preserve_on_delete': False},), 'zun-network', aliases=('pod',))


def body(container, *attachments):
    return spec.create(driver.Workload(container, 'sha256:1', attachments), '1.41', LIMITS)


class ParametersTest(base.TestCase):
    def test_sandbox(self):
        capsule = objects.Capsule(
            uuid=uuidutils.generate_uuid(), name='pod', cpu=2.0, memory='512',
            exposed_ports={'80/tcp': {}}, restart_policy={'Name': 'always'})
        found = capsules.sandbox(body(capsule, NETWORK))
        self.assertEqual(
            {'NetworkMode': 'zun-network', 'IpcMode': 'shareable', 'ReadonlyRootfs': True,
             'CapDrop': ['ALL'], 'SecurityOpt': ['no-new-privileges'], 'PidsLimit': 8,
             'Memory': 16 << 20, 'MemorySwap': 16 << 20, 'Runtime': 'runc',
             'LogConfig': found['HostConfig']['LogConfig']}, found['HostConfig'])
        self.assertEqual({'80/tcp': {}}, found['ExposedPorts'])
        self.assertIn('zun-network', found['NetworkingConfig']['EndpointsConfig'])
        self.assertEqual('sandbox', found['Labels']['zun.kind'])

    def test_member(self):
        self.config(group='docker', shm_size=64, sysctls={'net.core.somaxconn': '99'})
        for kind, word in [(objects.CapsuleContainer, 'member'),
                           (objects.CapsuleInitContainer, 'init')]:
            member = kind(uuid=uuidutils.generate_uuid(), name='one', cpu=0.5, memory='64',
                          hostname='h', exposed_ports={'80/tcp': {}}, command=['true'],
                          restart_policy={'Name': 'on-failure', 'MaximumRetryCount': '10'})
            found = capsules.member(body(member), 'abc')
            config = found['HostConfig']
            self.assertEqual(('container:abc', 'container:abc', 64 << 20, 512),
                             (config['NetworkMode'], config['IpcMode'], config['Memory'],
                              config['CpuShares']))
            self.assertEqual({'Name': 'on-failure', 'MaximumRetryCount': 10},
                             config['RestartPolicy'])
            self.assertEqual(word, found['Labels']['zun.kind'])
            self.assertEqual(set(), {'Sysctls', 'ShmSize'} & set(config))
            self.assertEqual([], sorted({'Hostname', 'ExposedPorts', 'NetworkingConfig',
                                         'MacAddress'} & set(found)))


class PauseTest(base.TestCase):
    def test_archive(self):
        with tarfile.open(fileobj=io.BytesIO(pause.archive('x86_64'))) as tar:
            self.assertEqual([('pause', 0o755)], [(m.name, m.mode) for m in tar])
            content = tar.extractfile('pause').read()
        self.assertEqual((b'\x7fELF', 62, 0x400078),
                         (content[:4], int.from_bytes(content[18:20], 'little'),
                          int.from_bytes(content[24:32], 'little')))

    def test_machine_that_it_is_not_for(self):
        self.assertIsNone(pause.archive('s390x'))
