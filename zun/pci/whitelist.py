# SPDX-License-Identifier: Apache-2.0
"""Which PCI devices of a host may be handed to containers: ``[pci]/passthrough_whitelist``."""

import collections.abc
import json
import re
import typing as ty

from zun.common import exception
import zun.conf

CONF = zun.conf.CONF

ANY = '*'
_ADDRESS = re.compile(r'([0-9a-fA-F]{4}):([0-9a-fA-F]{2}):([0-9a-fA-F]{2})\.([0-7])')
_PARTS = {'domain': 0xffff, 'bus': 0xff, 'slot': 0x1f, 'function': 0x7}
_OWN = ('vendor_id', 'product_id', 'address', 'devname')

Device = collections.abc.Mapping[str, ty.Any]


def parse_address(address: str) -> tuple[str, str, str, str]:
    """Domain, bus, slot and function.

    :raises PciDeviceWrongAddressFormat: it is no full address
    """
    found = _ADDRESS.fullmatch(address)
    if found is None:
        raise exception.PciDeviceWrongAddressFormat(address=address)
    domain, bus, slot, function = found.groups()
    return domain, bus, slot, function


def matches(device: Device, specs: collections.abc.Sequence[Device]) -> bool:
    """Whether a device has all properties of one of the specs; of a list, all members."""
    return any(all(_has(device.get(key), value) for key, value in spec.items()) for spec in specs)


def _has(own: ty.Any, wanted: ty.Any) -> bool:
    if isinstance(own, list) and isinstance(wanted, list):
        return set(wanted) <= set(own)
    return own == wanted


def _number(name: str, text: str, most: int) -> int | None:
    """
    :returns: None: any
    :raises PciConfigInvalidWhitelist: no hexadecimal number, or too large
    """
    text = text.strip()
    if text in ('', ANY):
        return None
    try:
        number = int(text, 16)
    except ValueError:
        number = most + 1
    if number > most:
        raise exception.PciConfigInvalidWhitelist(reason=f'invalid {name} {text}')
    return number


def _glob(address: str) -> 're.Pattern[str]':
    """The full addresses that ``[[domain:]bus:]slot[.function]`` means; blanks are any."""
    rest, _, function = address.partition('.')
    numbers = {'function': _number('func', function, _PARTS['function'])}
    parts = rest.split(':')
    if len(parts) > 3:
        raise exception.PciDeviceWrongAddressFormat(address=address)
    for name, text in zip(('domain', 'bus', 'slot'), ['', *[''] * (2 - len(parts)), *parts][-3:],
                          strict=True):
        numbers[name] = _number(name, text, _PARTS[name])
    return _pattern({name: '.*' if number is None else f'{number:0{_width(name)}x}'
                     for name, number in numbers.items()})


def _width(name: str) -> int:
    return {'domain': 4, 'function': 1}.get(name, 2)


def _pattern(parts: collections.abc.Mapping[str, str]) -> 're.Pattern[str]':
    domain, bus, slot, function = (f'(?:{parts.get(name, ".*")})' for name in _PARTS)
    try:
        return re.compile(f'{domain}:{bus}:{slot}[.]{function}', re.IGNORECASE)
    except re.error as error:
        raise exception.PciConfigInvalidWhitelist(reason=f'invalid address: {error}') from None


class Spec:
    """One entry: what a device has to be, and the tags that it then has.

    :ivar tags: what the entry says beside that, such as physical_network
    :raises PciConfigInvalidWhitelist, PciDeviceInvalidDeviceName, PciDeviceWrongAddressFormat
    """

    def __init__(self, entry: Device) -> None:
        if entry.get('address') and entry.get('devname'):
            raise exception.PciDeviceInvalidDeviceName()
        self.tags = {key: str(value) for key, value in entry.items() if key not in _OWN}
        self._ids = {name: _number(name, entry.get(name, ANY), 0xffff)
                     for name in ('vendor_id', 'product_id')}
        self._devname = entry.get('devname')
        address = entry.get('address')
        self._address = None if not address else (
            _pattern(address) if isinstance(address, dict) else _glob(address))

    def match(self, device: Device) -> bool:
        """
        :param device: vendor_id, product_id, address; parent_addr and parent_name of a virtual
            function, which is meant along with its physical one; name of its interface
        """
        for name, number in self._ids.items():
            if number is not None and int(device.get(name) or '0', 16) != number:
                return False
        if self._devname:
            return self._devname in (device.get('name'), device.get('parent_name'))
        return self._address is None or any(
            self._address.fullmatch(address)
            for address in (device.get('address'), device.get('parent_addr')) if address)


def load() -> list[Spec]:
    """The configured entries; each option is an object or a list of them.

    :raises PciConfigInvalidWhitelist: no JSON of that shape
    """
    specs: list[Spec] = []
    for text in CONF.pci.passthrough_whitelist or ():
        try:
            found = json.loads(text)
        except ValueError:
            raise exception.PciConfigInvalidWhitelist(reason=f'invalid JSON {text}') from None
        entries = found if isinstance(found, list) else [found]
        if not all(isinstance(entry, dict) for entry in entries):
            raise exception.PciConfigInvalidWhitelist(reason=f'no object {text}')
        specs.extend(Spec(entry) for entry in entries)
    return specs
