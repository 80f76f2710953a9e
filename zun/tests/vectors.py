# SPDX-License-Identifier: Apache-2.0
"""Results of pure functions, recorded from the reference implementation."""

import collections.abc
import functools
import json
import pathlib
import typing as ty

_FILE = pathlib.Path(__file__).parent / 'data' / 'vectors.json'
#: Action -> status in which ours accepts it as well: nothing else would get rid of a paused
#: container, or end one that the engine restarts again and again.
_ACCEPTED = {'delete_force': 'Paused', 'stop': 'Restarting'}


@functools.cache
def _by_function() -> dict[str, list[dict[str, ty.Any]]]:
    found: dict[str, list[dict[str, ty.Any]]] = {}
    for vector in json.loads(_FILE.read_text())['vectors']:
        found.setdefault(vector['function'], []).append(vector)
    return found


def recorded(function: str) -> list[dict[str, ty.Any]]:
    """``args``, and ``result`` or ``error``, of each recorded call.

    :raises KeyError: nothing was recorded under that name
    """
    return _by_function()[function]


def of(function: str) -> collections.abc.Iterator[tuple[dict[str, ty.Any], ty.Any, int | None]]:
    """Arguments, result, and HTTP status of the error that is expected instead of a result.

    What ours must give wins over what was recorded.

    :raises KeyError: nothing was recorded under that name
    """
    for vector in recorded(function):
        ours = vector.get('ours') or _accepted(vector)
        result = ours if 'valid' in ours else ours.get('result', vector.get('result'))
        status = {**vector.get('error', {}), **ours}.get('http_status')
        yield vector['args'], result, status


def _accepted(vector: dict[str, ty.Any]) -> dict[str, ty.Any]:
    args = vector['args']
    more = _ACCEPTED.get(args.get('action', ''))
    if vector['function'] == 'valid_states' and more:
        return {'result': [*vector['result'], more]}
    if vector['function'] == 'validate_container_state' and more == args['status']:
        return {'result': 'ok', 'http_status': None}
    return {}
