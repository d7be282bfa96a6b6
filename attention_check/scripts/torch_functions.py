"""Attention of PyTorch's packages that the check cannot call by its own name."""

import torch
from timm.layers import Attention
from x_transformers.attend import Attend

# The sizes of the layers that the check calls.
FEATURES, HEADS = 6, 3

multihead = torch.nn.MultiheadAttention(FEATURES, HEADS, batch_first=True)
timm_layer = Attention(FEATURES, HEADS, qkv_bias=True)
attend, flash_attend = Attend(flash=False), Attend(flash=True)


def x_transformers(query, key, value, mask=None, bias=None, causal=False):
    return attend(query, key, value, mask=mask, attn_bias=bias, causal=causal)


def x_transformers_flash(query, key, value, mask=None, causal=False):
    return flash_attend(query, key, value, mask=mask, causal=causal)
