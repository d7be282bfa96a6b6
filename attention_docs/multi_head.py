"""Multi-head attention: several attention heads in parallel, each with its own projections."""

import math
from dataclasses import KW_ONLY, dataclass
from types import ModuleType
from typing import NamedTuple

import numpy

from attention_docs.arrays import (
    Array,
    as_real,
    check_finite,
    check_library,
    check_no_overflow,
    check_same_dtype,
    drop_none,
    ignoring_overflow,
    namespace,
    upcast_16_bit,
)
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.scalars import count, flag, size, whole_number


def split_heads(features: Array, num_heads: int) -> Array:
    r"""Split the features of every token into heads: reshape, then transpose.

    $$(\dots, n, h d) \to (\dots, n, h, d) \to (\dots, h, n, d)$$

    A reshape alone is not enough, because it keeps the order of the numbers in memory, and a head
    takes its numbers from every token.

    Args:
        features: (..., n, h d) one row per token.
        num_heads: h, a divisor of the number of features.

    Returns:
        (..., h, n, d) array.

    Raises:
        TypeError: if `features` is not an array, or `num_heads` is not an integer.
        ValueError: if there are fewer than two axes, or `num_heads` does not divide the last.

    Source: Vaswani et al. 2017, section 3.2.2.

    Examples:
        >>> show(split_heads(np.array([[1, 2, 3, 4], [5, 6, 7, 8]]), num_heads=2))
        [[[1 2]
          [5 6]]
         [[3 4]
          [7 8]]]
    """
    xp = namespace(features=features)
    _check_axes("features", features, "(..., n, h d)", min_axes=2)
    num_heads, width = _divide_features("each token", features, num_heads)
    split = xp.reshape(features, (*features.shape[:-1], num_heads, width))  # (..., n, h, d)
    return _swap_tokens_and_heads(xp, split)


def merge_heads(heads: Array) -> Array:
    r"""Concatenate the heads of every token, the inverse of `split_heads`.

    $$(\dots, h, n, d) \to (\dots, n, h, d) \to (\dots, n, h d)$$

    Args:
        heads: (..., h, n, d) one matrix per head.

    Returns:
        (..., n, h d) array.

    Raises:
        TypeError: if `heads` is not an array.
        ValueError: if there are fewer than three axes.

    Source: Vaswani et al. 2017, section 3.2.2, “Concat”.

    Examples:
        >>> show(merge_heads(np.array([[[1, 2], [5, 6]], [[3, 4], [7, 8]]])))
        [[1 2 3 4]
         [5 6 7 8]]
    """
    xp = namespace(heads=heads)
    _check_axes("heads", heads, "(..., h, n, d)", min_axes=3)
    swapped = _swap_tokens_and_heads(xp, heads)  # (..., n, h, d)
    return xp.reshape(swapped, (*swapped.shape[:-2], heads.shape[-3] * heads.shape[-1]))


class MultiHeadSteps(NamedTuple):
    """Every intermediate of one multi-head attention call.

    For 16-bit inputs all but the output are float32, as computed.

    Attributes:
        Q: (..., h, m, d_k) projected queries, one matrix per head.
        K: (..., h, n, d_k) projected keys.
        V: (..., h, n, d_v) projected values.
        attention: the steps of all the heads; `attention.weights` is (..., h, m, n).
        merged: (..., m, h d_v) outputs of the heads side by side.
        output: (..., m, d_out) the merged heads times W_O, plus b_O.

    Examples:
        >>> layer = MultiHeadAttention.seeded(6, num_heads=2, seed=0)
        >>> steps = layer.steps(np.ones((4, 6)), np.ones((5, 6)), np.ones((5, 6)))
        >>> steps.Q.shape, steps.attention.weights.shape, steps.output.shape
        ((2, 4, 3), (2, 4, 5), (4, 6))
    """

    Q: Array
    K: Array
    V: Array
    attention: AttentionSteps
    merged: Array
    output: Array


