"""Attention, explained with numbers that are computed and never typed."""

from attention_docs.dot_product import (
    AttentionSteps,
    attention_steps,
    scaled_dot_product_attention,
)
from attention_docs.masks import causal_mask, padding_mask, window_mask
from attention_docs.render.text import show
from attention_docs.softmax import softmax

__all__ = [
    "AttentionSteps",
    "attention_steps",
    "causal_mask",
    "padding_mask",
    "scaled_dot_product_attention",
    "show",
    "softmax",
    "window_mask",
]
