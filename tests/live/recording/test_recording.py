"""Recording examples as graphs: same numbers, and clear errors for the rest."""

import array_api_compat
import numpy as np
import pytest

from attention_docs import examples
from attention_docs.arrays import namespace
from attention_docs.examples import self_attention
from attention_docs.live.graph import graph
from attention_docs.live.library import Tape, UnknownOperationError
from attention_docs.live.recording import attempt, record, recorded_names
from tests.live.replay import replay

NAMES = recorded_names()


@pytest.mark.parametrize("name", NAMES)
def test_recorded_steps_equal_numpy_bitwise(name):
    recorded, expected = record(name).steps, examples.steps(name)
    assert list(recorded) == list(expected)
    for step, array in expected.items():
        actual = recorded[step].value
        assert actual.dtype == array.dtype
        np.testing.assert_array_equal(actual, array)
        np.testing.assert_array_equal(np.signbit(actual), np.signbit(array))


def test_equal_literals_are_edited_separately():
    assert self_attention.W_Q == self_attention.W_V  # otherwise this test would show nothing
    steps = replay("self_attention", {"W_Q": np.zeros((4, 2))}).steps
    assert not np.any(steps["Q"])
    np.testing.assert_array_equal(steps["V"], examples.steps("self_attention")["V"])
    nodes = graph("self_attention")["steps"]
    assert nodes["W_Q"] != nodes["W_V"]


def test_literal_of_several_steps_is_one_input():
    word_order = graph("word_order")
    assert word_order["steps"]["V"] == word_order["steps"]["X_english"]
    assert word_order["inputs"] == ["X_japanese", "X_english"]


def test_recorded_array_follows_array_api_standard():
    tape = Tape()
    x = tape.xp.asarray([[1.0, 2.0]])
    assert array_api_compat.is_array_api_obj(x)
    assert array_api_compat.array_namespace(x) is tape.xp
    assert array_api_compat.device(x) == "cpu"
    assert namespace(query=x, key=2 * x) is tape.xp
    with pytest.raises(TypeError, match="key is an array of numpy"):
        namespace(query=x, key=np.ones(2))


def test_vector_is_indexed_by_array_of_integers():
    tape = Tape()
    index = tape.xp.asarray([[2, 0], [1, 1]])
    looked_up = tape.xp.asarray([3.0, 5.0, 7.0])[index]
    np.testing.assert_array_equal(looked_up.value, [[7, 3], [5, 5]])
    assert {"take", "reshape"} <= {node.operation for node in tape.nodes}


@pytest.mark.parametrize(
    ("name", "apply"),
    [
        ("svd", lambda xp, x: xp.svd(x)),
        ("multiply", lambda xp, x: x * np.ones(2)),
        ("multiply", lambda xp, x: np.ones(2) * x),
        ("add", lambda xp, x: x + "1"),
        ("xp.where", lambda xp, x: x.__setitem__(0, 1.0)),
        ("xp.take", lambda xp, x: x[x > 1]),
        ("xp.take", lambda xp, x: x[[0, 1]]),
        ("xp.stack", lambda xp, x: xp.asarray([x, x])),
        ("count_nonzero", lambda xp, x: xp.count_nonzero(x)),
    ],
)
def test_error_names_what_to_use_or_what_cannot_be_recorded(name, apply):
    xp = Tape().xp
    with pytest.raises(UnknownOperationError, match=name):
        apply(xp, xp.asarray([1.0, 2.0]))


def test_read_independent_of_inputs_is_no_guard():
    # `padding_mask` reads its lengths, which no reader can edit.
    assert any(read.answer is False for read in attempt("causal_padding").tape.reads)
    guards = str(graph("causal_padding")["guards"])
    assert "query holds " in guards
    assert "lengths" not in guards
