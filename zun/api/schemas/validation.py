# SPDX-License-Identifier: Apache-2.0
"""JSON Schema, draft 4, with the rules that Zun's API has always had beside it.

Bounds hold for numbers that come as text, patterns anchor strictly, NaN is no number, and some
bounds are options of the service. Additional keywords:

``optionMinimum``, ``optionMaximum``: a bound read from the option of that name
``optionEnum``: an element of a list option, or null, or ``None``
``maxBytes``: the most bytes of a value as JSON
"""

import collections.abc
import functools
import ipaddress
import json
import math
import re
import typing as ty

import jsonschema
from jsonschema import exceptions as js_exceptions
from jsonschema import validators

import zun.conf

CONF = zun.conf.CONF

Errors = collections.abc.Iterator[jsonschema.ValidationError]
_Draft4 = jsonschema.Draft4Validator
_VALUE_LENGTH = 100
_REASON_LENGTH = 300
_CONCEALED_FIELD = 'password'
_OF_WHOLE_OBJECTS = frozenset({'required', 'additionalProperties', 'oneOf', 'anyOf', 'not'})


def _number(value: ty.Any) -> float | None:
    """The number that a value is or spells; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    for convert in (int, float):
        try:
            return convert(value) if isinstance(value, str) else value
        except ValueError:
            continue
    return None


def _minimum(_validator: ty.Any, bound: float, instance: ty.Any, _schema: ty.Any) -> Errors:
    number = _number(instance)
    if number is not None and not number >= bound:
        yield jsonschema.ValidationError(f'It must be at least {bound}.')


def _maximum(_validator: ty.Any, bound: float, instance: ty.Any, _schema: ty.Any) -> Errors:
    number = _number(instance)
    if number is not None and not number <= bound:
        yield jsonschema.ValidationError(f'It must be at most {bound}.')


def _option_minimum(validator: ty.Any, option: str, instance: ty.Any, schema: ty.Any) -> Errors:
    yield from _minimum(validator, CONF[option], instance, schema)


def _option_maximum(validator: ty.Any, option: str, instance: ty.Any, schema: ty.Any) -> Errors:
    yield from _maximum(validator, CONF[option], instance, schema)


def _option_enum(_validator: ty.Any, option: str, instance: ty.Any, _schema: ty.Any) -> Errors:
    if instance not in (None, 'None') and instance not in CONF[option]:
        yield jsonschema.ValidationError(f'It must be one of {", ".join(CONF[option])}.')


@functools.cache
def _compiled(pattern: str) -> collections.abc.Callable[[str], ty.Any]:
    if pattern.startswith('^') and pattern.endswith('$'):
        return re.compile(f'(?:{pattern[1:-1]})').fullmatch
    return re.compile(pattern).search


def _pattern(_validator: ty.Any, pattern: str, instance: ty.Any, _schema: ty.Any) -> Errors:
    if isinstance(instance, str) and not _compiled(pattern)(instance):
        yield jsonschema.ValidationError(f'It must match {pattern}')


def _max_bytes(_validator: ty.Any, limit: int, instance: ty.Any, _schema: ty.Any) -> Errors:
    if instance is not None and len(json.dumps(instance)) > limit:
        yield jsonschema.ValidationError(f'It must not be longer than {limit} bytes of JSON.')


def _is_number(_checker: ty.Any, value: ty.Any) -> bool:
    return (isinstance(value, int | float) and not isinstance(value, bool)
            and math.isfinite(value))


_formats = jsonschema.FormatChecker(formats=())


@_formats.checks('ipv4', ValueError)
def _is_ipv4(value: ty.Any) -> bool:
    return not isinstance(value, str) or bool(ipaddress.IPv4Address(value))


@_formats.checks('ipv6', ValueError)
def _is_ipv6(value: ty.Any) -> bool:
    return (not isinstance(value, str)
            or ('%' not in value and ipaddress.IPv6Address(value) is not None))


@_formats.checks('ip', ValueError)
def _is_ip(value: ty.Any) -> bool:
    return (not isinstance(value, str)
            or ('%' not in value and ipaddress.ip_address(value) is not None))


_Validator = validators.extend(
    _Draft4,
    {
        'minimum': _minimum, 'maximum': _maximum, 'pattern': _pattern,
        'optionMinimum': _option_minimum, 'optionMaximum': _option_maximum,
        'optionEnum': _option_enum, 'maxBytes': _max_bytes,
    },
    type_checker=_Draft4.TYPE_CHECKER.redefine('number', _is_number))


def compile_schema(schema: dict[str, ty.Any]) -> jsonschema.protocols.Validator:
    """A validator of this schema, to be kept and used many times."""
    return _Validator(schema, format_checker=_formats)


def first_error(validator: jsonschema.protocols.Validator,
                instance: ty.Any) -> jsonschema.ValidationError | None:
    """What is wrong with an instance; None for nothing.

    Of several errors one about a value, if there is one: it names the member to change.
    """
    errors = list(validator.iter_errors(instance))
    values = [error for error in errors if error.validator not in _OF_WHOLE_OBJECTS]
    return js_exceptions.best_match(values or errors)


def field_of(error: jsonschema.ValidationError) -> str | None:
    """Last element of the path of the wrong value; None when it is the top object itself."""
    return str(error.absolute_path[-1]) if error.absolute_path else None


def shown_value(error: jsonschema.ValidationError) -> str:
    """The wrong value for a message: short, and never a secret."""
    if any(_CONCEALED_FIELD in str(part) for part in error.absolute_path) or (
            isinstance(error.instance, dict) and _CONCEALED_FIELD in error.instance):
        return '***'
    return _cut(str(error.instance), _VALUE_LENGTH)


def reason(error: jsonschema.ValidationError) -> str:
    """One line that says what was expected."""
    expected = error.validator_value
    match error.validator:
        case 'type':
            names = [expected] if isinstance(expected, str) else expected
            text = f'It must be of type {" or ".join(names)}.'
        case 'enum':
            text = f'It must be one of {", ".join(json.dumps(value) for value in expected)}.'
        case 'minLength' | 'minItems':
            text = f'It must not be shorter than {expected}.'
        case 'maxLength' | 'maxItems':
            text = f'It must not be longer than {expected}.'
        case 'format':
            text = f'It must be an address: {expected}.'
        case 'oneOf' | 'anyOf':
            needed = [' and '.join(choice.get('required', ())) for choice in expected]
            each = 'Exactly one' if error.validator == 'oneOf' else 'At least one'
            text = f'{each} of these is required: {", ".join(filter(None, needed))}.'
        case 'not':
            text = f'These exclude each other: {", ".join(expected["required"])}.'
        case _:
            text = error.message
    return _cut(text, _REASON_LENGTH)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + '...'
