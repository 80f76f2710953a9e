# SPDX-License-Identifier: Apache-2.0
"""Capsules as the API and the scheduler leave them on a node."""

import typing as ty

from oslo_utils import uuidutils

from zun import objects
from zun.common import exception
from zun.common import states
from zun.compute import operations
from zun.tests.functional import engine as real
from zun.tests.functional.compute import base


class CapsuleTestCase(base.NodeTestCase):
    def build(self) -> ty.Any:
        self.config(capsule_driver=self.driver)
        return super().build()

    def member(self, kind: ty.Any = objects.CapsuleContainer, policy: str = 'no',
               **columns: ty.Any) -> ty.Any:
        member = kind(self.context, **{
            'uuid': uuidutils.generate_uuid(), 'name': f'member-{uuidutils.generate_uuid()[:8]}',
            'project_id': 'project', 'user_id': 'user', 'status': states.CREATING,
            'image': real.IMAGE, 'image_pull_policy': 'ifnotpresent', 'image_driver': 'docker',
            'cpu': 0.1, 'memory': '32', 'command': real.FOREVER, 'environment': {},
            'exposed_ports': {}, 'interactive': False, 'tty': False,
            'restart_policy': {'Name': policy, 'MaximumRetryCount': '0'}, **columns})
        if self.driver == 'docker':
            self.addCleanup(self.docker.remove, f'zun-{member.uuid}')
        return member

    def init(self, *command: str, **columns: ty.Any) -> ty.Any:
        return self.member(objects.CapsuleInitContainer, command=list(command), **columns)

    def placed_capsule(self, *members: ty.Any, policy: str = 'no') -> 'objects.Capsule':
        """A capsule that waits on this host for its create, with its allocation."""
        networks = self.node.network.resolve(self.context, [])
        capsule = objects.Capsule(
            self.context, uuid=uuidutils.generate_uuid(), name='pod', project_id='project',
            user_id='user', status=states.CREATING, cpu=0.2, memory='64', host=base.HOST,
            image='kubernetes/pause', image_driver='docker', labels={},
            restart_policy={'Name': policy, 'MaximumRetryCount': '0'})
        capsule.init_containers = [m for m in members
                                   if isinstance(m, objects.CapsuleInitContainer)]
        capsule.containers = [m for m in members if isinstance(m, objects.CapsuleContainer)]
        asked = objects.ContainerRequest(
            self.context, operation='create', operation_args={}, run=False,
            operation_id=self.context.request_id, requested_networks=networks)
        capsule.create(self.context, request=asked, action='create')
        if self.driver == 'docker':
            self.addCleanup(self.docker.remove, f'zun-{capsule.uuid}')
            self.addCleanup(self._quiet)  # before its containers go
        self.allocate(capsule)
        return capsule

    def _quiet(self) -> None:
        """The agent repairs nothing any more."""
        self.node.timer.stop()
        self.node.lifecycle.shutdown(5)

    def created_capsule(self, *members: ty.Any, policy: str = 'no') -> ty.Any:
        """A capsule whose create has ended, or waits for an init container."""
        capsule = self.placed_capsule(*members, policy=policy)
        self.send(capsule, 'create', generation=0)
        return self.settled(capsule)

    def send(self, capsule: ty.Any, operation: str, **args: ty.Any) -> None:
        operations.submit(self.node, self.context, capsule.uuid, operation, **args)

    def deleted(self, capsule: ty.Any) -> None:
        """Delete it as a user does, and wait."""
        context = self.request()
        objects.ContainerRequest.record(
            context, capsule.uuid, 'delete', {'force': False, 'stop': False},
            status=states.DELETING, task_state=states.CONTAINER_DELETING, action='delete')
        operations.submit(self.node, context, capsule.uuid, 'delete', force=False, stop=False)
        self.settled(capsule)

    def row(self, container: ty.Any) -> ty.Any:
        try:
            return objects.Container.get_any_type(self.admin, container.uuid)
        except exception.ContainerNotFound:
            return None

    def statuses(self, capsule: ty.Any) -> list[str]:
        """Of init containers and containers."""
        row = self.row(capsule)
        return [member.status for member in (*row.init_containers, *row.containers)]
