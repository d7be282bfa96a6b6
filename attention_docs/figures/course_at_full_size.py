"""All heads of a real model on one sentence, from the record of what was measured."""

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, load_results
from attention_docs.model.record import unpack_percents
from attention_docs.render import figures as draw
from attention_docs.render.figures import cells, scales, svg
from attention_docs.render.numbers import number, short_number

# The weights of a head in percent: a row for each token, with a number for each token up to it.
Rows = Sequence[Sequence[int]]
# The opacities of a small picture, and the weights in percent that have them.
SHADES = {0.4: range(20, 50), 1.0: range(50, 101)}
# The side of the square of a small picture in pixels, and how many cells are free between two
# pictures.
SIDE, GAP = 21.8, 3
# The upper left corner of the small pictures, and how many layers after one tick the next one is.
LEFT, TOP = 30.0, 38.0
LAYERS_PER_TICK = 10
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
def real_heads(steps_of: StepsOf) -> draw.Html:
    r"""Each square is a head, with a row for each token. A faint dot is a weight of at least
    a fifth, and a dark one of at least a half. Enlarged, an empty cell rounds to zero."""
    sentences = load_results("real_model")["sentences"]
    shades = [percents.start / 100 for percents in SHADES.values()]
    claim(shades == [1 / 5, 1 / 2], "at least a fifth, and a dark one of at least a half")
    name = "All heads of the model"
    enlarged_heads = []
    for kind, (place, index) in strongest_heads().items():
        drawing = draw.figure(enlarged_head(sentences[index], *place), kind)
        enlarged_heads.append(svg.element("div", svg.element("p", kind), drawing, class_="state"))
    pronoun_head, _ = strongest_heads()["Pronoun"]
    content = [
        _sentence_chooser(sentences),
        _own_sentence(),
        _head_chooser(sentences[0]),
        svg.element("div", tokens_and_ids(sentences[0]), class_="tokens"),
        svg.element("div", draw.figure(_overview(sentences[0]), name), class_="figure-box"),
        svg.element("output", summary_of_head(sentences[0], *pronoun_head)),
        _cutting_tool(),
        svg.element("div", *enlarged_heads, class_="figure-box panels"),
        _weight_tool(),
        svg.element("p", "The next token"),
        svg.element("dl", bars_of_next_tokens(sentences[0])),
        _writing_tool(),
    ]
    return draw.Html(
        svg.element("div", *content, class_="all-heads", role="group", aria_label=name)
    )


def tokens_and_ids(sentence: Mapping[str, Any]) -> str:
    pairs = zip(sentence["tokens"], sentence["ids"], strict=True)
    spans = []
    for token, token_id in pairs:
        id_below = svg.element("small", number(token_id), data_computed="")
        spans.append(svg.element("span", svg.text_node(token), id_below))
    return "".join(spans)


def bars_of_next_tokens(sentence: Mapping[str, Any]) -> str:
    """Return a row of a list for each of the likeliest next tokens, with its probability."""
    bars = []
    for token, probability in sentence["next"].items():
        digits = svg.element("span", short_number(probability), data_computed="")
        row = svg.element("dt", svg.text_node(token)), svg.element("dd", "<i></i>", digits)
        bars.append(svg.element("div", *row, style=f"--share: {probability}"))
    return "".join(bars)


def strongest_heads() -> dict[str, tuple[tuple[int, int], int]]:
    """Return the strongest head of each kind, (layer, head), and the index of its sentence."""
    strongest = load_results("real_model")["strongest"]
    heads = {}
    for name, (kind_in_record, sentence_index) in KINDS.items():
        layer, head, _ = strongest[kind_in_record]["1"]  # the first of three, with its score
        heads[name] = (layer, head), sentence_index
    return heads


def rows_of(sentence: Mapping[str, Any], layer: int, head: int) -> Rows:
    return unpack_percents(sentence["percent"][layer][head])


def _sentence_chooser(sentences: Sequence[Mapping[str, Any]]) -> str:
    options = [
        svg.element("option", svg.text_node(sentence["text"]), value=index)
        for index, sentence in enumerate(sentences)
    ]
    field = svg.element("select", *options, autocomplete="off")
    return svg.element("div", svg.element("label", "sentence", field), class_="control hands-on")


