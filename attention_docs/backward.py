"""The backward pass of scaled dot-product attention: gradients from the output to the inputs.

Write dX for the gradient of a number L with respect to an array X: it has the shape of X, and its
entries are the derivatives of L with respect to the entries of X. From dO, the steps of attention
are differentiated in reverse order:

    O = A V                 dV = Aᵀ dO,  dA = dO Vᵀ
    A = softmax(Z + M)      dZ = A ∘ (dA - rowsum(dA ∘ A))
    Z = c tanh(S scale / c) dS = dZ ∘ (1 - Z² / c²) scale
    S = Q Kᵀ                dQ = dS K,   dK = dSᵀ Q

An array that was repeated for several heads or broadcast gets the sum over its copies.
"""

from types import ModuleType
from typing import NamedTuple

from attention_docs import kernels
from attention_docs.arrays import Array, check_no_overflow, ignoring_overflow
from attention_docs.dot_product import AttentionSteps, _compute_steps
from attention_docs.inputs import Inputs, Shape, check_grad_output, prepare_inputs


class AttentionGradients(NamedTuple):
    """The gradient of a number L with respect to each array of an attention call.

    For 16-bit inputs, the gradients with respect to weights and scores are float32, as computed.

    Attributes:
        value: (..., n, d_v) gradient with respect to the values.
        weights: (..., m, n) gradient with respect to the weights.
        scaled: (..., m, n) gradient with respect to the scores after scale and softcap; 0 where a
            position takes no part.
        scores: (..., m, n) gradient with respect to the products of queries and keys.
        query: (..., m, d_k) gradient with respect to the queries.
        key: (..., n, d_k) gradient with respect to the keys.
        attn_mask: (..., m, n) gradient with respect to a float mask, in the mask's own shape; None
            without one.

    Examples:
        >>> query, key, value = np.ones((2, 3)), np.ones((4, 3)), np.ones((4, 5))
        >>> gradients = attention_backward(np.ones((2, 5)), query, key, value)
        >>> gradients.scores.shape, gradients.value.shape
        ((2, 4), (4, 5))
    """

    value: Array
    weights: Array
    scaled: Array
    scores: Array
    query: Array
    key: Array
    attn_mask: Array | None


def attention_backward(
    grad_output: Array,
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
) -> AttentionGradients:
    r"""Return the gradients of a number L with respect to all inputs and steps of attention.

    $$dV = A^\top dO, \qquad dA = dO\, V^\top, \qquad
      dZ = A \circ (dA - \mathrm{rowsum}(dA \circ A))$$

    $$dQ = \frac{dZ\, K}{\sqrt{d_k}}, \qquad dK = \frac{dZ^\top Q}{\sqrt{d_k}}$$

    Letters as in [`attention_steps`][attention_docs.attention_steps], with `Z` for the scaled
    scores. A softcap c adds the factor $1 - Z^2/c^2$ to dZ.

    Args:
        grad_output: (..., m, d_v) gradient of L with respect to the output, in the output's shape.
        query: (..., m, d_k) queries.
        key: (..., n, d_k) keys.
        value: (..., n, d_v) values.
        attn_mask: broadcasts to (..., m, n). Boolean: True takes part. Float: added to the
            scaled scores, and gets a gradient itself.
        dropout_p: 0, because dropout is not implemented.
        is_causal: a query sees no later position; not together with `attn_mask`.
        scale: what the scores are multiplied by; 1/sqrt(d_k) if left out.
        enable_gqa: each key and value head serves several query heads, and its gradient is the
            sum over them.
        window: (left, right), how far a query sees to either side.
        softcap: c in c tanh(s/c), which bounds the scaled scores s before the mask.

    Returns:
        The gradients, each in the shape of its array; of one that was broadcast, the sum over its
        copies. A query that may see no key has a gradient of zero and adds nothing to others.

    Raises:
        TypeError: if an argument is not a real array, or its library or dtype differs.
        ValueError: if shapes do not fit, a number is not finite, or a score or a gradient
            overflows.

    Source: the chain rule; the row sum as in Dao et al. 2022, appendix B.2.

    Examples:
        >>> query, key = np.array([[2.0, 0.0]]), np.array([[0.0, 2.0], [2.0, 0.0]])
        >>> value = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
        >>> grad_output = np.array([[1.0, 0.0, 0.0]])
        >>> gradients = attention_backward(grad_output, query, key, value)
        >>> show(gradients.scaled)
        [[0.1054 -0.1054]]
        >>> show(gradients.query)
        [[-0.1490 0.1490]]
    """
    inputs = prepare_inputs(
        query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, window, softcap
    )
    steps = _compute_steps(inputs.check_finite())
    return _differentiate(inputs, steps, check_grad_output(inputs, query, grad_output))


class InputGradients(NamedTuple):
    """The gradients of a number L with respect to the arguments of an attention call.

    Attributes:
        query: (..., m, d_k) gradient with respect to the queries.
        key: (..., n, d_k) gradient with respect to the keys.
        value: (..., n, d_v) gradient with respect to the values.
        attn_mask: (..., m, n) gradient with respect to a float mask, in the mask's own shape; None
            without one.

    Examples:
        >>> x = np.ones((2, 3))
        >>> scaled_dot_product_attention_backward(x, x, x, x).key.shape
        (2, 3)
    """

    query: Array
    key: Array
    value: Array
    attn_mask: Array | None


