# SPDX-License-Identifier: Apache-2.0
"""Names of images, by the engine's reference grammar: ``[domain/]path[:tag][@digest]``."""

import dataclasses
import re

from zun.common import exception

DEFAULT_TAG = 'latest'
NAME_LENGTH_MAX = 255

_COMPONENT = r'[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*'
_HOST_COMPONENT = r'[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
_HOST = rf'{_HOST_COMPONENT}(?:\.{_HOST_COMPONENT})*(?::[0-9]+)?'
_REFERENCE = re.compile(
    rf'(?P<name>(?:{_HOST}/)?{_COMPONENT}(?:/{_COMPONENT})*)'
    r'(?::(?P<tag>\w[\w.-]{0,127}))?'
    r'(?:@(?P<digest>[\w+.-]+:[a-fA-F0-9]+))?', re.ASCII)
#: Hexadecimal digits of the digest algorithms that registries know.
_DIGEST_LENGTHS = {'sha256': 64, 'sha384': 96, 'sha512': 128}


@dataclasses.dataclass(frozen=True)
class Reference:
    """The parts of an image's name.

    :ivar domain: registry host, with its port; None when the name has none
    :ivar digest: ``algorithm:hex``, or None
    """

    domain: str | None
    path: str
    tag: str | None = None
    digest: str | None = None

    @property
    def name(self) -> str:
        """Domain and path."""
        return f'{self.domain}/{self.path}' if self.domain else self.path

    @property
    def version(self) -> str:
        """What selects one image of this name: the digest, else the tag, else ``latest``."""
        return self.digest or self.tag or DEFAULT_TAG


def split_domain(name: str) -> tuple[str | None, str]:
    """Registry host and path of a name without tag and digest.

    The first part is a host only if it cannot be a path: it has a dot or a colon, or is localhost.
    """
    first, slash, rest = name.partition('/')
    if slash and ('.' in first or ':' in first or first == 'localhost'):
        return first, rest
    return None, name


def is_domain(text: str) -> bool:
    """Whether it is a registry host, with or without a port, that cannot be taken for a path."""
    return (re.fullmatch(_HOST, text, re.ASCII) is not None
            and split_domain(f'{text}/')[0] is not None)


def parse(text: str) -> Reference:
    """Take the name of an image apart. One line break at its end is forgiven.

    :raises NameEmpty, NameTooLong, ReferenceInvalidFormat: all of them 400
    """
    text = text.removesuffix('\n')
    if not text:
        raise exception.NameEmpty()
    match = _REFERENCE.fullmatch(text)
    if match is None:
        raise exception.ReferenceInvalidFormat(reference=text)
    name, digest = match['name'], match['digest']
    if len(name) > NAME_LENGTH_MAX:
        raise exception.NameTooLong(length_max=NAME_LENGTH_MAX)
    if digest is not None:
        algorithm, _, digits = digest.partition(':')
        if _DIGEST_LENGTHS.get(algorithm) != len(digits):
            raise exception.ReferenceInvalidFormat(reference=text)
    domain, path = split_domain(name)
    return Reference(domain, path, match['tag'], digest)


def complete(reference: Reference, registry_domain: str | None = None,
             default_registry: str | None = None) -> Reference:
    """The same image with the domain that it is fetched from.

    :param registry_domain: of the registry that the user names; for names without a domain
    :param default_registry: for names without a domain when the user names no registry
    """
    if reference.domain:
        return reference
    return dataclasses.replace(reference, domain=registry_domain or default_registry or None)
