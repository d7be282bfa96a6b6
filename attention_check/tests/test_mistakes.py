"""The catalogue of mistakes: each has an output of its own, a name and existing steps."""

import numpy as np
import pytest

from attention_check.cases import CASES
from attention_check.comparing import output_with
from attention_check.mistakes import CHANGES, CONVENTION_CHANGES, CONVENTIONS, MISTAKES
from attention_check.recipe import CORRECT_STEPS

# One case for each call: the dtype and the memory layout do not change the output.
FORWARD_CASES = {case.call: case for case in CASES.values() if not case.compares_gradients}.values()


def rounded_outputs(*mistakes):
    """Return the rounded outputs of all cases with these mistakes, as hashable bytes."""
    return tuple(rounded_bytes(output_with(case, mistakes)) for case in FORWARD_CASES)


def rounded_bytes(output):
    """Return an output as bytes that are equal for equal numbers; none if there is no output."""
    if output is None:
        return b""
    without_negative_zero = output.round(6) + 0.0
    return np.nan_to_num(without_negative_zero, nan=1e9).tobytes()  # one kind of NaN


def test_outputs_of_mistakes_are_unique():
    name_by_outputs = {rounded_outputs(): "no mistake"}
    for mistake in MISTAKES:
        outputs = rounded_outputs(mistake)
        assert outputs not in name_by_outputs, (mistake.name, name_by_outputs[outputs])
        name_by_outputs[outputs] = mistake.name


def test_summaries_are_unique():
    assert len({mistake.summary for mistake in MISTAKES}) == len(MISTAKES)


def test_catalogue_has_every_mistake_and_convention():
    assert CHANGES.keys() == {mistake.name for mistake in MISTAKES}
    assert CONVENTION_CHANGES.keys() == CONVENTIONS.keys()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_mistake_changes_existing_steps(mistake):
    assert mistake.changes.keys() <= CORRECT_STEPS.keys()
