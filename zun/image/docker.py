# SPDX-License-Identifier: Apache-2.0
"""Images that the engine fetches from a registry."""

import dataclasses
import enum
import functools
import itertools
import re
import time
import typing as ty

from oslo_log import log as logging

from zun.common import context as zun_context
from zun.common import exception
from zun.common import image_name
from zun.common import pools
from zun.common import transfers
import zun.conf
from zun.container import driver as container_driver
from zun.image import driver

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: Registries that the engine's search covers.
_HUB = ('docker.io', 'index.docker.io')
#: The search knows official images without it.
_OFFICIAL = 'library/'
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
#: A duration as Go writes it, as 1m30s; a number alone is of seconds.
_RETRY_AFTER = re.compile(r'retry[- ]after:?\s*((?:\d+(?:\.\d+)?[a-zµ]*)+)')
_UNITS = {'': 1.0, 's': 1.0, 'm': 60.0, 'h': 3600.0}


def trouble(text: str) -> Trouble:
    """Why a pull failed, from what engine and registry say."""
    lowered = text.lower()
    return next((kind for kind, signs in _SIGNS if re.search(signs, lowered)), Trouble.OTHER)


def asked_pause(text: str) -> float:
    """Seconds that a registry asks to wait for; 0 when it does not, or for less than a second.

    >>> asked_pause('toomanyrequests: retry-after: 1m30s, allowed: 44000/minute')
    90.0
    """
    found = _RETRY_AFTER.search(text.lower())
    parts = re.findall(r'([\d.]+)([a-zµ]*)', found[1]) if found else []
    return sum(float(amount) * _UNITS.get(unit, 0.0) for amount, unit in parts)


@dataclasses.dataclass(frozen=True)
class _Pull:
    """One pull; equal ones are made once.

    :ivar reference: without tag and digest
    :ivar version: digest or tag
    """

    reference: image_name.Reference
    version: str
    username: str | None = None
    password: str | None = dataclasses.field(default=None, repr=False)

    def __str__(self) -> str:
        separator = '@' if ':' in self.version else ':'
        return f'{self.reference.name}{separator}{self.version}'


def _named(text: str, registry: ty.Any) -> _Pull:
    """
    :raises NameEmpty, NameTooLong, ReferenceInvalidFormat: the text is no name
    """
    reference = image_name.complete(
        image_name.parse(text), registry.domain if registry else None,
        CONF.docker.default_registry)
    return _Pull(dataclasses.replace(reference, tag=None, digest=None), reference.version)


def credentials(domain: str | None, registry: ty.Any) -> tuple[str | None, str | None]:
    """User and password for the registry of an image.

    They are sent only to the registry they belong to, whatever domain the image names; and to none
    whose domain an engine takes for the beginning of a path, on the registry that is its default.

    :param registry: a Registry or None
    """
    if domain is None or image_name.split_domain(f'{domain}/')[0] is None:
        return None, None
    if registry is not None and registry.username and domain == registry.domain:
        return registry.username, registry.plain_password() or ''
    options = CONF.docker
    if domain == options.default_registry and options.default_registry_username:
        return options.default_registry_username, options.default_registry_password or ''
    return None, None


class DockerImageDriver(driver.ImageDriver):
    def plan(self, context: zun_context.RequestContext,
             engine: container_driver.ContainerDriver,
             wanted: driver.Wanted) -> str | driver.Fetch:
        """
        :raises NameEmpty, NameTooLong, ReferenceInvalidFormat: the name is none
        :raises InvalidEncryptionKey: the password of the registry cannot be read
        """
        pull = _named(wanted.reference, wanted.registry)
        policy = driver.policy_of(wanted)
        found = None if policy == driver.ALWAYS else engine.find_image(str(pull))
        if driver.should_pull(policy, found is not None):
            username, password = credentials(pull.reference.domain, wanted.registry)
            pull = dataclasses.replace(pull, username=username, password=password)
            return driver.Fetch(pull, functools.partial(_pull, engine, pull))
        if found is None:
            raise driver.absent(pull, policy)
        return found

    def local_names(self, engine: container_driver.ContainerDriver,
                    reference: str) -> list[str]:
        return [str(_named(reference, None))]

    def search(self, context: zun_context.RequestContext,
               engine: container_driver.ContainerDriver, name: str,
               exact_match: bool) -> list[dict[str, ty.Any]]:
        reference = image_name.parse(name)
        if reference.domain and reference.domain not in _HUB:
            raise exception.OperationNotSupported(
                driver=f'Registry {reference.domain}', method='search')
        name = reference.path.removeprefix(_OFFICIAL)
        return [_listed(item) for item in engine.search_images(name)
                if not exact_match or item['name'] == name]


def _pull(engine: container_driver.ContainerDriver, pull: _Pull,
          transfer: transfers.Transfer) -> str:
    """Pull, and try again while the registry is too busy.

    :raises Conflict: nobody waits for it any more
    :raises ImageNotFound, DiskFull, DockerError: with the image's name
    :raises EngineUnavailable: it is the engine that does not answer
    """
    deadline = time.monotonic() + CONF.docker.pull_timeout
    for attempt in itertools.count():
        try:
            return engine.pull_image(pull.reference.name, pull.version, pull.username,
                                     pull.password, transfer)
        except exception.EngineUnavailable:
            raise
        except (exception.ImageNotFound, exception.DockerError) as error:
            text = _detail(error, pull)
            kind = trouble(text)
            pause = max(pools.backoff(attempt, _FIRST_PAUSE, _LONGEST_PAUSE), asked_pause(text))
            if (kind not in _RETRIED or attempt + 1 >= _TRIES
                    or time.monotonic() + pause >= deadline):
                raise _explained(error, kind, text, pull) from error
            LOG.warning('Pull of %s: %s; trying again in %.1f s', pull, kind.value, pause)
        transfer.pause(pause)
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
    if kind is Trouble.FULL:
        return exception.DiskFull(error_msg=f'pull of {pull}: {text}')
    return exception.DockerError(error_msg=f'pull of {pull}: {kind.value} ({text})')


def _listed(item: dict[str, ty.Any]) -> dict[str, ty.Any]:
    """A result of the engine's search as the API shows it."""
    return {'name': item['name'], 'description': item.get('description', ''),
            'is_automated': bool(item.get('is_automated')),
            'metadata': {'is_official': bool(item.get('is_official')),
                         'star_count': item.get('star_count', 0)}}
