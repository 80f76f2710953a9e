# SPDX-License-Identifier: Apache-2.0
"""Parameters of the actions on a container."""

from zun.api.schemas import schema
from zun.api.schemas import types

Field = schema.Field

#: By number, the same on every machine; real-time signals without a name are left out.
SIGNALS = {
    1: 'HUP', 2: 'INT', 3: 'QUIT', 4: 'ILL', 5: 'TRAP', 6: 'ABRT', 7: 'BUS', 8: 'FPE',
    9: 'KILL', 10: 'USR1', 11: 'SEGV', 12: 'USR2', 13: 'PIPE', 14: 'ALRM', 15: 'TERM',
    16: 'STKFLT', 17: 'CHLD', 18: 'CONT', 19: 'STOP', 20: 'TSTP', 21: 'TTIN', 22: 'TTOU',
    23: 'URG', 24: 'XCPU', 25: 'XFSZ', 26: 'VTALRM', 27: 'PROF', 28: 'WINCH', 29: 'IO',
    30: 'PWR', 31: 'SYS', 34: 'RTMIN', 64: 'RTMAX',
}
_NONE = 'None'


def none_text(value: str) -> str | None:
    """Clients send the text None for a parameter that was not given."""
    return None if value == _NONE else value


def _signals() -> list[str]:
    texts = [_NONE]
    for number, name in SIGNALS.items():
        texts += [f'SIG{name}', name, f'sig{name.lower()}', name.lower(), str(number)]
    return texts


_SIZE = types.integer(1)
_ADDRESS = schema.Type({'type': 'string', 'format': 'ip'})
_SINCE_TIME = r'[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2},[0-9]{1,3}'
_HEIGHT = Field('h', _SIZE, 'Rows.', required=True)
_WIDTH = Field('w', _SIZE, 'Columns.', required=True)

EMPTY = schema.Schema('no_parameters', open_=True)

TIMEOUT = schema.Schema(
    'query_timeout',
    Field('timeout', types.integer(0, '^[0-9]*$', maximum=3600),
          'Seconds to end by itself; absent: as the image says, else 10.'))

KILL = schema.Schema(
    'query_signal',
    Field('signal', schema.Type({'type': 'string', 'enum': _signals()}, none_text),
          'Signal to send; SIGKILL when absent.'))

REBUILD = schema.Schema(
    'rebuild',
    Field('image', types.LOOSE_NAME, 'Another image.'),
    Field('image_driver', types.text().nullable(), 'Where it comes from.'), open_=True)

LOGS = schema.Schema(
    'query_logs',
    Field('stdout', types.BOOLEAN_EXTENDED, 'Standard output. Default true.'),
    Field('stderr', types.BOOLEAN_EXTENDED, 'Standard error. Default true.'),
    Field('timestamps', types.BOOLEAN_EXTENDED, 'Put the time before each line.'),
    Field('tail', schema.Type({'type': ['string', 'integer', 'null']}),
          'Lines from the end, or `all`, which is the default. An answer holds the newest bytes, '
          'as many as the operator allows (10 MiB at first); a first line tells when there were '
          'more, which `tail` and `since` choose from. Bytes that are not UTF-8 show as U+FFFD.'),
    Field('since', schema.Type({'type': ['string', 'integer', 'null'],
                                'pattern': f'^[0-9]*|{_SINCE_TIME}$'}),
          'Seconds since the epoch, or UTC as `YYYY-MM-DD hh:mm:ss,f`.'),
    Field('follow', types.BOOLEAN_EXTENDED, 'Answer with the URL of a console that shows the log '
          'as it grows, and takes no input. Default false.', since='1.41'))

EXECUTE = schema.Schema(
    'query_execute',
    Field('command', types.text(1, None), 'Command line.', required=True),
    Field('run', types.BOOLEAN, 'Run it now; false only prepares a console. Default true.'),
    Field('interactive', types.BOOLEAN, 'With standard input and a terminal.'))

EXECUTE_RESIZE = schema.Schema(
    'query_execute_resize',
    Field('exec_id', types.text(64, 64, '^[a-f0-9]*$'), 'Id that execute gave.', required=True),
    _HEIGHT, _WIDTH)

RESIZE = schema.Schema('query_resize', _HEIGHT, _WIDTH)

TOP = schema.Schema(
    'query_top',
    Field('ps_args', schema.Type({'type': 'string'}, none_text), 'Options of ps.'))

GET_ARCHIVE = schema.Schema(
    'get_archive',
    Field('path', types.text(maximum=None), 'File or directory.', required=True), open_=True)

PUT_ARCHIVE = schema.Schema(
    'put_archive',
    Field('path', types.text(maximum=None), 'Directory to extract in.', required=True),
    Field('data', types.text(maximum=None), 'Tar archive: base64 from 1.25, plain text below.',
          required=True), open_=True)

COMMIT = schema.Schema(
    'query_commit',
    Field('repository', types.text(), 'Name of the image.', required=True),
    Field('tag', types.text(), 'Tag of the image.'))

RENAME = schema.Schema(
    'query_rename', Field('name', types.OBJECT_NAME, 'New name.', required=True))

SECURITY_GROUP = schema.Schema(
    'security_group', Field('name', types.NAME, 'Id or name.', required=True))

NETWORK_ATTACH = schema.Schema(
    'network_attach',
    Field('network', types.NAME, 'Id or name of a network.'),
    Field('port', types.NAME, 'Id or name of a port.'),
    Field('fixed_ip', _ADDRESS, 'Address on the network.'),
    rules={'1.1': {'oneOf': [{'required': ['network']}, {'required': ['port']}]}})

NETWORK_DETACH = schema.Schema(
    'network_detach',
    Field('network', types.NAME, 'Id or name of a network.'),
    Field('port', types.NAME, 'Id or name of a port.'),
    rules={'1.1': {'oneOf': [{'required': ['network']}, {'required': ['port']}]}})
