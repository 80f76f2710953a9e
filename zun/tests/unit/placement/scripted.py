# SPDX-License-Identifier: Apache-2.0
"""A Placement that answers from a script, and remembers what it was asked."""

import json

import fixtures
import requests

from zun.placement import client
from zun.placement import ledger
from zun.placement import placement
from zun.tests import base

CONSUMER = ledger.Consumer('22222222-0000-4000-8000-000000000001', 'project', 'user')
RP = '11111111-0000-4000-8000-000000000001'
OTHER_RP = '11111111-0000-4000-8000-000000000002'
RESOURCES = {'VCPU': 1, 'MEMORY_MB': 512}
CANDIDATE = ledger.Candidate(RP, {RP: RESOURCES}, {}, {})
ROOT = {'versions': [{'id': 'v1.0', 'min_version': '1.0', 'max_version': '1.39'}]}

CONCURRENT = 'placement.concurrent_update'
UNDEFINED = 'placement.undefined_code'


def answer(status, body=None, code=None, detail='', **headers):
    """A response as Placement gives it."""
    if code is not None:
        body = {'errors': [{'status': status, 'title': '', 'detail': detail, 'code': code}]}
    response = requests.Response()
    response.status_code = status
    response._content = b'' if body is None else json.dumps(body).encode()
    response.headers.update(headers)
    return response


def held(allocations, generation=1, project='project'):
    """GET /allocations of a consumer."""
    if not allocations:
        return answer(200, {'allocations': {}})
    return answer(200, {
        'allocations': {rp: {'resources': dict(resources), 'generation': 7}
                        for rp, resources in allocations.items()},
        'project_id': project, 'user_id': 'user', 'consumer_generation': generation,
        'consumer_type': 'CONTAINER'})


class Adapter:
    """Answers one request after the other; the last answer is repeated.

    :ivar calls: (method, path, body), without the question for the version
    """

    def __init__(self, *script):
        self.script = list(script)
        self.calls = []
        self.headers = []
        self.root = answer(200, ROOT)

    def request(self, path, method, headers, json):
        if path == '/':
            return self.root
        self.calls.append((method, path, json))
        self.headers.append(headers)
        found = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(found, Exception):
            raise found
        return found

    @property
    def methods(self):
        return [f'{method} {path.partition("?")[0].strip("/").partition("/")[0]}'
                for method, path, _body in self.calls]


class TestCase(base.TestCase):
    def setUp(self):
        super().setUp()
        self.pause = self.useFixture(fixtures.MockPatchObject(client, 'pause')).mock

    def connect(self, *script):
        self.adapter = Adapter(*script)
        return client.Connection(self.adapter)

    def ledger(self, *script):
        return placement.PlacementLedger(self.connect(*script))
