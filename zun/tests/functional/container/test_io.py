# SPDX-License-Identifier: Apache-2.0
"""Reaching into containers on a real engine."""

import concurrent.futures
import io
import os
import socket
import time

from zun.common import exception
from zun.common import states
from zun.container.docker import client
from zun.container.docker import errors
from zun.container.docker import exec as exec_command
from zun.container.docker import processes
from zun.container.docker import streams
from zun.tests.functional import engine
from zun.tests.functional.container import base


class TestExecute(base.DriverTestCase):
    def setUp(self):
        super().setUp()
        self.container = self.run_container(command=['sleep', '1000'])

    def execute(self, command):
        return self.driver.execute(self.container, command)

    def _processes(self):
        table = self.driver.top(self.container, '-o pid,args')
        return [row[1] for row in table['Processes']]

    def test_output_and_exit_code(self):
        self.assertEqual(('hello\n', 0), self.execute('echo hello'))
        output, code = self.execute('ls /no/such')
        self.assertIn('/no/such', output)
        self.assertEqual(1, code)

    def test_words_as_a_shell_splits_them(self):
        self.assertEqual('first two  words\n',
                         self.execute("""sh -c 'echo "$0 two  words"' first""")[0])

    def test_command_that_is_none(self):
        for command in ('', '  ', '"open'):
            self.assertRaises(exception.Invalid, self.execute, command)

    def test_missing_program(self):
        output, code = self.execute('/no/such/program')
        self.assertIn(code, (126, 127))
        self.assertIn('/no/such/program', output)

    def test_output_of_any_bytes(self):
        self.assertEqual(('a\ufffdb', 0), self.execute(r"printf 'a\377b'"))

    def test_killed_by_a_signal(self):
        self.assertEqual(('', 137), self.execute("sh -c 'kill -9 $$'"))

    def test_output_is_bounded_and_the_command_ends(self):
        self.config(group='docker', max_exec_output_bytes=2000)
        output, code = self.execute('sh -c "yes | head -c 3000000; exit 5"')
        self.assertEqual(5, code)
        self.assertEqual('y\n' * 1000 + '\n[output cut at 2000 bytes]\n', output)

    def test_child_in_the_background_does_not_hold_it(self):
        begun = time.monotonic()
        self.assertEqual(('hi\n', 3), self.execute("sh -c 'sleep 100 & echo hi; exit 3'"))
        self.assertLess(time.monotonic() - begun, 2)

    def test_limit_kills_all_that_was_started(self):
        self.config(group='docker', execute_timeout=1)
        command = "sh -c '(sleep 101; true) & setsid sleep 102 & sleep 103; true'"
        error = self.assertRaises(exception.Conflict, self.execute, command)
        self.assertEqual(f'Timeout on executing command: {command} (limit 1 seconds)',
                         error.message)
        self.assertEqual(['sleep 1000'], self._processes())

    def test_limit_twenty_times_leaves_no_process(self):
        self.config(group='docker', execute_timeout=1)
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            done = [pool.submit(self.execute, 'sleep 104') for _ in range(20)]
        for each in done:
            self.assertIsInstance(each.exception(), exception.Conflict)
        self.assertEqual(['sleep 1000'], self._processes())
        self.assertEqual(('', 0), self.execute('true'))

    def test_kill_of_what_is_about_to_begin(self):
        """A busy engine may begin a command after its limit."""
        api, name = client.Client(), f'zun-{self.container.uuid}'
        ident = exec_command.create(api, name, ['sleep', '104'])
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            killing = pool.submit(exec_command.kill, api, name, ident)
            self.assertRaises(TimeoutError, killing.result, 0.5)
            self.engine.api.exec_start(ident, detach=True)
            killing.result(20)
        self.assertEqual(['sleep 1000'], self._processes())

    def test_limit_kills_what_ignores_the_end_of_its_output(self):
        self.config(group='docker', execute_timeout=1)
        self.assertRaises(exception.Conflict, self.execute,
                          """sh -c 'exec >/dev/null 2>&1; trap "" TERM; sleep 105; true'""")
        self.assertEqual(['sleep 1000'], self._processes())

    def test_flood_ends_at_the_limit(self):
        self.config(group='docker', execute_timeout=1)
        begun = time.monotonic()
        self.assertRaises(exception.Conflict, self.execute, 'yes')
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual(['sleep 1000'], self._processes())

    def test_many_at_once_do_not_mix(self):
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            done = list(pool.map(self.execute, [f'echo line-{i}' for i in range(32)]))
        self.assertEqual([(f'line-{i}\n', 0) for i in range(32)], done)

    def test_in_the_wrong_state(self):
        self.driver.pause(self.container)
        error = self.assertRaises(exception.Conflict, self.execute, 'true')
        self.assertIn('is paused', error.message)
        self.driver.unpause(self.container)
        self.driver.stop(self.container, 0)
        error = self.assertRaises(exception.Conflict, self.execute, 'true')
        self.assertIn('is not running', error.message)

    def test_container_that_ends_meanwhile(self):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(self.execute, 'sleep 106')
            engine.wait_for('it to run', lambda: 'sleep 106' in self._processes())
            self.driver.delete(self.container.uuid)
            error = running.exception()
        if error is None:
            self.assertEqual(('', 137), running.result())
        else:
            self.assertIsInstance(error, exception.Conflict)

    def test_kill_from_inside_where_the_host_forbids(self):
        """What an agent without root does: the pids of the container's own namespace."""
        self.config(group='docker', execute_timeout=1)

        def refuse(pid, signal):
            raise PermissionError
        self.useFixture(engine.fixtures.MonkeyPatch('os.kill', refuse))
        self.assertRaises(exception.Conflict, self.execute,
                          "sh -c '(sleep 107; true) & sleep 108; true'")
        self.assertEqual(['sleep 1000'], self._processes())


