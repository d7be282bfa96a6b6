from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from attention_docs.arrays import Array
from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.figures.steps_of_attention import words_panel
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, Panel, bars, beside, figure, svg
from attention_docs.render.figures.arrows import arrow
from attention_docs.render.figures.boxes import HEIGHT, box, box_width

# The two stacks, in pixels: the size of a box, the room between the stacks, and their left sides.
WIDTH, GAP = 156, 60
ENCODER_X, DECODER_X = 14, 14 + WIDTH + GAP
# From the bottom of one box of a stack to the bottom of the next.
LEVEL = 72
# The decoder ends on the fifth level above the bottom, with the next word above it.
STACKS_BOTTOM = 5.8 * LEVEL
# A sublayer is a box, with its norm above it.
NORM_GAP, NORM_HEIGHT = 4, 20
# How far below its sublayer the residual connection begins, and how far left of it it goes up.
RESIDUAL_BELOW, RESIDUAL_LEFT = 12, 10
# A run of the decoder: with this height of a word, all six are no higher than the bars beside them.
RUN_HEIGHT, RUN_GAP = 24, 4
# The room between the words of a run and its bars.
BARS_GAP = 24


class Part(NamedTuple):
    """A part of a stack: a box, or a sublayer with its norm and the symbol of what leaves it."""

    name: str
    role: str | None
    norm_output: str = ""

    @property
    def height(self) -> float:
        return HEIGHT + NORM_GAP + NORM_HEIGHT if self.norm_output else HEIGHT


@site_figure
def two_stacks(steps_of: StepsOf) -> Html:
    r"""One encoder layer on the left, one decoder layer on the right, to be read upwards. Each part
    of a layer adds what it has found to what went into it, and a norm follows. The memory gives the
    cross-attention its keys and values, and the decoder the queries."""
    steps = steps_of("encoder_decoder")
    (source, _), (target, _) = words_of(steps["X"]), words_of(steps["Y"])
    _, vocabulary = words_of(steps["probabilities"])
    next_word = vocabulary[steps["probabilities"][-1].argmax()]
    encoder = [
        Part(" ".join(source), "input"),
        Part("self-attention", "weights", "X₁"),
        Part("feed-forward network", None, "X₂"),
        Part("memory X₂", "input"),
    ]
    decoder = [
        Part(" ".join(target), "input"),
        Part("causal self-attention", "weights", "Y₁"),
        Part("cross-attention", "weights", "Y₂"),
        Part("feed-forward network", None, "Y₃"),
        Part("vocabulary, softmax", "output"),
    ]
    # The decoder begins one level higher, so that its cross-attention is beside the memory.
    cross_attention_y = STACKS_BOTTOM - 3 * LEVEL
    memory_y = cross_attention_y - HEIGHT / 2
    vocabulary_y = STACKS_BOTTOM - 5 * LEVEL
    centre = DECODER_X + WIDTH / 2
    body = [
        *_draw_stack(ENCODER_X, STACKS_BOTTOM, encoder),
        arrow([(ENCODER_X + WIDTH, memory_y), (DECODER_X, memory_y)], "key"),
        svg.label(ENCODER_X + WIDTH + GAP / 2 - 4, memory_y - 12, "K, V", fill=svg.colour("key")),
        *_draw_stack(DECODER_X, STACKS_BOTTOM - LEVEL, decoder),
        svg.label(centre + 8, cross_attention_y + 8, "Q", "start", fill=svg.colour("query")),
        svg.label(centre, 8, f"next word: {next_word}", class_="chosen"),
        arrow([(centre, vocabulary_y - HEIGHT), (centre, 16)]),
    ]
    description = (
        f"Encoder, upwards: the words {' '.join(source)}, self-attention, sum and norm, "
        "feed-forward network, sum and norm, memory. Decoder, upwards: the words "
        f"{' '.join(target)}, causal self-attention, sum and norm, cross-attention with keys and "
        "values from the memory, sum and norm, feed-forward network, sum and norm, vocabulary and "
        f"softmax, and the next word, {next_word}."
    )
    panel = Panel(DECODER_X + WIDTH, STACKS_BOTTOM, "".join(body), description)
    return figure(panel, "An encoder layer and a decoder layer")


def _draw_stack(x: float, bottom: float, parts: Sequence[Part]) -> list[str]:
    """Draw parts one above the other, with an arrow to each from the one below it.

    A sublayer has its norm on top, and a residual connection round its left side.
    """
    body = []
    centre = x + WIDTH / 2
    for level, part in enumerate(parts):
        y = bottom - level * LEVEL
        body.append(box(x, y - HEIGHT, WIDTH, part.name, part.role, bold=level == 0))
        if level > 0:
            body.append(arrow([(centre, y + LEVEL - parts[level - 1].height), (centre, y)]))
        if part.norm_output:
            norm_y = y - part.height
            left, norm_middle = x - RESIDUAL_LEFT, norm_y + NORM_HEIGHT / 2
            start_y = y + RESIDUAL_BELOW  # of the residual connection, round the left side
            residual = [(centre, start_y), (left, start_y), (left, norm_middle), (x, norm_middle)]
            norm = f"sum, norm: {part.norm_output}"
            body += [box(x, norm_y, WIDTH, norm, height=NORM_HEIGHT), arrow(residual)]
    return body


