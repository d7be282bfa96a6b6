"""The figures of the chapter on a real model, from the record of what was measured."""

from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from attention_docs.examples.course_sentence import WORDS
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.course import THEY
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.results import load_results
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import (
    Axis,
    Html,
    Panel,
    Series,
    beside,
    cells,
    figure,
    line_chart,
    lines_panel,
)
from attention_docs.render.figures.scales import Scale
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    colour,
    element,
    label,
    player,
    text_width,
    title,
    translated,
    vertical_label,
)
from attention_docs.render.numbers import number

# The weights of a head in percent: a row for each token, with a number for each token up to it.
Rows = Sequence[Sequence[int]]
# The opacities of a small picture, and the weights in percent that have them.
SHADES = {0.4: range(20, 50), 1.0: range(50, 101)}
# The size of a cell of a small picture in pixels, and the cells between two pictures.
SMALL_CELL, GAP = 1.3, 3
# The size of a cell of an enlarged head, in which 100 fits.
CELL = (21, 20)


@site_figure
def real_they(steps_of: StepsOf) -> Html:
    r"""Weights of *they* on the words before it. Left and in the middle, the real head: the first
    *they* gives its largest weight to *cats*, and the second to *dogs*. Right, head 1 of the
    course, whose matrices we set by hand: its largest weight is on *birds*."""
    record = load_results("real_model")["sentence"]
    tokens, rows = record["tokens"], [np.array(row) for row in record["weights"]]
    toy = steps_of("course_mask")["weights"][THEY : THEY + 1]
    second = steps_of("real_head")["weights"]
    first, *_ = (position for position, token in enumerate(tokens) if token == " they")
    claim(tokens[int(np.argmax(rows[first]))] == " cats", "the first *they* gives its largest")
    claim(tokens[int(np.argmax(second))] == " dogs", "and the second to *dogs*")
    claim(WORDS[int(np.argmax(toy))] == "birds", "its largest weight is on *birds*")
    words = [token.strip() for token in tokens]
    panels = [
        lines_panel(
            weights,
            ["they"],
            keys,
            heading=heading,
            sides=("asks", "is asked"),
            length=100,
            has_legend=False,
        )
        for weights, keys, heading in (
            (rows[first][None, : first + 1], words[: first + 1], "The first they"),
            (second, words, "The second they"),
            (toy, WORDS, "In the course"),
        )
    ]
    return beside(panels, "Weights of they in a real model and in the course")


@site_figure
def real_heads(steps_of: StepsOf) -> Html:
    r"""The weights of all heads on the sentence, each head a square with a row for each token.
    A faint cell is a weight from a fifth on, and a full one from a half on. A full left edge is a
    sink, and a diagonal is a head that looks at the token before. The frames are around the four
    heads that are enlarged below."""
    layers = load_results("real_model")["sentence"]["percent"]
    shades = [percents.start / 100 for percents in SHADES.values()]
    claim(shades == [1 / 5, 1 / 2], "a weight from a fifth on, and a full one from a half on")
    side, left, top = len(layers[0][0]) + GAP, 20.0, 24.0
    pictures = {
        (side * layer, side * head): rows
        for layer, heads in enumerate(layers)
        for head, rows in enumerate(heads)
    }
    frames = "".join(
        f"M{side * layer - GAP / 2:g} {side * head - GAP / 2:g}h{side}v{side}h-{side}z"
        for layer, head in named_heads().values()
    )
    # A line is as wide as a cell, so it begins half a cell to the right of its edge.
    drawing = element("g", translated(0.5, 0, draw_heads(pictures)), stroke=colour("weights"))
    drawing += element("path", d=frames, stroke="currentColor")
    body = [
        title(left, LINE_HEIGHT / 2, "layers, from first to last", None, "start"),
        vertical_label(LINE_HEIGHT / 2, top + SMALL_CELL * side * len(layers[0]) / 2, "heads"),
        translated(left, top, element("g", drawing, fill="none", transform=f"scale({SMALL_CELL})")),
    ]
    description = "The weights of all heads, a square for each, with one column for each layer."
    name = "All heads of the model"
    width, height = (SMALL_CELL * side * count for count in (len(layers), len(layers[0])))
    return figure(Panel(left + width, top + height, "".join(body), description), name)


def draw_heads(pictures: Mapping[tuple[int, int], Rows]) -> str:
    """Draw heads, each at its upper left corner, as one path of vertical lines for each shade.

    Coordinates count cells. Adjacent cells of a column are one line, because a sink fills a column.
    """
    paths = []
    for opacity, percents in SHADES.items():
        lines = [
            f"M{x + column} {y + start}v{length}"
            for (x, y), rows in pictures.items()
            for column in range(len(rows))
            for start, length in _runs(rows, column, percents)
        ]
        paths.append(element("path", d="".join(lines), stroke_opacity=opacity) if lines else "")
    return "".join(paths)


def _runs(rows: Rows, column: int, percents: range) -> list[tuple[int, int]]:
    """Return first row and length of each run of cells of a column with weights in a range."""
    shaded = [row for row in range(column, len(rows)) if rows[row][column] in percents]
    runs = groupby(enumerate(shaded), key=lambda pair: pair[1] - pair[0])
    return [(run[0][1], len(run)) for run in (list(pairs) for _, pairs in runs)]


def named_heads() -> dict[str, tuple[int, int]]:
    """Return layer and head of the strongest head of some kinds, by the name of the kind."""
    strongest = load_results("real_model")["strongest"]
    kinds = {
        "Pronoun": "pronoun",
        "Previous token": "previous token",
        "Induction": "induction",
        "Sink": "first token",
    }
    return {name: tuple(strongest[kind]["1"][:2]) for name, kind in kinds.items()}


