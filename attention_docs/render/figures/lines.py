"""Draw attention as lines between tokens: the thicker a line, the larger the weight."""

from collections.abc import Iterable, Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arguments, cells
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    Html,
    Panel,
    colour,
    element,
    escape_text,
    figure,
    label,
    text_width,
    title,
    translated,
)
from attention_docs.render.numbers import number

WIDTH = 180
ROW_HEIGHT = 34
GAP = 14
MAX_STROKE = 9.0
SIDES, SIDE_ROLES = ("queries", "keys"), ("query", "key")


def attention_lines(
    weights: Array,
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    query: int | None = None,
    name: str = "Attention weights",
) -> Html:
    """Draw each weight as a line from its query on the left to its key on the right.

    The width of a line is in proportion to its weight, and two lines below say what it means; a
    weight of zero has no line.

    Args:
        weights: (m, n) weights of any array library, none negative.
        tokens: m names of the queries.
        keys: n names of the keys; `tokens` if left out.
        query: the one query whose lines are drawn, counted from 0, each with its number; all if
            left out.
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
) -> Panel:
    """Draw the lines as a panel, alone or beside others under a heading.

    `sides` replaces the titles "queries" and "keys" by two without colour, for a page that has not
    introduced these terms.
    """
    matrix = _weights(weights)
    left = arguments.labels("tokens", tokens, matrix.shape[0])
    right = arguments.labels(*_keys(tokens, keys), matrix.shape[1])
    queries = range(len(left)) if query is None else [arguments.index("query", query, len(left))]
    titles, roles = (sides, (None, None)) if sides else (SIDES, SIDE_ROLES)
    x = max(map(text_width, [*left, titles[0]])) + 8
    height = ROW_HEIGHT * max(matrix.shape)
    tops = [
        2 * LINE_HEIGHT + (height - ROW_HEIGHT * count) / 2 + ROW_HEIGHT / 2
        for count in matrix.shape
    ]
    pairs = [(row, column) for row in queries for column in range(len(right))]
    lines = [
        cells.tag_index(_line(x, tops, pair, matrix, left, right), matrix, pair)
        for pair in pairs
        if matrix[pair] > 0
    ]
    end = x + WIDTH + 8 + max(map(text_width, right))
    # The weights of a single query are printed in a column beside the keys.
    numbers = {} if query is None else {pair: number(matrix[pair]) for pair in pairs}
    number_labels = [
        cells.tag_index(
            label(end + GAP, tops[1] + ROW_HEIGHT * pair[1], text, "start"), matrix, pair
        )
        for pair, text in numbers.items()
    ]
    body = [
        title(x - 8, LINE_HEIGHT / 2, titles[0], roles[0], "end"),
        title(x + WIDTH + 8, LINE_HEIGHT / 2, titles[1], roles[1], "start"),
        cells.tag_step("".join([*lines, *number_labels]), matrix),
        *(label(x - 8, tops[0] + ROW_HEIGHT * i, token, "end") for i, token in enumerate(left)),
        *(
            label(x + WIDTH + 8, tops[1] + ROW_HEIGHT * i, token, "start")
            for i, token in enumerate(right)
        ),
        _legend(x, 2 * LINE_HEIGHT + height + LINE_HEIGHT / 2, _largest(matrix)),
    ]
    if numbers:
        end += GAP + max(map(text_width, numbers.values()))
    width = 8 + max(end, x + WIDTH + 8 + text_width(titles[1]))
    height = 2 * LINE_HEIGHT + height + LINE_HEIGHT
    drawing, description = "".join(body), _describe(matrix, left, right, queries)
    if heading is None:
        return Panel(width, height, drawing, description)
    heading_label = label(x + WIDTH / 2, LINE_HEIGHT / 2, heading, font_weight="bold")
    drawing = heading_label + translated(0, 2 * LINE_HEIGHT, drawing)
    description = f"{heading}: {description}"
    return Panel(width, height + 2 * LINE_HEIGHT, drawing, description, name=heading)


def _weights(weights: Array) -> np.ndarray:
    matrix = arguments.matrix("weights", weights)
    if matrix.dtype == bool:
        matrix = matrix.astype(float)
    invalid = matrix[~np.isfinite(matrix) | (matrix < 0)]
    if invalid.size:
        raise ValueError(
            f"weights holds {number(invalid[0])}; expected finite numbers of 0 or more"
        )
    return matrix


def _keys(tokens: Sequence[str], keys: Sequence[str] | None) -> tuple[str, Sequence[str]]:
    """Return the argument that names the keys, and the names."""
    return ("tokens", tokens) if keys is None else ("keys", keys)


def _line(
    x: float,
    tops: Sequence[float],
    pair: tuple[int, int],
    matrix: np.ndarray,
    left: Sequence[str],
    right: Sequence[str],
) -> str:
    (row, column), weight = pair, matrix[pair]
    start, end = tops[0] + ROW_HEIGHT * row, tops[1] + ROW_HEIGHT * column
    name = f"{left[row]} to {right[column]}"
    middle = x + WIDTH / 2
    share = weight / _largest(matrix)
    return element(
        "path",
        element("title", escape_text(f"{name}: {number(weight)}")),
        d=f"M{x:g} {start:g}C{middle:g} {start:g} {middle:g} {end:g} {x + WIDTH:g} {end:g}",
        fill="none",
        stroke=colour("weights"),
        stroke_width=max(0.4, MAX_STROKE * share),
        stroke_opacity=0.7,
    )


def _largest(matrix: np.ndarray) -> float:
    """Return the weight of a line of maximal width: one, unless some weight is larger."""
    return max(1.0, float(matrix.max()))


def _legend(x: float, y: float, largest: float) -> str:
    """Draw two sample lines with their weights."""
    body = []
    for i, share in enumerate((0.25, 1.0)):
        left = x + i * WIDTH / 2
        ends = {"x1": left, "x2": left + 30, "y1": y, "y2": y}
        stroke = {"stroke": colour("weights"), "stroke_width": MAX_STROKE * share}
        body.append(element("line", **ends, **stroke, stroke_opacity=0.7))
        body.append(label(left + 36, y, number(share * largest), "start", font_size=10))
    return "".join(body)


def _describe(
    matrix: np.ndarray, left: Sequence[str], right: Sequence[str], queries: Iterable[int]
) -> str:
    if matrix.size > cells.MAX_SPOKEN_NUMBERS:
        return cells.describe("Weights of queries (rows) on keys (columns)", matrix)
    rows = (
        f"{left[row]} looks at "
        + ", ".join(f"{key} with {number(w)}" for key, w in zip(right, matrix[row], strict=True))
        for row in queries
    )
    return "; ".join(rows) + "."
