from collections.abc import Mapping, Sequence
from typing import Any

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import Steps, StepsOf, words_of
from attention_docs.render.figures import Html, Panel, bars, beside, cells, scales, svg
from attention_docs.render.figures.arrows import arrow, line
from attention_docs.render.figures.boxes import HEIGHT, box
from attention_docs.render.numbers import short_numbers

# The growing cache, in pixels: the size of a feature and of a weight, and the room for the words at
# the left and above.
FEATURE_SIDE, WEIGHT_CELL = 15, (38, 22)
WORDS_WIDTH, WORDS_HEIGHT = 58, 58
# The steps that are drawn with the features of words, by their roles.
STEPS_OF_ROLES = {"query": "Q", "key": "K", "value": "V", "output": "output"}
# The kinds of heads, in pixels: the width of a head, and the room between two heads and between two
# boxes that are kept.
QUERY_HEADS = 4
HEAD_WIDTH, HEAD_GAP, KEPT_GAP = 30, 6, 4
LATENT_WIDTH, ROTARY_WIDTH = 46, 22
HEADS_WIDTH = QUERY_HEADS * (HEAD_WIDTH + HEAD_GAP) - HEAD_GAP + 2
# The upper sides of the queries, and of the keys that they read.
QUERY_Y = 1.5 * svg.LINE_HEIGHT
KEPT_Y = QUERY_Y + HEIGHT + 34


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
    count = len(steps["recomputed"])
    return svg.player([_cache_step(steps, step) for step in range(count + 1)], "A growing cache")


def _cache_step(steps: Steps, step: int) -> Panel:
    """Draw a step, 0 for the prompt, in the same place and colours as the others."""
    words, _ = words_of(steps["weights"])
    length = examples.load("kv_cache").PROMPT + step  # of the cache after the step
    new_words = slice(length - 1 if step else 0, length)
    grids = _lay_out_cache(steps, new_words)
    multiplications = _multiplications(steps, step)
    bars_y = grids["weights"].y + len(words) * WEIGHT_CELL[1] + svg.LINE_HEIGHT
    left, top = grids["key"].x - 6, grids["weights"].y - 12  # of titles
    body = [
        svg.title(left, svg.LINE_HEIGHT / 2, "the cache", None, "end"),
        svg.title(left, grids["value"].middle_y, "values", "value", "end"),
        svg.title(left, grids["key"].middle_y, "keys", "key", "end"),
        *(svg.title(grids[x].middle_x, top, x, x) for x in ("query", "weights", "output")),
        cells.draw_upward_labels(grids["value"], words[:length]),
        cells.draw_row_labels(grids["weights"]._replace(x=WORDS_WIDTH), words[:length]),
        _future_cells(grids, len(words)),
        *_draw_weights(steps["weights"], grids["weights"], new_words.start),
    ]
    cached = steps["K"][:length].T, steps["V"][:length].T
    matrices = (steps["Q"][new_words], *cached, steps["output"][new_words])
    for matrix, name, role in zip(matrices, STEPS_OF_ROLES.values(), STEPS_OF_ROLES, strict=True):
        scale = scales.scale_of("diverging", name, steps[name], role)
        body.append(cells.draw_cells(grids[role], matrix, scale, has_numbers=False))
    for role in ("key", "value"):
        columns = range(length)[new_words]
        body += [cells.draw_mark(grids[role], (None, column), role) for column in columns]
    body.append(svg.translated(0, bars_y, multiplications.body))
    cached_words = f"The cache has the keys and values of {', '.join(words[:length])}."
    return Panel(
        grids["output"].right,
        bars_y + multiplications.height,
        "".join(body),
        f"{cached_words} {multiplications.description}",
        name=f"{f'step {step}' if step else 'the prompt'}: {' '.join(words[new_words])}",
    )


def _lay_out_cache(steps: Steps, new_words: slice) -> dict[str, cells.Grid]:
    """Return the places of the matrices by their roles, when some words are new in the cache.

    A word is a column of the keys and the values, and a row of the other matrices.
    """
    (words, d_k), d_v = steps["K"].shape, steps["V"].shape[1]
    cache_x = WORDS_WIDTH + d_k * FEATURE_SIDE + 10
    column = (WEIGHT_CELL[0], FEATURE_SIDE)
    row = (FEATURE_SIDE, WEIGHT_CELL[1])
    length, new_count = new_words.stop, new_words.stop - new_words.start
    value = cells.Grid(cache_x, WORDS_HEIGHT, column, d_v, length)
    key = cells.Grid(cache_x, value.bottom + 8, column, d_k, length)
    weights = cells.Grid(cache_x, key.bottom + 24, WEIGHT_CELL, length, length)
    new_y = weights.y + new_words.start * WEIGHT_CELL[1]
    query = cells.Grid(WORDS_WIDTH, new_y, row, new_count, d_k)
    output = query._replace(x=cache_x + words * WEIGHT_CELL[0] + 10, columns=d_v)
    return {"key": key, "value": value, "weights": weights, "query": query, "output": output}


