# SPDX-License-Identifier: Apache-2.0
"""An application in process, with a database, but without nodes."""

import json

from oslo_middleware import request_id
import sqlalchemy as sa
import webob

from zun.api import app
from zun.common import policy
from zun.db import engine
from zun.db import models
from zun.tests import base
from zun.tests import database

PROJECT = '1d0000000000000000000000000000bb'
USER = '1d0000000000000000000000000000aa'
MEMBER = {'X-Project-Id': PROJECT, 'X-User-Id': USER, 'X-Roles': 'member,reader'}
ADMIN = {**MEMBER, 'X-Project-Id': 'admins', 'X-Roles': 'admin,member,reader'}
LATEST = {'OpenStack-API-Version': 'container 1.43'}
JSON = {'Content-Type': 'application/json'}


def insert(table, **values):
    """Insert a row; its key."""
    with engine.writer() as session:
        return session.execute(sa.insert(models.metadata.tables[table]).values(
            **values)).inserted_primary_key[0]


def insert_container(uuid, **values):
    """Insert a container of the member's project."""
    return insert('container', **{
        'uuid': uuid, 'project_id': PROJECT, 'user_id': USER, 'image': 'busybox', 'memory': '512',
        'cpu': 1.0, 'status': 'Running', 'container_type': models.CONTAINER, **values})


class ApiTest(base.TestCase):
    """
    :ivar wsgi: the application behind the middleware that numbers requests
    """

    def setUp(self):
        super().setUp()
        self.useFixture(database.SqliteDatabase())
        self.addCleanup(policy.reset)
        self.wsgi = request_id.RequestId(app.make_app())

    def call(self, path, method='GET', identity=MEMBER, body=None, environ=None, **headers):
        """Send a request; the answer with what its JSON means as ``document``."""
        request = webob.Request.blank(path, method=method, environ=environ)
        request.headers.update({**LATEST, **identity})
        if body is not None:
            request.headers.update(JSON)
            request.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        request.headers.update({name.replace('_', '-'): value
                                for name, value in headers.items()})
        return request.get_response(self.wsgi)

    def assert_error(self, response, status, code):
        """An answer has the shape of an error."""
        self.assertEqual(status, response.status_int, response.body)
        self.assertEqual('application/json', response.content_type)
        error, = response.json['errors']
        self.assertEqual((f'container.{code}', status, ''),
                         (error['code'], error['status'], error['request_id']))
        self.assertTrue(error['title'])
        self.assertTrue(error['detail'])
        return error
