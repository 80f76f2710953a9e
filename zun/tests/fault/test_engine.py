# SPDX-License-Identifier: Apache-2.0
"""The engine is slow, hangs, loses answers or fails: nothing is lost, and nobody else waits."""

import os
import time
import urllib.parse

import fixtures

from zun import objects
from zun.common import states
from zun.compute import heartbeat
from zun.compute import service
from zun.container.docker import client
from zun.rpc import compute as rpc_compute
from zun.rpc import transport
from zun.tests.fault import harness
from zun.tests.fault import proxy
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base

K = proxy.Kind
BUSY = {'status': 500, 'message': 'unlinkat /var/lib/x: device or resource busy'}
CONFLICT = {'status': 409, 'message': 'conflict: something else is under way'}
REMOVING = {'status': 409, 'message': 'removal of container x is already in progress'}
#: kind, further fields of the fault
SLOW, HANGING, CUT, LOST, FAILING, REFUSING, OCCUPIED = (
    (K.DELAY, {}), (K.HANG, {}), (K.CUT, {}), (K.LOSE, {}), (K.ANSWER, {}),
    (K.ANSWER, CONFLICT), (K.ANSWER, BUSY))
ALL = (LOST, HANGING, SLOW, CUT, FAILING, OCCUPIED, REFUSING)
CALLS = {'create': ('POST', '/containers/create'), 'start': ('POST', '/containers/[^/]+/start'),
         'stop': ('POST', '/containers/[^/]+/stop'),
         'reboot': ('POST', '/containers/[^/]+/restart'),
         'pause': ('POST', '/containers/[^/]+/pause'),
         'unpause': ('POST', '/containers/[^/]+/unpause'),
         'kill': ('POST', '/containers/[^/]+/kill'), 'delete': ('DELETE', '/containers/[^/]+'),
         'discard': ('DELETE', '/containers/[^/]+-old'),
         'rename': ('POST', '/containers/[^/]+/rename'),
         'update': ('POST', '/containers/[^/]+/update'),
         'make network': ('POST', '/networks/create'),
         'connect': ('POST', '/networks/[^/]+/connect'),
         'disconnect': ('POST', '/networks/[^/]+/disconnect'),
         'find image': ('GET', '/images/.+/json'), 'pull': ('POST', '/images/create'),
         'commit': ('POST', '/commit'), 'save': ('GET', '/images/.+/get'),
         'remove image': ('DELETE', '/images/.+'),
         'put': ('PUT', '/containers/[^/]+/archive'), 'get': ('GET', '/containers/[^/]+/archive')}
SHOWN_WITHIN = 1.0
#: What brings a container back to where an operation begins.
BACK = {'start': ('stop', {'timeout': 1}), 'stop': ('start', {}), 'pause': ('unpause', {}),
        'unpause': ('pause', {}), 'kill': ('start', {})}


def told(kind, more):
    """A fault for people."""
    if kind is not K.ANSWER:
        return f'engine: {kind.name.lower()}'
    return f"engine: {more.get('status', 500)} {more.get('message', '')}".strip()


