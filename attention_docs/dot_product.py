"""Scaled dot-product attention: every intermediate step, or only the output."""

from types import ModuleType
from typing import NamedTuple

from attention_docs import kernels
from attention_docs.arrays import Array, as_real, check_no_overflow, ignoring_overflow, namespace
from attention_docs.inputs import Inputs, prepare_inputs
from attention_docs.masks import window_mask
from attention_docs.softmax import _softmax
from attention_docs.tiles import TileState, tile_state


class AttentionSteps(NamedTuple):
    """Every intermediate of one attention call.

    For 16-bit inputs all but the output are float32, as computed.

    Attributes:
        scores: (..., m, n) products of queries and keys.
        scaled: (..., m, n) scores after the scale and, if there is one, the softcap.
        masked: (..., m, n) scaled scores; -inf where a position takes no part.
        weights: (..., m, n) softmax of each row of `masked`.
        output: (..., m, d_v) weighted sums of the values.

    Examples:
        >>> key, value = np.ones((4, 3)), np.ones((4, 5))
        >>> steps = attention_steps(np.ones((2, 3)), key, value)
        >>> steps.weights.shape, steps.output.shape
        ((2, 4), (2, 5))
    """

    scores: Array
    scaled: Array
    masked: Array
    weights: Array
    output: Array


def _attention(inputs: Inputs) -> AttentionSteps:
    """Compute softmax(Q Kᵀ scale + M) V step by step."""
    xp, Q = inputs.xp, inputs.query  # (..., m, d_k)
    K = inputs.repeat_kv_heads(inputs.key)  # (..., n, d_k)
    V = inputs.repeat_kv_heads(inputs.value)  # (..., n, d_v)
    scores = Q @ xp.matrix_transpose(K)  # (..., m, n)
    scaled = _cap(inputs, scores * inputs.scale)  # (..., m, n)
    masked = _mask(inputs, scaled)  # (..., m, n)
    weights = _softmax(xp, masked)  # (..., m, n)
    output = weights @ V  # (..., m, d_v)
    return AttentionSteps(scores, scaled, masked, weights, output)


def _cap(inputs: Inputs, scaled: Array) -> Array:
    """Bound the scores s by c tanh(s/c), if there is a softcap c."""
    cap = inputs.softcap
    if cap is None:
        return scaled
    _check_scores(inputs, scaled)  # now, because tanh makes an infinite score finite
    return cap * inputs.xp.tanh(scaled / cap)


def _check_scores(inputs: Inputs, scaled: Array) -> None:
    check_no_overflow(inputs.xp, "the scores of query and key hold", scaled)


def _mask(inputs: Inputs, scaled: Array) -> Array:
    """Apply the mask and the window: -inf hides a position, a float mask is added."""
    xp, mask = inputs.xp, inputs.attn_mask
    masked = scaled
    if inputs.has_float_mask:
        masked = scaled + xp.astype(mask, scaled.dtype)
    elif mask is not None:
        masked = _hide(xp, scaled, mask)
    if inputs.left is not None or inputs.right is not None:
        queries, keys = scaled.shape[-2:]
        band = window_mask(
            queries, keys, left=inputs.left, right=inputs.right, xp=xp, device=scaled.device
        )
        masked = _hide(xp, masked, band)
    return masked


def _hide(xp: ModuleType, scores: Array, mask: Array) -> Array:
    """Return the scores with -inf where a boolean mask is False."""
    return xp.where(mask, scores, xp.asarray(-xp.inf, dtype=scores.dtype, device=scores.device))


def _compute_steps(inputs: Inputs) -> AttentionSteps:
    """Compute the steps in the dtype of the inputs, and refuse what overflows in them."""
    xp, mask = inputs.xp, inputs.attn_mask
    with ignoring_overflow():
        steps = _attention(inputs)
        steps = steps._replace(output=xp.astype(steps.output, inputs.dtype, copy=False))
        if inputs.softcap is None:
            _check_scores(inputs, steps.scaled)
        if inputs.has_float_mask:
            added = steps.masked
            if inputs.left is not None or inputs.right is not None:
                added = _mask(inputs._replace(left=None, right=None), steps.scaled)
            visible_scores = xp.where(mask == -xp.inf, steps.scaled, added)
            check_no_overflow(xp, "the scores with attn_mask added hold", visible_scores)
        check_no_overflow(xp, "the weighted sums of value hold", steps.output)
    return steps


