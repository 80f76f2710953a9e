# SPDX-License-Identifier: Apache-2.0
"""What answers look like, as JSON Schema; for the documentation, and for tests of the views.

Names are those of ``Operation.answer``.
"""

import typing as ty

Schema = dict[str, ty.Any]

TEXT: Schema = {'type': 'string'}
NUMBER: Schema = {'type': 'number'}
INTEGER: Schema = {'type': 'integer'}
FLAG: Schema = {'type': 'boolean'}
ANYTHING: Schema = {}
NULL: Schema = {'type': 'null'}
UUID: Schema = {'type': 'string', 'format': 'uuid'}
URL: Schema = {'type': 'string', 'format': 'uri'}
TIME: Schema = {'type': 'string', 'pattern': r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?$'}
TIME_T: Schema = {'type': 'string', 'pattern': r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$'}
TEXTS: Schema = {'type': 'object', 'additionalProperties': TEXT}
OBJECT: Schema = {'type': 'object'}

#: What members mean, by name.
MEANINGS: dict[str, str] = {
    'BLOCK I/O(B)': 'Bytes read from and written to disks, as text.',
    'CONTAINER': 'Name of the container.',
    'CPU %': 'Share of one cpu, in percent.',
    'MEM %': 'Share of the limit of memory, in percent.',
    'MEM LIMIT(MiB)': 'Limit of memory, in MiB.',
    'MEM USAGE(MiB)': 'Memory in use, in MiB.',
    'NET I/O(B)': 'Bytes received and sent over networks, as text.',
    'Processes': 'For each process its values, in the order of the titles.',
    'Titles': 'Titles of the columns.',
    'action': 'What was done.',
    'addr': 'IP address.',
    'addresses': 'Addresses by id of the network.',
    'annotations': 'Annotations of the template.',
    'architecture': 'Architecture of the host.',
    'auto_heal': 'Whether it is created anew when its host has lost it.',
    'auto_remove': 'Whether it is deleted when it stops.',
    'availability_zone': 'Availability zone.',
    'availability_zones': 'Availability zones of the services that are up.',
    'binary': 'Name of the program.',
    'capsule_version': 'Version of the template.',
    'capsules': 'Capsules of the page.',
    'code': 'Name of what went wrong, for programs.',
    'command': 'Words of the command.',
    'containerActions': 'What was done, the newest first.',
    'container_uuid': 'Uuid of the container.',
    'containers': 'Containers.',
    'containers_uuids': 'Uuids of the containers.',
    'cpu': 'Number of vCPUs.',
    'cpu_policy': 'Whether vCPUs are pinned: dedicated or shared.',
    'cpu_used': 'Number of vCPUs in use.',
    'cpus': 'Number of cpus of the host.',
    'created_at': 'Time of its creation, in UTC.',
    'data': 'Tar archive, in base64.',
    'default_version': 'Version for requests that name none.',
    'description': 'Description of the API.',
    'detail': 'What went wrong, for people.',
    'disabled': 'Whether it gets no new containers.',
    'disabled_reason': 'Why it is disabled.',
    'disk': 'GiB of disk.',
    'disk_quota_supported': 'Whether disks of containers can be limited.',
    'disk_total': 'GiB of disk of the host.',
    'disk_used': 'GiB of disk in use.',
    'domain': 'Domain of the registry.',
    'enable_cpu_pinning': 'Whether containers can have cpus of their own.',
    'entrypoint': 'Words of the entry point.',
    'environment': 'Environment variables.',
    'errors': 'What went wrong; one item.',
    'event': 'Name of the event.',
    'events': 'Events of the action, the newest first.',
    'exec_id': 'Id of the command in the engine, when it is interactive.',
    'exit_code': 'Exit code, when it has ended.',
    'finish_time': 'Time of its end, in UTC.',
    'fixed_ips': 'Addresses of the port.',
    'forced_down': 'Whether an administrator said that it is down.',
    'healthcheck': 'How its health is checked.',
    'host': 'Name of the host.',
    'hostname': 'Host name.',
    'hosts': 'Hosts of the page.',
    'href': 'URL.',
    'id': 'Id.',
    'image': 'Reference of the image.',
    'image_driver': 'Where the image comes from: docker or glance.',
    'image_id': 'Id of the image in the engine.',
    'image_pull_policy': 'When the image is pulled; for administrators.',
    'images': 'Images of the page.',
    'in_use': 'How much is in use.',
    'init_containers': 'Containers that ran before.',
    'init_containers_uuids': 'Uuids of the containers that ran before.',
    'interactive': 'Whether standard input is kept open.',
    'ip_address': 'IP address.',
    'kernel_version': 'Version of the kernel.',
    'labels': 'Labels.',
    'last_seen_up': 'Time of its last report, in UTC.',
    'limit': 'Limit; -1 when there is none.',
    'links': 'Links to it.',
    'max_version': 'Newest microversion.',
    'mem_total': 'MiB of memory of the host.',
    'mem_used': 'MiB of memory in use.',
    'memory': 'Memory in MiB, as text with the unit `M`; in quotas a number.',
    'message': 'Why it failed; null when it did not.',
    'meta_labels': 'Labels.',
    'meta_name': 'Name.',
    'min_version': 'Oldest microversion.',
    'name': 'Name.',
    'net_id': 'Id of the network in Neutron.',
    'network_id': 'Id of the network in the engine.',
    'networks': 'Networks, in the order of the interfaces.',
    'neutron_net_id': 'Id of the network in Neutron.',
    'next': 'URL of the next page; null on the last one.',
    'os': 'Operating system.',
    'os_type': 'Kind of the operating system.',
    'output': 'What it wrote to standard output and standard error, as many bytes as the operator '
              'allows (1 MiB at first); a last line tells when there were more. Bytes that are not '
              'UTF-8 show as U+FFFD.',
    'password': 'Password; masked.',
    'port': 'Id of the port in Neutron.',
    'port_id': 'Id of the port in Neutron.',
    'ports': 'Numbers of the exposed ports.',
    'preserve_on_delete': 'Whether the port outlives the container.',
    'privileged': 'Whether it has all rights on its host; for administrators.',
    'project_id': 'Id of the project.',
    'proxy_url': 'URL of its terminal, when it is interactive.',
    'registries': 'Registries of the page.',
    'registry': 'The registry.',
    'registry_id': 'Uuid of the registry.',
    'rel': 'What it links to.',
    'repo': 'Repository and name of the image.',
    'report_count': 'Number of its reports.',
    'request_id': 'Id of the request.',
    'restart_policy': 'When it is started again.',
    'result': 'How it ended: Success or Error.',
    'runtime': 'Runtime of the engine; for administrators.',
    'runtimes': 'Runtimes of the engine.',
    'security_groups': 'Ids of the security groups.',
    'service': 'The service.',
    'services': 'Services.',
    'size': 'Size of the image.',
    'start_time': 'Time of its start, in UTC.',
    'stat': 'Name, size, mode and time of the file or directory.',
    'state': 'Whether its reports are recent.',
    'status': 'Status.',
    'status_detail': 'Status in the words of the engine.',
    'status_reason': 'Why it has this status.',
    'subnet_id': 'Id of the subnet in Neutron.',
    'tag': 'Tag of the image.',
    'task_state': 'What is being done to it; null when nothing is.',
    'title': 'Title of the status.',
    'total_containers': 'Number of containers on the host.',
    'traceback': 'Where it failed.',
    'tty': 'Whether it has a terminal.',
    'type': 'Media type.',
    'updated_at': 'Time of its last change, in UTC.',
    'user_id': 'Id of the user.',
    'username': 'User name at the registry.',
    'uuid': 'Uuid.',
    'version': 'Version of IP: 4 or 6.',
    'versions': 'Versions of the API.',
    'volumes_info': 'Uuids of volumes and the uuids of containers that mount them.',
    'workdir': 'Directory in which the command runs.',
}


def or_null(schema: Schema) -> Schema:
    """The same, or null."""
    return {**schema, 'type': [schema['type'], 'null']}


def listed(items: Schema) -> Schema:
    return {'type': 'array', 'items': items}


def ref(name: str) -> Schema:
    """Another answer."""
    return {'$ref': f'#/components/schemas/{name}'}


def members(properties: Schema, optional: ty.Collection[str] = ()) -> Schema:
    """An object with these members and no others.

    :param optional: members that are not always there
    """
    return {'type': 'object', 'additionalProperties': False,
            'properties': {name: {'description': MEANINGS[name], **schema}
                           for name, schema in properties.items()},
            'required': [name for name in properties if name not in optional]}


def page(collection: str, item: str) -> Schema:
    """A page of a list."""
    return members({collection: listed(ref(item)), 'next': or_null(URL)})


_LINKS = listed(members({'rel': TEXT, 'href': URL, 'type': TEXT}, optional=['type']))
_ADDRESSES = {'type': 'object', 'additionalProperties': listed(members({
    'addr': TEXT, 'version': INTEGER, 'port': TEXT, 'subnet_id': or_null(TEXT),
    'preserve_on_delete': FLAG}, optional=['preserve_on_delete', 'subnet_id']))}
#: Fields that rules keep from most callers.
_ADMIN_FIELDS = ('host', 'image_pull_policy', 'privileged', 'runtime')

_CONTAINER: Schema = {
    'uuid': UUID, 'name': or_null(TEXT), 'project_id': or_null(TEXT), 'user_id': or_null(TEXT),
    'image': TEXT, 'cpu': or_null(NUMBER), 'cpu_policy': or_null(TEXT),
    'memory': or_null(TEXT), 'disk': INTEGER, 'command': listed(TEXT),
    'entrypoint': listed(TEXT), 'status': TEXT, 'status_reason': or_null(TEXT),
    'status_detail': or_null(TEXT), 'task_state': or_null(TEXT), 'environment': TEXTS,
    'labels': TEXTS, 'workdir': or_null(TEXT), 'ports': listed(INTEGER),
    'hostname': or_null(TEXT), 'addresses': _ADDRESSES, 'restart_policy': TEXTS,
    'interactive': FLAG, 'tty': FLAG, 'auto_remove': FLAG, 'auto_heal': FLAG,
    'image_driver': or_null(TEXT), 'security_groups': listed(TEXT), 'healthcheck': OBJECT,
    'registry_id': or_null(UUID), 'created_at': or_null(TIME), 'updated_at': or_null(TIME),
    'host': or_null(TEXT), 'image_pull_policy': or_null(TEXT), 'privileged': FLAG,
    'runtime': or_null(TEXT),
}
_CAPSULE_COMMON: Schema = {
    'uuid': UUID, 'links': _LINKS, 'project_id': or_null(TEXT), 'user_id': or_null(TEXT),
    'created_at': or_null(TIME), 'updated_at': or_null(TIME), 'addresses': _ADDRESSES,
    'status': TEXT, 'status_reason': or_null(TEXT), 'annotations': or_null(OBJECT),
    'memory': or_null(TEXT), 'cpu': or_null(NUMBER), 'host': or_null(TEXT),
    'containers': listed(ref('listed_container')),
    'init_containers': listed(ref('listed_container')),
}
_CAPSULE = members({**_CAPSULE_COMMON, 'name': or_null(TEXT), 'labels': TEXTS,
                    'restart_policy': TEXTS}, optional=['host', 'addresses'])
_OLD_CAPSULE = members({
    **_CAPSULE_COMMON, 'meta_name': or_null(TEXT), 'meta_labels': TEXTS,
    'restart_policy': or_null(TEXT), 'capsule_version': TEXT, 'containers_uuids': listed(UUID),
    'init_containers_uuids': listed(UUID), 'volumes_info': OBJECT},
    optional=['host', 'addresses'])
_REGISTRY: Schema = {
    'uuid': UUID, 'name': or_null(TEXT), 'domain': TEXT, 'username': or_null(TEXT),
    'password': TEXT, 'project_id': or_null(TEXT), 'user_id': or_null(TEXT)}
_ACTION: Schema = {
    'action': TEXT, 'container_uuid': UUID, 'request_id': or_null(TEXT),
    'user_id': or_null(TEXT), 'project_id': or_null(TEXT), 'start_time': or_null(TIME_T),
    'finish_time': or_null(TIME_T), 'message': or_null(TEXT)}
_EVENT: Schema = {
    'event': TEXT, 'start_time': or_null(TIME_T), 'finish_time': or_null(TIME_T),
    'result': or_null(TEXT), 'traceback': or_null(TEXT)}
_FIXED_IP: Schema = {'subnet_id': or_null(TEXT), 'version': INTEGER, 'ip_address': TEXT}
_VERSION = members({'id': TEXT, 'links': _LINKS, 'status': TEXT, 'min_version': TEXT,
                    'max_version': TEXT})
_RESOURCES = ('containers', 'memory', 'disk', 'cpu')

SCHEMAS: dict[str, Schema] = {
    'root': members({'name': TEXT, 'description': TEXT, 'versions': listed(_VERSION),
                     'default_version': _VERSION}),
    'v1': {'type': 'object', 'required': ['id', 'media_types', 'links']},
    'container': members({**_CONTAINER, 'links': _LINKS}, optional=_ADMIN_FIELDS),
    'listed_container': members(_CONTAINER, optional=_ADMIN_FIELDS),
    'containers': page('containers', 'listed_container'),
    'execution': members({'output': or_null(TEXT), 'exit_code': or_null(INTEGER),
                          'exec_id': or_null(TEXT), 'proxy_url': or_null(URL)}),
    'processes': members({'Titles': listed(TEXT), 'Processes': listed(listed(TEXT))}),
    'archive': members({'data': TEXT, 'stat': OBJECT}),
    'statistics': members({
        'CONTAINER': or_null(TEXT), 'CPU %': NUMBER, 'MEM USAGE(MiB)': NUMBER,
        'MEM LIMIT(MiB)': NUMBER, 'MEM %': NUMBER, 'BLOCK I/O(B)': TEXT, 'NET I/O(B)': TEXT}),
    'reference': members({'uuid': TEXT}),
    'networks': members({'networks': listed(members({
        'net_id': TEXT, 'port_id': or_null(TEXT), 'fixed_ips': listed(members(_FIXED_IP)),
        **_FIXED_IP}, optional=['fixed_ips', *_FIXED_IP]))}),
    'container_actions': members({'containerActions': listed(members(_ACTION))}),
    'container_action': members({**_ACTION, 'events': listed(members(_EVENT))}),
    'capsule': {'anyOf': [_CAPSULE, _OLD_CAPSULE]},
    'capsules': page('capsules', 'capsule'),
    'image': members({
        'uuid': UUID, 'links': _LINKS, 'image_id': or_null(TEXT), 'repo': TEXT,
        'tag': or_null(TEXT), 'size': or_null(TEXT), 'project_id': or_null(TEXT),
        'host': or_null(TEXT),
        'status': {**or_null(TEXT), 'description': 'Pulling, Available or Error. Since 1.42.'},
        'status_reason': {**or_null(TEXT), 'description': 'Why the last pull failed. Since 1.42.'},
        }, optional=['status', 'status_reason']),
    'images': page('images', 'image'),
    'search_results': listed(OBJECT),
    'host': members({
        'uuid': UUID, 'links': _LINKS, 'hostname': TEXT, 'mem_total': INTEGER,
        'mem_used': INTEGER, 'total_containers': INTEGER, 'cpus': INTEGER, 'cpu_used': NUMBER,
        'architecture': or_null(TEXT), 'os_type': or_null(TEXT), 'os': or_null(TEXT),
        'kernel_version': or_null(TEXT), 'disk_total': INTEGER, 'disk_used': INTEGER,
        'disk_quota_supported': FLAG, 'enable_cpu_pinning': FLAG, 'labels': TEXTS,
        'runtimes': listed(TEXT)}),
    'hosts': page('hosts', 'host'),
    'services': members({'services': listed(members({
        'id': INTEGER, 'host': TEXT, 'binary': TEXT, 'disabled': FLAG,
        'disabled_reason': or_null(TEXT), 'forced_down': FLAG, 'report_count': INTEGER,
        'availability_zone': or_null(TEXT), 'last_seen_up': or_null(TIME_T),
        'created_at': or_null(TIME_T), 'updated_at': or_null(TIME_T),
        'state': {'type': 'string', 'enum': ['up', 'down']}}))}),
    'service_ability': members({'service': members({
        'host': TEXT, 'binary': TEXT, 'disabled': FLAG, 'disabled_reason': or_null(TEXT)})}),
    'service_forced_down': members({'service': members({
        'host': TEXT, 'binary': TEXT, 'forced_down': FLAG})}),
    'network': members({
        'uuid': UUID, 'name': or_null(TEXT), 'project_id': or_null(TEXT),
        'user_id': or_null(TEXT), 'network_id': or_null(TEXT), 'neutron_net_id': TEXT}),
    'availability_zones': members({
        'availability_zones': listed(members({'availability_zone': or_null(TEXT)})),
        'next': NULL}),
    'quota': {'anyOf': [
        members(dict.fromkeys(_RESOURCES, INTEGER)),
        members(dict.fromkeys(_RESOURCES, members({'limit': INTEGER, 'in_use': NUMBER})))]},
    'registry': members({'registry': members({**_REGISTRY, 'links': _LINKS})}),
    'registries': members({'registries': listed(members(_REGISTRY)), 'next': or_null(URL)}),
    'text': TEXT,
    'null': NULL,
    'error': members({'errors': listed(members({
        'request_id': TEXT, 'code': TEXT, 'status': INTEGER, 'title': TEXT, 'detail': TEXT,
        'links': _LINKS, 'min_version': TEXT, 'max_version': TEXT},
        optional=['min_version', 'max_version']))}),
}
