# SPDX-License-Identifier: Apache-2.0
"""An asyncio loop in a thread of its own, for what pumps bytes."""

import asyncio
import collections.abc
import concurrent.futures
import resource
import threading
import typing as ty

from oslo_log import log as logging

LOG = logging.getLogger(__name__)

_T = ty.TypeVar('_T')
_Coroutine = collections.abc.Coroutine[ty.Any, ty.Any, _T]


class LoopThread:
    """
    :param name: in thread names
    :param workers: threads for calls that block, such as those of the database; what waits for
        them is ``asyncio.to_thread``
    """

    def __init__(self, name: str, workers: int) -> None:
        self._loop = asyncio.new_event_loop()
        self._executor = concurrent.futures.ThreadPoolExecutor(workers, thread_name_prefix=name)
        self._loop.set_default_executor(self._executor)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self, setup: _Coroutine[_T], timeout: float) -> _T:
        """Start the loop, and run this in it; when it fails the loop ends again.

        :param timeout: seconds
        :raises TimeoutError: it takes longer
        """
        self._thread.start()
        try:
            return self.submit(setup).result(timeout)
        except BaseException:
            self.stop()
            raise

    def submit(self, coroutine: _Coroutine[_T]) -> 'concurrent.futures.Future[_T]':
        """Run a coroutine in the loop, from any other thread."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def call(self, function: collections.abc.Callable[..., ty.Any], *args: ty.Any) -> None:
        """Call a function in the loop, from any other thread; after the end it does nothing."""
        try:
            self._loop.call_soon_threadsafe(function, *args)
        except RuntimeError:
            LOG.debug('The loop has ended')

    def stop(self, teardown: _Coroutine[ty.Any] | None = None, timeout: float = 5.0) -> None:
        """End the loop; what runs in it then is cancelled.

        :param teardown: runs before, for ``timeout`` seconds at most
        """
        if teardown is not None:
            try:
                self.submit(teardown).result(timeout)
            except TimeoutError:
                LOG.info('%s: not everything has ended in time', self._thread.name)
        self.call(self._loop.stop)
        self._thread.join(timeout)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._loop.close()


def allow_open_files(count: int) -> None:
    """Raise the process' own limit of open files to at least this, as far as it may be raised."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if wanted < count:
        LOG.warning('Only %d files can be open at a time, %d may be needed', wanted, count)
