# SPDX-License-Identifier: Apache-2.0

from zun.common import commands
from zun.common import exception
from zun.tests import base
from zun.tests import vectors


class TestCommand(base.TestCase):
    def test_recorded(self):
        for vector in vectors.recorded('legacy_command_split'):
            command = vector['args']['command']
            if vector.get('result'):
                self.assertEqual(vector['result'], commands.split(command))
            else:
                self.assertRaises(exception.Invalid, commands.split, command)
