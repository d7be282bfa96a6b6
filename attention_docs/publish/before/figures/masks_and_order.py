"""The figures of "Masks and order"."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples import labels
from attention_docs.positions import sinusoidal_positions
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.boxes import small
from attention_docs.publish.before.figures.drawings.dials import Hand, dial
from attention_docs.publish.before.figures.drawings.steps_of_attention import (
    softmax_figure,
)
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import (
    Axis,
    Html,
    Panel,
    Series,
    beside,
    figure,
    heatmap,
    line_chart,
    matrix_panel,
)
from attention_docs.render.figures.cells import (
    MIN_CELL,
    Grid,
    describe,
    draw_cells,
    draw_column_labels,
    draw_row_labels,
    draw_upward_labels,
)
from attention_docs.render.figures.scales import FILLS, MINUS, OPACITY, scale_of
from attention_docs.render.figures.svg import LINE_HEIGHT, element, label, player, title
from attention_docs.render.numbers import number


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
    is_gone = steps["weights"][2].argmax() == 5 and steps["weights_masked"][2, 5] == 0
    claim(is_gone, "The large weight of row 3, column 6 is gone")
    scores, weights = steps["masked"], steps["weights_masked"]
    name = "Masked scores and their weights"
    return softmax_figure(name, scores, weights, hidden=~steps["mask"])


@site_figure
def masks_joined(steps_of: StepsOf) -> Html:
    r"""A causal mask, a padding mask, and both. The words at the rows are the queries, those at the
    columns are the keys. A pair with a tick takes part, and a pair with a cross does not. With both
    masks, a pair takes part where each of them allows it."""
    steps = steps_of("causal_padding")
    padding = steps["right"][[0] * len(steps["causal"])]  # the same row for every query
    panels = []
    for name, mask, step in (
        ("causal", steps["causal"], "causal"),
        ("padding", padding, "weights_right"),
        ("both", steps["causal_and_right"], "causal_and_right"),
    ):
        rows, columns = labels("causal_padding", step)
        grid = Grid(62, 76, MIN_CELL, *mask.shape)
        body = [
            title(grid.middle_x, LINE_HEIGHT / 2, name, None),
            draw_row_labels(grid, rows),
            draw_upward_labels(grid, columns),
            draw_cells(grid, mask, scale_of("sequential", name, mask), None, True),
        ]
        size = grid.right, grid.bottom
        panels.append(Panel(*size, "".join(body), describe(name, mask), name=name))
    return beside(panels, "Three masks")


@site_figure
def masked_outputs(steps_of: StepsOf) -> Html:
    r"""The weights under this mask, and the outputs that they blend from the values."""
    steps = steps_of("clicked_mask")
    panels = [
        _labelled_panel(
            "clicked_mask", "weights", steps, "Weights", scale="sequential", role="weights"
        ),
        _labelled_panel(
            "clicked_mask", "output", steps, "Outputs", columns="features", role="output"
        ),
    ]
    return beside(panels, "Weights and outputs under a mask")


@site_figure
def mask_functions(steps_of: StepsOf) -> Html:
    r"""Two rules for eight tokens, and both together: a query sees a key if both rules allow it.
    The first three tokens are one document, the others another."""
    steps = steps_of("mask_functions")
    both = steps["causal"] & steps["document"]
    claim(np.array_equal(steps["packed"], both), "a query sees a key if both rules allow it")
    rules = {"causal": "kv <= q", "document": "same document", "packed": "both"}
    panels = [_labelled_panel("mask_functions", step, steps, name) for step, name in rules.items()]
    return beside(panels, "Two rules and both together")


@site_figure
def mask_blocks(steps_of: StepsOf) -> Html:
    r"""The weights of equal scores under this mask, and how many of the four pairs take part in
    each block of two queries and two keys. A kernel skips the blocks with 0."""
    steps = steps_of("mask_blocks")
    names = {"weights": "Weights of equal scores", "counts": "Pairs in blocks"}
    panels = [
        _labelled_panel("mask_blocks", step, steps, name, scale="sequential", role="weights")
        for step, name in names.items()
    ]
    return beside(panels, "A mask and its blocks")


def _labelled_panel(
    example: str, step: str, steps: Mapping[str, Array], name: str, **options: Any
) -> Panel:
    """Draw a mask or weights with the words of the example at its rows and columns."""
    words = dict(zip(("row_labels", "column_labels"), labels(example, step), strict=True))
    options = {"rows": "queries", "columns": "keys", **words, **options}
    return matrix_panel(steps[step], name, **options)


@site_figure
def positional_clocks(steps_of: StepsOf) -> Html:
    r"""Two clocks at six positions, with the earlier hands in the background. The tip of a hand is
    as far to the right as the sine and as far up as the cosine, and these four numbers are the
    vector of the position. The first clock runs fast, and the second slowly."""
    steps = steps_of("positional_encoding")
    matrix, (fast, slow) = steps["E"], steps["frequencies"]
    claim(np.allclose(matrix[:, 0], np.sin(fast * np.arange(len(matrix)))), "to the right as the")
    claim(fast > 2 * slow, "The first clock runs fast, and the second slowly")
    states = [_clocks(matrix, position) for position in range(len(matrix))]
    return player(states, "Positions as clocks")


def _clocks(matrix: Array, position: int) -> Panel:
    """Draw the clocks of a position above its features, and of earlier positions faintly."""
    radius, cell = 60, (64, 24)
    row = matrix[position : position + 1]
    grid = Grid(2, 2 * radius + 3.2 * LINE_HEIGHT, cell, 1, row.shape[1])
    body = []
    for clock, role in enumerate(("query", "key")):
        x = grid.x + (2 * clock + 1) * cell[0]
        hands = [
            Hand(
                matrix[t : t + 1, 2 * clock : 2 * clock + 2],
                role=role,
                opacity=1 if t == position else 0.2,
            )
            for t in range(position + 1)
        ]
        body.append(label(x, LINE_HEIGHT / 2, f"clock {clock}", font_weight="bold"))
        body.append(dial(x, LINE_HEIGHT + radius + 4, radius, hands, 1))
    scale = scale_of("diverging", "E", matrix, "input")
    body += [
        draw_column_labels(grid, ["sine", "cosine"] * 2),
        draw_cells(grid, row, scale, None, True),
    ]
    description = f"Sine and cosine of each clock: {', '.join(map(number, row[0]))}."
    height = grid.bottom
    return Panel(grid.width + 4, height, "".join(body), description, name=f"position {position}")


@site_figure
def positional_heatmap(steps_of: StepsOf) -> Html:
    r"""The first \number{64} positions in \number{16} features, the base being $\number{10000}$:
    grey is positive, olive is negative. The features of the first clocks change from position
    to position, and those of the last ones hardly change."""
    positions, features = 64, 16
    matrix = sinusoidal_positions(positions, features)
    change = np.abs(np.diff(matrix, axis=0)).max(axis=0)
    claim(change[-1] < change[0] / 100, "those of the last ones hardly change")
    width, height, left, top, levels = 8, 11, 62, 22, 5
    paths: dict[int, list[str]] = {}
    for (position, feature), value in np.ndenumerate(matrix):
        level = round(levels * float(value))
        corner = f"M{left + position * width} {top + feature * height}"
        paths.setdefault(level, []).append(f"{corner}h{width}v{height}h-{width}z")
    squares = [
        element(
            "path",
            d="".join(corners),
            fill=FILLS["input"] if level > 0 else MINUS,
            fill_opacity=OPACITY * abs(level) / levels,
        )
        for level, corners in sorted(paths.items())
        if level
    ]
    right, bottom = left + positions * width, top + features * height
    frame = element(
        "path",
        d=f"M{left} {top}H{right}V{bottom}H{left}z",
        fill="none",
        stroke="currentColor",
        stroke_opacity=0.35,
    )
    ticks = [small(left + (t + 0.5) * width, 10, number(t)) for t in range(0, positions, 10)]
    rows = [
        small(left - 6, top + (4 * clock + 1) * height, f"clock {2 * clock}", "end")
        for clock in range(features // 4)
    ]
    description = (
        f"A matrix of {number(positions)} positions (columns) and {number(features)} features "
        "(rows). The first rows change their sign every few positions, and the last rows stay "
        "near 0 and 1."
    )
    body = "".join([*squares, frame, *ticks, *rows])
    return figure(Panel(right, bottom + 2, body, description), "Positions in sixteen features")


@site_figure
def positional_shift(steps_of: StepsOf) -> Html:
    r"""Queries that look two positions on, all by the same matrix $R_2$. The scores of each
    diagonal are equal, and up to position 3 the largest score of a query is that of the key two
    positions after it. After position 3 there is no such key."""
    scores = steps_of("positional_encoding")["shifted_scores"]
    claim(np.allclose(scores[1:, 1:], scores[:-1, :-1]), "The scores of each diagonal are equal")
    claim(scores.argmax(axis=1)[:4].tolist() == [2, 3, 4, 5], "the largest score of a query")
    positions = [str(position) for position in range(len(scores))]
    words = {"row_labels": positions, "column_labels": positions}
    sides = {"rows": "position of the query", "columns": "position of the key"}
    return heatmap(scores, "Scores of positions", role="scores", **sides, **words)


@site_figure
def positional_products(steps_of: StepsOf) -> Html:
    r"""The dot product of two positions over their distance. It falls at first, and rises again
    as the fast clock comes round."""
    steps = steps_of("positional_encoding")
    products = steps["products"]
    distances, t = np.arange(len(products)), np.linspace(0, len(products) - 1, 101)
    curve = np.cos(np.outer(t, steps["frequencies"])).sum(axis=1)
    lowest = curve.argmin()
    claim(np.all(np.diff(curve[: lowest + 1]) < 0), "It falls at first")
    claim(np.all(np.diff(curve[lowest:]) > 0), "rises again")
    series = [
        Series("dot product", t, curve, "scores"),
        Series("", distances, products, "scores", line=False, points=True),
    ]
    axes = (
        Axis("distance", tuple(range(len(products)))),
        Axis("dot product", (-0.5, 0, 0.5, 1, 1.5, 2)),
    )
    name = "Dot product of two positions"
    return figure(line_chart(name, *axes, series), name)
