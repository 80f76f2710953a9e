# SPDX-License-Identifier: Apache-2.0
"""What users do with consoles, on the whole way to a real engine."""

import asyncio
import os

import fixtures
from oslo_messaging import conffixture
from oslo_messaging.notify import _impl_test

from zun import objects
from zun.common import exception
from zun.compute import streams
from zun.console import session as console
from zun.container import streams as container_streams
from zun.objects import console_session
from zun.rpc import notifications
from zun.tests.functional import engine
from zun.tests.functional.console import base


class TestSessions(base.ConsoleTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.serve_node()
        self.serve_proxy()

    def test_exec(self):
        container = self.container()
        ws = self.dial(self.exec_url(container))
        self.assertEqual('binary', ws.subprotocol)
        ws.send(b'echo sum=$((40+2))\n')
        base.read_until(ws, b'sum=42')
        ws.send('echo tëxt=$((40+3))\n')
        base.read_until(ws, b't\xc3\xabxt=43')
        ws.send(b'')
        ws.send(b'exit 3\n')
        _, code, reason = base.drain(ws)
        self.assertEqual((1000, 'Target closed'), (code, reason))
        self.wait_idle(container)
        self.assertEqual([], objects.ExecInstance.list_by_container_id(
            self.context, container.id))

    def test_size_of_what_has_ended(self):
        container = self.container()
        exec_id, token = streams.prepare_exec(self.node, self.context, container, 'sh', True)
        ws = self.dial(self.url(token, container, exec_id))
        ws.send(b'exit\n')
        base.drain(ws)
        self.wait_idle(container)
        for ident in (exec_id, 'f' * 64):
            error = self.assertRaises(exception.Invalid, streams.resize_exec, self.node, container,
                                      ident, 30, 90)
            self.assertEqual(400, error.code)

    def test_size_that_an_engine_does_not_take(self):
        async def hang(*_args: object) -> None:
            await asyncio.sleep(60)

        container = self.container()
        exec_id, token = streams.prepare_exec(self.node, self.context, container, 'sh', True)
        ws = self.dial(self.url(token, container, exec_id))
        base.read_until(ws, b'# ')
        self.useFixture(fixtures.MonkeyPatch('zun.compute.stream_server._RESIZE_SECONDS', 0.1))
        self.useFixture(fixtures.MonkeyPatch(
            'zun.container.docker.console._DockerStream.resize', hang))
        error = self.assertRaises(exception.EngineUnavailable, streams.resize_exec, self.node,
                                  container, exec_id, 30, 90)
        self.assertEqual(503, error.code)

    def test_exec_is_made_when_the_client_comes(self):
        container = self.container()
        url = self.exec_url(container)
        self.assertIsNone(self.engine.inspect(container)['ExecIDs'])
        self.dial(url)
        engine.wait_for('the command', lambda: self.execs(container))

    def test_command_ends_with_its_client(self):
        container = self.container()
        for command in ('sh', "sh -c 'trap \"\" HUP; while :; do sleep 0.1; done'"):
            ws = self.dial(self.exec_url(container, command))
            engine.wait_for('the command', lambda: self.execs(container))
            ws.close()
            self.wait_idle(container)

    def test_command_that_was_left_in_the_background_goes_on(self):
        container = self.container()
        ws = self.dial(self.exec_url(container))
        ws.send(b"sh -c 'trap \"\" HUP; exec sleep 1234' >/dev/null 2>&1 &\n")
        ws.send(b'echo left=$((1+1))\n')
        base.read_until(ws, b'left=2')
        ws.close()
        self.wait_idle(container)
        output, _ = self.driver.execute(container, 'ps')
        self.assertIn('sleep 1234', output)

    def test_exec_without_terminal(self):
        container = self.container()
        ws = self.dial(self.exec_url(container, "sh -c 'echo out; echo err >&2; read x; exit 4'",
                                     interactive=False))
        output, code, reason = base.drain(ws)
        self.assertEqual([b'err', b'out'], sorted(output.split()))
        self.assertEqual((1000, 'Target closed'), (code, reason))

    def test_missing_command_says_so(self):
        container = self.container()
        output, code, _ = base.drain(self.dial(self.exec_url(container, '/no/such')))
        self.assertIn(b'no such file', output)
        self.assertEqual(1000, code)

    def test_size_asked_for_before_the_start(self):
        container = self.container()
        exec_id, token = streams.prepare_exec(self.node, self.context, container, 'sh', True)
        streams.resize_exec(self.node, container, exec_id, 0, 0)
        streams.resize_exec(self.node, container, exec_id, 37, 101)
        ws = self.dial(self.url(token, container, exec_id))
        ws.send(b'stty size\n')
        base.read_until(ws, b'37 101')
        streams.resize_exec(self.node, container, exec_id, 38, 102)
        ws.send(b'stty size\n')
        base.read_until(ws, b'38 102')
        ws.send(b'exit\n')
        base.drain(ws)
        self.wait_idle(container)
        self.assertRaises(exception.Invalid, streams.resize_exec, self.node, container, exec_id,
                          37, 101)
        self.assertRaises(exception.Invalid, streams.resize_exec, self.node, container,
                          '0' * 64, 37, 101)

    def test_size_right_after_connecting(self):
        """python-zunclient resizes at once, before any output."""
        container = self.container()
        for _ in range(5):
            exec_id, token = streams.prepare_exec(self.node, self.context, container, 'sh', True)
            ws = self.dial(self.url(token, container, exec_id))
            streams.resize_exec(self.node, container, exec_id, 37, 101)
            ws.send(b'stty size\n')
            base.read_until(ws, b'37 101')
            ws.close()

    def test_attach_several_times(self):
        container = self.shell()
        streams.resize_tty(self.node, container, 33, 99)
        first, second = (self.dial(self.attach_url(container)) for _ in range(2))
        for ws in (second, first):
            ws.send(b'echo sum=$((40+2))\n')
            base.read_until(ws, b'sum=42')
        first.send(b'stty size\n')
        base.read_until(second, b'33 99')
        first.close()
        second.close()
        self.wait_idle(container)
        again = self.dial(self.attach_url(container))
        again.send(b'echo still=$((1+1))\n')
        base.read_until(again, b'still=2')
        again.send(b'exit\n')
        self.assertEqual((1000, 'Target closed'), base.drain(again)[1:])

    def test_attach_without_terminal(self):
        container = self.container(command=['sh'], interactive=True)
        first = self.dial(self.attach_url(container))
        first.send(b'echo one; echo two >&2\n')
        base.read_until(first, b'two')
        first.close()
        self.wait_idle(container)
        second = self.dial(self.attach_url(container))
        second.send(b'echo th\xc3\xa4t\n')
        base.read_until(second, b'th\xc3\xa4t')

    def test_attach_needs_interactive(self):
        self.assertRaises(exception.NoInteractiveFlag, streams.prepare_attach, self.node,
                          self.context, self.container())

    def test_every_key_reaches_the_terminal(self):
        """The engine's own keys to detach, ^P ^Q, are keys as all others."""
        container = self.shell()
        ws = self.dial(self.attach_url(container))
        ws.send(b'stty raw -echo; echo re""ady; dd bs=1 count=256 2>/dev/null | od -An -tx1 -v;'
                b' stty cooked echo\n')
        base.read_until(ws, b'ready')
        ws.send(bytes(range(256)))
        seen = base.read_until(ws, b' ff')
        self.assertEqual(bytes(range(256)).hex(), seen.decode().partition(' 00')[2].join(
            ['00', '']).replace('\r', '').replace('\n', '').replace(' ', '')[:512])

    def test_attach_to_what_has_ended(self):
        container = self.shell()
        url = self.attach_url(container)
        self.engine.api.kill(f'zun-{container.uuid}')
        self.engine.wait_state(container, 'exited')
        _, code, reason = base.drain(self.dial(url))
        self.assertEqual((1011, 'The container is not running.'), (code, reason))

    def test_stop_of_the_container_ends_its_sessions(self):
        container = self.shell()
        ws = self.dial(self.attach_url(container))
        ws.send(b'echo sum=$((40+2))\n')
        base.read_until(ws, b'sum=42')
        self.driver.stop(container, 0)
        self.assertEqual((1000, 'Target closed'), base.drain(ws)[1:])

    def test_revoke(self):
        container = self.shell()
        ws = self.dial(self.attach_url(container))
        unused, command = self.attach_url(container), self.exec_url(container)
        engine.wait_for('the session', lambda: streams.LIVE.of(container.uuid))
        streams.revoke(container.uuid)
        self.assertEqual((1000, 'Target closed'), base.drain(ws)[1:])
        for url in (unused, command):
            self.assertEqual(403, base.refusal(lambda url=url: self.dial(url))[0])
        self.assertEqual([], objects.ExecInstance.list_by_container_id(
            self.context, container.id))

    def test_ticket_goes_with_its_container(self):
        container = self.shell()
        url = self.attach_url(container)
        container.destroy(self.context)
        self.assertEqual(403, base.refusal(lambda: self.dial(url))[0])

    def test_log_is_followed_and_read_only(self):
        container = self.container(command=[
            'sh', '-c', 'echo first; read line; echo "got $line"; echo err >&2; read more'],
            interactive=True)
        log = self.dial(self.logs_url(container))
        base.read_until(log, b'first\n')
        log.send(b'from the log\n')
        attached = self.dial(self.attach_url(container))
        attached.send(b'from a console\n')
        said = (b'err\n', b'got from a console\n')  # two streams, in either order
        seen = base.read_until(log, said[0])
        if said[1] not in seen:
            base.read_until(log, said[1])
        attached.send(b'\n')
        self.assertEqual((1000, 'Target closed'), base.drain(log)[1:])

    def test_last_words_are_in_a_followed_log(self):
        """As in a reboot, a delete and a rebuild: consoles are ended before the container is."""
        script = 'trap "echo bye; sleep 0.3; echo last; exit" TERM; echo hi; while :; do ' \
                 'sleep 0.1; done'
        ways = ((self.driver.reboot, lambda row: self.driver.stop(row, 0)),
                (self.driver.stop, lambda row: self.driver.delete(row.uuid)))
        for way, finish in ways:
            container = self.container(command=['sh', '-c', script])
            log = self.dial(self.logs_url(container))
            base.read_until(log, b'hi\n')
            streams.revoke(container.uuid)
            way(container, 10)
            self.assertEqual((b'bye\nlast\n', 1000, 'Target closed'), base.drain(log))
            finish(container)
        self.wait_idle(container)

    def test_part_of_a_log(self):
        # The engine counts lines before it picks the stream, and two streams may swap when close.
        container = self.container(
            command=['sh', '-c', 'echo a; echo b >&2; sleep 0.2; echo c'])
        self.engine.wait_state(container, 'exited')
        for window, expected in (
                (container_streams.LogWindow(stderr=False), b'a\nc\n'),
                (container_streams.LogWindow(tail=1, stderr=False), b'c\n'),
                (container_streams.LogWindow(since='4000000000'), b'')):
            output, code, _ = base.drain(self.dial(self.logs_url(container, window)))
            self.assertEqual((expected, 1000), (output, code))

    def test_page_protocol(self):
        """The terminal page gets control frames, and may send a size."""
        container = self.container()
        ws = self.dial(self.exec_url(container), subprotocols=[console.TERMINAL, 'binary'])
        self.assertEqual(console.TERMINAL, ws.subprotocol)
        self.assertEqual('{"kind": "exec", "tty": true}', ws.recv(timeout=10))
        ws.send('{"resize": [44, 111]}')
        ws.send('nonsense')
        ws.send(b'stty size\n')
        base.read_until(ws, b'44 111')
        ws.send(b'exit 5\n')
        output, code, _ = base.drain(ws)
        self.assertTrue(output.endswith(b'{"exit": 5}'), output)
        self.assertEqual(1000, code)

    def test_text_is_input_elsewhere(self):
        ws = self.dial(self.exec_url(self.container()))
        ws.send('echo {"resize": [44, 111]}\n')
        base.read_until(ws, b'{resize: [44, 111]}')

    def test_characters_stay_whole(self):
        """Clients decode each frame by itself."""
        text = 'aé€😀' * 20000
        container = self.container()
        path = os.path.join(self.directory, 'text')
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        self.driver.put_archive(container, '/tmp', engine.tar({'text': text.encode()}))
        ws = self.dial(self.exec_url(container, 'cat /tmp/text'))
        seen = ''
        while len(seen) < len(text):
            frame = ws.recv(timeout=15)
            self.assertTrue(frame)
            seen += frame.decode()
        self.assertEqual(text, seen)

    def test_use_is_recorded_and_notified(self):
        self.useFixture(conffixture.ConfFixture(self.CONF)).transport_url = 'fake:/'
        self.config(group='oslo_messaging_notifications', driver=['test'])
        notifications._notifier.cache_clear()
        self.addCleanup(notifications._notifier.cache_clear)
        _impl_test.reset()
        for name, kind, url in (('attach', 'attach', self.attach_url),
                                ('execute', 'exec', self.exec_url),
                                ('follow_logs', 'logs', self.logs_url)):
            container = self.shell()
            ws = self.dial(url(container))
            engine.wait_for('the session', lambda c=container: streams.LIVE.of(c.uuid))
            streams.revoke(container.uuid)
            self.driver.stop(container, 0)
            base.drain(ws)
            self._check_record(container, name)
            self._check_notified(container, kind)

    def _check_record(self, container: objects.Container, name: str) -> None:
        engine.wait_for('the end to be written', lambda: [
            event for event in self._events(container)
            if event.event == 'console__session' and event.finish_time])
        action = objects.ContainerAction.get_by_container_uuid(self.context, container.uuid)[0]
        self.assertEqual((name, 'user', self.context.request_id),
                         (action.action, action.user_id, action.request_id))
        used, issued = self._events(container)
        self.assertEqual(('console__session', 'Success'), (used.event, used.result))
        self.assertIn('client 127.0.0.1', used.details)
        self.assertIn('1000 Target closed', used.details)
        self.assertEqual('console__ticket', issued.event)

    def _events(self, container: objects.Container) -> list[objects.ContainerActionEvent]:
        action = objects.ContainerAction.get_by_container_uuid(self.context, container.uuid)[0]
        events = objects.ContainerActionEvent.get_by_action(self.context, action.id)
        return sorted(events, key=lambda event: event.event)

    def _check_notified(self, container: objects.Container, kind: str) -> None:
        expected = ['console.ticket.create', 'console.session.start', 'console.session.end']

        def told() -> list[dict]:
            return [message for _, message, *_ in list(_impl_test.NOTIFICATIONS)
                    if message['payload']['container_uuid'] == container.uuid]
        engine.wait_for('the notifications', lambda: len(told()) == len(expected))
        self.assertEqual(expected, [message['event_type'] for message in told()])
        self.assertEqual({kind}, {message['payload']['kind'] for message in told()})

    def test_secrets_are_not_stored(self):
        container = self.shell()
        url = self.attach_url(container)
        token = url.split('token=')[1].split('&')[0]
        self.assertEqual(43, len(token))
        self.dial(url).close()
        self.wait_idle(container)
        for name in os.listdir(os.path.dirname(self.CONF.database.connection[10:])):
            path = os.path.join(os.path.dirname(self.CONF.database.connection[10:]), name)
            with open(path, 'rb') as file:
                self.assertNotIn(token.encode(), file.read())

    def test_what_a_crash_left_is_ended_at_the_start(self):
        container = self.container()
        exec_id, token = streams.prepare_exec(self.node, self.context, container, 'sh', True)
        session, key = console_session.ConsoleSession.redeem(token, container.uuid, exec_id, 'x')
        opened = console_session.ConsoleSession.begin(session.id, key, base.HOST)
        orphan = self.engine.api.exec_create(f'zun-{container.uuid}', ['sleep', '1000'])['Id']
        self.engine.api.exec_start(orphan, detach=True)
        opened.set_engine_id(orphan)
        self.assertEqual([orphan], self.execs(container))
        self.config(group='console', listen_address=f'unix:{self.directory}/second.sock')
        self.serve_node()
        self.wait_idle(container)
        engine.wait_for('the row to end', lambda: not console_session.ConsoleSession
                        .list_abandoned(base.HOST))
