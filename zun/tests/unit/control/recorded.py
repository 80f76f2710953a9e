# SPDX-License-Identifier: Apache-2.0
"""Results of pure functions, recorded from the reference implementation."""

import collections.abc
import json
import pathlib
import typing as ty

_DATA = pathlib.Path(__file__).parent / 'data' / 'vectors.json'


def of(function: str) -> collections.abc.Iterator[tuple[dict[str, ty.Any], ty.Any, int | None]]:
    """Arguments, result, and HTTP status of the error that is expected instead of a result.

    What ours must give wins over what was recorded.
    """
    found = [vector for vector in json.loads(_DATA.read_text())
             if vector['function'] == function]
    assert found, function
    for vector in found:
        expected = {**vector.get('error', {}), **vector.get('ours', {})}
        yield vector['args'], vector.get('result'), expected.get('http_status')
