# SPDX-License-Identifier: Apache-2.0
"""Pages of lists: which part is asked for, and where the next one is."""

import collections.abc
import dataclasses
import types
import typing as ty
from urllib import parse

from zun.api import handler
from zun.api.views import links
from zun.common import exception
import zun.conf

CONF = zun.conf.CONF

ID = 'id'
#: Query parameters that every list knows.
PARAMETERS = ('limit', 'marker', 'sort_key', 'sort_dir')
_DIRECTIONS = ('asc', 'desc')


@dataclasses.dataclass(frozen=True)
class Page:
    """Which part of a list is asked for; names as ``objects.*.list`` takes them."""

    limit: int
    marker: str | None
    sort_key: str
    sort_dir: str

    def as_dict(self) -> dict[str, ty.Any]:
        return dataclasses.asdict(self)


def parse_limit(value: ty.Any) -> int:
    """Items of a page: at most ``[api]/max_limit``, which is also the default.

    :raises InvalidValue: it is not a positive integer
    """
    if value is None:
        return CONF.api.max_limit
    try:
        limit = int(value)
    except (TypeError, ValueError):
        limit = 0
    if limit <= 0:
        raise exception.InvalidValue('Limit must be positive integer')
    return min(limit, CONF.api.max_limit)


def parse_direction(value: ty.Any) -> str:
    """asc or desc. :raises InvalidValue: it is another text"""
    if value not in _DIRECTIONS:
        raise exception.InvalidValue(
            f"Invalid sort direction: {value}. Acceptable values are 'asc' or 'desc'")
    return value


def parse_page(query: collections.abc.Mapping[str, ty.Any],
               sort_keys: collections.abc.Container[str], default_key: str = ID) -> Page:
    """The page that a query string asks for.

    :raises InvalidValue: limit, sort_dir or a repeated marker
    :raises InvalidParameterValue: a column to sort by that is not shown
    """
    sort_key = query.get('sort_key', default_key)
    if isinstance(sort_key, list) or (sort_key != default_key and sort_key not in sort_keys):
        raise exception.InvalidParameterValue(
            f'The sort_key value "{sort_key}" is an invalid field for sorting')
    marker = query.get('marker')
    if isinstance(marker, list):
        raise exception.InvalidValue('Only one marker can be given.')
    return Page(parse_limit(query.get('limit')), marker, sort_key,
                parse_direction(query.get('sort_dir', 'asc')))


def next_url(host_url: str, collection: str, page: Page,
             uuids: collections.abc.Sequence[str],
             kept: collections.abc.Mapping[str, ty.Any] = types.MappingProxyType({})) -> str | None:
    """Where the next page is; None unless this one is full.

    :param uuids: of the items of this page
    :param kept: parameters that make the next page one of the same list
    """
    if not uuids or len(uuids) != page.limit:
        return None
    query = {'sort_key': page.sort_key, 'sort_dir': page.sort_dir, 'limit': page.limit,
             'marker': uuids[-1], **kept}
    return links.url(host_url, collection, '?' + parse.urlencode(query, doseq=True))


def envelope(call: handler.Call, collection: str, page: Page,
             items: list[dict[str, ty.Any]],
             kept: collections.abc.Collection[str] = ()) -> dict[str, ty.Any]:
    """A page as it is answered.

    :param kept: names of the parameters that belong to this list, beside those of every list
    """
    parameters = {name: call.query[name] for name in kept if name in call.query}
    return {collection: items,
            'next': next_url(call.host_url, collection, page,
                             [item['uuid'] for item in items], parameters)}
