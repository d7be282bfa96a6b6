"""Additive attention scores, which preceded dot products."""

from types import ModuleType

from attention_docs.arrays import (
    Array,
    as_real,
    check_finite,
    check_no_overflow,
    check_same_dtype,
    ignoring_overflow,
    namespace,
    upcast_16_bit,
)
from attention_docs.inputs import broadcast_shapes


def additive_scores(
    query: Array, key: Array, query_weight: Array, key_weight: Array, score_weight: Array
) -> Array:
    r"""Compare every query with every key by a small network of one hidden layer.

    $$S_{ij} = \tanh(q_i W_1 + k_j W_2)\, w$$

    A score lies between minus and plus the sum of the absolute values of `w`, however large the
    query and the key. Queries and keys may have different numbers of features.

    Args:
        query: (..., m, d_q) queries.
        key: (..., n, d_k) keys.
        query_weight: (d_q, a) the matrix W_1 into the hidden layer of a units.
        key_weight: (d_k, a) the matrix W_2 into the same layer.
        score_weight: (a,) the vector w out of it.

    Returns:
        (..., m, n) scores, for `softmax`.

    Raises:
        TypeError: if an argument is not a real array, or its library or dtype differs.
        ValueError: if shapes do not fit, a number is not finite, or a product overflows.

    Source: Bahdanau et al. 2015, appendix A.1.2.

    Examples:
        >>> query, key = np.array([[1.0]]), np.array([[1.0, 0.0], [0.0, -1.0]])
        >>> w_1, w_2 = np.array([[0.5]]), np.array([[1.0], [2.0]])
        >>> show(additive_scores(query, key, w_1, w_2, np.ones(1)))
        [[0.9051 -0.9051]]
    """
    arrays = {
        "query": query,
        "key": key,
        "query_weight": query_weight,
        "key_weight": key_weight,
        "score_weight": score_weight,
    }
    xp = namespace(**arrays)
    arrays = {name: as_real(xp, name, array) for name, array in arrays.items()}
    check_same_dtype(**arrays)
    _check_shapes(**arrays)
    for name, array in arrays.items():
        check_finite(xp, name, array)
    dtype = arrays["query"].dtype
    arrays = {name: upcast_16_bit(xp, array) for name, array in arrays.items()}
    projected_query = _project(xp, "query", arrays["query"], arrays["query_weight"])  # (..., m, a)
    projected_key = _project(xp, "key", arrays["key"], arrays["key_weight"])  # (..., n, a)
    with ignoring_overflow():  # tanh of an infinite sum is 1; an infinite score is refused below
        hidden = xp.tanh(
            projected_query[..., :, None, :] + projected_key[..., None, :, :]
        )  # (..., m, n, a)
        scores = xp.sum(hidden * arrays["score_weight"], axis=-1)  # (..., m, n)
        scores = xp.astype(scores, dtype, copy=False)
    check_no_overflow(xp, "the sums of score_weight hold", scores)
    return scores


def _project(xp: ModuleType, name: str, rows: Array, weight: Array) -> Array:
    """Return the product of the rows of the argument `name` and its weight; refuse overflow."""
    with ignoring_overflow():
        product = rows @ weight
    check_no_overflow(xp, f"the product of {name} and {name}_weight holds", product)
    return product


def _check_shapes(
    query: Array, key: Array, query_weight: Array, key_weight: Array, score_weight: Array
) -> None:
    """Refuse weights that do not fit the features, and leading axes that do not broadcast."""
    hidden_shape = tuple(score_weight.shape)
    if len(hidden_shape) != 1:
        raise ValueError(f"score_weight has shape {hidden_shape}; expected one axis")
    for name, array, weight in (("query", query, query_weight), ("key", key, key_weight)):
        if array.ndim < 2:
            raise ValueError(f"{name} has shape {tuple(array.shape)}; expected (..., length, dim)")
        expected = (array.shape[-1], *hidden_shape)
        if tuple(weight.shape) != expected:
            raise ValueError(
                f"{name}_weight has shape {tuple(weight.shape)}; "
                f"expected {expected} to match {name} and score_weight"
            )
    if broadcast_shapes(tuple(query.shape[:-2]), tuple(key.shape[:-2])) is None:
        raise ValueError(
            f"key has shape {tuple(key.shape)}; "
            f"expected leading axes that broadcast with query {tuple(query.shape)}"
        )
