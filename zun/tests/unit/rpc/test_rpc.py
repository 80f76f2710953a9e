# SPDX-License-Identifier: Apache-2.0

import inspect
import queue
import threading

import fixtures
from oslo_context import context as oslo_context
import oslo_messaging as messaging
from oslo_messaging import conffixture
from oslo_utils import uuidutils

from zun.common import context as zun_context
from zun.common import exception
from zun.rpc import compute
from zun.rpc import errors
from zun.rpc import scheduler
from zun.rpc import serializer
from zun.rpc import service
from zun.rpc import transport as rpc_transport
from zun.tests import base

UUID = uuidutils.generate_uuid()
LONG = 30
TOKEN = 'gAAAAAB-very-secret'


class Foreign(Exception):
    """Of a module that no exception may be rebuilt from."""


class Endpoint:
    target = messaging.Target(version=compute.VERSION)

    def __init__(self):
        self.begun = queue.Queue()
        self.seen = []
        self.ended = queue.Queue()
        self.release = threading.Event()
        self.release.set()

    def _record(self, context, **args):
        self.begun.put(args)
        self.release.wait(LONG)
        self.seen.append((context, args, oslo_context.get_current()))
        self.ended.put(args)

    def container_create(self, context, container_uuid, generation):
        self._record(context, container_uuid=container_uuid, generation=generation)

    def container_stats(self, context, container_uuid):
        self._record(context, container_uuid=container_uuid)
        return {'CPU %': 1.5}

    def container_attach(self, context, container_uuid):
        raise exception.ContainerNotFound(container=container_uuid)

    def container_top(self, context, container_uuid, ps_args):
        raise {'state': exception.InvalidStateException(id='i', action='top', actual_state='Dead'),
               'message': exception.Conflict('Of my own words: \nTraceback of a user.'),
               'builtin': ValueError('secret'), 'foreign': Foreign('secret'),
               'exit': SystemExit(3)}[ps_args]

    def schedule_container(self, context, container_uuid, generation):
        self._record(context, container_uuid=container_uuid, generation=generation)


class RpcTestCase(base.TestCase):
    url = 'fake://'

    def setUp(self):
        super().setUp()
        self.log = self.useFixture(fixtures.FakeLogger())
        self.host = uuidutils.generate_uuid()
        self.config('compute', topic=f'compute-{self.host}')
        bus = self.useFixture(conffixture.ConfFixture(self.CONF))
        bus.transport_url, bus.response_timeout = self.url, LONG
        self.addCleanup(rpc_transport.close)
        self.endpoint = Endpoint()
        self.client = compute.Client()
        self.context = zun_context.RequestContext(
            user_id='u', project_id='p', roles=['member'], auth_token=TOKEN, overwrite=False,
            request_id='req-' + uuidutils.generate_uuid())

    def serve(self, **kwargs):
        server = service.Server(self.CONF.compute.topic, self.host, self.endpoint, **kwargs)
        server.start()
        self.addCleanup(server.stop)
        self.addCleanup(self.endpoint.release.set)
        return server


