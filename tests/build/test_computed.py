"""What a build computes of the examples, with NumPy or the library that ATTENTION_BACKEND names."""

import importlib.util
import itertools
import shutil
from concurrent.futures import Future

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.examples import self_attention
from attention_docs.live.recording import record
from attention_docs.publish import computed
from attention_docs.publish.errors import PublishError
from attention_docs.render.text import as_text
from tests import stand_ins
from tests.conftest import ROOT, mkdocs

without_cupy = pytest.mark.skipif(
    importlib.util.find_spec("cupy") is not None, reason="CuPy is installed"
)


@pytest.fixture
def root(tmp_path):
    """A project with nothing but the sources."""
    shutil.copytree(ROOT / "attention_docs", tmp_path / "attention_docs")
    return tmp_path


@pytest.fixture
def steps_of_a_build(root):
    """Compute an example as a build does, which keeps what it computed for the next one."""

    def steps(name):
        return computed.ComputedExamples(root).steps(name)

    return steps


@pytest.mark.parametrize("setting", [{}, {"ATTENTION_BACKEND": "numpy"}], ids=str)
def test_numpy_computes_unless_told_otherwise(steps_of_a_build, monkeypatch, setting):
    monkeypatch.delenv("ATTENTION_BACKEND", raising=False)
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    assert as_text(steps_of_a_build("self_attention")) == examples.expected("self_attention")


def test_the_library_computes_and_the_results_come_to_the_host(steps_of_a_build, monkeypatch):
    monkeypatch.setenv("ATTENTION_BACKEND", "cupy")
    monkeypatch.setattr(computed, "backend", {"cupy": stand_ins.cupy_namespace()}.get)
    steps = steps_of_a_build("self_attention")
    assert {type(array) for array in steps.values()} == {np.ndarray}
    assert as_text(steps) == examples.expected("self_attention")


def test_the_next_build_has_the_same_bits_and_computes_nothing(steps_of_a_build, monkeypatch):
    first = steps_of_a_build("causal_padding")
    monkeypatch.setattr(computed.examples, "steps", lambda *_: pytest.fail("computed again"))
    again = steps_of_a_build("causal_padding")
    assert list(again) == list(first)
    for name, array in first.items():
        assert (again[name].dtype, again[name].shape) == (array.dtype, array.shape)
        assert again[name].tobytes() == array.tobytes()


def test_a_changed_source_and_another_library_compute_anew(root, steps_of_a_build, monkeypatch):
    known = steps_of_a_build("self_attention")
    other = {"Q": np.zeros(1)}
    monkeypatch.setattr(computed.examples, "steps", lambda *_: other)
    assert steps_of_a_build("self_attention").keys() == known.keys()
    with monkeypatch.context() as patched:
        patched.setattr(computed, "selected_library", stand_ins.cupy_namespace)
        assert steps_of_a_build("self_attention") == other
    (root / "attention_docs" / "softmax.py").write_text("# another softmax\n", encoding="utf-8")
    assert steps_of_a_build("self_attention") == other


def test_graph_is_kept_too_and_recorded_anew_when_a_source_changes(root, monkeypatch):
    build = computed.ComputedExamples(root)
    recorded = build.graph("self_attention")
    monkeypatch.setattr(computed.live, "graph", lambda name: {"nodes": []})
    assert computed.ComputedExamples(root).graph("self_attention") == recorded
    (root / "attention_docs" / "softmax.py").write_text("# another softmax\n", encoding="utf-8")
    assert computed.ComputedExamples(root).graph("self_attention") == '{"nodes":[]}'


class Pool:
    """Begins no job by itself."""

    def __init__(self, *_):
        self.jobs = {}
        self.ended = None

    def submit(self, compute, kind, name):
        return self.jobs.setdefault((kind, name), Future())

    def shutdown(self, **how):
        self.ended = how


@pytest.fixture
def pool(monkeypatch):
    pool = Pool()
    monkeypatch.setattr(computed, "ProcessPoolExecutor", lambda *_: pool)
    return pool


def test_pool_is_given_what_the_last_build_did_not_compute(steps_of_a_build, root, pool):
    steps_of_a_build("self_attention")
    with computed.ComputedExamples(root).computing_in_background():
        every_job = set(itertools.product(computed.COMPUTATIONS, examples.names()))
    assert every_job - set(pool.jobs) == {("steps", "self_attention")}
    assert pool.ended == {"wait": False}


def test_pool_ends_with_a_build_that_fails(root, pool):
    with pytest.raises(PublishError), computed.ComputedExamples(root).computing_in_background():
        raise PublishError("wrong")
    assert pool.ended == {"cancel_futures": True}


def test_steps_that_the_pool_has_not_begun_are_taken_over_and_a_graph_is_waited_for(root, pool):
    build = computed.ComputedExamples(root)
    with build.computing_in_background():
        assert as_text(build.steps("cost")) == examples.expected("cost")
    assert pool.jobs["steps", "cost"].cancelled()
    begun = pool.jobs["steps", "self_attention"]
    begun.set_running_or_notify_cancel()
    begun.set_result(computed.serialise({"Q": np.zeros(1)}))
    assert build.steps("self_attention") == {"Q": np.zeros(1)}
    pool.jobs["graph", "cost"].set_result("from the pool")
    assert build.graph("cost") == "from the pool"


def test_operation_that_cannot_be_recorded_stops_the_build(root, monkeypatch):
    monkeypatch.setattr(self_attention, "steps", lambda xp: {"X": xp.svd(xp.asarray([[1.0]]))})
    record.cache_clear()
    with pytest.raises(PublishError, match="example 'self_attention': svd cannot be recorded"):
        computed.ComputedExamples(root).graph("self_attention")


def test_a_library_that_is_unknown_is_refused(monkeypatch):
    monkeypatch.setenv("ATTENTION_BACKEND", "jax")
    with pytest.raises(PublishError, match="ATTENTION_BACKEND: backend is 'jax'; expected 'numpy'"):
        computed.selected_library()


@without_cupy
def test_a_build_without_cupy_says_what_is_missing_before_anything_else(project):
    built = mkdocs(project, "build", "--strict", ATTENTION_BACKEND="cupy")
    assert built.returncode != 0
    (line,) = built.stderr.strip().splitlines()
    assert line.startswith("ERROR   -  ATTENTION_BACKEND: backend 'cupy' needs CuPy: pip install")
