# SPDX-License-Identifier: Apache-2.0
"""Bounded pools of native threads, named by purpose.

No work may wait for other work of its own pool. A full pool refuses with PoolFull, and the work
stays in the database.
"""

import collections
import collections.abc
import random
import threading
import typing as ty

from oslo_log import log as logging

from zun.common import exception

LOG = logging.getLogger(__name__)

_SHORTEST_INTERVAL = 0.01
_MOST_DOUBLINGS = 32

_Work = tuple[collections.abc.Callable[..., ty.Any], tuple[ty.Any, ...]]


def guard(function: collections.abc.Callable[..., ty.Any], *args: ty.Any) -> None:
    """Run the outermost function of a thread: an error it does not handle is logged, not lost."""
    try:
        function(*args)
    except BaseException:  # SystemExit, too, would take the thread along
        LOG.exception('%s failed', getattr(function, '__qualname__', function))


class KeyedPool:
    """A pool that runs the work of one key in order, one at a time.

    Keys take turns. The threads are started when there is work for them; they do not keep a process
    from ending.

    :param name: purpose, in thread names
    :param size: number of threads
    :param backlog: how much work may wait beyond what runs
    :param per_key: how much work of one key may wait, so that it leaves room for others
    """

    def __init__(self, name: str, size: int, backlog: int, per_key: int | None = None) -> None:
        self.name = name
        self._per_key = size + backlog if per_key is None else per_key
        self._size = size
        self._limit = size + backlog
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)
        self._idle = threading.Condition(self._lock)
        #: Waiting work by key; a key is here from its first submit until its last work has ended.
        self._queues: dict[str, collections.deque[_Work]] = {}
        #: Keys whose next work may begin.
        self._ready: collections.deque[str] = collections.deque()
        self._depth = 0
        self._workers = 0
        self._waiting_workers = 0
        self._closed = False

    @property
    def depth(self) -> int:
        """Work accepted and not yet done."""
        return self._depth

    def busy(self, key: str) -> bool:
        """Whether work of this key waits or runs."""
        with self._lock:
            return key in self._queues

    def submit(self, key: str, function: collections.abc.Callable[..., ty.Any],
               *args: ty.Any) -> None:
        """Queue work behind the earlier work of its key.

        :raises PoolFull: too much waits, or the pool is shutting down
        """
        with self._lock:
            if self._closed or self._depth >= self._limit:
                raise exception.PoolFull(pool=self.name)
            waiting = self._queues.get(key)
            if waiting is not None and len(waiting) >= self._per_key:
                raise exception.PoolFull(pool=self.name)
            if waiting is not None:
                waiting.append((function, args))
            else:
                self._provide_worker()
                self._queues[key] = collections.deque([(function, args)])
                self._ready.append(key)
                self._work.notify()
            self._depth += 1

    def _provide_worker(self) -> None:
        if self._waiting_workers <= len(self._ready) and self._workers < self._size:
            threading.Thread(target=self._serve, name=f'{self.name}-{self._workers}',
                             daemon=True).start()
            self._workers += 1

    def _serve(self) -> None:
        while True:
            with self._lock:
                self._waiting_workers += 1
                self._work.wait_for(lambda: self._ready or self._closed)
                self._waiting_workers -= 1
                if not self._ready:
                    return
                key = self._ready.popleft()
                function, args = self._queues[key].popleft()
            guard(function, *args)
            del function, args  # an idle worker keeps nothing alive
            self._done(key)

    def _done(self, key: str) -> None:
        with self._lock:
            self._depth -= 1
            if self._queues[key]:
                self._ready.append(key)
                self._work.notify()
                return
            del self._queues[key]
            if not self._queues:
                self._idle.notify_all()

    def wait_idle(self, timeout: float) -> bool:
        """Wait until nothing is left, at most ``timeout`` seconds."""
        with self._lock:
            return self._idle.wait_for(lambda: not self._queues, timeout)

    def shutdown(self, grace: float) -> bool:
        """Take no new work, drop what has not begun, give the rest ``grace`` seconds.

        :returns: whether everything that ran has ended
        """
        with self._lock:
            self._closed = True
            for waiting in self._queues.values():
                self._depth -= len(waiting)
                waiting.clear()
            for key in self._ready:
                del self._queues[key]
            self._ready.clear()
            self._work.notify_all()
            if not self._queues:
                self._idle.notify_all()
        return self.wait_idle(grace)


class Pool(KeyedPool):
    """A pool whose work needs no order."""

    def __init__(self, name: str, size: int, backlog: int) -> None:
        super().__init__(name, size, backlog)
        self._serial = 0

    def run(self, function: collections.abc.Callable[..., ty.Any], *args: ty.Any) -> None:
        """Queue work.

        :raises PoolFull: too much waits, or the pool is shutting down
        """
        with self._lock:
            self._serial += 1
            key = str(self._serial)
        self.submit(key, function, *args)


class Periodic:
    """Calls of one function at an interval, each run counted from the end of the last.

    :param interval: seconds between runs; each is stretched by up to a tenth at random, so that
        many hosts do not fall into step
    """

    def __init__(self, name: str, interval: collections.abc.Callable[[], float],
                 function: collections.abc.Callable[[], ty.Any]) -> None:
        self._interval = interval
        self._function = function
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Run as soon as possible."""
        self._wake.set()

    def stop(self, timeout: float = 5.0) -> None:
        """End after the current run; wait for it at most ``timeout`` seconds."""
        self._stop.set()
        self._wake.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            guard(self._function)
            if not self._stop.is_set():
                self._wake.wait(_jittered(self._interval()))


def _jittered(seconds: float) -> float:
    return max(seconds, _SHORTEST_INTERVAL) * random.uniform(1.0, 1.1)


def backoff(attempt: int, first: float, most: float) -> float:
    """Seconds to pause before a further try: doubling from ``first`` to ``most``, with jitter."""
    doubled = first * 2 ** min(attempt, _MOST_DOUBLINGS)
    return min(doubled, most) * random.uniform(0.5, 1.0)