@dataclass(frozen=True, eq=False)
class MultiHeadAttention:
    r"""Attention in h heads, with the matrices that project into the heads and out of them.

    $$\mathrm{head}_i = \mathrm{Attention}(X_q W_Q^i,\; X_k W_K^i,\; X_v W_V^i), \qquad
      O = [\mathrm{head}_1 \dots \mathrm{head}_h]\, W_O$$

    `W_Q^i` is the i-th block of d_k columns of `W_Q`; so are the others. Tokens are rows: a
    matrix of PyTorch's `Linear` is the transpose of ours.

    Args:
        W_Q: (d_query, h d_k) projects queries.
        W_K: (d_key, h d_k) projects keys.
        W_V: (d_value, h d_v) projects values.
        W_O: (h d_v, d_out) mixes the heads.
        num_heads: h.
        b_Q: (h d_k,) added to the projected queries; nothing if left out.
        b_K: (h d_k,) added to the projected keys.
        b_V: (h d_v,) added to the projected values.
        b_O: (d_out,) added to the output.

    Raises:
        TypeError: if a weight is not a real array, or its library or dtype differs.
        ValueError: if `num_heads` does not divide a width, the shapes do not fit together, or a
            number is not finite.

    Source: Vaswani et al. 2017, section 3.2.2.

    Examples:
        >>> eye = np.eye(4)
        >>> attention = MultiHeadAttention(eye, eye, eye, eye, num_heads=2)
        >>> x = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
        >>> show(attention(x, x, x))
        [[0.6698 0.3302 0.6698 0]
         [0.3302 0.6698 0.5000 0]]
    """

    W_Q: Array
    W_K: Array
    W_V: Array
    W_O: Array
    _: KW_ONLY
    num_heads: int
    b_Q: Array | None = None
    b_K: Array | None = None
    b_V: Array | None = None
    b_O: Array | None = None

    def __post_init__(self) -> None:
        """Check dtypes, shapes and numbers of the weights."""
        names = [f"{kind}_{letter}" for letter in "QKVO" for kind in "Wb"]
        matrices_and_biases = {name: getattr(self, name) for name in names}
        weights = {n: w for n, w in matrices_and_biases.items() if n[0] == "W" or w is not None}
        xp = namespace(**weights)
        check_same_dtype(**{name: as_real(xp, name, weight) for name, weight in weights.items()})
        for name, weight in weights.items():
            if name.startswith("W") and weight.ndim != 2:
                raise ValueError(f"{name} has shape {tuple(weight.shape)}; expected two axes")
            check_finite(xp, name, weight)
        if weights["W_Q"].shape[1] == 0:
            raise ValueError(f"W_Q has shape {tuple(self.W_Q.shape)}; expected h d_k of 1 or more")
        for name in ("W_Q", "W_V"):
            _divide_features(name, weights[name], self.num_heads)
        self._check_shapes()

    @classmethod
    def seeded(
        cls,
        embed_dim: int,
        num_heads: int,
        *,
        seed: int,
        bias: bool = True,
        kdim: int | None = None,
        vdim: int | None = None,
        xp: ModuleType = numpy,
    ) -> "MultiHeadAttention":
        r"""Draw the weights, the same ones for the same seed in every array library.

        Each matrix is uniform within Glorot's bound, and the biases are zero:

        $$|W| \le \sqrt{6 / (\text{rows} + \text{columns})}$$

        Args:
            embed_dim: features of a query and of an output; h d_k = h d_v is the same number.
            num_heads: h, a divisor of `embed_dim`.
            seed: what the numbers are drawn from.
            bias: whether there are biases.
            kdim: features of a key before its projection; `embed_dim` if left out.
            vdim: features of a value before its projection; `embed_dim` if left out.
            xp: the array library of the weights.

        Returns:
            A layer in float64.

        Raises:
            TypeError: if a width, `num_heads` or `seed` is not an integer, `bias` is not a
                boolean, or `xp` is not an array library.
            ValueError: if a width is below 1 or larger than an array can be, `seed` below 0, or
                `num_heads` does not divide `embed_dim`.

        Source: Glorot and Bengio 2010, equation 16.

        Examples:
            >>> layer = MultiHeadAttention.seeded(6, num_heads=2, seed=0, kdim=5)
            >>> layer.W_K.shape, layer.b_O.shape
            ((5, 6), (6,))
        """
        check_library(xp)
        embed_dim = size("embed_dim", embed_dim, minimum=1)
        kdim = embed_dim if kdim is None else size("kdim", kdim, minimum=1)
        vdim = embed_dim if vdim is None else size("vdim", vdim, minimum=1)
        generator = numpy.random.default_rng(count("seed", seed))

        def draw_matrix(rows: int) -> Array:
            """Draw a (rows, embed_dim) matrix within Glorot's bound."""
            bound = math.sqrt(6 / (rows + embed_dim))
            return xp.asarray(generator.uniform(-bound, bound, (rows, embed_dim)), dtype=xp.float64)

        zeros = xp.zeros((embed_dim,), dtype=xp.float64) if flag("bias", bias) else None
        biases = dict.fromkeys(("b_Q", "b_K", "b_V", "b_O"), zeros)
        return cls(
            W_Q=draw_matrix(embed_dim),
            W_K=draw_matrix(kdim),
            W_V=draw_matrix(vdim),
            W_O=draw_matrix(embed_dim),
            num_heads=num_heads,
            **biases,
        )

    def __call__(
        self,
        query: Array,
        key: Array,
        value: Array,
        attn_mask: Array | None = None,
        is_causal: bool = False,
    ) -> Array:
        """Compute attention and return only the output.

        Arguments and errors are those of [`steps`][attention_docs.MultiHeadAttention.steps].

        Returns:
            (..., m, d_out) array, same library, device and dtype as `query`.
        """
        return self.steps(query, key, value, attn_mask, is_causal).output

    def steps(
        self,
        query: Array,
        key: Array,
        value: Array,
        attn_mask: Array | None = None,
        is_causal: bool = False,
    ) -> MultiHeadSteps:
        """Compute attention and return every intermediate step.

        Args:
            query: (..., m, d_query) rows that ask. Self-attention: pass one array three times.
            key: (..., n, d_key) rows that are compared with the queries.
            value: (..., n, d_value) rows that are blended.
            attn_mask: broadcasts to (..., h, m, n). Boolean: True takes part. Float: added to the
                scaled scores. For padding pass `padding_mask(lengths[:, None], n)`.
            is_causal: a query sees no later position; not together with `attn_mask`.

        Returns:
            The steps. A query that may see no key gets zero weights, in every head, and the
            output `b_O`, zero without one.

        Raises:
            TypeError: if an argument is not a real array, or its library or dtype differs.
            ValueError: if shapes do not fit, a number is not finite, or a projection or a score
                overflows.
        """
        xp = namespace(
            W_Q=self.W_Q, query=query, key=key, value=value, **drop_none(attn_mask=attn_mask)
        )
        Q = self._project_into_heads(xp, "query", query, "Q")  # (..., h, m, d_k)
        K = self._project_into_heads(xp, "key", key, "K")  # (..., h, n, d_k)
        V = self._project_into_heads(xp, "value", value, "V")  # (..., h, n, d_v)
        if value.shape[-2] != key.shape[-2]:
            raise ValueError(
                f"value has shape {tuple(value.shape)}; "
                f"expected (..., {key.shape[-2]}, d_value) to match key {tuple(key.shape)}"
            )
        attention = attention_steps(Q, K, V, attn_mask, is_causal=is_causal)
        merged = merge_heads(attention.output)  # (..., m, h d_v)
        output = self._affine(xp, "the merged heads", merged, "O")  # (..., m, d_out)
        dtype = as_real(xp, "query", query).dtype
        with ignoring_overflow():
            output = xp.astype(output, dtype, copy=False)
        check_no_overflow(
            xp, f"the projection of the merged heads by {self._weight_names('O')} holds", output
        )
        return MultiHeadSteps(Q, K, V, attention, merged, output)

    def _check_shapes(self) -> None:
        """Refuse weights and biases whose shapes do not fit each other."""
        if self.W_K.shape[1] != self.W_Q.shape[1]:
            raise ValueError(
                f"W_K has shape {tuple(self.W_K.shape)}; "
                f"expected (d_key, {self.W_Q.shape[1]}) to match W_Q {tuple(self.W_Q.shape)}"
            )
        if self.W_O.shape[0] != self.W_V.shape[1]:
            raise ValueError(
                f"W_O has shape {tuple(self.W_O.shape)}; "
                f"expected ({self.W_V.shape[1]}, d_out) to match W_V {tuple(self.W_V.shape)}"
            )
        for letter in "QKVO":
            bias = getattr(self, f"b_{letter}")
            expected_shape = tuple(getattr(self, f"W_{letter}").shape[1:])
            if bias is not None and tuple(bias.shape) != expected_shape:
                raise ValueError(
                    f"b_{letter} has shape {tuple(bias.shape)}; "
                    f"expected {expected_shape} to match W_{letter}"
                )

    def _project_into_heads(self, xp: ModuleType, name: str, array: Array, letter: str) -> Array:
        """Return the rows of one argument, projected by `W_<letter>` and split into heads."""
        matrix = getattr(self, f"W_{letter}")
        array = as_real(xp, name, array)
        check_same_dtype(W_Q=as_real(xp, "W_Q", self.W_Q), **{name: array})
        if array.ndim < 2 or array.shape[-1] != matrix.shape[0]:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}; expected (..., length, "
                f"{matrix.shape[0]}) to match W_{letter} {tuple(matrix.shape)}"
            )
        check_finite(xp, name, array)
        return split_heads(self._affine(xp, name, array, letter), self.num_heads)

    def _affine(self, xp: ModuleType, name: str, rows: Array, letter: str) -> Array:
        """Return the rows times `W_<letter>`, plus `b_<letter>`; 16 bits are summed in float32."""
        matrix, bias = getattr(self, f"W_{letter}"), getattr(self, f"b_{letter}")
        matrix = upcast_16_bit(xp, as_real(xp, f"W_{letter}", matrix))
        with ignoring_overflow():
            projection = upcast_16_bit(xp, rows) @ matrix
            if bias is not None:
                projection = projection + upcast_16_bit(xp, as_real(xp, f"b_{letter}", bias))
        check_no_overflow(
            xp, f"the projection of {name} by {self._weight_names(letter)} holds", projection
        )
        return projection

    def _weight_names(self, letter: str) -> str:
        """Return the names of the weights of a projection, for error messages."""
        bias = getattr(self, f"b_{letter}")
        return f"W_{letter}" if bias is None else f"W_{letter} and b_{letter}"


def _swap_tokens_and_heads(xp: ModuleType, array: Array) -> Array:
    """Exchange the two axes before the last."""
    axes = list(range(array.ndim))
    axes[-3], axes[-2] = axes[-2], axes[-3]
    return xp.permute_dims(array, tuple(axes))


def _check_axes(name: str, array: Array, expected: str, min_axes: int) -> None:
    if array.ndim < min_axes:
        raise ValueError(f"{name} has shape {tuple(array.shape)}; expected {expected}")


def _divide_features(name: str, array: Array, num_heads: int) -> tuple[int, int]:
    """Return the number of heads and the number of features of each; refuse a remainder."""
    heads = whole_number("num_heads", num_heads)
    features = array.shape[-1]
    if heads < 1 or features % heads:
        raise ValueError(
            f"num_heads is {heads}; expected a divisor of the {features} features of {name}"
        )
    return heads, features // heads
