"""The library that computes a build: NumPy, or the one that ATTENTION_BACKEND names."""

import importlib.util

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.publish import computed
from attention_docs.publish.errors import PublishError
from attention_docs.render.text import text
from tests import stand_ins
from tests.conftest import mkdocs

without_cupy = pytest.mark.skipif(
    importlib.util.find_spec("cupy") is not None, reason="CuPy is installed"
)


def steps_of_a_build(name):
    return computed.ComputedExamples(computed.selected_library()).steps(name)


@pytest.mark.parametrize("setting", [{}, {"ATTENTION_BACKEND": "numpy"}], ids=str)
def test_numpy_computes_unless_told_otherwise(monkeypatch, setting):
    monkeypatch.delenv("ATTENTION_BACKEND", raising=False)
    for name, value in setting.items():
        monkeypatch.setenv(name, value)
    assert text(steps_of_a_build("self_attention")) == examples.expected("self_attention")


def test_the_library_computes_and_the_results_come_to_the_host(monkeypatch):
    monkeypatch.setenv("ATTENTION_BACKEND", "cupy")
    monkeypatch.setattr(computed, "backend", {"cupy": stand_ins.cupy_namespace()}.get)
    steps = steps_of_a_build("self_attention")
    assert {type(array) for array in steps.values()} == {np.ndarray}
    assert text(steps) == examples.expected("self_attention")


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
