"""The catalogue: each mistake, and each two at once, has digits of its own."""

import numpy as np
import pytest

from attention_docs.diagnosis import comparing
from attention_docs.diagnosis.cases import CASES
from attention_docs.diagnosis.comparing import mistaken
from attention_docs.diagnosis.mistakes import CONVENTIONS, MISTAKES, pairs
from attention_docs.diagnosis.recipe import LayerCall, attend, attend_in_heads

# One case of each call; other dtypes and other memory change no digit.
FORWARD = list({case.call: case for case in CASES.values() if not case.gradients}.values())


@pytest.mark.parametrize("case", FORWARD, ids=lambda case: case.name)
def test_the_recipe_without_a_mistake_is_the_attention_of_the_package(case):
    compute = attend_in_heads if isinstance(case.call, LayerCall) else attend
    np.testing.assert_allclose(compute(case.call), case.right()["output"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_shows_in_the_case_that_it_names(mistake):
    case = CASES[mistake.shows_in]
    found = mistaken(case, (mistake,))
    assert found is not None
    assert comparing.differing(case, {"output": found}, case.right(), comparing.Settings())


def digits(made) -> tuple[bytes, ...]:
    """What these mistakes give in each case, rounded: the same for mistakes that share digits."""
    outputs = (mistaken(case, made) for case in FORWARD)
    return tuple(
        b"" if o is None else np.nan_to_num(o.round(6) + 0.0, nan=1e9).tobytes() for o in outputs
    )


def shared(several) -> set[frozenset[str]]:
    """Group mistakes whose digits are the same, each written as names with a plus."""
    groups: dict[tuple[bytes, ...], set[str]] = {}
    for made in several:
        groups.setdefault(digits(made), set()).add(" + ".join(m.name for m in made))
    return {frozenset(names) for names in groups.values() if len(names) > 1}


def test_each_mistake_has_digits_of_its_own():
    assert not shared([(), *((mistake,) for mistake in MISTAKES)])


# Swapped arguments fit only where sizes agree, and there these do not show.
NOT_SEEN_WHERE_ARGUMENTS_ARE_SWAPPED = (
    "",
    "bias_before_scale",
    "bias_ignored",
    "bias_multiplied",
    "bias_subtracted",
    "divided_by_scale",
    "heads_tiled",
)
# What else does not show beside each swap.
SWAPPED = {
    "keys_and_values_swapped": ("divided_by_root_of_d_v",),
    "queries_and_keys_swapped": (),
    "queries_and_values_swapped": ("divided_by_root_of_d_v", "exponentials_overflow"),
}
# Of each group, what is at work, and what leaves no trace beside it.
SHARED = [
    *(({s}, (*NOT_SEEN_WHERE_ARGUMENTS_ARE_SWAPPED, *more)) for s, more in SWAPPED.items()),
    (
        set(),
        (
            "heads_without_transpose",
            "heads_split_without_transpose + heads_merged_without_transpose",
        ),
    ),
    ({"keys_blended"}, ("", "divided_by_root_of_d_v")),
    ({"causal_ignored"}, ("", "scaled_after_mask", "softcap_after_mask")),
    (
        {"softmax_over_heads"},  # with one head, every weight is 1
        (
            "",
            "bias_before_scale",
            "divided_by_scale",
            "mask_after_softmax",
            "scale_ignored",
            "scale_on_top_of_default",
            "softcap_ignored",
            "softcap_not_scaled_back",
        ),
    ),
    (
        {"mask_times_infinity"},
        (
            "",
            "causal_shows_next_position",
            "window_too_wide",
        ),
    ),
    ({"no_output_projection"}, ("", "output_bias_ignored", "output_weights_transposed")),
    ({"no_softmax"}, ("", "mask_after_softmax", "mask_multiplies_scores")),
    # The added key has no place in a float mask, so these cases have no result.
    ({"padding_not_hidden"}, ("", "bias_before_scale", "bias_multiplied", "bias_subtracted")),
    ({"weights_not_normalised"}, ("", "mask_after_softmax")),
]


@pytest.mark.thorough
def test_each_two_mistakes_have_digits_of_their_own_but_for_those_that_are_listed():
    singles = [(), *((mistake,) for mistake in MISTAKES)]
    found = {
        frozenset(frozenset(n.split(" + ")) for n in names)
        for names in shared([*singles, *pairs()])
    }
    assert found == {
        frozenset(frozenset({*at_work, *other.split(" + ")} - {""}) for other in others)
        for at_work, others in SHARED
    }


def test_names_words_and_steps_are_of_their_own():
    names = [known.name for known in (*MISTAKES, *CONVENTIONS)]
    assert len(set(names)) == len(names)
    assert len({mistake.words for mistake in MISTAKES}) == len(MISTAKES)
    for mistake in MISTAKES:
        assert mistake.shows_in in CASES
        assert mistake.changes.keys() <= comparing.recipe.RIGHT.keys()
