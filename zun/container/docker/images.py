# SPDX-License-Identifier: Apache-2.0
"""Images of the engine."""

import base64
import collections.abc
import functools
import json
import re
import typing as ty

from zun.common import exception
from zun.common import transfers
import zun.conf
from zun.container.docker import client
from zun.container.docker import errors
from zun.container.docker import layers

CONF = zun.conf.CONF

_MISSING = re.compile(r'manifest unknown|not found|does not exist|name unknown', re.IGNORECASE)
_REFUSED = re.compile(
    r'unauthorized|denied|no basic auth|authentication required', re.IGNORECASE)
_FOREIGN = re.compile(r'no matching manifest|no match for platform', re.IGNORECASE)
#: Architecture of a host -> what its processors run besides.
_COMPATIBLE = {'amd64': {'386'}, 'arm64': {'arm'}}
_NO_SEARCH = re.compile(r'invalid registry endpoint|status code 40[45]', re.IGNORECASE)


def find(engine: client.Client, reference: str) -> str | None:
    """Id of a local image by name or id; None when it is not there."""
    found = _inspect(engine, reference)
    return found['Id'] if found else None


def info(engine: client.Client, reference: str) -> dict[str, ty.Any]:
    """Id, and size in bytes.

    :raises ImageNotFound: it is not there
    """
    found = _inspect(engine, reference)
    if found is None:
        raise exception.ImageNotFound(image=reference)
    return {'image_id': found['Id'], 'size': found['Size']}


def check(engine: client.Client, reference: str) -> None:
    """
    :param reference: id
    :raises Invalid: the image is for another operating system or architecture
    """
    found = _inspect(engine, reference)
    host = engine.engine()
    if found is not None and not runs((host.os, host.architecture),
                                      (found.get('Os') or '', found.get('Architecture') or '')):
        raise exception.Invalid(
            f"The image is for {found.get('Os')}/{found.get('Architecture')}, and the engine of "
            f'the host runs {host.os}/{host.architecture}.')


def runs(host: tuple[str, str], image: tuple[str, str]) -> bool:
    """Whether a host runs an image; both as operating system and architecture, empty: not known.

    >>> runs(('linux', 'amd64'), ('linux', '386')), runs(('linux', 'amd64'), ('linux', 'arm64'))
    (True, False)
    """
    if host[0] and image[0] and host[0] != image[0]:
        return False
    return (not host[1] or not image[1] or host[1] == image[1]
            or image[1] in _COMPATIBLE.get(host[1], ()))


def _inspect(engine: client.Client, reference: str) -> dict[str, ty.Any] | None:
    try:
        return engine.request('GET', f'/images/{client.quote(reference)}/json').json()
    except errors.Refusal as refusal:
        if refusal.status == 404:
            return None
        raise


def remove(engine: client.Client, reference: str) -> None:
    """One that is not there is success.

    :raises Refusal: a container uses it
    """
    engine.remove(f'/images/{client.quote(reference)}')


def search(engine: client.Client, term: str) -> list[dict[str, ty.Any]]:
    """What the registry offers, as it describes it: name, description, star_count, is_official.

    :raises OperationNotSupported: the registry cannot be searched
    :raises RegistryUnavailable: it does not answer, or fails
    """
    try:
        return engine.request('GET', '/images/search', params={'term': term, 'limit': 25}).json()
    except errors.Refusal as refusal:
        if _NO_SEARCH.search(refusal.message):
            raise exception.OperationNotSupported(
                driver='The registry', method='search') from refusal
        raise exception.RegistryUnavailable(
            error_msg=errors.readable(refusal.message)) from refusal


def pull(engine: client.Client, name: str, tag: str, username: str | None,
         password: str | None, transfer: transfers.Transfer) -> str:
    """Fetch an image; its id.

    :param tag: or digest
    :param transfer: to end it ends the engine's pull
    :raises ImageNotFound: the registry has none of this name, or refuses the credentials
    :raises DockerError: the registry fails otherwise; the text says how
    :raises Invalid: it has none for the engine's platform
    :raises EngineUnavailable: no progress, or no end, in time
    """
    reference = f'{name}@{tag}' if ':' in tag else f'{name}:{tag}'
    try:
        response = engine.request(
            'POST', '/images/create', params={'fromImage': name, 'tag': tag}, stream=True,
            headers={'X-Registry-Auth': _auth(username, password)},
            timeout=CONF.docker.pull_idle_timeout)
        progress = layers.Layers()
        with transfer.stopped_by(functools.partial(client.break_off, response)):
            for message in messages(engine.chunks(response, CONF.docker.pull_timeout)):
                text = (message.get('errorDetail') or {}).get('message') or message.get('error')
                if text:
                    raise _failure(reference, text)
                progress.feed(message)
                transfer.progressed(str(progress))
    except errors.Refusal as refusal:
        raise _failure(reference, refusal.message) from refusal
    found = find(engine, reference)
    if found is None:
        raise exception.ImageNotFound(image=reference)
    return found


def _auth(username: str | None, password: str | None) -> str:
    """Always sent: without it the engine's client would look into its own user's login."""
    login = {'username': username, 'password': password or ''} if username else {}
    return base64.urlsafe_b64encode(json.dumps(login).encode()).decode()


def messages(chunks: collections.abc.Iterator[bytes]) -> collections.abc.Iterator[
        dict[str, ty.Any]]:
    """The engine writes one JSON object a line."""
    pending = b''
    for chunk in chunks:
        *lines, pending = (pending + chunk).split(b'\n')
        yield from (json.loads(line) for line in lines if line.strip())
    if pending.strip():
        yield json.loads(pending)


def _failure(reference: str, text: str) -> exception.ZunException:
    message = errors.readable(text)
    if _FOREIGN.search(message):
        return exception.Invalid(f'Image {reference} is for other platforms: {message}')
    if _REFUSED.search(message) or _MISSING.search(message):
        return exception.ImageNotFound(f'Image {reference} could not be found: {message}')
    return exception.DockerError(error_msg=f'pull of {reference}: {message}')
