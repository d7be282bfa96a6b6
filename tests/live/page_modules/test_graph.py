"""The browser computes every step of every example as Python does, also after edits."""

import re
import zlib
from collections import Counter

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.live.recording import recorded_names
from attention_docs.render.numbers import number
from tests.live.edits import every_pair, every_row, inputs, random_edit
from tests.live.graphs import COMPUTED, page_graph
from tests.live.page_modules.nodejs import digits, in_node
from tests.live.replay import replay

pytestmark = pytest.mark.first

RANDOM_EDITS = 10
FEW_EDITS = 5  # that may depend on rounding
# A few times the relative rounding error of float64.
ROUNDING = 1e-15
# The rounding error of a step, relative to its largest number.
ROUNDING_OF_STEP = 1e-12
# Evaluate a graph with edits; return the shape, dtype and numbers of each step, or the refusal.
EVALUATE = """
    (parsed, edits) => {
        const { values, refusal } = graph.evaluate(parsed, edits);
        if (refusal) return refusal;
        return Object.fromEntries([...parsed.steps].map(([step, node]) => {
            const { shape, data, dtype } = values[node];
            return [step, { shape, dtype, data: [...data].map(String) }];
        }));
    }
"""


@pytest.mark.thorough
def test_every_step_equals_python():
    results = in_node(
        f"""Object.fromEntries(Object.entries(data).map(([name, json]) =>
            [name, ({EVALUATE})(graph.parse(json), new Map())]
        ))""",
        {name: page_graph(name) for name in examples.names()},
    )
    differences = Counter()
    for name in examples.names():
        differences += compare_steps(name, COMPUTED.steps(name), results[name])
    assert not differences, "digits of the page's own numbers differ"


@pytest.mark.thorough
@pytest.mark.parametrize("name", recorded_names())
def test_edits_give_same_digits_and_errors_as_numpy(name):
    literals = inputs(page_graph(name))
    if not literals:
        pytest.skip(f"{name} has no literal inputs")
    draw = np.random.default_rng(zlib.crc32(name.encode()))
    edits = [*every_row(draw, literals), *every_pair(draw, literals)]
    edits += [random_edit(draw, literals) for _ in range(RANDOM_EDITS)]
    counts = Counter()
    for edit, result in zip(edits, evaluate_in_node(page_graph(name), edits), strict=True):
        counts += compare_after_edit(name, edit, result)
    # Python refuses some edits, or branches where the recorded graph does not; at least one edit must
    # give numbers to compare. In a few cases, Python compares numbers that differ by rounding only.
    assert counts["error"] + counts["another branch"] < len(edits), counts
    assert counts["comparison of last bits"] <= FEW_EDITS, counts
    assert counts["last bits of large numbers that cancel"] <= FEW_EDITS, counts


def compare_after_edit(name, edit, result):
    """Compare an edited example with NumPy, and count errors and differences by rounding."""
    operations = {operation for operation, *_ in page_graph(name)["nodes"]}
    if operations & {"sin", "cos"} and has_large_numbers(edit):
        return Counter(["last bits of sines, enlarged"])
    replayed = replay(name, edit)
    if replayed.error is not None:
        expected = {"error": type(replayed.error).__name__, "message": str(replayed.error)}
        assert without_overflow(result) == without_overflow(expected), edit
        return Counter(["error"])
    if "error" in result:
        assert result == {"error": None, "message": None}, edit
        return Counter(["another branch"])
    unseen = largest_number(edit) if has_large_numbers(edit) else 0.0
    return compare_steps(name, replayed.steps, result, unseen)


def evaluate_in_node(graph, edits):
    serialised_edits = [
        {
            name: {
                "shape": array.shape,
                "data": list(map(digits, array.flat)),
                "dtype": array.dtype.name,
            }
            for name, array in edit.items()
        }
        for edit in edits
    ]
    return in_node(
        f"""(() => {{
            const parsed = graph.parse(data.graph);
            const arrayOf = (json) => ({{ ...json, data: Float64Array.from(json.data, Number) }});
            return data.edits.map((edit) => {{
                const arrays = Object.entries(edit).map(([input, json]) => [input, arrayOf(json)]);
                return ({EVALUATE})(parsed, new Map(arrays));
            }});
        }})()""",
        {"graph": graph, "edits": serialised_edits},
    )


def without_overflow(refusal):
    """Mask overflows in a message: inf - inf is nan unless the processor fuses multiply and add."""
    return {**refusal, "message": re.sub(r"\b(-?inf|nan) at \[.*?\]", "# at #", refusal["message"])}


def has_large_numbers(edit):
    """Whether the last bits of an edit's numbers, which engines round differently, exceed one."""
    return largest_number(edit) > 1 / ROUNDING


def largest_number(edit):
    return max(map(largest_magnitude, edit.values()))


def compare_steps(name, steps, result, largest_unseen=0.0):
    """Compare the steps of an example, and count the digits that differ by rounding, by reason.

    Args:
        largest_unseen: the largest number that may cancel in a sum that is not a step. Then its
            last bits may be all that is left, so steps may differ by these, but must be finite.
    """
    counts = Counter()
    assert list(result) == list(steps)
    # Differences keep the rounding errors of large numbers: gradients subtract an average.
    rounding = ROUNDING * max(map(largest_magnitude, steps.values()))
    for step, array in steps.items():
        expected = np.asarray(array)
        assert tuple(result[step]["shape"]) == expected.shape, (name, step)
        assert (result[step]["dtype"] == "bool") == (expected.dtype == bool), (name, step)
        values = np.array([float(value) for value in result[step]["data"]])
        flat = expected.reshape(-1)
        is_equal = (values == flat) | (np.isnan(values) & np.isnan(flat.astype(float)))
        if expected.dtype == bool and not is_equal.all():
            counts["comparison of last bits"] += 1
            continue
        largest = largest_magnitude(expected)
        with np.errstate(all="ignore"):
            difference = np.abs(values - flat)
        is_wrong = ~(is_equal | (difference <= max(ROUNDING_OF_STEP * largest, rounding)))
        if is_wrong.any() and (difference[is_wrong] <= ROUNDING * largest_unseen).all():
            counts["last bits of large numbers that cancel"] = 1  # in all steps of this edit
            continue
        assert not is_wrong.any(), (name, step, values[is_wrong], flat[is_wrong])
        for value, exact in zip(values[~is_equal], flat[~is_equal], strict=True):
            if number(value) != number(exact):
                reason = rounding_reason(value, exact, largest, rounding)
                assert reason, (name, step, value, exact)
                counts[reason] += 1
    return counts


def largest_magnitude(array):
    flat = np.asarray(array).reshape(-1)
    return float(np.max(np.abs(flat[np.isfinite(flat)].astype(float)), initial=0))


def rounding_reason(value, exact, largest, rounding):
    """Return why numbers that differ only in their last bits have different digits, or None."""
    if max(abs(value), abs(exact)) <= ROUNDING_OF_STEP * largest:
        return "terms that cancel"
    if abs(value - exact) <= max(1e-9 * abs(exact), rounding):
        return "tie at the last digit"
    return None
