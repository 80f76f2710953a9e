# SPDX-License-Identifier: Apache-2.0
"""What engine, networks, ledger and rows disagree on is found, and repaired if that is wanted."""

import os
import subprocess
import sys

from zun import objects
from zun.common import states
from zun.compute import heal
from zun.compute import heartbeat
from zun.db import embedded_networks
from zun.tests.fault import harness
from zun.tests.functional.compute import base


class OrphansTest(harness.FaultTestCase):
    def setUp(self):
        super().setUp()
        self.serve(base.HOST)

    def serve(self, host):
        """A host without a service counts as lost."""
        objects.ZunService(self.admin, host=host, binary=heartbeat.BINARY).create(self.admin)

    def status(self, *args):
        """Run the program; its exit code and output."""
        done = subprocess.run(
            [sys.executable, '-m', 'zun.cmd.status', '--config-file', str(self.file), 'orphans',
             *args], env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)},
            capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def lines(self, text):
        """(where, difference, container, repaired)"""
        return sorted(tuple(line.split()[1:]) for line in text.splitlines()
                      if line.startswith(harness.HOST))

    def spoil(self):
        """One of each difference; container by difference."""
        made = {name: self.placed() for name in ('fine', 'row', 'missing', 'moved', 'booked')}
        self.recover()
        fine, gone, missing, moved, booked = made.values()
        self.docker.remove(f'zun-{missing.uuid}')
        gone.destroy(self.admin)
        self.node.ledger.release(gone.uuid)
        other = objects.Container.get_by_uuid(self.admin, moved.uuid)
        other.host = 'elsewhere'
        other.save(self.admin)
        self.node.ledger.release(moved.uuid)
        embedded_networks.release(None, moved.uuid)
        self.node.ledger.release(booked.uuid)
        self.assert_owned(fine, states.RUNNING)
        return gone, missing, moved, booked

    @harness.long
    def test_found_and_repaired(self):
        gone, missing, moved, booked = self.spoil()
        code, text = self.status()
        self.assertEqual(
            [('engine', 'elsewhere', moved.uuid, 'no'), ('engine', 'missing', missing.uuid, 'no'),
             ('engine', 'orphan', gone.uuid, 'no'), ('ledger', 'missing', booked.uuid, 'no'),
             ('network', 'address', gone.uuid, 'no')], self.lines(text), text)
        self.assertEqual(3, code)
        code, text = self.status('--repair', '--host', harness.HOST)
        self.assertEqual(5, sum(line[3] == 'yes' for line in self.lines(text)), text)
        self.assertEqual(0, code)
        self.assertEqual((0, 'Nothing differs.\n'), self.status())
        self.assert_nothing_left(gone)
        self.assertEqual([], self.behind(moved))
        row = self.row(missing)
        self.assertEqual((states.ERROR, heal.MISSING), (row.status, row.status_reason))
        self.assertEqual([self.node.provider], list(self.held(booked)))

    def test_other_hosts_and_none(self):
        self.assertEqual((0, 'Nothing differs.\n'), self.status())
        row = objects.ComputeNode.get_by_name(self.admin, base.HOST)
        other = objects.ComputeNode(self.admin, hostname='other', cpus=row.cpus,
                                    mem_total=row.mem_total)
        other.create(self.admin)
        self.serve('other')
        code, text = self.status('--host', 'other')
        self.assertIn('The engine of host other is not looked at: run this on that host.', text)
        self.assertEqual(0, code, text)
        code, text = self.status('--host', 'nowhere')
        self.assertIn('nowhere', text)
        self.assertEqual(255, code)
