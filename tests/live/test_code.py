"""The code to copy below an example takes other numbers as Python writes them."""

import zlib

import numpy as np

from attention_docs import examples
from attention_docs.live.recording import recorded_names
from attention_docs.render.code import numpy_steps
from attention_docs.render.latex import latex_steps
from tests.live.edits import new_number
from tests.live.running import digits, in_node

WRITERS = {"numpy": numpy_steps, "latex": latex_steps}
EDITED = 0.5


def edited(name):
    """The steps of an example, with another number in half of the places."""
    draw = np.random.default_rng(zlib.crc32(name.encode()))
    steps = {step: np.array(array) for step, array in examples.steps(name).items()}
    for array in steps.values():
        for place in np.flatnonzero(draw.random(array.size) < EDITED):
            array.flat[place] = new_number(draw, array.dtype)
    return steps


def written(array):
    return [digits(value) for value in np.asarray(array).flat]


def test_code_with_other_numbers_is_that_of_python():
    cases, expected = [], []
    for name in recorded_names():
        before, now = examples.steps(name), edited(name)
        steps = [
            {"dtype": now[step].dtype.name, "before": written(before[step]), "now": written(array)}
            for step, array in now.items()
        ]
        for form, write in WRITERS.items():
            cases.append({"form": form, "text": write(before), "steps": steps})
            expected.append(write(now))
    found = in_node(
        """data.map(({ form, text, steps }) => copies.withNumbers(text, form, steps.map(
            ({ dtype, before, now }) => ({ dtype, before: before.map(Number), now: now.map(Number) })
        )))""",
        cases,
    )
    for case, code, wanted in zip(cases, found, expected, strict=True):
        assert code.splitlines() == wanted.splitlines(), case["form"]
