# SPDX-License-Identifier: Apache-2.0
"""Removal of images that Zun fetched and nobody uses, by age and by need of room."""

import collections.abc
import dataclasses
import time

from oslo_log import log as logging

from zun import objects
from zun.common import context as zun_context
from zun.common import exception
from zun.compute import node as compute_node
import zun.conf
from zun.container import driver as container_driver

CONF = zun.conf.CONF
LOG = logging.getLogger(__name__)

INTERVAL = 300.0


@dataclasses.dataclass(frozen=True)
class Rules:
    """
    :ivar max_age: seconds after its last use at which an image goes; 0: never
    :ivar high: percentage of use of the disk from which room is made
    :ivar low: percentage down to which it is made
    """

    max_age: float
    high: float
    low: float


def candidates(images: collections.abc.Iterable[container_driver.LocalImage],
               fetched: collections.abc.Mapping[str, float],
               kept: collections.abc.Container[str]) -> list[container_driver.LocalImage]:
    """What may be removed, the longest unused first.

    :param fetched: images of Zun -> time of their last use
    :param kept: names and ids that stay whoever uses them
    """
    found = [image for image in images
             if image.image_id in fetched and not image.used and image.image_id not in kept
             and not any(name in kept for name in image.names)]
    return sorted(found, key=lambda image: fetched[image.image_id])


class Collector:
    """
    :param node: the host
    """

    def __init__(self, node: compute_node.Node) -> None:
        self._node = node

    def run(self) -> None:
        """One round; nothing when ``[compute]/image_gc`` is off."""
        if not CONF.compute.image_gc:
            return
        options = CONF.compute
        try:
            self._collect(Rules(options.image_gc_max_age, options.image_gc_high,
                                options.image_gc_low))
        except exception.ZunException as error:
            LOG.warning('Unused images are not removed: %s', error.message)

    def _collect(self, rules: Rules) -> None:
        node = self._node
        images = list(node.engine.list_images())
        for image in images:
            if image.used:
                node.usage.touch(image.image_id)
        fetched, now = node.usage.fetched(), time.time()
        for gone in fetched.keys() - {image.image_id for image in images}:
            node.usage.spare(gone, removed=True)
        need = self._above(rules.high)
        for image in candidates(images, fetched, self._kept()):
            old = rules.max_age and now - fetched[image.image_id] >= rules.max_age
            need = need and self._above(rules.low)
            if old or need:
                self._remove(image)

    def _above(self, limit: float) -> bool:
        percent = self._node.engine.disk_use()
        return percent is not None and percent > limit

    def _kept(self) -> set[str]:
        rows = objects.Image.list(zun_context.get_admin_context(),
                                  filters={'host': self._node.host})
        sandbox = self._node.engine.find_image(CONF.sandbox_image)
        return {row.image_id for row in rows if row.image_id} | ({sandbox} if sandbox else set())

    def _remove(self, image: container_driver.LocalImage) -> None:
        """All its names, unless somebody wants it now or a container has begun to use it."""
        node = self._node
        if not node.usage.doom(image.image_id):
            return
        removed = False
        try:
            if any(found.used for found in node.engine.list_images()
                   if found.image_id == image.image_id):
                return
            for name in image.names or (image.image_id,):
                node.engine.remove_image(name)
            removed = True
            LOG.info('Image %s (%s) was unused: removed', image.image_id, ', '.join(image.names))
        except exception.ZunException as error:
            LOG.info('Image %s stays: %s', image.image_id, error.message)
        finally:
            node.usage.spare(image.image_id, removed)
