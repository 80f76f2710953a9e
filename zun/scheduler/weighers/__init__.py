# SPDX-License-Identifier: Apache-2.0
"""The order in which hosts are tried."""

from collections.abc import Callable
import random

import zun.conf
from zun.scheduler import host_state
from zun.scheduler import request
from zun.scheduler.weighers import shares

CONF = zun.conf.CONF

#: Option of the multiplier -> weight of a host between 0 and 1.
_WEIGHERS = {'cpu_weight_multiplier': shares.cpu, 'ram_weight_multiplier': shares.ram,
             'disk_weight_multiplier': shares.disk,
             'containers_weight_multiplier': shares.containers}
#: Hosts that differ by less than a hundredth are equal, so that schedulers do not all rush to one.
_DIGITS = 2


Weigher = Callable[[host_state.HostState, request.Request], float]


def _active() -> list[tuple[float, Weigher]]:
    """Multipliers that are not 0, with their weighers."""
    found = ((CONF.scheduler[option], weigher) for option, weigher in _WEIGHERS.items())
    return [(multiplier, weigher) for multiplier, weigher in found if multiplier]


def _mean(host: host_state.HostState, wanted: request.Request,
          active: list[tuple[float, Weigher]]) -> float:
    total = sum(multiplier for multiplier, _weigher in active)
    weighed = sum(multiplier * weigher(host, wanted) for multiplier, weigher in active)
    return round(weighed / total, _DIGITS) if total else 0.0


def weight(host: host_state.HostState, wanted: request.Request) -> float:
    """Mean of the weights, each as often as its multiplier says; 0 when all are off."""
    return _mean(host, wanted, _active())


def of_candidates_alone() -> bool:
    """Whether the ledger's answer is all that weights depend on."""
    return not CONF.scheduler.containers_weight_multiplier


def ordered(hosts: list[host_state.HostState],
            wanted: request.Request) -> list[host_state.HostState]:
    """Best first: the emptiest, or with policy pack the fullest. Equal ones are in random order."""
    sign = 1 if CONF.scheduler.host_weight_policy == 'pack' else -1
    active = _active()
    shuffled = random.sample(hosts, len(hosts))
    return sorted(shuffled, key=lambda host: sign * _mean(host, wanted, active))
