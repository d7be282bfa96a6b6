import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import draw_numbers
from attention_docs.lookup import Steps, StepsOf
from attention_docs.render.figures import Axis, Html, Panel, Series, cells, line_chart, scales, svg
from attention_docs.render.figures.arrows import arrow
from attention_docs.render.numbers import number

# In the table of tiles: the side of a square, the room at the left and the room for the headings.
TILE_SIZE, TILES_LEFT, TILES_TOP = 34, 24, 3.2 * svg.LINE_HEIGHT
# In the table of keys on the chip, whose tiles have two keys each: the size of a cell, and the left
# sides of the column of scores and of the columns of values.
KEYS_PER_TILE = 2
KEY_CELL = (52, 22)
SCORES_X, VALUES_X = 52, 118
# The left side of the maximum and of the total, below that table.
STATE_X = 24


@site_figure
def tile_orders(steps_of: StepsOf) -> Html:
    r"""The table of scores, four blocks of queries by four tiles of keys, is computed tile by
    tile. Each number is the round in which a tile is computed. In order: in each round every block
    meets the same tile. All at the end: one query meets all tiles at once, and the merges follow.
    Round a ring: each machine has one block of queries and begins with its own tile. After each
    round the keys and values move to the machine above, and those of the first to the last."""
    tiles = steps_of("tiles")["tile_maxima"].shape[0]
    claim(tiles == 4, "four blocks of queries by four tiles of keys")
    rows, columns = np.indices((tiles, tiles))
    rounds_in_ring = (columns - rows) % tiles + 1
    claim(np.all(np.diag(rounds_in_ring) == 1), "begins with its own tile")
    # A machine has a tile one round after the machine below it; the lowest is below the highest.
    after_machine_below = np.roll(rounds_in_ring, -1, axis=0) % tiles + 1
    claim(np.array_equal(rounds_in_ring, after_machine_below), "move to the machine above")
    panels = [
        tile_rounds("In order", columns + 1, "blocks of queries"),
        tile_rounds("All at the end", np.ones((1, tiles), dtype=int), "query"),
        _with_ring(tile_rounds("Round a ring", rounds_in_ring, "machines")),
    ]
    return svg.beside(panels, "Three orders of the same tiles")


def _with_ring(panel: Panel) -> Panel:
    """Add arrows at the right that lead keys and values up a table of tiles, and back down."""
    first_y, last_y = TILES_TOP + TILE_SIZE / 2, panel.height - 2 - TILE_SIZE / 2
    up_x, name_x, back_x = panel.width + 10, panel.width + 27, panel.width + 44
    up = [(up_x, last_y - 8), (up_x, first_y + 8)]
    back = [(up_x - 8, first_y), (back_x, first_y), (back_x, last_y), (up_x - 8, last_y)]
    arrows = arrow(up, "key") + arrow(back, "key")
    name = svg.vertical_label(name_x, (first_y + last_y) / 2, "keys, values")
    return panel._replace(width=back_x + 4, body=panel.body + arrows + name)


def tile_rounds(name: str, rounds: np.ndarray, rows: str) -> Panel:
    """Draw tiles with the rounds in which they are computed, (m, n); earlier ones are darker."""
    grid = cells.Grid(TILES_LEFT, TILES_TOP, (TILE_SIZE, TILE_SIZE), *rounds.shape)
    width = grid.right + 2
    body = [
        svg.heading(width / 2, name),
        svg.label(grid.middle_x, grid.y - svg.LINE_HEIGHT, "tiles of keys", fill=svg.colour("key")),
        svg.vertical_label(8, grid.middle_y, rows),
    ]
    for (row, column), tile_round in np.ndenumerate(rounds):
        opacity = scales.OPACITY_UNDER_TEXT * (1 - (tile_round - 1) / rounds.max())
        fill = {"fill": scales.FILLS["input"], "fill_opacity": float(opacity)}
        outline = {"stroke": "currentColor", "stroke_opacity": 0.4}
        body.append(svg.element("rect", **grid.box(row, column), **fill, **outline))
        body.append(svg.label(*grid.centre(row, column), str(tile_round)))
    lines = (f"row {i}: rounds {', '.join(map(str, row))}" for i, row in enumerate(rounds, 1))
    description = f"{name}, {'; '.join(lines)}."
    return Panel(width, grid.bottom + 2, "".join(body), description, name=name)


@site_figure
def tile_states(steps_of: StepsOf) -> Html:
    r"""The first query meets one tile after another. In the box are the scores and values that are
    on the chip, and below them is the state of the tiles so far, with its output. Before a tile is
    added, ℓ and u are multiplied by the exponential of the old p minus the new one. At the second
    tile p grows, so this factor is below one. The last output is that of all keys, although the
    eight weights were never in memory together."""
    steps = steps_of("tiles")
    grows = np.diff(steps["running_maxima"]) > 0
    claim(grows.tolist() == [True, False, False], "At the second tile p grows")
    claim(0 < steps["running_rescale"][1] < 1, "this factor is below one")
    last, at_once = steps["running_outputs"][-1], steps["output"][0]
    claim(np.allclose(last, at_once, rtol=1e-12), "The last output is that of all keys")
    claim(len(steps["V"]) == 8, "eight weights")
    tiles = len(steps["V"]) // KEYS_PER_TILE
    states = [
        svg.below([_tile_on_chip(steps, tile), _state_of_tiles(steps, tile)], f"tile {tile + 1}")
        for tile in range(tiles)
    ]
    return svg.player(states, "One tile after another")


