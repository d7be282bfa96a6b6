"""Derivatives in the browser, compared with finite differences and with examples."""

import copy
import json
from pathlib import Path

import numpy as np
import pytest

from tests.live.graphs import page_graph, page_graphs
from tests.live.page_modules.nodejs import in_node

GRADIENTS = Path(__file__).with_name("gradients.js").as_uri()
CHECK = f"""
    await (async () => {{
        const {{ check }} = await import({json.dumps(GRADIENTS)});
        const graphs = Object.entries(data.graphs);
        return Object.fromEntries(graphs.map(([name, json]) => [name, check(json, data.count)]));
    }})()
"""
# For each element of a step, its derivatives with respect to all elements of other steps.
JACOBIANS = """
    (() => {
        const parsed = graph.parse(data.graph);
        const { shape, data: elements } = parsed.values[parsed.steps.get(data.step)];
        return [...elements.keys()].map((position) => {
            const index = arrays.unravel(position, shape);
            const derivatives = gradient.gradient(parsed, parsed.values, { step: data.step, index });
            return data.inputs.map((input) => [...derivatives[parsed.nodesByName.get(input)]]);
        });
    })()
"""
# Examples with derivatives at a kink: a maximum with ties, or a number rounded to another one.
WITH_KINKS = {
    *("chosen_keys", "convolution", "mask_blocks", "tiles"),
    *("around_softmax", "long_context_costs", "models_by_name", "quantised_cache"),
    *("compressed_keys", "exp2_polynomial", "fp8_blocks", "lazy_rescaling", "split_sums"),
}
# Two keys tie for the last chosen one; the absolute value of a feature that is zero has a kink; a
# number is rounded at a tie.
WITH_TIES = {"chosen_keys", "exp2_polynomial", "fp8_blocks", "quantised_cache"}
# How many of the compared derivatives are equal, at the least.
EQUAL_DERIVATIVES = 50_000
MATRIX, ROW = (2, 3), (3,)
# Each operation with its inputs (shapes or numbers) and its attributes.
OPERATION_CASES = [
    *((operation, [MATRIX, ROW], {}) for operation in ("add", "subtract", "multiply", "divide")),
    *((operation, [(2, 1), MATRIX], {}) for operation in ("maximum", "pow", "remainder")),
    *((operation, [MATRIX], {}) for operation in ("abs", "acos", "cos", "exp", "log", "negative")),
    *((operation, [MATRIX], {}) for operation in ("sin", "sqrt", "tanh")),
    ("where", [[[True, False, True], [False, False, True]], MATRIX, ROW], {}),
    *((name, [MATRIX], {}) for name in ("max", "mean", "min", "sum")),
    *((name, [MATRIX], {"axis": -1, "keepdims": True}) for name in ("max", "mean", "min", "sum")),
    ("sum", [(2, 3, 4)], {"axis": [0, 2]}),
    ("matmul", [(2, 3), (3, 4)], {}),
    ("matmul", [(3,), (3, 4)], {}),
    ("matmul", [(2, 3), (3,)], {}),
    ("matmul", [(3,), (3,)], {}),
    ("matmul", [(2, 1, 2, 3), (4, 3, 2)], {}),
    ("astype", [MATRIX], {"dtype": "float64"}),
    ("getitem", [(4, 3)], {"index": [{"slice": [3, None, -2]}, None, 1]}),
    ("getitem", [(2, 4, 3)], {"index": ["...", 2]}),
    ("reshape", [MATRIX], {"shape": [3, -1]}),
    ("permute_dims", [(2, 3, 4)], {"axes": [2, 0, 1]}),
    ("matrix_transpose", [(2, 3, 4)], {}),
    ("flip", [MATRIX], {"axis": 1}),
    ("take", [MATRIX, [2, 0, 2]], {"axis": 1}),
    ("repeat", [MATRIX], {"repeats": 2, "axis": 0}),
    ("concat", [MATRIX, (1, 3)], {"axis": 0}),
    ("concat", [MATRIX, ROW], {"axis": None}),
    ("stack", [MATRIX, MATRIX], {"axis": 1}),
]


