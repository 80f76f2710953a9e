# SPDX-License-Identifier: Apache-2.0
"""Requests made up from the API's own description: none is answered with a server error.

``ZUN_FUZZ_EXAMPLES`` is the number of requests of each kind for each operation.
"""

import json
import os
import pathlib
import re
import typing as ty
import uuid

import hypothesis
from hypothesis import strategies
import schemathesis
import testscenarios

from zun.api import microversions
from zun.tests.functional.lab import base

_EXAMPLES = int(os.environ.get('ZUN_FUZZ_EXAMPLES', '10'))
_DOCUMENT = json.loads((pathlib.Path(__file__).resolve().parents[4] / 'api-ref' /
                        'openapi.json').read_text())
_OPERATIONS = [(operation['operationId'], path, method.upper())
               for path, found in _DOCUMENT['paths'].items()
               for method, operation in found.items()]
#: Operations that the lab lacks a service for, or that its hosts are not made for.
_LACKING = {
    ('containers.attach', 501), ('containers.execute', 501), ('containers.commit', 501),
    ('images.search', 501), ('images.search', 503),
}
_TIMEOUT = 120
#: Values that lead further than made-up ones.
_KNOWN = {'network': 'default', 'name': 'default', 'signal': 'SIGUSR1', 'path': '/tmp'}
#: The id under which the log has the error.
_ID = re.compile(r'[0-9a-f]{8}-[0-9a-f-]{27}')

load_tests = testscenarios.load_tests_apply_scenarios

_FUZZ = hypothesis.settings(
    max_examples=_EXAMPLES, deadline=None, database=None, derandomize=True,
    phases=[hypothesis.Phase.generate], suppress_health_check=list(hypothesis.HealthCheck))


def _versions(operation: ty.Any) -> strategies.SearchStrategy[str]:
    """The newest version mostly, else any that the operation has."""
    since, until = (microversions.parse(operation.definition.raw[f'x-openstack-{end}-version'])
                    for end in ('min', 'max'))
    older = strategies.integers(since.minor, until.minor)
    return strategies.one_of(strategies.just(until.minor), older).map(
        lambda minor: f'container 1.{minor}')


class TestFuzz(testscenarios.WithScenarios, base.LabTestCase):
    scenarios = [(ident, {'path': path, 'method': method})
                 for ident, path, method in _OPERATIONS]
    path: str
    method: str

    def setUp(self) -> None:
        super().setUp()
        self.operation = schemathesis.openapi.from_dict(_DOCUMENT)[self.path][self.method]
        self.ident = self.operation.definition.raw['operationId']
        self.failed: dict[str, str] = {}
        self.container = ''
        self.addCleanup(self._leave_nothing)

    def _leave_nothing(self) -> None:
        for collection, how in (('containers', '?force=true'), ('capsules', ''),
                                ('registries', '')):
            found = self.admin.http('GET', f'/v1/{collection}').json()[collection]
            for item in found:
                path = f'/v1/{collection}/{item["uuid"]}'
                self.wait(f'{path} to be deleted', lambda p=path, h=how: self._deleted(p, h))
                self.wait(f'{path} to be gone', lambda p=path: (
                    self.admin.http('GET', p).status_code == 404))

    def _deleted(self, path: str, how: str) -> bool:
        """Whether the API takes the order; what is paused, or about to be, is let go on first."""
        status = self.admin.http('DELETE', path + how).status_code
        if status == 409:
            self.admin.http('POST', f'{path}/unpause')
        return status in (204, 404)

    def _running(self) -> str:
        """A container to act on; a new one when the last did not survive."""
        shown = self.admin.show(self.container) if self.container else None
        if shown is None or shown['status'] != 'Running':
            answer = self.admin.http('POST', '/v1/containers?run=true', json={
                'image': os.environ['E2E_IMAGE'], 'command': base.FOREVER, 'cpu': 0.1,
                'memory': '64', 'name': f'fuzz-{uuid.uuid4().hex[:8]}'})
            self.assertEqual(202, answer.status_code, answer.text)
            self.container = answer.json()['uuid']
            self.wait(f'{self.container} to run', lambda: (
                self.admin.show(self.container) or {}).get('status') == 'Running')
        return self.container

    def _send(self, case: ty.Any, version: str, real: bool) -> None:
        if real and 'container_ident' in case.path_parameters:
            case.path_parameters['container_ident'] = self._running()
        for given in (case.query, case.body):
            for name in given.keys() & _KNOWN.keys() if real and isinstance(given, dict) else ():
                given[name] = _KNOWN[name]
            if isinstance(given, dict) and 'timeout' in given:
                given['timeout'] = '1'  # the host waits as long as it is told to
        answer = case.call(
            base_url=os.environ['LAB_CONTAINER_URL'], timeout=_TIMEOUT,
            headers={'X-Auth-Token': self.admin.session.get_token(),
                     'OpenStack-API-Version': version})
        status = answer.status_code
        if status >= 500 and (self.ident, status) not in _LACKING:
            self.failed.setdefault(f'{status} {_ID.sub("", answer.text)}', case.as_curl_command())

    def _fuzz(self, mode: schemathesis.GenerationMode) -> None:
        @_FUZZ
        @hypothesis.given(self.operation.as_strategy(generation_mode=mode),
                          _versions(self.operation), strategies.booleans())
        def send(case: ty.Any, version: str, real: bool) -> None:
            self._send(case, version, real)
        send()
        if self.failed:
            self.fail('\n'.join(f'{answer}: {sent}' for answer, sent in self.failed.items()))

    def test_valid(self) -> None:
        self._fuzz(schemathesis.GenerationMode.POSITIVE)

    def test_invalid(self) -> None:
        if not self.operation.definition.raw['parameters']:
            self.skipTest('there is nothing to get wrong')
        self._fuzz(schemathesis.GenerationMode.NEGATIVE)