class RoundTripTest(RpcTestCase):
    def test_cast_carries_arguments_and_context_without_token(self):
        self.serve()
        self.client.container_create(self.context, self.host, UUID, 3)
        self.endpoint.ended.get(timeout=LONG)
        context, args, _current = self.endpoint.seen[0]
        self.assertEqual({'container_uuid': UUID, 'generation': 3}, args)
        self.assertEqual(self.context.to_dict(), context.to_dict())
        self.assertIsNone(context.auth_token)
        self.assertNotIn(TOKEN, self.log.output)

    def test_log_lines_of_a_thread_belong_to_its_present_request(self):
        self.serve(workers=1)
        other = zun_context.RequestContext(overwrite=False, request_id='req-other')
        for context in (self.context, other):
            self.client.container_stats(context, self.host, UUID)
        self.assertEqual([self.context.request_id, other.request_id],
                         [current.request_id for _, _, current in self.endpoint.seen])

    def test_call_returns_the_answer(self):
        self.serve()
        self.assertEqual({'CPU %': 1.5},
                         self.client.container_stats(self.context, self.host, UUID))

    def test_call_that_nobody_answers(self):
        self.config(rpc_response_timeout=1)
        error = self.assertRaises(exception.NodeTimeout, self.client.container_stats,
                                  self.context, self.host, UUID)
        self.assertEqual(504, error.code)

    def test_cast_to_nobody_returns_at_once(self):
        self.client.container_create(self.context, self.host, UUID, 0)

    def test_scheduler_cast(self):
        self.serve()
        self.useFixture(fixtures.MonkeyPatch('zun.rpc.scheduler.TOPIC', self.CONF.compute.topic))
        scheduler.Client().schedule_container(self.context, UUID, 2)
        self.endpoint.ended.get(timeout=LONG)
        self.assertEqual({'container_uuid': UUID, 'generation': 2}, self.endpoint.seen[0][1])

    def test_only_public_methods(self):
        self.serve()
        raw = messaging.get_rpc_client(
            rpc_transport.get(), messaging.Target(
                topic=self.CONF.compute.topic, server=self.host, version='2.0'),
            serializer=serializer.ContextSerializer())
        for method in ('_record', '__init__', 'nothing_such'):
            self.assertRaises(messaging.NoSuchMethod, raw.call, self.context, method)
        self.assertEqual([], self.endpoint.seen)

    def test_message_of_an_old_version_is_dropped(self):
        self.serve()
        old = messaging.get_rpc_client(
            rpc_transport.get(), messaging.Target(
                topic=self.CONF.compute.topic, server=self.host, version='1.1'),
            serializer=serializer.ContextSerializer())
        old.cast(self.context, 'container_create', container='x')
        self.client.container_stats(self.context, self.host, UUID)
        self.assertEqual([{'container_uuid': UUID}], [args for _, args, _ in self.endpoint.seen])

    def test_every_method_reaches_its_namesake(self):
        class Recorder:
            target = Endpoint.target

            def __getattr__(self, name):
                if name.startswith(('oslo_', '_')):
                    raise AttributeError(name)
                return lambda context, **args: (
                    called.append((name, args)), answers.get(name))[1]

        answers = {'container_get_archive': {'data': '', 'stat': {}},
                   'container_exec': {'output': ''}}
        called, topic = [], self.CONF.compute.topic
        server = service.Server(topic, self.host, Recorder(), workers=1)
        server.start()
        self.addCleanup(server.stop)
        expected = []
        for name, method in inspect.getmembers(self.client, inspect.ismethod):
            if name.startswith('_'):
                continue
            names = list(inspect.signature(method).parameters)
            args = {key: key for key in names if key not in ('context', 'host')}
            expected.append((name, args))
            method(self.context, self.host, **args)
        self.client.container_stats(self.context, self.host, UUID)
        self.assertEqual(sorted(expected, key=str), sorted(called[:-1], key=str))


class ServerTest(RpcTestCase):
    def test_stop_waits_for_what_is_under_way(self):
        server = self.serve()
        self.endpoint.release.clear()
        self.client.container_create(self.context, self.host, UUID, 0)
        self.endpoint.begun.get(timeout=LONG)
        server.stop()
        ending = threading.Thread(target=server.wait)
        ending.start()
        self.assertTrue(ending.is_alive())
        self.endpoint.release.set()
        ending.join(LONG)
        self.assertFalse(ending.is_alive())
        self.assertEqual(1, len(self.endpoint.seen))

    def test_stopped_server_takes_no_message(self):
        server = self.serve()
        server.stop()
        server.wait()
        self.client.container_create(self.context, self.host, UUID, 0)
        self.config(rpc_response_timeout=1)
        self.assertRaises(exception.NodeTimeout, self.client.container_stats,
                          self.context, self.host, UUID)
        self.assertEqual([], self.endpoint.seen)

    def test_stop_without_start_returns(self):
        server = service.Server('t', 's', self.endpoint)
        server.stop()
        server.wait()

    def test_workers_bound_what_is_handled_at_a_time(self):
        self.serve(workers=2)
        self.endpoint.release.clear()
        for number in range(4):
            self.client.container_create(self.context, self.host, UUID, number)
        for _ in range(2):
            self.endpoint.begun.get(timeout=LONG)
        self.assertRaises(queue.Empty, self.endpoint.begun.get, timeout=0.1)
        self.endpoint.release.set()
        for _ in range(4):
            self.endpoint.ended.get(timeout=LONG)


