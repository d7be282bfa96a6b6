"""The figures of "Encoder and decoder" and of the page about a decoder layer."""

import numpy as np

from attention_docs import examples
from attention_docs.arrays import Array
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.bars import bars_panel
from attention_docs.publish.before.figures.drawings.boxes import (
    HEIGHT,
    arrow,
    box,
    box_width,
    small,
)
from attention_docs.publish.before.figures.drawings.steps_of_attention import (
    word_cells,
    words_panel,
)
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import Html, Panel, beside, cells, figure, lines_panel
from attention_docs.render.figures.svg import LINE_HEIGHT, player, title, translated

WIDTH, GAP = 156, 60
ENCODER_X, DECODER_X = 14, 14 + WIDTH + GAP
# From the bottom of one box of a stack to the bottom of the next.
LEVEL = 72
# A sublayer is a box, with its norm above it.
NORM_GAP, NORM_HEIGHT = 4, 20
SUBLAYER_HEIGHT = HEIGHT + NORM_GAP + NORM_HEIGHT
# A word of a run of the decoder: with this height, all six are no higher than the bars beside them.
RUN_HEIGHT = 24


@site_figure
def two_stacks(steps_of: StepsOf) -> Html:
    r"""One encoder layer on the left, one decoder layer on the right, to be read upwards. Each part
    of a layer adds what it has found to what went into it, and a norm follows. The memory gives the
    cross-attention its keys and values, and the decoder the queries."""
    steps = steps_of("encoder_decoder")
    source, target = (examples.labels("encoder_decoder", step)[0] for step in ("X", "Y"))
    vocabulary = examples.labels("encoder_decoder", "probabilities")[1]
    bottom = 5.8 * LEVEL
    y = [bottom - level * LEVEL for level in range(6)]  # the bottom of each level
    encoder_centre, decoder_centre = ENCODER_X + WIDTH / 2, DECODER_X + WIDTH / 2
    memory_y = y[3] - HEIGHT
    next_word = vocabulary[steps["probabilities"][-1].argmax()]
    body = [
        _words(ENCODER_X, y[0], source),
        _sublayer(ENCODER_X, y[1], "self-attention", "X₁", "weights", LEVEL - HEIGHT),
        _sublayer(ENCODER_X, y[2], "feed-forward network", "X₂", None),
        box(ENCODER_X, memory_y, WIDTH, "memory X₂", "input"),
        arrow([(encoder_centre, y[2] - SUBLAYER_HEIGHT), (encoder_centre, y[3])]),
        arrow([(ENCODER_X + WIDTH, y[3] - HEIGHT / 2), (DECODER_X, y[3] - HEIGHT / 2)], "key"),
        small(ENCODER_X + WIDTH + GAP / 2 - 4, y[3] - HEIGHT / 2 - 12, "K, V", role="key"),
        _words(DECODER_X, y[1], target),
        _sublayer(DECODER_X, y[2], "causal self-attention", "Y₁", "weights", LEVEL - HEIGHT),
        _sublayer(DECODER_X, y[3], "cross-attention", "Y₂", "weights"),
        small(decoder_centre + 8, y[3] + 8, "Q", "start", "query"),
        _sublayer(DECODER_X, y[4], "feed-forward network", "Y₃", None),
        box(DECODER_X, y[5] - HEIGHT, WIDTH, "vocabulary, softmax", "output"),
        arrow([(decoder_centre, y[4] - SUBLAYER_HEIGHT), (decoder_centre, y[5])]),
        small(decoder_centre, 8, f"next word: {next_word}"),
        arrow([(decoder_centre, y[5] - HEIGHT), (decoder_centre, 16)]),
    ]
    description = (
        f"Encoder, upwards: the words {' '.join(source)}, self-attention, sum and norm, "
        "feed-forward network, sum and norm, memory. Decoder, upwards: the words "
        f"{' '.join(target)}, causal self-attention, sum and norm, cross-attention with keys and "
        "values from the memory, sum and norm, feed-forward network, sum and norm, vocabulary and "
        f"softmax, and the next word, {next_word}."
    )
    panel = Panel(DECODER_X + WIDTH, bottom, "".join(body), description)
    return figure(panel, "An encoder layer and a decoder layer")


def _words(x: float, y: float, words: list[str]) -> str:
    return box(x, y - HEIGHT, WIDTH, " ".join(words), "input", bold=True)


