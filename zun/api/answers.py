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
    return {'type': 'object', 'properties': properties, 'additionalProperties': False,
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
        'host': or_null(TEXT)}),
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
