"""Position biases, caches, grouped queries, latents and tiles: the effect of their mistakes."""

from functools import reduce
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_docs import TileState, attend_tile, examples, merge
from attention_docs.examples import quantised_cache
from attention_docs.examples.chosen_keys import largest
from attention_docs.examples.head_norms import norm, norm_by_head
from attention_docs.examples.split_sums import round_to_float16
from attention_docs.positions import rotary
from attention_docs.render.text import as_text
from attention_docs.softmax import softmax


def equal_on_page(wrong, correct):
    """Return for each number whether its displayed digits are those of the correct one."""
    return [as_text(a) == as_text(b) for a, b in zip(wrong, correct, strict=True)]


BIASES = examples.steps("position_biases")


def test_softcap_after_mask_leaks_hidden_positions():
    late = BIASES["weights_capped_late"]
    for i in range(4):
        assert as_text(late[i]) != as_text(BIASES["weights_capped"][i])
        assert (late[i, i + 1 :] > 0).all()


CACHE = examples.steps("kv_cache")


def test_new_token_at_position_0_changes_every_number():
    assert not any(equal_on_page(CACHE["from_position_0"][0], CACHE["last_output"][0]))


GROUPED = examples.steps("grouped_queries")


def test_wrong_groups_change_only_the_middle_heads():
    assert equal_on_page(GROUPED["wrong"], GROUPED["output"]) == [True, False, False, True]


LATENT = examples.steps("latent_attention")


def test_default_scale_changes_every_absorbed_output():
    assert not any(equal_on_page(LATENT["default_scale"][0], LATENT["output"][0]))


def test_absorbed_query_cannot_include_rotation():
    at_position_0, *at_later_positions = equal_on_page(
        LATENT["turned_absorbed"][0], LATENT["turned_scores"][0]
    )
    assert at_position_0, "position 0 is not rotated"
    assert not any(at_later_positions)


TILES = examples.steps("tiles")


def test_missing_rescale_changes_every_number():
    assert not any(equal_on_page(TILES["not_rescaled"], TILES["output"][0]))


CHOSEN = examples.steps("chosen_keys")


@given(st.lists(st.integers(-2, 2), min_size=6, max_size=6), st.integers(1, 6))
def test_largest_marks_the_last_of_equal_scores(row, count):
    order = sorted(range(6), key=lambda j: (row[j], j), reverse=True)
    (marked,) = largest(np.array([row]), np.array([count]), np)
    assert [*np.flatnonzero(marked)] == sorted(order[:count])


def test_dense_output_is_blended_from_chosen_keys_and_the_rest():
    missed = CHOSEN["missed"][:, None]
    blend = (1 - missed) * CHOSEN["output_sparse"] + missed * CHOSEN["rest"]
    np.testing.assert_allclose(CHOSEN["output_dense"], blend, rtol=1e-13, atol=1e-15)


def test_choosing_before_the_causal_mask_leaves_fewer_keys():
    assert not CHOSEN["early"][0].any()
    assert (CHOSEN["early"][1:7].sum(axis=1) < CHOSEN["chosen"][1:7].sum(axis=1)).all()


def test_other_rotary_layout_chooses_other_keys():
    assert as_text(CHOSEN["missed_halves"]) == as_text(CHOSEN["missed"][4])
    assert CHOSEN["missed_pairs"] > 10 * CHOSEN["missed_halves"]


DELTA, CHUNKS = examples.steps("delta_rule"), examples.steps("delta_rule_chunks")


def test_error_before_the_decay_changes_the_answer_for_the_door():
    assert equal_on_page(DELTA["late_gate"][0], DELTA["gated"][0]) == [False, True]


def test_errors_of_long_keys_grow():
    np.testing.assert_array_equal(np.abs(DELTA["repeated_errors"]), [1, 3, 9, 27])


