# SPDX-License-Identifier: Apache-2.0
"""Names, versions and fields of the objects."""

import json
import pathlib
import typing as ty

from oslo_versionedobjects import base as ovo_base
from oslo_versionedobjects import fields as ovo_fields
from oslo_versionedobjects import fixture

from zun import objects
from zun.tests import base

_DATA = pathlib.Path(__file__).parent / 'data' / 'objects.json'

#: Upstream's objects of its abandoned placement model, which nothing used.
DEAD = {'ResourceClass', 'ResourceProvider'}

#: Fields of ours, with which the version rises.
ADDED = {
    **dict.fromkeys(('Container', 'Capsule', 'CapsuleContainer', 'CapsuleInitContainer'), {
        'effective_command': 'List<String>?', 'effective_entrypoint': 'List<String>?',
        'exit_code': 'Integer?', 'finished_at': 'DateTime?', 'health': 'String?'}),
    'ContainerActionEvent': {'details': 'String?'},
    'Image': {'status': 'String?', 'status_reason': 'String?'},
}
VERSIONS = {'Container': '1.45', 'Capsule': '1.5', 'CapsuleContainer': '1.5',
            'CapsuleInitContainer': '1.5', 'ContainerActionEvent': '1.1', 'Image': '1.3'}

#: Objects of ours.
NEW = {'ContainerRequest'}

#: What a change of fields changes: raise the version with it.
FINGERPRINTS = {
    'Capsule': '1.5-31e9bd88e59c0461a657bb00206a6d29',
    'CapsuleContainer': '1.5-cd931a4a949d168f2b1a119cebf244c3',
    'CapsuleInitContainer': '1.5-cd931a4a949d168f2b1a119cebf244c3',
    'ComputeNode': '1.14-b1fb303e57a5deb375de7e4fe2ede499',
    'Container': '1.45-aa73ef437193e47bf672412929c934b9',
    'ContainerAction': '1.2-7a300fc6438ccfe094ff7c2953f47ac9',
    'ContainerActionEvent': '1.1-48682d59e4e6db3f91cf88937c870f4c',
    'ContainerPCIRequest': '1.0-b060f9f9f734bedde79a71a4d3112ee0',
    'ContainerPCIRequests': '1.0-7b8f7f044661fe4e24e6949c035af2c4',
    'ContainerRequest': '1.0-26ba1dd9b3f037d5e7b82805f1c22db3',
    'Cpuset': '1.0-06c4e6335683c18b87e2e54080f8c341',
    'ExecInstance': '1.0-861d7cfe9f0ed7dde5d69f468f1aeecc',
    'Image': '1.3-d47a8e6df0d3e56a145a4b5213e36a06',
    'NUMANode': '1.0-6da86e2dd7f28253e2b9ac60c002ea8f',
    'NUMATopology': '1.0-b54086eda7e4b2e6145ecb6ee2c925ab',
    'PciDevice': '1.1-e03c35aed704ff0493ed6400576d6fb3',
    'PciDevicePool': '1.0-3f5ddc3ff7bfa14da7f6c7e9904cc000',
    'PciDevicePoolList': '1.0-15ecf022a68ddbb8c2a6739cfc9f8f5e',
    'Quota': '1.3-09d732d0210121d42a9eb8b5e3b02e1e',
    'QuotaClass': '1.2-0cdbb438a54416e2969bb1d0afbe5d37',
    'Registry': '1.0-5d72f708e18e301f0669676f5951a80e',
    'RequestGroup': '1.0-5e08d68d0a63b729778340d608ec4eae',
    'VIFState': '1.0-fe1adf362e99d06e219c41e11d88564a',
    'Volume': '1.0-49a49888bc03b0f3e9c082881894d716',
    'VolumeMapping': '1.5-9199be7d90ad559fd8e89ab669f1510c',
    'ZunNetwork': '1.2-fe7b406e54877710595681e13fde1a69',
    'ZunService': '1.2-9bda639fb1396e30afecf5bf27f9a485',
}


def _recorded() -> dict[str, ty.Any]:
    return {name: value for name, value in json.loads(_DATA.read_text()).items()
            if name not in DEAD}


def _classes() -> dict[str, type[ovo_base.VersionedObject]]:
    return {name: getattr(objects, name) for name in objects.__all__ if name != 'ContainerBase'}


def _kind(field: ty.Any) -> str:
    name = type(field).__name__
    if isinstance(field, ovo_fields.Object):
        return f'Object<{field._obj_name}>'
    if isinstance(field, ovo_fields.CompoundFieldType):
        return f'{name}<{_kind(field._element_type._type)}>'
    return name


def _described(field: ty.Any) -> str:
    return _kind(field._type) + ('?' if field.nullable else '')


class TestContract(base.TestCase):
    def test_names(self) -> None:
        self.assertEqual(sorted([*_recorded(), *NEW]), sorted(_classes()))

    def test_versions_and_name_spaces(self) -> None:
        for name, recorded in _recorded().items():
            cls = _classes()[name]
            self.assertEqual(VERSIONS.get(name, recorded['version']), cls.VERSION, name)
            self.assertEqual(recorded['namespace'], cls.OBJ_PROJECT_NAMESPACE, name)
            self.assertEqual(recorded['serial_namespace'], cls.OBJ_SERIAL_NAMESPACE, name)

    def test_fields(self) -> None:
        for name, recorded in _recorded().items():
            wanted = {field: facts['type'] + ('?' if facts['nullable'] else '')
                      for field, facts in recorded['fields'].items()}
            found = {field: _described(kind) for field, kind in _classes()[name].fields.items()}
            self.assertEqual({**wanted, **ADDED.get(name, {})}, found, name)

    def test_defaults_and_read_only(self) -> None:
        for name, recorded in _recorded().items():
            for field, facts in recorded['fields'].items():
                ours = _classes()[name].fields[field]
                self.assertEqual(facts['read_only'], ours.read_only, f'{name}.{field}')
                if 'default' in facts:
                    default = ours.default
                    self.assertEqual(facts['default'],
                                     sorted(default) if isinstance(default, set) else default)

    def test_fingerprints(self) -> None:
        checker = fixture.ObjectVersionChecker(
            {name: [cls] for name, cls in _classes().items()})
        self.assertEqual(FINGERPRINTS, checker.get_hashes())

    def test_recorded_fingerprints_of_objects_without_methods(self) -> None:
        for name, recorded in _recorded().items():
            if not recorded['remotable'] and name not in ADDED:
                self.assertEqual(recorded['fingerprint'], FINGERPRINTS[name], name)

    def test_every_object_survives_the_wire(self) -> None:
        container = objects.Container(
            uuid='00000001-0000-4000-8000-000000000001', status='Running', addresses='{"n": []}',
            cpuset=objects.Cpuset(cpuset_cpus={1}, cpuset_mems=None), ports=[80])
        primitive = container.obj_to_primitive()
        self.assertEqual('{"n": []}', primitive['zun_object.data']['addresses'])
        copy = ovo_base.VersionedObject.obj_class_from_name(
            'Container', '1.45').obj_from_primitive(primitive)
        self.assertEqual(({'n': []}, {1}, [80]), (copy.addresses, copy.cpuset.cpuset_cpus,
                                                  copy.ports))
