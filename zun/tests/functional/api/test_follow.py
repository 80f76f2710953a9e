# SPDX-License-Identifier: Apache-2.0
"""Followed logs, from the request to the message for the node."""

import typing as ty

from zun.api import controllers  # noqa: F401  (declares the operations)
from zun.api import handler
from zun.common import exception
from zun.tests.functional.api import cloud
from zun.tests.functional.control import world

_LOGS = next(operation for operation in handler.all_operations()
             if operation.id == 'containers.logs')
_FOLLOW = {'follow': 'true'}
_WITHOUT = '1.40'


class FollowTest(cloud.CloudTest):
    def setUp(self) -> None:
        super().setUp()
        self.config(group='websocket_proxy', base_url='wss://console.example:6784/')
        self.nodes.answers['container_follow_logs'] = 'ticket'
        self.nodes.sent.clear()

    def refused(self, status: int, query: ty.Mapping[str, str],
                identity: ty.Mapping[str, str] = cloud.MEMBER,
                version: str | None = None) -> cloud.Json:
        """The error that a request gets, which changes nothing."""
        before = self.effects()
        answer = self.call(_LOGS, identity, query, version=version)
        self.assertEqual((status, before), (answer.status_int, self.effects()),
                         (query, answer.body))
        return answer.json['errors'][0]

    def test_url(self):
        answer = self.call(_LOGS, cloud.MEMBER, _FOLLOW)
        self.assertEqual((200, f'wss://console.example:6784/?token=ticket&uuid={self.container}'),
                         (answer.status_int, answer.json))

    def test_what_the_node_is_told(self):
        for query, told in (
                ({}, (True, True, False, None, None)),
                ({'stdout': 'false'}, (False, True, False, None, None)),
                ({'stderr': '0', 'timestamps': 'yes'}, (True, False, True, None, None)),
                ({'tail': '0', 'since': '1700000000'}, (True, True, False, 0, '1700000000')),
                ({'tail': 'all', 'since': ''}, (True, True, False, None, None)),
                ({'since': '2026-01-02 03:04:05,5'},
                 (True, True, False, None, '1767323045.5'))):
            self.nodes.sent.clear()
            answer = self.call(_LOGS, cloud.MEMBER, {**_FOLLOW, **query})
            self.assertEqual(200, answer.status_int, answer.body)
            self.assertEqual(
                [('container_follow_logs', (world.HOST, self.container, *told), {})],
                self.nodes.sent)

    def test_without_follow_it_is_the_log(self):
        for query in ({}, {'follow': 'false'}, {'follow': '0'}):
            self.assertEqual('hello', self.call(_LOGS, cloud.MEMBER, query).json)
        self.assertEqual({'container_logs'}, {method for method, *_ in self.nodes.sent})

    def test_bad_value_is_named(self):
        for query, name in (
                ({'follow': 'maybe'}, 'follow'), ({'follow': ''}, 'follow'),
                ({'stdout': 'maybe'}, 'stdout'), ({'stderr': '2'}, 'stderr'),
                ({'timestamps': 'x'}, 'timestamps'), ({'tail': 'some'}, 'tail'),
                ({'tail': '-1'}, 'tail'), ({'tail': '1.5'}, 'tail'),
                ({'since': 'yesterday'}, 'since'), ({'since': '-1'}, 'since'),
                ({'since': '2026-13-01 00:00:00,0'}, 'since'), ({'since': '9' * 20}, 'since'),
                ({'stdout': 'false', 'stderr': 'false'}, 'stderr'), ({'lines': '5'}, 'lines')):
            self.assertIn(name, self.refused(400, {**_FOLLOW, **query})['title'])

    def test_older_versions_do_not_know_it(self):
        for version in ('1.1', _WITHOUT):
            for value in ('true', 'false', 'maybe'):
                known, unknown = (
                    self.refused(400, {name: value}, version=version)
                    for name in ('follow', 'colour'))
                known['title'] = known['title'].replace('follow', 'colour')
                known['detail'] = known['detail'].replace('follow', 'colour')
                self.assertEqual(unknown, known)
            self.assertEqual('hello', self.call(_LOGS, cloud.MEMBER, version=version).json)

    def test_policy(self):
        self.allow({'container:logs': '!'})
        for identity in (cloud.MEMBER, cloud.ADMIN):
            self.refused(403, _FOLLOW, identity)

    def test_container_of_another_project(self):
        self.refused(404, _FOLLOW, cloud.STRANGER)

    def test_status(self):
        for status in ('Creating', 'Deleting', 'Dead'):
            self.set_status(status)
            self.refused(409, _FOLLOW)
        for status in ('Stopped', 'Created', 'Error', 'Paused'):
            self.set_status(status)
            self.assertEqual(200, self.call(_LOGS, cloud.MEMBER, _FOLLOW).status_int)

    def test_host_that_is_down(self):
        self.host_down()
        self.refused(503, _FOLLOW)

    def test_errors_of_the_node(self):
        for error, status in ((exception.OperationNotSupported('no consoles'), 501),
                              (exception.Conflict('too many'), 409)):
            self.nodes.answers['container_follow_logs'] = error
            self.assertEqual(status, self.call(_LOGS, cloud.MEMBER, _FOLLOW).status_int)
