"""Literals of examples: rewriting them, and refusing those that an edit would not reach."""

import sys

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.examples import self_attention
from attention_docs.live import literals
from attention_docs.live.graph import graph
from attention_docs.live.recording import record

CODE = """
import numpy

X = [1, 2]
{constant}

def steps(xp=numpy):
    x = xp.asarray(X, dtype=xp.float64)
    return {{"x": x, "y": {result}}}
"""


@pytest.fixture
def write_example(tmp_path, monkeypatch):
    """Return a function that writes an example named `temporary`, given the code of its step y."""
    monkeypatch.setattr(examples, "__path__", [*examples.__path__, str(tmp_path)])

    def write(result, constant=""):
        (tmp_path / "temporary.py").write_text(
            CODE.format(result=result, constant=constant), encoding="utf-8"
        )

    clear_caches()
    yield write
    clear_caches()
    sys.modules.pop(f"{examples.__name__}.temporary", None)


def clear_caches():
    for function in (
        examples.load,
        record,
        literals.shared_literals,
        literals.lists_in_constants,
        literals.statements,
    ):
        function.cache_clear()


# The code of step y, and of a constant that it uses.
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("result", "constant"),
    [
        ("x * X[0]", ""),
        ("x * FIRST", "FIRST = X[0]"),
        ("x + xp.asarray([X[1], 7.0])", ""),
        ("xp.stack([x, x]) if X[1] > 3 else x + x", ""),
        ("xp.reshape(x, (X[0], -1))", ""),
        ("x * xp.full((2,), X[1])", ""),
    ],
)
def test_literal_used_as_scalar_is_refused(write_example, result, constant):
    write_example(result, constant)
    with pytest.raises(
        literals.LiteralError, match="example 'temporary': the literal X of temporary"
    ):
        graph("temporary")


def test_input_that_is_no_constant_is_refused(write_example):
    array_without_constant = "xp.asarray([3.0, 4.0])"
    write_example(f"(y := {array_without_constant}), 'sum': x + y")
    with pytest.raises(
        literals.LiteralError, match="example 'temporary': a reader could edit 'y', which"
    ):
        graph("temporary")


def test_rewritten_literals_reach_importers_and_are_restored():
    # `permutation` imports X from `self_attention`.
    original_x = examples.steps("permutation")["X"]
    original_namespace = vars(self_attention).copy()
    third_row = literals.LiteralPosition("self_attention", "X", (2,))
    with literals.rewritten_literals("permutation", {third_row: [5, 6, 7, 8]}):
        np.testing.assert_array_equal(examples.steps("permutation")["X"][2], [5, 6, 7, 8])
    np.testing.assert_array_equal(examples.steps("permutation")["X"], original_x)
    for name, value in original_namespace.items():
        assert vars(self_attention)[name] is value
