# SPDX-License-Identifier: Apache-2.0
"""Whether the engine can limit the disk of a container, which only a try tells."""

import contextlib
import json
import typing as ty

from oslo_log import log as logging

import zun.conf
from zun.container.docker import errors

if ty.TYPE_CHECKING:
    from zun.container.docker import client

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

#: Storage drivers that may limit a container whatever they lie on; others need XFS.
_DRIVERS = frozenset({'btrfs', 'devicemapper', 'windowsfilter', 'zfs'})
_EMPTY_TAR = bytes(1024)


def is_possible(info: dict[str, ty.Any]) -> bool:
    """Whether it is worth a try, by the engine's ``info``.

    Snapshotters of containerd take a size and ignore it, whatever their name.
    """
    status = dict(info.get('DriverStatus') or ())
    if 'snapshotter' in status.get('driver-type', ''):
        return False
    return info.get('Driver') in _DRIVERS or status.get('Backing Filesystem') == 'xfs'


def is_accepted(engine: 'client.Client') -> bool:
    """Make a container with a limit, of an image of nothing, and remove both.

    :raises Refusal: the engine's disk is full, which says nothing
    """
    image, name = _empty_image(engine), f'zun-disk-probe-{CONF.host}'
    try:
        engine.request('POST', '/containers/create', params={'name': name}, json={
            'Image': image, 'Cmd': ['none'], 'HostConfig': {'StorageOpt': {'size': '1G'}}})
    except errors.Refusal as refusal:
        if refusal.no_space:
            raise
        if not refusal.name_in_use:  # by another try, which was accepted
            LOG.info('The engine does not limit disks: %s', refusal.message)
            return False
    finally:
        for path in (f'/containers/{name}?force=1', f'/images/{image}'):
            with contextlib.suppress(errors.Refusal):  # another try removes it
                engine.remove(path)
    return True


def _empty_image(engine: 'client.Client') -> str:
    answer = engine.request('POST', '/images/create', params={'fromSrc': '-'}, data=_EMPTY_TAR,
                            headers={'Content-Type': 'application/x-tar'})
    return json.loads(answer.text.splitlines()[-1])['status']
