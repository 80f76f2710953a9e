# SPDX-License-Identifier: Apache-2.0
"""The engine's stream of events."""

import collections.abc
import contextlib
import http.client
import json
import socket
import typing as ty
import urllib.parse

from zun.common import exception
import zun.conf
from zun.container import driver
from zun.container.docker import client
from zun.container.docker import errors
from zun.container.docker import state

CONF = zun.conf.CONF
_FILTERS = json.dumps({
    'type': ['container'],
    'event': ['create', 'start', 'pause', 'unpause', 'rename', 'update', 'die', 'oom', 'destroy',
              'health_status']})


def parse(line: bytes) -> driver.Event | None:
    """One event; None for a container that does not bear one of our names.

    One that was set aside bears another name, so that its end is not taken for its successor's.
    """
    event = json.loads(line)
    attributes = (event.get('Actor') or {}).get('Attributes') or {}
    uuid = state.uuid_of(attributes.get('name', ''))
    if uuid is None:
        return None
    moment = event['timeNano'] / 1e9 if 'timeNano' in event else float(event['time'])
    return driver.Event(uuid, 'gone' if event['Action'] == 'destroy' else 'changed', moment,
                        attributes.get(state.LABEL_HOST))


class Stream:
    """Events of our containers: a context that gives an iterator of them.

    It ends when the engine closes the connection, and when any thread leaves the context.
    """

    def __init__(self, engine: client.Client, since: float) -> None:
        self._engine = engine
        self._query = urllib.parse.urlencode({'since': f'{since:.9f}', 'filters': _FILTERS})
        self._connection = engine.connection(CONF.docker.default_timeout)
        self._socket: socket.socket | None = None
        self._left = False

    def __enter__(self) -> collections.abc.Iterator[driver.Event]:
        """:raises EngineUnavailable: no answer"""
        try:
            with errors.translated():
                return self._events(self._open())
        except (OSError, http.client.HTTPException) as error:
            self._engine.forget()
            self._connection.close()
            raise exception.EngineUnavailable(error_msg=str(error)) from error
        except exception.ZunException:
            self._connection.close()
            raise

    def __exit__(self, *_: ty.Any) -> None:
        self._left = True
        if self._socket is not None:
            with contextlib.suppress(OSError):  # the engine was faster
                self._socket.shutdown(socket.SHUT_RDWR)  # wakes the reader in its own thread
            self._socket.close()  # once the reader has closed its end

    def _open(self) -> http.client.HTTPResponse:
        self._connection.request('GET', self._engine.path(f'/events?{self._query}'))
        self._socket = self._connection.sock
        answer = self._connection.getresponse()
        if answer.status != http.client.OK:
            raise errors.Refusal(answer.status, client.error_text(answer.read()))
        _wait_for_ever(self._socket)
        return answer

    def _events(self, answer: http.client.HTTPResponse) -> collections.abc.Iterator[driver.Event]:
        try:
            for line in answer:
                event = parse(line)
                if event is not None and not self._left:
                    yield event
        except (OSError, http.client.HTTPException, ValueError):
            pass  # cut off in the middle of a line
        finally:
            answer.close()
        if not self._left:
            self._engine.forget()


def _wait_for_ever(sock: socket.socket) -> None:
    """Events may be hours apart; a peer that vanished is found by keep-alive."""
    sock.settimeout(None)
    if sock.family != socket.AF_UNIX:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 30)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
