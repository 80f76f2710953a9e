# SPDX-License-Identifier: Apache-2.0
"""Replays the recorded exchanges of the API against an implementation.

Mode ``api`` calls the application in process, with fakes for everything behind it; mode ``stack``
talks over HTTP to a cloud that runs. An adapter says how.
"""

import dataclasses
import json
import re
import typing as ty

from zun.tests.conformance import matchers

Json = dict[str, ty.Any]
API = 'api'
STACK = 'stack'


class Answer(ty.NamedTuple):
    """What a request was answered.

    :ivar headers: with names in lower case
    :ivar messages: what was sent to others, as the ``rpc`` of a step; None: unknown
    """

    status: int
    headers: dict[str, str]
    body: bytes
    messages: list[Json] | None


class Adapter:
    """What the implementation under test has to provide."""

    base_url = 'http://localhost'
    #: Kinds of messages that this adapter knows of; others are not compared.
    kinds: tuple[str, ...] = ('call', 'cast', 'schedule', 'cinder')

    def start(self, scenario: Json) -> None:
        """An empty database, with the options, rules and neighbours of the scenario."""

    def finish(self, scenario: Json) -> None:
        """End of a scenario, whatever became of it."""

    def seed(self, table: str, rows: list[Json]) -> None:
        """Insert rows. ``{"$now": n}`` is the current time plus n seconds."""

    def compute(self, table: str, where: Json, values: Json) -> None:
        """Write what a node would have written by now, or wait for it."""

    def compute_gone(self, table: str, where: Json) -> None:
        """Remove the row, or wait until it is removed."""

    def set_world(self, values: Json) -> None:
        """Change the neighbours."""

    def request(self, identity: str, method: str, path: str, headers: dict[str, str],
                body: bytes | None, script: list[Json]) -> Answer:
        """Send one request.

        :param script: the messages that were recorded, with what was replied to them
        """
        raise NotImplementedError


@dataclasses.dataclass
class Report:
    """
    :ivar soft: messages whose wording differs
    """

    passed: int = 0
    skipped: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)
    soft: list[str] = dataclasses.field(default_factory=list)

    def summary(self) -> str:
        return (f'{self.passed} passed, {len(self.failed)} failed, {self.skipped} skipped, '
                f'{len(self.soft)} soft differences')


