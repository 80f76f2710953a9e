# SPDX-License-Identifier: Apache-2.0
"""The whole application in process, with one thing of each kind, and a request for each route."""

import dataclasses
import json
import typing as ty

from oslo_middleware import request_id
import sqlalchemy as sa
import webob

from zun.api import app
from zun.api import handler
from zun.common import policy
from zun.common import states
from zun.control import containers
from zun.db import engine
from zun.db import models
from zun.tests.functional.control import world

Json = dict[str, ty.Any]

PROJECT = 'project'
MEMBER = {'X-Project-Id': PROJECT, 'X-User-Id': 'user', 'X-Roles': 'member,reader'}
STRANGER = {'X-Project-Id': 'strangers', 'X-User-Id': 'stranger', 'X-Roles': 'member,reader'}
ADMIN = {**MEMBER, 'X-Roles': 'admin,member,reader'}

CAPSULE = 'ca000000-0000-4000-8000-000000000001'
IMAGE = '1a000000-0000-4000-8000-000000000001'
REGISTRY = '4e000000-0000-4000-8000-000000000001'
REQUEST = 'req-0a000000-0000-4000-8000-000000000001'
_EXEC = 'e' * 64
_CONTAINER = {'image': 'busybox', 'cpu': 0.5, 'memory': '64'}
_SERVICE = {'host': 'empty', 'binary': 'zun-compute'}
_TEMPLATE = {'template': {
    'capsuleVersion': 'beta', 'kind': 'capsule', 'metadata': {'name': 'pod'},
    'spec': {'containers': [{'image': 'busybox', 'imagePullPolicy': 'always'}]}}}
#: What the node answers to whom waits.
_ANSWERS = {
    'container_logs': 'hello', 'container_attach': 'token', 'image_search': [],
    'container_exec': {'output': '', 'exit_code': 0, 'exec_id': None, 'token': None},
    'container_top': {'Titles': [], 'Processes': []}, 'container_stats': {},
    'container_get_archive': {'data': '', 'stat': {}}, 'network_create': {},
}


@dataclasses.dataclass(frozen=True)
class Sample:
    """What a request needs beside its method and path to be accepted.

    :ivar version: of the API, when it is not the newest
    """

    query: ty.Mapping[str, str] = dataclasses.field(default_factory=dict)
    body: ty.Any = None
    version: str = '1.43'


#: Operation -> request; an operation that is not here needs neither query nor body.
SAMPLES: dict[str, Sample] = {
    'containers.create': Sample(body=_CONTAINER),
    'containers.update': Sample(body={'memory': '128'}),
    'containers.resize_container': Sample(body={'memory': '128'}),
    'containers.delete': Sample({'stop': 'true'}),
    'containers.execute': Sample({'command': 'true'}),
    'containers.execute_resize': Sample({'exec_id': _EXEC, 'h': '10', 'w': '10'}),
    'containers.resize': Sample({'h': '10', 'w': '10'}),
    'containers.get_archive': Sample({'path': '/'}),
    'containers.put_archive': Sample({'path': '/'}, {'data': ''}),
    'containers.commit': Sample({'repository': 'snapshot'}),
    'containers.rename': Sample({'name': 'renamed'}, version='1.13'),
    'containers.add_security_group': Sample({'name': 'more'}, version='1.14'),
    'containers.remove_security_group': Sample({'name': 'some'}, version='1.14'),
    'containers.network_attach': Sample({'network': 'second'}),
    'containers.network_detach': Sample({'network': 'private'}),
    'capsules.create': Sample(body=_TEMPLATE),
    'images.create': Sample(body={'repo': 'busybox', 'host': world.HOST}),
    'services.delete': Sample(_SERVICE),
    'services.enable': Sample(body=_SERVICE),
    'services.disable': Sample(body=_SERVICE),
    'services.force_down': Sample(body={**_SERVICE, 'forced_down': True}),
    'networks.create': Sample(body={'name': None, 'neutron_net_id': 'private'}),
    'quotas.update': Sample(body={'containers': 7}),
    'quota_classes.update': Sample(body={'containers': 7}),
    'registries.create': Sample(body={'registry': {'domain': 'example.org'}}),
    'registries.update': Sample(body={'registry': {'name': 'renamed'}}),
}
_IDENTS = {
    'capsule_ident': CAPSULE, 'class_name': 'default', 'host_ident': world.HOST,
    'image': 'busybox', 'image_uuid': IMAGE, 'neutron_net_id': 'private', 'project_id': PROJECT,
    'registry_ident': REGISTRY, 'request_id': REQUEST,
}


