"""Batches, windows, causal and padding masks, mistakes: each against another way."""

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.render.text import text
from tests import reference


def test_both_alignments_equal_a_slow_loop():
    steps = examples.steps("causal_alignments")
    scores = steps["scaled"].tolist()
    m, n = len(scores), len(scores[0])
    for name, corner in {"top_left": 0, "bottom_right": n - m}.items():
        for i, row in enumerate(scores):
            seen = i + corner + 1
            assert steps[name][i].tolist() == [j < seen for j in range(n)]
            expected = reference.softmax_row(row[:seen]) + [0.0] * (n - seen)
            np.testing.assert_allclose(steps[f"weights_{name}"][i], expected, rtol=1e-12)


def test_a_batch_of_two_equals_two_slow_loops():
    steps = examples.steps("batch_of_two")
    for i in (1, 2):
        q, k, v = (reference.matmul(steps[f"X_{i}"], steps[f"W_{letter}"]) for letter in "QKV")
        weights, output = reference.attention(q, k, v)
        for name, expected in {"Q": q, "K": k, "V": v, "weights": weights}.items():
            np.testing.assert_allclose(steps[f"{name}_{i}"], expected, rtol=1e-12)
        np.testing.assert_allclose(steps[f"output_{i}"], output, rtol=1e-12, atol=1e-14)
    assert steps["same_apart"]
    (n, d_model), d_k, d_v = steps["X_1"].shape, steps["K_1"].shape[1], steps["V_1"].shape[1]
    assert len({2, n, d_model, d_k, d_v}) == 5


def test_joined_sequences_see_each_other_and_change_every_printed_row():
    steps = examples.steps("batch_of_two")
    joined = (np.concatenate([steps[f"{name}_1"], steps[f"{name}_2"]]) for name in "QKV")
    weights, output = reference.attention(*joined)
    np.testing.assert_allclose(steps["joined_weights"], weights, rtol=1e-12)
    np.testing.assert_allclose(steps["joined_output"], output, rtol=1e-12, atol=1e-14)
    right = np.concatenate([steps["output_1"], steps["output_2"]])
    for row, wrong in zip(right, steps["joined_output"], strict=True):
        assert text(row) != text(wrong)


