"""The figures of the chapter on a real model, from the record of what was measured."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from attention_docs.examples.course_sentence import WORDS
from attention_docs.model.record import unpack_percents
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
    text_node,
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
# The distance of small pictures in pixels, and the cells that are free between two of them.
SIDE, GAP = 21.8, 3
# The upper left corner of the small pictures.
LEFT, TOP = 30.0, 38.0
# The size of a cell of an enlarged head, in which 100 fits.
CELL = (21, 20)
# The kinds of heads: their names in the record, and the sentence that shows each, by its index.
KINDS = {
    "Pronoun": ("pronoun", 0),
    "Previous token": ("previous token", 0),
    "Induction": ("induction", 1),
    "First of a word": ("first of the word", 2),
    "Sink": ("first token", 0),
}


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
            row_height=20,
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
    r"""All heads on one sentence, each a square with a row for each token. A faint cell is a weight
    from a fifth on, and a full one from a half on. A full left edge is a sink, and a diagonal is a
    head that looks at the token before. Frames mark the strongest head of each kind. Below, heads
    are enlarged: each row is a token that asks, with the weights that it gives, measured and
    rounded to whole percents. Those that round to zero are left out. On the first sentence, the
    pronoun head leads each *they* to its noun, the previous-token head leads each token to the one
    before it, and the sink leads every token to the first one. In repeated words, the induction
    head leads each to the word after its earlier copy. The first-of-a-word head leads the last part
    of a long word to its first part."""
    sentences = load_results("real_model")["sentences"]
    shades = [percents.start / 100 for percents in SHADES.values()]
    claim(shades == [1 / 5, 1 / 2], "a weight from a fifth on, and a full one from a half on")
    _check_kinds(sentences)
    name = "All heads of the model"
    states = [
        element(
            "div",
            element("p", kind),
            figure(enlarged_head(sentences[index], *place), kind),
            class_="state",
        )
        for kind, (place, index) in strongest_heads().items()
    ]
    content = [
        _chooser(sentences),
        element("div", figure(_overview(sentences[0]), name), class_="figure-box"),
        element("output", summary_of_head(sentences[0], *strongest_heads()["Pronoun"][0])),
        element("div", *states, class_="figure-box panels"),
    ]
    return Html(element("div", *content, class_="all-heads", role="group", aria_label=name))


def _check_kinds(sentences: Sequence[Mapping[str, Any]]) -> None:
    """Check what the caption says about the strongest head of each kind."""
    pronoun, previous, induction, first_of_word, sink = (
        rows_of(sentences[index], *place) for place, index in strongest_heads().values()
    )
    tokens = sentences[0]["tokens"]
    first, second = (position for position, token in enumerate(tokens) if token == "they")
    on_nouns = pronoun[first][tokens.index("cats")], pronoun[second][tokens.index("dogs")]
    claim(min(on_nouns) > 50, "leads each *they* to its noun")
    before = [row[-2] for row in previous[1:]]
    claim(min(before) > 50, "leads each token to the one before it")
    repeated = sentences[1]["tokens"]
    on_next = [
        induction[row][repeated.index(token) + 1]
        for row, token in enumerate(repeated)
        if token in repeated[:row]
    ]
    claim(min(on_next) > 75, "leads each to the word after its earlier copy")
    of_word = sentences[2]["tokens"]
    asked = [
        of_word[int(np.argmax(first_of_word[of_word.index(part)]))]
        for part in ("arianism", "istic")
    ]
    claim(asked == ["ant", "un"], "leads the last part of a long word to its first part")
    claim(all(row[0] == 100 for row in sink), "leads every token to the first one")


def strongest_heads() -> dict[str, tuple[tuple[int, int], int]]:
    """Return layer and head of the strongest head of each kind, and the sentence that shows it."""
    strongest = load_results("real_model")["strongest"]
    return {name: (tuple(strongest[kind]["1"][:2]), index) for name, (kind, index) in KINDS.items()}


def rows_of(sentence: Mapping[str, Any], layer: int, head: int) -> Rows:
    """Return the weights of a head on a recorded sentence."""
    return unpack_percents(sentence["percent"][layer][head])


def _chooser(sentences: Sequence[Mapping[str, Any]]) -> str:
    """Return fields for a sentence, a layer and a head, and a button for each kind of head."""
    layers = sentences[0]["percent"]
    layer, head = strongest_heads()["Pronoun"][0]
    options = [
        element("option", text_node(sentence["text"]), value=index)
        for index, sentence in enumerate(sentences)
    ]
    # Without autocompletion, Firefox restores no choice that the figure does not show.
    fields = [
        element(
            "label",
            name,
            element(
                "input",
                type="number",
                min=0,
                max=count - 1,
                value=value,
                required="",
                autocomplete="off",
            ),
        )
        for name, count, value in (("layer", len(layers), layer), ("head", len(layers[0]), head))
    ]
    buttons = [
        element("button", name, type="button", value=" ".join(map(str, (index, *place))))
        for name, (place, index) in strongest_heads().items()
    ]
    return element(
        "div",
        element("label", "sentence", element("select", *options, autocomplete="off")),
        *fields,
        element("div", "kinds", *buttons, role="group", aria_label="kinds"),
        element("p", "Or point at a square below. A click keeps its head."),
        class_="control",
    )


def summary_of_head(sentence: Mapping[str, Any], layer: int, head: int) -> str:
    """Say what the last token gives in a head; the page's script says the same of other heads."""
    tokens, last = sentence["tokens"], rows_of(sentence, layer, head)[-1]
    # Well-formed XML, like the rest of the figure.
    at_layer, at_head, largest = (
        element("span", number(value), data_computed="") for value in (layer, head, max(last))
    )
    asking, asked = map(text_node, (tokens[-1], tokens[int(np.argmax(last))]))
    return (
        f"Layer {at_layer}, head {at_head}. In percent, the last token, “{asking}”, gives "
        f"{largest} to “{asked}”, its largest weight."
    )


