# SPDX-License-Identifier: Apache-2.0
"""Which version of the API a request asks for: header ``OpenStack-API-Version``."""

import re
import typing as ty

from webob import exc

from zun.common import exception

SERVICE_TYPE = 'container'
HEADER = 'OpenStack-API-Version'
_MINIMUM_HEADER = 'OpenStack-API-Minimum-Version'
_MAXIMUM_HEADER = 'OpenStack-API-Maximum-Version'
_LATEST = 'latest'
_NUMBER = re.compile(r'([+-]?[0-9]+)\.([+-]?[0-9]+)')


class Version(ty.NamedTuple):
    """A microversion; compares as a pair of numbers."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f'{self.major}.{self.minor}'


def parse(text: str) -> Version:
    """A version from its text, leading zeros and signs allowed.

    :raises ValueError: it is not two integers with a dot between
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return Version(int(match[1]), int(match[2]))


MIN = Version(1, 1)
MAX = Version(1, 43)


def negotiate(header: str | None) -> Version:
    """The version that a header asks for; 1.1 without a header.

    :raises webob.exc.HTTPNotAcceptable: the header is not `container <version>`
    :raises MicroversionUnsupported: the version is outside the range
    """
    if header is None:
        return MIN
    words = header.split()
    if len(words) != 2 or words[0] != SERVICE_TYPE:
        raise exc.HTTPNotAcceptable(f'Header {HEADER} must be "{SERVICE_TYPE} <version>".')
    if words[1].lower() == _LATEST:
        return MAX
    try:
        version = parse(words[1])
    except ValueError:
        raise exc.HTTPNotAcceptable(
            f'Header {HEADER}: a version is two integers with a dot between.') from None
    if not MIN <= version <= MAX:
        raise exception.MicroversionUnsupported(version=version, min_version=MIN, max_version=MAX)
    return version


def headers(version: Version) -> dict[str, str]:
    """What an answer says about its version."""
    return {
        HEADER: f'{SERVICE_TYPE} {version}',
        _MINIMUM_HEADER: f'{SERVICE_TYPE} {MIN}',
        _MAXIMUM_HEADER: f'{SERVICE_TYPE} {MAX}',
        'Vary': HEADER,
    }
