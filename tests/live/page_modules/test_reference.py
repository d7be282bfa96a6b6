"""References on a page resolve to the same elements as in Python."""

import numpy as np
import pytest

from attention_docs.examples import steps
from attention_docs.publish.before.values import look_up
from tests.live.graphs import page_graph
from tests.live.page_modules.nodejs import in_node

REFERENCES = [
    "self_attention.weights",
    "self_attention.weights[0,1]",
    "self_attention.weights[ -1 ]",
    "self_attention.weights[:,1]",
    "self_attention.weights[:,-1]",
    "self_attention.W_Q.shape",
    "self_attention.W_Q.shape[0]",
    "self_attention.W_Q.shape[-1]",
]


def test_references_resolve_as_in_python():
    resolved = in_node(
        "data[1].map((each) => reference.resolve(each, graph.parse(data[0])))",
        [page_graph("self_attention"), REFERENCES],
    )
    for reference, target in zip(REFERENCES, resolved, strict=True):
        expected = np.asarray(look_up(reference, steps))
        array = np.asarray(steps("self_attention")[target["step"]])
        assert target["shape"] == list(expected.shape), reference
        values = target["sizes"] or [array[tuple(index)] for index in target["cells"]]
        assert values == expected.reshape(-1).tolist(), reference


@pytest.mark.parametrize(
    ("index", "cells"),
    [("1,1:3", [[1, 1], [1, 2]]), ("2,:1", [[2, 0]]), ("0:2,3", [[0, 3], [1, 3]])],
)
def test_slices_resolve_as_in_numpy(index, cells):
    target = in_node(
        "reference.resolve(data[1], graph.parse(data[0]))",
        [page_graph("self_attention"), f"self_attention.X[{index}]"],
    )
    assert target["cells"] == cells


@pytest.mark.parametrize(
    "reference", ["self_attention.nothing", "self_attention.Q[a]", "Q", "a.Q[9]"]
)
def test_invalid_reference_raises(reference):
    message = in_node(
        "(() => { try { reference.resolve(data[1], graph.parse(data[0])); return null; }"
        " catch (error) { return error.message; } })()",
        [page_graph("self_attention"), reference],
    )
    assert message
