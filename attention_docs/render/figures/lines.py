"""Draw attention as lines between tokens: the thicker a line, the larger the weight."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.render.figures import arguments, cells, svg
from attention_docs.render.figures.scales import round_up
from attention_docs.render.numbers import exact_number, format_name, number
from attention_docs.render.references import step_name

WIDTH = 156
ROW_HEIGHT = 34
TOP = 2 * svg.LINE_HEIGHT  # of the rows, below the titles
# Between a name and its lines, and between the names of the keys and the weights of a single query.
NAME_GAP, NUMBER_GAP = 8, 14
RIGHT_MARGIN = 8
SAMPLE_LENGTH, SAMPLE_GAP = 30, 6  # of a line in the legend, and after it
# The width of the line of the largest weight, and of the thinnest visible lines.
MAX_STROKE, THINNEST = 9.0, 0.4


def attention_lines(
    weights: Array,
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    query: int | None = None,
    name: str = "Attention weights",
) -> svg.Html:
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
    return svg.figure(lines_panel(weights, tokens, keys, query=query), name)


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
) -> svg.Panel:
    """Draw the lines of `attention_lines` as a panel, which can stand beside others.

    Args:
        sides: titles to replace "queries" and "keys" on a page that has not introduced these terms.
        length: the horizontal distance from queries to keys.
        has_legend: whether to draw the legend, which one of several panels needs.
    """
    matrix = _checked_weights(weights)
    query_names = arguments.labels("tokens", tokens, matrix.shape[0])
    if keys is None:
        key_names = arguments.labels("tokens", tokens, matrix.shape[1])
    else:
        key_names = arguments.labels("keys", keys, matrix.shape[1])
    if query is not None:
        query = arguments.index("query", query, len(query_names))
    titles = sides or ("queries", "keys")
    roles = (None, None) if sides else ("query", "key")
    left = max(map(svg.text_width, [*query_names, titles[0]])) + NAME_GAP
    right = left + length
    lines = Lines(matrix, query_names, key_names, left=left, right=right, row_height=row_height)
    fans, other_names, lines_end = lines.draw(query)
    group = {}
    if step_name(matrix):
        name = format_name()
        rules = f"path stroke-width {MAX_STROKE:g} {THINNEST}; title {name}; text {name}"
        group = {"data_val": step_name(matrix), "data_scaled": 1, "data_set": rules}
    body = [
        svg.title(left - NAME_GAP, svg.LINE_HEIGHT / 2, titles[0], roles[0], "end"),
        svg.title(right + NAME_GAP, svg.LINE_HEIGHT / 2, titles[1], roles[1], "start"),
        svg.element("g", *(svg.element("g", fan, class_="fan") for fan in fans), **group),
        *other_names,
    ]
    height = lines.bottom
    if has_legend:
        body.append(_legend(left, lines.bottom + svg.LINE_HEIGHT / 2, lines.largest))
        height += svg.LINE_HEIGHT
    title_end = right + NAME_GAP + svg.text_width(titles[1])
    width = max(lines_end, title_end) + RIGHT_MARGIN
    panel = svg.Panel(width, height, "".join(body), lines.describe(query))
    if heading is None:
        return panel
    below_heading = svg.translated(0, 2 * svg.LINE_HEIGHT, panel.body)
    return panel._replace(
        height=height + 2 * svg.LINE_HEIGHT,
        body=svg.heading((left + right) / 2, heading) + below_heading,
        description=f"{heading}: {panel.description}",
        name=heading,
    )


class Lines(NamedTuple):
    """Weights, (m, n), drawn as lines from the names of queries to those of keys."""

    matrix: np.ndarray
    query_names: list[str]
    key_names: list[str]
    left: float
    right: float
    row_height: float

    @property
    def bottom(self) -> float:
        return TOP + self.row_height * max(len(self.query_names), len(self.key_names))

    @property
    def largest(self) -> float:
        """The weight of the widest line: the end of a sequential scale, which is one or more."""
        return round_up(max(1.0, float(self.matrix.max())))

    @property
    def names_end(self) -> float:
        return self.right + NAME_GAP + max(map(svg.text_width, self.key_names))

    def draw(self, query: int | None) -> tuple[list[str], list[str], float]:
        """Return what fades together, the other names, and the right end of all."""
        rows, columns = map(range, self.matrix.shape)
        if query is None:
            fans = [
                self.draw_query_name(row) + "".join(self.draw_line(row, key) for key in columns)
                for row in rows
            ]
            return fans, [self.draw_key_name(key) for key in columns], self.names_end
        fans = [
            self.draw_key_name(key) + self.draw_line(query, key) + self.draw_weight(query, key)
            for key in columns
        ]
        widest_weight = max(svg.text_width(number(weight)) for weight in self.matrix[query])
        weights_end = self.names_end + NUMBER_GAP + widest_weight
        return fans, [self.draw_query_name(row) for row in rows], weights_end

    def draw_query_name(self, row: int) -> str:
        return svg.label(self.left - NAME_GAP, self.query_y(row), self.query_names[row], "end")

    def draw_key_name(self, column: int) -> str:
        return svg.label(self.right + NAME_GAP, self.key_y(column), self.key_names[column], "start")

    def draw_line(self, row: int, column: int) -> str:
        """Draw the line from a query to a key; a weight of zero has none."""
        weight = self.matrix[row, column]
        if weight == 0:
            return ""
        tooltip = f"{self.query_names[row]} to {self.key_names[column]}: {number(weight)}"
        left, right, middle = self.left, self.right, (self.left + self.right) / 2
        start, end = self.query_y(row), self.key_y(column)
        line = svg.element(
            "path",
            svg.element("title", svg.text_node(tooltip)),
            d=f"M{left:g} {start:g}C{middle:g} {start:g} {middle:g} {end:g} {right:g} {end:g}",
            fill="none",
            stroke=svg.colour("weights"),
            stroke_width=max(THINNEST, MAX_STROKE * (weight / self.largest)),
            stroke_opacity=0.7,
        )
        return cells.tag_index(line, self.matrix, (row, column))

    def draw_weight(self, row: int, column: int) -> str:
        text = number(self.matrix[row, column])
        digits = svg.label(self.names_end + NUMBER_GAP, self.key_y(column), text, "start")
        return cells.tag_index(digits, self.matrix, (row, column))

    def query_y(self, row: int) -> float:
        return self._middle(row, len(self.query_names))

    def key_y(self, column: int) -> float:
        return self._middle(column, len(self.key_names))

    def _middle(self, position: int, count: int) -> float:
        """Return the y of one of `count` names, which are centred in the height of the drawing."""
        names_height = self.row_height * count
        top = TOP + (self.bottom - TOP - names_height) / 2
        return top + self.row_height * (position + 0.5)

    def describe(self, query: int | None) -> str:
        if self.matrix.size > cells.MAX_DESCRIBED_NUMBERS:
            return cells.describe("Weights of queries (rows) on keys (columns)", self.matrix)
        rows = range(len(self.query_names)) if query is None else [query]
        clauses = []
        for row in rows:
            weights = zip(self.key_names, self.matrix[row], strict=True)
            keys = ", ".join(f"{key} with {number(weight)}" for key, weight in weights)
            clauses.append(f"{self.query_names[row]} looks at {keys}")
        return "; ".join(clauses) + "."


def _checked_weights(weights: Array) -> np.ndarray:
    """Return weights as real numbers; booleans become 0 and 1."""
    matrix = arguments.matrix("weights", weights)
    if matrix.dtype == bool:
        matrix = matrix.astype(float)
    invalid = matrix[~np.isfinite(matrix) | (matrix < 0)]
    if invalid.size:
        raise ValueError(
            f"weights holds {number(invalid[0])}; expected finite numbers of 0 or more"
        )
    return matrix


def _legend(left: float, y: float, largest: float) -> str:
    """Draw two sample lines, of a quarter and all of the maximal width, with their weights."""
    body = []
    for x, fraction in ((left, 0.25), (left + WIDTH / 2, 1.0)):
        end = x + SAMPLE_LENGTH
        ends = {"x1": x, "x2": end, "y1": y, "y2": y}
        stroke = {"stroke": svg.colour("weights"), "stroke_width": MAX_STROKE * fraction}
        body.append(svg.element("line", **ends, **stroke, stroke_opacity=0.7))
        body.append(svg.label(end + SAMPLE_GAP, y, exact_number(fraction * largest), "start"))
    return "".join(body)
