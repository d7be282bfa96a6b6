"""The browser computes what Python computes: every step of every example, also with other inputs."""

import re
import zlib
from collections import Counter

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.live.recording import recorded_names
from attention_docs.render.numbers import number
from tests.live.edits import edit, every_number, every_pair, inputs
from tests.live.graphs import page_graph
from tests.live.replay import replay
from tests.live.running import digits, in_node

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
def test_every_step_is_that_of_python():
    found = in_node(
        f"""Object.fromEntries(Object.entries(data).map(([name, json]) => {{
            const parsed = graph.parse(json);
            return [name, ({SHOWN})(graph.evaluate(parsed, new Map()), parsed.steps)];
        }}))""",
        {name: page_graph(name) for name in examples.names()},
    )
    different = Counter()
    for name in examples.names():
        different += compare(name, examples.steps(name), found[name])
    assert not different, "digits of the page's own numbers differ"


@pytest.mark.thorough
@pytest.mark.parametrize("name", LIVE)
def test_edits_give_the_digits_and_the_refusals_of_numpy(name):
    literals = inputs(page_graph(name))
    if not literals:
        pytest.skip(f"{name} has no literal inputs")
    draw = np.random.default_rng(zlib.crc32(name.encode()))
    edits = [*every_number(draw, literals), *every_pair(draw, literals)]
    edits += [edit(draw, literals) for _ in range(EDITS)]
    found = in_node(
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
    counted = Counter()
    for edited, answer in zip(edits, found, strict=True):
        if has_sines(page_graph(name)) and holds_large_numbers(edited):
            counted["last bits of sines, enlarged"] += 1
            continue
        recording = replay(name, edited)
        if recording.error is not None:
            counted["refused"] += 1
            expected = {"error": type(recording.error).__name__, "message": str(recording.error)}
            assert without_overflow(answer) == without_overflow(expected), edited
        elif "error" in answer:
            assert answer == {"error": None, "message": None}, edited
            counted["another way"] += 1
        else:
            counted += compare(name, recording.steps, answer)
    print(f"{name}: {dict(counted)} of {len(edits)} edits")
    assert counted["refused"] + counted["another way"] < EDITS
    assert counted["comparison of last bits"] <= EDITS // 20


def without_overflow(refusal):
    """Infinity less infinity is nan, unless the processor adds before it rounds the product."""
    return {**refusal, "message": re.sub(r"\b(-?inf|nan) at \[.*?\]", "# at #", refusal["message"])}


def has_sines(graph):
    return any(operation in ("sin", "cos") for operation, *_ in graph["nodes"])


def holds_large_numbers(edited):
    """Whether an edit is so large that the last bit of a sine, which engines round differently,
    decides between two keys or between an infinity and a number."""
    finite = (array[np.isfinite(array)] for array in edited.values() if array.dtype.kind == "f")
    return any(np.abs(numbers).max(initial=0) > 1e15 for numbers in finite)


def compare(name, steps, answer):
    """Compare the steps of an example, and count the digits on the edge of rounding."""
    counted = Counter()
    assert list(answer) == list(steps)
    # A difference of large numbers keeps their rounding: gradients subtract an average.
    rounding = 1e-15 * max(map(largest_in, steps.values()))
    for step, array in steps.items():
        expected = np.asarray(array)
        assert tuple(answer[step]["shape"]) == expected.shape, (name, step)
        values = np.array([float(value) for value in answer[step]["data"]])
        flat = expected.reshape(-1)
        same = (values == flat) | (np.isnan(values) & np.isnan(flat.astype(float)))
        with np.errstate(all="ignore"):
            largest = largest_in(expected)
            close = np.abs(values - flat) <= max(1e-12 * largest, rounding)
        if (
            expected.dtype == bool and not same.all()
        ):  # it asks whether two ways agree to the last bits
            counted["comparison of last bits"] += 1
            continue
        assert (same | close).all(), (name, step, values[~(same | close)], flat[~(same | close)])
        for value, wanted, shown in zip(values, flat.tolist(), answer[step]["shown"], strict=True):
            if shown != number(wanted):
                kind = edge(value, wanted, largest, rounding)
                assert kind, (name, step, value, wanted, shown)
                counted[kind] += 1
    return counted


def largest_in(array):
    """Return the largest size of a finite number."""
    flat = np.asarray(array).reshape(-1)
    return float(np.max(np.abs(flat[np.isfinite(flat)].astype(float)), initial=0))


def edge(value, wanted, largest, rounding):
    """Say why two numbers that differ in their last bits only are shown with other digits."""
    if max(abs(value), abs(wanted)) <= 1e-12 * largest:
        return "rest of a difference"
    return "edge of rounding" if abs(value - wanted) <= max(1e-9 * abs(wanted), rounding) else None