def test_causal_mask_in_place_of_decay_changes_every_output_but_the_first():
    alike = equal_on_page(CHUNKS["causal_only"], CHUNKS["output"])
    assert alike == [True, False, False, False, False, False]


MASKS = examples.steps("mask_functions")


def test_packed_document_needs_restarted_positions():
    assert all(equal_on_page(MASKS["restarted"], MASKS["alone"]))
    assert not any(equal_on_page(MASKS["running"], MASKS["alone"]))
    assert not any(equal_on_page(MASKS["open"], MASKS["alone"]))
    assert all(equal_on_page(MASKS["turned_running"], MASKS["turned_restarted"]))


ROTARY = examples.steps("rotary_variants")


def test_frequencies_of_the_whole_head_change_every_partial_score_but_one():
    alike = equal_on_page(ROTARY["of_head"], ROTARY["partial"])
    assert alike == [True, False, False, False, False], "nothing turns at distance 0"


def test_temperature_on_queries_alone_or_twice_changes_every_weight():
    for mistake in ("plain", "only_queries", "twice"):
        assert not any(equal_on_page(ROTARY[mistake], ROTARY["once"]))


def test_temperature_on_turned_features_changes_every_score():
    assert not any(equal_on_page(ROTARY["on_turned"], ROTARY["on_scores"]))


def test_order_of_sections_changes_images_but_not_text():
    assert ROTARY["text_alike"]
    alike = [equal_on_page(*rows) for rows in zip(ROTARY["woven"], ROTARY["chunks"], strict=True)]
    assert alike == [[False] * 3, [False, False, True]], "the last patch is at distance 0"


def test_yarn_speeds_lie_between_interpolated_and_plain():
    _, interpolated, _, paper, code = ROTARY["speeds"]
    for yarn in (paper, code):
        assert ((interpolated <= yarn) & (yarn <= 1)).all()
        assert (np.diff(yarn) <= 0).all()


NORMS = examples.steps("head_norms")


@given(st.lists(st.integers(-9, 9), min_size=8, max_size=8))
def test_norms_bound_scores_by_the_root_of_the_features(features):
    q, k = np.array(features).reshape(2, 1, 4) + 0.5  # no row of zeros
    scores = {
        normed: np.sum((normed(q, np) * normed(k, np)).reshape(2, 2), axis=1) / np.sqrt(2)
        for normed in (norm_by_head, norm)
    }
    assert np.abs(scores[norm_by_head]).max() <= NORMS["bounds"][0] * (1 + 1e-9)
    assert np.abs(scores[norm]).max() <= NORMS["bounds"][1] * (1 + 1e-9)


def test_bounds_of_scores_are_reached():
    same = np.array([[3.0, 4.0, 0.0, 0.0]]) + 1e-9
    for normed, bound in zip((norm_by_head, norm), NORMS["bounds"], strict=True):
        rows = normed(same, np)[0, :2]
        np.testing.assert_allclose(rows @ rows / np.sqrt(2), bound)


def test_norm_of_all_heads_changes_every_weight():
    for head in range(2):
        assert not any(
            equal_on_page(NORMS["weights_together"][head], NORMS["weights_by_head"][head])
        )


def test_gate_split_in_the_middle_changes_the_first_head():
    alike = equal_on_page(NORMS["gated_flat"], NORMS["gated"])
    assert alike == [False, False, True, True], "the second half ends with the second gate"


@given(st.lists(st.floats(0.1, 9), min_size=4, max_size=4), st.floats(0, 9))
def test_norm_without_scale_and_rotation_commute(features, position):
    row, angle = np.array(features), np.array(position)
    np.testing.assert_allclose(norm(rotary(row, angle), np), rotary(norm(row, np), angle))


AROUND = examples.steps("around_softmax")


def test_one_in_the_denominator_is_a_key_with_a_score_of_zero():
    with_zero = np.hstack([AROUND["scores"], np.zeros((2, 1))])
    np.testing.assert_allclose(AROUND["plus_one"], softmax(with_zero)[:, :-1], rtol=1e-14)


