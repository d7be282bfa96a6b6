"""The figures of "Today's models"."""

import math
from collections.abc import Mapping

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples import labels, load
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.course import BIRDS, BOATS, THEY
from attention_docs.publish.before.figures.drawings.bars import bars_panel
from attention_docs.publish.before.figures.drawings.boxes import arrow, small
from attention_docs.publish.before.figures.drawings.cells_of_role import draw_numbers
from attention_docs.publish.before.figures.drawings.dials import Hand, dial
from attention_docs.publish.before.figures.drawings.plane import Vector, plane_panel
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import (
    Axis,
    Html,
    Panel,
    Series,
    beside,
    cells,
    figure,
    heatmap,
    line_chart,
    matrix_panel,
)
from attention_docs.render.figures.chart import is_narrow
from attention_docs.render.figures.scales import FILLS, OPACITY_UNDER_TEXT
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    below,
    element,
    label,
    player,
    title,
    vertical_label,
)
from attention_docs.render.numbers import exact_number, number

# The radius of a dial, and the room around it: at its sides, below its name, and at the bottom.
DIAL_RADIUS, DIAL_SIDE, DIAL_TOP, DIAL_BOTTOM = 80, 20, 38, 12
# The radius of a dial of `rotary_scaling`, and the room at its sides.
SMALL_RADIUS, SMALL_MARGIN = 60, 12
# In the table of tiles: the side of a square, the room at the left and the room for the headings.
TILE_SIZE, TILES_LEFT, TILES_TOP = 34, 24, 3.2 * LINE_HEIGHT
# In the table of keys on the chip, whose tiles have two keys each: the size of a cell, and the left
# sides of the column of scores and of the columns of values.
KEYS_PER_TILE = 2
KEY_CELL = (52, 22)
SCORES_X, VALUES_X = 52, 118
# The left side of the maximum and of the total, below that table.
STATE_X = 24


@site_figure
def rotary_arrows(steps_of: StepsOf) -> Html:
    r"""One query of six features as three arrows, at the positions 0 to 3. From one position to the
    next, each pair turns by an angle of its own, $\omega$ in radians, the first pair fast and the
    last one slowly. No arrow changes its length, which is the radius of its circle."""
    steps = steps_of("rotary")
    rotated, frequencies = steps["Q_rotated"], steps["frequencies"]
    lengths = np.linalg.norm(np.reshape(rotated, (len(rotated), -1, 2)), axis=2)
    claim(np.allclose(lengths, lengths[0]), "No arrow changes its length")
    claim(frequencies[0] > frequencies[-1], "the first pair fast and the last one slowly")
    panels = [
        _turning_pair(
            f"pair {pair}, ω = {exact_number(frequency)}",
            rotated[:, 2 * pair : 2 * pair + 2],
            is_fast=pair == 0,
        )
        for pair, frequency in enumerate(frequencies)
    ]
    return beside(panels, "A query that turns")


def _turning_pair(name: str, pair_at_positions: Array, is_fast: bool) -> Panel:
    """Draw a pair of rotated features on a dial: an arrow for each position, with its number.

    Args:
        name: the name of the panel.
        pair_at_positions: (positions, 2) the two features.
        is_fast: whether the arrows lie far enough apart for the numbers of all positions. Otherwise
            only the first and the last have one, each on the side where there are no arrows.
    """
    last_position = len(pair_at_positions) - 1
    hands = []
    for position in range(last_position + 1):
        has_number = is_fast or position in (0, last_position)
        turn_outwards = 0.08 if position else -0.08  # in radians
        hand = Hand(
            pair_at_positions[position : position + 1],
            str(position) if has_number else "",
            opacity=1 - 0.15 * position,
            text_turn=0 if is_fast else turn_outwards,
        )
        hands.append(hand)
    x, y = DIAL_SIDE + DIAL_RADIUS, DIAL_TOP + DIAL_RADIUS
    length = float(np.linalg.norm(pair_at_positions[0]))
    heading = label(x, LINE_HEIGHT / 2, name, font_weight="bold")
    tips = (f"({number(right)}, {number(up)})" for right, up in pair_at_positions)
    return Panel(
        2 * x,
        y + DIAL_RADIUS + DIAL_BOTTOM,
        heading + dial(x, y, DIAL_RADIUS, hands, length),
        f"An arrow at the positions 0 to {last_position}: {', '.join(tips)}.",
        name=name,
    )


