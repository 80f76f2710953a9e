# SPDX-License-Identifier: Apache-2.0
"""The interfaces of a capsule, as its CNI daemon hands them on."""

from oslo_versionedobjects import fields

from zun.objects import versioned


@versioned.register
class VIFState(versioned.ZunObject):
    """Interfaces of os-vif, in whose name space it lives so that they nest."""

    VERSION = '1.0'
    OBJ_PROJECT_NAMESPACE = 'os_vif'
    OBJ_SERIAL_NAMESPACE = 'versioned_object'
    fields = {
        'default_vif': fields.ObjectField('VIFBase', subclasses=True, nullable=False),
        'additional_vifs': fields.Field(
            fields.Dict(fields.Object('VIFBase', subclasses=True)), default={}, nullable=False),
    }
