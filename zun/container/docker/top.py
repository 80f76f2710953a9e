# SPDX-License-Identifier: Apache-2.0
"""``top``. The engine hands its arguments to ps on the host, as root."""

import json
import re
import typing as ty

from zun.common import exception
import zun.conf
from zun.container.docker import client

CONF = zun.conf.CONF

#: Bytes of the engine's answer.
_LONGEST = 1 << 20

#: Options without a value. BSD's ``e`` would show environments, so that it is none of them.
_PLAIN = re.compile(r'-[AaefFHjlLwy]+|[afjluvwx]+|--forest')
#: Options whose last letter takes fields.
_WITH_FIELDS = re.compile(r'-[AaefFHjlLwy]*[oO]|[afjluvwx]*[oO]|--format|--sort')
_JOINED = re.compile(r'(?:-[oO]|--format=|--sort=)(.+)')
_FIELDS = frozenset({
    '%cpu', '%mem', 'args', 'c', 'class', 'cls', 'cmd', 'comm', 'command', 'cp', 'cputime',
    'cputimes', 'drs', 'egid', 'egroup', 'elapsed', 'etime', 'etimes', 'euid', 'euser', 'f',
    'fgid', 'fgroup', 'flag', 'fuid', 'fuser', 'gid', 'group', 'lstart', 'lwp', 'maj_flt',
    'majflt', 'min_flt', 'minflt', 'ni', 'nice', 'nlwp', 'pcpu', 'pgid', 'pgrp', 'pid', 'pmem',
    'ppid', 'pri', 'psr', 'rgid', 'rgroup', 'rss', 'rsz', 'rtprio', 'ruid', 'ruser', 's', 'sess',
    'sid', 'spid', 'start', 'start_time', 'stat', 'state', 'stime', 'sz', 'tgid', 'thcount', 'tid',
    'time', 'times', 'tname', 'trs', 'tt', 'tty', 'ucmd', 'ucomm', 'uid', 'uname', 'user', 'vsize',
    'vsz', 'wchan'})


def check(ps_args: str) -> str:
    """The arguments, when all of them are allowed.

    They are split at blanks only, as the engine does.

    :raises Invalid: one is not
    """
    words = iter(ps_args.split())
    for word in words:
        if _PLAIN.fullmatch(word):
            continue
        joined = _JOINED.fullmatch(word)
        if joined:
            _check_fields(joined.group(1))
        elif _WITH_FIELDS.fullmatch(word):
            _check_fields(next(words, ''))
        else:
            raise exception.Invalid(f'Invalid ps_args: {word} is not allowed.')
    return ps_args


def read(engine: client.Client, name: str, params: dict[str, str]) -> dict[str, ty.Any]:
    """``{'Titles': [...], 'Processes': [[...]]}``

    :raises RequestTooLarge: their command lines are so long that no answer should hold them
    """
    response = engine.request('GET', f'/containers/{client.quote(name)}/top', params=params,
                              stream=True)
    text = bytearray()
    for chunk in engine.chunks(response, CONF.docker.default_timeout):
        text += chunk
        if len(text) > _LONGEST:
            raise exception.RequestTooLarge(what='The list of processes', limit=_LONGEST)
    found = json.loads(text)
    return {key: found[key] for key in ('Titles', 'Processes')}


def _check_fields(fields: str) -> None:
    unknown = [field for field in fields.split(',')
               if field.lstrip('+-').lower() not in _FIELDS]
    if unknown:
        raise exception.Invalid(f'Invalid ps_args: there is no field {unknown[0]!r}.')
