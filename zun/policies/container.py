# SPDX-License-Identifier: Apache-2.0
"""Rules of containers, their actions and their networks."""

from oslo_policy import policy

from zun.policies import base

_ALL = '/v1/containers'
_ONE = '/v1/containers/{container_ident}'
_ACTIONS = f'{_ONE}/container_actions/'
_ACTION = f'{_ONE}/container_actions/{{request_id}}'
_VIEWS = (('GET', _ONE), ('GET', _ALL), ('POST', _ALL), ('PATCH', _ONE))

#: action -> (method, what it does); all need the same rights on the container
_VERBS = {
    'start': ('POST', 'Start a container.'),
    'stop': ('POST', 'Stop a container.'),
    'reboot': ('POST', 'Restart a container.'),
    'rebuild': ('POST', 'Make a container anew, from the same or another image.'),
    'pause': ('POST', 'Pause a container.'),
    'unpause': ('POST', 'Let a paused container go on.'),
    'kill': ('POST', 'Send a signal to a container.'),
    'execute': ('POST', 'Run a command in a container.'),
    'execute_resize': ('POST', 'Resize the terminal of a command.'),
    'rename': ('POST', 'Give a container another name.'),
    'attach': ('GET', 'Get the console of a container.'),
    'resize': ('POST', 'Resize the terminal of a container.'),
    'resize_container': ('POST', 'Change the cpu and memory of a container.'),
    'get_archive': ('GET', 'Copy files out of a container.'),
    'put_archive': ('POST', 'Copy files into a container.'),
    'commit': ('POST', 'Make an image of a container.'),
    'add_security_group': ('POST', 'Add a security group to the ports of a container.'),
    'remove_security_group': ('POST', 'Remove a security group from the ports of a container.'),
    'network_attach': ('POST', 'Attach a container to a network.'),
    'network_detach': ('POST', 'Detach a container from a network.'),
}

_LOOKS = {
    'logs': 'Read what a container printed.',
    'top': 'List the processes of a container.',
    'stats': 'Show what a container uses.',
    'network_list': 'List the networks of a container.',
}

_FIELDS = ('host', 'image_pull_policy', 'privileged', 'runtime')


def _life() -> list[policy.RuleDefault]:
    create = ('POST', _ALL)
    delete = ('DELETE', _ONE)
    return [
        base.rule('container:create', base.MEMBER, 'Create a container.', create),
        base.rule('container:create:runtime', base.ADMIN,
                  'Choose the runtime of a container.', create),
        base.rule('container:create:privileged', base.NOBODY,
                  'Create a privileged container.', create),
        base.rule('container:create:requested_destination', base.ADMIN,
                  'Choose the host of a container.', create),
        base.rule('container:create:image_pull_policy', base.ADMIN,
                  'Choose when the image of a container is pulled.', create),
        base.rule('container:delete', base.MEMBER, 'Delete a container.', delete),
        base.rule('container:delete_all_projects', base.ADMIN,
                  'Delete a container of any project.', delete),
        base.rule('container:delete_force', base.ADMIN,
                  'Delete a container in nearly any state.', delete),
        base.rule('container:update', base.MEMBER, 'Change a container.', ('PATCH', _ONE)),
    ]


def _views() -> list[policy.RuleDefault]:
    return [
        base.rule('container:get_one', base.READER, 'Show a container.', ('GET', _ONE)),
        *(base.rule(f'container:get_one:{field}', base.ADMIN,
                    f'See the {field} of containers.', *_VIEWS) for field in _FIELDS),
        base.rule('container:get_one_all_projects', base.ADMIN,
                  'Show a container of any project.', ('GET', _ONE)),
        base.rule('container:get_all', base.READER, 'List containers.', ('GET', _ALL)),
        base.rule('container:get_all_all_projects', base.ADMIN,
                  'List the containers of all projects.', ('GET', _ALL)),
        base.rule('container:actions', base.READER, 'See what was done to a container.',
                  ('GET', _ACTIONS), ('GET', _ACTION)),
        base.rule('container:action:events', base.ADMIN,
                  'See the traceback of a failed action.', ('GET', _ACTION)),
    ]


def list_rules() -> list[policy.RuleDefault]:
    return [
        *_life(),
        *_views(),
        *(base.rule(f'container:{verb}', base.MEMBER, text, (method, f'{_ONE}/{verb}'))
          for verb, (method, text) in _VERBS.items()),
        *(base.rule(f'container:{look}', base.READER, text, ('GET', f'{_ONE}/{look}'))
          for look, text in _LOOKS.items()),
    ]