def attention_steps(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
) -> AttentionSteps:
    r"""Compute attention and return every intermediate step.

    $$O = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}} + M\right) V$$

    Letters: `m` queries, `n` keys, `d_k` and `d_v` the features of a key and of a value, `M` the
    mask in numbers: 0 takes part, -inf does not.

    Args:
        query: (..., m, d_k) queries.
        key: (..., n, d_k) keys.
        value: (..., n, d_v) values.
        attn_mask: broadcasts to (..., m, n). Boolean: True takes part. Float: added to the
            scaled scores, -inf for a position that takes no part.
        dropout_p: 0, because dropout is not implemented.
        is_causal: a query sees no later position; not together with `attn_mask`.
        scale: what the scores are multiplied by; 1/sqrt(d_k) if left out.
        enable_gqa: each key and value head, (..., heads, n, d), serves several query heads.
        window: (left, right), how far a query sees to either side; None on a side: all of it.
        softcap: c in c tanh(s/c), which bounds the scaled scores s before the mask.

    Returns:
        The steps. A query that may see no key gets zero weights and a zero output.

    Raises:
        TypeError: if an argument is not a real array, or its library or dtype differs.
        ValueError: if shapes do not fit, a number is not finite, or the scores overflow.

    Source: Vaswani et al. 2017, section 3.2.1; arguments as in PyTorch's
    `scaled_dot_product_attention`.

    Examples:
        >>> query, key = np.array([[2.0, 0.0]]), np.array([[0.0, 2.0], [2.0, 0.0]])
        >>> value = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
        >>> steps = attention_steps(query, key, value)
        >>> show(steps.scaled)
        [[0 2.8284]]
        >>> show(steps.weights)
        [[0.0558 0.9442]]
        >>> show(steps.output)
        [[0.1116 1.8884 1]]
    """
    inputs = prepare_inputs(
        query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, window, softcap
    )
    return _compute_steps(inputs.check_finite())


def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    *,
    window: tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
) -> Array:
    r"""Return only the output, like PyTorch's function of this name without dropout.

    $$O = \mathrm{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}} + M\right) V$$

    Arguments and errors are those of [`attention_steps`][attention_docs.attention_steps]. With
    NumPy and CuPy arrays the scores of a long sequence are computed block by block, so the memory
    in addition to arguments and output grows with m + n, not with m n. All scores are in memory at
    once with other libraries, and where scores or sums of values could come near the largest float.

    Returns:
        (..., m, d_v) array, same library, device and dtype as `query`.

    Source: Vaswani et al. 2017, section 3.2.1.

    Examples:
        >>> x = np.array([[2.0, 0.0], [0.0, 2.0]])
        >>> show(scaled_dot_product_attention(x, x, x))
        [[1.8884 0.1116]
         [0.1116 1.8884]]
    """
    inputs = prepare_inputs(
        query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, window, softcap
    )
    return kernels.attend(inputs, formula=lambda inputs: _compute_steps(inputs).output)


def attend_tile(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    scale: float | None = None,
    *,
    softcap: float | None = None,
) -> TileState:
    """Attend to some of the keys, and return a state to merge with the state of the other keys.

    Args:
        query: (..., m, d_k) queries.
        key: (..., n, d_k) keys of this tile; there may be none.
        value: (..., n, d_v) their values.
        attn_mask: broadcasts to (..., m, n), as in `attention_steps`: the part for these keys.
        scale: what the scores are multiplied by; 1/sqrt(d_k) if left out.
        softcap: as in `attention_steps`.

    Returns:
        The state after these keys, of the dtype that the scores are computed in.

    Raises:
        TypeError: as `attention_steps`.
        ValueError: as `attention_steps`.

    Source: Dao et al. 2022 (FlashAttention), section 3.1.

    Examples:
        >>> query, key = np.array([[2.0, 0.0]]), np.array([[0.0, 2.0], [2.0, 0.0]])
        >>> value = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
        >>> state = attend_tile(query, key, value)
        >>> show(state.maximum), show(state.total), show(state.output)
        [2.8284]
        [1.0591]
        [[0.1116 1.8884 1]]
        (None, None, None)
    """
    steps = attention_steps(query, key, value, attn_mask=attn_mask, scale=scale, softcap=softcap)
    return tile_state(steps.masked, as_real(namespace(value=value), "value", value))
