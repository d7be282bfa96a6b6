"""A state of fixed size and a cache that grows, in the sizes of Qwen3-Next.

`layers` counts the layers with attention, which keep keys and values in 16 bits for every token,
and the other layers, which keep a state for each value head in 32 bits. `state` and
`cache_per_token` are the bytes of one layer. With more than `break_even` tokens, the cache of a
layer is larger than a state. `hybrid` and `attention_only` are MiB at each of the `contexts`: for
the model as it is, and if all its layers had attention.

>>> show(computed(steps))
layers [12 36]
state [2097152]
cache_per_token [2048]
break_even [1024]
hybrid [96 168 456 1608 6216]
attention_only [96 384 1536 6144 24576]
"""

import numpy

TITLE = "A state beside a cache, in bytes"
SOURCE = "the default configuration of Qwen3-Next in transformers"

LAYERS, ATTENTION_EVERY = [48], [4]
KV_HEADS, HEAD_DIM = [2], [256]
STATE_HEADS, STATE_KEY_DIM, STATE_VALUE_DIM = [32], [128], [128]
CACHE_BYTES, STATE_BYTES = [2], [4]
CONTEXTS = [1024, 4096, 16384, 65536, 262144]


def steps(xp=numpy):
    """Return the sizes of a state and of the cache of a token, and the memory for long contexts.

    `break_even` is the number of tokens whose cache, in one layer, is as large as a state.
    """
    layers = xp.asarray(LAYERS, dtype=xp.float64)
    attention_layers = layers // xp.asarray(ATTENTION_EVERY, dtype=xp.float64)
    state_layers = layers - attention_layers

    state_heads = xp.asarray(STATE_HEADS, dtype=xp.float64)
    key_dim = xp.asarray(STATE_KEY_DIM, dtype=xp.float64)
    value_dim = xp.asarray(STATE_VALUE_DIM, dtype=xp.float64)
    state = state_heads * key_dim * value_dim * xp.asarray(STATE_BYTES, dtype=xp.float64)

    kv_heads = xp.asarray(KV_HEADS, dtype=xp.float64)
    head_dim = xp.asarray(HEAD_DIM, dtype=xp.float64)
    # Keys and values.
    cache_per_token = 2 * kv_heads * head_dim * xp.asarray(CACHE_BYTES, dtype=xp.float64)

    contexts = xp.asarray(CONTEXTS, dtype=xp.float64)
    hybrid = attention_layers * cache_per_token * contexts + state_layers * state
    attention_only = layers * cache_per_token * contexts
    mebibyte = 2**20
    return {
        "layers": xp.concat([attention_layers, state_layers]),
        "state": state,
        "cache_per_token": cache_per_token,
        "break_even": state / cache_per_token,
        "contexts": contexts,
        "hybrid": hybrid / mebibyte,
        "attention_only": attention_only / mebibyte,
    }