def _sublayer(
    x: float,
    y: float,
    name: str,
    result: str,
    role: str | None,
    start: float = LEVEL - SUBLAYER_HEIGHT,
) -> str:
    """Draw a sublayer with its norm and its residual connection.

    Args:
        x: the left side.
        y: the bottom.
        name: its name.
        result: the symbol of what leaves the norm.
        role: the role whose colour it has.
        start: how far below the sublayer the arrow to it begins.
    """
    centre, norm_y = x + WIDTH / 2, y - SUBLAYER_HEIGHT
    # The residual connection leaves the arrow below and goes round the left side to the norm.
    residual = [(centre, y + 12), (x - 10, y + 12), (x - 10, norm_y + NORM_HEIGHT / 2)]
    return "".join(
        [
            box(x, y - HEIGHT, WIDTH, name, role),
            box(x, norm_y, WIDTH, f"sum, norm: {result}", height=NORM_HEIGHT),
            arrow([(centre, y + start), (centre, y)]),
            arrow([*residual, (x, norm_y + NORM_HEIGHT / 2)]),
        ]
    )


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
    rests_on = {name: steps[f"{name}_weights_2"].argmax(axis=1) for name in ("encoder", "decoder")}
    claim((rests_on["encoder"] == 4).all(), "encoder, whose rows all rest on the full stop")
    claim((rests_on["decoder"] == 0).all(), "decoder, whose rows all rest on *start*")
    # What each map shows: its name and its step, and the cells to be marked.
    maps = (
        ("encoder, head 1", "encoder_weights_1", [(0, 1)]),
        ("decoder, head 1", "decoder_weights_1", [(3, 2)]),
        ("cross, head 1", "cross_weights_1", [(0, 0), (1, 1)]),
        ("cross, head 2", "cross_weights_2", [(2, 2), (3, 3)]),
    )
    panels = []
    for name, step, found in maps:
        weights, (rows, columns) = steps[step], examples.labels("encoder_decoder", step)
        for row, column in found:
            claim(weights[row].argmax() == column, f"*{rows[row]}*")
        grid = cells.Grid(58, 70, (19, 22), *weights.shape)
        size = grid.right, grid.bottom
        body = [
            title(size[0] / 2, LINE_HEIGHT / 2, name, "weights"),
            cells.draw_row_labels(grid, rows),
            word_cells(grid, weights, "weights", columns),
            *(cells.draw_mark(grid, cell, "weights") for cell in found),
        ]
        description = cells.describe(name, weights)
        panels.append(Panel(*size, "".join(body), description, name=name))
    return beside(panels, "The weights of three attentions")


@site_figure
def vocabulary_matrix(steps_of: StepsOf) -> Html:
    r"""The two factors, with features at the columns of $\output{Y_3}$ and at the rows of
    $W_{\text{vocabulary}}$. The two forms of a word, such as *verte* and *vert*, differ in the row
    *feminine* alone, and so do the two nouns. Olive numbers are negative."""
    steps = steps_of("encoder_decoder")
    matrix = steps["W_vocabulary"]
    features, vocabulary = examples.labels("encoder_decoder", "W_vocabulary")
    for pair in (("la", "le"), ("voiture", "livre"), ("verte", "vert")):
        one, other = (matrix[:, vocabulary.index(word)] for word in pair)
        differ = [features[i] for i in np.flatnonzero(one != other)]
        claim(differ == ["feminine"], "differ in the row *feminine* alone")
    words = examples.labels("encoder_decoder", "output")
    panels = [
        words_panel("Y_3", steps["output"], words, 50, "output"),
        words_panel("W_vocabulary", matrix, (features, vocabulary), 28),
    ]
    return beside(panels, "The last rows and the matrix of the vocabulary")


@site_figure
def translation_loop(steps_of: StepsOf) -> Html:
    r"""The loop, one run of the decoder after another. Each run is given the words so far, and the
    bars are its last row of $P$. The most probable word joins those that the next run is given. The
    fifth run chooses the full stop, which ends the loop."""
    probabilities = steps_of("encoder_decoder")["loop_probabilities"]
    given, vocabulary = examples.labels("encoder_decoder", "loop_probabilities")
    chosen = [vocabulary[token] for token in np.asarray(probabilities).argmax(axis=1)]
    claim(chosen == [*given[1:], "."], "The most probable word joins those")
    runs = range(len(given))
    return player([_run(probabilities[i], given[: i + 1], chosen[i]) for i in runs], "Generation")


def _run(probabilities: Array, given: list[str], word: str) -> Panel:
    """Draw a run of the decoder: the words that it is given, and the probabilities of the next."""
    words, vocabulary = examples.labels("encoder_decoder", "loop_probabilities")
    width = max(map(box_width, words))
    body = [title(width / 2, LINE_HEIGHT / 2, "given", "input")]
    y = 1.5 * LINE_HEIGHT
    for text in given:
        body.append(box(2, y, width, text, "input", height=RUN_HEIGHT))
        y += RUN_HEIGHT + 4
    body.append(box(2, y, width, word, "output", height=RUN_HEIGHT, dashed=True, bold=True))
    bars = bars_panel("next word", probabilities, vocabulary, "output")
    body.append(translated(width + 24, 0, bars.body))
    ending = "the full stop ends the loop" if word == "." else word
    return Panel(
        width + 24 + bars.width,
        bars.height,
        "".join(body),
        f"After {' '.join(given)} comes {word}. {bars.description}",
        name=f"run {len(given)}: {ending}",
    )


@site_figure
def decoder_lines(steps_of: StepsOf) -> Html:
    r"""The heads that find something. In the self-attention, *est* looks at the noun before it. In
    the cross-attention, *start* and *la* look at the words that are to be translated next. The
    thicker a line, the larger the weight."""
    steps = steps_of("encoder_decoder")
    own, cross = steps["decoder_weights_1"], steps["cross_weights_1"]
    claim(own[3].argmax() == 2, "*est* looks at the noun before it")
    claim(cross[0].argmax() == 0, "to be translated next")
    claim(cross[1].argmax() == 1, "to be translated next")
    target, source = examples.labels("encoder_decoder", "cross_weights_1")
    panels = [
        lines_panel(own, target, heading="Self-attention, head 1"),
        lines_panel(cross, target, source, heading="Cross-attention, head 1"),
    ]
    return beside(panels, "Where the decoder looks")
