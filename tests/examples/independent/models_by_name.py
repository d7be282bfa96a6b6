"""What models keep: the bytes of arrays, layer by layer, from the tables that the page shows."""

import json
import re

import numpy as np

from tests.conftest import ROOT
from tests.examples.comparison import independent

DATA = json.loads((ROOT / "attention_docs/examples/models_by_name.json").read_text("utf-8"))


def numbers(table, model, column):
    """Return the whole numbers that a cell of a table shows."""
    return [int(digits) for digits in re.findall(r"\d+", str(DATA[table][model][column]))]


def size(*shapes, dtype=np.float16):
    return sum(np.broadcast_to(dtype(0), shape).nbytes for shape in shapes)


def token(model, length, which):
    """Return the bytes that a layer keeps of a text; of two numbers, the first is of windows."""
    cell = numbers("heads", model, "key heads")
    if "latent" in str(DATA["heads"][model]["key heads"]):
        return size(*((length, part) for part in cell))
    heads, features = cell[which], numbers("heads", model, "head size")
    if "values" in str(DATA["heads"][model]["head size"]):
        return size(*((heads, length, count) for count in features))
    values = 1 if "also its values" in str(DATA["heads"][model]["key heads"]) else 2
    return size(*values * [(heads, length, features[which])])


def indexers(model, length):
    """Return the bytes of the keys of all indexers."""
    *_, count = [0, *numbers("layers", model, "indexer")]
    chosen = "in" in DATA["layers"][model]["indexer"].split()
    layers = count if chosen else numbers("layers", model, "all keys")[0]
    return layers * size((length, DATA["sizes"][model].get("indexer", 0)))


def pooled(model, length):
    """Return what DeepSeek-V4 keeps: in each layer a window, in most also keys pooled by 4 or 128."""
    full, windowed = (numbers("layers", model, kind)[0] for kind in ("all keys", "window"))
    by_4 = numbers("layers", model, "indexer")[-1]
    kept = (full + windowed) * token(model, min(length, 128), 0)
    kept += (full - by_4) * token(model, length // 128, 0)
    return kept + by_4 * (token(model, length // 4, 0) + size((length // 4, 128)))


def cache(model, length):
    if "pooled" in DATA["layers"][model]["indexer"]:
        return pooled(model, length)
    full, windowed = (numbers("layers", model, kind)[0] for kind in ("all keys", "window"))
    shared_full, shared_windowed = DATA["sizes"][model].get("shared", (0, 0))
    window = sum(numbers("layers", model, "keys in it"))
    kept = (full - shared_full) * token(model, length, -1) + indexers(model, length)
    return kept + (windowed - shared_windowed) * token(model, min(length, window), 0)


def states(model):
    width, channels = DATA["sizes"][model].get("convolution", (1, 0))
    count, *shape = [*numbers("layers", model, "state"), 0][:4]
    return count * (size(shape, dtype=np.float32) + size((max(width - 1, 0), channels)))


@independent(
    "models_by_name",
    "the bytes of arrays, layer by layer",
    fixed=[
        *("FULL", "WINDOWED", "STATES", "LAYERS", "NUMBERS", "STRIDE", "LIMIT"),
        *("WHOLE", "GROWING", "STATE", "CONVOLUTION", "CONTEXT", "LENGTHS"),
    ],
)
def models_by_name(literals):
    rows = []
    for model in DATA["sizes"]:
        (context,) = numbers("positions", model, "context")
        full, windowed = (numbers("layers", model, kind)[0] for kind in ("all keys", "window"))
        state_layers = sum(numbers("layers", model, "state")[:1])
        layers = full + windowed + state_layers
        assert numbers("heads", model, "layers") == [layers], model

        kept = [cache(model, length) + states(model) for length in (8192, 131072, context)]
        # Both lengths are longer than each window, and multiples of the tokens that are pooled.
        grows = (cache(model, 2**20) - cache(model, 2**19)) / 2**19
        growing = full - DATA["sizes"][model].get("shared", [0])[0]
        all_keys = (full + state_layers) * token(model, context, -1)
        all_keys += windowed * token(model, context, 0)
        if "pooled" not in DATA["layers"][model]["indexer"]:
            all_keys += indexers(model, context)
        gibibytes = [number / 1024**3 for number in kept]
        rows.append([grows, grows / growing, *gibibytes, kept[-1] / all_keys])
    return {"kept": rows}