def test_a_batch_of_two_equals_pytorch(torch):
    steps = examples.steps("batch_of_two")
    q, k, v = (
        torch.tensor(np.stack([steps[f"{name}_1"], steps[f"{name}_2"]]).tolist()).double()
        for name in "QKV"
    )
    output = torch.nn.functional.scaled_dot_product_attention(q, k, v).numpy()
    np.testing.assert_allclose(output[0], steps["output_1"], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(output[1], steps["output_2"], rtol=1e-12, atol=1e-14)


def test_the_two_pairs_that_the_source_marks_are_the_largest_scores_of_their_row():
    steps = examples.steps("batched_attention")
    row = steps["scores"][2]
    assert np.argsort(row)[::-1][:2].tolist() == [5, 3]
    assert row[3] < row[5] / 2
    assert steps["weights"][2, 3] < 0.01


def test_batched_attention_draws_the_data_of_the_source():
    steps = examples.steps("batched_attention")
    draw = np.random.RandomState(42)
    np.testing.assert_array_equal(steps["data"], draw.randn(1, 10, 4)[0])
    for letter in "QKV":
        np.testing.assert_array_equal(steps[f"W_{letter}"], draw.randn(4, 4))


def test_batched_attention_equals_a_slow_loop():
    steps = examples.steps("batched_attention")
    q, k, v = (reference.matmul(steps["data"], steps[f"W_{letter}"]) for letter in "QKV")
    np.testing.assert_allclose(steps["before_2"], reference.attention(q, k, v)[0][2], rtol=1e-12)
    q[2] = k[5] = [2, -2, 2, -2]
    weights, output = reference.attention(q, k, v)
    np.testing.assert_allclose(steps["weights"], weights, rtol=1e-12)
    np.testing.assert_allclose(steps["output"], output, rtol=1e-11, atol=1e-13)


def test_a_score_is_two_lengths_and_a_cosine():
    steps = examples.steps("batched_attention")
    lengths = np.outer(steps["q_lengths"], steps["k_lengths"])
    np.testing.assert_allclose(steps["scores"], lengths * steps["cosines"], rtol=1e-12)
    assert np.all(np.abs(steps["cosines"]) <= 1)
    assert np.argmax(steps["cosines"][2]) == np.argmax(steps["weights"][2]) == 5
    # Magnitude counts too: for query 0 the most similar key and the largest weight agree, but for
    # query 1 they do not.
    assert np.argmax(steps["cosines"][1]) != np.argmax(steps["weights"][1])


def test_values_carry_and_do_not_route():
    steps = examples.steps("batched_attention")
    for feature, column in enumerate(zip(*steps["V"], strict=True)):
        assert steps["smallest_value"][feature] == min(column)
        assert steps["largest_value"][feature] == max(column)
        assert all(min(column) <= output <= max(column) for output in steps["output"][:, feature])
    assert steps["is_a_blend"]
    assert steps["doubled_values_keep_the_weights"]
    assert steps["doubled_values_double_the_output"]


def test_the_window_equals_a_slow_loop_that_skips():
    batch, steps = examples.steps("batched_attention"), examples.steps("local_window_mask")
    q, k, v = (batch[letter] for letter in "QKV")
    weights, output = reference.attention(q, k, v, allowed=lambda i, j: abs(i - j) <= 1)
    np.testing.assert_allclose(steps["weights_masked"], weights, rtol=1e-12)
    np.testing.assert_allclose(steps["renormalised"], weights, rtol=1e-12)
    np.testing.assert_allclose(steps["output_masked"], output, rtol=1e-11)
    assert steps["weight_2_5"] > 0.9
    assert steps["weight_2_5_masked"] == 0


ALLOWED = {
    "causal": lambda i, j: j <= i,
    "right": lambda i, j: j < 3,
    "causal_and_right": lambda i, j: j <= i and j < 3,
    "causal_and_left": lambda i, j: 1 <= j <= i,
}


@pytest.mark.parametrize("mask", ALLOWED)
def test_causal_and_padding_masks_equal_slow_loops(mask):
    steps = examples.steps("causal_padding")
    q, k, v = (steps[letter] for letter in "QKV")
    weights, output = reference.attention(q, k, v, allowed=ALLOWED[mask])
    np.testing.assert_allclose(steps[f"weights_{mask}"], weights, rtol=1e-12)
    np.testing.assert_allclose(steps[f"output_{mask}"], output, rtol=1e-12)


def test_a_fill_value_shows_in_the_fully_masked_row_alone():
    steps = examples.steps("causal_padding")
    right, filled = steps["output_causal_and_left"], steps["output_filled"]
    assert not right[0].any()
    np.testing.assert_allclose(filled[0], steps["V"].mean(0), rtol=1e-15)
    np.testing.assert_allclose(filled[1:], right[1:], rtol=1e-15)


PAIRS = {
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
# The last row of a causal mask hides nothing, so a scale after it does no harm there.
ROWS = {"scaled_after_mask": 2}


@pytest.mark.parametrize("mistake", PAIRS)
def test_every_mistake_changes_every_printed_row(mistake):
    steps = examples.steps("common_mistakes")
    rows = list(zip(steps[PAIRS[mistake]], steps[mistake], strict=True))
    for right, wrong in rows[: ROWS.get(mistake)]:
        assert text(right) != text(wrong)


def test_no_mistake_is_missing_from_the_table():
    steps = examples.steps("common_mistakes")
    assert set(PAIRS) | set(PAIRS.values()) == set(steps)


def test_mistakes_equal_slow_loops():
    example, steps = examples.steps("distinct_sizes"), examples.steps("common_mistakes")
    q, k, v = (example[letter] for letter in "QKV")
    root = 2**0.5
    literals = examples.load("common_mistakes")
    slow = {
        "square": reference.attention(literals.Q, literals.K, literals.V)[1],
        "queries_and_keys_swapped": reference.attention(literals.K, literals.Q, literals.V)[1],
        "keys_and_values_swapped": reference.attention(literals.Q, literals.V, literals.K)[1],
        "right": reference.attention(q, k, v)[1],
        "divided_by_d_k": reference.attention(q / root, k, v)[1],
        "divided_by_root_of_d_model": reference.attention(q * root / 6**0.5, k, v)[1],
        "not_scaled": reference.attention(q * root, k, v)[1],
        "padding_not_hidden": reference.attention(
            q, [*k.tolist(), [0, 0]], [*v.tolist(), [0, 0, 0]]
        )[1],
        "causal": reference.attention(q, k, v, allowed=lambda i, j: j <= i)[1],
        "mask_flipped": reference.attention(q, k, v, allowed=lambda i, j: j > i)[1],
    }
    for name, expected in slow.items():
        np.testing.assert_allclose(steps[name], expected, rtol=1e-11, atol=1e-13, err_msg=name)
    columns = np.transpose([reference.softmax_row(column) for column in example["scaled"].T])
    np.testing.assert_allclose(steps["softmax_over_queries"], columns @ v, rtol=1e-12)
    late = np.tri(4, 5) * reference.attention(q, k, v)[0]
    np.testing.assert_allclose(steps["mask_after_softmax"], late @ v, rtol=1e-12)


def test_a_hidden_padding_row_gives_the_right_output_back():
    example, steps = examples.steps("distinct_sizes"), examples.steps("common_mistakes")
    k, v = (np.vstack([example[name], np.zeros(example[name].shape[1])]) for name in "KV")
    hidden = attention_steps(example["Q"], k, v, attn_mask=np.arange(6) < 5).output
    np.testing.assert_allclose(hidden, steps["right"], rtol=1e-13)


def test_heads_in_the_mistakes_equal_a_slow_loop():
    example, steps = examples.steps("distinct_sizes"), examples.steps("common_mistakes")
    q, kv = example["X_q"], example["X_kv"]
    pairs = [slice(0, 2), slice(2, 4), slice(4, 6)]
    heads = [reference.attention(q[:, i], kv[:, i], kv[:, i])[1] for i in pairs]
    np.testing.assert_allclose(steps["heads"], np.hstack(heads), rtol=1e-12)