def test_unshifted_one_makes_both_rows_equal():
    assert all(equal_on_page(*AROUND["plus_one_late"]))
    assert not any(equal_on_page(AROUND["sums_late"], AROUND["sums"]))


def test_value_from_rotated_key_changes_both_features():
    assert not any(equal_on_page(AROUND["value_late"], AROUND["value"]))


def test_alibi_slopes_of_code_and_formula_differ_for_six_heads():
    assert not any(equal_on_page(AROUND["slopes_in_code"], AROUND["slopes"]))
    both = {as_text(slope) for name in ("slopes", "slopes_in_code") for slope in AROUND[name]}
    assert len(both) == 10, "two slopes are in both, at other heads"


SPLIT = examples.steps("split_sums")
NUMBERS_OF_16_BITS = np.arange(2**16, dtype=np.uint16).view(np.float16)
FINITE = NUMBERS_OF_16_BITS[np.isfinite(NUMBERS_OF_16_BITS)].astype(np.float64)


def test_half_rounds_like_numpy_float16():
    np.testing.assert_array_equal(round_to_float16(FINITE, np), FINITE)
    ordered = np.unique(FINITE)
    for share in (0.25, 0.5, 0.75):
        between = ordered[:-1] + share * np.diff(ordered)
        np.testing.assert_array_equal(round_to_float16(between, np), between.astype(np.float16))


def test_outputs_in_pieces_are_those_of_merge_in_16_bits():
    q, k, v = (SPLIT[name].astype(np.float16) for name in "QKV")
    for row, size in zip(SPLIT["outputs"], (8, 4, 2, 1), strict=True):
        tiles = [attend_tile(q, k[j : j + size], v[j : j + size]) for j in range(0, 8, size)]
        states = [TileState(*(x.astype(np.float16) for x in tile)) for tile in tiles]
        np.testing.assert_array_equal(reduce(merge, states).output[0], row)


def test_order_of_sums_changes_digits():
    assert len({float(SPLIT[order]) for order in ("forward", "in_pairs", "backward")}) == 3
    assert len(set(SPLIT["outputs"][:, 1])) == 3
    assert not any(equal_on_page(SPLIT["last_first"], SPLIT["outputs"][2]))


QUANTISED = examples.steps("quantised_cache")
NUMBERS = st.lists(st.integers(-9, 9), min_size=4, max_size=4)


@given(NUMBERS, st.lists(NUMBERS, min_size=4, max_size=4), st.integers(2, 8))
@settings(max_examples=100)
def test_error_of_quantised_cache_stays_within_its_bounds(query, rows, bits):
    keys = np.array(rows) + np.array([0.5, 0.25, 0.125, 20.5])
    literals = {"Q": [query], "K": keys.tolist(), "V": (keys[:, 1:3] / 3).tolist(), "BITS": [bits]}
    with patch.multiple(quantised_cache, **literals):
        steps = quantised_cache.steps()
    slack = 1 + 1e-12
    assert (np.abs(steps["K"] - steps["K_by_channel"]) <= steps["scales"] / 2 * slack).all()
    assert steps["score_error"] <= steps["epsilon"] * slack
    assert steps["score_error_by_token"] <= steps["epsilon_by_token"] * slack
    assert (steps["output_error"] <= steps["output_bound"] * slack).all()
    exact, by_channel, _ = steps["weights"]
    assert (np.abs(np.log(by_channel / exact)) <= 2 * steps["epsilon"] * slack + 1e-12).all()


def test_scale_for_each_token_of_the_keys_changes_every_weight():
    exact, by_channel, by_token = QUANTISED["weights"]
    assert not any(equal_on_page(by_token, exact))
    assert np.abs(by_token - exact).max() > 3 * np.abs(by_channel - exact).max()