class EngineTestCase(harness.FaultTestCase):
    """The whole agent in this process, with the proxy between it and the engine."""

    timeout = 2

    def setUp(self):
        super().setUp()
        if not real.URL.startswith('unix://'):
            self.skipTest('the engine is not on a unix socket')
        self.proxy = self.useFixture(proxy.Proxy(
            urllib.parse.urlsplit(real.URL).path,
            os.path.join(self.useFixture(fixtures.TempDir()).path, 'engine.sock')))
        self.serve(self.proxy.url)

    def serve(self, url):
        self.config(report_interval=1)
        self.config(group='docker', api_url=url, default_timeout=self.timeout,
                    create_timeout=self.timeout, stop_grace_margin=self.timeout)
        self.useFixture(base.Quick(service, '_FIRST_PAUSE', 0.05))
        self.addCleanup(transport.close)
        made = service.ComputeService(self.scheduler)
        self.addCleanup(made.stop)
        made.start()
        self.assertTrue(made.ready.wait(20))
        self.node, self.client = made.node, rpc_compute.Client()
        real.wait_for('the heartbeat', lambda: self.beats() is not None)

    def beats(self):
        """How many signs of life there were."""
        found = objects.ZunService.list_by_binary(self.admin, heartbeat.BINARY)
        return found[0].report_count if found and found[0].last_seen_up else None

    def send(self, container, operation, status=None, **args):
        """What the API does for an operation."""
        context = self.accept(container, operation, status, **args)
        name = f'container_{operation}'
        verb = getattr(self.client, name if hasattr(self.client, name) else operation)
        verb(context, base.HOST, container.uuid, **args)

    def running(self, **columns):
        container = self.placed(**columns)
        self.client.container_create(self.context, base.HOST, container.uuid, 0)
        self.wait_for(container, states.RUNNING)
        return container

    def wait_for(self, container, status, timeout=20):
        """Until a container is in a status, with nothing under way; the row.

        Each look is as fast as ever.
        """
        def look():
            began = time.monotonic()
            row = self.row(container)
            self.assertLess(time.monotonic() - began, SHOWN_WITHIN)
            if row is None:
                return status is None
            done = (row.status, row.task_state) == (status, None)
            return row if done and not self.node.busy(container.uuid) else None
        return real.wait_for(f'{container.uuid} to be {status}', look, timeout)

    def fault(self, call, kind, more, times=1, spared=0):
        method, path = CALLS[call]
        fault = proxy.Fault(kind, method, path, times, spared=spared, **more)
        self.proxy.add(fault)
        return fault

    def hang(self):
        """The engine answers nothing any more; one of the faults."""
        everything = [proxy.Fault(K.HANG, method, '/.*', 10**6)
                      for method in ('GET', 'POST', 'PUT', 'DELETE', 'HEAD')]
        self.proxy.add(*everything)
        return everything[0]

    def while_it_lasts(self, fault):
        """During a fault the heart beats on."""
        real.wait_for('the fault', lambda: fault.met)
        before = self.beats()
        real.wait_for('a heartbeat', lambda: self.beats() > before, 4)

    def forget(self, row):
        """Why something failed before."""
        row.status_reason = None
        row.save(self.admin)

    def assert_action(self, container, action, message):
        self.assertEqual((action, message, True), self.actions(container)[-1])


class CreateTest(EngineTestCase):
    def create(self, kind, more):
        container = self.placed()
        fault = self.fault('create', kind, more)
        self.client.container_create(self.context, base.HOST, container.uuid, 0)
        self.while_it_lasts(fault)
        return container

    def test_that_succeeds(self):
        for kind, more in harness.some(LOST, SLOW):
            container = self.create(kind, more)
            self.wait_for(container, states.RUNNING)
            self.assert_owned(container, states.RUNNING)
            self.note('create', told(kind, more), 'Running')

    def test_that_goes_to_another_host(self):
        for kind, more in harness.some(HANGING, CUT, FAILING, OCCUPIED):
            container = self.create(kind, more)
            real.wait_for('the scheduler to be asked', lambda c=container: (
                c.uuid, 1) in self.scheduler.asked)
            row = self.wait_for(container, states.CREATING)
            self.assertIsNone(row.host)
            self.assertEqual([base.HOST], self.asked(container).excluded_hosts)
            # The allocation is the scheduler's, who gives it back before it claims anew.
            self.assertEqual(([], []), (self.behind(container), self.allocated(container)))
            self.note('create', told(kind, more), 'handed back to the scheduler')

    def test_that_is_refused(self):
        container = self.create(*REFUSING)
        row = self.wait_for(container, states.ERROR)
        self.assertIn('something else is under way', row.status_reason)
        self.assert_closed(container)
        self.assert_nothing_left(container)
        self.note('create', told(*REFUSING), 'Error, with its reason')

    @harness.long
    def test_whose_start_fails(self):
        """The container is kept, for people to look at or start."""
        for kind, more in ALL:
            container = self.placed()
            fault = self.fault('start', kind, more)
            self.client.container_create(self.context, base.HOST, container.uuid, 0)
            self.while_it_lasts(fault)
            after = (states.RUNNING if kind in (K.DELAY, K.LOSE)
                     else states.ERROR if more is CONFLICT else states.CREATED)
            row = self.wait_for(container, after)
            self.assert_owned(container, after, row.status_reason)
            self.assertEqual(after == states.RUNNING, row.status_reason is None, row.status_reason)
            self.assert_action(container, 'create', None if after == states.RUNNING else 'Error')
            self.note('run', f'start, {told(kind, more)}', after)


