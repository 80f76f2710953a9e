# SPDX-License-Identifier: Apache-2.0
"""What a container asks of PCI devices, as its request keeps it."""

import typing as ty


def stored(value: ty.Any) -> list[dict[str, ty.Any]]:
    """count, spec and request_id of each; from a list, or a serialised ContainerPCIRequests."""
    found = _plain(value) or []
    if isinstance(found, dict):
        found = found.get('requests') or []
    return list(found)


def _plain(value: ty.Any) -> ty.Any:
    """A serialised versioned object without its envelope."""
    if isinstance(value, dict):
        data = value.get('zun_object.data', value)
        return {name: _plain(item) for name, item in data.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
