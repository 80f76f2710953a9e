# SPDX-License-Identifier: Apache-2.0
"""What a capsule is, by its sandbox and its members: decisions without any I/O."""

import collections.abc
import dataclasses

from zun.common import states

ALWAYS, NEVER = 'always', 'no'
SANDBOX_ENDED = 'The sandbox of the capsule has ended.'


@dataclasses.dataclass(frozen=True)
class Part:
    """The engine's view of one member.

    :ivar there: the engine has it
    :ivar running: also while the engine restarts it
    :ivar exit_code: of its last run
    """

    name: str
    there: bool = True
    running: bool = True
    restarting: bool = False
    exit_code: int | None = None


def overall(sandbox: bool, members: collections.abc.Sequence[Part],
            policy: str) -> tuple[str, str | None]:
    """Status of a capsule whose members were all started, and its reason.

    What the agent brings back is Restarting; Error is for good.

    :param sandbox: it runs
    :param policy: name of the restart policy

    >>> overall(True, [Part('a'), Part('b', running=False, exit_code=0)], 'no')
    ('Running', None)
    >>> overall(True, [Part('a', running=False, exit_code=3)], 'no')
    ('Error', 'Container a failed: exit 3')
    """
    lost = states.ERROR if policy == NEVER else states.RESTARTING
    if not sandbox:
        return lost, SANDBOX_ENDED
    for part in members:
        if not part.there:
            return lost, f'Container {part.name} is missing in the engine.'
    if any(part.restarting or (not part.running and policy == ALWAYS) for part in members):
        return states.RESTARTING, None
    for part in members:
        if not part.running and part.exit_code:
            return states.ERROR, f'Container {part.name} failed: exit {part.exit_code}'
    return (states.RUNNING if any(part.running for part in members) else states.STOPPED), None


def broken(sandbox: bool, members: collections.abc.Sequence[Part], policy: str) -> bool:
    """Whether the agent has to bring the capsule back, as the engine does not.

    The engine restarts single members by itself, unless somebody stopped them by hand.
    """
    if policy == NEVER:
        return False
    return not sandbox or any(
        not part.there or (policy == ALWAYS and not part.running) for part in members)


def wanted(part: Part, policy: str) -> bool:
    """Whether a member has to run after its capsule was brought back."""
    return part.running or policy == ALWAYS or bool(part.exit_code)
