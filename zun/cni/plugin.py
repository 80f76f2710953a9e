# SPDX-License-Identifier: Apache-2.0
"""zun-cni: the CNI program that a CRI runtime calls for a capsule's network.

It only relays to zun-cni-daemon over a unix socket, and imports the standard library alone: a
runtime starts it for every pod. The result or the error of the CNI specification goes to stdout.
"""

import http.client
import json
import os
import signal
import socket
import sys
import typing as ty

SUPPORTED = ['0.3.1', '0.4.0', '1.0.0', '1.1.0']
SOCKET = '/run/zun/cni.sock'
#: Seconds; the daemon gives up before the program, the program before the runtime.
DEADLINE = 150

# Codes of the CNI specification, "Error", and 100 and 200, which are ours.
INCOMPATIBLE, ENVIRONMENT, DECODE, AGAIN, OTHER, TIMEOUT = 1, 4, 6, 11, 100, 200

_VERBS = {'ADD': ('POST', '/v2/add'), 'DEL': ('POST', '/v2/del'), 'CHECK': ('POST', '/v2/check'),
          'STATUS': ('GET', '/v2/status'), 'GC': ('POST', '/v2/gc')}


class CniError(Exception):
    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__('localhost', timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def parse_args(text: str) -> dict[str, str]:
    """CNI_ARGS: ``KEY=VALUE`` pairs separated by semicolons."""
    return dict(pair.split('=', 1) for pair in text.split(';') if '=' in pair)


def relay(verb: str, environ: ty.Mapping[str, str], config: dict[str, ty.Any]) -> ty.Any:
    """Hand a verb to the daemon; its result, or None.

    :raises CniError: the daemon's error, or there is no daemon
    """
    method, path = _VERBS[verb]
    body = json.dumps({
        'containerid': environ.get('CNI_CONTAINERID', ''), 'netns': environ.get('CNI_NETNS', ''),
        'ifname': environ.get('CNI_IFNAME', ''), 'args': parse_args(environ.get('CNI_ARGS', '')),
        'config': config, 'cni_version': config.get('cniVersion')})
    connection = UnixConnection(config.get('zun_socket') or SOCKET, DEADLINE)
    try:
        connection.request(method, path, body, {'Content-Type': 'application/json'})
        answer = connection.getresponse()
        text = answer.read()
    except TimeoutError:
        raise CniError(TIMEOUT, 'timeout') from None
    except OSError as error:
        raise CniError(AGAIN, f'zun-cni-daemon does not answer: {error.strerror}') from None
    finally:
        connection.close()
    content = json.loads(text) if text else {}
    if answer.status >= 400:
        raise CniError(content.get('code', OTHER), content.get('msg', 'no reason given'))
    return content.get('result')


def run(environ: ty.Mapping[str, str], stdin: ty.IO[str]) -> ty.Any:
    """One call of the runtime: what goes to stdout, or None.

    :raises CniError: the verb failed
    """
    verb = environ.get('CNI_COMMAND', '')
    if verb == 'VERSION':
        return {'cniVersion': SUPPORTED[-1], 'supportedVersions': SUPPORTED}
    if verb not in _VERBS:
        raise CniError(ENVIRONMENT, f'unknown CNI_COMMAND {verb!r}')
    try:
        config = json.load(stdin)
    except ValueError:
        raise CniError(DECODE, 'the configuration on stdin is no JSON') from None
    if config.get('cniVersion') not in SUPPORTED:
        raise CniError(INCOMPATIBLE, f'cniVersion {config.get("cniVersion")!r} is not one of '
                                     f'{", ".join(SUPPORTED)}')
    return relay(verb, environ, config)


def main() -> int:
    signal.alarm(DEADLINE + 10)
    try:
        result = run(os.environ, sys.stdin)
    except CniError as error:
        json.dump({'cniVersion': SUPPORTED[0], 'code': error.code, 'msg': str(error)}, sys.stdout)
        return 1
    if result is not None:
        json.dump(result, sys.stdout, sort_keys=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
