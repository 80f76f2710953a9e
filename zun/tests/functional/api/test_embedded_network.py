# SPDX-License-Identifier: Apache-2.0
"""What the API says of a cloud without Neutron."""

from zun.api import handler
from zun.control import clients
from zun.network import embedded
from zun.tests.functional.api import cloud


class SecurityGroupTest(cloud.CloudTest):
    def test_there_are_none(self):
        clients.get().network = embedded.EmbeddedDriver()
        operations = {found.id: found for found in handler.all_operations()}
        for verb in ('add', 'remove'):
            before = self.effects()
            answer = self.call(operations[f'containers.{verb}_security_group'], cloud.MEMBER,
                               {'name': 'default'})
            self.assertEqual(400, answer.status_int, answer.body)
            self.assertIn('no security groups', answer.json['errors'][0]['detail'])
            self.assertEqual(before, self.effects())