class ErrorTest(RpcTestCase):
    """Over the driver of RabbitMQ, with kombu's broker in memory: the errors are serialized."""

    url = 'kombu+memory:////'

    def setUp(self):
        super().setUp()
        self.serve()

    def _refused(self, kind):
        return self.assertRaises(exception.ZunException, self.client.container_top,
                                 self.context, self.host, UUID, kind)

    def test_class_and_message_are_kept(self):
        error = self.assertRaises(exception.ContainerNotFound, self.client.container_attach,
                                  self.context, self.host, UUID)
        self.assertIs(exception.ContainerNotFound, type(error))
        self.assertEqual(f'Container {UUID} could not be found.', error.message)
        self.assertEqual(error.message, str(error))
        self.assertEqual(404, error.code)

    def test_message_of_its_own(self):
        error = self._refused('message')
        self.assertIs(exception.Conflict, type(error))
        self.assertEqual('Of my own words: \nTraceback of a user.', error.message)

    def test_parts_of_the_message(self):
        error = self._refused('state')
        self.assertIs(exception.InvalidStateException, type(error))
        self.assertEqual('Cannot top container i in Dead state', error.message)

    def test_refusals_leave_no_trace_in_the_log(self):
        self._refused('state')
        self.assertNotIn('Traceback', self.log.output)

    def test_the_unexpected_is_internal_and_tells_nothing(self):
        for kind, name in (('builtin', 'ValueError'), ('foreign', 'Foreign')):
            error = self._refused(kind)
            self.assertIs(exception.ZunException, type(error))
            self.assertEqual(500, error.code)
            self.assertEqual(f'Unexpected {name} in another service.', str(error))
            self.assertIn(f'{name}: secret', self.log.output)


class DeadBusTest(RpcTestCase):
    url = 'rabbit://nobody:x@127.0.0.1:1/'

    def test_end(self):
        self.useFixture(fixtures.MonkeyPatch('zun.rpc.transport.RETRIES', 0))
        client = compute.Client()
        for refused in (lambda: client.container_pause(self.context, self.host, UUID),
                        lambda: client.container_stats(self.context, self.host, UUID)):
            error = self.assertRaises(exception.BusUnavailable, refused)
            self.assertEqual(503, error.code)


class TransportTest(RpcTestCase):
    def test_one_for_the_process(self):
        rpc_transport.close()
        start, found = threading.Barrier(8), []

        def get():
            start.wait(LONG)
            found.append(rpc_transport.get())

        threads = [threading.Thread(target=get) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(LONG)
        self.assertEqual(8, len(found))
        self.assertEqual(1, len(set(map(id, found))))

    def test_close_again(self):
        first = rpc_transport.get()
        rpc_transport.close()
        rpc_transport.close()
        self.assertIsNot(first, rpc_transport.get())

    def test_exchange(self):
        self.assertEqual('zun', self.CONF.control_exchange)


class TranslatedTest(base.TestCase):
    def _translate(self, error):
        def fail():
            with errors.translated():
                raise error
        return self.assertRaises(exception.ZunException, fail)

    def test_table(self):
        cases = [
            (messaging.MessagingTimeout('x'), exception.NodeTimeout),
            (messaging.MessageDeliveryFailure('x'), exception.BusUnavailable),
            (messaging.MessageUndeliverable('x', 'e', 'r', 'm'), exception.BusUnavailable),
            (messaging.RemoteError('NotFound', 'text', []), exception.ZunException),
            (exception.PortInUse(port='p'), exception.PortInUse),
            (KeyError('x'), exception.ZunException),
        ]
        for error, kind in cases:
            self.assertIs(kind, type(self._translate(error)), error)

    def test_class_that_this_process_does_not_know(self):
        class Newer_Remote(exception.NotFound):  # noqa: N801
            pass

        error = self._translate(Newer_Remote('words'))
        self.assertIs(exception.ZunException, type(error))
        self.assertEqual('words', error.message)