def _overview(sentence: Mapping[str, Any]) -> Panel:
    """Draw all heads on a sentence, with frames around the strongest heads."""
    layers = sentence["percent"]
    width, height = SIDE * len(layers), SIDE * len(layers[0])
    places = [place for place, _ in strongest_heads().values()]
    frame = {"width": SIDE, "height": SIDE, "fill": "none", "stroke": "currentColor"}
    frames = [element("rect", x=SIDE * layer, y=SIDE * head, **frame) for layer, head in places]
    layer, head = places[0]
    shift = f"translate({SIDE * layer:g} {SIDE * head:g})"
    grid = cells.Grid(0, 0, (SIDE, SIDE), len(layers[0]), len(layers))
    layer_ticks = {*range(0, len(layers) - 1, 10), len(layers) - 1}
    body = [
        label(LEFT, LINE_HEIGHT / 2, "layer", "start"),
        vertical_label(LINE_HEIGHT / 2, TOP + height / 2, "head"),
        *(label(LEFT + grid.column_middle(i), TOP - 10, number(i)) for i in sorted(layer_ticks)),
        *(
            label(LEFT - 8, TOP + grid.row_middle(i), number(i), "end")
            for i in range(len(layers[0]))
        ),
        translated(
            LEFT,
            TOP,
            element("g", cells.draw_grid_lines(grid), opacity=0.5),
            element("g", small_pictures(sentence), class_="small"),
            *frames,
            element("rect", class_="chosen", transform=shift, stroke_width=3, **frame),
            # What the pointer meets.
            element(
                "path",
                class_="target",
                d=f"M0 0h{width:g}v{height:g}h-{width:g}z",
                fill="none",
                pointer_events="all",
            ),
        ),
    ]
    description = "The weights of all heads, a square for each, with one column for each layer."
    return Panel(LEFT + width, TOP + height, "".join(body), description)


def small_pictures(sentence: Mapping[str, Any]) -> str:
    """Draw all heads of a sentence at the same distances, however many tokens it has."""
    side = len(sentence["tokens"]) + GAP
    pictures = {
        (side * layer, side * head): rows_of(sentence, layer, head)
        for layer, heads in enumerate(sentence["percent"])
        for head in range(len(heads))
    }
    # A line is as wide as a cell, so it begins half a cell to the right of its edge, and the
    # pictures begin half a gap from the frames.
    lines = translated(GAP / 2 + 0.5, GAP / 2, draw_heads(pictures))
    stroke = {"fill": "none", "stroke": colour("weights")}
    return element("g", lines, transform=f"scale({SIDE / side:.4g})", **stroke)


