"""The code to copy below an example follows edits, formatted as in Python."""

import zlib

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.live.recording import recorded_names
from attention_docs.render.code import numpy_steps
from attention_docs.render.latex import latex_steps
from tests.live.edits import random_number
from tests.live.page_modules.nodejs import digits, in_node

EDITED_SHARE = 0.5


def edited_steps(name):
    """Return the steps of an example with half of the numbers replaced at random."""
    draw = np.random.default_rng(zlib.crc32(name.encode()))
    steps = {step: np.array(array) for step, array in examples.steps(name).items()}
    for array in steps.values():
        for index in np.flatnonzero(draw.random(array.size) < EDITED_SHARE):
            array.flat[index] = random_number(draw, array.dtype)
    return steps


def json_steps(before, after):
    """Return the dtype and the numbers of each step, before and after an edit."""
    return [
        {"dtype": array.dtype.name, "before": all_digits(before[step]), "now": all_digits(array)}
        for step, array in after.items()
    ]


def all_digits(array):
    return [digits(value) for value in np.asarray(array).flat]


@pytest.mark.parametrize(
    ("format", "write"), [("numpy", numpy_steps), ("latex", latex_steps)], ids=["numpy", "latex"]
)
def test_copied_code_of_edits_equals_python(format, write):
    original_steps = [examples.steps(name) for name in recorded_names()]
    edited = [edited_steps(name) for name in recorded_names()]
    cases = [
        {"code": write(before), "steps": json_steps(before, after)}
        for before, after in zip(original_steps, edited, strict=True)
    ]
    copies = in_node(
        """data.cases.map(({ code, steps }) => {
            const stepNumbers = steps.map(({ dtype, before, now }) =>
                ({ dtype, before: before.map(Number), now: now.map(Number) }));
            return copies.withNumbers(code, data.format, stepNumbers);
        })""",
        {"format": format, "cases": cases},
    )
    for code, steps in zip(copies, edited, strict=True):
        assert code.splitlines() == write(steps).splitlines()
