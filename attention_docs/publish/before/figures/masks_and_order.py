"""The figures of "Masks and order"."""

from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.positions import sinusoidal_positions
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.dials import Hand, dial
from attention_docs.publish.before.figures.drawings.steps_of_attention import (
    WEIGHTS,
    matrices_figure,
    scores_of_positions,
    softmax_figure,
    step_panel,
)
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf, words_of
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
)
from attention_docs.render.figures.scales import FILLS, MINUS, OPACITY, scale_of
from attention_docs.render.figures.svg import LINE_HEIGHT, element, heading, label, player, title
from attention_docs.render.numbers import number

CLOCK_RADIUS = 60


@site_figure
def window_of_three(steps_of: StepsOf) -> Html:
    r"""A window of one position to either side: each query sees itself and its neighbours."""
    mask = steps_of("local_window_mask")["mask"]
    return heatmap(mask, "Window mask", rows="queries", columns="keys")


@site_figure
def window_weights(steps_of: StepsOf) -> Html:
    r"""The softmax under the mask. What is masked is crossed out: it has the score $-\infty$ and
    the weight zero. The large weight of row 3, column 6 is gone: the row divides its weight
    among its own position and two neighbours."""
    steps = steps_of("local_window_mask")
    row, column = 2, 5  # counted from 0
    was_largest = steps["weights"][row].argmax() == column
    is_gone = steps["weights_masked"][row, column] == 0
    claim(was_largest and is_gone, "The large weight of row 3, column 6 is gone")
    scores, weights = steps["masked"], steps["weights_masked"]
    name = "Masked scores and their weights"
    return softmax_figure(name, scores, weights, hidden=~steps["mask"])


@site_figure
def masks_joined(steps_of: StepsOf) -> Html:
    r"""A causal mask, a padding mask, and both. The words at the rows are the queries, those at the
    columns are the keys. A pair with a tick takes part, and a pair with a cross does not. With both
    masks, a pair takes part where each of them allows it."""
    steps = steps_of("causal_padding")
    words, _ = words_of(steps["causal"])
    padded_words, _ = words_of(steps["causal_and_right"])
    padding = steps["right"][[0] * len(padded_words)]  # the same row for every query
    panels = [
        _mask_of_words("causal", steps["causal"], words),
        _mask_of_words("padding", padding, padded_words),
        _mask_of_words("both", steps["causal_and_right"], padded_words),
    ]
    return beside(panels, "Three masks")


def _mask_of_words(name: str, mask: Array, words: Sequence[str]) -> Panel:
    """Draw a mask with words at its rows and the same words, upwards, over its columns."""
    left, top = 62, 76  # the room for the words
    grid = cells.Grid(left, top, cells.MIN_CELL, *mask.shape)
    scale = scale_of("sequential", name, mask)
    body = [
        title(grid.middle_x, LINE_HEIGHT / 2, name, None),
        cells.draw_row_labels(grid, words),
        cells.draw_upward_labels(grid, words),
        cells.draw_cells(grid, mask, scale),
    ]
    return Panel(grid.right, grid.bottom, "".join(body), cells.describe(name, mask), name=name)


@site_figure
def masked_outputs(steps_of: StepsOf) -> Html:
    r"""The weights under this mask, and the outputs that they blend from the values."""
    steps = steps_of("clicked_mask")
    panels = [
        step_panel(steps["weights"], "Weights", **WEIGHTS),
        step_panel(steps["output"], "Outputs", rows="queries", columns="features", role="output"),
    ]
    return beside(panels, "Weights and outputs under a mask")


@site_figure
def mask_functions(steps_of: StepsOf) -> Html:
    r"""Two rules for eight tokens, and both together: a query sees a key if both rules allow it.
    The first three tokens are one document, the others another."""
    steps = steps_of("mask_functions")
    both = steps["causal"] & steps["document"]
    claim(np.array_equal(steps["packed"], both), "a query sees a key if both rules allow it")
    claim(steps["documents"].tolist() == 3 * [0] + 5 * [1], "first three tokens are one document")
    tokens, _ = words_of(steps["packed"])
    return matrices_figure(
        "Two rules and both together",
        {
            "kv <= q": steps["causal"],
            "same document": steps["document"],
            "both": steps["packed"],
        },
        rows="queries",
        columns="keys",
        row_labels=tokens,
        column_labels=tokens,
    )


@site_figure
def mask_blocks(steps_of: StepsOf) -> Html:
    r"""The weights of equal scores under this mask, and how many of the four pairs take part in
    each block of two queries and two keys. A kernel skips the blocks with 0."""
    steps = steps_of("mask_blocks")
    panels = [
        step_panel(steps["weights"], "Weights of equal scores", **WEIGHTS),
        step_panel(steps["counts"], "Pairs in blocks", **WEIGHTS),
    ]
    return beside(panels, "A mask and its blocks")


@site_figure
def positional_clocks(steps_of: StepsOf) -> Html:
    r"""Two clocks at six positions, with the earlier hands in the background. The tip of a hand is
    as far to the right as the sine and as far up as the cosine, and these four numbers are the
    vector of the position. The first clock runs fast, and the second slowly."""
    steps = steps_of("positional_encoding")
    encodings, (fast, slow) = steps["E"], steps["frequencies"]
    positions = np.arange(len(encodings))
    claim(np.allclose(encodings[:, 0], np.sin(fast * positions)), "to the right as the")
    claim(fast > 2 * slow, "The first clock runs fast, and the second slowly")
    states = [_clocks_at(position, encodings) for position in positions.tolist()]
    return player(states, "Positions as clocks")


