"""Attention, explained with numbers that are computed and never typed."""

from attention_docs.additive import additive_scores
from attention_docs.backward import (
    AttentionGradients,
    InputGradients,
    attention_backward,
    scaled_dot_product_attention_backward,
)
from attention_docs.dot_product import (
    AttentionSteps,
    attend_tile,
    attention_steps,
    scaled_dot_product_attention,
)
from attention_docs.layers import rms_norm, swiglu
from attention_docs.masks import causal_mask, create_mask, padding_mask, window_mask
from attention_docs.multi_head import (
    MultiHeadAttention,
    MultiHeadSteps,
    merge_heads,
    split_heads,
)
from attention_docs.positions import position_rotation, rotary, sinusoidal_positions
from attention_docs.render.text import show
from attention_docs.softmax import softmax
from attention_docs.tiles import TileState, merge

__all__ = [
    "AttentionGradients",
    "AttentionSteps",
    "InputGradients",
    "MultiHeadAttention",
    "MultiHeadSteps",
    "TileState",
    "additive_scores",
    "attend_tile",
    "attention_backward",
    "attention_steps",
    "causal_mask",
    "create_mask",
    "merge",
    "merge_heads",
    "padding_mask",
    "position_rotation",
    "rms_norm",
    "rotary",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
    "show",
    "sinusoidal_positions",
    "softmax",
    "split_heads",
    "swiglu",
    "window_mask",
]
