"""Common mistakes, each next to the correct output, on the numbers of `distinct_sizes`.

- `right` is the correct output, and `causal` the correct output with a causal mask. The steps from
  `divided_by_d_k` to `mask_after_softmax` differ by one mistake each. In `padding_not_hidden`, a
  padding token of zeros is added to the keys and values and is not masked.
- Swapped arguments raise an error where the sizes differ, so `square` has three queries, three
  keys and two features everywhere, and nothing stops them.
- `newest` is the last query alone, with all five keys in its cache, where `is_causal` would hide
  all keys but the first. In `aligned_bottom_right` the last query sees the last key, whereas in
  `causal` the first query sees the first key.
- `negative_scale` is `square` with a causal mask and the scale -1. In `scaled_after_mask`, the
  scale is applied after the mask.

>>> show(computed(steps))
divided_by_d_k 4 x 3
[[0.4440  4.5743 -0.6257]
 [2.1894 -2.4032  4.1244]
 [4.7710  0.1300  4.9934]
 [1.9068  1.7437  2.1566]]
divided_by_root_of_d_model 4 x 3
[[0.5272  4.1076 -0.2287]
 [2.0245 -1.8713  3.8483]
 [4.1988  0.2321  4.5277]
 [1.6905  1.6652  2.0687]]
not_scaled 4 x 3
[[0.1195  5.7551 -1.7367]
 [2.4708 -4.3867  4.8735]
 [5.8931 -0.0014  5.9122]
 [2.9851  1.9375  2.7257]]
softmax_over_queries 4 x 3
[[-0.8052  5.4211 -1.4547]
 [ 0.7314 -2.0679  3.8026]
 [ 4.7068  0.9383  6.4594]
 [-0.6330  1.7085  0.1927]]
padding_not_hidden 4 x 3
[[0.2644  5.1106 -1.2363]
 [2.3002 -3.2447  4.3543]
 [5.4986  0.0253  5.5812]
 [2.2031  1.7300  2.1999]]
causal [[0 4 1] [0 4.1027 0.8460] [5.7734 0.2123 5.7193] [2.4162 2.5412 2.1573]]
mask_flipped [[0.2797 5.3205 -1.3292] [2.6320 -4.0924 4.9040] [0.4569 -3.9425 3.4569] [2 -6 5]]
mask_after_softmax 4 x 3
[[     0 0.0839 0.0210]
 [     0 0.3476 0.0717]
 [5.5138 0.2028 5.4621]
 [2.2269 2.3420 1.9882]]
heads 4 x 6
[[2.0649  0.2376  1.3245 0.3438 0.2250 1.1218]
 [0.8955  1.8449 -0.1305 0.2986 0.7640 0.5867]
 [2.7774 -0.0760  0.6150 0.5441 0.2250 1.1218]
 [0.0558  0.8683  1.5848 0.6125 0.9121 0.6184]]
heads_without_transpose 4 x 6
[[0.7526 0.5017  0.7854 0.0396 0.7080 1.1305]
 [0.8943 1.8413 -1.2835 0.6611 2.2281 0.0696]
 [2.9352 0.0021 -0.5788 0.5748 1.2129 1.1651]
 [1.0666 1.0834  1.5261 0.7649 1.5261 0.7649]]
square [[1.4472 2.1131] [2.2290 1.2290] [1.3272 1.8549]]
queries_and_keys_swapped [[2.0056 1.0056] [3.1131 0.4472] [2.2622 0.4965]]
keys_and_values_swapped [[0.1532 0.9499] [1.9615 0.9966] [-0.0803 0.8943]]
newest [[2.3836 1.8717 2.3801]]
newest_with_is_causal [[0 4 1]]
aligned_bottom_right 4 x 3
[[     0 5.9523 -1.9285]
 [4.3433 1.1328  4.5769]
 [5.6565 0.2337  5.6389]
 [2.3836 1.8717  2.3801]]
negative_scale [[1 3] [2.5000 1.5000] [1.9366 -0.2782]]
scaled_after_mask [[nan nan] [nan nan] [1.9366 -0.2782]]
shifted_targets [5.0331 5.0331 5.0331 5.0331 5.0331]
unshifted_targets [0.0331 0.0331 0.0331 0.0331 0.0331]
"""

import numpy

from attention_docs.dot_product import attention_steps, scaled_dot_product_attention
from attention_docs.examples import distinct_sizes
from attention_docs.masks import causal_mask, window_mask
from attention_docs.multi_head import merge_heads, split_heads
from attention_docs.softmax import softmax

TITLE = "Common mistakes, each with its number"
SOURCE = "our own example"

Q = [[1, 0], [0, 2], [1, -1]]
K = [[2, 1], [0, 1], [-1, 0]]
V = [[1, 3], [4, 0], [0, -1]]
HEADS = 3


