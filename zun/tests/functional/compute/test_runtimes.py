# SPDX-License-Identifier: Apache-2.0
"""Containers under another runtime than runc."""

import pathlib
import shutil

import fixtures

from zun import objects
from zun.common import exception
from zun.common import states
from zun.scheduler import host_state
from zun.scheduler import request as scheduler_request
from zun.scheduler.filters import runtime_filter
from zun.tests.functional import engine as real
from zun.tests.functional import private_engine
from zun.tests.functional.compute import base

SECOND = 'second'
#: What works in a virtual machine and without a network, whatever the version of its cgroups.
_RUNSC = """#!/bin/sh
exec {} --platform=ptrace --ignore-cgroups --network=none "$@"
"""


class RuntimeTest(base.NodeTestCase):
    """On an engine with runc under a second name, and with runsc where that is installed."""

    driver = 'docker'

    def setUp(self):
        options = [f'--add-runtime={SECOND}={shutil.which("runc")}']
        self.runsc = shutil.which('runsc')
        if self.runsc:
            script = pathlib.Path(self.useFixture(fixtures.TempDir()).path, 'runsc')
            script.write_text(_RUNSC.format(self.runsc))
            script.chmod(0o755)
            options.append(f'--add-runtime=runsc={script}')
        engine = self.useFixture(private_engine.PrivateEngine(*options))
        self.useFixture(fixtures.MonkeyPatch('zun.tests.functional.engine.URL', engine.url))
        super().setUp()

    def ran_under(self, container):
        return self.docker.inspect(container)['HostConfig']['Runtime']

    def test_each_as_asked(self):
        plain, other = self.created(networks=[]), self.created(networks=[], runtime=SECOND)
        self.assertEqual([(states.RUNNING, 'runc'), (states.RUNNING, SECOND)],
                         [(c.status, c.runtime) for c in (plain, other)])
        self.assertEqual(['runc', SECOND], [self.ran_under(c) for c in (plain, other)])
        self.config(container_runtime=SECOND)
        self.assertEqual(SECOND, self.ran_under(self.created(networks=[])))

    def test_rebuild_keeps_it(self):
        container = self.created(networks=[], runtime=SECOND)
        self.run_operation(container, 'rebuild', states.REBUILDING, run=True)
        self.assertEqual(SECOND, self.ran_under(container))

    def test_runsc(self):
        if not self.runsc:
            self.skipTest('no runsc')
        container = self.created(networks=[], runtime='runsc', command=['dmesg'])
        if container.status == states.ERROR:
            self.skipTest(f'runsc does not run here: {container.status_reason}')
        real.wait_for('its end', lambda: not self.docker.inspect(container)['State']['Running'])
        self.assertIn('gVisor', real.printed(self.engine, container))

    def test_row_of_the_host_and_scheduler_agree(self):
        row = objects.ComputeNode.get_by_name(self.admin, base.HOST)
        self.assertIn(SECOND, row.runtimes)
        container = self.placed(networks=[])
        host = host_state.HostState(runtimes=row.runtimes)
        for name, passes in [(None, True), ('runc', True), (SECOND, True), ('absent', False)]:
            container.runtime = name
            wanted = scheduler_request.build(container, self.asked(container))
            self.assertEqual(passes, runtime_filter.RuntimeFilter().host_passes(host, wanted))

    def test_one_that_the_engine_does_not_know(self):
        container = self.created(networks=[], runtime='absent')
        self.assertEqual((states.ERROR, None), (container.status, container.host))
        self.assertIn('absent', container.status_reason)
        self.assertRaises(exception.EngineGone, self.engine.inspect, container)
