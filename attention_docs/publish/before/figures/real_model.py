"""The figures of the chapter on a real model, from the record of what was measured."""

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
    figure,
    line_chart,
    lines_panel,
)
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    colour,
    element,
    title,
    translated,
    vertical_label,
)

# The lowest weight, in percent, of each shade of a small picture, and its opacity.
SHADES = ((20, 0.4), (50, 1.0))
CELL, GAP = 1.4, 2.6


@site_figure
def real_they(steps_of: StepsOf) -> Html:
    r"""Weights of *they* on the words before it. Left and in the middle, the real head: the first
    *they* gives its largest weight to *cats*, and the second to *dogs*. Right, head 1 of the
    course, whose matrices we set by hand: its largest weight is on *birds*."""
    record = load_results("real_model")["sentence"]
    tokens, rows = record["tokens"], [np.array(row) for row in record["weights"]]
    toy = steps_of("course_mask")["weights"][THEY : THEY + 1]
    second = steps_of("real_head")["weights"]
    first, *_ = (place for place, token in enumerate(tokens) if token == " they")
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
    sink, and a diagonal is a head that looks at the token before. The frame is around the head
    of this page's beginning."""
    record = load_results("real_model")["sentence"]
    layers = record["percent"]
    shades = [lowest / 100 for lowest, _ in SHADES]
    claim(shades == [1 / 5, 1 / 2], "a weight from a fifth on, and a full one from a half on")
    side = len(record["tokens"]) * CELL + GAP
    left, top = 20.0, 24.0
    pictures = [
        translated(side * layer, side * head, small_picture(rows))
        for layer, heads in enumerate(layers)
        for head, rows in enumerate(heads)
    ]
    layer, head = record["head"]
    frame = element(
        "rect",
        x=left + side * layer - 2,
        y=top + side * head - 2,
        width=side + 1,
        height=side + 1,
        fill="none",
        stroke="currentColor",
        stroke_width=1.5,
    )
    body = [
        title(left, LINE_HEIGHT / 2, "layers, from first to last", None, "start"),
        vertical_label(LINE_HEIGHT / 2, top + side * len(layers[0]) / 2, "heads"),
        element(
            "g",
            *pictures,
            fill=colour("weights"),
            transform=f"translate({left:g} {top:g})",
        ),
        frame,
    ]
    description = "The weights of all heads, a square for each, with one column for each layer."
    name = "All heads of the model"
    width, height = left + side * len(layers), top + side * len(layers[0])
    return figure(Panel(width, height, "".join(body), description), name)


def small_picture(rows: list[list[int]]) -> str:
    """Draw the weights of a head, in percent, as one path for each shade."""
    paths = []
    for index, (lowest, opacity) in enumerate(SHADES):
        highest = SHADES[index + 1][0] if index + 1 < len(SHADES) else 101
        # Cells below each other are one rectangle, because a sink fills a column.
        rectangles = []
        for column in range(len(rows)):
            shaded = [
                row for row in range(column, len(rows)) if lowest <= rows[row][column] < highest
            ]
            for _, run in groupby(enumerate(shaded), key=lambda pair: pair[1] - pair[0]):
                places = [row for _, row in run]
                corner = f"M{CELL * column:g} {CELL * places[0]:g}"
                rectangles.append(f"{corner}h{CELL:g}v{CELL * len(places):g}h-{CELL:g}")
        if rectangles:
            paths.append(element("path", d="".join(rectangles), fill_opacity=opacity))
    return "".join(paths)


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
    shares = np.array(load_results("real_model")["sinks"]["by_layer"])
    series = [Series("weight on the first token", np.arange(len(shares)), shares, "weights")]
    axes = Axis("layer", (0, 5, 10, 15, 20, 25, 30)), Axis("weight", (0, 0.25, 0.5, 0.75, 1))
    name = "Sinks by layer"
    return figure(line_chart(name, *axes, series), name)
