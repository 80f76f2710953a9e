# SPDX-License-Identifier: Apache-2.0
"""An engine of the tests' own, which they may stop and start."""

import contextlib

from docker import errors as docker_errors

from zun.tests.functional import private_engine


class Dockerd(private_engine.PrivateEngine):
    """
    :ivar api: the SDK's low-level client
    """

    def __init__(self, live_restore: bool) -> None:
        """
        :param live_restore: its containers run on while it is away
        """
        super().__init__(*(['--live-restore'] if live_restore else []))

    def _setUp(self) -> None:  # noqa: N802
        super()._setUp()
        self.api = self.client()
        self.addCleanup(self.api.close)
        self.addCleanup(self._remove_containers)

    def _remove_containers(self) -> None:
        if self._process is None:
            self.start()
        for item in self.api.containers(all=True):
            with contextlib.suppress(docker_errors.NotFound):
                self.api.remove_container(item['Id'], force=True, v=True)
