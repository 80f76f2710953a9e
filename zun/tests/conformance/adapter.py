# SPDX-License-Identifier: Apache-2.0
"""Plays the recorded exchanges against the application in this process."""

import datetime
import json
import pathlib
import typing as ty

import fixtures
from oslo_config import fixture as config_fixture
from oslo_middleware import request_id
import sqlalchemy as sa
import webob

from zun.api import app
from zun.api.middleware import auth_token  # noqa: F401  (registers its options)
from zun.common import config
from zun.common import policy
import zun.conf
from zun.control import clients
from zun.db import columns
from zun.db import engine
from zun.db import models
from zun.tests import database
from zun.tests.conformance import described
from zun.tests.conformance import node
from zun.tests.conformance import replay
from zun.tests.conformance import world
from zun.wsgi import wiring

Json = dict[str, ty.Any]

_PASTE = pathlib.Path(__file__).resolve().parents[3] / 'etc' / 'zun' / 'api-paste.ini'
#: The show of a container does not ask its node; what it would have told is in the row already.
REFRESH = 'container_show'


class InProcess(replay.Adapter):
    """
    :param identities: name -> headers that stand for a token
    :ivar undescribed: answers that are not as the documentation describes them
    """

    def __init__(self, identities: dict[str, dict[str, str]]) -> None:
        self._identities = identities
        self._recorder = node.Recorder()
        self._world: Json = {}
        self._images = world.Images()
        self.undescribed: list[str] = []

    def start(self, scenario: Json) -> None:
        config.parse_args([], program='zun-tests', default_config_files=[])
        self._database = database.SqliteDatabase()
        self._database.setUp()
        self._files = fixtures.TempDir()
        self._files.setUp()
        self._conf = config_fixture.Config(zun.conf.CONF)
        self._conf.setUp()
        self._configure(scenario)
        self._world = dict(scenario['world'])
        self._scheduler = node.Scheduler(self._recorder, lambda: self._world)
        self._use_world()
        self._app = wiring.application() if scenario.get('needs') == 'pipeline' else \
            request_id.RequestId(app.make_app())

    def _configure(self, scenario: Json) -> None:
        self._conf.config(group='api', api_paste_config=str(_PASTE))
        self._conf.config(group='keystone_authtoken', www_authenticate_uri=self.base_url)
        for name, value in (scenario.get('config') or {}).items():
            group, _, option = name.partition('.')
            self._conf.config(group=None if group == 'DEFAULT' else group, **{option: value})
        rules = pathlib.Path(self._files.path) / 'policy.yaml'
        rules.write_text(json.dumps(scenario.get('policy') or {}))
        self._conf.config(group='oslo_policy', policy_file=str(rules))

    def _use_world(self) -> None:
        clients.use(clients.Clients(
            compute=node.Node(self._recorder), scheduler=self._scheduler,
            network=world.Networks(self._world.get('neutron', {})),
            volumes=world.Volumes(self._world.get('cinder', {}), self._tell_volume),
            images=self._images, ledger=world.Ledger()))

    def _tell_volume(self, size: int) -> None:
        self._recorder.add('cinder', 'create_volume', {'size': size})

    def finish(self, scenario: Json) -> None:
        clients.use(None)
        self._files.cleanUp()
        self._conf.cleanUp()
        self._database.cleanUp()
        policy.reset()

    def seed(self, table: str, rows: list[Json]) -> None:
        target = models.metadata.tables[table]
        with engine.writer() as session:
            for row in rows:
                session.execute(sa.insert(target).values(
                    {name: _value(value) for name, value in row.items()}))

    def compute(self, table: str, where: Json, values: Json) -> None:
        node.update_row(table, where, values)

    def compute_gone(self, table: str, where: Json) -> None:
        target = models.metadata.tables[table]
        with engine.writer() as session:
            session.execute(sa.delete(target).where(
                *(target.c[name] == value for name, value in where.items())))

    def set_world(self, values: Json) -> None:
        self._world.update(values)
        self._use_world()

    def request(self, identity: str, method: str, path: str, headers: dict[str, str],
                body: bytes | None, script: list[Json]) -> replay.Answer:
        self._recorder.begin(script)
        self._prepare(script)
        request = webob.Request.blank(path, method=method)
        request.headers.update(self._identities[identity])
        request.headers.update(headers)
        if body is not None:
            request.body = body
        response = request.get_response(self._app)
        self._scheduler.work()
        self.undescribed += described.differences(
            method, path.partition('?')[0], response.status_int, response.body)
        return replay.Answer(
            response.status_int, {name.lower(): value for name, value in response.headerlist},
            response.body, self._recorder.messages)

    def _prepare(self, script: list[Json]) -> None:
        for message in script:
            reply = message.get('reply')
            if message['method'] == REFRESH and reply and reply.get('set'):
                node.update_row('container', {'uuid': message['args']['container']['uuid']},
                                reply['set'])
            if message['method'] == 'container_commit' and reply:
                self._images.next_id = reply.get('uuid', '')


def _value(value: ty.Any) -> ty.Any:
    if isinstance(value, dict) and '$now' in value:
        return columns.utcnow() + datetime.timedelta(seconds=value['$now'])
    return value