@site_figure
def rotary_positions(steps_of: StepsOf) -> Html:
    r"""The three pairs of the query and of the key, in planes whose axes go from $-4$ to $4$."""
    steps = steps_of("rotary_positions")
    # All three planes stand in one row, on a phone, too.
    pixels_per_unit = 9 if is_narrow() else 18
    panels = [
        plane_panel(
            f"pair {pair}",
            [
                Vector("q", steps["q_turned"][pair : pair + 1], "query"),
                Vector("k", steps["k_turned"][pair : pair + 1], "key"),
            ],
            reach=4,
            pixels_per_unit=pixels_per_unit,
        )
        for pair in range(3)
    ]
    return beside(panels, "A query and a key at two positions")


@site_figure
def rotary_scores(steps_of: StepsOf) -> Html:
    r"""One query at four positions, one key at five: the scores after the rotation. Along each
    diagonal the signed distance is the same, and so is the score."""
    scores = steps_of("rotary")["scores"]
    claim(np.allclose(scores[1:, 1:], scores[:-1, :-1]), "and so is the score")
    labels = {
        "row_labels": [str(position) for position in range(scores.shape[0])],
        "column_labels": [str(position) for position in range(scores.shape[1])],
    }
    sides = {"rows": "position of the query", "columns": "position of the key"}
    return heatmap(scores, "Scores of one query and one key", role="scores", **sides, **labels)


@site_figure
def rotary_scaling(steps_of: StepsOf) -> Html:
    r"""The slowest pair of the query, as an arrow at every position. In training it turns up to
    position \number{15}. In a text of \number{64} tokens it goes on to angles that it has never
    met, which are orange. With position interpolation and with NTK-aware scaling it turns four
    times as slowly, and stops less than one position beyond the last trained angle."""
    steps = steps_of("rotary")
    slowest_pair, frequencies = steps["q"][-2:], steps["frequencies"]
    # The angles of that pair at the last position, in radians.
    trained, plain = steps["last_angles"][-1], steps["longer_angles"][-1]
    interpolated, ntk = steps["interpolated_angles"][-1], steps["ntk_angles"][-1]
    next_angle = trained + frequencies[-1]
    claim(frequencies[-1] == frequencies.min(), "The slowest pair of the query")
    claim(next_angle < plain < 2 * np.pi, "angles that it has never met")
    claim(np.allclose([interpolated, ntk], plain / 4), "it turns four times as slowly")
    claim(max(interpolated, ntk) < next_angle, "less than one position beyond the last")
    trained_length = load("rotary").TRAINED
    longer_length = load("rotary").FACTOR * trained_length
    panels = [
        _turns_of_pair(name, slowest_pair, np.linspace(0, last_angle, length), next_angle)
        for name, last_angle, length in (
            ("trained", trained, trained_length),
            ("plain", plain, longer_length),
            ("interpolated", interpolated, longer_length),
            ("NTK-aware", ntk, longer_length),
        )
    ]
    return beside(panels, "The slowest pair in a longer text")


def _turns_of_pair(name: str, pair: Array, angles: Array, untrained_angle: float) -> Panel:
    """Draw a pair of features as an arrow at each position of a text, on one dial.

    Args:
        name: the name of the panel.
        pair: (2,) the features before the rotation.
        angles: (positions,) by how many radians they are turned at each position.
        untrained_angle: arrows that are turned so far or further have the colour of keys.
    """
    hands = []
    for angle in angles:
        role = "key" if angle >= untrained_angle else "query"
        hands.append(Hand(_rotated(pair, angle), role=role, opacity=0.5))
    x, y = SMALL_RADIUS + SMALL_MARGIN, LINE_HEIGHT + 8 + SMALL_RADIUS
    heading = label(x, LINE_HEIGHT / 2, name, font_weight="bold")
    return Panel(
        2 * x,
        y + SMALL_RADIUS + 2,
        heading + dial(x, y, SMALL_RADIUS, hands, math.hypot(*pair)),
        f"An arrow at each position, turned by 0 to {number(angles[-1])} radians.",
        name=name,
    )


def _rotated(pair: Array, angle: float) -> Array:
    """Return two features, (2,), rotated counterclockwise by an angle in radians, as (1, 2)."""
    cosine, sine = math.cos(angle), math.sin(angle)
    rotation = np.array([[cosine, -sine], [sine, cosine]])
    return (rotation @ pair)[None]


