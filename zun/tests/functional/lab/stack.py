# SPDX-License-Identifier: Apache-2.0
"""Plays recorded exchanges against a cloud that runs, over HTTP with real tokens."""

import collections.abc
import contextlib
import http.client
import json
import time
import typing as ty
from urllib import parse

from zun.tests.conformance import matchers
from zun.tests.conformance import replay

Json = dict[str, ty.Any]

_NEWEST = {'OpenStack-API-Version': 'container 1.40', 'Accept': 'application/json'}
#: Seconds for what a node has to do.
_TIMEOUT = 180
#: Collections that a scenario can leave something in, and how an item is deleted.
_LEFT = {'containers': '?force=true', 'capsules': '', 'registries': ''}


class Stack(replay.Adapter):
    """
    :param tokens: identity -> headers with a token
    :param aliases: text of the recording -> what it is in this cloud
    """

    kinds = ()

    def __init__(self, base_url: str, tokens: dict[str, dict[str, str]],
                 aliases: dict[str, str]) -> None:
        self.base_url = base_url.rstrip('/')
        self._tokens = tokens
        self._aliases = aliases

    def request(self, identity: str, method: str, path: str, headers: dict[str, str],
                body: bytes | None, script: list[Json]) -> replay.Answer:
        where = parse.urlsplit(self.base_url)
        with contextlib.closing(
                http.client.HTTPConnection(where.netloc, timeout=_TIMEOUT)) as connection:
            connection.request(method, where.path + self._there(path.encode()).decode(),
                               self._there(body) if body else body,
                               {**headers, **self._tokens.get(identity, {})})
            response = connection.getresponse()
            answered = {name.lower(): self._back(value.encode()).decode()
                        for name, value in response.getheaders()}
            return replay.Answer(response.status, answered, self._back(response.read()), None)

    def _there(self, text: bytes) -> bytes:
        for recorded, real in self._aliases.items():
            text = text.replace(recorded.encode(), real.encode())
        return text

    def _back(self, text: bytes) -> bytes:
        for recorded, real in self._aliases.items():
            text = text.replace(real.encode(), recorded.encode())
        return text

    def compute(self, table: str, where: Json, values: Json) -> None:
        def reached() -> bool:
            answer = self._show(where['uuid'])
            shown = json.loads(answer.body)
            return answer.status == 200 and values.items() <= shown.items()
        self._wait(f'{where["uuid"]} to be {values}', reached)

    def compute_gone(self, table: str, where: Json) -> None:
        self._wait(f'{where["uuid"]} to be gone',
                   lambda: self._show(where['uuid']).status == 404)

    def finish(self, scenario: Json) -> None:
        """Delete what the scenario has left, of everyone who took part."""
        for identity in self._tokens:
            for collection, how in _LEFT.items():
                self._wait(f'{collection} of {identity} to be gone',
                           lambda i=identity, c=collection, h=how: self._emptied(i, c, h))

    def _emptied(self, identity: str, collection: str, how: str) -> bool:
        listed = self.request(identity, 'GET', f'/v1/{collection}', _NEWEST, None, [])
        found = json.loads(listed.body)[collection]
        for item in found:
            self.request('admin', 'DELETE', f'/v1/{collection}/{item["uuid"]}{how}',
                         _NEWEST, None, [])
        return not found

    def _show(self, uuid: str) -> replay.Answer:
        return self.request('admin', 'GET', f'/v1/containers/{uuid}', _NEWEST, None, [])

    @staticmethod
    def _wait(what: str, check: collections.abc.Callable[[], bool]) -> None:
        end = time.monotonic() + _TIMEOUT
        while not check():
            if time.monotonic() > end:
                raise matchers.MismatchError(f'timed out waiting for {what}')
            time.sleep(0.2)
