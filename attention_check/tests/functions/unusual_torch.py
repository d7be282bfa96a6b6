"""Correct PyTorch attention functions and layers with unusual signatures, layouts or limits."""

import math
from functools import partial
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional

sdpa_partial = partial(F.scaled_dot_product_attention, is_causal=True)


def late_scale(q, k, v):
    """Scales after the product, which overflows in float16."""
    scores = q @ k.transpose(-2, -1)
    return (scores * q.size(-1) ** -0.5).softmax(-1) @ v


def half_mask(q, k, v, attn_mask=None):
    """Hides with -1e9, which raises in float16, where it is out of range."""
    scores = q @ k.transpose(-2, -1) * q.size(-1) ** -0.5
    if attn_mask is not None:
        scores = scores.masked_fill(~attn_mask, -1e9)
    return scores.softmax(-1) @ v


def triton_tutorial(q, k, v, causal, sm_scale):
    """Has the signature of Triton's tutorial, for head sizes of 16, 32, 64 and 128."""
    assert q.shape[-1] == k.shape[-1] == v.shape[-1]
    assert q.shape[-1] in {16, 32, 64, 128}
    assert q.shape == k.shape
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=sm_scale)


def flash_attn_func(
    q,
    k,
    v,
    dropout_p=0.0,
    softmax_scale=None,
    causal=False,
    window_size=(-1, -1),
    softcap=0.0,
    alibi_slopes=None,
    deterministic=False,
    return_attn_probs=False,
):
    """Has flash-attn's signature and conventions: (b, n, h, d), 16 bits, bottom-right."""
    if q.dtype not in (torch.float16, torch.bfloat16):
        raise RuntimeError("FlashAttention only supports fp16 and bf16 data type")
    m, n, group = q.shape[1], k.shape[1], q.shape[2] // k.shape[2]
    query, key, value = (x.transpose(1, 2).float() for x in (q, k, v))
    key, value = (x.repeat_interleave(group, 1) for x in (key, value))
    scores = query @ key.mT * (q.size(-1) ** -0.5 if softmax_scale is None else softmax_scale)
    if softcap > 0:
        scores = softcap * torch.tanh(scores / softcap)
    left, right = window_size
    if causal:
        right = 0
    distance = torch.arange(n) - torch.arange(m)[:, None] - (n - m)
    hidden = torch.zeros(m, n, dtype=torch.bool)
    if left >= 0:
        hidden |= distance < -left
    if right >= 0:
        hidden |= distance > right
    weights = scores.masked_fill(hidden, -torch.inf).softmax(-1).nan_to_num(0.0)
    return (weights @ value).transpose(1, 2).to(q.dtype)


def eager_attention_forward(
    module, query, key, value, attention_mask=None, scaling=None, dropout=0.0, **kwargs
):
    """Has the signature of transformers: grouped heads, an additive mask, (b, n, h, d) out."""
    groups = getattr(module, "num_key_value_groups", query.size(1) // key.size(1))
    key, value = (x.repeat_interleave(groups, 1) for x in (key, value))
    scaling = query.size(-1) ** -0.5 if scaling is None else scaling
    weights = query @ key.transpose(2, 3) * scaling
    if attention_mask is not None:
        weights = weights + attention_mask
    weights = F.softmax(weights, dim=-1, dtype=torch.float32).to(query.dtype)
    weights = F.dropout(weights, p=dropout, training=getattr(module, "training", False))
    return (weights @ value).transpose(1, 2).contiguous(), weights


def float16_inside(q, k, v, is_causal=False):
    """Computes in float16 and casts back."""
    output = F.scaled_dot_product_attention(q.half(), k.half(), v.half(), is_causal=is_causal)
    return output.to(q.dtype)


def packed_kv(q, kv):
    """Takes q (b, m, h, d) and kv (b, n, 2, h, d)."""
    k, v = kv.unbind(2)
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v).transpose(1, 2)


def annotated_dropout(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, dropout_p: float = 0.1, training: bool = True
) -> torch.Tensor:
    """Has dropout by default, which an argument turns off."""
    weights = F.dropout((q @ k.mT * q.size(-1) ** -0.5).softmax(-1), dropout_p, training)
    return weights @ v


class CausalSelfAttention(nn.Module):
    """As in nanoGPT: packed c_attn, always causal."""

    def __init__(self, n_embd=32, n_head=4, block_size=64):
        super().__init__()
        self.c_attn, self.c_proj = nn.Linear(n_embd, 3 * n_embd), nn.Linear(n_embd, n_embd)
        self.attn_dropout, self.resid_dropout = nn.Dropout(0.1), nn.Dropout(0.1)
        self.n_head, self.n_embd = n_head, n_embd
        self.register_buffer("bias", torch.ones(1, 1, block_size, block_size).tril())

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        q, k, v = (y.view(B, T, self.n_head, C // self.n_head).transpose(1, 2) for y in (q, k, v))
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        att = att.masked_fill(self.bias[:, :, :T, :T] == 0, float("-inf")).softmax(-1)
        y = (self.attn_dropout(att) @ v).transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class Llama(nn.Module):
    """As in transformers: grouped heads, rotary inputs, an additive mask."""

    def __init__(self, width=32, heads=4, kv_heads=2):
        super().__init__()
        self.config = SimpleNamespace(num_attention_heads=heads, num_key_value_heads=kv_heads)
        self.head_dim = width // heads
        kv_width = kv_heads * self.head_dim
        self.q_proj, self.o_proj = (nn.Linear(width, width, bias=False) for _ in range(2))
        self.k_proj, self.v_proj = (nn.Linear(width, kv_width, bias=False) for _ in range(2))

    def forward(self, hidden_states, position_embeddings, attention_mask=None, **kwargs):
        shape = (*hidden_states.shape[:-1], -1, self.head_dim)
        q, k, v = (
            p(hidden_states).view(shape).transpose(1, 2)
            for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        cos, sin = (x.unsqueeze(1) for x in position_embeddings)
        q, k = (x * cos + self.rotate(x) * sin for x in (q, k))
        output = F.scaled_dot_product_attention(q, k, v, attn_mask=attention_mask, enable_gqa=True)
        return self.o_proj(output.transpose(1, 2).reshape(*hidden_states.shape[:-1], -1)), None

    @staticmethod
    def rotate(x):
        return torch.cat((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), dim=-1)


nanogpt, llama = CausalSelfAttention(), Llama()
multihead = nn.MultiheadAttention(768, 12, batch_first=True)
multihead_sequence_first = nn.MultiheadAttention(16, 2)


@torch.compile(backend="eager")
def compiled(q, k, v):
    """Is called through the wrapper of torch.compile."""
    return (q @ k.mT * q.size(-1) ** -0.5).softmax(-1) @ v