class TestProcesses(base.DriverTestCase):
    def test_process_of_another_container_is_left_alone(self):
        container = self.run_container(command=['sleep', '1000'])
        state = self.engine.inspect(container)
        self.assertFalse(processes.kill(state['State']['Pid'], '0' * 64, self.fail))
        self.assertFalse(processes.kill(os.getpid(), state['Id'], self.fail))
        self.assertTrue(self.driver.inspect(container).running)


class TestStreams(base.DriverTestCase):
    """Hijacked connections, both ways."""

    def _attach(self, container):
        return streams.hijack(client.Client(), f'/containers/zun-{container.uuid}/attach'
                              '?stream=1&stdin=1&stdout=1&stderr=1', {}, 60)

    def _read_until(self, sock, data, wanted):
        sock.settimeout(60)
        while wanted not in data:
            part = sock.recv(4096)
            self.assertTrue(part, data)
            data += part

    def test_first_client_that_leaves_does_not_end_it(self):
        """Standard input stays open: StdinOnce is not set."""
        container = self.run_container(command=['cat'], interactive=True)
        for word in (b'one', b'two'):
            sock, first = self._attach(container)
            with sock:
                sock.sendall(word + b'\n')
                self._read_until(sock, first, word)
                sock.shutdown(socket.SHUT_WR)
        self.assertEqual(states.RUNNING, self.driver.inspect(container).status)

    def test_terminal(self):
        container = self.run_container(command=['sh'], interactive=True, tty=True)
        # What is sent, or a size that is given, while the shell starts may be lost.
        engine.wait_for('its greeting', lambda: 'BusyBox' in engine.printed(
            self.driver, container), 60)
        sock, _ = self._attach(container)
        with sock:
            self.driver.resize(container, 33, 99)
            sock.sendall(b'stty size\n')
            self._read_until(sock, b'', b'33 99')

    def test_refusal(self):
        error = self.assertRaises(errors.Refusal, self._attach, self.engine.container())
        self.assertEqual(404, error.status)


class TestLogs(base.DriverTestCase):
    def logs(self, container, stdout=True, stderr=True, timestamps=False, tail=None, since=None):
        return engine.printed(self.driver, container, stdout, stderr, timestamps, tail, since)

    def _ended(self, script, **fields):
        container = self.run_container(command=['sh', '-c', script], **fields)
        self.engine.wait_state(container, 'exited')
        return container

    def test_streams(self):
        container = self._ended('echo out; echo err >&2')
        self.assertEqual(['err', 'out'], sorted(self.logs(container).split()))
        self.assertEqual('out\n', self.logs(container, stderr=False))
        self.assertEqual('err\n', self.logs(container, stdout=False))
        self.assertEqual('', self.logs(container, stdout=False, stderr=False))

    def test_tail_and_timestamps(self):
        container = self._ended('echo one; echo two; echo three')
        self.assertEqual('three\n', self.logs(container, tail=1))
        self.assertEqual('', self.logs(container, tail=0))
        for line in self.logs(container, timestamps=True).splitlines():
            self.assertRegex(line, r'^\d{4}-\d\d-\d\dT\S+Z (one|two|three)$')

    def test_since(self):
        container = self._ended('echo one')
        self.assertEqual('', self.logs(container, since=str(int(time.time()) + 60)))
        self.assertEqual('one\n', self.logs(container, since='1000000000'))

    def test_terminal_comes_as_it_is(self):
        self.assertEqual('one\r\n', self.logs(self._ended('echo one', tty=True)))

    def test_any_bytes(self):
        self.assertEqual('a\ufffd\ufffdb\n', self.logs(self._ended(r"printf 'a\377\376b\n'")))

    def test_newest_are_kept(self):
        self.config(group='docker', max_log_bytes=10000)
        container = self._ended('i=0; while [ $i -lt 4000 ]; do echo line-$i; i=$((i+1)); done')
        cut, *lines = self.logs(container).splitlines()
        self.assertEqual('[log cut: the newest 10000 bytes]', cut)
        self.assertEqual('line-3999', lines[-1])
        self.assertEqual([f'line-{i}' for i in range(4000 - len(lines), 4000)], lines)
        self.assertTrue(9900 <= sum(len(line) + 1 for line in lines) <= 10000)
        self.assertEqual('line-3998\nline-3999\n', self.logs(container, tail=2))

    def test_log_that_cannot_be_read(self):
        self.config(group='docker', log_driver='none', log_opts={})
        error = self.assertRaises(exception.Conflict, self.logs, self._ended('echo one'))
        self.assertIn('does not support reading', error.message)

    def test_of_created(self):
        self.assertEqual('', self.logs(self.create()))