def _future_cells(grids: Mapping[str, cells.Grid], words: int) -> str:
    """Draw dashed boxes for the columns of the cache and the rows of weights of later words."""
    width, height = WEIGHT_CELL
    path = ""
    for grid in (grids["value"], grids["key"]):
        for word in range(grid.columns, words):
            x = grid.x + word * width
            path += f"M{x:g} {grid.y:g}h{width:g}v{grid.height:g}h{-width:g}z"
    weights = grids["weights"]
    for word in range(weights.rows, words):
        y, row_width = weights.y + word * height, (word + 1) * width
        path += f"M{weights.x:g} {y:g}h{row_width:g}v{height:g}h{-row_width:g}z"
    if not path:
        return ""
    stroke = {"stroke": "currentColor", "stroke_opacity": 0.3, "stroke_dasharray": "3 3"}
    return svg.element("path", d=path, fill="none", **stroke)


def _draw_weights(weights: Array, grid: cells.Grid, first_new: int) -> list[str]:
    """Draw the rows of weights so far, those of earlier steps pale and without numbers."""
    scale = scales.scale_of("sequential", "weights", weights, "weights")
    rows = []
    for row in range(grid.rows):
        row_weights = weights[row : row + 1, : row + 1]
        row_grid = cells.Grid(grid.x, grid.box(row, 0)["y"], grid.cell, *row_weights.shape)
        is_new = row >= first_new
        with short_numbers(is_new):
            drawing = cells.draw_cells(row_grid, row_weights, scale, has_numbers=is_new)
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


def _head_box(centre: float, y: float, text: str, role: str | None = None) -> str:
    """Draw the box of a query, a key or a value around an x; `y` is its upper side."""
    return box(centre - HEAD_WIDTH / 2, y, HEAD_WIDTH, text, role, dashed=role is None)


def _query_heads(name: str, key_centres: Sequence[float]) -> list[str]:
    """Draw the query heads of a kind of heads, with lines to the keys that they read."""
    body = [svg.heading(HEADS_WIDTH / 2, name)]
    for head, key_centre in enumerate(key_centres):
        centre = _head_centre(head)
        ends = (centre, QUERY_Y + HEIGHT), (key_centre, KEPT_Y)
        body += [
            _head_box(centre, QUERY_Y, f"Q{head + 1}", "query"),
            line(*ends, "query", stroke_opacity=0.7, stroke_width=1.5),
        ]
    return body


def _kept_heads(name: str, count: int) -> Panel:
    """Draw query heads in `count` groups, and below each group the key and value that it shares."""
    size = QUERY_HEADS // count
    centres = [_head_centre(first + (size - 1) / 2) for first in range(0, QUERY_HEADS, size)]
    body = _query_heads(name, [centre for centre in centres for _ in range(size)])
    value_y = KEPT_Y + HEIGHT + KEPT_GAP
    for centre in centres:
        body += [_head_box(centre, KEPT_Y, "K", "key"), _head_box(centre, value_y, "V", "value")]
    description = (
        f"{QUERY_HEADS} query heads; kept are {count} heads of keys and values, "
        f"each for {size} of them."
    )
    return Panel(HEADS_WIDTH, value_y + HEIGHT, "".join(body), description, name=name)


def _kept_latent() -> Panel:
    """Draw query heads, dashed boxes for the keys and values of each, and the latent below them."""
    name = "MLA: one latent"
    centres = [_head_centre(head) for head in range(QUERY_HEADS)]
    keys_bottom = KEPT_Y + HEIGHT
    latent_y = keys_bottom + 18
    latent_x = (HEADS_WIDTH - LATENT_WIDTH - KEPT_GAP - ROTARY_WIDTH) / 2
    latent_centre = latent_x + LATENT_WIDTH / 2
    body = [
        *_query_heads(name, centres),
        *(_head_box(centre, KEPT_Y, "K V") for centre in centres),
        box(latent_x, latent_y, LATENT_WIDTH, "latent", "input"),
        box(latent_x + LATENT_WIDTH + KEPT_GAP, latent_y, ROTARY_WIDTH, "R", "key"),
        arrow([(latent_centre, latent_y), (latent_centre, keys_bottom + 2)]),
    ]
    description = (
        "4 query heads, each with a key and a value of its own that are computed from one latent; "
        "kept are the latent and one rotary key."
    )
    return Panel(HEADS_WIDTH, latent_y + HEIGHT, "".join(body), description, name=name)
