"""The figures of "Encoder and decoder" and of the page about a decoder layer."""

import numpy as np

from attention_docs import examples
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.boxes import (
    HEIGHT,
    arrow,
    box,
    box_width,
    small,
)
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import Html, Panel, beside, cells, figure, lines_panel
from attention_docs.render.figures.svg import label

WIDTH, GAP = 156, 60
ENCODER_X, DECODER_X = 14, 14 + WIDTH + GAP
# From the bottom of one box of a stack to the bottom of the next.
LEVEL = 72
# A sublayer is a box, with its norm above it.
NORM_GAP, NORM_HEIGHT = 4, 20
SUBLAYER_HEIGHT = HEIGHT + NORM_GAP + NORM_HEIGHT


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
def translation_loop(steps_of: StepsOf) -> Html:
    r"""The loop in words. Each row is one run of the decoder, with the target so far on the left
    and the next word, with its probability, on the right. It joins the target of the next row. The
    next run adds the full stop and ends the loop."""
    probabilities = steps_of("encoder_decoder")["probabilities"]
    target, vocabulary = examples.labels("encoder_decoder", "probabilities")
    chosen = np.asarray(probabilities).argmax(axis=1)
    joins = [vocabulary[token] for token in chosen[:-1]] == target[1:]
    claim(joins, "It joins the target of the next row")
    body, descriptions = [], []
    widths = [box_width(word) for word in target]
    next_x = sum(widths) + 6 * len(widths) + 36
    for row, token in enumerate(chosen):
        x, y = 2.0, 2 + row * (HEIGHT + 14)
        for word, width in zip(target[: row + 1], widths, strict=False):
            body.append(box(x, y, width, word, "input" if word == target[row] else None))
            x += width + 6
        word = vocabulary[token]
        body += [
            arrow([(x, y + HEIGHT / 2), (next_x - 4, y + HEIGHT / 2)]),
            box(next_x, y, box_width("voiture"), word, "output", dashed=True, bold=True),
            label(
                next_x + box_width("voiture") + 8,
                y + HEIGHT / 2,
                "",
                "start",
                cells.inline_number(probabilities, (row, int(token))),
            ),
        ]
        descriptions.append(f"After {' '.join(target[: row + 1])} comes {word}.")
    width = next_x + box_width("voiture") + 56
    panel = Panel(width, y + HEIGHT, "".join(body), " ".join(descriptions))
    return figure(panel, "Generation, one word at a time")


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
