"""What models keep for one token, and for texts of several lengths, in 16 bits.

`models_by_name.json` has the configurations of checkpoints that were read. For each model, three
steps count layers: `full` with attention to all keys, `windowed` with a window or chunks, and
`states` with a state. `state` counts the numbers of a state, which have 32 bits each, and
`convolution` those before it, which have 16. LAYERS, NUMBERS, STRIDE and LIMIT say how many layers
keep how many numbers for each token, or for each few, and the last how many tokens, 0 for all.
WHOLE is what all layers would keep for a token if they saw all keys.

A row of `kept` has the bytes by which the cache of all layers grows with each token, and the mean
of a layer that grows; the GiB of a text of 8192 tokens, of 131072, and of the model's own context
length; and the share of the last: of what all layers would keep if they saw all keys.

>>> show(computed(steps))
kept 49 x 6
[[ 70272      1152 0.5361  8.5781  10.7227      1]
 [ 85888      1408 0.6553 10.4844  13.1055      1]
 [  6880  167.8049 0.0577  0.8451   6.7240 0.1564]
 [  9848  161.4426 0.0826  1.2096   9.6246 0.1578]
 [163840      4096 1.2500      20       60      1]
 [172032      8192 1.9688 21.6562   1.9688 0.7500]
 [ 81920      8192 1.0312 10.4062  10.4062 0.1678]
 [ 20480      4096 0.3516  2.6953   5.1953 0.0945]
 [ 81920      8192 1.4062 10.7812  20.7812 0.0945]
 [  6144      2048 0.0527  0.7559   0.7559 0.1440]
 [ 16384      4096 0.1445  2.0195   2.0195 0.1649]
 [376832      4096 2.8750      46       46      1]
 [ 54144      1152 0.4131  6.6094  10.2239      1]
 [109824      1408 0.8379 13.4062  20.7378      1]
 [ 95232 1220.9231 0.7266 11.6250       93      1]
 [ 24576      2048 0.1904  3.0029   3.0029 0.5005]
 [ 36864      2048 0.2856  4.5044   4.5044 0.5005]
 [ 70272      1152 0.5361  8.5781   8.5781      1]
 [ 70272      1152 0.5361  8.5781  17.1562      1]
 [ 27648      1152 0.6294  3.7935  27.4185 0.2621]
 [131072      4096      1      16       16      1]
 [ 32768      2048 0.2500       4        4      1]
 [327680      4096 2.5000      40       40      1]
 [ 49152      4096 1.5000  7.1250  49.1250 0.2559]
 [ 49152      4096 1.5000  7.1250 481.1250 0.2506]
 [ 23040      2560 0.1996  2.8363   5.6488 0.1039]
 [ 40960      4096 0.5859  5.2734 390.8984 0.1251]
 [253952      4096 1.9375      31  48.4375      1]
 [137472 2291.2000 1.0488 16.7812 134.2500      1]
 [163840      4096 1.2500      20        5      1]
 [  6144      1024 0.0926  0.7957   1.5457 0.2132]
 [  8192      1024 0.2210  1.1585   2.1585 0.1799]
 [ 12288      1024 0.4737  1.8799   3.3799 0.2253]
 [131072     16384 2.5000 17.5000   9.5000 0.2969]
 [ 65536      4096 1.2500  8.7500   4.7500 0.2969]
 [122880     15360 0.9885 15.0510   7.5510 0.2517]
 [204800      5120 1.5625      25   3.1250      1]
 [147456      4096 1.1250      18   5.6250      1]
 [ 98304      2048 0.7500      12   3.7500      1]
 [262144      4096      2      32       10      1]
 [192512      2048 1.4688 23.5000       47      1]
 [253952      4096 1.9375      31       62      1]
 [ 24576      2048 0.2595  3.0720   6.0720 0.2530]
 [ 24576      2048 0.3306  3.1431   6.1431 0.2560]
 [ 30720      2048 0.4132  3.9289   7.6789 0.2560]
 [ 65536      4096 0.6434  8.1434  16.1434 0.2522]
 [ 20480      2048 0.2162  2.5600   5.0600 0.2530]
 [ 23040       768 0.1758  2.8125   0.1758      1]
 [ 73728      2048 0.5625       9   4.5000      1]]
"""

import json
from pathlib import Path

import numpy

from attention_docs.arrays import check_positive