@site_figure
def real_heads_enlarged(steps_of: StepsOf) -> Html:
    r"""Four heads, enlarged. Each row is a token that asks, and its numbers are the weights that it
    gives, in percent; those that round to zero are left out. In the pronoun head, each *they* gives
    more than half of its weight to its noun. In the second head, each token gives more than half
    to the token before it. In the induction head, the second *they* gives its largest weight to
    *are*, the token after the first *they*. In the sink, every token gives all its weight, rounded,
    to the first one."""
    record = load_results("real_model")["sentence"]
    tokens, heads = [token.strip() for token in record["tokens"]], named_heads()
    pronoun, previous, induction, sink = (
        record["percent"][layer][head] for layer, head in heads.values()
    )
    first, second = (position for position, token in enumerate(tokens) if token == "they")
    on_nouns = pronoun[first][tokens.index("cats")], pronoun[second][tokens.index("dogs")]
    claim(min(on_nouns) > 50, "each *they* gives more than half of its weight to its noun")
    before = [row[-2] for row in previous[1:]]
    claim(min(before) > 50, "each token gives more than half to the token before it")
    largest = int(np.argmax(induction[second]))
    claim((largest, tokens[largest]) == (first + 1, "are"), "its largest weight to *are*")
    claim(all(row[0] == 100 for row in sink), "every token gives all its weight, rounded")
    states = [
        _enlarged_head(name, layer, head, tokens, record["percent"][layer][head])
        for name, (layer, head) in heads.items()
    ]
    return player(states, "Four heads of the model")


def _enlarged_head(name: str, layer: int, head: int, tokens: Sequence[str], rows: Rows) -> Panel:
    """Draw the weights of a head in percent, with tokens at the left and below."""
    margin = max(map(text_width, tokens)) + 8
    grid = cells.Grid(LINE_HEIGHT + margin, 1.4 * LINE_HEIGHT, CELL, len(tokens), len(tokens))
    scale = Scale("sequential", 0, 100, "weights")
    width, height = CELL
    boxes, numbers = [], []
    for row, percents in enumerate(rows):
        for column, percent in enumerate(percents):
            if percent:
                corner = f"M{grid.x + width * column:g} {grid.y + height * row:g}"
                box = f"{corner}h{width}v{height}h-{width}z"
                boxes.append(element("path", d=box, **scale.paint(percent)))
                numbers.append(label(*grid.centre(row, column), number(percent)))
    bottom = grid.y + grid.height
    centre = grid.x + grid.width / 2
    body = [
        title(centre, LINE_HEIGHT / 2, f"layer {number(layer)}, head {number(head)}", "weights"),
        element("g", *boxes, **scale.group),
        *numbers,
        _stairs(grid),
        cells.draw_row_labels(grid, tokens),
        *(_label_below(grid, column, token) for column, token in enumerate(tokens)),
        vertical_label(LINE_HEIGHT / 2, grid.y + grid.height / 2, "asks"),
        label(centre, bottom + margin + LINE_HEIGHT / 2, "is asked"),
    ]
    largest = ", ".join(
        f"{token} {number(max(row))} to {tokens[int(np.argmax(row))]}"
        for token, row in zip(tokens, rows, strict=True)
    )
    description = f"The largest weight that each token gives, in percent: {largest}."
    size = grid.x + grid.width, bottom + margin + LINE_HEIGHT
    return Panel(*size, "".join(body), description, name=name)


def _stairs(grid: cells.Grid) -> str:
    """Draw thin lines around the cells up to the diagonal."""
    width, height = grid.cell
    count, bottom = grid.rows, grid.y + grid.height
    lines = [
        f"M{grid.x:g} {grid.y + height * edge:g}h{width * min(edge + 1, count):g}"
        f"M{grid.x + width * edge:g} {bottom:g}v{-height * min(count - edge + 1, count):g}"
        for edge in range(count + 1)
    ]
    return element("path", d="".join(lines), fill="none", stroke="currentColor", stroke_opacity=0.3)


def _label_below(grid: cells.Grid, column: int, token: str) -> str:
    """Write a token below its column, upwards."""
    x, y = grid.centre(grid.rows, column)[0], grid.y + grid.height + 6
    return label(x, y, token, "end", transform=f"rotate(-90 {x:g} {y:g})")


@site_figure
def real_induction(steps_of: StepsOf) -> Html:
    r"""The loss at each position of random tokens that are repeated once, in the mean over eight
    sequences. The line marks where the copy begins. From its second token on, the loss is far
    smaller."""
    record = load_results("real_model")["induction"]
    losses = np.array(record["losses"])
    half = (len(losses) + 1) // 2
    claim(losses[half:].mean() < losses[: half - 1].mean() / 2, "the loss is far smaller")
    series = [
        Series("loss", np.arange(1, len(losses) + 1), losses, "scores"),
        Series("the copy begins", np.array([half, half]), np.array([0.0, 16.0]), "key"),
    ]
    axes = Axis("position", (0, 20, 40, 60, 80)), Axis("loss", (0, 4, 8, 12, 16))
    name = "The loss of a repeated sequence"
    return figure(line_chart(name, *axes, series), name)


@site_figure
def real_sinks(steps_of: StepsOf) -> Html:
    r"""The weight on the first token in each layer, in the mean over its heads and over the tokens
    after the first."""
    by_layer = np.array(load_results("real_model")["sinks"]["by_layer"])
    series = [Series("weight on the first token", np.arange(len(by_layer)), by_layer, "weights")]
    axes = Axis("layer", (0, 5, 10, 15, 20, 25, 30)), Axis("weight", (0, 0.25, 0.5, 0.75, 1))
    name = "Sinks by layer"
    return figure(line_chart(name, *axes, series), name)
