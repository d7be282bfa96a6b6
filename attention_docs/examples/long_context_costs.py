"""What one more token reads in seven models, and what they keep for a text of `length` tokens.

The layers and their sizes are those of `models_by_name`, which has their sources. A row of READ has
groups of layers: how many they are, how many numbers one of their entries has, how many tokens it
stands for, how many entries a query reads at most, 0 for all, and 1 if only the indexer reads them.

`kept` is the cache in MiB, `entries` the mean number of entries that the softmax of a layer reads,
`indexed` the mean number that an indexer scores, and `read` all that is read, in MiB, states
included. The shares compare `kept` and `read` with the same layers if all of them kept and read
every token. `turns` is how many tokens the slowest pair of a head takes for a turn, for two BASES.
All but the shares are rounded down to whole numbers.

>>> show(computed(steps))
kept [16384 4612 774 3145 3884 10736 865]
entries [131072 65600 26624 32768 33825 2048 854]
indexed [0 0 0 0 0 131072 16002]
read [16384 4612 1806 3145 3884 2089 203]
kept_share [1 0.5005 0.1440 0.2560 0.2901 1 0.1572]
read_share [1 0.5005 0.3359 0.2560 0.2901 0.1946 0.0370]
turns [54410 5063255]
"""

import math

import numpy

from attention_docs.arrays import check_positive
from attention_docs.examples import models_by_name as models

TITLE = "What long texts cost in seven models"
SOURCE = "the configurations named on the page of models; the sums are our own"

NAMES = [
    "Llama 3.1 8B",
    "gpt-oss-120b",
    "Gemma 4 E2B",
    "Qwen3-Next-80B-A3B",
    "Kimi K3",
    "DeepSeek-V3.2-Exp",
    "DeepSeek-V4-Flash",
]
NOTHING = [0, 0, 1, 0, 0]
READ = [
    [[32, 2048, 1, 0, 0], NOTHING, NOTHING, NOTHING],
    [[18, 1024, 1, 0, 0], [18, 1024, 1, 128, 0], NOTHING, NOTHING],
    # Layers that share keys and values still read them.
    [[7, 1024, 1, 0, 0], [28, 512, 1, 512, 0], NOTHING, NOTHING],
    [[12, 1024, 1, 0, 0], NOTHING, NOTHING, NOTHING],
    [[24, 576, 1, 0, 0], NOTHING, NOTHING, NOTHING],
    [[61, 576, 1, 2048, 0], [61, 128, 1, 0, 1], NOTHING, NOTHING],
    [[43, 512, 1, 128, 0], [21, 512, 4, 512, 0], [20, 512, 128, 0, 0], [21, 128, 4, 0, 1]],
]
LENGTH = [131072]
BASES, HEAD = [10000, 1000000], 128  # Gemma 3: windows, and layers that see all keys

MEBIBYTE = 2**20
ROWS = [models.MODELS.index(name) for name in NAMES]
LAYERS = [models.FULL[row] + models.WINDOWED[row] + models.STATES[row] for row in ROWS]
PARTS = models.LAYERS, models.NUMBERS, models.STRIDE, models.LIMIT
KEPT = [list(zip(*(part[row] for part in PARTS), strict=True)) for row in ROWS]
WHOLE = [models.WHOLE[row] for row in ROWS]
STATE_BYTES = [
    models.STATES[row]
    * (models.STATE_BYTES * models.STATE[row] + models.CACHE_BYTES * models.CONVOLUTION[row])
    for row in ROWS
]
# The names of the models, short enough for a phone.
SHORT_NAMES = [*NAMES[:3], "Qwen3-Next", "Kimi K3", "V3.2", "V4-Flash"]
LABELS = {"kept read entries indexed kept_share read_share": (SHORT_NAMES,)}


def steps(xp=numpy):
    """Return what each model keeps, and what it reads for one more token."""
    length = xp.asarray(LENGTH, dtype=xp.float64)
    check_positive(xp, length=length)
    layers, whole, state_bytes, bases = (
        xp.asarray(numbers, dtype=xp.float64) for numbers in (LAYERS, WHOLE, STATE_BYTES, BASES)
    )
    kept_groups, read_groups = (xp.asarray(groups, dtype=xp.float64) for groups in (KEPT, READ))
    tokens = xp.where(limits(kept_groups, length), kept_groups[:, :, 3], length)
    kept_numbers = kept_groups[:, :, 0] * kept_groups[:, :, 1] * tokens / kept_groups[:, :, 2]
    kept = models.CACHE_BYTES * xp.sum(kept_numbers, axis=1) + state_bytes

    finished = length // read_groups[:, :, 2]
    entries = xp.where(limits(read_groups, finished), read_groups[:, :, 3], finished)
    entries = read_groups[:, :, 0] * entries
    is_indexed = read_groups[:, :, 4]
    read = models.CACHE_BYTES * xp.sum(entries * read_groups[:, :, 1], axis=1) + state_bytes
    all_bytes = models.CACHE_BYTES * whole * length
    return {
        "length": length,
        "kept": whole_part(kept / MEBIBYTE),
        "entries": whole_part(xp.sum(entries * (1 - is_indexed), axis=1) / layers),
        "indexed": whole_part(xp.sum(entries * is_indexed, axis=1) / layers),
        "read": whole_part(read / MEBIBYTE),
        "kept_share": kept / all_bytes,
        "read_share": read / all_bytes,
        "turns": whole_part(2 * math.pi * bases ** (1 - 2 / HEAD)),
    }


def limits(groups, entries):
    """Whether a layer of each group keeps or reads less than all entries."""
    return (groups[:, :, 3] > 0) & (groups[:, :, 3] < entries)


def whole_part(numbers):
    """Return positive numbers without their decimals."""
    return numbers - numbers % 1
