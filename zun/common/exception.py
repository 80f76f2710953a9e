# SPDX-License-Identifier: Apache-2.0
"""Everything that Zun raises on purpose.

A class name is public: the API derives ``errors[].code`` from it, and RPC carries it by name.
``code`` is the HTTP status; below 500 the message reaches the user as it is.
"""

import re
import typing as ty

_WORDS = re.compile(r'[A-Z]?[a-z]+|[A-Z]{2,}(?=[A-Z][a-z]|\d|\W|$)|\d+')


class ZunException(Exception):
    """Base of all; a bare one is an internal error."""

    template: ty.ClassVar[str] = 'An unknown exception occurred.'
    code: int = 500

    def __init__(self, message: str | None = None, **kwargs: ty.Any) -> None:
        self.kwargs = kwargs
        self.message = message if message is not None else self._render(kwargs)
        super().__init__(self.message)

    def _render(self, kwargs: dict[str, ty.Any]) -> str:
        try:
            return self.template % kwargs
        except KeyError:  # a caller left a part out: say less rather than fail
            return re.sub(r'\s*%\(\w+\)[sd]', '', self.template)


def error_code(name: str) -> str:
    """The public code of an exception class, without the service prefix.

    >>> error_code('CPUPinningInvalid')
    'cpu-pinning-invalid'
    """
    return '-'.join(word.lower() for word in _WORDS.findall(name))


def by_name(name: str) -> type[ZunException]:
    """The class that a remote process raised; ZunException for one it should not name."""
    found = globals().get(name)
    if isinstance(found, type) and issubclass(found, ZunException):
        return found
    return ZunException


class Invalid(ZunException):
    template = 'Unacceptable parameters.'
    code = 400


class InvalidValue(Invalid):
    template = 'Received value %(value)s is invalid.'


class InvalidParameterValue(Invalid):
    template = '%(err)s'


class InvalidParamInVersion(Invalid):
    template = (
        'Invalid param %(param)s because current request version is %(req_version)s. '
        '%(param)s is only supported from version %(min_version)s')


class ValidationError(Invalid):
    template = 'Validation error'


class SchemaValidationError(Invalid):
    template = '%(detail)s'


class InvalidUUID(Invalid):
    template = 'Expected a uuid but received %(uuid)s.'


class InvalidUuidOrName(Invalid):
    template = 'Expected a name or uuid but received %(name)s.'


class InvalidIdentity(Invalid):
    template = 'Expected an uuid or int but received %(identity)s.'


class InvalidQuotaValue(Invalid):
    template = 'Change would make usage less than 0 for the following resources: %(unders)s'


class InvalidResourceClass(Invalid):
    template = "Resource class '%(resource_class)s' invalid."


class InvalidResourceAmount(Invalid):
    template = 'Resource amount must be integers of at least 1.'


class InvalidCapsuleTemplate(Invalid):
    template = 'Invalid capsule template: %(detail)s'


class FailedParseStringToJson(Invalid):
    template = 'The template is not a JSON document.'


class ReferenceInvalidFormat(Invalid):
    template = "The format of image name '%(reference)s' is invalid."


class NameEmpty(Invalid):
    template = 'The repository name must have at least one component.'


class NameTooLong(Invalid):
    template = 'The repository name must not be more than %(length_max)s characters.'


class ImageNotFound(Invalid):
    template = 'Image %(image)s could not be found.'


class NoInteractiveFlag(Invalid):
    template = (
        "Container doesn't support to be attached, please check the interactive set "
        'properly')


class Base64Exception(Invalid):
    template = 'Invalid base64 data: %(name)s could not be decoded.'


class PortInUse(Invalid):
    template = 'Port %(port)s is still in use.'


class PortNotUsable(Invalid):
    template = 'Port %(port)s not usable for the container.'


class PortBindingFailed(Invalid):
    template = 'Binding failed for port %(port)s, please check neutron logs for more information.'


class VolumeInUse(Invalid):
    template = 'Volume %(volume)s is still in use.'


class VolumeNotUsable(Invalid):
    template = 'Volume %(volume)s not usable for the container.'


class VolumeCreateFailed(Invalid):
    template = 'Volume Creation failed: %(creation_failed)s'


class VolumeDeleteFailed(Invalid):
    template = 'Volume Deletion failed: %(deletion_failed)s'


class SecurityGroupCannotBeApplied(Invalid):
    template = (
        'Network requires port_security_enabled and subnet associated in order to apply '
        'security groups.')


