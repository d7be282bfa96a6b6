"""The code to copy below an example follows edits, formatted as in Python."""

import zlib

import numpy as np

from attention_docs import examples
from attention_docs.live.recording import recorded_names
from attention_docs.render.code import numpy_steps
from attention_docs.render.latex import latex_steps
from tests.live.edits import random_number
from tests.live.page_modules.nodejs import digits, in_node

WRITERS = {"numpy": numpy_steps, "latex": latex_steps}
EDITED_SHARE = 0.5


def edited_steps(name):
    """Return the steps of an example with half of the numbers replaced at random."""
    draw = np.random.default_rng(zlib.crc32(name.encode()))
    steps = {step: np.array(array) for step, array in examples.steps(name).items()}
    for array in steps.values():
        for index in np.flatnonzero(draw.random(array.size) < EDITED_SHARE):
            array.flat[index] = random_number(draw, array.dtype)
    return steps


def number_texts(array):
    return [digits(value) for value in np.asarray(array).flat]


def test_copied_code_of_edits_equals_python():
    cases, expected = [], []
    for name in recorded_names():
        before, after = examples.steps(name), edited_steps(name)
        steps = [
            {
                "dtype": array.dtype.name,
                "before": number_texts(before[step]),
                "now": number_texts(array),
            }
            for step, array in after.items()
        ]
        for format, write in WRITERS.items():
            cases.append({"format": format, "code": write(before), "steps": steps})
            expected.append(write(after))
    copies = in_node(
        """data.map(({ format, code, steps }) => {
            const stepNumbers = steps.map(({ dtype, before, now }) =>
                ({ dtype, before: before.map(Number), now: now.map(Number) }));
            return copies.withNumbers(code, format, stepNumbers);
        })""",
        cases,
    )
    for case, code, expected_code in zip(cases, copies, expected, strict=True):
        assert code.splitlines() == expected_code.splitlines(), case["format"]
