"""The browser computes every step of every example as Python does, also after edits."""

import re
import zlib
from collections import Counter

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.live.recording import recorded_names
from attention_docs.render.numbers import number
from tests.live.edits import every_number, every_pair, inputs, random_edit
from tests.live.graphs import page_graph
from tests.live.page_modules.nodejs import digits, in_node
from tests.live.replay import replay

pytestmark = pytest.mark.first

LIVE = recorded_names()
EDITS = 100
SHOWN = """
    ({values, refusal}, steps) => refusal ?? Object.fromEntries([...steps].map(([step, node]) => {
        const {shape, data, dtype} = values[node];
        const shown = [...data].map((value) => show.number(value, dtype));
        return [step, {shape, data: [...data].map(String), shown}];
    }))
"""


@pytest.mark.thorough
def test_every_step_equals_python():
    answers = in_node(
        f"""Object.fromEntries(Object.entries(data).map(([name, json]) => {{
            const parsed = graph.parse(json);
            return [name, ({SHOWN})(graph.evaluate(parsed, new Map()), parsed.steps)];
        }}))""",
        {name: page_graph(name) for name in examples.names()},
    )
    differences = Counter()
    for name in examples.names():
        differences += compare(name, examples.steps(name), answers[name])
    assert not differences, "digits of the page's own numbers differ"


@pytest.mark.thorough
@pytest.mark.parametrize("name", LIVE)
def test_edits_give_same_digits_and_errors_as_numpy(name):
    literals = inputs(page_graph(name))
    if not literals:
        pytest.skip(f"{name} has no literal inputs")
    draw = np.random.default_rng(zlib.crc32(name.encode()))
    edits = [*every_number(draw, literals), *every_pair(draw, literals)]
    edits += [random_edit(draw, literals) for _ in range(EDITS)]
    answers = in_node(
        f"""(() => {{
            const parsed = graph.parse(data.graph);
            return data.edits.map((edits) => {{
                const changed = Object.entries(edits).map(([input, {{shape, data}}]) =>
                    [input, {{shape, data: Float64Array.from(data, Number), dtype: "float64"}}]);
                return ({SHOWN})(graph.evaluate(parsed, new Map(changed)), parsed.steps);
            }});
        }})()""",
        {
            "graph": page_graph(name),
            "edits": [
                {
                    step: {"shape": array.shape, "data": [digits(x) for x in array.flat]}
                    for step, array in edited.items()
                }
                for edited in edits
            ],
        },
    )
    counts = Counter()
    for edited, answer in zip(edits, answers, strict=True):
        if has_sine(page_graph(name)) and holds_large_numbers(edited):
            counts["last bits of sines, enlarged"] += 1
            continue
        recording = replay(name, edited)
        if recording.error is not None:
            counts["refused"] += 1
            expected = {"error": type(recording.error).__name__, "message": str(recording.error)}
            assert without_overflow(answer) == without_overflow(expected), edited
        elif "error" in answer:
            assert answer == {"error": None, "message": None}, edited
            counts["another way"] += 1
        else:
            counts += compare(name, recording.steps, answer)
    print(f"{name}: {dict(counts)} of {len(edits)} edits")
    assert counts["refused"] + counts["another way"] < EDITS
    assert counts["comparison of last bits"] <= EDITS // 20


def without_overflow(refusal):
    """Mask overflows in a message: inf - inf is nan unless the processor fuses multiply and add."""
    return {**refusal, "message": re.sub(r"\b(-?inf|nan) at \[.*?\]", "# at #", refusal["message"])}


def has_sine(graph):
    return any(operation in ("sin", "cos") for operation, *_ in graph["nodes"])


def holds_large_numbers(edited):
    """Whether an edit is so large that the last bit of a sine, which engines round differently,
    changes the result."""
    finite = (array[np.isfinite(array)] for array in edited.values() if array.dtype.kind == "f")
    return any(np.abs(numbers).max(initial=0) > 1e15 for numbers in finite)


def compare(name, steps, answer):
    """Compare the steps of an example, and count the digits that differ by rounding."""
    counts = Counter()
    assert list(answer) == list(steps)
    # Differences keep the rounding errors of large numbers: gradients subtract an average.
    rounding = 1e-15 * max(map(largest_magnitude, steps.values()))
    for step, array in steps.items():
        expected = np.asarray(array)
        assert tuple(answer[step]["shape"]) == expected.shape, (name, step)
        values = np.array([float(value) for value in answer[step]["data"]])
        flat = expected.reshape(-1)
        same = (values == flat) | (np.isnan(values) & np.isnan(flat.astype(float)))
        with np.errstate(all="ignore"):
            largest = largest_magnitude(expected)
            close = np.abs(values - flat) <= max(1e-12 * largest, rounding)
        if expected.dtype == bool and not same.all():  # a comparison of last bits
            counts["comparison of last bits"] += 1
            continue
        assert (same | close).all(), (name, step, values[~(same | close)], flat[~(same | close)])
        for value, exact, shown in zip(values, flat.tolist(), answer[step]["shown"], strict=True):
            if shown != number(exact):
                kind = rounding_kind(value, exact, largest, rounding)
                assert kind, (name, step, value, exact, shown)
                counts[kind] += 1
    return counts


def largest_magnitude(array):
    """Return the largest magnitude of the finite numbers."""
    flat = np.asarray(array).reshape(-1)
    return float(np.max(np.abs(flat[np.isfinite(flat)].astype(float)), initial=0))


def rounding_kind(value, exact, largest, rounding):
    """Return why numbers that differ only in their last bits have different digits, or None."""
    if max(abs(value), abs(exact)) <= 1e-12 * largest:
        return "rest of a difference"
    return "edge of rounding" if abs(value - exact) <= max(1e-9 * abs(exact), rounding) else None
