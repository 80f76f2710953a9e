# SPDX-License-Identifier: Apache-2.0
"""Recorded results of the pure functions of the old driver."""

import json
import pathlib
import typing as ty

_FILE = pathlib.Path(__file__).parent / 'data' / 'vectors.json'


def of(function: str) -> list[dict[str, ty.Any]]:
    """``args``, and ``result`` or ``error``, of each recorded call."""
    return json.loads(_FILE.read_text())[function]
