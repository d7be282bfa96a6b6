"""What models keep: the bytes of arrays, layer by layer, from the tables that the page shows."""

import json
import re
from itertools import chain

import numpy as np

from tests.conftest import ROOT
from tests.examples.comparison import independent

KEYS = ("key heads", "head size")
DATA = json.loads((ROOT / "attention_docs/examples/models_by_name.json").read_text("utf-8"))


def numbers(table, model, column):
    """Return the whole numbers that a cell of a table shows."""
    return [int(digits) for digits in re.findall(r"\d+", str(DATA[table][model][column]))]


def cache(model, length, which):
    """Yield what a layer keeps of a text; in a cell with two numbers, the first is of windows."""
    sizes = DATA["sizes"][model]
    if "latent" in sizes:
        shapes = [(length, sizes[part]) for part in ("latent", "rotary", "indexer")]
    else:
        heads, size = (numbers("heads", model, column)[which] for column in KEYS)
        shapes = 2 * [(heads, length, size)]
    yield from (np.broadcast_to(np.float16(0), shape) for shape in shapes)


def state(model):
    width, channels = DATA["sizes"][model].get("convolution", (1, 0))
    yield np.broadcast_to(np.float32(0), DATA["sizes"][model].get("state", (0,)))
    yield np.broadcast_to(np.float16(0), (max(width - 1, 0), channels))


def size(arrays):
    return sum(array.nbytes for array in arrays)


@independent(
    "models_by_name",
    "the bytes of arrays, layer by layer",
    fixed=[
        *("FULL", "WINDOWED", "STATES", "TOKEN", "WINDOW_TOKEN", "WINDOW", "STATE"),
        *("CONVOLUTION", "CONTEXT", "LENGTHS"),
    ],
)
def models_by_name(literals):
    rows = []
    for model in DATA["sizes"]:
        (context,) = numbers("positions", model, "context")
        full, windowed = (numbers("layers", model, kind)[0] for kind in ("all keys", "window"))
        states, window = (sum(numbers("layers", model, kind)) for kind in ("state", "keys in it"))
        assert numbers("heads", model, "layers") == [full + windowed + states], model

        kept = []
        for length in (8192, 131072, context):
            layers = chain(
                *(cache(model, length, -1) for _ in range(full)),
                *(cache(model, min(length, window), 0) for _ in range(windowed)),
                *(state(model) for _ in range(states)),
            )
            kept.append(size(layers))
        of_all_keys = (full + states) * size(cache(model, context, -1))
        of_all_keys += windowed * size(cache(model, context, 0))
        row = [number / 1024**3 for number in kept]
        rows.append([size(cache(model, 1, -1)), *row, kept[-1] / of_all_keys])
    return {"kept": rows}
