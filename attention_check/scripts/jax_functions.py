"""Attention of JAX and of packages that build on it, as functions that the check can call."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import equinox
import jax
from flax.linen import dot_product_attention as flax  # noqa: F401, called by the check
from jax.nn import dot_product_attention  # noqa: F401, called by the check
from keras.ops import dot_product_attention as keras_attention


def keras(query, key, value, bias=None, mask=None, scale=None, is_causal=False):
    return keras_attention(
        query, key, value, bias=bias, mask=mask, scale=scale, is_causal=is_causal
    )


def equinox_layer(
    query, key, W_Q, W_K, W_V, W_O, num_heads, b_Q=None, b_K=None, b_V=None, b_O=None
):
    """Call Equinox's layer with parameters (inputs, outputs), and the keys also as values."""
    layer = equinox.nn.MultiheadAttention(
        num_heads,
        query_size=len(W_Q),
        use_query_bias=b_Q is not None,
        use_key_bias=b_K is not None,
        use_value_bias=b_V is not None,
        use_output_bias=b_O is not None,
        key=jax.random.key(0),
    )
    layer = with_parameters(layer, "query_proj", W_Q, b_Q)
    layer = with_parameters(layer, "key_proj", W_K, b_K)
    layer = with_parameters(layer, "value_proj", W_V, b_V)
    layer = with_parameters(layer, "output_proj", W_O, b_O)
    return jax.vmap(layer)(query, key, key)


def with_parameters(layer, projection, matrix, bias):
    """Return a copy of an immutable layer with another (inputs, outputs) matrix and bias."""
    layer = equinox.tree_at(lambda tree: getattr(tree, projection).weight, layer, matrix.T)
    if bias is not None:
        layer = equinox.tree_at(lambda tree: getattr(tree, projection).bias, layer, bias)
    return layer
