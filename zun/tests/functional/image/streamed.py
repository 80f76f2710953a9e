# SPDX-License-Identifier: Apache-2.0
"""Takes images from Glance into the engine, and out of it into other records of Glance.

    python -m zun.tests.functional.image.streamed GLANCE SMALL SMALL-TARGET LARGE LARGE-TARGET

It prints by how many KiB the large one has made the memory of the process grow at most.
"""

import resource
import sys
import tempfile

from zun.common import config
from zun.common import context as zun_context
from zun.common import transfers
import zun.conf
from zun.container.docker import driver as docker_driver
from zun.image import driver
from zun.image import glance
from zun.image import glance_store
from zun.tests.functional import engine

CONF = zun.conf.CONF


def _through(ident: str, target: str) -> None:
    behind = docker_driver.DockerDriver()
    found = glance.GlanceImageDriver().plan(
        zun_context.get_admin_context(), behind, driver.Wanted(ident))
    if isinstance(found, str):
        raise AssertionError('It is there already.')
    image = found.work(transfers.Transfer())
    with behind.save_image(image) as chunks:
        glance_store.Store().upload(target, chunks)


def main() -> None:
    endpoint, small, small_target, large, large_target = sys.argv[1:]
    config.parse_args([], program='streamed', default_config_files=[])
    CONF.set_override('api_url', engine.URL, 'docker')
    CONF.set_override('endpoint_override', endpoint, 'glance_client')
    CONF.set_override('auth_type', 'none', 'keystone_auth')
    with tempfile.TemporaryDirectory() as directory:
        CONF.set_override('images_directory', directory, 'glance')
        _through(small, small_target)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        _through(large, large_target)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    sys.stdout.write(f'{grown}\n')


if __name__ == '__main__':
    main()
