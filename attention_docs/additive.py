"""Additive scores: the classical way to compare a query with a key, before dot products."""

from attention_docs.arrays import Array, namespace, real, same_dtype


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
        TypeError: if an argument is no real array, or its library or dtype differs.
        ValueError: if shapes do not fit.

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
    arrays = {name: real(xp, name, array) for name, array in arrays.items()}
    same_dtype(**arrays)
    _check_shapes(**arrays)
    query, key, query_weight, key_weight, score_weight = arrays.values()
    from_query = (query @ query_weight)[..., :, None, :]  # (..., m, 1, a)
    from_key = (key @ key_weight)[..., None, :, :]  # (..., 1, n, a)
    return xp.sum(xp.tanh(from_query + from_key) * score_weight, axis=-1)


def _check_shapes(query, key, query_weight, key_weight, score_weight) -> None:
    hidden = tuple(score_weight.shape)
    if len(hidden) != 1:
        raise ValueError(f"score_weight has shape {hidden}; expected one axis")
    for name, array, weight in (("query", query, query_weight), ("key", key, key_weight)):
        if array.ndim < 2:
            raise ValueError(f"{name} has shape {tuple(array.shape)}; expected (..., length, dim)")
        if tuple(weight.shape) != (array.shape[-1], *hidden):
            raise ValueError(
                f"{name}_weight has shape {tuple(weight.shape)}; expected "
                f"{(array.shape[-1], *hidden)} to match {name} and score_weight"
            )
