# SPDX-License-Identifier: Apache-2.0
"""Images that the engine fetches from a registry."""

import collections.abc
import concurrent.futures
import dataclasses
import enum
import itertools
import re
import threading
import time
import typing as ty

from oslo_log import log as logging

from zun.common import context as zun_context
from zun.common import exception
from zun.common import image_name
from zun.common import pools
import zun.conf
from zun.container import driver as container_driver
from zun.image import driver

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

NEVER = 'never'
ALWAYS = 'always'
IF_NOT_PRESENT = 'ifnotpresent'

#: Registries that the engine's search covers.
_HUB = ('docker.io', 'index.docker.io')
_TRIES = 4
_FIRST_PAUSE = 5.0
_LONGEST_PAUSE = 60.0


class Trouble(enum.Enum):
    """What went wrong between engine and registry."""

    LIMITED = 'the registry limits the rate of pulls'
    FAILING = 'the registry fails'
    REFUSED = 'authentication with the registry failed'
    MISSING = 'the registry has no such image'
    FULL = "the disk of the host's engine is full"
    UNREACHABLE = 'the registry cannot be reached'
    OTHER = 'the pull failed'


_SIGNS: tuple[tuple[Trouble, str], ...] = (
    (Trouble.LIMITED, r'toomanyrequests|rate limit|too many requests|\b429\b'),
    (Trouble.FULL, r'no space left'),
    (Trouble.FAILING, r'http status(?: code)?:? 5\d\d|http 5\d\d|internal server error'
                      r'|service unavailable|bad gateway|gateway timeout'),
    (Trouble.REFUSED, r'unauthorized|denied|no basic auth|authentication required'),
    (Trouble.MISSING, r'manifest unknown|not found|does not exist|name unknown'),
    (Trouble.UNREACHABLE, r'dial |timeout|timed out|x509|tls|no such host|connection re'),
)
_RETRIED = (Trouble.LIMITED, Trouble.FAILING)


def trouble(text: str) -> Trouble:
    """Why a pull failed, from what engine and registry say."""
    lowered = text.lower()
    return next((kind for kind, signs in _SIGNS if re.search(signs, lowered)), Trouble.OTHER)


def should_pull(policy: str | None, present: bool) -> bool:
    """Whether the registry is asked. A policy that does not exist forbids it."""
    return policy == ALWAYS or (policy == IF_NOT_PRESENT and not present)


@dataclasses.dataclass(frozen=True)
class _Pull:
    """One pull; equal ones are made once.

    :ivar version: digest or tag
    """

    reference: image_name.Reference
    version: str
    username: str | None = None
    password: str | None = dataclasses.field(default=None, repr=False)

    def __str__(self) -> str:
        separator = '@' if self.version == self.reference.digest else ':'
        return f'{self.reference.name}{separator}{self.version}'


def credentials(domain: str | None, registry: ty.Any) -> tuple[str | None, str | None]:
    """User and password for the registry of an image.

    They are sent only to the registry they belong to, whatever domain the image names.

    :param registry: a Registry or None
    """
    if registry is not None and registry.username and domain == registry.domain:
        return registry.username, registry.plain_password() or ''
    options = CONF.docker
    if domain and domain == options.default_registry and options.default_registry_username:
        return options.default_registry_username, options.default_registry_password or ''
    return None, None


