"""Steps and graphs of the examples in a build: array library and cache."""

import shutil

import array_api_strict
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


def build_steps(root, name="self_attention"):
    """Return the steps of an example in a new build."""
    return computed.ComputedExamples(root).steps(name)


def test_steps_are_computed_with_the_selected_library_and_moved_to_numpy(root, monkeypatch):
    monkeypatch.setenv("ATTENTION_BACKEND", "cupy")
    monkeypatch.setattr(computed, "backend", {"cupy": array_api_strict}.get)
    steps = build_steps(root)
    assert all(isinstance(array, np.ndarray) for array in steps.values())
    assert as_text(steps).endswith(examples.expected("self_attention"))


def test_cached_steps_are_bitwise_equal(root, monkeypatch):
    computed_steps = build_steps(root, "causal_padding")
    monkeypatch.setattr(computed.examples, "steps", lambda *_: pytest.fail("computed again"))
    cached_steps = build_steps(root, "causal_padding")
    assert list(cached_steps) == list(computed_steps)
    for name, array in computed_steps.items():
        assert cached_steps[name].dtype == array.dtype
        assert cached_steps[name].shape == array.shape
        assert cached_steps[name].tobytes() == array.tobytes()


def test_steps_are_recomputed_with_another_library(root, monkeypatch):
    build_steps(root)
    new_steps = {"Q": np.zeros(1)}
    monkeypatch.setattr(computed.examples, "steps", lambda *_: new_steps)
    monkeypatch.setattr(computed, "selected_library", lambda: array_api_strict)
    assert build_steps(root) == new_steps


def test_graph_is_cached_until_the_code_changes(root, monkeypatch):
    graph = computed.ComputedExamples(root).graph("self_attention")
    monkeypatch.setattr(computed.live, "graph", lambda _: {"nodes": []})
    assert computed.ComputedExamples(root).graph("self_attention") == graph
    code = root / "attention_docs" / "softmax.py"
    code.write_text("# another softmax\n", encoding="utf-8")
    assert computed.ComputedExamples(root).graph("self_attention") == '{"nodes":[]}'


def test_operation_that_cannot_be_recorded_stops_the_build(root, monkeypatch):
    monkeypatch.setattr(self_attention, "steps", lambda xp: {"X": xp.svd(xp.asarray([[1.0]]))})
    record.cache_clear()  # which may hold an earlier recording of self_attention
    with pytest.raises(PublishError, match="example 'self_attention': svd cannot be recorded"):
        computed.ComputedExamples(root).graph("self_attention")
