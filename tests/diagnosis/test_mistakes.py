"""The catalogue: the output of each mistake, and of each pair, is unique."""

import numpy as np
import pytest

from attention_docs.diagnosis import comparing
from attention_docs.diagnosis.cases import CASES, expected_steps
from attention_docs.diagnosis.comparing import output_with
from attention_docs.diagnosis.mistakes import CHANGES, CONVENTIONS, MISTAKES
from attention_docs.diagnosis.recipe import Call, LayerCall, attend, attend_in_heads
from attention_docs.multi_head import MultiHeadAttention

# One case for each call: the dtype and the memory layout do not change the output.
CASES_BY_CALL = {case.call: case for case in CASES.values() if not case.gradients}
FORWARD_CASES = list(CASES_BY_CALL.values())


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


def fingerprint(mistakes) -> tuple[bytes, ...]:
    """Return the rounded outputs of all cases with these mistakes, as hashable bytes."""
    outputs = (output_with(case, mistakes) for case in FORWARD_CASES)
    return tuple(b"" if output is None else rounded_bytes(output) for output in outputs)


def rounded_bytes(output) -> bytes:
    without_negative_zero = output.round(6) + 0.0
    return np.nan_to_num(without_negative_zero, nan=1e9).tobytes()


def indistinguishable(combinations) -> set[frozenset[frozenset[str]]]:
    """Return the groups of combinations, each a set of mistakes' names, that have equal outputs."""
    groups: dict[tuple[bytes, ...], set[frozenset[str]]] = {}
    for mistakes in combinations:
        names = frozenset(mistake.name for mistake in mistakes)
        groups.setdefault(fingerprint(mistakes), set()).add(names)
    return {frozenset(group) for group in groups.values() if len(group) > 1}


SINGLE_MISTAKES = [(mistake,) for mistake in MISTAKES]


def test_outputs_of_mistakes_are_unique():
    assert not indistinguishable([(), *SINGLE_MISTAKES])


def test_names_and_summaries_are_unique_and_steps_exist():
    names = [deviation.name for deviation in (*MISTAKES, *CONVENTIONS)]
    assert len(set(names)) == len(names)
    assert len({mistake.summary for mistake in MISTAKES}) == len(MISTAKES)
    assert CHANGES.keys() == {mistake.name for mistake in MISTAKES}
    for mistake in MISTAKES:
        assert mistake.changes.keys() <= comparing.recipe.CORRECT_STEPS.keys()
