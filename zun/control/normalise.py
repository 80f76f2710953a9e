# SPDX-License-Identifier: Apache-2.0
"""From what users write to what is stored: pure functions, one for each member of a request."""

import typing as ty

from zun.common import exception

Members = dict[str, ty.Any]

_PROTOCOLS = ('tcp', 'udp')
_HIGHEST_PORT = 65535
_NO_RETRIES = ('always', 'unless-stopped')
#: Labels of ours on the engine's containers begin so.
_OWN_LABELS = 'zun.'


def restart_policy(policy: Members | None) -> Members | None:
    """A restart policy with its count: absent means ``"0"``, and for ``no`` it is.

    :raises InvalidValue: a count other than 0 where there is no limit to retries
    """
    if not policy:
        return policy
    name = policy['Name']
    count = policy.get('MaximumRetryCount')
    count = '0' if count is None else count
    try:
        unlimited = int(count) != 0
    except ValueError:
        raise exception.InvalidValue(f'maximum retry count {count} is not a number') from None
    if name in _NO_RETRIES and unlimited:
        raise exception.InvalidValue(
            f'maximum retry count not valid with restart policy of {name}')
    return {'Name': name, 'MaximumRetryCount': '0' if name == 'no' else count}


def exposed_ports(ports: Members | None) -> Members:
    """Exposed ports with their protocols: ``{"80": {}}`` -> ``{"80/tcp": {}}``.

    :raises InvalidValue: neither ``<port>`` nor ``<port>/tcp`` nor ``<port>/udp``
    """
    return {_exposed_port(key): value for key, value in (ports or {}).items()}


def _exposed_port(key: str) -> str:
    port, slash, protocol = key.partition('/')
    if '/' in protocol:
        raise exception.InvalidValue(f'value {key} is invalid as publish port.')
    protocol = protocol if slash else 'tcp'
    if protocol not in _PROTOCOLS:
        raise exception.InvalidValue(f'value {protocol} is an invalid protocol')
    if not (port.isascii() and port.isdigit() and 1 <= int(port) <= _HIGHEST_PORT):
        raise exception.InvalidValue(f'value {port} is invalid as publish port.')
    return f'{int(port)}/{protocol}'


def labels(given: Members | None) -> dict[str, str]:
    """Labels as texts.

    :raises InvalidValue: one that begins as ours do
    """
    for key in given or {}:
        if key.startswith(_OWN_LABELS):
            raise exception.InvalidValue(
                f"Label '{key}' is reserved: labels may not begin with '{_OWN_LABELS}'.")
    return {key: str(value) for key, value in (given or {}).items()}


def workdir(given: str | None) -> str | None:
    """A working directory; empty stands for the image's own.

    :raises InvalidValue: a relative one, which no engine takes
    """
    if given and not given.startswith('/'):
        raise exception.InvalidValue(f"The working directory '{given}' is not an absolute path.")
    return given


def pull_policy(given: str | None) -> str | None:
    """An image pull policy in lower case."""
    return given.lower() if given else None


def cpu(given: float | str | None, default: float | None) -> float | None:
    """vCPUs as a number."""
    return default if given is None else float(given)


def memory(given: int | str | None, default: int | None) -> str | None:
    """MiB as text without leading zeros."""
    amount = default if given is None else int(given)
    return None if amount is None else str(amount)


def disk(given: int | str | None) -> int:
    """GiB; 0 stands for ``default_disk`` of a host that can limit it."""
    return 0 if given is None else int(given)


def texts(given: ty.Sequence[ty.Any] | None) -> list[str]:
    """The words of a command."""
    return [str(word) for word in given or ()]


def number(given: int | str | None) -> int | None:
    """A number that may come as text; the empty text is none."""
    return None if given is None or given == '' else int(given)
