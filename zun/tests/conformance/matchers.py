# SPDX-License-Identifier: Apache-2.0
"""Comparison of an answer with what was recorded: literals, and objects with ``$match``."""

import collections.abc
import json
import re
import typing as ty
from urllib import parse

_UUID = re.compile(r'[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}')
_TIME = re.compile(r'\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?')
_TIME_T = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?')

Names = dict[str, ty.Any]


class MismatchError(Exception):
    """An answer is not as recorded."""


def substitute(value: ty.Any, names: Names,
               quote: collections.abc.Callable[[str], str] = str) -> ty.Any:
    """Replace ``{{name}}`` everywhere inside a value."""
    if isinstance(value, str):
        for name, known in names.items():
            if known is not None:
                value = value.replace('{{' + name + '}}', quote(str(known)))
        return value
    if isinstance(value, dict):
        return {substitute(key, names): substitute(member, names)
                for key, member in value.items()}
    if isinstance(value, list):
        return [substitute(item, names) for item in value]
    return value


class Matcher:
    """Compares values; keeps the differences of wording.

    :ivar soft: messages whose text differs from the recorded one
    """

    def __init__(self, names: Names) -> None:
        self.names = names
        self.soft: list[str] = []

    def match(self, expected: ty.Any, got: ty.Any, path: str = '$') -> None:
        """:raises MismatchError: they differ"""
        if isinstance(expected, dict) and '$match' in expected:
            getattr(self, '_' + expected['$match'])(expected, got, path)
        elif isinstance(expected, str):
            wanted = substitute(expected, self.names)
            _require(got == wanted, f'expected {wanted!r}', got, path)
        elif isinstance(expected, dict):
            self._object(expected, got, path)
        elif isinstance(expected, list):
            _require(isinstance(got, list) and len(got) == len(expected),
                     f'expected {len(expected)} items', got, path)
            for number, (one, other) in enumerate(zip(expected, got, strict=True)):
                self.match(one, other, f'{path}[{number}]')
        elif _is_number(expected):
            _require(_is_number(got) and expected == got, f'expected {expected!r}', got, path)
        else:
            _require(expected == got and type(expected) is type(got),
                     f'expected {expected!r}', got, path)

    def _object(self, expected: Names, got: ty.Any, path: str) -> None:
        wanted = {substitute(key, self.names): value for key, value in expected.items()}
        _require(isinstance(got, dict), 'expected an object', got, path)
        _require(wanted.keys() == got.keys(),
                 f'missing {sorted(wanted.keys() - got.keys())}, '
                 f'extra {sorted(got.keys() - wanted.keys())}', got, path)
        for key, value in wanted.items():
            self.match(value, got[key], f'{path}.{key}')

    def _fits(self, expected: ty.Any, got: ty.Any, path: str) -> bool:
        known = len(self.soft)
        try:
            self.match(expected, got, path)
        except MismatchError:
            del self.soft[known:]
            return False
        return True

    def _any(self, _expected: Names, _got: ty.Any, _path: str) -> None:
        pass

    def _one_of(self, expected: Names, got: ty.Any, path: str) -> None:
        _require(any(self._fits(value, got, path) for value in expected['values']),
                 f'expected one of {json.dumps(expected["values"])}', got, path)

    def _length(self, expected: Names, got: ty.Any, path: str) -> None:
        _require(isinstance(got, list | dict) and len(got) == expected['value'],
                 f'expected length {expected["value"]}', got, path)

    def _length_max(self, expected: Names, got: ty.Any, path: str) -> None:
        _require(isinstance(got, list | dict) and len(got) <= expected['value'],
                 f'expected at most {expected["value"]} items', got, path)

    def _unordered(self, expected: Names, got: ty.Any, path: str) -> None:
        items = expected['items']
        _require(isinstance(got, list) and len(got) == len(items),
                 f'expected {len(items)} items in any order', got, path)
        left = list(got)
        for item in items:
            found = next((other for other in left if self._fits(item, other, path)), None)
            _require(found is not None, f'missing item {json.dumps(item)}', got, path)
            left.remove(found)

    def _null_or_empty(self, _expected: Names, got: ty.Any, path: str) -> None:
        _require(got in (None, [], {}), 'expected null or an empty list or object', got, path)

    def _any_string(self, _expected: Names, got: ty.Any, path: str) -> None:
        _require(isinstance(got, str), 'expected a string', got, path)

    def _any_text(self, _expected: Names, got: ty.Any, path: str) -> None:
        _require(isinstance(got, str) and got != '', 'expected a non-empty string', got, path)

    def _uuid(self, _expected: Names, got: ty.Any, path: str) -> None:
        _require_text(_UUID, got, path)

    def _datetime(self, _expected: Names, got: ty.Any, path: str) -> None:
        _require_text(_TIME, got, path)

    def _datetime_t(self, _expected: Names, got: ty.Any, path: str) -> None:
        _require_text(_TIME_T, got, path)

    def _datetime_or_null(self, _expected: Names, got: ty.Any, path: str) -> None:
        if got is not None:
            _require_text(_TIME, got, path)

    def _datetime_t_or_null(self, _expected: Names, got: ty.Any, path: str) -> None:
        if got is not None:
            _require_text(_TIME_T, got, path)

    def _regex(self, expected: Names, got: ty.Any, path: str) -> None:
        pattern = substitute(expected['pattern'], self.names, re.escape)
        _require(isinstance(got, str) and re.search(pattern, got) is not None,
                 f'expected /{pattern}/', got, path)

    def _soft(self, expected: Names, got: ty.Any, path: str) -> None:
        self._wording(expected['value'], got, path,
                      got == substitute(expected['value'], self.names))

    def _prefix_soft(self, expected: Names, got: ty.Any, path: str) -> None:
        prefix = substitute(expected['value'], self.names)
        self._wording(expected['value'], got, path, str(got).startswith(prefix))

    def _regex_soft(self, expected: Names, got: ty.Any, path: str) -> None:
        self._wording(expected['pattern'], got, path,
                      re.search(expected['pattern'], str(got)) is not None)

    def _wording(self, recorded: str, got: ty.Any, path: str, same: bool) -> None:
        self._any_text({}, got, path)
        if not same:
            self.soft.append(f'{path}: recorded {recorded!r}, got {got!r}')

    def _url(self, expected: Names, got: ty.Any, path: str) -> None:
        self._any_string(expected, got, path)
        parts = parse.urlsplit(got)
        base = substitute(expected['base'], self.names)
        _require(f'{parts.scheme}://{parts.netloc}{parts.path}' == base,
                 f'expected base {base}', got, path)
        self.match(expected['query'], dict(parse.parse_qsl(parts.query)), path + '?')


def _is_number(value: ty.Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _require_text(pattern: re.Pattern[str], got: ty.Any, path: str) -> None:
    _require(isinstance(got, str) and pattern.fullmatch(got) is not None,
             f'expected /{pattern.pattern}/', got, path)


def _require(condition: bool, why: str, got: ty.Any, path: str) -> None:
    if not condition:
        raise MismatchError(f'{path}: {why}; got {json.dumps(got)[:300]}')
