"""A state of fixed size and a cache that grows, in the sizes of Qwen3-Next.

`layers` counts the layers with attention, which keep keys and values in 16 bits for every token,
and the other layers, which keep a state for each value head in 32 bits. `state` and
`cache_per_token` are the bytes of one layer. With more than `break_even` tokens, the cache of a
layer is larger than a state. `hybrid` and `attention_only` are MiB at each of the `contexts`: for
the model as it is, and if all its layers had attention.

>>> show(steps())
layers 2
[12 36]
state 1
[2097152]
cache_per_token 1
[2048]
break_even 1
[1024]
contexts 5
[1024 4096 16384 65536 262144]
hybrid 5
[96 168 456 1608 6216]
attention_only 5
[96 384 1536 6144 24576]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array

TITLE = "A state beside a cache, in bytes"
SOURCE = "the default configuration of Qwen3-Next in transformers"

LAYERS, ATTENTION_EVERY = [48], [4]
KV_HEADS, HEAD_DIM = [2], [256]
STATE_HEADS, STATE_KEY_DIM, STATE_VALUE_DIM = [32], [128], [128]
CACHE_BYTES, STATE_BYTES = [2], [4]
CONTEXTS = [1024, 4096, 16384, 65536, 262144]


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    layers, every, kv_heads, head_dim, cache_bytes, contexts = (
        xp.asarray(numbers, dtype=xp.float64)
        for numbers in (LAYERS, ATTENTION_EVERY, KV_HEADS, HEAD_DIM, CACHE_BYTES, CONTEXTS)
    )
    state_heads, key_dim, value_dim, state_bytes = (
        xp.asarray(numbers, dtype=xp.float64)
        for numbers in (STATE_HEADS, STATE_KEY_DIM, STATE_VALUE_DIM, STATE_BYTES)
    )
    with_attention = layers // every
    with_state = layers - with_attention
    state = state_heads * key_dim * value_dim * state_bytes
    cache_per_token = 2 * kv_heads * head_dim * cache_bytes
    mebibyte = 2**20
    return {
        "layers": xp.concat([with_attention, with_state]),
        "state": state,
        "cache_per_token": cache_per_token,
        "break_even": state / cache_per_token,
        "contexts": contexts,
        "hybrid": (with_attention * cache_per_token * contexts + with_state * state) / mebibyte,
        "attention_only": layers * cache_per_token * contexts / mebibyte,
    }
