# SPDX-License-Identifier: Apache-2.0
"""Every command of ``openstack appcontainer`` and ``openstack capsule``."""

import importlib.metadata
import os
import pathlib
import re
import shlex
import subprocess
import sys
import threading
import typing as ty
import uuid

import fixtures

from zun.tests.functional.lab import base
from zun.tests.functional.lab import commands

#: Seconds for one command.
_TIMEOUT = 180
_CAPSULE = """
capsuleVersion: beta
kind: capsule
metadata: {{name: {name}-pod}}
spec:
  containers:
  - image: {image}
    command: [sleep]
    args: ['1000']
    resources: {{requests: {{cpu: 0.1, memory: 64}}}}
"""


class TestCommands(base.LabTestCase):
    """One after the other, each in a process of its own, as a user does it."""

    def setUp(self) -> None:
        super().setUp()
        self.files = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        services = self.admin.http('GET', '/v1/services').json()['services']
        hosts = {service['binary']: service['host'] for service in services}
        image = os.environ['E2E_IMAGE']
        self.values = {
            'name': f'client-{uuid.uuid4().hex[:8]}', 'image': image, 'files': str(self.files),
            'host': hosts['zun-compute'], 'scheduler': hosts['zun-scheduler'],
            'project': self.user.project, 'registry': image.rpartition('/')[0]}
        (self.files / 'sent').write_text('what is sent\n')
        (self.files / 'capsule.yaml').write_text(_CAPSULE.format(**self.values))

        self.operator = base.User('admin', 'demo')
        self._delete_images()
        self.addCleanup(self._delete_images)

    def _images(self) -> list[dict[str, ty.Any]]:
        return self.operator.http('GET', '/v1/images').json()['images']

    def _delete_images(self) -> None:
        for image in self._images():
            self.operator.http('DELETE', f'/v1/images/{image["uuid"]}')
        self.wait('images to be deleted', lambda: not self._images())

    def _run(self, step: commands.Step) -> str | None:
        """What is wrong with what a command does."""
        wanted = re.compile(step.says.format(**self.values), re.MULTILINE)
        owner = {'OS_USERNAME': 'admin'} if step.admin else {}
        command = subprocess.Popen(
            [sys.executable, '-W', 'ignore', '-m', 'openstackclient.shell',
             *shlex.split(step.line.format(**self.values))],
            env={**os.environ, **owner}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        with command:
            text = self._talk(command, step.sends, wanted)
        if command.returncode != step.exit or not wanted.search(text):
            return f'{step.line}: exit {command.returncode}, {text[-500:]}'
        if step.then:
            self._wait(*step.then)
        return None

    @staticmethod
    def _talk(command: 'subprocess.Popen[bytes]', sends: str, wanted: re.Pattern[str]) -> str:
        """What a command prints; a console is left when it has printed what is wanted."""
        timer = threading.Timer(_TIMEOUT, command.kill)
        timer.start()
        text = ''
        if sends:
            command.stdin.write(sends.encode())
            command.stdin.flush()
            while not wanted.search(text) and (part := command.stdout.read1()):
                text += part.decode()
        text += command.communicate()[0].decode()
        timer.cancel()
        return text

    def _wait(self, name: str, status: str | None) -> None:
        name = name.format(**self.values)
        if status and not name.endswith('-pod'):
            self.wait_done(name, status)
            return

        def reached() -> bool:
            kind = 'capsules' if name.endswith('-pod') else 'containers'
            answer = self.user.http('GET', f'/v1/{kind}/{name}')
            return answer.json().get('status') == status
        self.wait(f'{name} in {status}', reached)

    def _learn(self) -> None:
        """Ids that later commands need."""
        answer = self.user.http(
            'GET', f'/v1/containers/{self.values["name"]}/container_actions')
        if answer.status_code == 200:
            self.values['request'] = answer.json()['containerActions'][-1]['request_id']
        for image in self._images():
            self.values['pulled'] = image['uuid']

    def test_every_command(self) -> None:
        wrong = []
        for step in commands.STEPS:
            if '{request}' in step.line or '{pulled}' in step.line:
                self._learn()
            wrong.append(self._run(step))
        self.assertEqual([], list(filter(None, wrong)))
        self.assertEqual('what is sent\n', (self.files / 'received' / 'sent').read_text())

    def test_none_is_left_out(self) -> None:
        known = {entry.name.replace('_', ' ') for entry in
                 importlib.metadata.entry_points(group='openstack.container.v1')}
        tried = {name for name in known for step in commands.STEPS
                 if f' {name} ' in f' {step.line} '}
        self.assertEqual(set(), known - tried)
