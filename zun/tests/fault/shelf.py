# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the image service that outlives the agents: records are files in a directory."""

import collections.abc
import json
import pathlib
import typing as ty

Json = dict[str, ty.Any]


class Shelf:
    """What a node asks of the image service."""

    def __init__(self, directory: str) -> None:
        self._directory = pathlib.Path(directory) / 'shelf'
        self._directory.mkdir(exist_ok=True)

    def _path(self, ident: str) -> pathlib.Path:
        return self._directory / ident

    def add(self, ident: str) -> None:
        """A record without data, as the API makes it."""
        self._write(ident, 'queued', 0)

    def _write(self, ident: str, status: str, size: int) -> None:
        self._path(ident).write_text(json.dumps({
            'id': ident, 'status': status, 'size': size, 'created_at': '2020-01-01T00:00:00Z'}))

    def show(self, ident: str) -> Json | None:
        path = self._path(ident)
        return json.loads(path.read_text()) if path.exists() else None

    def upload(self, ident: str, chunks: collections.abc.Iterable[bytes]) -> None:
        self._write(ident, 'active', sum(map(len, chunks)))

    def delete(self, ident: str) -> None:
        self._path(ident).unlink(missing_ok=True)

    def unfinished(self, **properties: str) -> list[Json]:
        return []

    def is_unfinished(self, ident: str) -> bool:
        image = self.show(ident)
        return image is not None and image['status'] == 'queued'
