# SPDX-License-Identifier: Apache-2.0
"""The nouns of Zun: versioned objects, whose methods are the only way to their rows."""

from zun.objects.action import ContainerAction
from zun.objects.action import ContainerActionEvent
from zun.objects.capsule import Capsule
from zun.objects.capsule import CapsuleContainer
from zun.objects.capsule import CapsuleInitContainer
from zun.objects.compute_node import ComputeNode
from zun.objects.container import Container
from zun.objects.container import ContainerBase
from zun.objects.exec_instance import ExecInstance
from zun.objects.image import Image
from zun.objects.network import ZunNetwork
from zun.objects.numa import Cpuset
from zun.objects.numa import NUMANode
from zun.objects.numa import NUMATopology
from zun.objects.pci import ContainerPCIRequest
from zun.objects.pci import ContainerPCIRequests
from zun.objects.pci import PciDevice
from zun.objects.pci import PciDevicePool
from zun.objects.pci import PciDevicePoolList
from zun.objects.quota import Quota
from zun.objects.quota import QuotaClass
from zun.objects.registry import Registry
from zun.objects.request import ContainerRequest
from zun.objects.request_group import RequestGroup
from zun.objects.service import ZunService
from zun.objects.vif import VIFState
from zun.objects.volume import Volume
from zun.objects.volume import VolumeMapping

__all__ = [
    'Capsule', 'CapsuleContainer', 'CapsuleInitContainer', 'ComputeNode', 'Container',
    'ContainerAction', 'ContainerActionEvent', 'ContainerBase', 'ContainerPCIRequest',
    'ContainerPCIRequests', 'ContainerRequest', 'Cpuset', 'ExecInstance', 'Image', 'NUMANode',
    'NUMATopology', 'PciDevice', 'PciDevicePool', 'PciDevicePoolList', 'Quota', 'QuotaClass',
    'Registry', 'RequestGroup', 'VIFState', 'Volume', 'VolumeMapping', 'ZunNetwork', 'ZunService',
]
