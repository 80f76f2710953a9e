# SPDX-License-Identifier: Apache-2.0
"""What is killed where: every fail point of the source belongs to an operation of this table."""

import ast
import collections.abc
import dataclasses
import pathlib

import zun
from zun.common import states

_SOURCE = pathlib.Path(zun.__file__).parent

_CREATE = ('begun', 'claimed', 'pulled', 'volumes', 'planned', 'made', 'plugged')
_DELETE = ('begun', 'removed', 'network', 'volumes', 'released', 'forgotten')
_REBUILD = ('aside', 'made')
_DONE = ('begun', 'done', 'saved')
_LIMITS = ('limits.allocated', 'limits.applied', 'limits.saved')


@dataclasses.dataclass(frozen=True)
class Killed:
    """One operation, and where its agent is killed.

    :ivar name: of the operation, for people
    :ivar points: in the order in which they are passed
    :ivar operation: as recorded; None: it is a call that somebody waits for
    :ivar before: status that it begins in; None: it makes the container
    :ivar after: status at the end; None: the container is gone
    """

    name: str
    points: tuple[str, ...]
    operation: str | None = None
    args: dict[str, object] = dataclasses.field(default_factory=dict)
    before: str | None = states.RUNNING
    after: str | None = states.RUNNING
    reason: str | None = None


def _of(prefix: str, *steps: str) -> tuple[str, ...]:
    return tuple(f'{prefix}.{step}' for step in steps)


POWER = (
    Killed('stop', _of('stop', *_DONE), 'stop', {'timeout': 5}, after=states.STOPPED),
    Killed('start', _of('start', *_DONE), 'start', before=states.STOPPED),
    Killed('reboot', _of('reboot', *_DONE), 'reboot', {'timeout': 5}),
    Killed('pause', _of('pause', *_DONE), 'pause', after=states.PAUSED),
    Killed('unpause', _of('unpause', *_DONE), 'unpause', before=states.PAUSED),
    Killed('kill', _of('kill', *_DONE), 'kill', {'signal': 'SIGKILL'}, after=states.STOPPED),
    Killed('kill by a signal that may have been delivered', ('kill.begun',), 'kill',
           {'signal': 'SIGHUP'}, reason='The operation was interrupted.'),
)
CREATES = (
    Killed('run', _of('create', *_CREATE, 'started', 'saved'), 'create', before=None),
    Killed('create', _of('create', *_CREATE, 'saved'), 'create', before=None,
           after=states.CREATED),
)
FAILING_CREATE = Killed('create that fails', ('create.undone',), 'create', before=None,
                        after=states.ERROR)
REBUILDS = (
    Killed('rebuild', _of('rebuild', 'begun', 'pulled', 'stopped', *_REBUILD, 'started',
                          'discarded', 'saved'), 'rebuild', {'run': True}),
    Killed('rebuild of one that does not run',
           _of('rebuild', 'begun', 'pulled', *_REBUILD, 'discarded'), 'rebuild', {'run': False},
           before=states.STOPPED, after=states.CREATED),
)
FAILING_REBUILD = Killed('rebuild that fails', ('rebuild.undone',), 'rebuild', {'run': True})
LIMITS = (
    Killed('update', ('update.begun', *_LIMITS), args={'cpu': 0.2, 'memory': '48'}),
    Killed('rename', ('limits.saved',), args={'name': 'other'}),
    Killed('resize', ('resize_container.begun', *_LIMITS, 'resize_container.saved'),
           'resize_container', {'patch': {'cpu': 0.2, 'memory': '48'}}),
)
DELETES = (
    Killed('delete', _of('delete', *_DELETE), 'delete', {'force': False, 'stop': False},
           before=states.STOPPED, after=None),
    Killed('delete after stop', _of('delete', 'begun', 'stopped', *_DELETE[1:]), 'delete',
           {'force': False, 'stop': True}, after=None),
    Killed('forced delete', _of('delete', *_DELETE), 'delete', {'force': True, 'stop': False},
           after=None),
)
ARCHIVE = Killed('put_archive', _of('put_archive', 'begun', 'done'))
NETWORKS = (
    Killed('network_attach', _of('network_attach', 'begun', 'planned', 'done', 'saved'),
           'network_attach'),
    Killed('network_detach', _of('network_detach', 'begun', 'done', 'released', 'saved'),
           'network_detach'),
)
GROUPS = (
    Killed('add_security_group', _of('add_security_group', 'begun', 'saved'),
           'add_security_group', {'security_group': 'group'}),
    Killed('remove_security_group', _of('remove_security_group', 'begun', 'saved'),
           'remove_security_group', {'security_group': 'group'}),
)
COMMIT = Killed('commit', _of('commit', 'begun', 'made', 'sent', 'cleared', 'saved'), 'commit')
CAPSULE = Killed(
    'create of a capsule', _of('capsule', 'built', 'sandbox', 'member', 'init', 'started'),
    'create', before=None)
CAPSULE_REBUILD = Killed(
    'rebuild of a capsule', _of('capsule', 'sandbox', 'member', 'init', 'started'), 'rebuild',
    {'run': True})
CAPSULE_DELETE = Killed('delete of a capsule', _of('delete', *_DELETE), 'delete',
                        {'force': False, 'stop': False}, after=None)
PULL = Killed('image_pull', _of('image_pull', 'begun', 'pulled', 'saved'), before=None)
RECOVERY = Killed('recovery', _of('recovery', 'decided', 'closed'))

TABLE = (*CREATES, FAILING_CREATE, *POWER, *REBUILDS, FAILING_REBUILD, *LIMITS, *DELETES, ARCHIVE,
         *NETWORKS, *GROUPS, COMMIT, CAPSULE, CAPSULE_REBUILD, CAPSULE_DELETE, PULL, RECOVERY)


def of_source() -> set[str]:
    """The arguments of all ``failpoints.hit``; ``{}`` stands for the name of an operation."""
    found: set[str] = set()
    for path in _SOURCE.rglob('*.py'):
        if 'tests' not in path.relative_to(_SOURCE).parts and 'failpoints' in path.read_text():
            found.update(_points(ast.parse(path.read_text())))
    return found


def _points(tree: ast.AST) -> collections.abc.Iterator[str]:
    for node in ast.walk(tree):
        if (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                and node.func.attr == 'hit'):
            yield _text(node.args[0])


def _text(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return ''.join(str(part.value) if isinstance(part, ast.Constant) else '{}'
                       for part in node.values)
    return ast.literal_eval(node)
