"""A language model of the Llama family, computed with this package's own parts.

Shapes: `m` new tokens, `n` tokens including those in the cache, `h` query heads, `g` key and value
heads, `d_k` features per head, `d` features per token. A layer computes

    y = x + merge(Attention(rotary(u W_Q), rotary(u W_K), u W_V)) W_O     u = rms_norm(x)
    output = y + swiglu(v)                                                v = rms_norm(y)
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.layers import rms_norm, swiglu
from attention_docs.masks import causal_mask
from attention_docs.multi_head import merge_heads, split_heads
from attention_docs.positions import rotary


class Layer(NamedTuple):
    attention_norm: Array  # (d,)
    W_Q: Array  # (d, h d_k)
    W_K: Array  # (d, g d_k)
    W_V: Array  # (d, g d_k)
    W_O: Array  # (h d_k, d)
    feed_forward_norm: Array  # (d,)
    W_gate: Array  # (d, d_ff)
    W_up: Array  # (d, d_ff)
    W_down: Array  # (d_ff, d)


class LayerSteps(NamedTuple):
    """What a layer computes; keys and values include those in the cache."""

    query: Array  # (h, m, d_k), rotated
    key: Array  # (g, n, d_k), rotated
    value: Array  # (g, n, d_k)
    attention: AttentionSteps  # of all heads: attention.weights is (h, m, n)
    hidden: Array  # (m, d), the output of the layer and the input of the next


class Llama(NamedTuple):
    """A model: tokens in, logits of the next token out."""

    heads: int  # h
    kv_heads: int  # g, a divisor of h
    base: float  # of the rotary frequencies
    epsilon: float  # of the norms
    context: int  # the maximum number of tokens
    embeddings: Array  # (vocabulary, d)
    layers: Sequence[Layer]
    output_norm: Array  # (d,)
    W_vocabulary: Array  # (d, vocabulary)

    def logits(self, tokens: Sequence[int], **options: Any) -> Array:
        """Return (m, vocabulary) logits; the arguments are those of `run`."""
        # Only the last steps are kept, because those of all layers could fill the memory.
        for steps in self.run(tokens, **options):
            last_steps = steps
        return self.compute_logits(last_steps.hidden)

    def compute_logits(self, hidden: Array) -> Array:
        """Return (m, vocabulary) logits from the (m, d) output of the last layer."""
        return rms_norm(hidden, self.output_norm, self.epsilon) @ self.W_vocabulary

    def run(
        self,
        tokens: Sequence[int],
        cache: Sequence[LayerSteps] = (),
        mask: Array | None = None,
        replace_heads: Callable[[int, Array], Array] | None = None,
    ) -> Iterator[LayerSteps]:
        """Yield the steps of each layer in turn, so that a caller need not keep all of them.

        Args:
            cache: the steps of all layers in a run of the previous tokens, whose keys and values
                are reused; empty if there are no previous tokens.
            mask: (m, n) True where a query may see a key; by default the causal mask.
            replace_heads: called with a layer index and the (h, m, d_k) outputs of its heads;
                returns the outputs to use instead.
        """
        cached_tokens = cache[0].key.shape[-2] if cache else 0
        max_tokens, vocabulary = self.context - cached_tokens, len(self.embeddings)
        if not 1 <= len(tokens) <= max_tokens:
            raise ValueError(f"tokens has {len(tokens)} ids; expected 1 to {max_tokens}")
        if not all(0 <= token < vocabulary for token in tokens):
            raise ValueError(f"tokens holds an id outside the vocabulary of {vocabulary}")
        x = self.embeddings[list(tokens)]  # (m, d)
        positions = np.arange(cached_tokens, cached_tokens + len(tokens))
        if mask is None:
            # The new tokens come last, so they take the last rows of the causal mask.
            mask = causal_mask(cached_tokens + len(tokens))[cached_tokens:]
        for number, layer in enumerate(self.layers):
            query, key, value = self._project(layer, x, positions)
            if cache:
                key = np.concatenate((cache[number].key, key), axis=-2)  # (g, n, d_k)
                value = np.concatenate((cache[number].value, value), axis=-2)
            attention = attention_steps(query, key, value, attn_mask=mask, enable_gqa=True)
            heads = attention.output  # (h, m, d_k)
            if replace_heads:
                heads = replace_heads(number, heads)
            x = x + merge_heads(heads) @ layer.W_O
            normed = rms_norm(x, layer.feed_forward_norm, self.epsilon)
            x = x + swiglu(normed, layer.W_gate, layer.W_up, layer.W_down)
            yield LayerSteps(query, key, value, attention, x)

    def _project(self, layer: Layer, x: Array, positions: Array) -> tuple[Array, Array, Array]:
        """Return the rotated queries, the rotated keys and the values of each head."""
        normed = rms_norm(x, layer.attention_norm, self.epsilon)
        query = split_heads(normed @ layer.W_Q, self.heads)  # (h, m, d_k)
        key = split_heads(normed @ layer.W_K, self.kv_heads)  # (g, m, d_k)
        value = split_heads(normed @ layer.W_V, self.kv_heads)
        # The weights in the file are ordered so that neighbouring features form a rotary pair.
        query, key = (rotary(rows, positions, self.base, interleaved=True) for rows in (query, key))
        return query, key, value
