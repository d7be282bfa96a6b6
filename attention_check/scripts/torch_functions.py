"""Attention of PyTorch and of packages that build on it, as functions that the check can call."""

import torch
from timm.layers import Attention
from torch.nn.functional import scaled_dot_product_attention  # noqa: F401, called by the check
from transformers import BertConfig, GPT2Config, LlamaConfig
from transformers.models.bert import modeling_bert
from transformers.models.gpt2 import modeling_gpt2
from transformers.models.llama import modeling_llama
from x_transformers.attend import Attend

# The sizes of the layers that the check calls.
FEATURES, HEADS = 6, 3

multihead = torch.nn.MultiheadAttention(FEATURES, HEADS, batch_first=True)
timm_layer = Attention(FEATURES, HEADS, qkv_bias=True)
x_transformers_attend = Attend(flash=False)
x_transformers_flash_attend = Attend(flash=True)
# The attention functions of transformers read settings from a module.
bert_module = modeling_bert.BertSelfAttention(
    BertConfig(hidden_size=FEATURES, num_attention_heads=HEADS, attn_implementation="eager")
).eval()
gpt2_module = modeling_gpt2.GPT2Attention(
    GPT2Config(n_embd=FEATURES, n_head=HEADS, attn_implementation="eager")
).eval()


def x_transformers(query, key, value, mask=None, bias=None, causal=False):
    return x_transformers_attend(query, key, value, mask=mask, attn_bias=bias, causal=causal)


def x_transformers_flash(query, key, value, mask=None, causal=False):
    return x_transformers_flash_attend(query, key, value, mask=mask, causal=causal)


def bert(query, key, value, attention_mask=None, scale=None):
    output, _ = modeling_bert.eager_attention_forward(
        bert_module, query, key, value, attention_mask, scaling=scale
    )
    return output.transpose(1, 2)


def gpt2(query, key, value, attention_mask=None, scale=None):
    output, _ = modeling_gpt2.eager_attention_forward(
        gpt2_module, query, key, value, attention_mask, scaling=scale
    )
    return output.transpose(1, 2)


def llama(query, key, value, attention_mask=None, scale=None):
    heads = query.shape[1]
    # The function reads the numbers of heads from a layer, but does not use its projections.
    config = LlamaConfig(
        hidden_size=2 * heads, num_attention_heads=heads, attn_implementation="eager"
    )
    config.num_key_value_heads = key.shape[1]
    module = modeling_llama.LlamaAttention(config, layer_idx=0).eval()
    scaling = query.shape[-1] ** -0.5 if scale is None else scale
    output, _ = modeling_llama.eager_attention_forward(
        module, query, key, value, attention_mask, scaling
    )
    return output.transpose(1, 2)
