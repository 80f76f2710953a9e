# SPDX-License-Identifier: Apache-2.0
"""Times, and what is told of many of them."""

import time


def percentile(samples: list[float], percent: int) -> float:
    """The nearest-rank percentile of some seconds."""
    ordered = sorted(samples)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def timed(function, *args) -> float:
    began = time.monotonic()
    function(*args)
    return time.monotonic() - began


def report(name: str, samples: list[float], more: str = '') -> None:
    print(f'{name:34} p50 {percentile(samples, 50) * 1000:7.0f} ms   '
          f'p95 {percentile(samples, 95) * 1000:7.0f} ms   n {len(samples)}{more}')
