# SPDX-License-Identifier: Apache-2.0
"""The recorded exchanges and results of pure functions that the API has to match."""

import collections.abc
import functools
import json
import pathlib
import typing as ty

_DATA = pathlib.Path(__file__).parent / 'data'


@functools.cache
def _vectors() -> dict[str, list[dict[str, ty.Any]]]:
    found: dict[str, list[dict[str, ty.Any]]] = {}
    for vector in json.loads((_DATA / 'vectors.json').read_text())['vectors']:
        found.setdefault(vector['function'], []).append(vector)
    return found


def vectors(function: str) -> collections.abc.Iterator[
        tuple[dict[str, ty.Any], ty.Any, int | None]]:
    """Arguments, result, and HTTP status of the error that is expected instead of a result.

    What ours must give wins over what was recorded.

    :raises KeyError: nothing was recorded under that name
    """
    for vector in _vectors()[function]:
        ours = vector.get('ours', {})
        result = ours.get('result', vector.get('result'))
        if 'valid' in ours:
            result = ours
        status = {**vector.get('error', {}), **ours}.get('http_status')
        yield vector['args'], result, status


def exchanges() -> dict[str, ty.Any]:
    """The scenarios, as the replay takes them."""
    return json.loads((_DATA / 'exchanges.json').read_text())


def routes() -> list[dict[str, ty.Any]]:
    """The routes of the API, with their versions, parameters and rules."""
    return json.loads((_DATA / 'routes.json').read_text())['routes']
