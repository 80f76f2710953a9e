# SPDX-License-Identifier: Apache-2.0
from zun.common import states
from zun.compute import recovery
from zun.container import driver
from zun.tests import base

UUID = '11111111-2222-3333-4444-555555555555'
D = recovery.Decision


def seen(status, running=False, operation='req-1'):
    return driver.Observed(UUID, 'e' * 64, status, running=running, operation=operation)


RUNNING = seen(states.RUNNING, running=True)
PAUSED = seen(states.PAUSED, running=True)
STOPPED = seen(states.STOPPED)
NEW = seen(states.CREATED)
OLD = seen(states.RUNNING, running=True, operation='req-0')


def row(status, operation, task_state=None, made=True, **args):
    return recovery.Open(status, task_state, operation, operation and 'req-1', args, made)


#: (row, engine, decision)
TABLE = [
    # A delete goes on, whatever else is there, also one that no request recorded.
    (row('Deleting', 'delete', 'container_deleting'), RUNNING, D.DELETE),
    (row('Deleting', 'delete'), None, D.DELETE),
    (row('Deleting', None), NEW, D.DELETE),
    (row('Stopped', 'delete'), STOPPED, D.DELETE),
    # A create is redone from wherever it was.
    (row('Creating', 'create', made=False), None, D.REDO),
    (row('Creating', 'create', 'image_pulling', made=False), None, D.REDO),
    (row('Creating', 'create', 'container_creating', made=False), NEW, D.REDO),
    (row('Creating', 'create', 'container_creating', made=False), RUNNING, D.REDO),
    # Its result was written, only the end was not.
    (row('Running', 'create'), RUNNING, D.FINISH),
    (row('Created', 'create'), NEW, D.FINISH),
    (row('Error', 'create', made=True), NEW, D.FINISH),
    # It failed, and something could not be undone.
    (row('Error', 'create', made=False), NEW, D.CLEAR),
    (row('Error', 'create', made=False), None, D.CLEAR),
    # The new container of a rebuild is told by its operation.
    (row('Rebuilding', 'rebuild', run=True), OLD, D.REDO),
    (row('Rebuilding', 'rebuild', 'container_rebuilding', run=True), None, D.REDO),
    (row('Rebuilding', 'rebuild', 'container_rebuilding', run=True), NEW, D.REDO),
    (row('Rebuilding', 'rebuild', 'container_rebuilding', run=True), RUNNING, D.FINISH),
    (row('Rebuilding', 'rebuild', 'container_rebuilding', run=False), NEW, D.FINISH),
    (row('Running', 'rebuild', run=True), RUNNING, D.FINISH),
    # Power operations: is the goal reached?
    (row('Stopped', 'start', 'container_starting'), RUNNING, D.FINISH),
    (row('Stopped', 'start', 'container_starting'), STOPPED, D.REDO),
    (row('Stopped', 'start'), STOPPED, D.REDO),
    (row('Running', 'stop', 'container_stopping'), RUNNING, D.REDO),
    (row('Running', 'stop', 'container_stopping'), STOPPED, D.FINISH),
    (row('Running', 'stop'), RUNNING, D.REDO),
    (row('Running', 'pause', 'container_pausing'), RUNNING, D.REDO),
    (row('Running', 'pause', 'container_pausing'), PAUSED, D.FINISH),
    (row('Paused', 'unpause', 'container_unpausing'), PAUSED, D.REDO),
    (row('Paused', 'unpause', 'container_unpausing'), RUNNING, D.FINISH),
    (row('Restarting', 'reboot', 'container_rebooting'), STOPPED, D.REDO),
    (row('Restarting', 'reboot', 'container_rebooting'), RUNNING, D.REDO),
    # A signal may have been delivered: only a deadly one is sent again.
    (row('Running', 'kill', 'container_killing', signal=None), RUNNING, D.REDO),
    (row('Running', 'kill', 'container_killing', signal='SIGKILL'), STOPPED, D.FINISH),
    (row('Running', 'kill', 'container_killing', signal='SIGUSR1'), RUNNING, D.CLOSE),
    (row('Running', 'kill', 'container_killing', signal='SIGTERM'), STOPPED, D.FINISH),
    (row('Running', 'kill', signal='SIGUSR1'), RUNNING, D.REDO),
    # What needs a container cannot be done without one.
    (row('Running', 'stop', 'container_stopping'), None, D.CLOSE),
    (row('Stopped', 'start'), None, D.CLOSE),
    (row('Running', 'network_attach', 'network_attaching'), None, D.CLOSE),
    # Idempotent ones are redone.
    (row('Running', 'network_attach', 'network_attaching'), RUNNING, D.REDO),
    (row('Running', 'network_detach', 'network_detaching'), RUNNING, D.REDO),
    (row('Running', 'add_security_group', 'sg_adding'), RUNNING, D.REDO),
    (row('Running', 'resize_container'), RUNNING, D.REDO),
    # A commit is made once more, unless its container is gone.
    (row('Running', 'commit', image_uuid='i'), RUNNING, D.REDO),
    (row('Stopped', 'commit', image_uuid='i'), STOPPED, D.REDO),
    (row('Running', 'commit', image_uuid='i'), None, D.CLOSE),
    # Rows of an older release know no operation.
    (row('Creating', None, made=False), None, D.CLEAR),
    (row('Creating', None, 'container_creating', made=False), NEW, D.FINISH),
    (row('Rebuilding', None, 'container_rebuilding'), RUNNING, D.FINISH),
    (row('Rebuilding', None, 'container_rebuilding'), None, D.CLOSE),
    (row('Running', None, 'container_killing'), STOPPED, D.FINISH),
    (row('Running', None, 'sg_adding'), None, D.CLOSE),
    # A newer release may have recorded what this one does not know.
    (row('Running', 'teleport'), RUNNING, D.CLOSE),
]


class DecideTest(base.TestCase):
    def test_table(self):
        for facts, engine, decision in TABLE:
            with self.subTest(row=facts, engine=engine):
                self.assertIs(decision, recovery.decide(facts, engine))

    def test_every_operation_of_the_node_has_a_decision(self):
        decided = {facts.operation for facts, _engine, _decision in TABLE}
        missing = set(recovery.operations.OPERATIONS) - decided - {'remove_security_group'}
        self.assertEqual(set(), missing)

    def test_half_wired(self):
        cases = [('stop', 'network_attaching', (), True), (None, 'sg_adding', (), True),
                 ('network_attach', 'network_attaching', (), False),
                 ('network_attach', 'network_attaching', ('stop',), False),
                 ('network_attach', 'network_attaching', ('stop', 'network_attach'), True),
                 ('network_detach', 'network_attaching', ('network_attach',), True),
                 ('remove_security_group', 'sg_removing', (), False),
                 ('delete', 'network_detaching', (), False), ('stop', None, (), False),
                 ('stop', 'container_stopping', ('network_attach',), False)]
        for operation, task_state, lost, half in cases:
            with self.subTest(operation=operation, task_state=task_state, lost=lost):
                self.assertEqual(half, recovery.half_wired(
                    row('Running', operation, task_state), lost))

    def test_open(self):
        self.assertFalse(recovery.Open('Running').any)
        self.assertTrue(recovery.Open('Running', task_state='sg_adding').any)
        self.assertTrue(recovery.Open('Running', operation='stop').any)
        self.assertTrue(recovery.Open('Rebuilding').any)