def _head_chooser(sentence: Mapping[str, Any]) -> str:
    """Return fields for a layer and a head, and a button for each kind of head."""
    layers = sentence["percent"]
    (layer, head), _ = strongest_heads()["Pronoun"]
    buttons = [
        svg.element("button", name, type="button", value=f"{index} {layer_of_kind} {head_of_kind}")
        for name, ((layer_of_kind, head_of_kind), index) in strongest_heads().items()
    ]
    return svg.element(
        "div",
        _number_field("layer", len(layers), layer),
        _number_field("head", len(layers[0]), head),
        svg.element("div", "kinds", *buttons, role="group", aria_label="kinds"),
        _own_tool("", role="group", aria_label="the strongest heads on your text"),
        "<p>Point at a square, or click to keep its head. Frames are the heads of the buttons, "
        '<a href="#heads">explained below</a>.</p>',
        class_="control hands-on",
    )


def _own_sentence() -> str:
    """Return a form for a sentence that the reader types."""
    megabytes = number(round(load_results("real_model")["file"]["bytes"] / 1e6))
    size = svg.element("span", megabytes, data_computed="")
    about = (
        f"The first time, your browser fetches the model, {size} MB, and keeps it. "
        "What you type stays in your browser."
    )
    field = svg.element("input", name="sentence", required="", maxlength=300, autocomplete="off")
    return svg.element(
        "form",
        svg.element("label", "your own text", field),
        svg.element("button", "Read it with the model"),
        svg.element(
            "progress", "", max=100, hidden="", aria_label="share of the model that is fetched"
        ),
        "<output></output>",
        svg.element("p", about),
        class_="own-sentence hands-on",
    )


def _own_tool(*content: str, **attributes: object) -> str:
    """Return what can be done with the reader's sentence, hidden until the model has read it."""
    return svg.element("div", *content, class_="own-tool hands-on", hidden="", **attributes)


def _cutting_tool() -> str:
    cut = _button("cut", "Cut this head")
    restore = _button("restore", "Restore all heads")
    return _own_tool(cut, restore, "<output></output>")


def _weight_tool() -> str:
    """Return a field for each of two tokens, and room for how a weight between them is computed."""
    return _own_tool(
        "<label>weight from<select></select></label><label>to<select></select></label>",
        _button("compute", "Compute it"),
        _button("largest", "Show the head where it is largest"),
        svg.element("div", "", class_="steps", aria_live="polite"),
    )


def _writing_tool() -> str:
    limits = {"min": 0.1, "max": 2, "step": 0.1, "value": 1, "required": ""}
    temperature = svg.element("input", type="number", **limits)
    return _own_tool(
        svg.element("label", f"temperature ({number(1)} in the bars)", temperature),
        _button("write", "Write three tokens, by chance"),
        "<p>A low temperature favours the likeliest tokens.</p>",
        svg.element("div", "", class_="written", aria_live="polite"),
    )


def _button(name: str, text: str) -> str:
    return svg.element("button", text, type="button", class_=name)


def _number_field(name: str, count: int, value: int) -> str:
    limits = {"min": 0, "max": count - 1, "value": value, "required": ""}
    # Without `autocomplete`, Firefox restores an earlier choice, which the figure does not show.
    field = svg.element("input", type="number", **limits, autocomplete="off")
    return svg.element("label", name, field)


def summary_of_head(sentence: Mapping[str, Any], layer: int, head: int) -> str:
    """Name the token with the largest weight in the last row, as the page's script does."""
    tokens, last_row = sentence["tokens"], rows_of(sentence, layer, head)[-1]
    asking, asked = svg.text_node(tokens[-1]), svg.text_node(tokens[int(np.argmax(last_row))])
    # Well-formed XML, like the rest of the figure.
    layer_span, head_span, percent_span = (
        svg.element("span", number(value), data_computed="")
        for value in (layer, head, max(last_row))
    )
    return (
        f"Layer {layer_span}, head {head_span}. In percent, the last token, "
        f"“{asking}”, gives {percent_span} to “{asked}”, its largest weight."
    )


