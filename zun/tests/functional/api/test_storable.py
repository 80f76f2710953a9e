# SPDX-License-Identifier: Apache-2.0
"""Characters that a database of three bytes a character, as upstream's often are, cannot hold."""

import json
import typing as ty

from oslo_utils import uuidutils
import sqlalchemy as sa
import webob

from zun import objects
from zun.api import app
from zun.common import context as zun_context
from zun.db import engine
from zun.db import models
from zun.tests import base
from zun.tests.functional import database

_MEMBER = {'X-Project-Id': 'project', 'X-User-Id': 'user', 'X-Roles': 'member,reader'}
WIDE = '\N{SLIGHTLY SMILING FACE}'


class StorableTest(base.TestCase):
    def setUp(self) -> None:
        super().setUp()
        made = self.useFixture(database.Database(database.server(self, 'mysql'), schema=None))
        name = sa.make_url(made.url).database
        with engine.get_engine().begin() as connection:
            connection.execute(sa.text(f'ALTER DATABASE {name} CHARACTER SET utf8mb3'))
        models.metadata.create_all(engine.get_engine())

    def _call(self, method: str, path: str, body: ty.Any = None) -> webob.Response:
        request = webob.Request.blank(path, method=method)
        request.headers.update({**_MEMBER, 'OpenStack-API-Version': 'container 1.40'})
        if body is not None:
            request.content_type = 'application/json'
            request.body = json.dumps(body).encode()
        return request.get_response(app.make_app())

    def test_refused_where_it_would_have_to_be_stored(self) -> None:
        answer = self._call('POST', '/v1/registries', {'registry': {
            'domain': 'example.org', 'username': f'x{WIDE}'}})
        self.assertEqual(400, answer.status_int, answer.body)
        error, = answer.json['errors']
        self.assertIn('cannot be stored', error['detail'])
        self.assertNotIn('INSERT', error['detail'])

    def test_looked_for_in_vain(self) -> None:
        self.assertEqual(404, self._call('GET', '/v1/containers/%F0%9F%99%82').status_int)
        answer = self._call('GET', '/v1/containers?name=%F0%9F%99%82')
        self.assertEqual([], answer.json['containers'])

    def test_what_an_engine_says_is_kept_without_them(self) -> None:
        admin = zun_context.get_admin_context()
        container = objects.Container(
            admin, uuid=uuidutils.generate_uuid(), project_id='project', user_id='user',
            status='Creating', labels={'face': WIDE})
        container.create(admin)
        container.status, container.status_reason = 'Error', f'exec: {WIDE}\0: not found'
        container.save()
        found = objects.Container.get_by_uuid(admin, container.uuid)
        self.assertEqual(('Error', 'exec: \ufffd\ufffd: not found', {'face': WIDE}),
                         (found.status, found.status_reason, found.labels))
