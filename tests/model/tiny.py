"""A tiny GGUF model of the Llama family with random weights, and a slow forward pass in loops."""

import math

import gguf
import numpy as np

from attention_docs.model.tokenizer import byte_characters
from tests.loops import add, attention, matmul, rotate_pairs

# All sizes differ, and two query heads share each head of keys.
D, HEADS, KV_HEADS, D_FF, LAYERS, BASE, EPSILON = 16, 4, 2, 24, 3, 500.0, 0.01
D_K = D // HEADS
TOKENS = ["<|end|>", *byte_characters(), "at", "cat"]
SIZES = {
    "block_count": LAYERS,
    "embedding_length": D,
    "feed_forward_length": D_FF,
    "context_length": 32,
    "attention.head_count": HEADS,
    "attention.head_count_kv": KV_HEADS,
    "rope.dimension_count": D_K,
}
# The tensors of a layer, as (outputs, inputs).
SHAPES = {
    "attn_norm": (D,),
    "attn_q": (D, D),
    "attn_k": (KV_HEADS * D_K, D),
    "attn_v": (KV_HEADS * D_K, D),
    "attn_output": (D, D),
    "ffn_norm": (D,),
    "ffn_gate": (D_FF, D),
    "ffn_up": (D_FF, D),
    "ffn_down": (D, D_FF),
}


def random_weights():
    """Return the tensors of the model by name, matrices as (outputs, inputs)."""
    draw = np.random.default_rng(0)
    weights = {"token_embd.weight": draw.normal(size=(len(TOKENS), D))}
    for layer in range(LAYERS):
        for name, shape in SHAPES.items():
            weights[f"blk.{layer}.{name}.weight"] = draw.normal(size=shape) / 2
    weights["output_norm.weight"] = draw.normal(size=D)
    return {name: weight.astype(np.float32) for name, weight in weights.items()}


WEIGHTS = random_weights()


def write_gguf(path, weights, sizes=SIZES, architecture="llama", pre="smollm", extra=()):
    """Write a GGUF file; `extra` are pairs of a name and a number that belong to the model."""
    writer = gguf.GGUFWriter(path, architecture)
    for name, size in sizes.items():
        writer.add_uint32(f"{architecture}.{name}", size)
    writer.add_float32(f"{architecture}.attention.layer_norm_rms_epsilon", EPSILON)
    writer.add_float32(f"{architecture}.rope.freq_base", BASE)
    for name, value in extra:
        writer.add_float32(name, value)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(TOKENS)
    writer.add_token_types([3] + [1] * (len(TOKENS) - 1))
    writer.add_token_merges(["a t", "c at"])
    for name, tensor in weights.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def slow_norm(rows, weight):
    divisors = [math.sqrt(math.fsum(v * v for v in row) / len(row) + EPSILON) for row in rows]
    return [
        [v / divisor * float(g) for v, g in zip(row, weight, strict=True)]
        for row, divisor in zip(rows, divisors, strict=True)
    ]


def slow_run(weights, tokens):
    """Return the attention weights and the output of each layer, and the logits."""
    x = [[float(v) for v in weights["token_embd.weight"][token]] for token in tokens]
    layers = []
    for layer in range(LAYERS):
        W = {name: weights[f"blk.{layer}.{name}.weight"] for name in SHAPES}
        normed = slow_norm(x, W["attn_norm"])
        Q, K, V = (project(normed, W[f"attn_{letter}"]) for letter in "qkv")
        heads = []
        for head in range(HEADS):
            own = slice(head * D_K, (head + 1) * D_K)
            group = head // (HEADS // KV_HEADS)
            shared = slice(group * D_K, (group + 1) * D_K)
            query = [rotate_pairs(row[own], t, BASE, interleaved=True) for t, row in enumerate(Q)]
            key = [rotate_pairs(row[shared], t, BASE, interleaved=True) for t, row in enumerate(K)]
            value = [row[shared] for row in V]
            heads.append(attention(query, key, value, allowed=lambda i, j: j <= i))
        merged = [[v for _, out in heads for v in out[t]] for t in range(len(x))]
        x = add(x, project(merged, W["attn_output"]))
        normed = slow_norm(x, W["ffn_norm"])
        gates, hidden = project(normed, W["ffn_gate"]), project(normed, W["ffn_up"])
        gated = [
            [a / (1 + math.exp(-a)) * b for a, b in zip(*rows, strict=True)]
            for rows in zip(gates, hidden, strict=True)
        ]
        x = add(x, project(gated, W["ffn_down"]))
        layers.append(([weights for weights, _ in heads], x))
    normed = slow_norm(x, weights["output_norm.weight"])
    return layers, matmul(normed, weights["token_embd.weight"].T.tolist())


def project(rows, matrix):
    return matmul(rows, matrix.T.tolist())