def _clocks_at(position: int, encodings: Array) -> Panel:
    """Draw the two clocks of a position, with earlier hands faintly, above its four features."""
    features = encodings[position : position + 1]
    grid = cells.Grid(2, 2 * CLOCK_RADIUS + 3.2 * LINE_HEIGHT, (64, 24), 1, 4)
    body = []
    for clock, role in enumerate(("query", "key")):
        coordinates = encodings[:, 2 * clock : 2 * clock + 2]
        hands = [
            Hand(coordinates[t], role=role, opacity=1 if t == position else 0.2)
            for t in range(position + 1)
        ]
        x = grid.column_middle(2 * clock + 0.5)
        body.append(heading(x, f"clock {clock}"))
        body.append(dial(x, LINE_HEIGHT + CLOCK_RADIUS + 4, CLOCK_RADIUS, hands, length=1))
    scale = scale_of("diverging", "E", encodings, "input")
    body.append(cells.draw_column_labels(grid, ["sine", "cosine"] * 2))
    body.append(cells.draw_cells(grid, features, scale))
    return Panel(
        grid.right + 2,
        grid.bottom,
        "".join(body),
        f"Sine and cosine of each clock: {', '.join(map(number, features[0]))}.",
        name=f"position {position}",
    )


@site_figure
def positional_heatmap(steps_of: StepsOf) -> Html:
    r"""The first \number{64} positions in \number{16} features, the base being $\number{10000}$:
    grey is positive, olive is negative. The features of the first clocks change from position
    to position, and those of the last ones hardly change."""
    positions, features = 64, 16
    encodings = sinusoidal_positions(positions, features)
    change = np.abs(np.diff(encodings, axis=0)).max(axis=0)
    claim(change[-1] < change[0] / 100, "those of the last ones hardly change")
    left, top, cell = 62, 22, (8, 11)
    grid = cells.Grid(left, top, cell, features, positions)
    description = (
        f"A matrix of {number(positions)} positions (columns) and {number(features)} features "
        "(rows). The first rows change their sign every few positions, and the last rows stay "
        "near 0 and 1."
    )
    body = "".join([*_squares_by_level(encodings, grid), *_frame_and_labels(grid)])
    panel = Panel(grid.right, grid.bottom + 2, body, description)
    return figure(panel, "Positions in sixteen features")


def _squares_by_level(encodings: np.ndarray, grid: cells.Grid) -> list[str]:
    """Draw (positions, features) from -1 to 1 as squares, one path for each of a few opacities.

    Args:
        grid: the geometry of the transpose, with features at the rows.
    """
    levels = 5
    paths: dict[int, str] = {}
    for (position, feature), value in np.ndenumerate(encodings):
        level = round(levels * float(value))
        box = grid.box(feature, position)
        square = "M{x} {y}h{width}v{height}h-{width}z".format(**box)
        paths[level] = paths.get(level, "") + square
    return [
        element(
            "path",
            d=path,
            fill=FILLS["input"] if level > 0 else MINUS,
            fill_opacity=OPACITY * abs(level) / levels,
        )
        for level, path in sorted(paths.items())
        if level
    ]


def _frame_and_labels(grid: cells.Grid) -> list[str]:
    """Draw a frame around the encodings, with every tenth position and every second clock."""
    frame = element(
        "path",
        d=f"M{grid.x} {grid.y}H{grid.right}V{grid.bottom}H{grid.x}z",
        fill="none",
        stroke="currentColor",
        stroke_opacity=0.35,
    )
    name = label(grid.x - 6, 10, "position", "end")
    ticks = [label(grid.column_middle(t), 10, number(t)) for t in range(0, grid.columns, 10)]
    # The name of a clock is between the rows of its sine and its cosine.
    clock_names = [
        label(grid.x - 6, grid.row_middle(2 * clock + 0.5), f"clock {clock}", "end")
        for clock in range(0, grid.rows // 2, 2)
    ]
    return [frame, name, *ticks, *clock_names]


@site_figure
def positional_shift(steps_of: StepsOf) -> Html:
    r"""Queries that look two positions on, all by the same matrix $R_2$. The scores of each
    diagonal are equal, and up to position 3 the largest score of a query is that of the key two
    positions after it. After position 3 there is no such key."""
    scores = steps_of("positional_encoding")["shifted_scores"]
    claim(np.allclose(scores[1:, 1:], scores[:-1, :-1]), "The scores of each diagonal are equal")
    positions = np.arange(len(scores))
    looks_two_on = np.array_equal(scores[:-2].argmax(axis=1), positions[2:])
    claim(looks_two_on, "the largest score of a query")
    return scores_of_positions("Scores of positions", scores)


@site_figure
def positional_products(steps_of: StepsOf) -> Html:
    r"""The dot product of two positions over their distance. It falls at first, and rises again
    as the fast clock comes round."""
    steps = steps_of("positional_encoding")
    products = steps["products"]
    distances = np.arange(len(products))
    # The same products between whole distances, too.
    fine_distances = np.linspace(0, distances[-1], 101)
    curve = np.cos(np.outer(fine_distances, steps["frequencies"])).sum(axis=1)
    lowest = curve.argmin()
    claim(np.all(np.diff(curve[: lowest + 1]) < 0), "It falls at first")
    claim(np.all(np.diff(curve[lowest:]) > 0), "rises again")
    series = [
        Series("dot product", fine_distances, curve, "scores"),
        Series("", distances, products, "scores", line=False, points=True),
    ]
    x = Axis("distance", distances.tolist())
    y = Axis("dot product", (-0.5, 0, 0.5, 1, 1.5, 2))
    return line_chart("Dot product of two positions", x, y, series)