@site_figure
def rotary_speeds(steps_of: StepsOf) -> Html:
    r"""The speed of each pair, divided by that of plain rotary positions. If half of the head
    turns, the pairs of the other half stand still. In YaRN the first pair keeps its speed and the
    slow pairs are interpolated."""
    steps = steps_of("rotary_variants")
    variants, pairs = labels("rotary_variants", "speeds")
    speeds = dict(zip(variants, steps["speeds"], strict=True))
    fast_half, slow_half = slice(len(pairs) // 2), slice(len(pairs) // 2, None)
    half_rotated, interpolated = speeds["half of the head"], speeds["interpolated"]
    is_half_rotated = half_rotated[fast_half].all() and not half_rotated[slow_half].any()
    claim(is_half_rotated, "the pairs of the other half stand still")
    for yarn in (speeds["YaRN, paper"], speeds["YaRN, code"]):
        claim(yarn[0] == 1, "the first pair keeps its speed")
        claim(np.allclose(yarn[slow_half], interpolated[slow_half]), "are interpolated")
    return heatmap(
        steps["speeds"],
        "Speed of each pair",
        rows="positions",
        columns="pair",
        row_labels=variants,
        column_labels=pairs,
        scale="sequential",
        role="input",
    )


@site_figure
def alibi_biases(steps_of: StepsOf) -> Html:
    r"""What ALiBi adds to a score, for each of four heads."""
    slopes = steps_of("position_biases")["slopes"]
    ticks = (0, 4, 8, 12, 16)
    distances = np.arange(ticks[-1] + 1)
    series = [
        Series(f"head {head + 1}", distances, -slopes[head] * distances, role)
        for head, role in enumerate(("first", "second", "third", "fourth"))
    ]
    axes = Axis("distance", ticks), Axis("bias", (-4, -3, -2, -1, 0))
    name = "A bias for the distance"
    return figure(line_chart(name, *axes, series), name)


@site_figure
def window_reach(steps_of: StepsOf) -> Html:
    r"""Which tokens reach which through one, two and three layers, each with a window of the token
    itself and two before it. The last row belongs to the last of the ten tokens."""
    steps = steps_of("position_biases")
    names = ("1 layer", "2 layers", "3 layers")
    claim(steps["reach_1"].sum(axis=1).max() == 3, "the token itself and two before it")
    panels = [
        matrix_panel(steps[f"reach_{layers}"], name, rows="outputs", columns="inputs")
        for layers, name in enumerate(names, 1)
    ]
    return beside(panels, "Reach of a window through layers")


@site_figure
def first_head_weights(steps_of: StepsOf) -> Html:
    r"""The weights of the first head over four keys, with a norm of each head and with one of all
    heads together."""
    steps = steps_of("head_norms")
    _, tokens = labels("head_norms", "weights_by_head")
    panels = [
        bars_panel(name, steps[step][0], tokens)
        for name, step in (
            ("norm of each head", "weights_by_head"),
            ("norm of all heads", "weights_together"),
        )
    ]
    return beside(panels, "Weights of the first head, with two norms")


@site_figure
def delta_rule_answers(steps_of: StepsOf) -> Html:
    r"""Four tokens said: the door is open, the window is shut, the gate is open, the door is shut.
    Which is open now? Softmax attention without positions hesitates about the door. A state that
    adds takes it for open. The delta rule has overwritten it: it is shut."""
    steps = steps_of("delta_rule")
    memories = {
        "softmax attention": "attention",
        "a state that adds": "added",
        "the delta rule": "rewritten",
    }
    door = {name: steps[step][0] for name, step in memories.items()}
    claim(abs(np.diff(door["softmax attention"])[0]) < 0.1, "hesitates about the door")
    claim(door["a state that adds"].argmax() == 0, "takes it for open")
    claim(np.array_equal(door["the delta rule"], [0, 1]), "it is shut")
    things, states = labels("delta_rule", "rewritten")
    panels = [
        matrix_panel(
            steps[step],
            name,
            rows="asked for",
            columns="answer",
            row_labels=things,
            column_labels=states,
            scale="sequential",
            role="output",
        )
        for name, step in memories.items()
    ]
    return beside(panels, "What three memories answer")


@site_figure
def state_and_cache(steps_of: StepsOf) -> Html:
    r"""The memory that Qwen3-Next needs for a text, and what it would need if all its layers were
    attention. Both axes are logarithmic. For the longest text it needs about a quarter, the
    fraction of its layers with attention."""
    steps = steps_of("state_sizes")
    fraction = steps["layers"][0] / steps["layers"].sum()
    saving = steps["hybrid"][-1] / steps["attention_only"][-1]
    claim(fraction == 1 / 4 and abs(saving - fraction) < 0.01, "needs about a quarter")
    tokens = steps["contexts"]
    series = [
        Series("attention in all layers", tokens, steps["attention_only"], "second"),
        Series("Qwen3-Next", tokens, steps["hybrid"], "first"),
    ]
    axes = (
        Axis("tokens", (1024, 16384, 262144), logarithmic=True),
        Axis("MiB", (64, 512, 4096, 32768), logarithmic=True),
    )
    name = "Memory that a text needs"
    return figure(line_chart(name, *axes, series), name)


@site_figure
def chosen_keys_masks(steps_of: StepsOf) -> Html:
    r"""What each token of *birds pass boats because they like trees.* may see: itself and two
    tokens before it, its own block of two and another one, or the three keys that an indexer chose.
    For *they*, the framed row, the indexer finds both nouns before it, blocks and window one
    each."""
    steps = steps_of("chosen_keys")
    names = {"window": "A window", "blocks": "Two blocks", "chosen": "Three chosen keys"}
    nouns_seen = {step: steps[step][THEY, [BIRDS, BOATS]].sum() for step in names}
    claim(nouns_seen["chosen"] == 2, "the indexer finds both nouns before it")
    claim(nouns_seen["blocks"] == nouns_seen["window"] == 1, "blocks and window one each")
    panels = [
        matrix_panel(steps[step], name, rows="queries", columns="keys", mark=(THEY, None))
        for step, name in names.items()
    ]
    return beside(panels, "Three ways to leave keys out")


@site_figure
def chosen_keys_missed(steps_of: StepsOf) -> Html:
    r"""The weights over the chosen keys, and how much weight attention to all keys gives to those
    that were not chosen."""
    steps = steps_of("chosen_keys")
    tokens = labels("chosen_keys", "missed")[0]
    weights = matrix_panel(
        steps["sparse"],
        "Weights over chosen keys",
        rows="queries",
        columns="keys",
        row_labels=tokens,
        scale="sequential",
        role="weights",
    )
    name = "Weights over chosen keys, and what is missed"
    return beside([weights, bars_panel("missed", steps["missed"], tokens)], name)


@site_figure
def indexer_saving(steps_of: StepsOf) -> Html:
    r"""Multiplications for one token and layer of DeepSeek-V3.2, in millions. Both axes are
    logarithmic. For the longest text, indexer and chosen keys together cost less than a tenth of
    attention to all keys, and most of that is the indexer."""
    steps = steps_of("indexer_costs")
    claim(steps["saving"][-1] > 10, "cost less than a tenth of attention to all keys")
    claim(steps["indexer"][-1] > steps["together"][-1] / 2, "most of that is the indexer")
    tokens = steps["contexts"]
    series = [
        Series("all keys", tokens, steps["dense"], "second"),
        Series("chosen keys", tokens, steps["together"], "first"),
        Series("the indexer alone", tokens, steps["indexer"], "third"),
    ]
    axes = (
        Axis("tokens", (2048, 8192, 32768, 131072), logarithmic=True),
        Axis("millions", (16, 256, 4096, 65536), logarithmic=True),
    )
    name = "What choosing keys saves"
    return figure(line_chart(name, *axes, series), name)


@site_figure
def split_outputs(steps_of: StepsOf) -> Html:
    r"""The second feature of one output, computed in 16 bits from one, two, four and eight pieces
    of the same keys. With eight pieces it is further from the exact output than with one."""
    steps = steps_of("split_sums")
    second_feature = 1
    outputs, exact = steps["outputs"][:, second_feature], steps["exact"][second_feature]
    errors = np.abs(outputs - exact)
    claim(errors[-1] > errors[0], "further from the exact output than with one")
    pieces = load("split_sums").PIECES
    series = [
        Series("in 16 bits", np.asarray(pieces), outputs, "first", points=True),
        Series("exact", np.asarray(pieces), np.full(len(pieces), exact), "second"),
    ]
    axes = (
        Axis("pieces", pieces, logarithmic=True),
        Axis("output", (1.518, 1.519, 1.52, 1.521)),
    )
    name = "One output from pieces"
    return figure(line_chart(name, *axes, series), name)


@site_figure
def quantised_weights(steps_of: StepsOf) -> Html:
    r"""The weights over four keys: exact, and with keys of few bits, with one scale for each
    channel and with one for each token."""
    caches, tokens = labels("quantised_cache", "weights")
    return heatmap(
        steps_of("quantised_cache")["weights"],
        "Weights with keys of few bits",
        rows="caches",
        columns="keys",
        row_labels=caches,
        column_labels=tokens,
        scale="sequential",
        role="weights",
    )


@site_figure
def models_share(steps_of: StepsOf) -> Html:
    r"""What a text as long as the model's own context keeps in memory, as a share of what it would
    keep if all layers saw all keys. The two models with an indexer keep everything."""
    fractions = steps_of("models_by_name")["share"]
    (models,) = labels("models_by_name", "share")
    keep_everything = [models[i] for i in np.flatnonzero(fractions == 1)]
    claim(keep_everything == ["DeepSeek-V3.2", "GLM-5"], "with an indexer keep everything")
    name = "Share that is kept"
    return figure(bars_panel(name, fractions, models), name)


@site_figure
def tile_orders(steps_of: StepsOf) -> Html:
    r"""The table of scores, four blocks of queries by four tiles of keys, is computed tile by
    tile. Each number is the round in which a tile is computed. In order: in each round every block
    meets the same tile. All at the end: one query meets all tiles at once, and the merges follow.
    Round a ring: each machine has one block of queries and begins with its own tile. After each
    round the keys and values move to the machine above, and those of the first to the last."""
    tiles = steps_of("tiles")["tile_maxima"].shape[0]
    rows, columns = np.indices((tiles, tiles))
    ring = (columns - rows) % tiles + 1
    claim(np.all(np.diag(ring) == 1), "begins with its own tile")
    claim(np.array_equal(np.roll(ring, -1, axis=0) % tiles + 1, ring), "move to the machine above")
    panels = [
        _tile_rounds("In order", columns + 1, "queries"),
        _tile_rounds("All at the end", np.ones((1, tiles), dtype=int), "query"),
        _with_ring(_tile_rounds("Round a ring", ring, "machines")),
    ]
    return beside(panels, "Three orders of the same tiles")


def _with_ring(panel: Panel) -> Panel:
    """Add the way of keys and values to a table of tiles: up its right side, and back to the end.

    The straight arrow leads past all rows to the first one. The other arrow leads from the first
    row, further to the right, to the last one.
    """
    first_y, last_y = TILES_TOP + TILE_SIZE / 2, panel.height - 2 - TILE_SIZE / 2
    up_x, name_x, back_x = panel.width + 10, panel.width + 27, panel.width + 44
    up = [(up_x, last_y - 8), (up_x, first_y + 8)]
    back = [(up_x - 8, first_y), (back_x, first_y), (back_x, last_y), (up_x - 8, last_y)]
    arrows = arrow(up, "key") + arrow(back, "key")
    name = vertical_label(name_x, (first_y + last_y) / 2, "keys, values")
    return panel._replace(width=back_x + 4, body=panel.body + arrows + name)


def _tile_rounds(name: str, rounds: np.ndarray, rows: str) -> Panel:
    """Draw a table of tiles, each with the round in which it is computed; earlier ones are darker.

    Args:
        name: the name of the panel.
        rounds: (m, n) the rounds, from 1 to n.
        rows: what the rows are.
    """
    grid = cells.Grid(TILES_LEFT, TILES_TOP, (TILE_SIZE, TILE_SIZE), *rounds.shape)
    width = grid.x + grid.width + 2
    body = [
        label(width / 2, LINE_HEIGHT / 2, name, font_weight="bold"),
        small(grid.x + grid.width / 2, grid.y - LINE_HEIGHT, "tiles of keys", role="key"),
        vertical_label(8, grid.y + grid.height / 2, rows),
    ]
    for (row, column), tile_round in np.ndenumerate(rounds):
        opacity = OPACITY_UNDER_TEXT * (1 - (tile_round - 1) / grid.columns)
        fill = {"fill": FILLS["input"], "fill_opacity": float(opacity)}
        outline = {"stroke": "currentColor", "stroke_opacity": 0.4}
        body.append(element("rect", **grid.box(row, column), **fill, **outline))
        body.append(label(*grid.centre(row, column), str(tile_round)))
    lines = (f"row {i}: rounds {', '.join(map(str, row))}" for i, row in enumerate(rounds, 1))
    description = f"{name}, {'; '.join(lines)}."
    return Panel(width, grid.y + grid.height + 2, "".join(body), description, name=name)


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
    tiles = len(steps["V"]) // KEYS_PER_TILE
    states = [
        below([_tile_on_chip(steps, tile), _state_of_tiles(steps, tile)], f"tile {tile + 1}")
        for tile in range(tiles)
    ]
    return player(states, "One tile after another")


def _tile_on_chip(steps: Mapping[str, Array], tile: int) -> Panel:
    """Draw the scores and the values of a tile, in a box, and empty cells for all other values."""
    values = cells.Grid(VALUES_X, 1.8 * LINE_HEIGHT, KEY_CELL, *steps["V"].shape)
    keys = slice(tile * KEYS_PER_TILE, (tile + 1) * KEYS_PER_TILE)
    values_of_tile = values._replace(y=values.box(keys.start, 0)["y"], rows=KEYS_PER_TILE)
    scores_of_tile = values_of_tile._replace(x=SCORES_X, columns=1)
    left, right = SCORES_X - 4, values.x + values.width + 4
    box_around = values_of_tile._replace(x=left, columns=1, cell=(right - left, KEY_CELL[1]))
    body = [
        title(SCORES_X + KEY_CELL[0] / 2, LINE_HEIGHT / 2, "score", "scores"),
        title(values.x + values.width / 2, LINE_HEIGHT / 2, "values", "value"),
        cells.draw_row_labels(
            box_around._replace(y=values.y), [f"key {i + 1}" for i in range(values.rows)]
        ),
        cells.draw_grid_lines(values),
        draw_numbers(scores_of_tile, steps["z"][keys, None], "scores"),
        draw_numbers(values_of_tile, steps["V"][keys], "value"),
        cells.draw_mark(box_around, (None, 0), None),
    ]
    description = f"On the chip: keys {keys.start + 1} and {keys.stop}, and the state."
    return Panel(right, values.y + values.height, "".join(body), description)


def _state_of_tiles(steps: Mapping[str, Array], tile: int) -> Panel:
    """Draw the state when a tile has been added: p above ℓ, and right of them, u above u / ℓ.

    Above them is the factor for ℓ and u of the earlier tiles, if there are any.
    """
    p_grid = cells.Grid(STATE_X, 1.2 * LINE_HEIGHT, KEY_CELL, 1, 1)
    l_grid = p_grid._replace(y=p_grid.y + p_grid.height + LINE_HEIGHT)
    value_columns = steps["V"].shape[1]
    u_grid = p_grid._replace(x=VALUES_X, columns=value_columns)
    output_grid = l_grid._replace(x=VALUES_X, columns=value_columns)
    row = slice(tile, tile + 1)
    parts = (
        ("p", p_grid, steps["running_maxima"][row, None], "scores"),
        ("ℓ", l_grid, steps["running_totals"][row, None], "weights"),
        ("u", u_grid, steps["running_sums"][row], "value"),
        ("u / ℓ", output_grid, steps["running_outputs"][row], "output"),
    )
    body, sentences = [], []
    if tile:
        rescale = steps["running_rescale"]
        factor = cells.inline_number(rescale, (tile,))
        body.append(label(STATE_X, 0.2 * LINE_HEIGHT, "ℓ and u so far × ", "start", factor))
        sentences.append(f"The earlier sums are multiplied by {number(rescale[tile])}")
    for symbol, grid, numbers, role in parts:
        body.append(label(grid.x - 6, grid.centre(0, 0)[1], symbol, "end"))
        body.append(draw_numbers(grid, numbers, role))
        sentences.append(f"{symbol} is {', '.join(map(number, numbers[0]))}")
    bottom = output_grid.y + output_grid.height
    return Panel(
        output_grid.x + output_grid.width, bottom, "".join(body), f"{'; '.join(sentences)}."
    )


@site_figure
def softmax_in_one_pass(steps_of: StepsOf) -> Html:
    r"""Maximum and total after each of the eight scores. At the second and at the fourth score the
    maximum grows, so what was summed before is multiplied by a factor below one."""
    steps = steps_of("tiles")
    scores_seen = np.arange(1, len(steps["maxima"]) + 1)
    has_grown = np.append(False, np.diff(steps["maxima"]) > 0)
    growing_at = scores_seen[has_grown].tolist()
    claim(growing_at == [2, 4], "At the second and at the fourth score the maximum grows")
    claim(np.all(steps["rescale"][has_grown] < 1), "multiplied by a factor below one")
    series = [
        Series("maximum", scores_seen, steps["maxima"], "first", points=True),
        Series("total", scores_seen, steps["sums"], "second", points=True),
    ]
    axes = Axis("scores seen", scores_seen.tolist()), Axis("value", (0, 1, 2, 3))
    name = "The softmax in one pass"
    return figure(line_chart(name, *axes, series), name)
