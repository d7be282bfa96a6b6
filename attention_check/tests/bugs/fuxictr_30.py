"""Heads are split by a reshape without the transpose."""

from bugs import scaled, softmax

THREAD = "reczoo/FuxiCTR#30"
EXPECTED = "heads_split_without_transpose"
FAULT = "rows.reshape(b * num_heads, n, -1)"
FIX = "rows.reshape(b, n, num_heads, -1).swapaxes(1, 2).reshape(b * num_heads, n, -1)"


def attention(x, W_Q, W_K, W_V, W_O, num_heads):
    b, n, d_model = x.shape

    def split(rows):
        return rows.reshape(b * num_heads, n, -1)

    out = softmax(scaled(split(x @ W_Q), split(x @ W_K))) @ split(x @ W_V)
    merged = out.reshape(b, num_heads, n, -1).swapaxes(1, 2)
    return merged.reshape(b, n, d_model) @ W_O
