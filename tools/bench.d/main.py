# SPDX-License-Identifier: Apache-2.0
"""Measure Zun: creates against the bare engine, the API alone, and a node at rest."""

import argparse
import concurrent.futures
import statistics
import time

import apart
import cloud
import figures
import idle
import observers
import rest


def create(zun: cloud.Zun, engine: cloud.Engine, count: int) -> None:
    """One after the other, alternating, so that both meet the same machine."""
    engine.run_to_running()
    zun.delete(zun.run_to_running())
    raw, ours, post, made = [], [], [], []
    for _ in range(count):
        raw.append(figures.timed(engine.run_to_running))
        began = time.monotonic()
        made.append(zun.create())
        post.append(time.monotonic() - began)
        zun.wait_running(made[-1])
        ours.append(time.monotonic() - began)
    zun.delete(*made)
    engine.clean()
    figures.report('engine create + start', raw)
    figures.report('POST /v1/containers', post)
    figures.report('Zun create -> Running', ours)
    ratio = statistics.median(ours) / statistics.median(raw)
    allowed = 1.25 * statistics.median(raw) + 0.150
    print(f'ratio {ratio:.2f}; target {allowed * 1000:.0f} ms (1.25 x engine + 150 ms): '
          f'{"met" if statistics.median(ours) <= allowed else "MISSED"}')
    costs(zun, engine)


def costs(zun: cloud.Zun, engine: cloud.Engine, count: int = 5) -> None:
    """Statements, messages and calls of a create that nobody asks the API about meanwhile."""
    made = []
    with observers.Statements() as statements, observers.Messages() as messages, \
            observers.PlacementCalls() as calls:
        rates = statements.at_rest()
        began = time.monotonic()
        for _ in range(count):
            with statements.counting(), messages.counting(), calls.counting():
                made.append(zun.create())
                engine.wait_running(made[-1])
        caused = statements.beyond(rates, time.monotonic() - began)
    zun.delete(*made)
    print(f'SQL statements per create {caused.total() / count:.1f}   (target <= 25), without '
          f'{(statements.total - caused.total()) / count:.1f} of the services at rest')
    print(f'Placement calls per create {calls.total / count:.1f}   (target 2)')
    print(f'messages per create {messages.total / count:.1f}   (target <= 2), '
          f'{messages.size / max(messages.total, 1):.0f} bytes each, '
          f'with a token: {messages.with_token}')
    for text, times in caused.most_common():
        print(f'  {times / count:5.1f}  {text}')


def parallel(zun: cloud.Zun, engine: cloud.Engine, count: int) -> None:
    """All at once; the engine gets the same number from as many threads.

    A limit of CPU and a network of its own cost the engine more than ``docker run -d`` without
    either: it is measured both ways. So are a control plane that takes CPUs from the node, and
    one that does not.
    """
    with apart.apart() as how:
        _at_once(zun, engine, count, how)
    _at_once(zun, engine, count, 'everything on all CPUs')


def _at_once(zun: cloud.Zun, engine: cloud.Engine, count: int, how: str) -> None:
    zun.delete(zun.run_to_running())
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        def timed(run) -> float:
            found = figures.timed(lambda: list(pool.map(lambda _: run(), range(count))))
            engine.clean()
            return found
        bare = timed(engine.run_to_running)
        options = engine.like_zuns()
        alike = timed(lambda: engine.run_to_running(**options))
        ours = figures.timed(lambda: (list(pool.map(lambda _: zun.create(), range(count))),
                                      zun.wait_all_running()))
    zun.delete_all()
    print(f'{count} at once, {how}: engine {bare:.1f} s, engine with equal containers '
          f'{alike:.1f} s, Zun {ours:.1f} s')
    print(f'    {bare / ours:.2f} x the engine, {alike / ours:.2f} x the engine with equal '
          f'containers (target >= 0.9): {"met" if alike / ours >= 0.9 else "MISSED"}')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('what', choices=['create', 'parallel', 'api', 'idle'])
    parser.add_argument('--count', type=int)
    args = parser.parse_args()
    if args.what == 'api':
        rest.measure(args.count or 2000)
    elif args.what == 'idle':
        idle.measure(args.count or 200)
    else:
        with cloud.Zun() as zun, cloud.Engine() as engine:
            if args.what == 'create':
                create(zun, engine, args.count or 20)
            else:
                parallel(zun, engine, args.count or 50)


if __name__ == '__main__':
    main()
