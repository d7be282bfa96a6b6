"""Jobs on threads, and the BLAS limit while they run."""

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from attention_docs.kernels.threads import blas_threads, one_blas_thread, run_parallel

ALL_BLAS_THREADS = 2


@pytest.fixture(autouse=True)
def two_threads():
    """Let BLAS use two threads, also with one core, and check that a test leaves two."""
    if not ThreadpoolController().select(user_api="blas").lib_controllers:
        pytest.skip("threadpoolctl does not support this BLAS")
    with ThreadpoolController().limit(limits=ALL_BLAS_THREADS, user_api="blas"):
        yield
        assert blas_threads() == ALL_BLAS_THREADS


def test_blas_limit_yields_previous_threads():
    with one_blas_thread() as threads:
        assert threads == ALL_BLAS_THREADS
        assert blas_threads() == 1


def test_blas_limit_is_restored_after_error():
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert blas_threads() == ALL_BLAS_THREADS


def test_blas_limit_lasts_until_its_last_context_exits():
    first, second = one_blas_thread(), one_blas_thread()
    assert first.__enter__() == ALL_BLAS_THREADS
    assert second.__enter__() == ALL_BLAS_THREADS
    first.__exit__(None, None, None)
    assert blas_threads() == 1
    second.__exit__(None, None, None)
    assert blas_threads() == ALL_BLAS_THREADS


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
    assert blas_threads() == ALL_BLAS_THREADS


def test_blas_limit_may_end_in_another_thread():
    limit = one_blas_thread()
    limit.__enter__()
    call_in_another_thread(lambda: limit.__exit__(None, None, None))
    assert blas_threads() == ALL_BLAS_THREADS


def test_every_job_runs_once_on_several_threads():
    finished_jobs = []
    barrier = threading.Barrier(2, timeout=10)

    def run_job(job):
        barrier.wait()  # passes only if two threads wait at once
        finished_jobs.append(job)

    run_parallel(run_job, range(4))
    assert sorted(finished_jobs) == [0, 1, 2, 3]


def test_each_of_several_jobs_has_one_blas_thread():
    threads = []
    run_parallel(lambda job: threads.append(blas_threads()), range(4))
    assert threads == [1, 1, 1, 1]


def test_single_job_runs_in_the_calling_thread_with_all_blas_threads():
    states = []
    run_parallel(lambda job: states.append((threading.current_thread(), blas_threads())), ["job"])
    assert states == [(threading.current_thread(), ALL_BLAS_THREADS)]


def test_no_jobs_run_nothing():
    run_parallel(pytest.fail, [])


def test_error_of_a_job_is_raised():
    def run_job(job):
        raise ArithmeticError(job)

    with pytest.raises(ArithmeticError, match="0"):
        run_parallel(run_job, range(3))


def test_jobs_inherit_context_of_caller():
    """The context holds NumPy's error state, which does not ignore overflow by default."""
    states = []
    with np.errstate(over="ignore"):
        run_parallel(lambda job: states.append(np.geterr()["over"]), range(8))
    assert states == ["ignore"] * 8