TITLE = "What models keep, by name"
SOURCE = "the configurations that the page names; the sums are our own"

DATA = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
MODELS = list(DATA["sizes"])
COLUMNS = ["a token", "a layer", "short text", "long text", "own context", "share"]
LABELS = {"kept": (MODELS, COLUMNS)}
LENGTHS = [8192, 131072]
CACHE_BYTES, STATE_BYTES, GIBIBYTE = 2, 4, 2**30


def numbers_of_token(sizes, kind=""):
    """Return how many numbers a layer keeps for a token: a latent, or keys and values."""
    if "latent" in sizes:
        return sizes["latent"] + sizes["rotary"]
    heads = sizes.get(f"{kind}key_heads", sizes["key_heads"])
    key_size = sizes.get(f"{kind}key_size", sizes["key_size"])
    return heads * (key_size + sizes.get("value_size", key_size))


def groups(sizes):
    """Return what layers keep: how many layers, numbers, tokens for one entry, tokens at most."""
    shared_full, shared_windowed = sizes.get("shared", (0, 0))
    indexers = sizes.get("indexer_layers", sizes["full"])
    kept = sizes.get("kept") or [
        [sizes["full"] - shared_full, numbers_of_token(sizes, "full_"), 1, 0],
        [sizes["windowed"] - shared_windowed, numbers_of_token(sizes), 1, sizes["window"]],
        [indexers, sizes.get("indexer", 0), 1, 0],
    ]
    return kept + [[0, 0, 1, 0]] * (4 - len(kept))  # as many for each model


def whole_token(sizes):
    """Return how many numbers all layers would keep for a token if they saw all keys."""
    layers = sizes["full"] + sizes["states"]
    indexers = sizes.get("indexer_layers", sizes["full"]) * sizes.get("indexer", 0)
    windowed = sizes["windowed"] * numbers_of_token(sizes)
    return layers * numbers_of_token(sizes, "full_") + windowed + indexers


SIZES = list(DATA["sizes"].values())
FULL, WINDOWED, STATES, CONTEXT = (
    [sizes[name] for sizes in SIZES] for name in ("full", "windowed", "states", "context")
)
LAYERS, NUMBERS, STRIDE, LIMIT = (
    [[group[i] for group in groups(sizes)] for sizes in SIZES] for i in range(4)
)
WHOLE = [whole_token(sizes) for sizes in SIZES]
GROWING = [sizes["full"] - sizes.get("shared", [0])[0] for sizes in SIZES]
STATE = [int(numpy.prod(sizes.get("state", 0))) for sizes in SIZES]
# The inputs that the convolution before a state keeps: those before the next token.
CONVOLUTION = [
    (width - 1) * channels
    for width, channels in (sizes.get("convolution", (1, 0)) for sizes in SIZES)
]


def steps(xp=numpy):
    """Return what each model keeps for a text of each length."""
    full, windowed, states, growing, whole, state, convolution, context = (
        xp.asarray(numbers, dtype=xp.float64)
        for numbers in (FULL, WINDOWED, STATES, GROWING, WHOLE, STATE, CONVOLUTION, CONTEXT)
    )
    check_positive(xp, context=context)
    layers, numbers, stride, limit = (
        xp.asarray(array, dtype=xp.float64) for array in (LAYERS, NUMBERS, STRIDE, LIMIT)
    )
    state_bytes = states * (STATE_BYTES * state + CACHE_BYTES * convolution)
    is_limited = limit > 0

    def gibibytes(length):
        tokens = xp.where(is_limited & (limit < length), limit, length)
        entries = layers * numbers * tokens / stride
        return (CACHE_BYTES * xp.sum(entries, axis=1) + state_bytes) / GIBIBYTE

    grows = CACHE_BYTES * layers * numbers / stride
    token = xp.sum(xp.where(is_limited, xp.asarray(0.0), grows), axis=1)
    own = gibibytes(context[:, None])
    columns = [
        token,
        token / growing,
        *(gibibytes(xp.asarray(length, dtype=xp.float64)) for length in LENGTHS),
        own,
        own * GIBIBYTE / (CACHE_BYTES * whole * context),
    ]
    return {
        "full": full,
        "windowed": windowed,
        "states": states,
        "state": state,
        "convolution": convolution,
        "context": context,
        "kept": xp.stack(columns, axis=1),
    }
