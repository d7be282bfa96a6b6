import numpy as np

from attention_docs.arrays import Array
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import scores_of_positions
from attention_docs.lookup import StepsOf
from attention_docs.positions import sinusoidal_positions
from attention_docs.render.figures import Html, Panel, cells, dials, figure, scales, svg
from attention_docs.render.numbers import number

CLOCK_RADIUS = 60


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
    return svg.player(states, "Positions as clocks")


def _clocks_at(position: int, encodings: Array) -> Panel:
    """Draw the two clocks of a position, with earlier hands faintly, above its four features."""
    features = encodings[position : position + 1]
    grid = cells.Grid(2, 2 * CLOCK_RADIUS + 3.2 * svg.LINE_HEIGHT, (64, 24), 1, 4)
    body = []
    for clock, role in enumerate(("query", "key")):
        coordinates = encodings[:, 2 * clock : 2 * clock + 2]
        hands = [
            dials.Hand(coordinates[t], role=role, opacity=1 if t == position else 0.2)
            for t in range(position + 1)
        ]
        x = grid.column_middle(2 * clock + 0.5)
        body.append(svg.heading(x, f"clock {clock}"))
        body.append(
            dials.dial(x, svg.LINE_HEIGHT + CLOCK_RADIUS + 4, CLOCK_RADIUS, hands, length=1)
        )
    scale = scales.scale_of("diverging", "E", encodings, "input")
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
    corners = f"M{grid.x} {grid.y}H{grid.right}V{grid.bottom}H{grid.x}z"
    frame = {"fill": "none", "stroke": "currentColor", "stroke_opacity": 0.35}
    body = [
        *_squares_by_level(encodings, grid),
        svg.element("path", d=corners, **frame),
        svg.label(grid.x - 6, 10, "position", "end"),
    ]
    for position in range(0, positions, 10):
        body.append(svg.label(grid.column_middle(position), 10, number(position)))
    for clock in range(0, features // 2, 2):
        y = grid.row_middle(2 * clock + 0.5)  # between the rows of its sine and its cosine
        body.append(svg.label(grid.x - 6, y, f"clock {clock}", "end"))
    panel = Panel(grid.right, grid.bottom + 2, "".join(body), description)
    return figure(panel, "Positions in sixteen features")


def _squares_by_level(encodings: np.ndarray, grid: cells.Grid) -> list[str]:
    """Draw numbers from -1 to 1, with features at the rows, as a path for each of few opacities."""
    levels = 5
    paths: dict[int, str] = {}
    for (position, feature), value in np.ndenumerate(encodings):
        level = round(levels * float(value))
        square = "M{x} {y}h{width}v{height}h-{width}z".format(**grid.box(feature, position))
        paths[level] = paths.get(level, "") + square
    body = []
    for level, path in sorted(paths.items()):
        fill = scales.FILLS["input"] if level > 0 else scales.MINUS
        opacity = scales.OPACITY * abs(level) / levels
        body.append(svg.element("path", d=path, fill=fill, fill_opacity=opacity) if level else "")
    return body


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
