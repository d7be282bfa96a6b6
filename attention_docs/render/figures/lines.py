"""Attention as lines between tokens: the thicker a line, the larger the weight."""

from collections.abc import Iterable, Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arguments, cells
from attention_docs.render.figures.svg import (
    LINE,
    Html,
    Panel,
    colour,
    element,
    figure,
    label,
    moved,
    text_width,
    title,
    words,
)
from attention_docs.render.numbers import number

SPAN = 180
STEP = 34
GAP = 14
THICKEST = 9.0
NAMES, ROLES = ("queries", "keys"), ("query", "key")


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
    """Draw the lines as a panel, to stand alone or beside others under a heading.

    `sides` names the left and the right end where queries and keys are not known yet, and these
    names have no colour.
    """
    matrix = _weights(weights)
    left = arguments.labels("tokens", tokens, matrix.shape[0])
    right = arguments.labels(*_keys(tokens, keys), matrix.shape[1])
    chosen = range(len(left)) if query is None else [arguments.position("query", query, len(left))]
    (asks, asked), roles = (sides, (None, None)) if sides else (NAMES, ROLES)
    x = max(map(text_width, [*left, asks])) + 8
    height = STEP * max(matrix.shape)
    tops = [2 * LINE + (height - STEP * count) / 2 + STEP / 2 for count in matrix.shape]
    places = [(row, column) for row in chosen for column in range(len(right))]
    lines = [
        cells.of_place(_line(x, tops, place, matrix, left, right), matrix, place)
        for place in places
        if matrix[place] > 0
    ]
    end = x + SPAN + 8 + max(map(text_width, right))
    # The weights of one query stand in a column beside the keys.
    numbers = {} if query is None else {place: number(matrix[place]) for place in places}
    weights_of_query = [
        cells.of_place(label(end + GAP, tops[1] + STEP * place[1], shown, "start"), matrix, place)
        for place, shown in numbers.items()
    ]
    body = [
        title(x - 8, LINE / 2, asks, roles[0], "end"),
        title(x + SPAN + 8, LINE / 2, asked, roles[1], "start"),
        cells.of_step("".join([*lines, *weights_of_query]), matrix),
        *(label(x - 8, tops[0] + STEP * i, token, "end") for i, token in enumerate(left)),
        *(label(x + SPAN + 8, tops[1] + STEP * i, token, "start") for i, token in enumerate(right)),
        _legend(x, 2 * LINE + height + LINE / 2, _largest(matrix)),
    ]
    if numbers:
        end += GAP + max(map(text_width, numbers.values()))
    width = 8 + max(end, x + SPAN + 8 + text_width(asked))
    height = 2 * LINE + height + LINE
    drawn, described = "".join(body), _described(matrix, left, right, chosen)
    if heading is None:
        return Panel(width, height, drawn, described)
    headed = label(x + SPAN / 2, LINE / 2, heading, font_weight="bold")
    shifted = headed + moved(0, 2 * LINE, drawn)
    return Panel(width, height + 2 * LINE, shifted, f"{heading}: {described}", name=heading)


def _weights(weights: Array) -> np.ndarray:
    matrix = arguments.matrix("weights", weights)
    if matrix.dtype == bool:
        matrix = matrix.astype(float)
    wrong = matrix[~np.isfinite(matrix) | (matrix < 0)]
    if wrong.size:
        raise ValueError(f"weights holds {number(wrong[0])}; expected finite numbers of 0 or more")
    return matrix


def _keys(tokens: Sequence[str], keys: Sequence[str] | None) -> tuple[str, Sequence[str]]:
    """Return the names of the keys, and the argument that gave them."""
    return ("tokens", tokens) if keys is None else ("keys", keys)


def _line(
    x: float,
    tops: Sequence[float],
    place: tuple[int, int],
    matrix: np.ndarray,
    left: Sequence[str],
    right: Sequence[str],
) -> str:
    (row, column), weight = place, matrix[place]
    start, end = tops[0] + STEP * row, tops[1] + STEP * column
    name = f"{left[row]} to {right[column]}"
    middle = x + SPAN / 2
    share = weight / _largest(matrix)
    return element(
        "path",
        element("title", words(f"{name}: {number(weight)}")),
        d=f"M{x:g} {start:g}C{middle:g} {start:g} {middle:g} {end:g} {x + SPAN:g} {end:g}",
        fill="none",
        stroke=colour("weights"),
        stroke_width=max(0.4, THICKEST * share),
        stroke_opacity=0.7,
    )


def _largest(matrix: np.ndarray) -> float:
    """Return the weight of the thickest line there can be: one, unless some weight is larger."""
    return max(1.0, float(matrix.max()))


def _legend(x: float, y: float, largest: float) -> str:
    """Draw two lines of known weight."""
    body = []
    for i, share in enumerate((0.25, 1.0)):
        left = x + i * SPAN / 2
        ends = {"x1": left, "x2": left + 30, "y1": y, "y2": y}
        stroke = {"stroke": colour("weights"), "stroke_width": THICKEST * share}
        body.append(element("line", **ends, **stroke, stroke_opacity=0.7))
        body.append(label(left + 36, y, number(share * largest), "start", font_size=10))
    return "".join(body)


def _described(
    matrix: np.ndarray, left: Sequence[str], right: Sequence[str], chosen: Iterable[int]
) -> str:
    if matrix.size > cells.MOST_READ_OUT:
        return cells.described("Weights of queries (rows) on keys (columns)", matrix)
    rows = (
        f"{left[row]} looks at "
        + ", ".join(f"{key} with {number(w)}" for key, w in zip(right, matrix[row], strict=True))
        for row in chosen
    )
    return "; ".join(rows) + "."
