"""The figures of the chapters on the cache and on latent attention."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.bars import bars_panel
from attention_docs.publish.before.figures.drawings.boxes import HEIGHT, arrow, box
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import Html, Panel, beside, cells
from attention_docs.render.figures.scales import scale_of
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    colour,
    element,
    label,
    player,
    title,
    translated,
)
from attention_docs.render.numbers import number

PROMPT = 2
# The geometry of the cache, in pixels.
FEATURE_SIDE, WEIGHT_CELL = 15, (38, 22)
WORDS_WIDTH, WORDS_HEIGHT = 58, 58
QUERY_HEADS = 4
HEAD_WIDTH, HEAD_GAP = 30, 6


@site_figure
def cache_steps(steps_of: StepsOf) -> Html:
    r"""The cache, step by step. A new word, in a box, adds a key and a value, which are columns
    here, to those that are kept, and a row to the triangle of weights. Its query meets every key,
    and its weights blend all values into its output. Earlier rows, which are pale, are not computed
    again. A strong colour is a number far from zero, and olive ones are negative. The bars count
    the multiplications of a step: after the prompt they grow quickly without a cache, and hardly at
    all with it."""
    steps = steps_of("kv_cache")
    growth = {name: steps[name][-1] / steps[name][0] for name in ("recomputed", "cached")}
    claim(growth["recomputed"] > 1.9, "they grow quickly without a cache")
    claim(1 < growth["cached"] < 1.2, "hardly at all with it")
    lengths = range(PROMPT, len(steps["K"]) + 1)
    return player([_cache_of(steps, length) for length in lengths], "A growing cache")


def _cache_of(steps: Mapping[str, Array], length: int) -> Panel:
    """Draw the step after which the cache has the keys and values of `length` words.

    All steps have the same size and the same scales of colours, so that the triangle grows in
    place.
    """
    words, _ = examples.labels("kv_cache", "weights")
    first = length - 1 if length > PROMPT else 0  # the first of the new rows
    new = slice(first, length)
    (count, d_k), d_v = steps["K"].shape, steps["V"].shape[1]
    width, height = WEIGHT_CELL
    left = WORDS_WIDTH + d_k * FEATURE_SIDE + 10
    value = cells.Grid(left, WORDS_HEIGHT, (width, FEATURE_SIDE), d_v, length)
    key = cells.Grid(left, value.bottom + 8, (width, FEATURE_SIDE), d_k, length)
    triangle = cells.Grid(left, key.bottom + 24, WEIGHT_CELL, length, length)
    new_y = triangle.y + first * height
    query = cells.Grid(WORDS_WIDTH, new_y, (FEATURE_SIDE, height), length - first, d_k)
    output = cells.Grid(left + count * width + 10, new_y, query.cell, query.rows, d_v)
    drawings = (
        (query, steps["Q"][new], "Q", "query"),
        (key, steps["K"][:length].T, "K", "key"),
        (value, steps["V"][:length].T, "V", "value"),
        (output, steps["output"][new], "output", "output"),
    )
    names_y = triangle.y - 12
    body = [
        title(left - 6, LINE_HEIGHT / 2, "the cache", None, "end"),
        title(left - 6, value.row_middle((d_v - 1) / 2), "values", "value", "end"),
        title(left - 6, key.row_middle((d_k - 1) / 2), "keys", "key", "end"),
        title(query.middle_x, names_y, "query", "query"),
        title(triangle.middle_x, names_y, "weights", "weights"),
        title(output.middle_x, names_y, "output", "output"),
        cells.draw_upward_labels(value, words[:length]),
        cells.draw_row_labels(triangle._replace(x=WORDS_WIDTH), words[:length]),
        _to_come((value, key), triangle, count),
        *_triangle(steps["weights"], triangle, first),
    ]
    for grid, matrix, step, role in drawings:
        scale = scale_of("diverging", role, steps[step], role)
        body.append(cells.draw_cells(grid, matrix, scale, None, False))
    for grid, role in ((key, "key"), (value, "value")):
        body += [cells.draw_mark(grid, (None, column), role) for column in range(first, length)]
    bottom = triangle.y + count * height + LINE_HEIGHT
    work = _multiplications(steps, length - PROMPT)
    body.append(translated(0, bottom, work.body))
    name = " ".join(words[new])
    name = f"step {length - PROMPT}: {name}" if length > PROMPT else f"the prompt: {name}"
    description = f"The cache has the keys and values of {', '.join(words[:length])}."
    return Panel(
        output.right,
        bottom + work.height,
        "".join(body),
        f"{description} {work.description}",
        name=name,
    )


def _to_come(cache: Sequence[cells.Grid], triangle: cells.Grid, count: int) -> str:
    """Draw dashed boxes where the cache gets its later columns, and the triangle its later rows."""
    width, height = triangle.cell
    boxes = [
        (grid.x + column * width, grid.y, width, grid.height)
        for grid in cache
        for column in range(triangle.rows, count)
    ]
    boxes += [
        (triangle.x, triangle.y + row * height, (row + 1) * width, height)
        for row in range(triangle.rows, count)
    ]
    if not boxes:
        return ""
    stroke = {"stroke": "currentColor", "stroke_opacity": 0.3, "stroke_dasharray": "3 3"}
    path = "".join(f"M{x:g} {y:g}h{w:g}v{h:g}h{-w:g}z" for x, y, w, h in boxes)
    return element("path", d=path, fill="none", **stroke)


def _triangle(weights: Array, grid: cells.Grid, first: int) -> list[str]:
    """Draw the weights that have been computed so far, each row with a cell for each key there was.

    The weights of earlier steps are pale and without numbers.
    """
    scale = scale_of("sequential", "weights", weights, "weights")
    body = []
    for row in range(grid.rows):
        keys = weights[row : row + 1, : row + 1]
        row_grid = cells.Grid(grid.x, grid.box(row, 0)["y"], grid.cell, *keys.shape)
        is_new = row >= first
        drawing = cells.draw_cells(row_grid, keys, scale, None, is_new, is_short=is_new)
        body.append(drawing if is_new else element("g", drawing, opacity=0.5))
    return body


def _multiplications(steps: Mapping[str, Array], step: int) -> Panel:
    """Draw what the prompt (0) or a step of the example takes without a cache and with it."""
    largest = float(steps["recomputed"].max())
    rows = {"without a cache": "recomputed", "with it": "cached"}
    panels = [
        bars_panel(
            "multiplications",
            steps[key][step - 1 : step] if step else steps["prefill"],
            [name],
            "input",
            largest=largest,
            room_for=list(rows),
            has_heading=name == "without a cache",
        )
        for name, key in rows.items()
    ]
    first, second = panels
    return Panel(
        first.width,
        first.height + second.height,
        first.body + translated(0, first.height, second.body),
        f"{first.description} {second.description}",
    )


@site_figure
def cache_kinds(steps_of: StepsOf) -> Html:
    r"""What is kept for one token, below, when four query heads ask, above. With heads of their own
    they need four keys and four values. Groups share two of each, or all share one. Latent
    attention keeps the latent, from which each head can have a key and a value of its own, and a
    rotary key R for the position."""
    kinds = (("MHA: 4 of each", 4), ("GQA: 2 of each", 2), ("MQA: 1 of each", 1))
    claim(steps_of("grouped_queries")["Q"].shape[0] == QUERY_HEADS, "four query heads")
    panels = [_kept_heads(name, count) for name, count in kinds]
    return beside([*panels, _kept_latent()], "What four kinds of heads keep")


def _query_x(head: int) -> float:
    return head * (HEAD_WIDTH + HEAD_GAP) + 1


QUERY_Y, KEPT_Y = 1.5 * LINE_HEIGHT, 1.5 * LINE_HEIGHT + HEIGHT + 34
PANEL_WIDTH = _query_x(QUERY_HEADS) - HEAD_GAP + 1


def _queries() -> str:
    return "".join(
        box(_query_x(head), QUERY_Y, HEAD_WIDTH, f"Q{head + 1}", "query")
        for head in range(QUERY_HEADS)
    )


def _kept_heads(name: str, count: int) -> Panel:
    """Draw queries over the keys and values that they share."""
    body = [label(PANEL_WIDTH / 2, LINE_HEIGHT / 2, name, font_weight="bold"), _queries()]
    group_size = QUERY_HEADS // count
    for group in range(count):
        middle = (
            _query_x(group * group_size) + _query_x((group + 1) * group_size - 1) + HEAD_WIDTH
        ) / 2
        x = middle - HEAD_WIDTH / 2
        body += [
            box(x, KEPT_Y, HEAD_WIDTH, "K", "key"),
            box(x, KEPT_Y + HEIGHT + 4, HEAD_WIDTH, "V", "value"),
        ]
        for head in range(group * group_size, (group + 1) * group_size):
            body.append(_link(_query_x(head) + HEAD_WIDTH / 2, middle))
    description = (
        f"{QUERY_HEADS} query heads; kept are {count} heads of keys and values, "
        f"each for {group_size} of them."
    )
    return Panel(PANEL_WIDTH, KEPT_Y + 2 * HEIGHT + 4, "".join(body), description, name=name)


def _kept_latent() -> Panel:
    """Draw queries over keys and values that are made from one latent."""
    name = "MLA: one latent"
    body = [label(PANEL_WIDTH / 2, LINE_HEIGHT / 2, name, font_weight="bold"), _queries()]
    middle, y = PANEL_WIDTH / 2, KEPT_Y + HEIGHT + 4
    for head in range(QUERY_HEADS):
        x = _query_x(head)
        body += [
            box(x, KEPT_Y, HEAD_WIDTH, "K V", dashed=True),
            _link(x + HEAD_WIDTH / 2, x + HEAD_WIDTH / 2),
        ]
    body += [
        box(middle - 36, y + 14, 46, "latent", "input"),
        box(middle + 14, y + 14, 22, "R", "key"),
        arrow([(middle - 13, y + 14), (middle - 13, y - 2)]),
    ]
    description = (
        "4 query heads, each with a key and a value of its own that are computed from one latent; "
        "kept are the latent and one rotary key."
    )
    return Panel(PANEL_WIDTH, y + 14 + HEIGHT, "".join(body), description, name=name)


def _link(start: float, end: float) -> str:
    """Draw a line from a query head down to what it reads."""
    ends = {"x1": start, "y1": QUERY_Y + HEIGHT, "x2": end, "y2": KEPT_Y}
    return element("line", **ends, stroke=colour("query"), stroke_opacity=0.7, stroke_width=1.5)


@site_figure
def absorption(steps_of: StepsOf) -> Html:
    r"""The scores of a query with five tokens are a product of three matrices: the query, the
    transpose of $W_{UK}$, and the latents, one in each column. A bracket around the last two
    computes a key for each token. A bracket around the first two changes the query once, and the
    same scores take fewer multiplications. The output is such a product, too, of the weights, the
    latents and $W_{UV}$. A strong colour is a number far from zero, and olive ones are negative."""
    steps = steps_of("latent_attention")
    query, latents, weights = steps["query"], steps["latents"], steps["weights"]
    up_k, up_v = steps["W_up_K"], steps["W_up_V"]
    scores, output = steps["content_scores"], steps["output"]
    absorbed_query, blended = steps["query_absorbed"], steps["blended_latents"]
    claim(np.allclose(absorbed_query @ latents.T, scores), "the same scores")
    claim(np.allclose(blended @ up_v, output), "The output is such a product, too")
    of_scores = [
        Factor("query", query.shape, "query"),
        Factor("W_UK ᵀ", up_k.T.shape),
        Factor("latents", latents.T.shape, "input"),
    ]
    of_output = [
        Factor("weights", weights.shape, "weights"),
        Factor("latents", latents.shape, "input"),
        Factor("W_UV", up_v.shape),
    ]
    key_by_key, absorbed = _multiplications_of(of_scores, 1), _multiplications_of(of_scores, 0)
    claim(absorbed < key_by_key, "fewer multiplications")
    _, words = examples.labels("latent_attention", "content_scores")
    keys = Factor("keys", steps["keys"].T.shape, "key")
    values = Factor("values", steps["values"].shape, "value")
    changed_query = Factor("changed query", absorbed_query.shape, "query", absorbed_query)
    blend = Factor("blended latents", blended.shape, "input", blended)
    states = [
        _bracketed("scores, key by key", of_scores, 1, keys, scores, words),
        _bracketed("scores, absorbed", of_scores, 0, changed_query, scores, words),
        _bracketed("output, value by value", of_output, 1, values, output),
        _bracketed("output, absorbed", of_output, 0, blend, output),
    ]
    return player(states, "One product, two brackets")


class Factor(NamedTuple):
    """A matrix of a product, without colours if it is given without its numbers."""

    name: str
    shape: tuple[int, ...]
    role: str | None = None
    numbers: Array | None = None

    def grid(self, x: float, y: float) -> cells.Grid:
        return cells.Grid(x, y, (UNIT, UNIT), *self.shape)

    def draw(self, grid: cells.Grid) -> str:
        if self.numbers is None:
            return _blank(grid, self.role)
        scale = scale_of("diverging", self.name, self.numbers, self.role)
        return cells.draw_cells(grid, self.numbers, scale, None, False)


UNIT, NUMBER_CELL, FACTOR_GAP = 14, (52, 24), 30
# The height of the tallest matrix, so that what is below stays in place.
TALLEST = 6 * UNIT


def _multiplications_of(factors: Sequence[Factor], first: int) -> int:
    """Count the multiplications of three factors; the bracket starts at the first or second."""
    (m, k), (_, n), (_, p) = (factor.shape for factor in factors)
    return k * n * p + m * k * p if first else m * k * n + m * n * p


def _bracketed(
    name: str,
    factors: Sequence[Factor],
    first: int,
    product: Factor,
    result: Array,
    columns: Sequence[str] = (),
) -> Panel:
    """Draw three factors, two in a bracket; below, the product of these two; last, the result.

    Args:
        name: the name of the state, which begins with the name of the result.
        factors: the three factors.
        first: which of them the bracket starts at, 0 or 1.
        product: the product in the bracket, whose role colours the bracket.
        result: (1, n) the product of all three.
        columns: the names of its columns.
    """
    enclosed, outer = factors[first : first + 2], 2 - 2 * first
    top = 1.8 * LINE_HEIGHT
    middle = top + TALLEST + 2.5 * LINE_HEIGHT
    factors_width = UNIT * sum(factor.shape[1] for factor in factors) + 2 * FACTOR_GAP
    total = max(factors_width + 28, NUMBER_CELL[0] * result.shape[1] + 4)
    x, grids = (total - factors_width) / 2, []
    for factor in factors:
        grids.append(factor.grid(x, top))
        x += grids[-1].width + FACTOR_GAP
    start, end = grids[first : first + 2]
    width = end.right - start.x
    bracket = element(
        "rect",
        x=start.x - 8,
        y=top - 8,
        width=width + 16,
        height=TALLEST + 16,
        rx=8,
        fill="none",
        stroke=colour(product.role),
        stroke_width=2,
    )
    inner = product.grid(start.x, middle)
    body = [bracket]
    for factor, grid in (
        *zip(factors, grids, strict=True),
        (product, inner._replace(x=start.x + (width - inner.width) / 2)),
        (factors[outer], grids[outer]._replace(y=middle)),
    ):
        body.append(factor.draw(grid))
        body.append(title(grid.middle_x, grid.y - 1.2 * LINE_HEIGHT, factor.name, factor.role))
    result_name = name.partition(",")[0]
    answer = cells.Grid(0, middle + TALLEST + 2 * LINE_HEIGHT, NUMBER_CELL, *result.shape)
    answer = answer._replace(x=(total - answer.width) / 2)
    work = f"{number(_multiplications_of(factors, first))} multiplications"
    bottom = answer.bottom + LINE_HEIGHT
    body += [
        title(total / 2, answer.y - LINE_HEIGHT / 2 - 2, result_name, result_name),
        _named_cells(answer, result_name, result, result_name, columns),
        label(total / 2, bottom + LINE_HEIGHT, work),
    ]
    written = [
        f"{factor.name} ({factor.shape[0]} by {factor.shape[1]})" for factor in (*factors, product)
    ]
    description = (
        f"{' times '.join(written[:3])}. The bracket is around {enclosed[0].name} and "
        f"{enclosed[1].name}, which gives {written[3]}: {work}."
    )
    if product.numbers is not None:
        description += f" {cells.describe(product.name, product.numbers)}"
    return Panel(total, bottom + 2 * LINE_HEIGHT, "".join(body), description, name=name)


def _named_cells(
    grid: cells.Grid, name: str, row: Array, role: str | None, columns: Sequence[str]
) -> str:
    """Draw a matrix of one row, and below it the names of its columns, if they have any."""
    scale = scale_of("diverging", name, row, role)
    below = grid.bottom + LINE_HEIGHT / 2 + 2
    names = (label(grid.column_middle(j), below, column) for j, column in enumerate(columns))
    return cells.draw_cells(grid, row, scale, None, True) + "".join(names)


def _blank(grid: cells.Grid, role: str | None) -> str:
    """Draw the lines of a matrix whose numbers do not matter."""
    right, bottom = grid.right, grid.bottom
    columns = "".join(
        f"M{grid.x + i * UNIT:g} {grid.y:g}V{bottom:g}" for i in range(grid.columns + 1)
    )
    rows = "".join(f"M{grid.x:g} {grid.y + i * UNIT:g}H{right:g}" for i in range(grid.rows + 1))
    opacity = 0.8 if role else 0.4
    return element(
        "path", d=columns + rows, fill="none", stroke=colour(role), stroke_opacity=opacity
    )
