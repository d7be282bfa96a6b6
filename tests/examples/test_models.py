"""Position biases, caches, grouped queries, latents and tiles: the effect of their mistakes."""

from functools import reduce
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import TileState, attend_tile, examples, merge
from attention_docs.examples import head_norms, quantised_cache
from attention_docs.examples.chosen_keys import THEY
from attention_docs.examples.head_norms import norm, norm_by_head
from attention_docs.examples.rotary_variants import SPEEDS
from attention_docs.examples.split_sums import PIECES, round_to_float16
from attention_docs.positions import rotary
from attention_docs.render.text import as_text
from attention_docs.softmax import softmax
from tests.examples.comparison import equal_on_page

# For each mistake: the example, the step with the mistake, and the correct step.
MISTAKES = {
    "new token rotated as if at position 0": ("kv_cache", "from_position_0", "last_output"),
    "default scale of absorbed queries": ("latent_attention", "default_scale", "output"),
    "positions of packed documents not restarted": ("mask_functions", "running", "alone"),
    "no mask between packed documents": ("mask_functions", "open", "alone"),
    "no temperature": ("rotary_variants", "plain", "once"),
    "temperature on queries only": ("rotary_variants", "only_queries", "once"),
    "temperature twice": ("rotary_variants", "twice", "once"),
    "temperature on rotated features only": ("rotary_variants", "on_turned", "on_scores"),
    "one norm for all heads": ("head_norms", "weights_together", "weights_by_head"),
    "one added after subtracting the maximum": ("around_softmax", "sums_late", "sums"),
    "value made from the rotated key": ("around_softmax", "value_late", "value"),
    "ALiBi's slopes as in its code": ("around_softmax", "slopes_in_code", "slopes"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistake_changes_every_displayed_number(mistake):
    name, wrong, correct = MISTAKES[mistake]
    steps = examples.steps(name)
    assert not any(equal_on_page(steps[wrong].ravel(), steps[correct].ravel()))


def test_softcap_after_mask_leaks_hidden_positions():
    steps = examples.steps("position_biases")
    capped, capped_late = steps["weights_capped"], steps["weights_capped_late"]
    for i in range(len(capped) - 1):  # the mask hides nothing from the last position
        assert as_text(capped_late[i]) != as_text(capped[i])
        assert (capped_late[i, i + 1 :] > 0).all()


def test_wrong_groups_change_only_the_middle_heads():
    steps = examples.steps("grouped_queries")
    assert equal_on_page(steps["wrong"], steps["output"]) == [True, False, False, True]


def test_absorbed_query_cannot_include_rotation():
    steps = examples.steps("latent_attention")
    alike = equal_on_page(steps["turned_absorbed"][0], steps["turned_scores"][0])
    assert alike == [True] + 3 * [False], "position 0 is not rotated"


def test_missing_rescale_changes_every_number():
    steps = examples.steps("tiles")
    assert not any(equal_on_page(steps["not_rescaled"], steps["output"][0]))


CHOSEN = examples.steps("chosen_keys")


def test_dense_output_is_blended_from_chosen_keys_and_the_rest():
    missed = CHOSEN["missed"][:, None]
    blend = (1 - missed) * CHOSEN["output_sparse"] + missed * CHOSEN["rest"]
    np.testing.assert_allclose(CHOSEN["output_dense"], blend, rtol=1e-13, atol=1e-15)


def test_choosing_before_the_causal_mask_leaves_fewer_keys():
    early, chosen = (CHOSEN[name].sum(axis=1) for name in ("early", "chosen"))
    *is_fewer, _ = early < chosen  # the mask hides nothing from the last token
    assert all(is_fewer)


def test_indexer_misses_no_more_with_rotary_positions():
    assert as_text(CHOSEN["missed_halves"]) == as_text(CHOSEN["missed"][THEY])


def test_indexer_misses_ten_times_as_much_with_the_other_rotary_layout():
    assert CHOSEN["missed_pairs"] > 10 * CHOSEN["missed_halves"]


def test_error_before_the_decay_changes_the_answer_for_the_door():
    steps = examples.steps("delta_rule")
    assert equal_on_page(steps["late_gate"][0], steps["gated"][0]) == [False, True]


def test_error_of_a_long_key_triples_with_each_write():
    errors = examples.steps("delta_rule")["repeated_errors"]
    np.testing.assert_array_equal(np.abs(errors), [1, 3, 9, 27])


def test_causal_mask_in_place_of_decay_changes_every_output_but_the_first():
    steps = examples.steps("delta_rule_chunks")
    alike = equal_on_page(steps["causal_only"], steps["output"])
    assert alike == [True] + 5 * [False]


ROTARY = examples.steps("rotary_variants")


def test_frequencies_of_the_whole_head_change_every_partial_score_but_one():
    alike = equal_on_page(ROTARY["of_head"], ROTARY["partial"])
    assert alike == [True] + 4 * [False], "nothing turns at distance 0"


def test_order_of_sections_changes_every_score_of_an_image_but_one():
    alike = equal_on_page(ROTARY["woven"].ravel(), ROTARY["chunks"].ravel())
    assert alike == 5 * [False] + [True], "the last patch is at distance 0"


@pytest.mark.parametrize("version", ["YaRN, paper", "YaRN, code"])
def test_yarn_speeds_fall_from_plain_to_interpolated(version):
    speeds = dict(zip(SPEEDS, ROTARY["speeds"], strict=True))
    plain, interpolated = 1, speeds["interpolated"][0]
    assert np.all(np.diff([plain, *speeds[version], interpolated]) <= 0)


NORMS = examples.steps("head_norms")
NORMS_AND_BOUNDS = list(zip((norm_by_head, norm), NORMS["bounds"], strict=True))


def scores_of_heads(query, key):
    """Return the scaled score of each head."""
    products = (query * key).reshape(head_norms.HEADS, head_norms.FEATURES)
    return products.sum(axis=1) / np.sqrt(head_norms.FEATURES)


@pytest.mark.parametrize(("normed", "bound"), NORMS_AND_BOUNDS)
@given(numbers=st.lists(st.integers(-9, 9), min_size=8, max_size=8))
def test_norms_bound_the_scores(normed, bound, numbers):
    query, key = np.array(numbers).reshape(2, 1, 4) + 0.5  # never zero
    scores = scores_of_heads(normed(query, np), normed(key, np))
    rounding = 1e-9
    assert np.abs(scores).max() <= bound + rounding


@pytest.mark.parametrize(("normed", "bound"), NORMS_AND_BOUNDS)
def test_equal_query_and_key_in_one_head_reach_the_bound(normed, bound):
    almost_zero = 1e-9  # the norm of zeros is not defined
    query = key = normed(np.array([[3, 4, almost_zero, almost_zero]]), np)
    head_1, _ = scores_of_heads(query, key)
    np.testing.assert_allclose(head_1, bound)


def test_gate_split_in_the_middle_changes_the_first_head():
    alike = equal_on_page(NORMS["gated_flat"], NORMS["gated"])
    assert alike == [False, False, True, True], "the second half ends with the second gate"


@given(st.lists(st.floats(0.1, 9), min_size=4, max_size=4), st.floats(0, 9))
def test_norm_without_scale_and_rotation_commute(features, position):
    row, position = np.array(features), np.array(position)
    np.testing.assert_allclose(norm(rotary(row, position), np), rotary(norm(row, np), position))


AROUND = examples.steps("around_softmax")


def test_one_in_the_denominator_is_a_key_with_a_score_of_zero():
    with_zero = np.hstack([AROUND["scores"], np.zeros((2, 1))])
    np.testing.assert_allclose(AROUND["plus_one"], softmax(with_zero)[:, :-1], rtol=1e-14)


def test_unshifted_one_makes_both_rows_equal():
    assert all(equal_on_page(*AROUND["plus_one_late"]))


def test_alibi_code_and_formula_share_two_of_six_slopes():
    in_code, by_formula = (set(map(as_text, AROUND[name])) for name in ("slopes_in_code", "slopes"))
    assert len(in_code & by_formula) == 2


SPLIT = examples.steps("split_sums")
ALL_FLOAT16 = np.arange(2**16, dtype=np.uint16).view(np.float16)
FINITE_FLOAT16 = np.unique(ALL_FLOAT16[np.isfinite(ALL_FLOAT16)]).astype(np.float64)


def test_round_to_float16_keeps_every_float16():
    np.testing.assert_array_equal(round_to_float16(FINITE_FLOAT16, np), FINITE_FLOAT16)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_round_to_float16_rounds_numbers_between_like_numpy(share):
    between = FINITE_FLOAT16[:-1] + share * np.diff(FINITE_FLOAT16)
    np.testing.assert_array_equal(round_to_float16(between, np), between.astype(np.float16))


@pytest.mark.parametrize("pieces", PIECES)
def test_output_in_pieces_equals_merge_of_float16_tiles(pieces):
    q, k, v = (SPLIT[name].astype(np.float16) for name in "QKV")
    parts = zip(np.split(k, pieces), np.split(v, pieces), strict=True)
    tiles = [attend_tile(q, *part) for part in parts]
    states = [TileState(*(array.astype(np.float16) for array in tile)) for tile in tiles]
    expected = SPLIT["outputs"][PIECES.index(pieces)]
    np.testing.assert_array_equal(reduce(merge, states).output[0], expected)


def test_three_orders_of_addition_give_three_sums():
    assert len({float(SPLIT[order]) for order in ("forward", "in_pairs", "backward")}) == 3


def test_number_of_pieces_changes_the_output():
    second_features = SPLIT["outputs"][:, 1].tolist()
    assert len(set(second_features)) == 3, "only one piece and two pieces agree"


def test_order_of_pieces_changes_both_features():
    first_to_last = SPLIT["outputs"][PIECES.index(4)]
    assert not any(equal_on_page(SPLIT["last_first"], first_to_last))


FOUR_NUMBERS = st.lists(st.integers(-9, 9), min_size=4, max_size=4)


@st.composite
def quantised_steps(draw):
    """Return the steps of `quantised_cache` for random inputs."""
    offsets = [0.5, 0.25, 0.125, 20.5]  # no number is zero, and the last channel is large
    keys = draw(st.lists(FOUR_NUMBERS, min_size=4, max_size=4)) + np.array(offsets)
    literals = {"K": keys.tolist(), "V": (keys[:, 1:3] / 3).tolist()}
    literals |= {"Q": [draw(FOUR_NUMBERS)], "BITS": [draw(st.integers(2, 8))]}
    with patch.multiple(quantised_cache, **literals):
        return quantised_cache.steps()


def is_within(error, bound):
    rounding = 1e-12
    return np.all(error <= bound * (1 + rounding))


@given(quantised_steps())
def test_keys_are_restored_to_half_a_scale(steps):
    assert is_within(np.abs(steps["K"] - steps["K_by_channel"]), steps["scales"] / 2)


@given(quantised_steps())
def test_score_errors_of_quantised_keys_stay_within_epsilon(steps):
    assert is_within(steps["score_error"], steps["epsilon"])
    assert is_within(steps["score_error_by_token"], steps["epsilon_by_token"])


@given(quantised_steps())
def test_weights_of_quantised_keys_change_by_factors_up_to_e_to_2_epsilon(steps):
    exact, by_channel, _ = steps["weights"]
    ratio = by_channel / exact
    assert is_within(np.maximum(ratio, 1 / ratio), np.exp(2 * steps["epsilon"]))


@given(quantised_steps())
def test_output_error_of_quantised_cache_stays_within_its_bound(steps):
    assert is_within(steps["output_error"], steps["output_bound"])


def test_scale_for_each_token_of_the_keys_changes_every_weight():
    exact, by_channel, by_token = examples.steps("quantised_cache")["weights"]
    assert not any(equal_on_page(by_token, exact))
    assert np.abs(by_token - exact).max() > 3 * np.abs(by_channel - exact).max()
