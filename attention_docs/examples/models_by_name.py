"""What models keep for one token, and for texts of several lengths, in 16 bits.

`models_by_name.json` has the configurations of checkpoints that were read. For each model, three
steps count layers: `full` with attention to all keys, `windowed` with a window or chunks, and
`states` with a state. `token` is how many numbers a layer that sees all keys keeps for a token, and
`window_token` one with a window, of which it keeps `window` tokens. `state` counts the numbers of a
state, which have 32 bits each, and `convolution` those before it, which have 16.

A row of `kept` has the bytes of one token in a layer that sees all keys; the GiB of a text of 8192
tokens, of 131072, and of the model's own context length; and the share of the last: of what all
layers would keep if they saw all keys. No window is longer than a text.

>>> show(computed(steps))
kept 24 x 5
[[ 1152 0.5361  8.5781  10.7227      1]
 [ 1408 0.6553 10.4844  13.1055      1]
 [ 8192 1.9688 21.6562   1.9688 0.7500]
 [ 8192 1.0312 10.4062  10.4062 0.1678]
 [ 8192 1.4062 10.7812  20.7812 0.0945]
 [ 4096 2.8750      46       46      1]
 [ 2048 0.1904  3.0029   3.0029 0.5005]
 [ 2048 0.2856  4.5044   4.5044 0.5005]
 [ 1152 0.5361  8.5781   8.5781      1]
 [ 4096      1      16       16      1]
 [ 2048 0.2500       4        4      1]
 [ 4096 2.5000      40       40      1]
 [ 4096 1.5000  7.1250 481.1250 0.2506]
 [ 4096 0.5859  5.2734 390.8984 0.1251]
 [ 4096 1.2500      20        5      1]
 [16384 2.5000 17.5000   9.5000 0.2969]
 [15360 0.9885 15.0510   7.5510 0.2517]
 [ 5120 1.5625      25   3.1250      1]
 [ 4096 1.1250      18   5.6250      1]
 [ 2048 0.7500      12   3.7500      1]
 [ 2048 0.2595  3.0720   6.0720 0.2530]
 [ 2048 0.2162  2.5600   5.0600 0.2530]
 [  768 0.1758  2.8125   0.1758      1]
 [ 2048 0.5625       9   4.5000      1]]
"""

import json
from pathlib import Path

import numpy

from attention_docs.arrays import check_positive

TITLE = "What models keep, by name"
SOURCE = "the configurations that the page names; the sums are our own"

DATA = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
MODELS = list(DATA["sizes"])
LABELS = {"kept": (MODELS, ["bytes", "short text", "long text", "own context", "share"])}
LENGTHS = [8192, 131072]
CACHE_BYTES, STATE_BYTES, GIBIBYTE = 2, 4, 2**30


def numbers_of_token(sizes, kind=""):
    """Return how many numbers a layer keeps for a token: a latent, or keys and values."""
    if "latent" in sizes:
        return sizes["latent"] + sizes["rotary"] + sizes["indexer"]
    heads = sizes.get(f"{kind}key_heads", sizes["key_heads"])
    return 2 * heads * sizes.get(f"{kind}key_size", sizes["key_size"])


def numbers_of_convolution(sizes):
    """Return how many inputs the convolution before a state keeps: those before the next token."""
    width, channels = sizes.get("convolution", (1, 0))
    return max(width - 1, 0) * channels


SIZES = list(DATA["sizes"].values())
FULL, WINDOWED, STATES, WINDOW, CONTEXT = (
    [sizes[name] for sizes in SIZES] for name in ("full", "windowed", "states", "window", "context")
)
TOKEN = [numbers_of_token(sizes, "full_") for sizes in SIZES]
WINDOW_TOKEN = [numbers_of_token(sizes) for sizes in SIZES]
STATE = [int(numpy.prod(sizes.get("state", 0))) for sizes in SIZES]
CONVOLUTION = [numbers_of_convolution(sizes) for sizes in SIZES]


def steps(xp=numpy):
    """Return what each model keeps for a text of each length."""
    full, windowed, states, token, window_token, window, state, convolution, context = (
        xp.asarray(numbers, dtype=xp.float64)
        for numbers in (
            FULL, WINDOWED, STATES, TOKEN, WINDOW_TOKEN, WINDOW, STATE, CONVOLUTION, CONTEXT
        )
    )  # fmt: skip
    check_positive(xp, context=context)
    state_bytes = states * (STATE_BYTES * state + CACHE_BYTES * convolution)

    def gibibytes(length):
        numbers = full * token * length + windowed * window_token * window
        return (CACHE_BYTES * numbers + state_bytes) / GIBIBYTE

    numbers_if_all = (full * token + windowed * window_token + states * token) * context
    own = gibibytes(context)
    columns = [
        CACHE_BYTES * token,
        *(gibibytes(length) for length in LENGTHS),
        own,
        own * GIBIBYTE / (CACHE_BYTES * numbers_if_all),
    ]
    return {
        "full": full,
        "windowed": windowed,
        "states": states,
        "token": token,
        "window_token": window_token,
        "window": window,
        "state": state,
        "convolution": convolution,
        "context": context,
        "kept": xp.stack(columns, axis=1),
    }
