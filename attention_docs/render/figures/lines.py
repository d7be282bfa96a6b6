"""Draw attention as lines between tokens: the thicker a line, the larger the weight."""

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arguments, cells
from attention_docs.render.figures.scales import round_up
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Html,
    Panel,
    colour,
    element,
    figure,
    label,
    text_node,
    text_width,
    title,
    translated,
)
from attention_docs.render.numbers import exact_number, number
from attention_docs.render.references import step_name

WIDTH = 156
ROW_HEIGHT = 34
# Between the names of the keys and the weights of a single query.
GAP = 14
# The width of the line of the largest weight, and of the thinnest visible lines.
MAX_STROKE, THINNEST = 9.0, 0.4


def attention_lines(
    weights: Array,
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    query: int | None = None,
    name: str = "Attention weights",
) -> Html:
    """Draw each weight as a line from its query on the left to its key on the right.

    The width of a line is in proportion to its weight, and a legend shows two widths with their
    weights. A weight of zero has no line.

    Args:
        weights: (m, n) weights of any array library, none negative.
        tokens: m names of the queries.
        keys: n names of the keys; `tokens` if left out.
        query: draw the lines of this query only, counted from 0, and print their weights; the
            lines of all queries if left out.
        name: the title of the figure.

    Returns:
        The figure as SVG text; a notebook shows the picture.

    Raises:
        TypeError: if the weights are not real numbers.
        ValueError: if a weight is negative or not finite, or there are not as many names as rows
            and columns.

    >>> picture = attention_lines(np.array([[0.75, 0.25]]), ["it"], ["cat", "mat"])
    >>> "it to cat: 0.7500" in picture
    True
    """
    return figure(lines_panel(weights, tokens, keys, query=query), name)


def lines_panel(
    weights: Array,
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    query: int | None = None,
    heading: str | None = None,
    sides: tuple[str, str] | None = None,
    length: float = WIDTH,
    row_height: float = ROW_HEIGHT,
    has_legend: bool = True,
) -> Panel:
    """Draw the lines of `attention_lines` as a panel, which can stand beside others.

    Args:
        weights: as for `attention_lines`, like `tokens`, `keys` and `query`.
        heading: a heading above the panel.
        sides: titles to replace "queries" and "keys" on a page that has not introduced these terms.
        length: the horizontal distance from queries to keys.
        row_height: the vertical distance of two words.
        has_legend: whether to draw the legend, which one of several panels needs.
    """
    matrix = _checked_weights(weights)
    count, key_count = matrix.shape
    names = arguments.labels("tokens", tokens, count)
    if keys is None:
        key_names = arguments.labels("tokens", tokens, key_count)
    else:
        key_names = arguments.labels("keys", keys, key_count)
    queries = range(count) if query is None else [arguments.index("query", query, count)]
    titles, roles = (sides, (None, None)) if sides else (("queries", "keys"), ("query", "key"))
    left = max(map(text_width, [*names, titles[0]])) + 8
    right = left + length
    names_end = right + 8 + max(map(text_width, key_names))
    rows_height = row_height * max(count, key_count)
    query_rows, key_rows = (_row_positions(n, row_height, rows_height) for n in matrix.shape)
    query_labels = [
        label(left - 8, y, token, "end") for y, token in zip(query_rows, names, strict=True)
    ]
    key_labels = [
        label(right + 8, y, key, "start") for y, key in zip(key_rows, key_names, strict=True)
    ]
    numbers = [] if query is None else [number(weight) for weight in matrix[queries[0]]]
    # Each query with its lines, or, for a single query, each key with its line and its weight. The
    # style sheet fades the others when the reader points at one.
    fans = [[text] for text in (query_labels if query is None else key_labels)]
    for row, column in product(queries, range(key_count)):
        fan = fans[row if query is None else column]
        if matrix[row, column] > 0:
            tooltip = f"{names[row]} to {key_names[column]}: {number(matrix[row, column])}"
            fraction = matrix[row, column] / _largest(matrix)
            ends = query_rows[row], key_rows[column]
            line = _draw_curve((left, right), ends, fraction, tooltip)
            fan.append(cells.tag_index(line, matrix, (row, column)))
        if numbers:
            text = label(names_end + GAP, key_rows[column], numbers[column], "start")
            fan.append(cells.tag_index(text, matrix, (row, column)))
    body = [
        title(left - 8, LINE_HEIGHT / 2, titles[0], roles[0], "end"),
        title(right + 8, LINE_HEIGHT / 2, titles[1], roles[1], "start"),
        _tagged("".join(element("g", *fan, class_="fan") for fan in fans), matrix),
        *(key_labels if query is None else query_labels),
    ]
    if has_legend:
        body.append(_legend(left, 2.5 * LINE_HEIGHT + rows_height, _largest(matrix)))
    numbers_end = names_end + GAP + max(map(text_width, numbers)) if numbers else names_end
    width = 8 + max(numbers_end, right + 8 + text_width(titles[1]))
    height = 2 * LINE_HEIGHT + rows_height + (LINE_HEIGHT if has_legend else 0)
    panel = Panel(width, height, "".join(body), _describe(matrix, names, key_names, queries))
    return panel if heading is None else _add_heading(panel, heading, left + length / 2)


