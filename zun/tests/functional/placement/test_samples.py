# SPDX-License-Identifier: Apache-2.0
"""What a real Placement answered once, asked again of the one that is installed.

What differs is a change of Placement's contract, to be read before the client is trusted with it.
"""

import json
import pathlib
import typing as ty
import urllib.parse

from oslo_serialization import jsonutils
import webob

from zun.tests import base
from zun.tests.functional.placement import inprocess

_FILE = pathlib.Path(__file__).parents[2] / 'data' / 'placement-samples.json'
#: Texts are for people, and change from release to release.
_TEXTS = frozenset({'detail', 'title', 'message'})
_VARIABLES = ('$req', '$http-date')
_CUSTOM = ("DELETE FROM traits WHERE name LIKE 'CUSTOM_%'",
           "DELETE FROM resource_classes WHERE name LIKE 'CUSTOM_%'")

Exchange = dict[str, ty.Any]


def _project(exchange: Exchange) -> str:
    """That of the token: the service's, or the one whose usages are its own to see."""
    if '-own-' not in exchange['name']:
        return 'p-service'
    query = urllib.parse.parse_qs(exchange['path'].partition('?')[2])
    return query['project_id'][0]


def request(exchange: Exchange) -> webob.Request:
    """The recorded request."""
    made = webob.Request.blank(exchange['path'] or '/', base_url='http://placement',
                               method=exchange['method'])
    if not exchange['path']:
        made.environ['PATH_INFO'] = ''
    made.accept = 'application/json'
    if exchange['microversion'] is not None:
        made.headers['OpenStack-API-Version'] = f'placement {exchange["microversion"]}'
    if exchange['roles'] is not None:
        made.headers['X-Auth-Token'] = f'zun:{_project(exchange)}'
        made.headers['X-Roles'] = exchange['roles']
    if 'scope' in exchange:
        made.headers['Openstack-System-Scope'] = 'all'
    if exchange.get('request') is not None or 'raw_request' in exchange:
        made.body = exchange.get('raw_request', json.dumps(exchange.get('request'))).encode()
        made.content_type = 'application/json'
    for name, value in exchange.get('extra_headers', {}).items():
        made.headers[name] = value
    return made


def comparable(value: ty.Any) -> ty.Any:
    """Without texts, and with every list in one order."""
    if isinstance(value, dict):
        return {name: comparable(item) for name, item in value.items() if name not in _TEXTS}
    if isinstance(value, list):
        return sorted((comparable(item) for item in value), key=jsonutils.dumps)
    return value


def differences(recorded: ty.Any, found: ty.Any, path: str = '') -> list[str]:
    """Where two comparable values differ."""
    if recorded in _VARIABLES:
        return [] if found else [f'{path}: nothing']
    if isinstance(recorded, dict) and isinstance(found, dict):
        return [line for name in sorted(recorded.keys() | found.keys()) for line in differences(
            recorded.get(name), found.get(name), f'{path}/{name}')]
    if isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        return [line for number, pair in enumerate(zip(recorded, found, strict=True))
                for line in differences(*pair, f'{path}/{number}')]
    return [] if recorded == found else [f'{path}: {found!r}, recorded was {recorded!r}']


class ReplayTest(base.TestCase):
    def setUp(self):
        super().setUp()
        self.placement = self.useFixture(inprocess.Placement())
        self.placement.execute(*_CUSTOM)
        self.addCleanup(self.placement.execute, *inprocess.RESET, *_CUSTOM)

    def _replay(self, exchange):
        response = request(exchange).get_response(self.placement.application)
        body = response.json if response.body and 'json' in (response.content_type or '') else None
        headers = {name.lower(): value for name, value in response.headers.items()}
        found = {'status': response.status_int, 'body': comparable(body),
                 'headers': {name: headers.get(name) for name in exchange['headers']}}
        recorded = exchange['response'] if isinstance(exchange['response'], (dict, list)) else None
        return differences({'status': exchange['status'], 'body': comparable(recorded),
                            'headers': exchange['headers']}, found)

    def test_every_exchange_in_its_order(self):
        different = {}
        for section in json.loads(_FILE.read_text())['sections']:
            for exchange in section['exchanges']:
                found = self._replay(exchange)
                if found:
                    different[f'{section["section"]}/{exchange["name"]}'] = found
        self.assertEqual({}, different)
