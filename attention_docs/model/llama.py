"""A language model of the Llama family, computed with this package's own parts.

Shapes: `m` new tokens, `n` tokens including those in the cache, `h` query heads, `g` key and value
heads, `d_k` features per head, `d` features per token. A layer computes

    y = x + merge(Attention(rotary(u W_Q), rotary(u W_K), u W_V)) W_O     u = rms_norm(x)
    output = y + swiglu(v)                                                v = rms_norm(y)
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.masks import causal_mask
from attention_docs.model.layers import rms_norm, swiglu
from attention_docs.multi_head import merge_heads, split_heads
from attention_docs.positions import rotary

# The keys and values of each layer, for all tokens so far.
Cache = Sequence[tuple[Array, Array]]
# Takes a layer index and the outputs of its heads, (h, m, d_k); returns the replacement outputs.
ReplaceHeads = Callable[[int, Array], Array]


class Sizes(NamedTuple):
    """The sizes and constants of a model.

    Attributes:
        layers: the number of layers.
        d_model: d, features per token.
        heads: h, query heads per layer.
        kv_heads: g, key and value heads per layer, a divisor of h.
        d_k: features of a query, a key and a value.
        d_ff: hidden features of the feed-forward network.
        base: the base of the rotary frequencies.
        epsilon: the epsilon of the norms.
        context: the maximum number of tokens.
    """

    layers: int
    d_model: int
    heads: int
    kv_heads: int
    d_k: int
    d_ff: int
    base: float
    epsilon: float
    context: int


class Layer(NamedTuple):
    """The weights of a layer.

    Attributes:
        attention_norm: (d,) scales the input of attention.
        W_Q: (d, h d_k) projects queries.
        W_K: (d, g d_k) projects keys.
        W_V: (d, g d_k) projects values.
        W_O: (h d_k, d) mixes the heads.
        feed_forward_norm: (d,) scales the input of the feed-forward network.
        W_gate: (d, d_ff) computes its gate.
        W_up: (d, d_ff) computes its hidden features.
        W_down: (d_ff, d) projects them back to d.
    """

    attention_norm: Array
    W_Q: Array
    W_K: Array
    W_V: Array
    W_O: Array
    feed_forward_norm: Array
    W_gate: Array
    W_up: Array
    W_down: Array


class LayerSteps(NamedTuple):
    """What a layer computes.

    Attributes:
        query: (h, m, d_k) rotated queries.
        key: (g, n, d_k) rotated keys, including those in the cache.
        value: (g, n, d_k) values, including those in the cache.
        attention: the steps of all heads; `attention.weights` is (h, m, n).
        hidden: (m, d) the output of the layer, and the input of the next.
    """

    query: Array
    key: Array
    value: Array
    attention: AttentionSteps
    hidden: Array


class Llama(NamedTuple):
    """A model: tokens in, logits of the next token out.

    Attributes:
        sizes: its sizes.
        embeddings: (vocabulary, d) a row for each token.
        layers: the weights of each layer.
        output_norm: (d,) scales the input of the logits.
        W_vocabulary: (d, vocabulary) maps features to logits.
    """

    sizes: Sizes
    embeddings: Array
    layers: Sequence[Layer]
    output_norm: Array
    W_vocabulary: Array

    def logits(self, tokens: Sequence[int], **options: object) -> Array:
        """Return (m, vocabulary) logits; arguments and errors are those of `run`."""
        hidden = self.embeddings[:0]
        for steps in self.run(tokens, **options):  # type: ignore[arg-type]
            hidden = steps.hidden
        return self.compute_logits(hidden)

    def compute_logits(self, hidden: Array) -> Array:
        """Return (m, vocabulary) logits from the (m, d) output of the last layer."""
        return rms_norm(hidden, self.output_norm, self.sizes.epsilon) @ self.W_vocabulary

    def run(
        self,
        tokens: Sequence[int],
        cache: Cache | None = None,
        mask: Array | None = None,
        replace_heads: ReplaceHeads | None = None,
    ) -> Iterator[LayerSteps]:
        """Yield the steps of each layer; a caller that drops them saves memory.

        Args:
            tokens: the ids of the m new tokens.
            cache: `(steps.key, steps.value)` of each layer for the previous tokens.
            mask: (m, n) True where a query may see a key, in addition to the causal mask.
            replace_heads: called with a layer index and the (h, m, d_k) outputs of its heads;
                returns the outputs to use instead.

        Raises:
            ValueError: if there are no tokens or too many, or one is not in the vocabulary.
        """
        past = cache[0][0].shape[-2] if cache else 0
        x = self.embeddings[self._check_tokens(tokens, past)]  # (m, d)
        positions = np.arange(past, past + len(x))
        # The new tokens come last, so they take the last rows of the causal mask.
        visible = causal_mask(past + len(x))[past:]  # (m, n)
        visible = visible if mask is None else visible & mask
        for number, layer in enumerate(self.layers):
            query, key, value = self._project(layer, x, positions)
            if cache:
                key, value = (
                    np.concatenate(pair, axis=-2)  # (g, n, d_k)
                    for pair in zip(cache[number], (key, value), strict=True)
                )
            attention = attention_steps(query, key, value, attn_mask=visible, enable_gqa=True)
            heads = attention.output  # (h, m, d_k)
            if replace_heads:
                heads = replace_heads(number, heads)
            x = x + merge_heads(heads) @ layer.W_O
            normed = rms_norm(x, layer.feed_forward_norm, self.sizes.epsilon)
            x = x + swiglu(normed, layer.W_gate, layer.W_up, layer.W_down)
            yield LayerSteps(query, key, value, attention, x)

    def _project(self, layer: Layer, x: Array, positions: Array) -> tuple[Array, Array, Array]:
        """Return the rotated queries, the rotated keys and the values of each head."""
        _, _, heads, kv_heads, *_ = self.sizes
        normed = rms_norm(x, layer.attention_norm, self.sizes.epsilon)
        query = split_heads(normed @ layer.W_Q, heads)  # (h, m, d_k)
        key = split_heads(normed @ layer.W_K, kv_heads)  # (g, m, d_k)
        value = split_heads(normed @ layer.W_V, kv_heads)
        # The weights in the file are ordered so that neighbouring features form a rotary pair.
        query, key = (
            rotary(rows, positions, self.sizes.base, interleaved=True) for rows in (query, key)
        )
        return query, key, value

    def _check_tokens(self, tokens: Sequence[int], past: int) -> Array:
        """Return the token ids as an array; refuse ids outside the vocabulary."""
        total, context, vocabulary = past + len(tokens), self.sizes.context, len(self.embeddings)
        if not len(tokens):
            raise ValueError("tokens is empty; expected at least one token")
        if total > context:
            raise ValueError(f"tokens and cache hold {total} tokens; expected at most {context}")
        if not all(0 <= token < vocabulary for token in tokens):
            raise ValueError(f"tokens holds an id outside the vocabulary of {vocabulary}")
        return np.asarray(tokens)
