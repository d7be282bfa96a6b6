"""Bytes that the caches of four models take for one token, in 16 bits.

For each model: its number of layers, and how many numbers one layer keeps for one token. Keys and
values of h heads of d features are 2 h d numbers; latent attention keeps a latent and a rotary key
instead. The fifth entry is the fourth model if it cached the keys and values of each head.

>>> show(computed(steps))
bytes [524288 131072 8192 31104 276480]
"""

import numpy

TITLE = "Bytes per token in the caches of four models"
SOURCE = "the published configurations, which the page cites"

LAYERS = [32, 32, 32, 27, 27]
NUMBERS = [
    2 * 32 * 128,  # Llama 2 7B
    2 * 8 * 128,  # Llama 3 8B
    2 * 1 * 64,  # Falcon 7B
    512 + 64,  # DeepSeek-V2-Lite: the latent and the rotary key
    16 * (128 + 64) + 16 * 128,  # DeepSeek-V2-Lite: the keys and values of each head
]
BYTES_PER_NUMBER = 2


def steps(xp=numpy):
    """Return the number of layers, the numbers per token and layer, and the bytes per token."""
    layers, numbers = (xp.asarray(counts, dtype=xp.float64) for counts in (LAYERS, NUMBERS))
    return {
        "layers": layers,
        "numbers": numbers,
        "bytes": layers * numbers * BYTES_PER_NUMBER,
    }
