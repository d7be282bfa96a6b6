"""Batches, windows, masks and mistakes: statements of the pages about them."""

import numpy as np
import pytest

from attention_docs import examples
from tests.examples.comparison import equal_on_page


def test_all_sizes_of_a_batch_of_two_differ():
    steps = examples.steps("batch_of_two")
    n, d_model = steps["X_1"].shape
    d_k, d_v = steps["K_1"].shape[1], steps["V_1"].shape[1]
    batch = 2
    sizes = [batch, n, d_model, d_k, d_v]
    assert len(set(sizes)) == len(sizes), sizes


def test_joined_sequences_change_every_printed_row():
    steps = examples.steps("batch_of_two")
    apart = np.concatenate([steps["output_1"], steps["output_2"]])
    assert not any(equal_on_page(steps["joined_output"], apart))


def test_most_similar_key_may_lack_the_largest_weight():
    steps = examples.steps("batched_attention")
    cosines, weights = steps["cosines"][1], steps["weights"][1]  # of the second query
    assert cosines.argmax() != weights.argmax()


def test_injected_query_finds_the_equal_key():
    steps, injected_query, injected_key = examples.steps("batched_attention"), 2, 5
    for step in ("cosines", "weights"):
        assert steps[step][injected_query].argmax() == injected_key


def test_fill_value_affects_only_the_fully_masked_row():
    steps = examples.steps("causal_padding")
    fully_masked_row, *other_rows = steps["output_causal_and_left"]
    filled_row, *other_rows_filled = steps["output_filled"]
    assert not fully_masked_row.any()
    assert filled_row.any()
    np.testing.assert_array_equal(other_rows_filled, other_rows)


# For each mistake, the correct step to compare it with.
CORRECT_STEPS = {
    "divided_by_d_k": "right",
    "divided_by_root_of_d_model": "right",
    "not_scaled": "right",
    "softmax_over_queries": "right",
    "padding_not_hidden": "right",
    "mask_flipped": "causal",
    "mask_after_softmax": "causal",
    "heads_without_transpose": "heads",
    "queries_and_keys_swapped": "square",
    "keys_and_values_swapped": "square",
    "newest_with_is_causal": "newest",
    "causal": "aligned_bottom_right",
    "scaled_after_mask": "negative_scale",
    "unshifted_targets": "shifted_targets",
}


@pytest.mark.parametrize("mistake", sorted(CORRECT_STEPS.keys() - {"scaled_after_mask"}))
def test_mistake_changes_every_printed_row(mistake):
    steps = examples.steps("common_mistakes")
    assert not any(equal_on_page(steps[mistake], steps[CORRECT_STEPS[mistake]]))


def test_scaling_after_the_mask_changes_every_row_but_the_last():
    steps = examples.steps("common_mistakes")
    alike = equal_on_page(steps["scaled_after_mask"], steps["negative_scale"])
    assert alike == [False, False, True], "the mask hides nothing in the last row"


def test_table_of_mistakes_is_complete():
    steps = examples.steps("common_mistakes")
    assert {*CORRECT_STEPS.keys(), *CORRECT_STEPS.values()} == set(steps)


def test_data_and_matrices_equal_the_published_draws():
    random, steps = np.random.RandomState(42), examples.steps("batched_attention")
    for name in ("data", "W_Q", "W_K", "W_V"):  # in the order in which they were drawn
        assert np.array_equal(steps[name], random.randn(*steps[name].shape)), name
