# SPDX-License-Identifier: Apache-2.0
"""Types that several resources share."""

import collections.abc
import typing as ty

from oslo_utils import strutils

from zun.api.schemas import schema

#: A JSON column of MySQL ends here.
JSON_BYTES = 65535
TEXT_LENGTH = 255


def text(minimum: int = 0, maximum: int | None = TEXT_LENGTH,
         pattern: str | None = None) -> schema.Type:
    """Text of so many characters."""
    keywords: schema.Json = {'type': 'string'}
    if minimum:
        keywords['minLength'] = minimum
    if maximum is not None:
        keywords['maxLength'] = maximum
    if pattern is not None:
        keywords['pattern'] = pattern
    return schema.Type(keywords)


def choice(*values: ty.Any) -> schema.Type:
    """One of these texts."""
    return schema.Type({'type': 'string', 'enum': list(values)})


def array(items: schema.Type, **keywords: ty.Any) -> schema.Type:
    """A list of one type."""
    return schema.Type({'type': 'array', 'items': items.schema, **keywords},
                       lambda values: [items.apply(value) for value in values])


def mapping(values: schema.Type, **keywords: ty.Any) -> schema.Type:
    """An object with any keys."""
    return schema.Type(
        {'type': 'object', 'additionalProperties': values.schema, **keywords},
        lambda members: {key: values.apply(value) for key, value in members.items()})


def integer(minimum: int, pattern: str = '^[0-9]+$', **keywords: ty.Any) -> schema.Type:
    """A whole number, also as text; empty text, where the pattern allows it, is null."""
    return schema.Type(
        {'type': ['integer', 'string'], 'minimum': minimum, 'pattern': pattern, **keywords},
        lambda value: None if value == '' else int(value))


def word(value: str | float) -> str:
    """Text of a JSON scalar: ``True`` for true, ``1`` for 1."""
    return str(value)


BOOLEAN = schema.Type(
    {'type': ['boolean', 'string'], 'enum': [True, False, 'True', 'true', 'False', 'false']},
    strutils.bool_from_string)
BOOLEAN_EXTENDED = schema.Type(
    {'type': ['boolean', 'string'],
     'enum': [True, False, 'True', 'true', 'TRUE', 'False', 'false', 'FALSE', '1', '0',
              'ON', 'On', 'on', 'OFF', 'Off', 'off', 'YES', 'Yes', 'yes', 'NO', 'No', 'no']},
    strutils.bool_from_string)
STRICT_BOOLEAN = schema.Type({'type': 'boolean'})

OBJECT_NAME = text(2, pattern='^[a-zA-Z0-9][a-zA-Z0-9_.-]+$')
LOOSE_NAME = text(2, pattern='[a-zA-Z0-9][a-zA-Z0-9_.-]')
HOST_NAME = text(1, pattern='^[a-zA-Z0-9-._]*$')
NAME = text(1)

CPU = schema.Type(
    {'type': ['number', 'string'], 'minLength': 1, 'pattern': r'^[0-9]*(\.([0-9]+))?$',
     'optionMinimum': 'minimum_cpus', 'optionMaximum': 'maximum_cpus'}, float)
MEMORY = schema.Type(
    {'type': ['integer', 'string'], 'pattern': '^[0-9]+$',
     'optionMinimum': 'minimum_memory', 'optionMaximum': 'maximum_memory'}, str)
DISK = schema.Type(
    {'type': ['integer', 'string'], 'pattern': '^[0-9]+$',
     'optionMinimum': 'minimum_disk', 'optionMaximum': 'maximum_disk'}, int)

IMAGE_DRIVER = schema.Type(
    {'type': ['string', 'null'], 'optionEnum': 'image_driver_list'},
    lambda value: None if value == 'None' else value)
PULL_POLICY = schema.Type(
    {'type': ['string', 'null'],
     'enum': ['never', 'always', 'ifnotpresent', 'Never', 'Always', 'IfNotPresent', None]},
    str.lower)

ENVIRONMENT = mapping(text(maximum=None), maxBytes=JSON_BYTES).nullable()
LABELS = mapping(schema.Type({'type': ['string', 'number', 'boolean']}, word),
                 maxBytes=JSON_BYTES).nullable()
OPEN_OBJECT = schema.Type({'type': 'object'}).nullable()
WORDS = array(schema.Type({'type': ['string', 'number', 'boolean']}, word), maxBytes=JSON_BYTES)


def members(fields: collections.abc.Iterable[schema.Field], **keywords: ty.Any) -> schema.Type:
    """An object inside a body, with these members and no others."""
    return schema.Schema('', *fields, rules={'1.1': keywords}).as_type()
