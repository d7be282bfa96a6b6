from typing import Any, NamedTuple

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import Steps, StepsOf, words_of
from attention_docs.render.figures import Html, Panel, bars, beside, cells, scales, svg
from attention_docs.render.figures.arrows import arrow
from attention_docs.render.figures.boxes import HEIGHT, box

# The growing cache, in pixels: the size of a feature and of a weight, and the room for the words at
# the left and above.
FEATURE_SIDE, WEIGHT_CELL = 15, (38, 22)
WORDS_WIDTH, WORDS_HEIGHT = 58, 58
# The kinds of heads, in pixels: the width of a head, and the room between two heads and between two
# boxes that are kept.
QUERY_HEADS = 4
HEAD_WIDTH, HEAD_GAP, KEPT_GAP = 30, 6, 4
LATENT_WIDTH, ROTARY_WIDTH = 46, 22
HEADS_WIDTH = QUERY_HEADS * (HEAD_WIDTH + HEAD_GAP) - HEAD_GAP + 2
# The upper sides of the queries, and of the keys that they read.
QUERY_Y = 1.5 * svg.LINE_HEIGHT
KEPT_Y = QUERY_Y + HEIGHT + 34


class CacheLayout(NamedTuple):
    """The places of the matrices of a step: a word is a column of the cache, otherwise a row."""

    key: cells.Grid
    value: cells.Grid
    weights: cells.Grid
    query: cells.Grid
    output: cells.Grid


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
    lengths = range(examples.load("kv_cache").PROMPT, len(steps["K"]) + 1)
    return svg.player([_cache_step(steps, length) for length in lengths], "A growing cache")


def _cache_step(steps: Steps, length: int) -> Panel:
    """Draw the step after which the cache has `length` words, in the same place and colours."""
    words, _ = words_of(steps["weights"])
    step = length - examples.load("kv_cache").PROMPT  # 0 is the prompt
    step_title = f"step {step}" if step else "the prompt"
    new_words = slice(length - 1 if step else 0, length)
    layout = _lay_out_cache(steps, new_words)
    multiplications = _multiplications(steps, step)
    bars_y = layout.weights.y + len(words) * WEIGHT_CELL[1] + svg.LINE_HEIGHT
    body = [
        *_cache_titles(layout),
        cells.draw_upward_labels(layout.value, words[:length]),
        cells.draw_row_labels(layout.weights._replace(x=WORDS_WIDTH), words[:length]),
        _future_cells(layout, len(words)),
        *_draw_weights(steps["weights"], layout.weights, new_words.start),
        *_draw_cached_matrices(steps, layout, new_words),
        svg.translated(0, bars_y, multiplications.body),
    ]
    cached_words = f"The cache has the keys and values of {', '.join(words[:length])}."
    return Panel(
        layout.output.right,
        bars_y + multiplications.height,
        "".join(body),
        f"{cached_words} {multiplications.description}",
        name=f"{step_title}: {' '.join(words[new_words])}",
    )


def _draw_cached_matrices(steps: Steps, layout: CacheLayout, new_words: slice) -> list[str]:
    """Draw the query and the output of the new words, and the cache, with the new words framed."""
    length = new_words.stop
    matrices = (
        (layout.query, "Q", "query", steps["Q"][new_words]),
        (layout.key, "K", "key", steps["K"][:length].T),
        (layout.value, "V", "value", steps["V"][:length].T),
        (layout.output, "output", "output", steps["output"][new_words]),
    )
    body = []
    for grid, step_name, role, matrix in matrices:
        scale = scales.scale_of("diverging", step_name, steps[step_name], role)
        body.append(cells.draw_cells(grid, matrix, scale, has_numbers=False))
    for grid, role in ((layout.key, "key"), (layout.value, "value")):
        body += [cells.draw_mark(grid, (None, column), role) for column in range(length)[new_words]]
    return body