def steps(xp=numpy):
    """Return correct outputs, and the output that each mistake gives."""
    example = distinct_sizes.steps(xp)
    x_q, x_kv = example["X_q"], example["X_kv"]
    q, k, v = example["Q"], example["K"], example["V"]
    square_q, square_k, square_v = (xp.asarray(matrix, dtype=xp.float64) for matrix in (Q, K, V))
    newest_query = q[-1:, :]
    bottom_right = window_mask(q.shape[0], k.shape[0], right=k.shape[0] - q.shape[0], xp=xp)
    return {
        **outputs_without_mask(xp, q, k, v, d_model=x_q.shape[1]),
        **outputs_with_causal_mask(xp, q, k, v),
        **outputs_of_heads(xp, x_q, x_kv),
        "square": scaled_dot_product_attention(square_q, square_k, square_v),
        "queries_and_keys_swapped": scaled_dot_product_attention(square_k, square_q, square_v),
        "keys_and_values_swapped": scaled_dot_product_attention(square_q, square_v, square_k),
        "newest": attention_steps(newest_query, k, v).output,
        "newest_with_is_causal": attention_steps(newest_query, k, v, is_causal=True).output,
        "aligned_bottom_right": attention_steps(q, k, v, attn_mask=bottom_right).output,
        "negative_scale": attention_steps(
            square_q, square_k, square_v, is_causal=True, scale=-1.0
        ).output,
        "scaled_after_mask": scaled_after_mask(xp, square_q, square_k, square_v),
        **losses_of_copying_model(xp),
    }


def outputs_without_mask(xp, q, k, v, d_model):
    """Return the correct output, and those with wrong scales, a wrong axis, or visible padding."""
    correct = attention_steps(q, k, v)
    padded_k, padded_v = (
        xp.concat([rows, xp.zeros((1, rows.shape[1]), dtype=xp.float64)]) for rows in (k, v)
    )
    return {
        "right": correct.output,
        "divided_by_d_k": attention_steps(q, k, v, scale=1 / q.shape[1]).output,
        "divided_by_root_of_d_model": attention_steps(q, k, v, scale=d_model**-0.5).output,
        "not_scaled": attention_steps(q, k, v, scale=1.0).output,
        "softmax_over_queries": softmax(correct.scaled, axis=0) @ v,
        "padding_not_hidden": attention_steps(q, padded_k, padded_v).output,
    }


def outputs_with_causal_mask(xp, q, k, v):
    """Return the outputs with a causal mask, with its negation, and with the weights masked."""
    mask = causal_mask(q.shape[0], k.shape[0], xp=xp)
    weights = attention_steps(q, k, v).weights
    return {
        "causal": attention_steps(q, k, v, attn_mask=mask).output,
        "mask_flipped": attention_steps(q, k, v, attn_mask=~mask).output,
        "mask_after_softmax": xp.where(mask, weights, xp.zeros_like(weights)) @ v,
    }


def outputs_of_heads(xp, x_q, x_kv):
    """Return the output of HEADS that divide the raw features among them.

    In `heads_without_transpose`, they are by mistake divided by a reshape without a transpose.
    """

    def attend(query, key):
        """Return attention in which the keys are also the values."""
        return scaled_dot_product_attention(query, key, key)

    width = x_q.shape[1] // HEADS
    without_transpose = attend(
        xp.reshape(x_q, (HEADS, -1, width)), xp.reshape(x_kv, (HEADS, -1, width))
    )
    return {
        "heads": merge_heads(attend(split_heads(x_q, HEADS), split_heads(x_kv, HEADS))),
        "heads_without_transpose": xp.reshape(without_transpose, x_q.shape),
    }


def scaled_after_mask(xp, query, key, value):
    """Return attention with the scale -1 applied after the mask, which makes rows NaN.

    The hidden scores become inf, and the softmax subtracts inf from inf.
    """
    allowed = causal_mask(query.shape[0], key.shape[0], xp=xp)
    scores = query @ key.T
    scaled = -1.0 * xp.where(allowed, scores, -xp.inf)
    with numpy.errstate(invalid="ignore"):
        exponentials = xp.exp(scaled - xp.max(scaled, axis=1, keepdims=True))
        return exponentials / xp.sum(exponentials, axis=1, keepdims=True) @ value


def losses_of_copying_model(xp):
    """Return the loss of each word in a causal model that copies its input.

    The target is the next word, or in `unshifted_targets` by mistake the word itself.
    """
    words = xp.eye(5, 6, dtype=xp.float64)  # five words of a vocabulary of six, one-hot
    next_words = xp.eye(5, 6, k=1, dtype=xp.float64)
    queries = 6 * words  # so large that each word sees almost only itself
    copied = scaled_dot_product_attention(queries, queries, words, is_causal=True)
    probabilities = softmax(5 * copied)  # the copied word gets almost all the probability

    def loss_by_word(targets):
        """Return -log p of the target of each word."""
        return -xp.log(xp.sum(probabilities * targets, axis=1))

    return {
        "shifted_targets": loss_by_word(next_words),
        "unshifted_targets": loss_by_word(words),
    }
