# SPDX-License-Identifier: Apache-2.0
"""The recorded results of pure functions: those of the API are beside its exchanges."""

import collections.abc
import functools
import json
import pathlib
import typing as ty

from zun.tests.conformance import recorded

_DATA = pathlib.Path(__file__).parent / 'data'


@functools.cache
def _vectors() -> dict[str, list[dict[str, ty.Any]]]:
    found: dict[str, list[dict[str, ty.Any]]] = {}
    for vector in json.loads((_DATA / 'vectors.json').read_text())['vectors']:
        found.setdefault(vector['function'], []).append(vector)
    return found


def of(function: str) -> collections.abc.Iterator[tuple[dict[str, ty.Any], ty.Any, int | None]]:
    """Arguments, result, and HTTP status of the error that is expected instead of a result.

    What ours must give wins over what was recorded.

    :raises KeyError: nothing was recorded under that name
    """
    if function not in _vectors():
        yield from recorded.vectors(function)
        return
    for vector in _vectors()[function]:
        ours = vector.get('ours', {})
        status = {**vector.get('error', {}), **ours}.get('http_status')
        yield vector['args'], ours.get('result', vector.get('result')), status
