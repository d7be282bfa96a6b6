"""Jobs on threads, and the BLAS limit while they run."""

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from attention_docs.kernels.threads import blas_threads, one_blas_thread, run_parallel


@pytest.fixture(autouse=True)
def two_threads():
    """Let BLAS use two threads, also on a machine with one core."""
    if not ThreadpoolController().select(user_api="blas").lib_controllers:
        pytest.skip("threadpoolctl does not support this BLAS")
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        yield
        assert blas_threads() == 2


def test_blas_limit_yields_previous_threads():
    with one_blas_thread() as threads:
        assert threads == 2
        assert blas_threads() == 1
    assert blas_threads() == 2


def test_blas_limit_is_restored_after_error():
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert blas_threads() == 2


def test_blas_limit_lasts_until_its_last_context_exits():
    first, second = one_blas_thread(), one_blas_thread()
    assert first.__enter__() == 2
    assert second.__enter__() == 2
    first.__exit__(None, None, None)
    assert blas_threads() == 1
    second.__exit__(None, None, None)
    assert blas_threads() == 2


class NoBlas:
    """A controller without libraries, as for a BLAS that threadpoolctl does not support."""

    lib_controllers = ()


@pytest.mark.parametrize(("cores", "threads"), [(8, 8), (None, 1)])
def test_unknown_blas_gets_one_thread_per_core(monkeypatch, cores, threads):
    with monkeypatch.context() as patched:
        patched.setattr("attention_docs.kernels.threads._controller", NoBlas)
        patched.setattr("os.cpu_count", lambda: cores)
        assert blas_threads() == threads


def call_in_another_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_blas_limit_may_begin_in_another_thread():
    with one_blas_thread():  # threadpoolctl now takes this thread for the controlling one
        pass
    limit = one_blas_thread()
    call_in_another_thread(limit.__enter__)
    assert blas_threads() == 1
    limit.__exit__(None, None, None)
    assert blas_threads() == 2


def test_blas_limit_may_end_in_another_thread():
    limit = one_blas_thread()
    limit.__enter__()
    call_in_another_thread(lambda: limit.__exit__(None, None, None))
    assert blas_threads() == 2


def test_every_job_runs_once_on_several_threads():
    finished, barrier = [], threading.Barrier(2, timeout=10)

    def run_job(job):
        barrier.wait()  # passes only if two threads wait at once
        finished.append((job, blas_threads()))

    run_parallel(run_job, range(4))
    assert sorted(finished) == [(job, 1) for job in range(4)]


def test_single_job_keeps_blas_threads():
    calls = []

    def run_job(job):
        calls.append((job, blas_threads(), threading.current_thread()))

    run_parallel(run_job, ["job"])
    assert calls == [("job", 2, threading.current_thread())]


def test_no_jobs_run_nothing():
    run_parallel(pytest.fail, [])


def test_job_error_is_raised_and_limit_restored():
    def run_job(job):
        raise ArithmeticError(job)

    with pytest.raises(ArithmeticError, match="0"):
        run_parallel(run_job, range(3))
    assert blas_threads() == 2


def test_jobs_inherit_context_of_caller():
    """The context holds NumPy's error state."""
    states = []
    assert np.geterr()["over"] != "ignore"
    with np.errstate(over="ignore"):
        run_parallel(lambda job: states.append(np.geterr()["over"]), range(8))
    assert states == ["ignore"] * 8
