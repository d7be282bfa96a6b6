"""Steps and graphs of the examples in a build, and their cache."""

import shutil

import numpy as np
import pytest

from attention_docs.examples import self_attention
from attention_docs.live.recording import record
from attention_docs.publish import computed
from attention_docs.publish.errors import PublishError
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


def test_operation_that_cannot_be_recorded_stops_the_build(root, monkeypatch):
    monkeypatch.setattr(self_attention, "steps", lambda xp: {"X": xp.svd(xp.asarray([[1.0]]))})
    record.cache_clear()
    with pytest.raises(PublishError, match="example 'self_attention': svd cannot be recorded"):
        computed.ComputedExamples(root).graph("self_attention")