def _lay_out_cache(steps: Steps, new_words: slice) -> CacheLayout:
    """Return the places of the matrices when the words up to `new_words.stop` are in the cache."""
    (words, d_k), d_v = steps["K"].shape, steps["V"].shape[1]
    cache_x = WORDS_WIDTH + d_k * FEATURE_SIDE + 10
    column = (WEIGHT_CELL[0], FEATURE_SIDE)
    row = (FEATURE_SIDE, WEIGHT_CELL[1])
    length, new_count = new_words.stop, new_words.stop - new_words.start
    value = cells.Grid(cache_x, WORDS_HEIGHT, column, d_v, length)
    key = cells.Grid(cache_x, value.bottom + 8, column, d_k, length)
    weights = cells.Grid(cache_x, key.bottom + 24, WEIGHT_CELL, length, length)
    new_y = weights.y + new_words.start * WEIGHT_CELL[1]
    output_x = cache_x + words * WEIGHT_CELL[0] + 10
    query = cells.Grid(WORDS_WIDTH, new_y, row, new_count, d_k)
    return CacheLayout(key, value, weights, query, query._replace(x=output_x, columns=d_v))


def _cache_titles(layout: CacheLayout) -> list[str]:
    """Write the names of the matrices, at the left of the cache and above the others."""
    left, top = layout.key.x - 6, layout.weights.y - 12
    return [
        svg.title(left, svg.LINE_HEIGHT / 2, "the cache", None, "end"),
        svg.title(left, layout.value.middle_y, "values", "value", "end"),
        svg.title(left, layout.key.middle_y, "keys", "key", "end"),
        svg.title(layout.query.middle_x, top, "query", "query"),
        svg.title(layout.weights.middle_x, top, "weights", "weights"),
        svg.title(layout.output.middle_x, top, "output", "output"),
    ]


def _future_cells(layout: CacheLayout, words: int) -> str:
    """Draw dashed boxes for the columns of the cache and the rows of weights of later words."""
    width, height = WEIGHT_CELL
    boxes = [
        (grid.x + word * width, grid.y, width, grid.height)
        for grid in (layout.value, layout.key)
        for word in range(grid.columns, words)
    ]
    boxes += [
        (layout.weights.x, layout.weights.y + word * height, (word + 1) * width, height)
        for word in range(layout.weights.rows, words)
    ]
    if not boxes:
        return ""
    stroke = {"stroke": "currentColor", "stroke_opacity": 0.3, "stroke_dasharray": "3 3"}
    path = "".join(f"M{x:g} {y:g}h{w:g}v{h:g}h{-w:g}z" for x, y, w, h in boxes)
    return svg.element("path", d=path, fill="none", **stroke)


def _draw_weights(weights: Array, grid: cells.Grid, first_new: int) -> list[str]:
    """Draw the rows of weights so far, those of earlier steps pale and without numbers."""
    scale = scales.scale_of("sequential", "weights", weights, "weights")
    rows = []
    for row in range(grid.rows):
        row_weights = weights[row : row + 1, : row + 1]
        row_grid = cells.Grid(grid.x, grid.box(row, 0)["y"], grid.cell, *row_weights.shape)
        is_new = row >= first_new
        drawing = cells.draw_cells(
            row_grid, row_weights, scale, has_numbers=is_new, is_short=is_new
        )
        rows.append(drawing if is_new else svg.element("g", drawing, opacity=0.5))
    return rows


