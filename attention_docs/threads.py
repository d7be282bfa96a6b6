"""Threads over independent jobs, with BLAS held to one thread meanwhile.

A matrix product of one block is too small to split, but there are many blocks. So each core takes
whole blocks, and the BLAS behind NumPy must not start threads of its own inside them.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController


def parallel(work: Callable[[Any], None], jobs: Sequence[Any]) -> None:
    """Do `work(job)` for every job; the first error of a job is raised.

    One job alone runs as it is, so that BLAS can use its threads for it. Otherwise the threads are
    new ones: the scheduler puts a new thread on an idle core, but often wakes those of a pool, or
    the caller's, on one that is busy; measured on two cores, that took 1.5 times as long.
    """
    if len(jobs) == 1:
        work(jobs[0])
        return
    waiting, errors = deque(jobs), deque[BaseException]()

    def jobs_left() -> Iterator[Any]:
        while not errors:
            try:
                yield waiting.popleft()
            except IndexError:
                return

    def take_jobs() -> None:
        try:
            # An OpenBLAS on OpenMP has a setting for each thread; elsewhere this changes nothing.
            with _controller().limit(limits=1, user_api="blas"):
                for job in jobs_left():
                    work(job)
        except BaseException as error:
            errors.append(error)

    with one_blas_thread() as threads:
        takers = [threading.Thread(target=take_jobs) for _ in range(threads)]
        for taker in takers:
            taker.start()
        for taker in takers:
            taker.join()
    if errors:
        raise errors[0]


class _Hold:
    """How many callers hold BLAS to one thread now, and what it had before the first of them.

    The setting belongs to the whole process. Were each caller to restore what it found, the
    last of two at the same time would restore the 1 that the other had set. And threadpoolctl lets
    one thread only set the threads of OpenBLAS, and ignores every other without a word, until that
    one is cleared; here the first and the last caller are often not the same thread.
    """

    lock = threading.Lock()
    callers = 0
    threads = 1
    limits: Any = None


@contextmanager
def one_blas_thread() -> Iterator[int]:
    """Hold BLAS to one thread; hands out the number of threads it had, also after an error.

    >>> with one_blas_thread() as threads:
    ...     threads >= 1
    True
    """
    with _Hold.lock:
        if not _Hold.callers:
            _Hold.threads = blas_threads()
            OpenBLASController.clear_controlling_thread(force=True)
            _Hold.limits = _controller().limit(limits=1, user_api="blas")
        _Hold.callers += 1
    try:
        yield _Hold.threads
    finally:
        with _Hold.lock:
            _Hold.callers -= 1
            if not _Hold.callers:
                OpenBLASController.clear_controlling_thread(force=True)
                _Hold.limits.restore_original_limits()
                OpenBLASController.clear_controlling_thread(force=True)


def blas_threads() -> int:
    """Return the number of threads that BLAS may use now; the number of cores if it is unknown."""
    libraries = _controller().select(user_api="blas").info()
    return max((library["num_threads"] for library in libraries), default=os.cpu_count() or 1)


@cache
def _controller() -> ThreadpoolController:
    """Finding the libraries takes milliseconds; NumPy's BLAS is loaded before this is called."""
    return ThreadpoolController()
