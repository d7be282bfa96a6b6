"""An example that is repeated in the page trains as Python does."""

import re

import numpy as np
import pytest

from attention_docs.render.numbers import number
from tests.live.graphs import page_graph
from tests.live.page_modules.nodejs import in_node
from tests.live.training import shown_after_training

# Repeats a graph with a rate. Returns the shown digits of each step, by the number of iterations, and
# the last refusal.
TRAIN = """
    (() => {
        const parsed = graph.parse(data.json);
        const edits = new Map([["rate", {shape: [1], data: Float64Array.of(data.rate), dtype: "float64"}]]);
        const shown = {};
        let state = new Map(), lastRefusal = null;
        for (let i = 0; i <= Math.max(...data.counts); i++) {
            const { values, refusal } = graph.evaluate(parsed, edits, state);
            lastRefusal = refusal;
            if (data.counts.includes(i)) shown[i] = Object.fromEntries([...parsed.steps].map(([step, node]) =>
                [step, [...values[node].data].map((value) => show.number(value, "float64"))]));
            state = graph.carry(parsed, values);
        }
        return { shown, lastRefusal };
    })()
"""


# Larger rates make the training chaotic: after more steps, rounding errors show.
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rate", "counts"),
    [(0.01, [50]), (0.03, [0, 1, 10, 100, 200]), (0.1, [50]), (0.3, [50]), (1.0, [1, 10])],
)
def test_training_in_the_page_shows_the_digits_of_python(rate, counts):
    data = {"json": page_graph("course_training"), "rate": rate, "counts": counts}
    shown = in_node(TRAIN, data)["shown"]
    for count, steps in shown_after_training(rate, counts).items():
        for step, array in steps.items():
            digits = [number(value) for value in np.ravel(array)]
            assert shown[str(count)][step] == digits, (count, step)


def test_training_that_overflows_stops_as_in_python():
    data = {"json": page_graph("course_training"), "rate": 1e200, "counts": [1]}
    refusal = in_node(TRAIN, data)["lastRefusal"]
    assert refusal["error"] == "ValueError"
    # Which number overflows first depends on rounding, so the index in the message may differ.
    message, _, _ = refusal["message"].partition(" at ")
    with pytest.raises(ValueError, match=re.escape(message)), np.errstate(all="ignore"):
        shown_after_training(1e200, [1])