def _multiplications(steps: Steps, step: int) -> Panel:
    """Draw the multiplications of a step, 0 for the prompt, without a cache and with it."""
    # Two panels, because their numbers come from two steps of the example.
    names = ("recomputed", "cached")
    without_cache, with_cache = (
        steps[name][step - 1 : step] if step else steps["prefill"] for name in names
    )
    options: dict[str, Any] = {
        "role": "input",
        "largest": float(steps["recomputed"].max()),
        "room_for": ["without a cache"],
    }
    upper = bars.bars_panel("multiplications", without_cache, ["without a cache"], **options)
    lower = bars.bars_panel(
        "multiplications", with_cache, ["with it"], has_heading=False, **options
    )
    return Panel(
        upper.width,
        upper.height + lower.height,
        upper.body + svg.translated(0, upper.height, lower.body),
        f"{upper.description} {lower.description}",
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


def _head_centre(head: float) -> float:
    """Return the x of the middle of a query head; 0.5 is half-way between the heads 0 and 1."""
    return 1 + HEAD_WIDTH / 2 + head * (HEAD_WIDTH + HEAD_GAP)


def _head_box(
    centre: float, y: float, text: str, role: str | None = None, *, dashed: bool = False
) -> str:
    """Draw the box of a query, a key or a value around an x; `y` is its upper side."""
    return box(centre - HEAD_WIDTH / 2, y, HEAD_WIDTH, text, role, dashed=dashed)


def _name_and_queries(name: str) -> list[str]:
    """Write the name of a kind of heads, and draw its query heads below the name."""
    centres = map(_head_centre, range(QUERY_HEADS))
    queries = [_head_box(x, QUERY_Y, f"Q{i}", "query") for i, x in enumerate(centres, 1)]
    return [svg.heading(HEADS_WIDTH / 2, name), *queries]


def _kept_heads(name: str, count: int) -> Panel:
    """Draw query heads in `count` groups, and below each group the key and value that it shares."""
    body = _name_and_queries(name)
    group_size = QUERY_HEADS // count
    value_y = KEPT_Y + HEIGHT + KEPT_GAP
    for first_head in range(0, QUERY_HEADS, group_size):
        group_centre = _head_centre(first_head + (group_size - 1) / 2)
        body.append(_head_box(group_centre, KEPT_Y, "K", "key"))
        body.append(_head_box(group_centre, value_y, "V", "value"))
        for head in range(first_head, first_head + group_size):
            body.append(_line_from_query(_head_centre(head), group_centre))
    description = (
        f"{QUERY_HEADS} query heads; kept are {count} heads of keys and values, "
        f"each for {group_size} of them."
    )
    return Panel(HEADS_WIDTH, value_y + HEIGHT, "".join(body), description, name=name)


def _kept_latent() -> Panel:
    """Draw query heads, dashed boxes for the keys and values of each, and the latent below them."""
    name = "MLA: one latent"
    body = _name_and_queries(name)
    for head in range(QUERY_HEADS):
        centre = _head_centre(head)
        body.append(_head_box(centre, KEPT_Y, "K V", dashed=True))
        body.append(_line_from_query(centre, centre))
    keys_bottom = KEPT_Y + HEIGHT
    latent_y = keys_bottom + 18
    latent_x = (HEADS_WIDTH - LATENT_WIDTH - KEPT_GAP - ROTARY_WIDTH) / 2
    latent_centre = latent_x + LATENT_WIDTH / 2
    rotary_x = latent_x + LATENT_WIDTH + KEPT_GAP
    body += [
        box(latent_x, latent_y, LATENT_WIDTH, "latent", "input"),
        box(rotary_x, latent_y, ROTARY_WIDTH, "R", "key"),
        arrow([(latent_centre, latent_y), (latent_centre, keys_bottom + 2)]),
    ]
    description = (
        "4 query heads, each with a key and a value of its own that are computed from one latent; "
        "kept are the latent and one rotary key."
    )
    return Panel(HEADS_WIDTH, latent_y + HEIGHT, "".join(body), description, name=name)


def _line_from_query(query_centre: float, key_centre: float) -> str:
    """Draw a line from the bottom of a query head to the top of the key that it reads."""
    ends = {"x1": query_centre, "y1": QUERY_Y + HEIGHT, "x2": key_centre, "y2": KEPT_Y}
    return svg.element(
        "line", **ends, stroke=svg.colour("query"), stroke_opacity=0.7, stroke_width=1.5
    )
