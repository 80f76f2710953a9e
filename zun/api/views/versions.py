# SPDX-License-Identifier: Apache-2.0
"""The documents by which clients find out what the API can do."""

import typing as ty

from zun.api import microversions
from zun.api.views import links

_COLLECTIONS = ('services', 'containers', 'images', 'networks', 'hosts', 'capsules',
                'availability_zones', 'quotas', 'quota_classes', 'registries')
_MEDIA_TYPES = [{'base': 'application/json',
                 'type': 'application/vnd.openstack.zun.v1+json'}]
_DOCUMENTATION = 'https://docs.openstack.org/developer/zun/dev/api-spec-v1.html'

Json = dict[str, ty.Any]


def _self(host_url: str) -> Json:
    return {'href': links.url(host_url, links.VERSION, '', bookmark=True), 'rel': 'self'}


def root(host_url: str) -> Json:
    """The versions that there are."""
    version = {
        'id': links.VERSION, 'links': [_self(host_url)], 'status': 'CURRENT',
        'min_version': str(microversions.MIN), 'max_version': str(microversions.MAX),
    }
    return {
        'name': 'OpenStack Zun API',
        'description': 'Zun is an OpenStack project which aims to provide containers service.',
        'versions': [version], 'default_version': version,
    }


def v1(host_url: str) -> Json:
    """The collections of the first version."""
    described = {'href': _DOCUMENTATION, 'rel': 'describedby', 'type': 'text/html'}
    return {
        'id': links.VERSION, 'media_types': _MEDIA_TYPES,
        'links': [_self(host_url), described],
        **{name: links.of(host_url, name, '') for name in _COLLECTIONS},
    }