def _overview(sentence: Mapping[str, Any]) -> draw.Panel:
    """Draw all heads on a sentence, a column for each layer, with frames around the strongest.

    The page's script exchanges the pictures in the group `small`, moves the frame `chosen`, keeps
    `names` in view, and finds the head under the pointer by the pointer's place on `target`.
    """
    layers, heads = len(sentence["percent"]), len(sentence["percent"][0])
    grid = cells.Grid(LEFT, TOP, (SIDE, SIDE), heads, layers)
    layer_ticks = {*range(0, layers - 1, LAYERS_PER_TICK), layers - 1}
    frame = {"width": SIDE, "height": SIDE, "fill": "none", "stroke": "currentColor"}
    corners = [(SIDE * layer, SIDE * head) for (layer, head), _ in strongest_heads().values()]
    to_chosen = "translate({:g} {:g})".format(*corners[0])  # the pronoun head
    whole = f"M0 0h{grid.width:g}v{grid.height:g}h-{grid.width:g}z"
    squares = [
        svg.element("g", cells.draw_grid_lines(grid._replace(x=0, y=0)), opacity=0.5),
        svg.element("g", small_pictures(sentence), class_="small"),
        *(svg.element("rect", x=x, y=y, **frame) for x, y in corners),
        svg.element("rect", class_="chosen", transform=to_chosen, stroke_width=3, **frame),
        svg.element("path", class_="target", d=whole, fill="none", pointer_events="all"),
    ]
    names = [
        svg.element("path", d=f"M0 0H{LEFT - 2:g}V{grid.bottom + 1:g}H0z"),
        svg.label(LEFT, svg.LINE_HEIGHT / 2, "layer", "start"),
        svg.vertical_label(svg.LINE_HEIGHT / 2, grid.middle_y, "head"),
        *(svg.label(LEFT - 8, grid.row_middle(i), number(i), "end") for i in range(heads)),
    ]
    body = [
        *(svg.label(grid.column_middle(i), TOP - 10, number(i)) for i in sorted(layer_ticks)),
        svg.translated(LEFT, TOP, *squares),
        svg.element("g", *names, class_="names"),
    ]
    description = "The weights of all heads, a square for each, with one column for each layer."
    return draw.Panel(grid.right, grid.bottom, "".join(body), description)


def small_pictures(sentence: Mapping[str, Any]) -> str:
    """Draw all heads of a sentence in squares of the same size, however many tokens it has."""
    cells_per_square = len(sentence["tokens"]) + GAP
    pictures = {}
    for layer, heads in enumerate(sentence["percent"]):
        for head in range(len(heads)):
            corner = cells_per_square * layer, cells_per_square * head
            pictures[corner] = rows_of(sentence, layer, head)
    # A line is as wide as a cell, so it begins half a cell to the right of its edge, and the
    # pictures begin half a gap from the frames.
    lines = svg.translated(GAP / 2 + 0.5, GAP / 2, draw_heads(pictures))
    stroke = {"fill": "none", "stroke": svg.colour("weights")}
    return svg.element("g", lines, transform=f"scale({SIDE / cells_per_square:.4g})", **stroke)


def sentence_scripts() -> dict[str, bytes]:
    """Return a script with all heads of each sentence, by its path; the page loads it on demand.

    It also has an enlarged head in which every number is 100, so that no cell is left out: the
    page's script writes the numbers of the chosen head into it.
    """
    scripts = {}
    for index, sentence in enumerate(load_results("real_model")["sentences"]):
        tokens = sentence["tokens"]
        only_hundreds = [[100] * (row + 1) for row in range(len(tokens))]
        content = {
            "tokens": tokens,
            "percent": sentence["percent"],
            "ids": tokens_and_ids(sentence),
            "next": bars_of_next_tokens(sentence),
            "small": small_pictures(sentence),
            "enlarged": draw.figure(_draw_enlarged(tokens, only_hundreds, ""), "enlarged"),
        }
        script = f"attentionDocs.sentences[{index}]={json.dumps(content, ensure_ascii=False)};"
        scripts[f"assets/heads/{index}.js"] = script.encode()
    return scripts


