# SPDX-License-Identifier: Apache-2.0
"""Images as tar streams, into the engine and out of it; snapshots of containers."""

import collections.abc
import contextlib
import re
import typing as ty

from zun.common import exception
import zun.conf
from zun.container import driver
from zun.container.docker import client
from zun.container.docker import errors
from zun.container.docker import images

CONF = zun.conf.CONF

_LOADED = re.compile(r'Loaded image(?: ID)?: (\S+)')


def commit(engine: client.Client, name: str, repository: str, tag: str) -> str:
    """Make an image of a container, which the engine pauses meanwhile; the image's id.

    :raises EngineUnavailable: no answer within ``[docker]/commit_timeout`` seconds
    """
    answer = engine.request(
        'POST', '/commit', timeout=CONF.docker.commit_timeout, json={},
        params={'container': name, 'repo': repository, 'tag': tag, 'pause': '1'})
    return answer.json()['Id']


def tag(engine: client.Client, image: str, repository: str, name: str) -> None:
    """Give an image one more name."""
    engine.request('POST', f'/images/{client.quote(image)}/tag',
                   params={'repo': repository, 'tag': name})


@contextlib.contextmanager
def save(engine: client.Client,
         reference: str) -> collections.abc.Iterator[collections.abc.Iterator[bytes]]:
    """The chunks of an image's tar; leaving early ends the transfer.

    :raises ImageNotFound: it is not there
    """
    try:
        response = engine.request('GET', f'/images/{client.quote(reference)}/get', stream=True,
                                  timeout=CONF.docker.pull_idle_timeout)
    except errors.Refusal as refusal:
        if refusal.status == 404:
            raise exception.ImageNotFound(image=reference) from refusal
        raise
    with contextlib.closing(response):
        yield engine.chunks(response, CONF.docker.pull_timeout)


def load(engine: client.Client, chunks: collections.abc.Iterable[bytes]) -> str:
    """Hand a tar with one image to the engine; the image's id, or a name that it bears.

    :raises Invalid: the engine cannot read it
    :raises Refusal: its disk is full
    """
    response = engine.request('POST', '/images/load', params={'quiet': '1'}, data=chunks,
                              stream=True, headers={'Content-Type': 'application/x-tar'},
                              timeout=CONF.docker.pull_idle_timeout)
    loaded = None
    for message in images.messages(engine.chunks(response, CONF.docker.pull_timeout)):
        text = (message.get('errorDetail') or {}).get('message') or message.get('error')
        if text:
            refusal = errors.Refusal(500, text)  # the answer had begun with 200
            if refusal.no_space:
                raise refusal
            raise exception.Invalid(f'The image cannot be loaded: {errors.readable(text)}')
        found = _LOADED.search(message.get('stream') or '')
        loaded = found.group(1) if found else loaded
    if loaded is None:
        raise exception.Invalid('The image cannot be loaded: the engine found none in it.')
    return loaded


def held(engine: client.Client) -> list[driver.LocalImage]:
    """All images, and whether a container uses them."""
    used = {container['ImageID'] for container in engine.request(
        'GET', '/containers/json', params={'all': '1'}).json()}
    return [driver.LocalImage(found['Id'], tuple(_names(found)), found['Size'],
                              found['Id'] in used)
            for found in engine.request('GET', '/images/json').json()]


def _names(found: dict[str, ty.Any]) -> list[str]:
    """Tags, else digests; the engine writes ``<none>`` for what is missing."""
    tags = [name for name in found.get('RepoTags') or () if '<none>' not in name]
    return tags or [name for name in found.get('RepoDigests') or () if '<none>' not in name]