def _tile_on_chip(steps: Steps, tile: int) -> Panel:
    """Draw the scores and the values of a tile, in a box, and empty cells for all other values."""
    values = cells.Grid(VALUES_X, 1.8 * svg.LINE_HEIGHT, KEY_CELL, *steps["V"].shape)
    keys = slice(tile * KEYS_PER_TILE, (tile + 1) * KEYS_PER_TILE)
    values_of_tile = values._replace(y=values.box(keys.start, 0)["y"], rows=KEYS_PER_TILE)
    scores_of_tile = values_of_tile._replace(x=SCORES_X, columns=1)
    names = [f"key {i + 1}" for i in range(values.rows)]
    left, right = SCORES_X - 4, values.right + 4
    box_around = values_of_tile._replace(x=left, columns=1, cell=(right - left, KEY_CELL[1]))
    body = [
        svg.title(SCORES_X + KEY_CELL[0] / 2, svg.LINE_HEIGHT / 2, "score", "scores"),
        svg.title(values.middle_x, svg.LINE_HEIGHT / 2, "values", "value"),
        cells.draw_row_labels(box_around._replace(y=values.y), names),
        cells.draw_grid_lines(values),
        draw_numbers(scores_of_tile, steps["z"][keys, None], "scores", steps["z"]),
        draw_numbers(values_of_tile, steps["V"][keys], "value", steps["V"]),
        cells.draw_mark(box_around, (None, 0), None),
    ]
    description = f"On the chip: keys {keys.start + 1} and {keys.stop}, and the state."
    return Panel(right, values.bottom, "".join(body), description)


def _state_of_tiles(steps: Steps, tile: int) -> Panel:
    """Draw p, ℓ, u and u / ℓ after a tile, and above them the factor for those of earlier tiles."""
    maximum_grid = cells.Grid(STATE_X, 1.2 * svg.LINE_HEIGHT, KEY_CELL, 1, 1)
    total_grid = maximum_grid._replace(y=maximum_grid.bottom + svg.LINE_HEIGHT)
    features = steps["V"].shape[1]
    sums_grid = maximum_grid._replace(x=VALUES_X, columns=features)
    output_grid = total_grid._replace(x=VALUES_X, columns=features)
    row = slice(tile, tile + 1)
    parts = (
        ("p", maximum_grid, steps["running_maxima"][:, None], "scores"),
        ("ℓ", total_grid, steps["running_totals"][:, None], "weights"),
        ("u", sums_grid, steps["running_sums"], "value"),
        ("u / ℓ", output_grid, steps["running_outputs"], "output"),
    )
    body, sentences = [], []
    if tile:
        rescale = steps["running_rescale"]
        factor = cells.inline_number(rescale, (tile,))
        body.append(svg.label(STATE_X, 0.2 * svg.LINE_HEIGHT, "ℓ and u so far × ", "start", factor))
        sentences.append(f"The earlier sums are multiplied by {number(rescale[tile])}")
    for symbol, grid, step, role in parts:
        numbers = step[row]
        body.append(svg.label(grid.x - 6, grid.row_middle(0), symbol, "end"))
        body.append(draw_numbers(grid, numbers, role, step))
        sentences.append(f"{symbol} is {', '.join(map(number, numbers[0]))}")
    description = f"{'; '.join(sentences)}."
    return Panel(output_grid.right, output_grid.bottom, "".join(body), description)


@site_figure
def softmax_in_one_pass(steps_of: StepsOf) -> Html:
    r"""Maximum and total after each of the eight scores. At the second and at the fourth score the
    maximum grows, so what was summed before is multiplied by a factor below one."""
    steps = steps_of("tiles")
    scores_seen = np.arange(1, len(steps["maxima"]) + 1)
    claim(len(scores_seen) == 8, "each of the eight scores")
    has_grown = np.append(False, np.diff(steps["maxima"]) > 0)
    growing_at = scores_seen[has_grown].tolist()
    claim(growing_at == [2, 4], "At the second and at the fourth score the maximum grows")
    claim(np.all(steps["rescale"][has_grown] < 1), "multiplied by a factor below one")
    series = [
        Series("maximum", scores_seen, steps["maxima"], "first", points=True),
        Series("total", scores_seen, steps["sums"], "second", points=True),
    ]
    x = Axis("scores seen", scores_seen.tolist())
    y = Axis("value", (0, 1, 2, 3))
    return line_chart("The softmax in one pass", x, y, series)
