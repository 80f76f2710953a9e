# SPDX-License-Identifier: Apache-2.0
"""Tickets in the database: every step once, and only for what it was made for."""

import typing as ty

from oslo_utils import uuidutils
import sqlalchemy as sa

from zun import objects
from zun.common import exception
from zun.db import clock
from zun.db import engine
from zun.db import models
from zun.db import models_console
from zun.objects import console_session
from zun.tests.functional import database
from zun.tests.functional.console import base

_TABLE = models_console.console_session
Session = console_session.ConsoleSession


class TestRows(database.TestCase):
    def setUp(self) -> None:
        super().setUp()
        self.container = self.make()

    def make(self) -> objects.Container:
        row = objects.Container(uuid=uuidutils.generate_uuid(), project_id='project',
                                name='c', host='node-one', status='Running')
        row.create(self.context)
        return row

    def issue(self, kind: str = console_session.ATTACH, **more: ty.Any) -> tuple[Session, str]:
        return Session.issue(self.context, self.container, kind, 'unix:/x', **more)

    def redeem(self, token: str, exec_id: str | None = None,
               uuid: str | None = None) -> tuple[Session, str] | None:
        return Session.redeem(token, uuid or self.container.uuid, exec_id, '192.0.2.1')

    def change(self, **values: ty.Any) -> None:
        with engine.writer() as session:
            session.execute(sa.update(_TABLE).values(**values))

    def stored(self) -> dict[str, ty.Any]:
        with engine.reader() as session:
            return dict(session.execute(sa.select(_TABLE)).mappings().one())

    def count(self, table: sa.Table) -> int:
        with engine.reader() as session:
            return session.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()

    def test_issue(self):
        session, token = self.issue(console_session.EXEC, tty=True,
                                    params={'command': ['sh', '-c', 'é']})
        self.assertEqual(43, len(token))
        self.assertEqual(64, len(session.exec_id))
        row = self.stored()
        self.assertEqual(
            ('exec', True, {'command': ['sh', '-c', 'é']}, 'project', 'user', 'node-one'),
            (row['kind'], row['tty'], row['params'], row['project_id'], row['user_id'],
             row['host']))
        self.assertNotIn(token, str(row))
        self.assertEqual(64, len(row['token_hash']))
        [instance] = objects.ExecInstance.list_by_container_id(self.context, self.container.id)
        self.assertEqual((session.exec_id, None, None),
                         (instance.exec_id, instance.token, instance.url))
        self.assertNotEqual(token, self.issue()[1])

    def test_issue_for_what_is_gone(self):
        self.container.destroy()
        self.assertRaises(exception.ContainerNotFound, self.issue)

    def test_redeem_once(self):
        session, token = self.issue()
        found, key = self.redeem(token)
        self.assertEqual(session.id, found.id)
        self.assertNotIn(key, str(self.stored()))
        self.assertIsNone(self.redeem(token))
        self.assertEqual('192.0.2.1', self.stored()['client_address'])

    def test_redeem_what_does_not_fit(self):
        other = self.make()
        session, token = self.issue(console_session.EXEC, params={'command': ['sh']})
        for wrong in ((token,), (token, '0' * 64), (token, session.exec_id, other.uuid),
                      ('x' + token, session.exec_id), (token[:-1], session.exec_id),
                      ('', session.exec_id)):
            self.assertIsNone(self.redeem(*wrong), wrong)
        self.assertIsNotNone(self.redeem(token, session.exec_id))

    def test_redeem_in_time(self):
        _, token = self.issue()
        self.change(expires_at=clock.utc_now(-1))
        self.assertIsNone(self.redeem(token))
        self.change(expires_at=clock.utc_now(5))
        self.assertIsNotNone(self.redeem(token))

    def test_race_for_a_ticket(self):
        _, token = self.issue()
        results = base.together([lambda: self.redeem(token)] * 20)
        self.assertEqual([], [each for each in results if isinstance(each, Exception)])
        self.assertEqual(1, len([each for each in results if each is not None]))

    def test_race_for_a_session(self):
        _, token = self.issue()
        session, key = self.redeem(token)
        results = base.together([lambda: Session.begin(session.id, key, 'node-one')] * 20)
        self.assertEqual([], [each for each in results if isinstance(each, Exception)])
        self.assertEqual(1, len([each for each in results if each is not None]))

    def test_state(self):
        _, token = self.issue()

        def state() -> str:
            return Session.ticket_state(token, self.container.uuid, None)

        self.assertEqual('valid', state())
        self.change(expires_at=clock.utc_now(-1))
        self.assertEqual('expired', state())
        self.change(expires_at=clock.utc_now(60), ended_at=clock.utc_now())
        self.assertEqual('revoked', state())
        self.change(consumed_at=clock.utc_now())
        self.assertEqual('used', state())
        self.assertEqual('unknown', Session.ticket_state(token, self.container.uuid, 'e'))

    def test_begin(self):
        _, token = self.issue()
        session, key = self.redeem(token)
        for wrong in ((session.id, key + 'x', 'node-one'), (session.id, key, 'node-two'),
                      ('0' * 32, key, 'node-one'), (session.id, '', 'node-one')):
            self.assertIsNone(Session.begin(*wrong))
        self.change(consumed_at=clock.utc_now(-40))
        self.assertIsNone(Session.begin(session.id, key, 'node-one'))
        self.change(consumed_at=clock.utc_now(-10))
        self.assertIsNotNone(Session.begin(session.id, key, 'node-one'))
        self.assertIsNone(Session.begin(session.id, key, 'node-one'))

    def test_end(self):
        session, token = self.issue(console_session.EXEC, params={'command': ['sh']})
        opened = Session.begin(*self._key(token, session.exec_id), 'node-one')
        self.assertTrue(opened.end(1000, 'client 192.0.2.1: 1000'))
        self.assertFalse(opened.end(1011, 'again'))
        self.assertEqual(1000, self.stored()['close_code'])
        self.assertEqual(0, self.count(models.exec_instance))
        [action] = objects.ContainerAction.get_by_container_uuid(
            self.context, self.container.uuid)
        self.assertEqual(('execute', None), (action.action, action.message))
        self.assertIsNotNone(action.finish_time)
        events = {event.event: event for event in
                  objects.ContainerActionEvent.get_by_action(self.context, action.id)}
        self.assertEqual({'console__ticket', 'console__session'}, set(events))
        self.assertEqual(('Success', 'client 192.0.2.1: 1000'),
                         (events['console__session'].result, events['console__session'].details))

    def _key(self, token: str, exec_id: str | None = None) -> tuple[str, str]:
        session, key = self.redeem(token, exec_id)
        return session.id, key

    def test_revoke(self):
        _, used = self.issue()
        self.redeem(used)
        _, unused = self.issue()
        session, command = self.issue(console_session.EXEC, params={'command': ['sh']})
        self.assertEqual(2, Session.revoke(self.container.uuid))
        self.assertEqual(0, Session.revoke(self.container.uuid))
        self.assertIsNone(self.redeem(unused))
        self.assertIsNone(self.redeem(command, session.exec_id))
        self.assertEqual(0, self.count(models.exec_instance))

    def test_goes_with_the_container(self):
        self.issue()
        self.issue(console_session.EXEC, params={'command': ['sh']})
        self.container.destroy()
        for table in (_TABLE, models.exec_instance, models.container_actions):
            self.assertEqual(0, self.count(table))

    def test_size(self):
        session, token = self.issue(console_session.EXEC, params={'command': ['sh']})
        found = Session.find_exec(self.container.uuid, session.exec_id)
        self.assertTrue(found.remember_size(37, 101))
        opened = Session.begin(*self._key(token, session.exec_id), 'node-one')
        self.assertEqual((37, 101), (opened.height, opened.width))
        self.assertFalse(found.remember_size(38, 102))
        opened.end(1000, '')
        self.assertIsNone(Session.find_exec(self.container.uuid, session.exec_id))

    def test_abandoned(self):
        _, token = self.issue()
        self.assertEqual([], Session.list_abandoned('node-one'))
        opened = Session.begin(*self._key(token), 'node-one')
        opened.set_engine_id('e' * 64)
        [found] = Session.list_abandoned('node-one')
        self.assertEqual((opened.id, 'e' * 64), (found.id, found.engine_id))
        self.assertEqual([], Session.list_abandoned('node-two'))
        opened.end(1000, '')
        self.assertEqual([], Session.list_abandoned('node-one'))

    def test_purge(self):
        _, token = self.issue(console_session.EXEC, params={'command': ['sh']})
        self.assertEqual(0, Session.purge('node-one'))
        self.change(expires_at=clock.utc_now(-86400 - 60))
        self.assertEqual(0, Session.purge('node-two'))
        self.assertEqual(1, Session.purge('node-one'))
        self.assertEqual(0, self.count(models.exec_instance))

    def test_purge_leaves_what_is_open(self):
        _, token = self.issue()
        Session.begin(*self._key(token), 'node-one')
        self.change(expires_at=clock.utc_now(-86400 - 60))
        self.assertEqual(0, Session.purge('node-one'))