def sentence_scripts() -> dict[str, bytes]:
    """Return a script with all heads of each sentence, by its path; the page loads it on demand.

    It has the drawing of all heads, the drawing of a head in which every number is 100, and the
    weights.
    """
    scripts = {}
    for index, sentence in enumerate(load_results("real_model")["sentences"]):
        full = [[100] * (row + 1) for row in range(len(sentence["tokens"]))]
        content = {
            "tokens": sentence["tokens"],
            "percent": sentence["percent"],
            "small": small_pictures(sentence),
            "enlarged": figure(_draw_enlarged(sentence["tokens"], full, ""), "enlarged"),
        }
        script = f"attentionDocs.sentences[{index}]={json.dumps(content, ensure_ascii=False)};"
        scripts[f"assets/heads/{index}.js"] = script.encode()
    return scripts


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


def enlarged_head(sentence: Mapping[str, Any], layer: int, head: int) -> Panel:
    """Draw a head on a sentence."""
    name = f"layer {number(layer)}, head {number(head)}"
    return _draw_enlarged(sentence["tokens"], rows_of(sentence, layer, head), name)


def _draw_enlarged(tokens: Sequence[str], rows: Rows, name: str) -> Panel:
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
    bottom = grid.bottom
    centre = grid.middle_x
    body = [
        title(centre, LINE_HEIGHT / 2, name, "weights"),
        element("g", *boxes, class_="boxes", **scale.group),
        element("g", *numbers, class_="numbers"),
        _stairs(grid),
        cells.draw_row_labels(grid, tokens),
        *(_label_below(grid, column, token) for column, token in enumerate(tokens)),
        vertical_label(LINE_HEIGHT / 2, grid.middle_y, "asks"),
        label(centre, bottom + margin + LINE_HEIGHT / 2, "is asked"),
    ]
    largest = ", ".join(
        f"{token} {number(max(row))} to {tokens[int(np.argmax(row))]}"
        for token, row in zip(tokens, rows, strict=True)
    )
    description = f"The largest weight that each token gives, in percent: {largest}."
    return Panel(grid.right, bottom + margin + LINE_HEIGHT, "".join(body), description)


def _stairs(grid: cells.Grid) -> str:
    """Draw thin lines around the cells up to the diagonal."""
    width, height = grid.cell
    count, bottom = grid.rows, grid.bottom
    lines = [
        f"M{grid.x:g} {grid.y + height * edge:g}h{width * min(edge + 1, count):g}"
        f"M{grid.x + width * edge:g} {bottom:g}v{-height * min(count - edge + 1, count):g}"
        for edge in range(count + 1)
    ]
    return element("path", d="".join(lines), fill="none", stroke="currentColor", stroke_opacity=0.3)


def _label_below(grid: cells.Grid, column: int, token: str) -> str:
    """Write a token below its column, upwards."""
    x, y = grid.centre(grid.rows, column)[0], grid.bottom + 6
    return label(x, y, token, "end", transform=f"rotate(-90 {x:g} {y:g})")


@site_figure
def real_induction(steps_of: StepsOf) -> Html:
    r"""The loss at each position of random tokens that are repeated once, in the mean over eight
    sequences. The copy begins in the middle. From its second token on, the loss is far smaller."""
    record = load_results("real_model")["induction"]
    losses = np.array(record["losses"])
    half = (len(losses) + 1) // 2
    claim(losses[half:].mean() < losses[: half - 1].mean() / 2, "the loss is far smaller")
    series = [Series("loss", np.arange(1, len(losses) + 1), losses, "first")]
    position = Axis(f"position (the copy begins at {half})", (0, 20, 40, 60, 80))
    axes = position, Axis("loss", (0, 5, 10, 15, 20))
    name = "The loss of a repeated sequence"
    return figure(line_chart(name, *axes, series), name)


@site_figure
def real_sinks(steps_of: StepsOf) -> Html:
    r"""The weight on the first token in each layer, in the mean over its heads and over the tokens
    after the first."""
    by_layer = np.array(load_results("real_model")["sinks"]["by_layer"])
    series = [Series("weight on the first token", np.arange(len(by_layer)), by_layer, "weights")]
    axes = (
        Axis("layer", (0, 5, 10, 15, 20, 25, 30)),
        Axis("weight on the first token", (0, 0.25, 0.5, 0.75, 1)),
    )
    name = "Sinks by layer"
    return figure(line_chart(name, *axes, series), name)
