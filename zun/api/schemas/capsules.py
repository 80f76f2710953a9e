# SPDX-License-Identifier: Apache-2.0
"""The template of a capsule."""

import dataclasses
import typing as ty

from zun.api import documents
from zun.api import microversions
from zun.api.schemas import schema
from zun.api.schemas import types
from zun.common import exception

Field = schema.Field
_PORT_MAXIMUM = 65535
_ANNOTATION_BYTES = 16 * 1024 * 1024 - 1

_RESTART_POLICY = types.choice('Always', 'OnFailure', 'Never')
_PORT_NUMBER = types.integer(0, '^[0-9]*$', maximum=_PORT_MAXIMUM)

_RESOURCES = types.members((
    Field('requests', types.members((
        Field('cpu', types.CPU.nullable(), 'Number of vCPUs.'),
        Field('memory', types.MEMORY.nullable(), 'MiB of memory.'))), 'What it needs.'),))

_PORT = types.members((
    Field('name', types.OBJECT_NAME.nullable(), 'No effect.'),
    Field('containerPort', _PORT_NUMBER.restrict(minimum=1, pattern='^[0-9]+$'),
          'Port to open.', required=True),
    Field('hostPort', _PORT_NUMBER, 'No effect.'),
    Field('protocol', types.choice('TCP', 'UDP'), 'Default TCP.')))

_VOLUME_MOUNT = types.members((
    Field('name', types.OBJECT_NAME, 'Name of a volume of the capsule.', required=True),
    Field('mountPath', types.text(1), 'Path in the container.', required=True),
    Field('readOnly', types.BOOLEAN, 'Mount it read-only.')))

_MEMBER = (
    Field('name', types.OBJECT_NAME.nullable(), 'No effect: names are made up.'),
    Field('command', types.array(types.text(maximum=None), maxBytes=types.JSON_BYTES).nullable(),
          'Words of the command.'),
    Field('args', types.array(types.text(maximum=None), maxBytes=types.JSON_BYTES).nullable(),
          'Further words.'),
    Field('env', types.ENVIRONMENT, 'Environment variables.'),
    Field('workDir', types.text().nullable(), 'Directory in which the command runs.'),
    Field('imagePullPolicy', types.PULL_POLICY, 'When to pull; for administrators.'),
    Field('resources', _RESOURCES, 'Resources.'),
    Field('ports', types.array(_PORT), 'Ports to open.'),
    Field('volumeMounts', types.array(_VOLUME_MOUNT), 'Volumes to mount.'),
    Field('stdin', types.BOOLEAN, 'Keep standard input open.'),
    Field('tty', types.BOOLEAN, 'Give it a terminal.'))

_IMAGE = Field('image', types.LOOSE_NAME, 'Reference of an image.', required=True)
#: Without its image an init container is an error of the template, not of the schema.
_INIT_IMAGE = dataclasses.replace(_IMAGE, required=False)

_CINDER = types.members((
    Field('volumeID', types.text(36, 36), 'Id of a volume.'),
    Field('size', schema.Type({'type': 'number', 'minimum': 1, 'multipleOf': 1}, int),
          'GiB of a new volume.'),
    Field('autoRemove', types.BOOLEAN, 'Delete the new volume with the capsule.')))


def _open(name: str, *fields: Field) -> schema.Type:
    return schema.Schema(name, *fields, open_=True).as_type()


_VOLUME = _open(
    'volume',
    Field('name', types.OBJECT_NAME, 'Name that volumeMounts refer to.', required=True),
    Field('cinder', _CINDER, 'Where it comes from.', required=True))

_METADATA = _open(
    'metadata',
    Field('name', types.OBJECT_NAME.nullable(), 'Name of the capsule.'),
    Field('labels', types.LABELS, 'Labels.'),
    Field('annotations', types.OPEN_OBJECT.restrict(maxBytes=_ANNOTATION_BYTES),
          'Annotations.'))

_SPEC = _open(
    'spec',
    Field('restartPolicy', _RESTART_POLICY, 'When members are started again.'),
    Field('containers', types.array(types.members((_IMAGE, *_MEMBER))), 'Containers.',
          required=True),
    Field('initContainers', types.array(types.members((_INIT_IMAGE, *_MEMBER))),
          'Run one after the other before the containers.'),
    Field('volumes', types.array(_VOLUME).nullable(), 'Volumes of the members.'))

TEMPLATE = schema.Schema(
    'capsule_template',
    Field('kind', types.choice('capsule', 'Capsule'), 'capsule.', required=True),
    Field('capsuleVersion', types.choice('beta', 'Beta'), 'beta.'),
    Field('metadata', _METADATA, 'Name, labels, annotations.', required=True),
    Field('restartPolicy', _RESTART_POLICY, 'Old place of spec.restartPolicy.'),
    Field('availabilityZone', types.NAME.nullable(), 'Zone to schedule in.'),
    Field('spec', _SPEC, 'What the capsule consists of.', required=True))


def _template(value: schema.Json | str) -> schema.Json:
    """The template, also when it came as JSON text.

    :raises FailedParseStringToJson: the text is not JSON
    :raises SchemaValidationError: the text is another document
    """
    template = value
    if isinstance(template, str):
        try:
            template = documents.loads(template)
        except ValueError:
            raise exception.FailedParseStringToJson() from None
        _CREATE_TEXT.at(microversions.MAX).check({'template': template})
    return TEMPLATE.at(microversions.MAX).convert(template)


def _body(name: str, *kinds: str, **kwargs: ty.Any) -> schema.Schema:
    document = {**TEMPLATE.at(microversions.MAX).document, 'type': list(kinds)}
    return schema.Schema(name, Field('template', schema.Type(document, **kwargs),
                                     'The template, or its JSON text.', required=True))


CREATE = _body('capsule_create', 'object', 'string', convert=_template)
_CREATE_TEXT = _body('capsule_create_text', 'object')