class TestTopAndStats(base.DriverTestCase):
    def test_top(self):
        container = self.run_container(command=['sleep', '1000'])
        answer = self.driver.top(container, None)
        self.assertEqual({'Titles', 'Processes'}, set(answer))
        self.assertIn('PID', answer['Titles'])
        self.assertEqual('sleep 1000', answer['Processes'][0][-1])
        answer = self.driver.top(container, '-o pid,comm')
        self.assertEqual(['PID', 'COMMAND'], answer['Titles'])
        self.assertEqual('sleep', answer['Processes'][0][1])
        self.driver.pause(container)
        self.assertEqual(1, len(self.driver.top(container, 'aux')['Processes']))

    def test_top_arguments_that_are_refused(self):
        container = self.run_container()
        for arguments in ('e', 'aux e', '-o environ', '--foo', '-F /etc/passwd', '-o comm'):
            self.assertRaises(exception.Invalid, self.driver.top, container, arguments)

    def test_not_running(self):
        container = self.create()
        self.assertRaises(exception.Conflict, self.driver.top, container, None)
        self.assertRaises(exception.Conflict, self.driver.stats, container)
        container = self.run_container(command=['true'])
        self.engine.wait_state(container, 'exited')
        self.assertRaises(exception.Conflict, self.driver.stats, container)
        self.assertRaises(exception.Conflict, self.driver.resize, container, 10, 10)

    def test_stats(self):
        container = self.run_container(
            command=['sh', '-c', 'while :; do :; done'], cpu=0.5, memory='64')
        seen = self.driver.stats(container)
        self.assertEqual({'CONTAINER', 'CPU %', 'MEM USAGE(MiB)', 'MEM LIMIT(MiB)', 'MEM %',
                          'BLOCK I/O(B)', 'NET I/O(B)'}, set(seen))
        self.assertEqual((container.name, 64.0), (seen['CONTAINER'], seen['MEM LIMIT(MiB)']))
        self.assertTrue(0 < seen['MEM USAGE(MiB)'] < 64)
        self.assertTrue(20 < seen['CPU %'] < 70, seen['CPU %'])


class TestArchives(base.DriverTestCase):
    def test_both_ways(self):
        container = self.run_container()
        blob = bytes(range(256)) * 4000
        self.driver.put_archive(container, '/tmp', engine.tar({'blob': blob, 'other': b''}))
        data, stat = engine.fetched(self.driver, container, '/tmp/blob')
        self.assertEqual({'blob': blob}, engine.untar(data))
        self.assertEqual(('blob', len(blob)), (stat['name'], stat['size']))
        self.assertEqual({'name', 'size', 'mode', 'mtime', 'linkTarget'}, set(stat))
        data, stat = engine.fetched(self.driver, container, '/tmp')
        self.assertEqual({'tmp/blob': blob, 'tmp/other': b''}, engine.untar(data))

    def test_in_every_state(self):
        container = self.create()
        for change in (lambda: None, lambda: self.driver.start(container),
                       lambda: self.driver.pause(container),
                       lambda: self.driver.stop(container, 0)):
            change()
            self.driver.put_archive(container, '/tmp', engine.tar({'x': b'1'}))
            self.assertEqual({'x': b'1'},
                             engine.untar(engine.fetched(self.driver, container, '/tmp/x')[0]))

    def test_missing_path(self):
        container = self.run_container()
        for call, rest in ((self.driver.get_archive, (io.BytesIO(),)),
                           (self.driver.put_archive, (b'',))):
            error = self.assertRaises(exception.NotFound, call, container, '/no/such', *rest)
            self.assertIn('/no/such', error.message)
        self.assertTrue(self.driver.inspect(container).running)

    def test_data_that_is_refused(self):
        container = self.run_container()
        for path, data in (('/tmp', b'this is no tar archive at all'), ('/tmp', b'x' * 5000),
                           ('/bin/busybox', engine.tar({'x': b''})),
                           ('/tmp', engine.tar({'../../x': b''}))):
            self.assertRaises(exception.Invalid, self.driver.put_archive, container, path, data)

    def test_too_large(self):
        self.config(group='docker', max_archive_bytes=100000)
        container = self.run_container()
        self.driver.execute(container, 'dd if=/dev/zero of=/tmp/big bs=1M count=20')
        self.assertRaises(exception.RequestTooLarge, self.driver.get_archive, container,
                          '/tmp/big', io.BytesIO())
        self.assertRaises(exception.RequestTooLarge, self.driver.put_archive, container, '/tmp',
                          bytes(100001))

    def test_links_are_not_followed(self):
        container = self.run_container()
        self.driver.execute(container, 'ln -s /etc/passwd /tmp/link')
        data, stat = engine.fetched(self.driver, container, '/tmp/link')
        self.assertEqual({}, engine.untar(data))
        self.assertEqual('/etc/passwd', stat['linkTarget'])
