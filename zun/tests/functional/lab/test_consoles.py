# SPDX-License-Identifier: Apache-2.0
"""Consoles from the API to the engine and back, with every process in its own place."""

import typing as ty

from websockets import exceptions as ws_exceptions
from websockets.sync import client as ws_client

from zun.tests.functional.console import base as consoles
from zun.tests.functional.lab import base

_COUNTS = ['sh', '-c', 'trap "echo bye; exit" TERM; n=0; '
           'while :; do n=$((n+1)); echo $n; sleep 0.1; done']
_FOLLOW = {'follow': 'true'}


class ConsolesTest(base.LabTestCase):
    def running(self, **fields: ty.Any) -> str:
        made = self.post(**fields)['uuid']
        self.wait_status(made, 'Running')
        return made

    def ask(self, user: base.User, ident: str, **params: str) -> ty.Any:
        return user.http('GET', f'/v1/containers/{ident}/logs', '1.41', params=params)

    def dial(self, url: str) -> ws_client.ClientConnection:
        return self.enterContext(ws_client.connect(
            url, subprotocols=consoles.BINARY, proxy=None, compression=None))

    def test_followed_log(self) -> None:
        ident = self.running(command=_COUNTS)
        answer = self.ask(self.user, ident, **_FOLLOW)
        self.assertEqual(200, answer.status_code, answer.text)
        log = self.dial(answer.json())
        consoles.read_until(log, b'1\n2\n3\n')
        self.assertEqual(403, consoles.refusal(lambda: self.dial(answer.json()))[0])
        log.send(b'exit\n')
        consoles.read_until(log, b'\n10\n')
        self.act(ident, 'stop', timeout=5)
        output, code, reason = consoles.drain(log)
        self.assertTrue(output.endswith(b'bye\n'), output)
        self.assertEqual((1000, 'Target closed'), (code, reason))
        self.assertEqual({'console__ticket': 'Success', 'console__session': 'Success'},
                         self.wait('the end of the session', lambda: self._events(ident)))

    def _events(self, ident: str) -> dict[str, str] | None:
        """What became of the session, once it is written."""
        path = f'/v1/containers/{ident}/container_actions'
        request, = (action['request_id'] for action in
                    self.user.http('GET', path).json()['containerActions']
                    if action['action'] == 'follow_logs')
        events = self.user.http('GET', f'{path}/{request}').json()['events']
        if not all(event['finish_time'] for event in events):
            return None
        return {event['event']: event['result'] for event in events}

    def test_log_of_what_has_ended(self) -> None:
        ident = self.post(command=['sh', '-c', 'echo one; echo two'])['uuid']
        self.wait_status(ident, 'Stopped')
        for params, expected in (({}, b'one\ntwo\n'), ({'tail': '1'}, b'two\n'),
                                 ({'stdout': 'false'}, b''), ({'since': '4000000000'}, b'')):
            url = self.ask(self.user, ident, **_FOLLOW, **params).json()
            self.assertEqual((expected, 1000, 'Target closed'), consoles.drain(self.dial(url)))

    def test_others_get_none(self) -> None:
        ident = self.running(interactive=True)
        stranger = base.User('other', 'other')
        path = f'/v1/containers/{ident}'
        for answer in (self.ask(stranger, ident, **_FOLLOW),
                       stranger.http('GET', f'{path}/attach'),
                       stranger.http('POST', f'{path}/execute', params={
                           'command': 'sh', 'run': 'false', 'interactive': 'true'})):
            self.assertEqual(404, answer.status_code, answer.text)

    def test_delete_ends_them(self) -> None:
        ident = self.running(interactive=True, command=['sh'])
        url = self.user.http('GET', f'/v1/containers/{ident}/attach').json()
        unused = self.ask(self.user, ident, **_FOLLOW).json()
        shell = self.dial(url)
        shell.send(b'echo sum=$((40+2))\n')
        consoles.read_until(shell, b'sum=42')
        self.admin.http('DELETE', f'/v1/containers/{ident}?force=true&all_projects=true')
        self.assertEqual((1000, 'Target closed'), consoles.drain(shell)[1:])
        self.wait('its end', lambda: self.user.show(ident) is None)
        error = self.assertRaises(ws_exceptions.InvalidStatus, self.dial, unused)
        self.assertEqual(403, error.response.status_code)
