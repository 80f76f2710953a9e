# SPDX-License-Identifier: Apache-2.0
"""The order in which hosts are tried."""

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


def weight(host: host_state.HostState, wanted: request.Request) -> float:
    """Mean of the weights, each as often as its multiplier says; 0 when all are off."""
    total = weighed = 0.0
    for option, weigher in _WEIGHERS.items():
        multiplier = CONF.scheduler[option]
        if multiplier:
            total += multiplier
            weighed += multiplier * weigher(host, wanted)
    return round(weighed / total, _DIGITS) if total else 0.0


def ordered(hosts: list[host_state.HostState],
            wanted: request.Request) -> list[host_state.HostState]:
    """Best first: the emptiest, or with policy pack the fullest. Equal ones are in random order."""
    sign = 1 if CONF.scheduler.host_weight_policy == 'pack' else -1
    shuffled = random.sample(hosts, len(hosts))
    return sorted(shuffled, key=lambda host: sign * weight(host, wanted))