def _add_heading(panel: Panel, heading: str, centre: float) -> Panel:
    """Return a panel with a heading above it."""
    heading_label = label(centre, LINE_HEIGHT / 2, heading, font_weight="bold")
    return panel._replace(
        height=panel.height + 2 * LINE_HEIGHT,
        body=heading_label + translated(0, 2 * LINE_HEIGHT, panel.body),
        description=f"{heading}: {panel.description}",
        name=heading,
    )


def _checked_weights(weights: Array) -> np.ndarray:
    """Return finite weights that are not negative; booleans become 0 and 1."""
    matrix = arguments.matrix("weights", weights)
    if matrix.dtype == bool:
        matrix = matrix.astype(float)
    invalid = matrix[~np.isfinite(matrix) | (matrix < 0)]
    if invalid.size:
        raise ValueError(
            f"weights holds {number(invalid[0])}; expected finite numbers of 0 or more"
        )
    return matrix


def _row_positions(count: int, row_height: float, height: float) -> list[float]:
    """Return the y of the middle of each row; the rows are centred in a height below the titles."""
    top = 2 * LINE_HEIGHT + (height - row_height * count) / 2
    return [top + row_height / 2 + row_height * row for row in range(count)]


def _draw_curve(
    x: tuple[float, float], y: tuple[float, float], fraction: float, tooltip: str
) -> str:
    """Draw a curve between two points; its stroke has a fraction of the maximal width.

    Args:
        x: the left and the right end.
        y: the position of the left and of the right end, from the top.
        fraction: the width of the stroke, as a fraction of `MAX_STROKE`.
        tooltip: the text shown on hover.
    """
    (left, right), (start, end) = x, y
    middle = (left + right) / 2
    return element(
        "path",
        element("title", text_node(tooltip)),
        d=f"M{left:g} {start:g}C{middle:g} {start:g} {middle:g} {end:g} {right:g} {end:g}",
        fill="none",
        stroke=colour("weights"),
        stroke_width=max(THINNEST, MAX_STROKE * fraction),
        stroke_opacity=0.7,
    )


def _largest(matrix: np.ndarray) -> float:
    """Return the weight of the maximal width, the end of a sequential scale: one or more."""
    return round_up(max(1.0, float(matrix.max())))


def _tagged(svg: str, matrix: np.ndarray) -> str:
    """Wrap lines in a group with the name of their step, and the end of their scale's kind."""
    step = step_name(matrix)
    return element("g", svg, data_val=step, data_from_zero="") if step else svg


def _legend(x: float, y: float, largest: float) -> str:
    """Draw two sample lines, of a quarter and all of the maximal width, with their weights."""
    body = []
    for left, fraction in ((x, 0.25), (x + WIDTH / 2, 1.0)):
        ends = {"x1": left, "x2": left + 30, "y1": y, "y2": y}
        stroke = {"stroke": colour("weights"), "stroke_width": MAX_STROKE * fraction}
        body.append(element("line", **ends, **stroke, stroke_opacity=0.7))
        body.append(label(left + 36, y, exact_number(fraction * largest), "start"))
    return "".join(body)


def _describe(
    matrix: np.ndarray, names: Sequence[str], key_names: Sequence[str], queries: Iterable[int]
) -> str:
    """Describe the weights of some queries in words, or the extremes of a large matrix."""
    if matrix.size > cells.MAX_DESCRIBED_NUMBERS:
        return cells.describe("Weights of queries (rows) on keys (columns)", matrix)
    clauses = []
    for row in queries:
        weights = zip(key_names, matrix[row], strict=True)
        keys = ", ".join(f"{key} with {number(weight)}" for key, weight in weights)
        clauses.append(f"{names[row]} looks at {keys}")
    return "; ".join(clauses) + "."