class Replay:
    """One run.

    :param ignored: methods of messages that are not compared
    """

    def __init__(self, adapter: Adapter, mode: str = API,
                 ignored: tuple[str, ...] = ()) -> None:
        self.adapter = adapter
        self.mode = mode
        self.ignored = ignored
        self.report = Report()

    def run(self, data: Json, only: str | None = None) -> Report:
        """Play all scenarios, or those whose name matches."""
        for scenario in data['scenarios']:
            if only is None or re.search(only, scenario['name']):
                self.play(scenario)
        return self.report

    def play(self, scenario: Json) -> None:
        """Play one scenario."""
        if self.mode == STACK and scenario['stack'] == 'none':
            self.report.skipped += sum(step['op'] == 'request' for step in scenario['steps'])
            return
        names: matchers.Names = {'base_url': self.adapter.base_url}
        self.adapter.start(scenario)
        try:
            for step in scenario['steps']:
                self._step(scenario, step, names)
        finally:
            self.adapter.finish(scenario)

    def _step(self, scenario: Json, step: Json, names: matchers.Names) -> None:
        acts = self.mode == API or scenario['stack'] == 'full'
        match step['op']:
            case 'seed' if self.mode == API:
                self.adapter.seed(step['table'], matchers.substitute(step['rows'], names))
            case 'world' if self.mode == API:
                self.adapter.set_world(step['set'])
            case 'compute' if acts:
                values = step['set' if self.mode == API else 'stack_wait']
                self.adapter.compute(step['table'], matchers.substitute(step['where'], names),
                                     matchers.substitute(values, names))
            case 'compute_gone' if acts:
                self.adapter.compute_gone(
                    step['table'], matchers.substitute(step['where'], names))
            case 'request':
                self._exchange(scenario, step, names)

    def _exchange(self, scenario: Json, step: Json, names: matchers.Names) -> None:
        if self.mode == STACK and scenario['stack'] == 'refused-only' and not _refused(step):
            self.report.skipped += 1
            return
        request = step['request']
        headers, body = _sent(request, names)
        answer = self.adapter.request(
            step['as'], request['method'], matchers.substitute(request['path'], names), headers,
            body, matchers.substitute(step.get('rpc', []), names))
        try:
            document = json.loads(answer.body) if answer.body else None
        except ValueError:
            document = None
        _capture(step, names, answer, document)
        matcher = matchers.Matcher(names)
        try:
            self._compare(matcher, step, answer, document)
            self.report.passed += 1
        except matchers.MismatchError as error:
            self.report.failed.append(
                f'{scenario["name"]} step {step["n"]} {request["method"]} '
                f'{request["path"]}: {error}')
        self.report.soft += [f'{scenario["name"]} step {step["n"]} {text}'
                             for text in matcher.soft]

    def _compare(self, matcher: matchers.Matcher, step: Json, answer: Answer,
                 document: ty.Any) -> None:
        expected = step['response']
        if self.mode == STACK and step.get('stack') == 'status-only':
            expected = {'status': expected['status']}
        matcher.match(expected['status'], answer.status, 'status')
        for name, value in expected.get('headers', {}).items():
            _compare_header(matcher, name.lower(), value, answer.headers)
        if expected.get('body_empty') and answer.body:
            raise matchers.MismatchError(f'expected an empty body, got {answer.body[:80]!r}')
        if 'body_text' in expected:
            matcher.match(expected['body_text'], answer.body.decode(errors='replace'), 'body')
        elif 'body' in expected:
            matcher.match(expected['body'], document)
        if self.mode == API and answer.messages is not None:
            self._compare_messages(matcher, step.get('rpc', []), answer.messages)

    def _compare_messages(self, matcher: matchers.Matcher, expected: list[Json],
                          got: list[Json]) -> None:
        wanted, sent = ([message for message in messages
                         if message['kind'] in self.adapter.kinds
                         and message['method'] not in self.ignored]
                        for messages in (expected, got))
        names = [[(message['kind'], message['method']) for message in messages]
                 for messages in (wanted, sent)]
        if names[0] != names[1]:
            raise matchers.MismatchError(f'messages: expected {names[0]}, got {names[1]}')
        for one, other in zip(wanted, sent, strict=True):
            if 'server' in one:
                matcher.match(one['server'], other.get('server'), one['method'] + '.server')
            matcher.match(one['args'], other['args'], one['method'] + '.args')


def _refused(step: Json) -> bool:
    """Whether a step is refused whatever went before."""
    status = step['response']['status']
    return (isinstance(status, int) and 400 <= status < 500
            and '{{' not in json.dumps([step['request'], step['response']]))


def _sent(request: Json, names: matchers.Names) -> tuple[dict[str, str], bytes | None]:
    headers = matchers.substitute(dict(request['headers']), names)
    if 'body' in request:
        if not any(name.lower() == 'content-type' for name in headers):
            headers['Content-Type'] = 'application/json'
        return headers, json.dumps(matchers.substitute(request['body'], names)).encode()
    if 'raw_body' in request:
        return headers, request['raw_body'].encode('latin-1')
    return headers, None


def _capture(step: Json, names: matchers.Names, answer: Answer, document: ty.Any) -> None:
    for name, where in (step.get('capture') or {}).items():
        if where.startswith('header:'):
            names[name] = answer.headers.get(where.removeprefix('header:').lower())
            continue
        value = document
        for part in where.split('.'):
            try:
                value = value[int(part) if isinstance(value, list) else part]
            except (KeyError, IndexError, TypeError, ValueError):
                value = None
        names[name] = value


def _compare_header(matcher: matchers.Matcher, name: str, expected: ty.Any,
                    headers: dict[str, str]) -> None:
    if name not in headers:
        raise matchers.MismatchError(f'header {name} is missing')
    got = headers[name]
    if name == 'content-type':
        expected, got = (text.split(';')[0].strip() for text in (expected, got))
    matcher.match(expected, got, f'header {name}')