class SecurityGroupCannotBeRemoved(Invalid):
    template = 'Security group %(security_group)s cannot be removed.'


class CPUPinningInvalid(Invalid):
    template = 'CPU set to pin %(requested)s must be a subset of free CPU set %(free)s'


class CPUUnpinningInvalid(Invalid):
    template = 'CPU set to unpin %(requested)s must be a subset of pinned CPU set %(pinned)s'


class PciDeviceInvalidStatus(Invalid):
    template = 'PCI device %(address)s is %(status)s instead of %(hopestatus)s'


class PciDeviceInvalidOwner(Invalid):
    template = 'PCI device %(address)s is owned by %(owner)s instead of %(hopeowner)s'


class PciDevicePFInvalidStatus(Invalid):
    template = 'Physical function %(address)s of virtual function %(vf_address)s is %(status)s'


class PciDeviceVFInvalidStatus(Invalid):
    template = 'Not all virtual functions of %(address)s are free.'


class NotAuthorized(ZunException):
    template = 'Not authorized.'
    code = 403


class PolicyNotAuthorized(NotAuthorized):
    template = "Policy doesn't allow %(action)s to be performed."


class OverQuota(NotAuthorized):
    template = 'Quota exceeded for resources: %(overs)s'


class ExternalNetworkAttachForbidden(NotAuthorized):
    template = 'It is not allowed to create an interface on external network %(network_uuid)s'


class NotFound(ZunException):
    template = 'Resource could not be found.'
    code = 404


class ResourceNotFound(NotFound):
    template = 'The %(name)s resource %(id)s could not be found.'


class ContainerNotFound(NotFound):
    template = 'Container %(container)s could not be found.'


class CapsuleNotFound(NotFound):
    template = 'Capsule %(capsule)s could not be found.'


class ComputeNodeNotFound(NotFound):
    template = 'Compute node %(compute_node)s could not be found.'


class ComputeHostNotFound(NotFound):
    template = 'Compute host %(host)s could not be found.'


class RequestedHostNotFound(NotFound):
    template = 'Requested host %(host)s could not be found.'


class ZunServiceNotFound(NotFound):
    template = 'Zun service %(binary)s on host %(host)s could not be found.'


class NetworkNotFound(NotFound):
    template = 'Neutron network %(network)s could not be found.'


class PortNotFound(NotFound):
    template = 'Neutron port %(port)s could not be found.'


class VolumeNotFound(NotFound):
    template = 'Volume %(volume)s could not be found.'


class VolumeMappingNotFound(NotFound):
    template = 'Volume mapping %(volume_mapping)s could not be found.'


class RegistryNotFound(NotFound):
    template = 'Registry %(registry)s could not be found.'


class QuotaNotFound(NotFound):
    template = 'Quota could not be found.'


class ProjectQuotaNotFound(NotFound):
    template = 'Quota for project %(project_id)s could not be found.'


class QuotaClassNotFound(NotFound):
    template = 'Quota class %(class_name)s could not be found.'


class QuotaResourceUnknown(NotFound):
    template = 'Unknown quota resources: %(unknown)s.'


class PciDeviceNotFound(NotFound):
    template = 'PCI Device %(node_id)s:%(address)s not found.'


class PciDeviceNotFoundById(NotFound):
    template = 'PCI device %(id)s not found'


class ResourceProviderNotFound(NotFound):
    template = 'No such resource provider %(name_or_uuid)s.'


class SchedulerHostFilterNotFound(NotFound):
    template = 'Scheduler Host Filter %(filter_name)s could not be found.'


class Conflict(ZunException):
    template = 'Conflict.'
    code = 409


class AddressBlockInUse(Conflict):
    template = 'Address block %(cidr)s is used by something else on this host.'


class InvalidStateException(Conflict):
    template = 'Cannot %(action)s container %(id)s in %(actual_state)s state'


class ContainerAlreadyExists(Conflict):
    template = 'A container with %(field)s %(value)s already exists.'


class CapsuleAlreadyExists(Conflict):
    template = 'A capsule with %(field)s %(value)s already exists.'


class ComputeNodeAlreadyExists(Conflict):
    template = 'A compute node with %(field)s %(value)s already exists.'


class ImageAlreadyExists(Conflict):
    template = 'An image with tag %(tag)s and repo %(repo)s already exists.'


class NetworkAlreadyExists(Conflict):
    template = 'A network with %(field)s %(value)s already exists.'


