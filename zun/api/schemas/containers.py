# SPDX-License-Identifier: Apache-2.0
"""Bodies and parameters of containers."""

import shlex
import typing as ty

from zun.api.schemas import schema
from zun.api.schemas import types
from zun.common import exception

Field = schema.Field
_HOSTNAME_LENGTH = 63
_RUNTIME_LENGTH = 32


def split_command(command: str) -> list[str]:
    """The words of a command line, as a POSIX shell would see them.

    :raises InvalidValue: a quote is not closed
    """
    try:
        return shlex.split(command)
    except ValueError as error:
        raise exception.InvalidValue(f'Invalid command: {error}.') from None


def _health_check(value: dict[str, ty.Any]) -> dict[str, ty.Any]:
    return {'test' if key == 'cmd' else key: member for key, member in value.items()}


_COUNT = schema.Type({'type': ['integer', 'null'], 'minimum': 0})
_HEALTH_CHECK_FIELDS = (
    Field('cmd', types.NAME, 'Command that checks the health, run by a shell.'),
    Field('interval', _COUNT, 'Seconds between two checks.'),
    Field('retries', _COUNT, 'Failures in a row after which it is unhealthy.'),
    Field('timeout', _COUNT, 'Seconds after which a check has failed.'),
)
_START_PERIOD = Field(
    'start_period', _COUNT, 'Seconds after its start in which failures do not count. Since 1.43.')


def _health_check_of(*fields: Field) -> schema.Type:
    members = types.members(fields, anyOf=[{'required': ['cmd']}, {'maxProperties': 0}],
                            maxBytes=types.JSON_BYTES)
    return schema.Type(members.schema, _health_check).nullable()


_RESTART_POLICY = types.members((
    Field('Name', types.choice('no', 'always', 'on-failure', 'unless-stopped'),
          'When to start it again.', required=True),
    Field('MaximumRetryCount',
          schema.Type({'type': ['integer', 'string', 'null'], 'minimum': 0,
                       'pattern': '^[0-9]+$'}, str),
          'How often on-failure tries.'),
)).nullable()

_NET = types.members((
    Field('network', types.NAME, 'Id or name of a network.'),
    Field('port', types.NAME, 'Id or name of a port of the project.'),
    Field('v4-fixed-ip', schema.Type({'type': 'string', 'format': 'ipv4'}),
          'Address on the network.'),
    Field('v6-fixed-ip', schema.Type({'type': 'string', 'format': 'ipv6'}),
          'Address on the network.'),
), oneOf=[{'required': ['network']}, {'required': ['port']}])

_MOUNT = types.members((
    Field('type', types.text(), 'volume (default) or bind.'),
    Field('source', types.text(maximum=None),
          'Id or name of a volume; for bind the content of a file, in base64.'),
    Field('size', schema.Type({'type': ['integer', 'string']}),
          'GiB of a new volume that is deleted with the container.'),
    Field('destination', types.text(), 'Absolute path in the container.', required=True),
), anyOf=[{'required': ['source']}, {'required': ['size']}])

_PORTS = schema.Type({'type': ['object', 'null'], 'maxBytes': types.JSON_BYTES})

CREATE = schema.Schema(
    'container_create',
    Field('auto_remove', schema.Type({'type': ['boolean', 'null']}),
          'Delete the container when it stops.', gate='1.3'),
    Field('runtime', types.text(maximum=_RUNTIME_LENGTH).nullable(),
          'Runtime of the engine; for administrators.', gate='1.5'),
    Field('hostname', types.HOST_NAME.restrict(maxLength=_HOSTNAME_LENGTH),
          'Host name inside the container.', gate='1.9'),
    Field('healthcheck', _health_check_of(*_HEALTH_CHECK_FIELDS), 'How its health is checked.',
          gate='1.22', gates_empty=False, until='1.42'),
    Field('healthcheck', _health_check_of(*_HEALTH_CHECK_FIELDS, _START_PERIOD),
          'How its health is checked.', gate='1.22', gates_empty=False, since='1.43'),
    Field('mounts', types.array(_MOUNT).nullable(), 'Volumes and files to mount.', gate='1.11',
          gates_empty=False),
    Field('privileged', types.BOOLEAN, 'Give it all rights on its host.', gate='1.21'),
    Field('exposed_ports', _PORTS,
          'Ports that a security group of its own opens: keys `80`, `80/tcp`, `53/udp`.',
          gate='1.24'),
    Field('registry', types.OBJECT_NAME, 'Uuid or name of a registry.', gate='1.31'),
    Field('name', types.OBJECT_NAME.nullable(), 'Name; made up when absent.'),
    Field('image', types.LOOSE_NAME, 'Reference of an image.', required=True),
    Field('command', schema.Type({'type': ['string', 'null'], 'maxBytes': types.JSON_BYTES},
                                 split_command),
          'Command line.', until='1.19'),
    Field('command', types.WORDS.nullable(), 'Words of the command.', since='1.20'),
    Field('entrypoint', types.WORDS.nullable(),
          'Words of the entry point. With it, the command of the image is not used.', since='1.40'),
    Field('cpu', types.CPU.nullable(), 'Number of vCPUs.'),
    Field('cpu_policy', types.choice('dedicated', 'shared'), 'Whether vCPUs are pinned.'),
    Field('memory', types.MEMORY.nullable(), 'MiB of memory.'),
    Field('disk', types.DISK.nullable(),
          'GiB of disk. Absent: the default of the host, where its engine can limit a disk.'),
    Field('workdir', types.text().nullable(), 'Directory in which the command runs.'),
    Field('environment', types.ENVIRONMENT, 'Environment variables.'),
    Field('labels', types.LABELS, 'Labels.'),
    Field('auto_heal', types.BOOLEAN, 'Create it anew when its host has lost it.'),
    Field('interactive', types.BOOLEAN, 'Keep standard input open, so that one can attach.'),
    Field('tty', types.BOOLEAN, 'Give it a terminal.'),
    Field('image_driver', types.IMAGE_DRIVER, 'Where the image comes from.'),
    Field('image_pull_policy', types.PULL_POLICY, 'When to pull; for administrators.'),
    Field('restart_policy', _RESTART_POLICY, 'When to start it again.'),
    Field('security_groups', types.array(types.NAME).nullable(), 'Names or ids.'),
    Field('hints', types.OPEN_OBJECT, 'Hints for the scheduler.'),
    Field('nets', types.array(_NET).nullable(), 'Networks, in the order of the interfaces.'),
    Field('availability_zone', types.NAME.nullable(), 'Zone to schedule in.'),
    Field('host', types.HOST_NAME, 'Host to run on; for administrators.', since='1.39'),
    rules={'1.20': {'not': {'required': ['security_groups', 'exposed_ports']}}})

QUERY_CREATE = schema.Schema(
    'query_create', Field('run', types.BOOLEAN_EXTENDED, 'Start it when it is created.'))

UPDATE = schema.Schema(
    'container_update',
    Field('cpu', types.CPU, 'Number of vCPUs.'),
    Field('memory', types.MEMORY, 'MiB of memory.'),
    Field('name', types.OBJECT_NAME, 'New name.'),
    Field('auto_heal', types.BOOLEAN, 'Create it anew when its host has lost it.'))

QUERY_DELETE = schema.Schema(
    'query_delete',
    Field('stop', types.BOOLEAN_EXTENDED, 'Stop it first.'),
    Field('force', types.BOOLEAN_EXTENDED, 'In any state; for administrators.'),
    Field('all_projects', types.BOOLEAN_EXTENDED, 'Look in all projects; for administrators.'))
