import numpy as np

from attention_docs.examples import load
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.tiles import tile_rounds
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart, svg

QUERIES_PER_BLOCK = 2


@site_figure
def loop_orders(steps_of: StepsOf) -> Html:
    r"""The same eight pairs of a block of queries and a tile of keys. The numbers say in which
    order they are computed. In version 1 each tile of keys is read once, and all blocks of queries
    pass by with their outputs. In version 2 each block of queries is read once, and all tiles of
    keys pass by."""
    tiles = load("tiles")
    blocks, columns = len(tiles.Q) // QUERIES_PER_BLOCK, len(tiles.K) // tiles.TILE
    pairs = np.arange(1, blocks * columns + 1)
    claim(pairs.size == 8, "eight pairs of a block of queries and a tile of keys")
    keys_outside = pairs.reshape(columns, blocks).T
    queries_outside = pairs.reshape(blocks, columns)
    claim((np.diff(keys_outside, axis=0) == 1).all(), "each tile of keys is read once")
    claim((np.diff(queries_outside, axis=1) == 1).all(), "each block of queries is read once")
    panels = [
        tile_rounds("Version 1: keys outside", keys_outside, "blocks"),
        tile_rounds("Version 2: queries outside", queries_outside, "blocks"),
    ]
    return svg.beside(panels, "Two loop orders")


@site_figure
def adopted_maxima(steps_of: StepsOf) -> Html:
    r"""The eight scores, and the maximum that is used after each of them. With threshold 0 it
    follows each growth, with threshold 1 only that of the fourth score, and with threshold 8 it
    stays at the first score, although four others are larger."""
    steps = steps_of("lazy_rescaling")
    scores, maxima = steps["scores"], steps["maxima"]
    claim(scores.size == 8, "The eight scores")
    names = [f"threshold {value}" for value in load("lazy_rescaling").THRESHOLDS[:3]]
    claim(names == ["threshold 0", "threshold 1", "threshold 8"], "With threshold 0")
    claim(np.array_equal(maxima[0], np.maximum.accumulate(scores)), "it follows each growth")
    claim((np.flatnonzero(np.diff(maxima[1])) + 2).tolist() == [4], "only that of the fourth score")
    claim((maxima[2] == scores[0]).all(), "stays at the first score")
    claim((scores > scores[0]).sum() == 4, "four others are larger")
    seen = np.arange(1, scores.size + 1)
    series = [
        Series("scores", seen, scores, "scores", line=False, points=True),
        *(Series(name, seen, row) for name, row in zip(names, maxima, strict=False)),
    ]
    y = Axis("in units of base 2", (0, 1, 2, 3, 4, 5))
    return line_chart("Maxima with three thresholds", Axis("key", seen.tolist()), y, series)
