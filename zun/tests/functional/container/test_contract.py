# SPDX-License-Identifier: Apache-2.0
from zun.container import driver
from zun.tests.functional.container import base
from zun.tests.unit.container import contract


class TestContract(contract.DriverContract, base.DriverTestCase):
    """A real engine, and the one in memory that stands in for it, do the same."""

    def workload(self, operation, **fields):
        return driver.Workload(self.engine.container(**fields), self.engine.image_id,
                               operation=operation)
