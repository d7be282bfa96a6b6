import numpy as np

from attention_docs.examples import load
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.tiles import tile_rounds
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, svg

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
        tile_rounds("1: keys outside", keys_outside, "blocks"),
        tile_rounds("2: queries outside", queries_outside, "blocks"),
    ]
    return svg.beside(panels, "Two loop orders")
