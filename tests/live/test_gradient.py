"""What matters for a number: the derivatives in the browser, against differences and by hand."""

import copy
import json

import numpy as np
import pytest

from attention_docs.examples import steps
from tests.conftest import ROOT
from tests.live.graphs import page_graph, page_graphs
from tests.live.running import in_node

GRADIENTS = (ROOT / "tests" / "live" / "gradients.js").as_uri()
EXAMINED = f"""
    await (async () => {{
        const {{ examine }} = await import({json.dumps(GRADIENTS)});
        const graphs = Object.entries(data.graphs);
        return Object.fromEntries(graphs.map(([name, json]) => [name, examine(json, data.count)]));
    }})()
"""
# The derivatives of each element of a step by all elements of others.
JACOBIANS = """
    (() => {
        const parsed = graph.parse(data.graph);
        const { shape, data: elements } = parsed.values[parsed.steps.get(data.step)];
        return [...elements.keys()].map((position) => {
            const index = arrays.unravel(position, shape);
            const found = gradient.gradient(parsed, parsed.values, { step: data.step, index });
            return data.by.map((name) => [...found[parsed.nodesByName.get(name)]]);
        });
    })()
"""
A, ROW = (2, 3), (3,)
# Each operation with the shapes of its inputs, or their numbers, and its attributes.
CASES = [
    *((operation, [A, ROW], {}) for operation in ("add", "subtract", "multiply", "divide")),
    *((operation, [(2, 1), A], {}) for operation in ("maximum", "pow", "remainder")),
    *((operation, [A], {}) for operation in ("abs", "acos", "cos", "exp", "log", "negative")),
    *((operation, [A], {}) for operation in ("sin", "sqrt", "tanh")),
    ("where", [[[True, False, True], [False, False, True]], A, ROW], {}),
    *((name, [A], {}) for name in ("max", "mean", "min", "sum")),
    *((name, [A], {"axis": -1, "keepdims": True}) for name in ("max", "mean", "min", "sum")),
    ("sum", [(2, 3, 4)], {"axis": [0, 2]}),
    ("matmul", [(2, 3), (3, 4)], {}),
    ("matmul", [(3,), (3, 4)], {}),
    ("matmul", [(2, 3), (3,)], {}),
    ("matmul", [(3,), (3,)], {}),
    ("matmul", [(2, 1, 2, 3), (4, 3, 2)], {}),
    ("astype", [A], {"dtype": "float64"}),
    ("getitem", [(4, 3)], {"index": [{"slice": [3, None, -2]}, None, 1]}),
    ("getitem", [(2, 4, 3)], {"index": ["...", 2]}),
    ("reshape", [A], {"shape": [3, -1]}),
    ("permute_dims", [(2, 3, 4)], {"axes": [2, 0, 1]}),
    ("matrix_transpose", [(2, 3, 4)], {}),
    ("flip", [A], {"axis": 1}),
    ("take", [A, [2, 0, 2]], {"axis": 1}),
    ("repeat", [A], {"repeats": 2, "axis": 0}),
    ("concat", [A, (1, 3)], {"axis": 0}),
    ("concat", [A, ROW], {"axis": None}),
    ("stack", [A, A], {"axis": 1}),
]


def graph_of(operation, inputs, attributes):
    """A graph of one operation on random numbers, which are positive if they have to be."""
    draw = np.random.default_rng(7)
    least = 0.1 if operation in ("log", "pow", "sqrt") else -0.9
    arrays = [
        draw.uniform(least, 0.9, given) if isinstance(given, tuple) else np.asarray(given)
        for given in inputs
    ]
    nodes = [
        ["asarray", [], {"value": array.tolist(), "dtype": array.dtype.name}] for array in arrays
    ]
    names = [f"input_{i}" for i in range(len(inputs))]
    back = [len(inputs) - i for i in range(len(inputs))]
    return {
        "version": 1,
        "example": operation,
        "nodes": [*nodes, [operation, back, attributes]],
        "steps": {**{name: i for i, name in enumerate(names)}, "result": len(inputs)},
        "inputs": names,
        "scopes": [],
        "guards": [],
    }


