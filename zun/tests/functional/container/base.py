# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Docker driver start from."""

import typing as ty

from zun import objects
from zun.common import states
from zun.container import driver
from zun.container.docker import driver as docker_driver
from zun.tests import base
from zun.tests.functional import engine


class DriverTestCase(base.TestCase):
    """A driver on the real engine, and the engine behind its back."""

    def setUp(self) -> None:
        super().setUp()
        self.config(group='docker', api_url=engine.URL)
        self.engine = self.useFixture(engine.Engine())
        self.driver = docker_driver.DockerDriver()

    def create(self, container: objects.Container | None = None, operation: str = 'req-1',
               mounts: ty.Sequence[driver.Mount] = (), image: str | None = None,
               **fields: ty.Any) -> objects.Container:
        """A container that the engine has made, in Created."""
        container = container or self.engine.container(**fields)
        self.driver.create(driver.Workload(
            container=container, image=image or self.engine.image_id, mounts=mounts, generation=3,
            operation=operation))
        container.status = states.CREATING
        container.status = self.driver.inspect(container).status
        return container

    def run_container(self, **fields: ty.Any) -> objects.Container:
        """A container that the engine has started."""
        container = self.create(**fields)
        container.status = self.driver.start(container).status
        if container.command in (engine.FOREVER, engine.STUBBORN) and not container.entrypoint:
            self.engine.wait_trap(container)
        return container