class RegistryAlreadyExists(Conflict):
    template = 'A registry with %(field)s %(value)s already exists.'


class VolumeAlreadyExists(Conflict):
    template = 'A volume with %(field)s %(value)s already exists.'


class VolumeMappingAlreadyExists(Conflict):
    template = 'A volume mapping with %(field)s %(value)s already exists.'


class ZunServiceAlreadyExists(Conflict):
    template = 'Service %(binary)s on host %(host)s already exists.'


class ExecInstanceAlreadyExists(Conflict):
    template = 'An exec instance with %(field)s %(value)s already exists.'


class ResourcesUnavailable(Conflict):
    template = 'Insufficient compute resources: %(reason)s.'


class MicroversionUnsupported(ZunException):
    template = (
        'Version %(version)s is not supported by the API. Minimum is %(min_version)s and '
        'maximum is %(max_version)s.')
    code = 406


class RequestTooLarge(ZunException):
    template = '%(what)s is larger than the limit of %(limit)s bytes.'
    code = 413


class UnsupportedMediaType(ZunException):
    template = 'A %(expected)s body is required.'
    code = 415


class ConfigInvalid(ZunException):
    template = 'Invalid configuration file. %(error_msg)s'


class ContainerActionNotFound(ZunException):
    template = 'Action for request_id %(request_id)s on container %(container_uuid)s not found'


class ContainerActionEventNotFound(ZunException):
    template = 'Event %(event)s not found for action id %(action_id)s'


class InvalidEncryptionKey(ZunException):
    template = 'Encryption key %(key)s is not a Fernet key.'


class NoValidHost(ZunException):
    template = 'There are not enough hosts available.'


class ResourceNotReady(ZunException):
    template = 'Resource not ready.'


class PollTimeOut(ZunException):
    template = 'Polling request timed out.'


class MountException(ZunException):
    template = 'Failed to mount: %(error)s'


class UnmountException(ZunException):
    template = 'Failed to unmount: %(error)s'


class MakeFileSystemException(ZunException):
    template = 'Failed to make a file system: %(error)s'


class PciConfigInvalidWhitelist(ZunException):
    template = 'Invalid PCI devices Whitelist config %(reason)s'


class PciDeviceWrongAddressFormat(ZunException):
    template = 'The PCI address %(address)s has an incorrect format.'


class PciDeviceInvalidDeviceName(ZunException):
    template = (
        'Invalid PCI Whitelist: The PCI whitelist can specify devname or address, but not'
        ' both')


class PciDevicePoolEmpty(ZunException):
    template = 'Attempt to consume PCI device %(compute_node_uuid)s:%(address)s from empty pool'


class OperationNotSupported(ZunException):
    template = '%(driver)s does not support %(method)s.'
    code = 501


class ServiceMissing(OperationNotSupported):
    template = 'This cloud has no %(service)s.'


class ServiceUnavailable(ZunException):
    template = 'The %(service)s does not answer: %(reason)s.'
    code = 503


class ContainerHostNotUp(ZunException):
    template = 'The host of container %(container)s is not up.'
    code = 503


class DockerError(ZunException):
    template = 'Docker internal error: %(error_msg)s.'


class RegistryUnavailable(ServiceUnavailable):
    template = 'The registry cannot be searched: %(error_msg)s.'


class EngineUnavailable(DockerError):
    """The engine cannot be reached, hangs or answers 5xx: the result of the call is unknown."""

    template = 'The container engine does not answer: %(error_msg)s.'
    code = 503


class DiskFull(EngineUnavailable):
    """What the engine writes has no room: its own disk, or that of a container, is full."""

    template = 'A disk of the container engine is full: %(error_msg)s.'


class EngineGone(Conflict):
    """The engine is well and knows no such container."""

    template = 'The container engine has no container %(container)s.'


class LedgerUnavailable(ServiceUnavailable):
    template = 'The resource ledger does not answer: %(reason)s.'


class LedgerForbidden(ZunException):
    template = 'The service user needs role service or admin in a project: %(reason)s.'


class ConsumerConflict(Conflict):
    template = 'Somebody else changes the allocation of %(consumer)s.'


class PoolFull(ZunException):
    template = 'Too much work is waiting (%(pool)s).'
    code = 503


class NodeTimeout(ZunException):
    template = 'The compute host did not answer in time.'
    code = 504


class BusUnavailable(ServiceUnavailable):
    template = 'The message bus does not answer: %(reason)s.'
