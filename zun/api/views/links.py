# SPDX-License-Identifier: Apache-2.0
"""URLs in answers: scheme and host of the request, and no prefix under which the API is mounted."""

VERSION = 'v1'


def url(host_url: str, resource: str, rest: str, bookmark: bool = False) -> str:
    """
    :param rest: an ident, or a query string with its question mark
    :param bookmark: without the version
    """
    base = f'{host_url}/' if bookmark else f'{host_url}/{VERSION}/'
    return f'{base}{resource}{"" if rest.startswith("?") else "/"}{rest}'


def of(host_url: str, resource: str, rest: str) -> list[dict[str, str]]:
    """The two links of an object or a collection."""
    return [{'rel': 'self', 'href': url(host_url, resource, rest)},
            {'rel': 'bookmark', 'href': url(host_url, resource, rest, bookmark=True)}]