@site_figure
def three_attentions(steps_of: StepsOf) -> Html:
    r"""The weights of the three attentions. The word at a row asks those at the columns. In the
    encoder, *the* finds its noun, *car*. In the decoder, *est* finds its noun, *voiture*, and later
    words are crossed out. In the cross-attention, each word finds the one to be translated next:
    *start* and *la* in head 1, *voiture* and *est* in head 2. A row that has nothing to find rests
    on the full stop or on the first word, from which it takes little or nothing. Head 2 of the
    encoder, whose rows all rest on the full stop, and head 2 of the decoder, whose rows all rest on
    *start*, are not drawn. A full colour is a weight of one."""
    steps = steps_of("encoder_decoder")
    (source, _), (target, _) = words_of(steps["X"]), words_of(steps["Y"])
    seen_in_encoder = labels_of_largest(steps["encoder_weights_2"], source)
    claim(set(seen_in_encoder) == {"."}, "encoder, whose rows all rest on the full stop")
    seen_in_decoder = labels_of_largest(steps["decoder_weights_2"], target)
    claim(set(seen_in_decoder) == {"start"}, "decoder, whose rows all rest on *start*")
    # The title and the step of each panel, and the words that find another one in it.
    maps = (
        ("encoder, head 1", "encoder_weights_1", {"the": "car"}),
        ("decoder, head 1", "decoder_weights_1", {"est": "voiture"}),
        ("cross, head 1", "cross_weights_1", {"start": "the", "la": "car"}),
        ("cross, head 2", "cross_weights_2", {"voiture": "is", "est": "green"}),
    )
    panels = []
    for name, step, found in maps:
        weights, marks = steps[step], []
        rows, columns = words_of(weights)
        for word, found_word in found.items():
            row = rows.index(word)
            claim(labels_of_largest(weights, columns)[row] == found_word, f"*{word}*")
            marks.append((row, columns.index(found_word)))
        options: dict[str, Any] = {
            "scale": "sequential",
            "numbers": False,
            "marks": marks,
            "top": 70,
        }
        panels.append(words_panel(name, weights, 19, "weights", **options))
    return beside(panels, "The weights of three attentions")


@site_figure
def vocabulary_matrix(steps_of: StepsOf) -> Html:
    r"""The two factors, with features at the columns of $\output{Y_3}$ and at the rows of
    $W_{\text{vocabulary}}$. The two forms of a word, such as *verte* and *vert*, differ in the row
    *feminine* alone, and so do the two nouns. Olive numbers are negative."""
    steps = steps_of("encoder_decoder")
    matrix = steps["W_vocabulary"]
    features, vocabulary = words_of(matrix)
    columns = dict(zip(vocabulary, matrix.T, strict=True))
    for feminine, masculine in (("la", "le"), ("voiture", "livre"), ("verte", "vert")):
        is_different = columns[feminine] != columns[masculine]
        different_features = [features[i] for i in np.flatnonzero(is_different)]
        claim(different_features == ["feminine"], "differ in the row *feminine* alone")
    panels = [
        words_panel("Y_3", steps["output"], width=50, role="output"),
        words_panel("W_vocabulary", matrix, width=28),
    ]
    return beside(panels, "The last rows and the matrix of the vocabulary")


@site_figure
def translation_loop(steps_of: StepsOf) -> Html:
    r"""The loop, one run of the decoder after another. Each run is given the words so far, and the
    bars are its last row of $P$. The most probable word joins those that the next run is given. The
    fifth run chooses the full stop, which ends the loop."""
    probabilities = steps_of("encoder_decoder")["loop_probabilities"]
    given, vocabulary = words_of(probabilities)
    chosen = labels_of_largest(probabilities, vocabulary)
    claim(chosen == [*given[1:], "."], "The most probable word joins those")
    claim(chosen.index(".") == 4, "The fifth run chooses the full stop")
    runs = range(len(given))
    return svg.player(
        [_run(probabilities[i], given[: i + 1], chosen[i]) for i in runs], "Generation"
    )


def _run(probabilities: Array, given: list[str], chosen: str) -> Panel:
    """Draw a run of the decoder: the given words, the chosen one, and the probabilities of all."""
    all_given, vocabulary = words_of(probabilities)
    width = max(map(box_width, all_given))  # the same in every run
    body = [svg.title(width / 2, svg.LINE_HEIGHT / 2, "given", "input")]
    y = 1.5 * svg.LINE_HEIGHT
    for word in given:
        body.append(box(2, y, width, word, "input", height=RUN_HEIGHT))
        y += RUN_HEIGHT + RUN_GAP
    style: dict[str, Any] = {"dashed": True, "bold": True, "text_class": "chosen"}
    body.append(box(2, y, width, chosen, "output", height=RUN_HEIGHT, **style))
    panel = bars.bars_panel("next word", probabilities, vocabulary, "output")
    body.append(svg.translated(width + BARS_GAP, 0, panel.body))
    return Panel(
        width + BARS_GAP + panel.width,
        panel.height,
        "".join(body),
        f"After {' '.join(given)} comes {chosen}. {panel.description}",
        name=f"after {' '.join(given)}",
    )
