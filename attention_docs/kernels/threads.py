"""Run independent jobs on threads, with BLAS limited to one thread.

The matrix product of one block is too small to split, but there are many blocks. So each core takes
whole blocks, and the BLAS behind NumPy must not start threads of its own for their products.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache
from typing import Any

from threadpoolctl import OpenBLASController, ThreadpoolController


def run_parallel(run_job: Callable[[Any], None], jobs: Sequence[Any]) -> None:
    """Run `run_job(job)` for every job on threads, and raise the first error.

    A single job runs in the calling thread, so that BLAS can use its own threads for it. So do all
    jobs where BLAS has one thread, because starting another would only cost time. Otherwise
    every call starts new threads: the scheduler places a new thread on an idle core, but often
    wakes a thread of a pool on a busy one, which on two cores took 1.5 times as long. They inherit
    the caller's context, where NumPy stores its error state.
    """
    if len(jobs) == 1:
        run_job(jobs[0])
        return
    pending = deque(jobs)
    errors: list[BaseException] = []

    def remaining_jobs() -> Iterator[Any]:
        while not errors:
            try:
                yield pending.popleft()
            except IndexError:
                return

    def run_jobs() -> None:
        try:
            # Only an OpenBLAS built on OpenMP needs this, because its limit applies per thread.
            with _controller().limit(limits=1, user_api="blas"):
                for job in remaining_jobs():
                    run_job(job)
        except BaseException as error:
            errors.append(error)

    with one_blas_thread() as threads:
        if threads == 1:
            for job in jobs:
                run_job(job)
            return
        workers = [
            threading.Thread(target=copy_context().run, args=(run_jobs,)) for _ in range(threads)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    if errors:
        raise errors[0]


class BlasLimit:
    """Ref-counted BLAS limit of one thread.

    The limit applies to the whole process. If each caller restored the previous limit, the last of
    two concurrent callers would restore the 1 that the other had set.

    The first and the last caller are often different threads, but threadpoolctl lets only one
    control OpenBLAS and silently ignores the others. So the controlling thread is cleared before
    each change.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.callers = 0

    def available_threads(self) -> int:
        """Return the number of BLAS threads, or the number from before the limit."""
        with self.lock:
            return self.threads if self.callers else blas_threads()

    @contextmanager
    def limited(self) -> Iterator[int]:
        """Limit BLAS to one thread, and yield the previous number of threads."""
        with self.lock:
            if not self.callers:
                self.threads = blas_threads()
                if self.threads > 1:
                    OpenBLASController.clear_controlling_thread(force=True)
                    self.limits = _controller().limit(limits=1, user_api="blas")
            self.callers += 1
        try:
            yield self.threads
        finally:
            with self.lock:
                self.callers -= 1
                if not self.callers and self.threads > 1:
                    OpenBLASController.clear_controlling_thread(force=True)
                    self.limits.restore_original_limits()
                    OpenBLASController.clear_controlling_thread(force=True)


def blas_threads() -> int:
    """Return the current number of BLAS threads, or the number of cores for an unknown BLAS."""
    libraries = _controller().lib_controllers
    counts = [library.num_threads for library in libraries if library.user_api == "blas"]
    return max(counts) if counts else os.cpu_count() or 1  # only then, as it reads a file


@cache
def _controller() -> Any:
    """Return threadpoolctl's controller; cached, as it takes milliseconds to find the libraries."""
    create: Callable[[], Any] = ThreadpoolController  # threadpoolctl has no annotations
    return create()


# One limit for the process, because BLAS has one number of threads per process.
_blas_limit = BlasLimit()
one_blas_thread, available_threads = _blas_limit.limited, _blas_limit.available_threads
