"""The catalogue: the output of each mistake, and of each pair, is unique."""

import numpy as np
import pytest

from attention_docs.diagnosis import comparing
from attention_docs.diagnosis.cases import CASES
from attention_docs.diagnosis.comparing import output_with
from attention_docs.diagnosis.mistakes import CONVENTIONS, MISTAKES, compatible_pairs
from attention_docs.diagnosis.recipe import LayerCall, attend, attend_in_heads

# One case for each call: the dtype and the memory layout do not change the output.
CASES_BY_CALL = {case.call: case for case in CASES.values() if not case.gradients}
FORWARD_CASES = list(CASES_BY_CALL.values())


@pytest.mark.parametrize("case", FORWARD_CASES, ids=lambda case: case.name)
def test_recipe_without_changes_equals_the_package(case):
    compute = attend_in_heads if isinstance(case.call, LayerCall) else attend
    np.testing.assert_allclose(
        compute(case.call), case.expected()["output"], rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_mistake_changes_output_of_its_case(mistake):
    case = CASES[mistake.shows_in]
    output = output_with(case, (mistake,))
    assert output is not None
    results = {"output": output}
    assert comparing.first_difference(case, results, case.expected(), comparing.Settings())


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


# Swapped arguments fit only cases of equal sizes, in which these mistakes have no effect.
NO_EFFECT_ON_SWAPPED_ARGUMENTS = (
    set(),
    {"bias_before_scale"},
    {"bias_ignored"},
    {"bias_multiplied"},
    {"bias_subtracted"},
    {"divided_by_scale"},
    {"heads_tiled"},
)
# Groups with equal outputs: the mistakes in common, and sets that have no effect beside them.
INDISTINGUISHABLE = [
    (
        {"keys_and_values_swapped"},
        (*NO_EFFECT_ON_SWAPPED_ARGUMENTS, {"divided_by_root_of_d_v"}),
    ),
    ({"queries_and_keys_swapped"}, NO_EFFECT_ON_SWAPPED_ARGUMENTS),
    (
        {"queries_and_values_swapped"},
        (
            *NO_EFFECT_ON_SWAPPED_ARGUMENTS,
            {"divided_by_root_of_d_v"},
            {"exponentials_overflow"},
        ),
    ),
    (
        set(),
        (
            {"heads_without_transpose"},
            {"heads_split_without_transpose", "heads_merged_without_transpose"},
        ),
    ),
    ({"keys_as_values"}, (set(), {"divided_by_root_of_d_v"})),
    ({"causal_ignored"}, (set(), {"scaled_after_mask"}, {"softcap_after_mask"})),
    (
        {"softmax_over_heads"},  # with one head, every weight is 1
        (
            set(),
            {"bias_before_scale"},
            {"divided_by_scale"},
            {"mask_after_softmax"},
            {"scale_ignored"},
            {"scale_on_top_of_default"},
            {"softcap_ignored"},
            {"softcap_not_scaled_back"},
        ),
    ),
    ({"mask_times_infinity"}, (set(), {"causal_shows_next_position"}, {"window_too_wide"})),
    ({"no_output_projection"}, (set(), {"output_bias_ignored"}, {"output_weights_transposed"})),
    ({"no_softmax"}, (set(), {"mask_after_softmax"}, {"mask_multiplies_scores"})),
    # A float mask does not fit the additional key, so these cases have no output.
    (
        {"padding_not_hidden"},
        (set(), {"bias_before_scale"}, {"bias_multiplied"}, {"bias_subtracted"}),
    ),
    ({"weights_not_normalised"}, (set(), {"mask_after_softmax"})),
]


@pytest.mark.thorough
def test_outputs_of_pairs_are_unique_except_listed():
    groups = indistinguishable([(), *SINGLE_MISTAKES, *compatible_pairs()])
    assert groups == {
        frozenset(frozenset(common | names) for names in without_effect)
        for common, without_effect in INDISTINGUISHABLE
    }


def test_names_and_summaries_are_unique_and_steps_exist():
    names = [deviation.name for deviation in (*MISTAKES, *CONVENTIONS)]
    assert len(set(names)) == len(names)
    assert len({mistake.summary for mistake in MISTAKES}) == len(MISTAKES)
    for mistake in MISTAKES:
        assert mistake.shows_in in CASES
        assert mistake.changes.keys() <= comparing.recipe.CORRECT_STEPS.keys()
