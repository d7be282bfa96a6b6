"""Batches, windows, masks and mistakes: statements of the pages about them."""

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.render.text import as_text


def test_all_sizes_of_a_batch_of_two_differ():
    steps = examples.steps("batch_of_two")
    (n, d_model), d_k, d_v = steps["X_1"].shape, steps["K_1"].shape[1], steps["V_1"].shape[1]
    assert len({2, n, d_model, d_k, d_v}) == 5


def test_joined_sequences_change_every_printed_row():
    steps = examples.steps("batch_of_two")
    right = np.concatenate([steps["output_1"], steps["output_2"]])
    for row, wrong in zip(right, steps["joined_output"], strict=True):
        assert as_text(row) != as_text(wrong)


def test_most_similar_key_may_lack_the_largest_weight():
    steps = examples.steps("batched_attention")
    most_similar, largest_weight = steps["cosines"].argmax(axis=1), steps["weights"].argmax(axis=1)
    assert np.all(np.abs(steps["cosines"]) <= 1)
    assert most_similar[2] == largest_weight[2] == 5, "the injected pair"
    assert most_similar[1] != largest_weight[1], "the lengths of the keys matter too"


def test_outputs_lie_between_extreme_values():
    steps = examples.steps("batched_attention")
    assert np.all(steps["smallest_value"] <= steps["output"])
    assert np.all(steps["output"] <= steps["largest_value"])


def test_fill_value_affects_only_the_fully_masked_row():
    steps = examples.steps("causal_padding")
    assert not steps["output_causal_and_left"][0].any()
    assert steps["output_filled"][0].any()
    np.testing.assert_array_equal(steps["output_filled"][1:], steps["output_causal_and_left"][1:])


# The step with each mistake, and the correct step to compare it with.
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
# The last row of a causal mask hides nothing, so a scale after the mask is harmless there.
AFFECTED_ROWS = {"scaled_after_mask": 2}


@pytest.mark.parametrize("mistake", CORRECT_STEPS)
def test_mistake_changes_every_printed_row(mistake):
    steps = examples.steps("common_mistakes")
    rows = list(zip(steps[CORRECT_STEPS[mistake]], steps[mistake], strict=True))
    for right, wrong in rows[: AFFECTED_ROWS.get(mistake)]:
        assert as_text(right) != as_text(wrong)


def test_table_of_mistakes_is_complete():
    steps = examples.steps("common_mistakes")
    assert {*CORRECT_STEPS.keys(), *CORRECT_STEPS.values()} == set(steps)


def test_masking_the_padding_restores_the_output():
    example, steps = examples.steps("distinct_sizes"), examples.steps("common_mistakes")
    k, v = (np.vstack([example[name], np.zeros(example[name].shape[1])]) for name in "KV")
    hidden = attention_steps(example["Q"], k, v, attn_mask=np.arange(6) < 5).output
    np.testing.assert_allclose(hidden, steps["right"], rtol=1e-13)


def test_data_and_matrices_equal_the_published_draws():
    random, steps = np.random.RandomState(42), examples.steps("batched_attention")
    for name in ("data", "W_Q", "W_K", "W_V"):  # in the order in which they were drawn
        assert np.array_equal(steps[name], random.randn(*steps[name].shape)), name
