# SPDX-License-Identifier: Apache-2.0
"""What a request may say: fields, each with its type and the versions that know it."""

import collections.abc
import dataclasses
import functools
import typing as ty

import jsonschema

from zun.api import microversions
from zun.api.schemas import validation
from zun.common import exception

Json = dict[str, ty.Any]


def same(value: ty.Any) -> ty.Any:
    """What is accepted as it is."""
    return value


@dataclasses.dataclass(frozen=True)
class Type:
    """What a value may be, and what becomes of it.

    :ivar schema: JSON Schema of accepted values
    :ivar convert: makes Python's own value of an accepted one that is not null
    """

    schema: Json
    convert: collections.abc.Callable[[ty.Any], ty.Any] = same

    def restrict(self, **keywords: ty.Any) -> 'Type':
        """The same with further keywords."""
        return dataclasses.replace(self, schema={**self.schema, **keywords})

    def nullable(self) -> 'Type':
        """The same or null."""
        types = self.schema['type']
        names = [types] if isinstance(types, str) else list(types)
        schema = {**self.schema, 'type': [*names, 'null']}
        if 'enum' in schema:
            schema['enum'] = [*schema['enum'], None]
        return dataclasses.replace(self, schema=schema)

    def apply(self, value: ty.Any) -> ty.Any:
        return None if value is None else self.convert(value)


@dataclasses.dataclass(frozen=True)
class Field:
    """One member.

    :ivar since: first version that knows it; below it is an unknown member
    :ivar until: last version that knows it
    :ivar gate: below that version 400 invalid-param-in-version when it is given
    :ivar gates_empty: an empty value counts as given
    """

    name: str
    type: Type
    description: str = ''
    required: bool = False
    since: str = '1.1'
    until: str | None = None
    gate: str | None = None
    gates_empty: bool = True

    @property
    def document(self) -> Json:
        """JSON Schema of its values, with what it means."""
        if not self.description:
            return self.type.schema
        return {**self.type.schema, 'description': self.description}

    def known_at(self, version: microversions.Version) -> bool:
        return (microversions.parse(self.since) <= version
                and (self.until is None or version <= microversions.parse(self.until)))


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A schema at one version."""

    version: microversions.Version
    fields: tuple[Field, ...]
    document: Json
    validator: jsonschema.protocols.Validator

    def check(self, instance: Json, queried: collections.abc.Container[str] = ()) -> None:
        """Refuse what does not match.

        :param queried: names of the members that came in the query string
        :raises SchemaValidationError: names the field, its value and what was expected
        """
        error = validation.first_error(self.validator, instance)
        if error is not None:
            raise exception.SchemaValidationError(_describe(error, queried))

    def convert(self, instance: Json) -> Json:
        """Python's values of a checked instance; members that are null are left out.

        :raises InvalidParamInVersion: a member needs a newer version
        :raises Invalid: a converter's own objection
        """
        values = {}
        for field in self.fields:
            value = instance.get(field.name)
            if value is None:
                continue
            if field.gate is not None and (value or field.gates_empty):
                self._check_gate(field.name, field.gate)
            values[field.name] = field.type.apply(value)
        return values

    def _check_gate(self, name: str, gate: str) -> None:
        if self.version < microversions.parse(gate):
            raise exception.InvalidParamInVersion(
                param=name, req_version=self.version, min_version=gate)


class Schema:
    """An object with these members and no others.

    :param name: unique; names the component of the OpenAPI document
    :param open_: accept and drop other members
    :param rules: keywords of the object, and versions from which they hold
    """

    def __init__(self, name: str, *fields: Field, open_: bool = False,
                 rules: collections.abc.Mapping[str, Json] | None = None) -> None:
        self.name = name
        self.fields = fields
        self.open = open_
        self.rules = rules or {}

    @functools.cache  # noqa: B019  (schemas live as long as the process)
    def at(self, version: microversions.Version) -> Compiled:
        """The schema as one version knows it, compiled once."""
        fields = tuple(field for field in self.fields if field.known_at(version))
        document: Json = {
            'type': 'object',
            'properties': {field.name: field.document for field in fields},
            'additionalProperties': self.open,
        }
        required = [field.name for field in fields if field.required]
        if required:
            document['required'] = required
        for since, keywords in self.rules.items():
            if microversions.parse(since) <= version:
                document.update(keywords)
        return Compiled(version, fields, document, validation.compile_schema(document))

    def as_type(self, version: microversions.Version = microversions.MAX) -> Type:
        """The object as the type of a member of another one."""
        return Type(self.at(version).document, self.at(version).convert)


def _describe(error: jsonschema.ValidationError,
              queried: collections.abc.Container[str]) -> str:
    field, why = validation.field_of(error), validation.reason(error)
    if field is None:
        return why
    if error.absolute_path[0] in queried:
        return (f"Invalid input for query parameters '{field}'. "
                f"Value: '{validation.shown_value(error)}'. {why}")
    return f"Invalid input for field '{field}'.Value: '{validation.shown_value(error)}'. {why}"
