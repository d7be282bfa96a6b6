"""References on a page resolve to the same elements as in Python."""

import numpy as np

from attention_docs.examples import steps
from attention_docs.lookup import look_up
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


def resolved(*references):
    """Return what references to the example `self_attention` resolve to."""
    return in_node(
        "data.references.map((text) => reference.resolve(text, graph.parse(data.graph)))",
        {"graph": page_graph("self_attention"), "references": references},
    )


def test_references_resolve_as_in_python():
    for reference, target in zip(REFERENCES, resolved(*REFERENCES), strict=True):
        expected = np.asarray(look_up(reference, steps))
        assert target["shape"] == list(expected.shape), reference
        array = np.asarray(steps("self_attention")[target["step"]])
        # A reference to a shape has sizes, any other has cells.
        values = target["sizes"] or [array[tuple(index)] for index in target["cells"]]
        assert values == expected.reshape(-1).tolist(), reference


def test_slices_resolve_as_in_numpy():
    cells = {"1,1:3": [[1, 1], [1, 2]], "2,:1": [[2, 0]], "0:2,3": [[0, 3], [1, 3]]}
    targets = resolved(*(f"self_attention.X[{index}]" for index in cells))
    assert [target["cells"] for target in targets] == list(cells.values())


def test_invalid_references_raise():
    messages = {
        "self_attention.nothing": "self_attention has nothing called self_attention.nothing",
        "self_attention.Q[a]": "self_attention has nothing called self_attention.Q[a]",
        "Q": "self_attention has nothing called Q",
        "self_attention.Q[9]": "index 9 is outside an axis of 3",
    }
    raised = in_node(
        """data.references.map((text) => {
            try {
                reference.resolve(text, graph.parse(data.graph));
            } catch (error) {
                return error.message;
            }
            return "no error";
        })""",
        {"graph": page_graph("self_attention"), "references": list(messages)},
    )
    assert raised == list(messages.values())
