"""The panel beside a page of the course: the sentence on its way from words to the next word.

Each stage is a drawing of its own. A page enlarges the stage that it is about; the style sheet puts
the panel beside the text, or at the bottom of a phone, with the enlarged stage and the next word.
A switch, which needs no script, shows the same stages of the learned model instead.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.registry import StepsOf
from attention_docs.render.figures import Panel, cells, figure
from attention_docs.render.figures.scales import scale_of
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    colour,
    element,
    escape_text,
    label,
    title,
)
from attention_docs.render.numbers import number
from attention_docs.render.references import step_name

NAME = "The sentence, step by step"
HTML = """\
<aside class="panel" aria-label="{name}"><details open><summary>{name}</summary>
<div class="switch" role="radiogroup" aria-label="The matrices are">{switch}</div>
<div class="stages by-hand">{by_hand}</div>
<div class="stages learned"><p>{note}</p>{learned}</div></details></aside>"""
CHOICE = '<label><input type="radio" name="matrices" value="{value}"{checked}>{text}</label>'
CHOICES = {"by-hand": "set by hand", "learned": "learned"}
# What is alike, which the build checks, and what is not.
SAME = "As by hand, <em>they</em> looks mostly at the first noun."
NOTE = (
    f"{SAME} But head 2 does it, features have numbers instead of names, and every page shows "
    "the whole model."
)
STAGE_HTML = '<div class="{classes}">{operation}<div class="figure-box">{svg}</div></div>'
# The word whose row is marked, and that the next word follows.
THEY = 4
# The width of the words at the rows, and of the name above them.
LEFT = 66
SMALL_HEIGHT, LARGE_HEIGHT, BAR_HEIGHT = 13, 22, 18
# The words of the course are narrow, so a column is narrower than `text_width` assumes.
COLUMN_CHARACTER = 6.6
BAR_WIDTH, BAR_OPACITY = 116, 0.35


class Part(NamedTuple):
    """A matrix of a stage.

    Attributes:
        name: its name and symbol, like `query Q`.
        role: the role whose colour the name has.
        step: the step that it shows, like `course_mask.weights`.
        columns: the number of columns to show, if not all.
    """

    name: str
    role: str
    step: str
    columns: int | None = None


class Stage(NamedTuple):
    """A step on the way.

    Attributes:
        key: the name by which a page says that it is enlarged.
        operation: what leads to it, as HTML.
        parts: its matrices, side by side.
    """

    key: str
    operation: str
    parts: tuple[Part, ...]


class Way(NamedTuple):
    """What the panel of a page shows.

    Attributes:
        enlarged: the key of the stage that the page is about; `next` for the next word.
        stages: all stages but the last.
        next_word: the step of the probabilities of the next word, and the row, if it has several.
    """

    enlarged: str
    stages: tuple[Stage, ...]
    next_word: tuple[str, int | None]


SOFTMAX, AVERAGE = "softmax of each row", "average of the values, with these weights"
COMPARED, SCALED = "each query with each key", "each query with each key, divided by √3"
BLOCK = "sum with the words, norm, feed-forward network, norm"
PROJECTED = "times <i>W</i><sub>Q</sub> and times <i>W</i><sub>K</sub>"


def way(
    enlarged: str,
    words: Part,
    projections: tuple[str, str],
    scores: tuple[str, str],
    weights: str,
    output: Part,
    next_word: tuple[str, int | None],
    block: Part | None = None,
) -> Way:
    """Return the stages of a page; `projections` are the steps of Q and K."""
    queries, keys = projections
    operation, compared = scores
    return Way(
        enlarged,
        (
            Stage("words", "", (words,)),
            Stage(
                "projections",
                PROJECTED,
                (Part("query Q", "query", queries), Part("key K", "key", keys)),
            ),
            Stage("scores", operation, (Part("scores S", "scores", compared),)),
            Stage("weights", SOFTMAX, (Part("weights A", "weights", weights),)),
            Stage("output", AVERAGE, (output,)),
            *([Stage("block", BLOCK, (block,))] if block else []),
        ),
        next_word,
    )


def without_places(example: str) -> Part:
    return Part("words X", "input", f"{example}.X", 5)


def queries_and_keys(example: str) -> tuple[str, str]:
    return f"{example}.Q", f"{example}.K"


PLACED = Part("words X", "input", "course_model.placed")
MASKED = f"{SCALED}, later words crossed out"


def output_of(step: str) -> Part:
    return Part("output O", "output", step)


WAYS = {
    "projections": way(
        "weights",
        without_places("course_projections"),
        queries_and_keys("course_projections"),
        (COMPARED, "course_projections.scores"),
        "course_projections.weights",
        output_of("course_projections.output"),
        ("course_model.next_words", 0),
    ),
    "formula": way(
        "weights",
        without_places("course_formula"),
        queries_and_keys("course_formula"),
        (SCALED, "course_formula.scaled"),
        "course_formula.weights",
        output_of("course_formula.output"),
        ("course_model.next_words", 1),
    ),
    "scale": way(
        "scores",
        without_places("course_formula"),
        queries_and_keys("course_formula"),
        (SCALED, "course_formula.scaled"),
        "course_formula.weights",
        output_of("course_formula.output"),
        ("course_model.next_words", 1),
    ),
    "order": way(
        "weights",
        PLACED,
        queries_and_keys("course_model"),
        (SCALED, "course_model.scaled"),
        "course_order.weights_placed",
        output_of("course_order.output_placed"),
        ("course_model.next_words", 2),
    ),
    "mask": way(
        "weights",
        PLACED,
        queries_and_keys("course_model"),
        (MASKED, "course_mask.masked"),
        "course_mask.weights",
        output_of("course_mask.output"),
        ("course_model.next_words", 3),
    ),
    "heads": way(
        "weights",
        PLACED,
        queries_and_keys("course_model"),
        (MASKED, "course_mask.masked"),
        "course_heads.weights_1",
        output_of("course_heads.head_1"),
        ("course_model.next_words", 3),
    ),
    "block": way(
        "block",
        PLACED,
        queries_and_keys("course_model"),
        (MASKED, "course_mask.masked"),
        "course_model.weights",
        output_of("course_model.output"),
        ("course_next_token.probabilities", THEY),
        Part("block B", "output", "course_block.output", 5),
    ),
    "learned": way(
        "weights",
        PLACED,
        queries_and_keys("course_model"),
        (MASKED, "course_mask.masked"),
        "course_model.weights",
        output_of("course_model.output"),
        ("course_next_token.probabilities", THEY),
    ),
    "next_token": way(
        "next",
        PLACED,
        queries_and_keys("course_model"),
        (MASKED, "course_mask.masked"),
        "course_model.weights",
        output_of("course_model.output"),
        ("course_next_token.probabilities", THEY),
    ),
}


def learned_way(by_hand: Way) -> Way:
    """Return the same stages of the learned model, which is the same on every page."""
    has_block = any(stage.key == "block" for stage in by_hand.stages)
    return way(
        by_hand.enlarged,
        Part("words X", "input", "course_learned.placed"),
        ("course_learned.Q_2", "course_learned.K_2"),
        (MASKED, "course_learned.masked_2"),
        "course_learned.weights_2",
        output_of("course_learned.output_2"),
        ("course_learned.reasons", None),
        Part("block B", "output", "course_learned.block", 5) if has_block else None,
    )


def panel(name: str, steps_of: StepsOf, defer: Callable[[str], str]) -> str:
    """Return the panel of a page, for its Markdown.

    Args:
        name: the name of the panel, one of `WAYS`.
        steps_of: returns the steps of an example by its name.
        defer: stores HTML and returns a placeholder for it.

    Raises:
        LookupError: if there is no panel of that name; the message lists all names.
    """
    if name not in WAYS:
        raise LookupError(f"panel {name!r} is unknown; known are {', '.join(WAYS)}")
    by_hand, learned = WAYS[name], learned_way(WAYS[name])
    claim(step_of("course_learned.weights_2", steps_of)[THEY, 0] > 0.5, SAME)
    html = HTML.format(
        name=NAME,
        switch=switch("learned" if name == "learned" else "by-hand"),
        by_hand="".join(stages_of(by_hand, steps_of)),
        note=NOTE,
        learned="".join(stages_of(learned, steps_of)),
    )
    return defer(html)


def switch(chosen: str) -> str:
    """Return the choice between the matrices set by hand and the learned ones."""
    return "".join(
        CHOICE.format(value=value, text=text, checked=" checked" if value == chosen else "")
        for value, text in CHOICES.items()
    )


def stages_of(page: Way, steps_of: StepsOf) -> list[str]:
    """Return the HTML of each stage."""
    drawings = []
    for stage in page.stages:
        is_enlarged = stage.key == page.enlarged
        drawing = matrices(stage.parts, steps_of, is_enlarged)
        drawings.append(stage_html(stage.operation, drawing, "main" if is_enlarged else ""))
    is_enlarged = page.enlarged == "next"
    bars = next_words(*page.next_word, steps_of, 1 if is_enlarged else 3)
    operation = "the rest of the model, as on page nine"
    drawings.append(stage_html(operation, bars, "next main" if is_enlarged else "next"))
    return drawings


def stage_html(operation: str, drawing: Panel, kind: str) -> str:
    classes = f"stage {kind}".strip()
    text = f"<p>↓ {operation}</p>" if operation else ""
    svg = figure(drawing, drawing.name, "step")
    return STAGE_HTML.format(classes=classes, operation=text, svg=svg)


def matrices(parts: Sequence[Part], steps_of: StepsOf, is_enlarged: bool) -> Panel:
    """Draw matrices side by side, with words at their rows and columns and one row marked."""
    x, body, descriptions = 0.0, [], []
    for part in parts:
        rows, columns = labels(part)
        values = step_of(part.step, steps_of)[:, : len(columns)]
        kind = "sequential" if part.role == "weights" else "diverging"
        scale = scale_of(kind, part.name, values, part.role)
        width = 1.0 + max(SMALL_HEIGHT, *(COLUMN_CHARACTER * len(text) for text in columns))
        if is_enlarged:
            width = max(width, cells.width_for_numbers(values))
        x += LEFT
        height = LARGE_HEIGHT if is_enlarged else SMALL_HEIGHT
        grid = cells.Grid(x, LINE_HEIGHT, (width, height), *values.shape)
        names = cells.draw_row_labels(grid, rows) + cells.draw_column_labels(grid, columns)
        body += [
            title(x - 6, LINE_HEIGHT / 2, part.name, part.role, "end"),
            names,
            cells.draw_cells(grid, values, scale, None, is_enlarged),
            cells.draw_mark(grid, (THEY, None), part.role),
        ]
        descriptions.append(describe(part, values, rows, columns))
        x = grid.x + grid.width + 4
    name = " and ".join(part.name for part in parts)
    return Panel(
        grid.x + grid.width, grid.y + grid.height, "".join(body), " ".join(descriptions), name=name
    )


def step_of(reference: str, steps_of: StepsOf) -> np.ndarray:
    example, _, step = reference.partition(".")
    return np.asanyarray(steps_of(example)[step])


def labels(part: Part) -> tuple[Sequence[str], Sequence[str]]:
    """Return the words at the rows and at the columns of a matrix that are shown."""
    rows, columns = examples.labels(*part.step.split("."))
    return rows, columns[: part.columns]


def describe(part: Part, values: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> str:
    in_words = (
        f"{name} {', '.join(map(cells.number_in_words, row))}"
        for name, row in zip(rows, values, strict=True)
    )
    return f"{part.name}, by {', '.join(columns)}: {'; '.join(in_words)}."


def next_words(reference: str, row: int | None, steps_of: StepsOf, columns: int) -> Panel:
    """Draw the probability of each word as a bar behind the word and the number."""
    step = step_of(reference, steps_of)
    probabilities = step if row is None else step[row]
    words = examples.labels(*reference.split("."))[-1]
    width = BAR_WIDTH * 3 // columns
    top, gap = LINE_HEIGHT + 2, 6
    bars, names = [], []
    for i, (word, value) in enumerate(zip(words, probabilities, strict=True)):
        x, y = (i % columns) * (width + gap), top + (i // columns) * BAR_HEIGHT
        middle = y + (BAR_HEIGHT - 2) / 2
        bar = element(
            "rect",
            x=x,
            y=y,
            width=float(width * value),
            height=BAR_HEIGHT - 2,
            fill_opacity=BAR_OPACITY,
            data_full=width,
        )
        digits = label(x + width - 4, middle, number(value), "end", fill=colour(None))
        cell = bar + digits + outline(x, y, width, BAR_HEIGHT - 2)
        bars.append(cells.tag_index(cell, probabilities, (i,)))
        names.append(label(x + 5, middle, word, "start", pointer_events="none"))
    group = element("g", *bars, data_val=step_name(probabilities), fill=colour("output"))
    heading = title(0, LINE_HEIGHT / 2, "next word", "output", "start")
    in_words = (
        f"{word} {number(p)}" for word, p in zip(words, probabilities.tolist(), strict=True)
    )
    rows = -(-len(words) // columns)
    return Panel(
        columns * (width + gap) - gap,
        top + rows * BAR_HEIGHT,
        heading + group + "".join(names),
        escape_text(f"Probabilities of the next word: {', '.join(in_words)}."),
        name="The next word",
    )


def outline(x: float, y: float, width: float, height: float) -> str:
    """Draw a frame whose inside a click reaches, too."""
    size = {"x": x, "y": y, "width": width, "height": height}
    line = {"stroke": "currentColor", "stroke_opacity": 0.3}
    return element("rect", **size, fill="none", pointer_events="all", **line)