class DockerImageDriver(driver.ImageDriver):
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: dict[_Pull, concurrent.futures.Future[str]] = {}

    def fetch(self, context: zun_context.RequestContext,
              engine: container_driver.ContainerDriver, wanted: driver.Wanted) -> str:
        """
        :raises NameEmpty, NameTooLong, ReferenceInvalidFormat: the name is none
        :raises ImageNotFound: there is none, or the policy forbids to fetch it
        :raises DockerError: the pull failed
        """
        reference = image_name.complete(
            image_name.parse(wanted.reference),
            wanted.registry.domain if wanted.registry else None, CONF.docker.default_registry)
        policy = wanted.policy or CONF.compute.default_image_pull_policy
        pull = _Pull(reference, reference.version)
        found = None if policy == ALWAYS else engine.find_image(str(pull))
        if should_pull(policy, found is not None):
            username, password = credentials(reference.domain, wanted.registry)
            pull = dataclasses.replace(pull, username=username, password=password)
            return self._once(pull, lambda: _pull(engine, pull))
        if found is None:
            raise exception.ImageNotFound(
                f'Image {pull} not present with pull policy of {policy.capitalize()}.')
        return found

    def _once(self, pull: _Pull, work: collections.abc.Callable[[], str]) -> str:
        """Do the work, or wait for the one who is at it and share the result."""
        with self._lock:
            running = self._running.get(pull)
            if running is None:
                mine = self._running[pull] = concurrent.futures.Future()
        if running is not None:
            return _shared(running, pull)
        try:
            mine.set_result(work())
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._running[pull]
        return mine.result()

    def search(self, context: zun_context.RequestContext,
               engine: container_driver.ContainerDriver, name: str,
               exact_match: bool) -> list[dict[str, ty.Any]]:
        reference = image_name.parse(name)
        if reference.domain and reference.domain not in _HUB:
            raise exception.OperationNotSupported(
                driver=f'Registry {reference.domain}', method='search')
        return [_listed(item) for item in engine.search_images(reference.path)
                if not exact_match or item['name'] == reference.path]


def _shared(running: 'concurrent.futures.Future[str]', pull: _Pull) -> str:
    limit = CONF.docker.pull_timeout + CONF.docker.default_timeout
    try:
        return running.result(limit)
    except concurrent.futures.TimeoutError:
        raise exception.DockerError(
            error_msg=f'pull of {pull}: no end after {limit} seconds') from None


def _pull(engine: container_driver.ContainerDriver, pull: _Pull) -> str:
    """Pull, and try again while the registry is too busy.

    :raises ImageNotFound, DockerError: with the image's name
    :raises EngineUnavailable: it is the engine that does not answer
    """
    deadline = time.monotonic() + CONF.docker.pull_timeout
    for attempt in itertools.count():
        try:
            return engine.pull_image(pull.reference.name, pull.version, pull.username,
                                     pull.password)
        except exception.EngineUnavailable:
            raise
        except (exception.ImageNotFound, exception.DockerError) as error:
            text = _detail(error, pull)
            kind = trouble(text)
            pause = pools.backoff(attempt, _FIRST_PAUSE, _LONGEST_PAUSE)
            if (kind not in _RETRIED or attempt + 1 >= _TRIES
                    or time.monotonic() + pause >= deadline):
                raise _explained(error, kind, text, pull) from error
            LOG.warning('Pull of %s: %s; trying again in %.1f s', pull, kind.value, pause)
        time.sleep(pause)
    raise AssertionError


def _detail(error: exception.ZunException, pull: _Pull) -> str:
    """What engine and registry say, without the image's name, which may hold any word."""
    text = error.kwargs.get('error_msg') or error.message
    text = text.removeprefix(f'pull of {pull}: ')
    for name in (str(pull), pull.reference.name, pull.reference.path):
        text = re.sub(rf'(?<![\w-]){re.escape(name)}(?![\w-])', '', text)
    return text


def _explained(error: exception.ZunException, kind: Trouble, text: str,
               pull: _Pull) -> exception.ZunException:
    """The error as the user sees it: which image, and why."""
    if isinstance(error, exception.ImageNotFound):
        reason = f': {kind.value}' if kind is Trouble.REFUSED else ''
        return exception.ImageNotFound(f'Image {pull} could not be found{reason}.')
    return exception.DockerError(error_msg=f'pull of {pull}: {kind.value} ({text})')


def _listed(item: dict[str, ty.Any]) -> dict[str, ty.Any]:
    """A result of the engine's search as the API shows it."""
    return {'name': item['name'], 'description': item.get('description', ''),
            'is_automated': bool(item.get('is_automated')),
            'metadata': {'is_official': bool(item.get('is_official')),
                         'star_count': item.get('star_count', 0)}}
