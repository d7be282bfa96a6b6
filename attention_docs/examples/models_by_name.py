"""What seven models keep for one token and for a text as long as their own context, in 16 bits.

For each model, three steps count layers: `full` with attention to all keys, `windowed` with a
window or chunks, and `states` with a state. `heads` is the number of query heads, and `window` the
number of keys in a window. The numbers of a state have 32 bits each. `context` is the context
length of the published configuration.

`mebibytes` is the memory of a text of that length. `share` is its fraction of the memory that the
text would take if all layers attended to all keys.

>>> show(computed(steps))
mebibytes [2016 4612.5000 7296 840 7730.6250 13420 21235.5000]
share [0.7500 0.5005 0.2969 0.2734 0.2516 1 1]
"""

import numpy

from attention_docs.arrays import check_positive

TITLE = "What seven models keep, by name"
SOURCE = "the configurations that the page names; the sums are our own"

MODELS = [
    "Gemma 2 9B",
    "gpt-oss",
    "Llama 4",
    "Qwen3-Next",
    "Olmo Hybrid 7B",
    "DeepSeek-V3.2",
    "GLM-5",
]
LABELS = {"share": (MODELS,)}
FULL = [21, 18, 12, 12, 8, 61, 78]
WINDOWED = [21, 18, 36, 0, 0, 0, 0]
STATES = [0, 0, 0, 36, 24, 0, 0]
HEADS = [16, 64, 40, 16, 30, 128, 64]
# Keys and values of h heads of d features are 2 h d numbers; latent attention keeps a latent and a
# rotary key, and a key of the indexer.
NUMBERS = [
    2 * 8 * 256,
    2 * 8 * 64,
    2 * 8 * 128,
    2 * 2 * 256,
    2 * 30 * 128,
    512 + 64 + 128,
    512 + 64 + 128,
]
WINDOW = [4096, 128, 8192, 0, 0, 0, 0]
STATE = [0, 0, 0, 32 * 128 * 128, 30 * 96 * 192, 0, 0]
CONTEXT = [8192, 131072, 131072, 32768, 65536, 163840, 202752]
CACHE_BYTES, STATE_BYTES, MEBIBYTE = 2, 4, 2**20


def steps(xp=numpy):
    """Return what each model keeps for a text as long as its context.

    `numbers` is how many numbers a layer with attention keeps for a token, and `state` how many
    numbers a state has.
    """
    full_layers = xp.asarray(FULL, dtype=xp.float64)
    windowed_layers = xp.asarray(WINDOWED, dtype=xp.float64)
    state_layers = xp.asarray(STATES, dtype=xp.float64)
    token_numbers = xp.asarray(NUMBERS, dtype=xp.float64)
    state_numbers = xp.asarray(STATE, dtype=xp.float64)
    window = xp.asarray(WINDOW, dtype=xp.float64)
    context = xp.asarray(CONTEXT, dtype=xp.float64)
    check_positive(xp, context=context)

    kept_tokens = full_layers * context + windowed_layers * window  # in all layers
    state_bytes = STATE_BYTES * state_layers * state_numbers
    memory = CACHE_BYTES * token_numbers * kept_tokens + state_bytes
    layers = full_layers + windowed_layers + state_layers
    memory_if_all_full = CACHE_BYTES * token_numbers * layers * context
    return {
        "full": full_layers,
        "windowed": windowed_layers,
        "states": state_layers,
        "heads": xp.asarray(HEADS, dtype=xp.float64),
        "numbers": token_numbers,
        "window": window,
        "state": state_numbers,
        "context": context,
        "mebibytes": memory / MEBIBYTE,
        "share": memory / memory_if_all_full,
    }
