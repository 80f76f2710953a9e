# SPDX-License-Identifier: Apache-2.0
"""Field types of our own, beside those of oslo.versionedobjects."""

import json
import typing as ty

from oslo_versionedobjects import fields

from zun.common import states


class _Closed(fields.Enum):
    """An enumeration of which each class is one."""

    ALL: ty.ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        super().__init__(valid_values=self.ALL)


class ContainerStatus(_Closed):
    ALL = states.STATUSES


class TaskState(_Closed):
    ALL = states.TASK_STATES


class PciDeviceStatus(_Closed):
    ALL = ('available', 'claimed', 'allocated', 'removed', 'deleted', 'unclaimable',
           'unavailable')


class PciDeviceType(_Closed):
    ALL = ('PCI', 'PF', 'VF')


class Json(fields.FieldType[ty.Any]):
    """Any JSON value; on the wire a text of JSON. A text assigned in code is parsed."""

    @staticmethod
    def coerce(obj: ty.Any, attr: str, value: ty.Any) -> ty.Any:
        return json.loads(value) if isinstance(value, str) else value

    @staticmethod
    def from_primitive(obj: ty.Any, attr: str, value: ty.Any) -> ty.Any:
        return Json.coerce(obj, attr, value)

    @staticmethod
    def to_primitive(obj: ty.Any, attr: str, value: ty.Any) -> ty.Any:
        return json.dumps(value)


class ContainerStatusField(fields.AutoTypedField):
    AUTO_TYPE = ContainerStatus()


class TaskStateField(fields.AutoTypedField):
    AUTO_TYPE = TaskState()


class PciDeviceStatusField(fields.AutoTypedField):
    AUTO_TYPE = PciDeviceStatus()


class PciDeviceTypeField(fields.AutoTypedField):
    AUTO_TYPE = PciDeviceType()


class JsonField(fields.AutoTypedField):
    AUTO_TYPE = Json()