def examined(graphs, count):
    return in_node(EXAMINED, {"graphs": graphs, "count": count})


def jacobians(graph, step, *by):
    """The derivatives of a step by others: of each, an array of shape (elements, elements)."""
    found = in_node(JACOBIANS, {"graph": graph, "step": step, "by": by})
    return [np.array(rows) for rows in zip(*found, strict=True)]


def test_every_operation_that_is_differentiated_is_among_the_cases():
    table = in_node(
        "Object.entries(operations.operations).map(([name, each]) => [name, each.kind, each.slopes !== null])"
    )
    differentiated = {
        name for name, kind, has_slopes in table if has_slopes or kind == "rearrangement"
    }
    assert differentiated == {operation for operation, *_ in CASES} | {"round"}


def test_derivatives_of_every_operation_are_quotients_of_differences():
    named = {f"{i}: {case[0]}": graph_of(*case) for i, case in enumerate(CASES)}
    for name, found in examined(named, count=100).items():
        assert not found["faults"], name
        assert found["counts"]["same"] > 0, name


@pytest.mark.thorough
def test_derivatives_of_every_step_are_quotients_of_differences():
    found = examined(page_graphs(), count=4)
    faults = [f"{name}: {fault}" for name, each in found.items() for fault in each["faults"]]
    assert not faults
    assert sum(each["counts"]["same"] for each in found.values()) > 50_000
    # The maximum of equal scores or pixels rises with each of them, and falls with none.
    kinks = {name for name, each in found.items() if each["counts"]["one side"]}
    assert kinks <= {"convolution", "tiles"}


def test_of_equal_numbers_the_first_is_the_largest():
    (derivatives,) = jacobians(graph_of("max", [[1.0, 2.0, 2.0]], {}), "result", "input_0")
    assert derivatives.tolist() == [[0, 1, 0]]
    found = jacobians(graph_of("maximum", [2.0, 2.0], {}), "result", "input_0", "input_1")
    assert [each.tolist() for each in found] == [[[1]], [[0]]]


def test_what_cancels_is_zero_to_the_last_bit():
    """The weights of a query sum to one whatever the inputs are, so nothing changes their sum."""
    found = copy.deepcopy(page_graph("distinct_sizes"))
    back = len(found["nodes"]) - found["steps"]["weights"]
    found["steps"]["sums"] = len(found["nodes"])
    found["nodes"].append(["sum", [back], {"axis": -1}])
    for derivatives in jacobians(found, "sums", "X_q", "X_kv", "W_Q", "W_K"):
        assert not derivatives.any()


def test_hidden_positions_have_no_influence():
    """Under a causal mask, no output depends on a later value, key or query."""
    (by_input,) = jacobians(page_graph("course_mask"), "output", "course_sentence.X")
    output, words = (
        np.array(steps("course_mask")["output"]),
        np.array(steps("course_sentence")["X"]),
    )
    found = by_input.reshape(*output.shape, *words.shape)
    for query in range(len(words)):
        assert not found[query, :, query + 1 :].any()
        assert found[query, :, : query + 1].any(axis=(0, 2)).all()


def test_loss_of_the_chapter_has_the_gradients_that_it_prints():
    found, inputs = steps("backward"), ("W_Q", "W_K", "W_V", "X_q", "X_kv")
    by_input = jacobians(
        page_graph("backward"), "loss", *(f"distinct_sizes.{name}" for name in inputs)
    )
    for name, each in zip(inputs, by_input, strict=True):
        np.testing.assert_allclose(each[0], np.ravel(found[f"d{name}"]), rtol=1e-11, atol=1e-12)


def test_layer_of_the_chapter_has_the_gradients_that_it_prints():
    found = steps("backward_layer")
    printed = {
        **{name: f"d{name}" for name in ("X", "W_Q", "W_K", "W_V", "W_O", "B")},
        **{name: f"d_{name}" for name in ("gain", "shift")},
    }
    by_input = jacobians(page_graph("backward_layer"), "Y", *printed)
    for step, each in zip(printed.values(), by_input, strict=True):
        expected = np.ravel(found[step])
        np.testing.assert_allclose(np.ravel(found["dY"]) @ each, expected, rtol=1e-11, atol=1e-12)
