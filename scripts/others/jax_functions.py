"""Attention of JAX and of packages that build on it, as functions that the check can call."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import equinox
import jax
from flax.linen import dot_product_attention as flax  # noqa: F401, called by the check
from jax.nn import dot_product_attention  # noqa: F401, called by the check
from keras.ops import dot_product_attention as _keras


def keras(query, key, value, bias=None, mask=None, scale=None, is_causal=False):
    return _keras(query, key, value, bias=bias, mask=mask, scale=scale, is_causal=is_causal)


def equinox_layer(
    query, key, W_Q, W_K, W_V, W_O, num_heads, b_Q=None, b_K=None, b_V=None, b_O=None
):
    projections = ("query", W_Q, b_Q), ("key", W_K, b_K), ("value", W_V, b_V), ("output", W_O, b_O)
    use_bias = {f"use_{name}_bias": bias is not None for name, _, bias in projections}
    layer = equinox.nn.MultiheadAttention(num_heads, len(W_Q), **use_bias, key=jax.random.key(0))
    for name, matrix, bias in projections:
        attribute = f"{name}_proj"
        layer = equinox.tree_at(lambda m, p=attribute: getattr(m, p).weight, layer, matrix.T)
        if bias is not None:
            layer = equinox.tree_at(lambda m, p=attribute: getattr(m, p).bias, layer, bias)
    return jax.vmap(layer)(query, key, key)
