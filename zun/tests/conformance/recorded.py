# SPDX-License-Identifier: Apache-2.0
"""The recorded exchanges that the API has to match, and its routes."""

import json
import pathlib
import typing as ty

_DATA = pathlib.Path(__file__).parent / 'data'


def exchanges() -> dict[str, ty.Any]:
    """The scenarios, as the replay takes them."""
    return json.loads((_DATA / 'exchanges.json').read_text())


def routes() -> list[dict[str, ty.Any]]:
    """The routes of the API, with their versions, parameters and rules."""
    return json.loads((_DATA / 'routes.json').read_text())['routes']
