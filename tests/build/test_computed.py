"""Steps and graphs of the examples in a build: cache and background process."""

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
from tests.conftest import ROOT


@pytest.fixture
def root(tmp_path):
    """A project that consists of the package only."""
    shutil.copytree(ROOT / "attention_docs", tmp_path / "attention_docs")
    return tmp_path


@pytest.fixture
def build_steps(root):
    """A function that returns the steps of an example as a new build would."""

    def build_steps(name):
        return computed.ComputedExamples(root).steps(name)

    return build_steps


def test_cached_steps_are_bitwise_equal(build_steps, monkeypatch):
    computed_steps = build_steps("causal_padding")
    monkeypatch.setattr(computed.examples, "steps", lambda *_: pytest.fail("computed again"))
    cached_steps = build_steps("causal_padding")
    assert list(cached_steps) == list(computed_steps)
    for name, array in computed_steps.items():
        assert cached_steps[name].dtype == array.dtype
        assert cached_steps[name].shape == array.shape
        assert cached_steps[name].tobytes() == array.tobytes()


def test_steps_are_recomputed_if_a_source_changes(root, build_steps, monkeypatch):
    steps = build_steps("self_attention")
    other_steps = {"Q": np.zeros(1)}
    monkeypatch.setattr(computed.examples, "steps", lambda *_: other_steps)
    assert build_steps("self_attention").keys() == steps.keys()
    (root / "attention_docs" / "softmax.py").write_text("# another softmax\n", encoding="utf-8")
    assert build_steps("self_attention") == other_steps


def test_graph_is_cached_until_a_source_changes(root, monkeypatch):
    build = computed.ComputedExamples(root)
    recorded = build.graph("self_attention")
    monkeypatch.setattr(computed.live, "graph", lambda name: {"nodes": []})
    assert computed.ComputedExamples(root).graph("self_attention") == recorded
    (root / "attention_docs" / "softmax.py").write_text("# another softmax\n", encoding="utf-8")
    assert computed.ComputedExamples(root).graph("self_attention") == '{"nodes":[]}'


class QueuingPool:
    """A stand-in for a process pool that never starts a job."""

    def __init__(self):
        self.jobs = {}
        self.shutdown_options = None

    def submit(self, compute, kind, name):
        return self.jobs.setdefault((kind, name), Future())

    def shutdown(self, **options):
        self.shutdown_options = options


@pytest.fixture
def pool(monkeypatch):
    pool = QueuingPool()
    monkeypatch.setattr(computed, "ProcessPoolExecutor", lambda **_: pool)
    return pool


def test_pool_gets_only_uncached_jobs(build_steps, root, pool):
    build_steps("self_attention")
    with computed.ComputedExamples(root).computing_in_background():
        all_jobs = set(itertools.product(computed.COMPUTATIONS, examples.names()))
    assert all_jobs - set(pool.jobs) == {("steps", "self_attention")}
    assert pool.shutdown_options == {"wait": False}


def test_pool_is_cancelled_if_the_build_fails(root, pool):
    with pytest.raises(PublishError), computed.ComputedExamples(root).computing_in_background():
        raise PublishError("wrong")
    assert pool.shutdown_options == {"cancel_futures": True}


def test_queued_steps_are_computed_without_the_pool(root, pool):
    build = computed.ComputedExamples(root)
    with build.computing_in_background():
        assert as_text(build.steps("cost")) == examples.expected("cost")
    assert pool.jobs["steps", "cost"].cancelled()


def test_running_steps_and_all_graphs_are_awaited(root, pool):
    build = computed.ComputedExamples(root)
    with build.computing_in_background():
        running_job = pool.jobs["steps", "self_attention"]
        running_job.set_running_or_notify_cancel()
        running_job.set_result(computed.serialise({"Q": np.zeros(1)}))
        assert build.steps("self_attention") == {"Q": np.zeros(1)}
        pool.jobs["graph", "cost"].set_result("from the pool")
        assert build.graph("cost") == "from the pool"


def test_operation_that_cannot_be_recorded_stops_the_build(root, monkeypatch):
    monkeypatch.setattr(self_attention, "steps", lambda xp: {"X": xp.svd(xp.asarray([[1.0]]))})
    record.cache_clear()
    with pytest.raises(PublishError, match="example 'self_attention': svd cannot be recorded"):
        computed.ComputedExamples(root).graph("self_attention")