def graph_of(operation, inputs, attributes):
    """Return a graph of one operation on random numbers, positive ones where required."""
    draw = np.random.default_rng(7)
    minimum = 0.1 if operation in ("log", "pow", "sqrt") else -0.9
    arrays = [
        draw.uniform(minimum, 0.9, shape_or_numbers)
        if isinstance(shape_or_numbers, tuple)
        else np.asarray(shape_or_numbers)
        for shape_or_numbers in inputs
    ]
    nodes = [
        ["asarray", [], {"value": array.tolist(), "dtype": array.dtype.name}] for array in arrays
    ]
    names = [f"input_{i}" for i in range(len(inputs))]
    # An operation names each operand by how many nodes before it the operand is.
    offsets = [len(inputs) - i for i in range(len(inputs))]
    return {
        "example": operation,
        "nodes": [*nodes, [operation, offsets, attributes]],
        "steps": {**{name: i for i, name in enumerate(names)}, "result": len(inputs)},
        "inputs": names,
        "scopes": [],
        "guards": [],
    }


def check_derivatives(graphs, count):
    """Compare derivatives of `count` elements per array with finite differences."""
    return in_node(CHECK, {"graphs": graphs, "count": count})


def jacobians(graph, step, *inputs):
    """Return the Jacobian of a step with respect to each input, as an (elements, elements) array."""
    rows_by_element = in_node(JACOBIANS, {"graph": graph, "step": step, "inputs": inputs})
    return [np.array(rows) for rows in zip(*rows_by_element, strict=True)]


def test_all_differentiable_operations_have_cases():
    differentiable = in_node("""
        Object.entries(operations.operations)
            .filter(([, { kind, slopes }]) => slopes !== null || kind === "rearrangement")
            .map(([name]) => name)
    """)
    # The derivative of `round` is that of the identity, which differences would not give.
    tested = {operation for operation, *_ in OPERATION_CASES} | {"round"}
    assert set(differentiable) == tested


def test_operation_derivatives_equal_finite_differences():
    graphs = {f"{i}: {case[0]}": graph_of(*case) for i, case in enumerate(OPERATION_CASES)}
    for name, report in check_derivatives(graphs, count=100).items():
        assert not report["faults"], name
        assert report["counts"]["same"] > 0, name


@pytest.mark.thorough
def test_step_derivatives_equal_finite_differences():
    reports = check_derivatives(page_graphs(), count=4)
    faults = [f"{name}: {fault}" for name, report in reports.items() for fault in report["faults"]]
    assert not faults
    assert sum(report["counts"]["same"] for report in reports.values()) > EQUAL_DERIVATIVES
    assert examples_with("one side", reports) <= WITH_KINKS
    assert examples_with("tie", reports) <= WITH_TIES


def examples_with(outcome, reports):
    """Return the names of the examples of which a comparison had an outcome."""
    return {name for name, report in reports.items() if report["counts"][outcome]}


def test_derivative_of_tied_maximum_goes_to_first_operand():
    (by_vector,) = jacobians(graph_of("max", [[1.0, 2.0, 2.0]], {}), "result", "input_0")
    assert by_vector.tolist() == [[0, 1, 0]]
    maximum = graph_of("maximum", [2.0, 2.0], {})
    by_first, by_second = jacobians(maximum, "result", "input_0", "input_1")
    assert by_first == 1
    assert by_second == 0


def test_cancelling_derivatives_are_exactly_zero():
    """The weights of a query sum to one for all inputs, so the sum has zero derivatives."""
    graph = copy.deepcopy(page_graph("distinct_sizes"))
    sums_node = len(graph["nodes"])
    offset_of_weights = sums_node - graph["steps"]["weights"]
    graph["steps"]["sums"] = sums_node
    graph["nodes"].append(["sum", [offset_of_weights], {"axis": -1}])
    for derivatives in jacobians(graph, "sums", "X_q", "X_kv", "W_Q", "W_K"):
        assert not derivatives.any()
