"""The catalogue of mistakes: each has an output of its own, a name and existing steps."""

import numpy as np
import pytest

from attention_docs.diagnosis.cases import CASES, expected_steps
from attention_docs.diagnosis.comparing import output_with
from attention_docs.diagnosis.mistakes import CHANGES, CONVENTION_CHANGES, CONVENTIONS, MISTAKES
from attention_docs.diagnosis.recipe import CORRECT_STEPS, Call, LayerCall, attend, attend_in_heads
from attention_docs.multi_head import MultiHeadAttention

# One case for each call: the dtype and the memory layout do not change the output.
FORWARD_CASES = {case.call: case for case in CASES.values() if not case.compares_gradients}.values()


def package_output(call):
    """Return the output of the package's own functions."""
    if isinstance(call, Call):
        return expected_steps(call).output
    matrices = {f"W_{letter}": matrix for letter, matrix in call.weights.items()}
    biases = {f"b_{letter}": bias for letter, bias in call.biases.items()}
    layer = MultiHeadAttention(**matrices, **biases, num_heads=call.heads)
    return layer(call.query, call.key, call.key, is_causal=call.is_causal)


@pytest.mark.parametrize("case", FORWARD_CASES, ids=lambda case: case.name)
def test_recipe_without_changes_equals_the_package(case):
    compute = attend_in_heads if isinstance(case.call, LayerCall) else attend
    np.testing.assert_allclose(
        compute(case.call), package_output(case.call), rtol=1e-12, atol=1e-12
    )


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