class PowerTest(EngineTestCase):
    def check(self, operation, before, after, **args):
        container = self.running()
        if before != states.RUNNING:
            self.send(container, BACK[operation][0], **BACK[operation][1])
        for kind, more in harness.some(*ALL):
            self.wait_for(container, before)
            fault = self.fault(operation, kind, more)
            self.send(container, operation, **args)
            self.while_it_lasts(fault)
            # Whether it was restarted a container that runs does not tell.
            if kind is K.DELAY or (kind is K.LOSE and operation != 'reboot'):
                self.wait_for(container, after)
                self.assert_owned(container, after)
                self.assert_action(container, operation, None)
                if operation in BACK:
                    self.send(container, BACK[operation][0], **BACK[operation][1])
                self.note(operation, told(kind, more), after)
                continue
            real.wait_for('the failure', lambda: self.row(container).status_reason)
            refused = more is CONFLICT and operation == 'start'
            row = self.wait_for(container, states.ERROR if refused else before)
            self.assertIn(f'{operation.capitalize()} failed', row.status_reason)
            self.assert_owned(container, row.status, row.status_reason)
            self.assert_action(container, operation, 'Error')
            self.note(operation, told(kind, more), f'{row.status}, with its reason')
            self.forget(row)

    def test_stop(self):
        self.check('stop', states.RUNNING, states.STOPPED, timeout=1)

    @harness.long
    def test_start(self):
        self.check('start', states.STOPPED, states.RUNNING)

    @harness.long
    def test_reboot(self):
        self.check('reboot', states.RUNNING, states.RUNNING, timeout=1)

    @harness.long
    def test_pause(self):
        self.check('pause', states.RUNNING, states.PAUSED)

    @harness.long
    def test_unpause(self):
        self.check('unpause', states.PAUSED, states.RUNNING)

    @harness.long
    def test_kill(self):
        self.check('kill', states.RUNNING, states.STOPPED, signal='SIGKILL')


class DeleteTest(EngineTestCase):
    def test_until_it_succeeds(self):
        for kind, more in harness.some(*ALL, (K.ANSWER, REMOVING)):
            container = self.running()
            fault = self.fault('delete', kind, more)
            self.send(container, 'delete', states.DELETING, force=False, stop=False)
            self.while_it_lasts(fault)
            self.wait_for(container, None)
            self.assert_gone(container)
            self.note('delete', told(kind, more), 'gone')

    @harness.long
    def test_while_it_is_busy_for_long(self):
        container = self.running()
        fault = self.fault('delete', *OCCUPIED, times=10)
        self.send(container, 'delete', states.DELETING, force=False, stop=False)
        self.wait_for(container, None, 120)
        self.assertEqual(10, fault.met)
        self.assert_gone(container)


class WholeEngineTest(EngineTestCase):
    @harness.long
    def test_hangs(self):
        """Nothing changes, the host is not reported up, and what was accepted is done later."""
        container, doomed = self.running(), self.running()
        self.useFixture(base.Quick(client, '_PING_SECONDS', 1.0))
        fault = self.hang()
        self.send(doomed, 'delete', states.DELETING, force=False, stop=False)
        real.wait_for('a hanging heartbeat', lambda: fault.met)
        before = real.wait_for('the last heartbeat', self.beats)
        self.assertRaises(AssertionError, real.wait_for, 'another',
                          lambda: self.beats() > before + 1, 3)
        self.assertEqual(states.RUNNING, self.wait_for(container, states.RUNNING).status)
        self.assertEqual(states.DELETING, self.row(doomed).status)
        self.proxy.clear()
        real.wait_for('the heartbeat', lambda: self.beats() > before + 1)
        self.wait_for(doomed, None, 60)
        self.assert_gone(doomed)
        self.assert_owned(container, states.RUNNING)