class CloudTest(world.TestCase):
    """
    :ivar container: uuid of the member's container
    """

    scenarios: ty.ClassVar = [('sqlite', {'backend': 'sqlite'})]

    def setUp(self) -> None:
        super().setUp()
        self.wsgi = request_id.RequestId(app.make_app())
        for network in ('second', 'outside'):
            self.neutron.add('networks', network, project_id=PROJECT,
                             **{'router:external': network == 'outside'})
        for group in ('some', 'more'):
            self.neutron.add('security-groups', group, project_id=PROJECT)
        self.add_host('empty')
        self.nodes.answers.update(_ANSWERS)
        self.container = self._make_container()
        self._insert_others()

    def _make_container(self) -> str:
        container = containers.create(self.context, {
            **_CONTAINER, 'memory': 64, 'run': True, 'interactive': True,
            'security_groups': ['some']})
        self.placed(container, addresses={'private': [{
            'addr': '10.0.0.2', 'version': 4, 'port': 'port', 'subnet_id': 'subnet',
            'preserve_on_delete': False}]})
        self.scheduler.asked.clear()
        return container.uuid

    def _insert_others(self) -> None:
        owner = {'project_id': PROJECT, 'user_id': 'user'}
        self.insert('container', uuid=CAPSULE, container_type=models.CAPSULE, status='Running',
                    image='', host=world.HOST, name='capsule', **owner)
        self.insert('container_request', container_uuid=CAPSULE)
        self.insert('image', uuid=IMAGE, repo='nginx', tag='latest', host=world.HOST, **owner)
        self.insert('registry', uuid=REGISTRY, domain='example.com', name='registry', **owner)
        self.insert('network', uuid=IMAGE, neutron_net_id='private', network_id='n',
                    name='private', host=world.HOST, **owner)
        self.insert('quotas', project_id=PROJECT, resource='containers', hard_limit=9)
        self.insert('container_actions', container_uuid=self.container, request_id=REQUEST,
                    action='create', **owner)

    def insert(self, table: str, **values: ty.Any) -> None:
        """Insert a row."""
        with engine.writer() as session:
            session.execute(sa.insert(models.metadata.tables[table]).values(**values))

    def allow(self, rules: ty.Mapping[str, str]) -> None:
        """Let these rules stand in the operator's file."""
        path, = self.create_tempfiles([('policy', json.dumps(dict(rules)))], ext='.yaml')
        self.config(group='oslo_policy', policy_file=path)
        policy.reset()

    def put_in_state(self, operation: handler.Operation) -> None:
        """Give the container a status that allows an operation."""
        verb = operation.id.partition('.')[2]
        known = states.ACTIONS.get('delete_after_stop' if verb == 'delete' else verb)
        allowed = known.statuses if known else {states.RUNNING}
        status = states.RUNNING if states.RUNNING in allowed else min(allowed)
        self.set_status(status)

    def set_status(self, status: str) -> None:
        """Give the container a status."""
        table = models.metadata.tables['container']
        with engine.writer() as session:
            session.execute(sa.update(table).values(status=status).where(
                table.c.uuid == self.container))

    def call(self, operation: handler.Operation, identity: ty.Mapping[str, str],
             query: ty.Mapping[str, str] | None = None,
             body: Json | None = None, version: str | None = None) -> webob.Response:
        """Send the request of an operation.

        :param query: more of the query string
        :param body: more of the body
        :param version: in place of the sample's
        """
        sample = SAMPLES.get(operation.id, Sample())
        path = operation.path.format(**_IDENTS, container_ident=self.container)
        request = webob.Request.blank(f'/v1/{path}', method=operation.method)
        request.GET.update({**sample.query, **(query or {})})
        request.headers.update({
            **identity, 'OpenStack-API-Version': f'container {version or sample.version}'})
        if sample.body is not None:
            request.content_type = 'application/json'
            request.body = json.dumps({**sample.body, **(body or {})}).encode()
        return request.get_response(self.wsgi)

    def effects(self) -> dict[str, ty.Any]:
        """Everything that a request can change: rows, messages, what the neighbours hold."""
        with engine.reader() as session:
            rows = {table.name: sorted(map(repr, session.execute(sa.select(table)).all()))
                    for table in models.metadata.sorted_tables}
        return {**rows, 'nodes': list(self.nodes.sent), 'scheduler': list(self.scheduler.asked),
                'neutron': json.dumps(self.neutron.store, sort_keys=True, default=str),
                'volumes': dict(self.volumes.rows), 'images': dict(self.images.rows)}