def draw_heads(pictures: Mapping[tuple[int, int], Rows]) -> str:
    """Draw heads, by their upper left corners in cells, as one path of lines for each shade."""
    # Adjacent cells of a column are one line, because a sink fills a column.
    paths = []
    for opacity, percents in SHADES.items():
        lines = []
        for (x, y), rows in pictures.items():
            for column in range(len(rows)):
                start = column
                for is_shaded, run in groupby(row[column] in percents for row in rows[column:]):
                    length = len(list(run))
                    if is_shaded:
                        lines.append(f"M{x + column} {y + start}v{length}")
                    start += length
        paths.append(svg.element("path", d="".join(lines), stroke_opacity=opacity) if lines else "")
    return "".join(paths)


def enlarged_head(sentence: Mapping[str, Any], layer: int, head: int) -> draw.Panel:
    """Draw the weights of a head on a sentence, under the numbers of its layer and head."""
    name = f"layer {number(layer)}, head {number(head)}"
    return _draw_enlarged(sentence["tokens"], rows_of(sentence, layer, head), name)


def _draw_enlarged(tokens: Sequence[str], rows: Rows, name: str) -> draw.Panel:
    """Draw weights in percent, except those of zero, with tokens at the left and below."""
    margin = cells.room_for_labels(tokens)
    grid = cells.Grid(
        svg.LINE_HEIGHT + margin, 1.4 * svg.LINE_HEIGHT, CELL, len(tokens), len(tokens)
    )
    body = [
        svg.title(grid.middle_x, svg.LINE_HEIGHT / 2, name, "weights"),
        *_percents(grid, rows),
        _stairs(grid),
        cells.draw_row_labels(grid, tokens),
        *(
            svg.vertical_label(grid.column_middle(column), grid.bottom + 6, token, "end")
            for column, token in enumerate(tokens)
        ),
        svg.vertical_label(svg.LINE_HEIGHT / 2, grid.middle_y, "asks"),
        svg.label(grid.middle_x, grid.bottom + margin + svg.LINE_HEIGHT / 2, "is asked"),
    ]
    largest = ", ".join(
        f"{token} {number(max(row))} to {tokens[int(np.argmax(row))]}"
        for token, row in zip(tokens, rows, strict=True)
    )
    description = f"The largest weight that each token gives, in percent: {largest}."
    return draw.Panel(
        grid.right, grid.bottom + margin + svg.LINE_HEIGHT, "".join(body), description
    )


def _percents(grid: cells.Grid, rows: Rows) -> list[str]:
    """Draw the weights that are not zero: a group of coloured boxes, and one of their numbers."""
    scale = scales.Scale("sequential", 0, 100, "weights")
    width, height = grid.cell
    boxes, numbers = [], []
    for row, percents in enumerate(rows):
        for column in np.flatnonzero(percents).tolist():
            corner = f"M{grid.x + width * column:g} {grid.y + height * row:g}"
            box = f"{corner}h{width}v{height}h-{width}z"
            boxes.append(svg.element("path", d=box, **scale.paint(percents[column])))
            numbers.append(svg.label(*grid.centre(row, column), number(percents[column])))
    return [
        svg.element("g", *boxes, class_="boxes", **scale.group),
        svg.element("g", *numbers, class_="numbers"),
    ]


def _stairs(grid: cells.Grid) -> str:
    """Draw thin lines around the cells up to the diagonal of a square grid."""
    width, height = grid.cell
    path = ""
    for edge in range(grid.rows + 1):
        cells_right = min(edge + 1, grid.columns)
        cells_up = min(grid.rows - edge + 1, grid.rows)
        path += f"M{grid.x:g} {grid.y + height * edge:g}h{width * cells_right:g}"
        path += f"M{grid.x + width * edge:g} {grid.bottom:g}v{-height * cells_up:g}"
    return svg.element("path", d=path, fill="none", stroke="currentColor", stroke_opacity=0.3)