def scaled_dot_product_attention_backward(
    grad_output: Array,
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
) -> InputGradients:
    r"""Return the gradients with respect to the arguments only, for long sequences.

    Arguments and errors are those of [`attention_backward`][attention_docs.attention_backward].
    With NumPy and CuPy arrays the scores of a long sequence are computed block by block, so the
    memory in addition to arguments and gradients grows with m + n, not with m n, because

    $$\mathrm{rowsum}(dA \circ A) = \mathrm{rowsum}(dO \circ O)$$

    Returns:
        The gradients, each in the shape of its array.

    Source: Dao et al. 2022, appendix B.2.

    Examples:
        >>> query, key = np.array([[2.0, 0.0]]), np.array([[0.0, 2.0], [2.0, 0.0]])
        >>> value = np.array([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
        >>> grad_output = np.array([[1.0, 0.0, 0.0]])
        >>> inputs = (query, key, value)
        >>> show(scaled_dot_product_attention_backward(grad_output, *inputs).query)
        [[-0.1490 0.1490]]
    """
    inputs = prepare_inputs(
        query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa, window, softcap
    )
    grad_output = check_grad_output(inputs, query, grad_output)

    def formula(inputs: Inputs) -> tuple[Array, Array, Array, Array | None]:
        gradients = _differentiate(inputs, _compute_steps(inputs), grad_output)
        return gradients.query, gradients.key, gradients.value, gradients.attn_mask

    grad_query, grad_key, grad_value, grad_mask = kernels.differentiate(
        inputs, grad_output, formula
    )
    return InputGradients(
        query=_cast_gradient(inputs, "query", grad_query),
        key=_cast_gradient(inputs, "key", grad_key),
        value=_cast_gradient(inputs, "value", grad_value),
        attn_mask=grad_mask,
    )


def _differentiate(inputs: Inputs, steps: AttentionSteps, grad_output: Array) -> AttentionGradients:
    """Differentiate the steps of attention in reverse order."""
    xp, query, softcap = inputs.xp, inputs.query, inputs.softcap
    key, value = inputs.repeat_kv_heads(inputs.key), inputs.repeat_kv_heads(inputs.value)
    transpose = xp.matrix_transpose
    with ignoring_overflow():
        grad_value = transpose(steps.weights) @ grad_output  # (..., n, d_v)
        grad_weights = grad_output @ transpose(value)  # (..., m, n)
        grad_weights = _sum_to_shape(xp, grad_weights, steps.weights.shape)
        row_sum = xp.sum(grad_weights * steps.weights, axis=-1, keepdims=True)  # (..., m, 1)
        grad_scaled = steps.weights * (grad_weights - row_sum)  # (..., m, n)
        slope = 1.0 if softcap is None else 1 - (steps.scaled / softcap) ** 2
        grad_scores = grad_scaled * slope * inputs.scale  # (..., m, n)
        grad_query = grad_scores @ key  # (..., m, d_k)
        grad_key = transpose(grad_scores) @ query  # (..., n, d_k)
        grad_mask, mask = None, inputs.attn_mask
        if mask is not None and inputs.has_float_mask:
            grad_mask = _sum_to_shape(xp, grad_scaled, mask.shape)
            grad_mask = xp.astype(grad_mask, mask.dtype, copy=False)
        return AttentionGradients(
            value=_cast_gradient(
                inputs, "value", _sum_over_query_heads(inputs, grad_value, inputs.value)
            ),
            weights=grad_weights,
            scaled=grad_scaled,
            scores=grad_scores,
            query=_cast_gradient(inputs, "query", _sum_to_shape(xp, grad_query, query.shape)),
            key=_cast_gradient(inputs, "key", _sum_over_query_heads(inputs, grad_key, inputs.key)),
            attn_mask=grad_mask,
        )


def _sum_to_shape(xp: ModuleType, array: Array, shape: Shape) -> Array:
    """Sum a gradient over the axes along which an array of this shape was broadcast."""
    new_axes = array.ndim - len(shape)
    axes = list(range(new_axes))
    axes += [i for i in range(new_axes, array.ndim) if array.shape[i] != shape[i - new_axes]]
    return xp.reshape(xp.sum(array, axis=tuple(axes)), shape) if axes else array


def _sum_over_query_heads(inputs: Inputs, gradient: Array, array: Array) -> Array:
    """Return the gradient of a key or value: the sum over the query heads and batches it serves."""
    if not inputs.enable_gqa:
        return _sum_to_shape(inputs.xp, gradient, array.shape)
    *batch, heads, length, width = array.shape
    group_size = inputs.query.shape[-3] // heads
    per_head = _sum_to_shape(inputs.xp, gradient, (*batch, heads * group_size, length, width))
    groups = inputs.xp.reshape(per_head, (*batch, heads, group_size, length, width))
    return inputs.xp.sum(groups, axis=-3)


def _cast_gradient(inputs: Inputs, name: str, gradient: Array) -> Array:
    """Cast the gradient of an argument to the dtype of the arguments; refuse it if it overflows."""
    cast_gradient = inputs.xp.astype(gradient, inputs.dtype, copy=False)
    check_no_overflow(inputs.xp, f"the gradient of {name} holds", cast_gradient)
    return cast_gradient
