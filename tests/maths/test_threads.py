"""Threads over jobs: BLAS is held meanwhile, and gets back what it had, whatever happens."""

import threading

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from attention_docs.kernels.threads import blas_threads, one_blas_thread, run_parallel


@pytest.fixture(autouse=True)
def two_threads():
    """Let BLAS have two threads, on a machine of one core as well."""
    if not ThreadpoolController().select(user_api="blas").lib_controllers:
        pytest.skip("threadpoolctl knows no function of this BLAS")
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        yield
        assert blas_threads() == 2


def test_holds_blas_to_one_thread_and_tells_what_it_had():
    with one_blas_thread() as threads:
        assert threads == 2
        assert blas_threads() == 1
    assert blas_threads() == 2


def test_gives_back_after_an_error():
    with pytest.raises(KeyError), one_blas_thread():
        raise KeyError
    assert blas_threads() == 2


def test_the_first_to_leave_does_not_free_blas_and_the_last_does():
    first, second = one_blas_thread(), one_blas_thread()
    assert first.__enter__() == 2
    assert second.__enter__() == 2
    first.__exit__(None, None, None)
    assert blas_threads() == 1
    second.__exit__(None, None, None)
    assert blas_threads() == 2


class NoBlas:
    """The libraries of a NumPy whose BLAS threadpoolctl does not know: none."""

    lib_controllers = ()


@pytest.mark.parametrize(("cores", "threads"), [(8, 8), (None, 1)])
def test_without_a_blas_that_it_knows_each_core_gets_a_thread(monkeypatch, cores, threads):
    with monkeypatch.context() as patched:
        patched.setattr("attention_docs.kernels.threads._controller", NoBlas)
        patched.setattr("os.cpu_count", lambda: cores)
        assert blas_threads() == threads


def in_another_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


def test_whoever_is_last_frees_blas_and_whoever_is_first_holds_it():
    first = one_blas_thread()
    with one_blas_thread():  # this thread has set BLAS before
        pass
    in_another_thread(first.__enter__)
    assert blas_threads() == 1
    first.__exit__(None, None, None)
    assert blas_threads() == 2
    first = one_blas_thread()
    first.__enter__()
    in_another_thread(lambda: first.__exit__(None, None, None))
    assert blas_threads() == 2


def test_does_every_job_once_on_several_threads():
    done, meet = [], threading.Barrier(2, timeout=10)

    def work(job):
        meet.wait()  # passes only when two threads are here at once
        done.append((job, blas_threads()))

    run_parallel(work, range(4))
    assert sorted(done) == [(job, 1) for job in range(4)]


def test_one_job_alone_leaves_blas_its_threads():
    seen = []
    run_parallel(
        lambda job: seen.append((job, blas_threads(), threading.current_thread())), ["job"]
    )
    assert seen == [("job", 2, threading.current_thread())]


def test_no_job_is_no_work():
    run_parallel(pytest.fail, [])


def test_an_error_in_a_job_is_raised_and_blas_is_free():
    def work(job):
        raise ArithmeticError(job)

    with pytest.raises(ArithmeticError, match="0"):
        run_parallel(work, range(3))
    assert blas_threads() == 2


def test_jobs_have_the_context_of_the_caller():
    """NumPy keeps there which warnings are ignored."""
    before = np.geterr()["over"]
    with np.errstate(over="ignore"):
        found = []
        run_parallel(lambda job: found.append(np.geterr()["over"]), range(8))
    assert before != "ignore"
    assert found == ["ignore"] * 8
