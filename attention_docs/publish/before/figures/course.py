"""The figures of the course, all of the same sentence."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from attention_docs import examples
from attention_docs.examples.course_sentence import (
    FEATURES,
    KEY_FEATURES,
    SWAPPED,
    VOCABULARY,
    WORDS,
)
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.bars import bars_panel
from attention_docs.publish.before.figures.drawings.course_drawings import (
    Arrow,
    LabelledRow,
    arrows_panel,
    boxed_words_panel,
    labelled_rows_panel,
    output_projection_panel,
)
from attention_docs.publish.before.figures.drawings.plane import Vector, plane_panel
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import Steps, StepsOf
from attention_docs.render.figures import (
    Axis,
    Html,
    Panel,
    Series,
    beside,
    cells,
    figure,
    heatmap,
    line_chart,
    lines_panel,
    matrix_panel,
    product_figure,
)
from attention_docs.render.figures.svg import (
    LINE_HEIGHT,
    below,
    colour,
    element,
    label,
)
from attention_docs.render.numbers import exact_number, number
from attention_docs.render.references import row_reference
from attention_docs.softmax import softmax

BIRDS, PASS, BOATS, BECAUSE, THEY = range(5)
# Titles for the ends of lines on pages that have not introduced queries and keys.
SIDES = ("asks", "is asked")

Place = tuple[float, float]  # a point on paper


def word_options(words: list[str] = WORDS) -> dict[str, Any]:
    """Return the options for weights of words on words."""
    return {
        "rows": "the word that asks",
        "columns": "the word that is asked",
        "row_labels": words,
        "column_labels": words,
        "role": "weights",
        "scale": "sequential",
    }


@site_figure
def course_product(steps_of: StepsOf) -> Html:
    r"""A matrix product. The marked row, *birds*, and the marked column have the same five names.
    Their entries are multiplied pair by pair, and the sum of the products stands where the row and
    the column meet. Only *air* and *water* contribute to it."""
    steps = steps_of("course_projections")
    # The features of the position, the last two, are still empty.
    words, matrix = steps["X"][:, :5], steps["W_Q"][:5]
    terms = words[BIRDS] * matrix[:, 1]
    claim(not steps["X"][:, 5:].any(), "the sum of the products stands where")
    claim(np.flatnonzero(terms).tolist() == [0, 1], "Only *air* and *water* contribute")
    return product_figure(
        words,
        matrix,
        row=BIRDS,
        column=1,
        names=("X", "W_Q", "Q"),
        roles=("input", None, "query"),
        row_labels=WORDS,
        column_labels=KEY_FEATURES,
        inner_labels=FEATURES[:5],
        product=steps["Q"],
    )


@site_figure
def course_sentences(steps_of: StepsOf) -> Html:
    r"""Two sentences of the same words, and the word that comes next. It depends on who *they* are:
    the noun that comes first."""
    steps = steps_of("course_next_token")
    rows = [steps[f"probabilities{ending}"][THEY] for ending in ("", "_swapped")]
    next_words = [VOCABULARY[int(np.argmax(row))] for row in rows]
    claim(next_words == ["fly", "sail"], "It depends on who *they* are")
    claim(sorted(WORDS) == sorted(SWAPPED), "Two sentences of the same words")
    sentences = [[*WORDS, next_words[0]], [*SWAPPED, next_words[1]]]
    return figure(boxed_words_panel(sentences, THEY, BIRDS), "Two sentences and their next words")


@site_figure
def course_words(steps_of: StepsOf) -> Html:
    r"""The sentence as a matrix $\input{X}$: a row for each word, a column for each feature.
    *Birds* and *boats* both contain some *air* and some *water*. *They* contains nothing but
    *refers*, and so has nothing in common with either."""
    labels = {"row_labels": WORDS, "column_labels": FEATURES[:5]}
    # The features of the position, the last two, are still empty.
    matrix = steps_of("course_averages")["X"][:, :5]
    nouns, they = matrix[[BIRDS, BOATS]], matrix[THEY]
    claim(np.all(nouns[:, :2] > 0), "both contain some *air* and some *water*")
    claim(np.count_nonzero(they) == 1 and they[4] > 0, "nothing but *refers*")
    claim(not (nouns @ they).any(), "nothing in common with either")
    return heatmap(matrix, "The words X", rows="words", columns="features", role="input", **labels)


@site_figure
def course_plane(steps_of: StepsOf) -> Html:
    r"""Two of the features as a plane. Each noun is an arrow: *birds* points more towards *air* and
    *boats* more towards *water*. The plain average of all five words lies between the two, the
    same for both sentences."""
    steps = steps_of("course_averages")
    birds, boats = steps["X"][[BIRDS, BOATS]][:, :2]
    mean = steps["mean"]
    claim(birds[0] > birds[1] and boats[1] > boats[0], "*birds* points more towards *air*")
    claim(mean[0] == mean[1], "lies between the two")
    arrows = [*noun_arrows(steps["X"], "input"), Arrow("average", mean[None, :2], "output")]
    return figure(
        arrows_panel("Words as arrows", FEATURES[:2], arrows), "Two nouns and the average"
    )


@site_figure
def course_similarity(steps_of: StepsOf) -> Html:
    r"""The weights that come from similarity, one row for each word, and what becomes of the nouns.
    In the marked row, *birds* divides its weight mainly between itself and *boats*. Every word
    gives itself more than it gives to any other. The averages of the two nouns, solid, lie closer
    together than the nouns themselves, dashed."""
    steps = steps_of("course_averages")
    weights = steps["weights"]
    largest = weights[BIRDS, [BIRDS, BOATS]]
    claim(largest.min() > 1 / 4 and largest.sum() > 1 / 2, "mainly between itself and *boats*")
    own, others = np.diag(weights), weights - np.diag(np.diag(weights))
    claim(np.all(own > others.max(axis=1)), "more than it gives to any other")
    distances = [
        np.linalg.norm(steps[step][BIRDS] - steps[step][BOATS]) for step in ("X", "blended")
    ]
    claim(distances[1] < distances[0], "closer together than the nouns themselves")
    before, after = noun_arrows(steps["X"], "input"), noun_arrows(steps["blended"], "output")
    arrows = [*(arrow._replace(name="", dashed=True) for arrow in before), *after]
    heading = "Weights from similarity"
    panels = [
        matrix_panel(weights, heading, mark=(BIRDS, None), **word_options()),
        arrows_panel("The nouns, averaged", FEATURES[:2], arrows),
    ]
    return beside(panels, "Similarity and what it does")


@site_figure
def course_query(steps_of: StepsOf) -> Html:
    r"""Where *they* looks, first by similarity alone, then with the query and the keys that this
    page introduces. The thicker a line, the larger the weight: *they* turns from itself to the two
    nouns."""
    steps = steps_of("course_projections")
    by_similarity, by_query = steps["weights_alike"], steps["weights"]
    turns = by_similarity[THEY].argmax() == THEY and by_query[THEY, [BIRDS, BOATS]].min() > 0.4
    claim(turns, "*they* turns from itself to the two nouns")
    panels = [
        lines_panel(by_similarity, WORDS, query=THEY, heading="From similarity", sides=SIDES),
        lines_panel(by_query, WORDS, query=THEY, heading="With query and key"),
    ]
    return beside(panels, "Where the pronoun looks")


@site_figure
def course_one_row(steps_of: StepsOf) -> Html:
    r"""One row from top to bottom: the word *they*, its query, its scores, its weights and its
    output. The number in each step belongs to the feature or the word above it."""
    steps = steps_of("course_projections")
    row = slice(THEY, THEY + 1)
    rows = [
        LabelledRow("word x", "input", steps["X"][row, :5], FEATURES[:5], "times W_Q"),
        LabelledRow("query q", "query", steps["Q"][row], KEY_FEATURES, "times each word's key"),
        LabelledRow("scores s", "scores", steps["scores"][row], WORDS, "softmax"),
        LabelledRow("weights a", "weights", steps["weights"][row], WORDS, "average the values"),
        LabelledRow("output o", "output", steps["output"][row], FEATURES[:4], ""),
    ]
    return figure(
        labelled_rows_panel("From the word “they” to its output", rows), "One row of attention"
    )


@site_figure
def course_saturation(steps_of: StepsOf) -> Html:
    r"""The weights of *birds* when all of its scores are multiplied by the same factor. The smaller
    the factor, the closer the words come to counting alike, as in a plain average. The larger it
    is, the more *pass* takes, until it has almost everything and the lines are flat. The markers
    stand at the factor one and at $1 / \sqrt{3}$, the factor of the formula. Equal distances on the
    axis are equal ratios."""
    steps = steps_of("course_scale")
    factors = np.geomspace(1 / 16, 4, 61)
    curves = softmax(factors[:, None] * np.asarray(steps["scores"]))
    spread = np.ptp(curves, axis=1)
    claim(np.all(np.diff(spread) > 0), "The smaller the factor, the closer the words come")
    claim(np.all(np.diff(curves[:, PASS]) > 0), "The larger it is, the more *pass* takes")
    claim(curves[-1, PASS] > 0.99, "until it has almost everything")
    marked = {"weights": 3**-0.5, "weights_unscaled": 1.0}
    series = []
    for name, word, role in (("pass", PASS, "weights"), ("any other", BIRDS, "first")):
        series.append(Series(name, factors, curves[:, word], role))
        for step, factor in marked.items():
            weight = steps[step][word : word + 1]
            series.append(Series("", [factor], weight, role, line=False, points=True))
    name = "Weights of “birds”"
    axes = Axis("factor", (1 / 16, 1 / 4, 1, 4), logarithmic=True), Axis("weight", (0, 0.5, 1))
    return figure(line_chart(name, *axes, series), name)


@site_figure
def softmax_temperature(steps_of: StepsOf) -> Html:
    r"""The weights of *birds* and the slope at *pass*, whose bar is full at $\frac{1}{4}$: first
    for the softmax of the scores, then for that of the scores divided by $\sqrt{d_k}$. Both
    softmaxes divide by the temperature, too."""
    steps = steps_of("softmax_temperature")
    panels = []
    for name, ending in (("without the root", "_unscaled"), ("with the root", "")):
        weights = bars_panel(name, steps[f"weights{ending}"], WORDS)
        slope = bars_panel(
            "slope", steps[f"slope{ending}"], ["pass"], "scores", largest=0.25, room_for=WORDS
        )
        panels.append(below([weights, slope], name))
    return beside(panels, "Weights and slope, without and with the root")


@site_figure
def turned_query(steps_of: StepsOf) -> Html:
    r"""A query among three keys and its output among their values, in planes whose axes go from
    $-3$ to $3$, and the weights between the two."""
    steps = steps_of("turned_query")
    names = ["a", "b", "c"]
    keys = [Vector(name, steps["K"][i : i + 1], "key") for i, name in enumerate(names)]
    values = [
        Vector(name, steps["V"][i : i + 1], "value", is_arrow=False) for i, name in enumerate(names)
    ]
    query = Vector("query", steps["Q"], "query", is_input=True)
    output = Vector("output", steps["output"], "output", is_arrow=False, is_inside=True)
    panels = [
        plane_panel("query and keys", [*keys, query], reach=3, pixels_per_unit=26),
        plane_panel(
            "output and values", [*values, output], reach=3, pixels_per_unit=26, corners=steps["V"]
        ),
        bars_panel("weights", steps["weights"][0], names),
    ]
    return beside(panels, "A query, its weights and its output")


@site_figure
def course_one_number(steps_of: StepsOf) -> Html:
    r"""The last step: the weights of *they*, row 5 of $\weights{A}$, average the column *air* of
    the values $\value{V}$. The result stands where the two meet, in the output $\output{O}$."""
    steps = steps_of("course_formula")
    return product_figure(
        steps["weights"],
        steps["V"],
        row=THEY,
        column=0,
        names=("A", "V", "O"),
        roles=("weights", "value", "output"),
        scales=("sequential", "diverging", "diverging"),
        row_labels=WORDS,
        column_labels=FEATURES[:4],
        inner_labels=WORDS,
        product=steps["output"],
    )


@site_figure
def course_order(steps_of: StepsOf) -> Html:
    r"""Where *they* looks in the two sentences, without positions. The nouns have changed places,
    and their weights have moved along with them. Both get the same weight in both sentences."""
    steps = steps_of("course_order")
    weights, swapped = steps["weights"][THEY], steps["weights_swapped"][THEY]
    claim(
        np.allclose(weights[[2, 1, 0, 3, 4]], swapped), "their weights have moved along with them"
    )
    claim(np.ptp([weights[[0, 2]], swapped[[0, 2]]]) < 1e-12, "Both get the same weight in both")
    return beside(both_sentences(steps, "weights"), "Where the pronoun looks without positions")


@site_figure
def course_clock(steps_of: StepsOf) -> Html:
    r"""The positions: a clock hand that turns by the same angle from each word to the next. The
    tip of the hand has two coordinates, how far it lies to the right and, dotted, how high."""
    hands = steps_of("course_order")["E"][:, 5:]
    turned = hands @ np.array([1, 1j])
    claim(np.allclose(turned[1:] / turned[:-1], turned[1] / turned[0]), "turns by the same angle")
    return figure(clock(hands), "Positions as a clock")


@site_figure
def course_positions(steps_of: StepsOf) -> Html:
    r"""Where *they* looks in the two sentences, with positions. Now it finds the noun that comes
    first, whichever it is, and the other noun gets almost nothing."""
    steps = steps_of("course_order")
    rows = np.stack(
        [steps[step][THEY] for step in ("weights_with_positions", "weights_with_positions_swapped")]
    )
    claim(np.all(rows[:, 0] > 0.9), "it finds the noun that comes first")
    claim(np.all(rows[:, 2] < 0.03), "the other noun gets almost nothing")
    panels = both_sentences(steps, "weights_with_positions")
    return beside(panels, "Where the pronoun looks with positions")


def both_sentences(steps: Steps, weights: str) -> list[Panel]:
    """Draw the weights of "they" as lines, in the sentence and with its nouns exchanged."""
    headings = ("Birds pass boats …", "Boats pass birds …")
    return [
        lines_panel(steps[step], words, query=THEY, heading=heading)
        for step, words, heading in zip(
            (weights, f"{weights}_swapped"), (WORDS, SWAPPED), headings, strict=True
        )
    ]


@site_figure
def course_mask(steps_of: StepsOf) -> Html:
    r"""The weights without and with the causal mask. What is crossed out lies in the future of the
    word that asks. Each row divides its weight among the words that are left."""
    steps = steps_of("course_mask")
    panels = [
        matrix_panel(steps["open_weights"], "Without a mask", **word_options()),
        matrix_panel(
            steps["weights"],
            "With the causal mask",
            hidden=~np.asarray(steps["mask"]),
            **word_options(),
        ),
    ]
    return beside(panels, "Weights without and with a mask")


@site_figure
def clicked_mask(steps_of: StepsOf) -> Html:
    r"""The weights under this mask, and the share of its weight that each word gives to later
    words: what leaks."""
    steps = steps_of("clicked_mask")
    panels = [
        matrix_panel(steps["weights"], "Weights", **word_options()),
        bars_panel("leaked", steps["leaked"], WORDS),
    ]
    return beside(panels, "Weights under a mask, and what leaks")


@site_figure
def course_heads(steps_of: StepsOf) -> Html:
    r"""Two attention heads look at the same sentence. In the last row, *they* finds its
    noun in head 1 and the previous word in head 2."""
    steps = steps_of("course_heads")
    hidden = ~np.tri(len(WORDS), dtype=bool)
    largest = [steps[f"weights_{i}"][THEY].argmax() for i in (1, 2)]
    claim(largest == [0, THEY - 1], "finds its noun in head 1 and the previous word in head 2")
    panels = [
        matrix_panel(
            steps[f"weights_{i}"], name, hidden=hidden, mark=(THEY, None), **word_options()
        )
        for i, name in ((1, "Head 1: what it needs"), (2, "Head 2: the previous word"))
    ]
    return beside(panels, "Weights of two heads")


@site_figure
def course_rotated_query(steps_of: StepsOf) -> Html:
    r"""The query and the keys of head 2, to scale. The keys are the hands of the clock, twice as
    long, each with its score. The query of *pass* is its hand, turned back by one step and five
    times as long. It points exactly where the key of *birds* points, so *birds* has the largest
    score."""
    steps = steps_of("course_heads")
    clock = slice(5, 7)  # the two features that hold the hand
    hands, query, scores = (
        steps["with_positions"][:, clock],
        steps["pass_query"],
        steps["pass_scores"],
    )
    product_of_lengths = np.linalg.norm(query) * np.linalg.norm(hands[BIRDS])
    is_parallel = np.isclose(query[:2] @ hands[BIRDS], product_of_lengths)
    claim(is_parallel, "exactly where the key of *birds* points")
    claim(scores.argmax() == BIRDS, "*birds* has the largest score")
    claim((np.linalg.norm(steps["W_K_2"][clock], axis=1) == 2).all(), "twice as long")
    # *birds* is one step before *pass*, so the query is the hand of *birds*, five times as long.
    is_hand_of_birds = np.allclose(query[:2], 5 * hands[BIRDS])
    claim(is_hand_of_birds, "turned back by one step and five times as long")
    return figure(turned_hand(hands, query, scores), "The query of “pass”")


@site_figure
def course_output_projection(steps_of: StepsOf) -> Html:
    r"""The word *they*: what the two heads have found stands on the left, eight numbers below each
    other. Each number multiplies its row of $W_O$, and the sum of the rows is the output. The lower
    half of $W_O$ drops the *air* and *water* of head 2."""
    steps = steps_of("course_heads")
    w_o, output = steps["W_O"], steps["output"][THEY:]
    claim(not np.any(w_o[4:6]), "drops the *air* and *water* of head 2")
    head_outputs = steps["side_by_side"][THEY:]
    panel = output_projection_panel("they", head_outputs, w_o, output, FEATURES)
    return figure(panel, "The row of “they” times W_O")


@site_figure
def course_block_steps(steps_of: StepsOf) -> Html:
    r"""The word *they* on its way through the block, from top to bottom. Attention adds *air*, the
    mark of the noun, and a *reason*. The feed-forward network exchanges *refers* for an *action*.
    Each norm brings the row back to one scale."""
    stages = ["word and place", "+ attention", "norm", "+ feed-forward", "norm"]
    labels = {"row_labels": stages, "column_labels": FEATURES}
    rows = steps_of("course_block")["they"]
    attention, network = rows[1] - rows[0], rows[3] - rows[2]
    claim(
        set(attention.argsort()[-2:]) == {0, 3},
        "Attention adds *air*, the mark of the noun, and a *reason*",
    )
    exchanged = network.argmax() == 2 and network.argmin() == 4
    claim(exchanged, "exchanges *refers* for an *action*")
    claim(np.allclose(rows[[2, 4]].var(axis=1), 1, atol=1e-3), "back to one scale")
    options: dict[str, Any] = {"rows": "stages", "columns": "features", "compact": True}
    return heatmap(rows, "The word “they”", **options, **labels)


@site_figure
def course_endings(steps_of: StepsOf) -> Html:
    r"""The probabilities of *fly*, *sail* and the full stop after *they*, in both sentences. With
    head 1 the first noun decides between *fly* and *sail*. Without it both rows are the same, for
    all words of the vocabulary."""
    steps = steps_of("course_next_token")
    largest = [VOCABULARY[i] for i in steps["with_head_1"].argmax(axis=1)]
    claim(largest == ["fly", "sail"], "the first noun decides between *fly* and *sail*")
    without = steps["without_head_1"]
    claim(np.allclose(without[0], without[1], rtol=1e-12), "both rows are the same")
    options: dict[str, Any] = {"role": "output", "scale": "sequential", "rows": "sentence"}
    shown = [VOCABULARY.index(word) for word in ("fly", "sail", ".")]
    options["row_labels"] = ["birds pass boats", "boats pass birds"]
    options["column_labels"] = [VOCABULARY[i] for i in shown]
    panels = [
        matrix_panel(steps[step][:, shown], name, columns="after “they”", **options)
        for step, name in (("with_head_1", "With head 1"), ("without_head_1", "Without head 1"))
    ]
    return beside(panels, "The next word in both sentences")


@site_figure
def course_vocabulary(steps_of: StepsOf) -> Html:
    r"""The matrix $W_{\text{vocabulary}}$ without its last two rows, which are zero. A column says
    what the vector of a position must look like if its word is to come next."""
    w_vocabulary = steps_of("course_sentence")["W_vocabulary"]
    has_zero_rows = len(w_vocabulary) == 7 and not w_vocabulary[5:].any()
    claim(has_zero_rows, "its last two rows, which are zero")
    matrix = w_vocabulary[:5]
    labels = {"row_labels": FEATURES[:5], "column_labels": VOCABULARY}
    options: dict[str, Any] = {"rows": "features", "columns": "next word", "compact": True}
    return heatmap(matrix, "Vocabulary", **options, **labels)


@site_figure
def course_next(steps_of: StepsOf) -> Html:
    r"""What comes next? One row for each word of the sentence, one column for each word of the
    vocabulary. In every row the largest probability belongs to the word that
    actually follows."""
    probabilities = steps_of("course_next_token")["probabilities"]
    predicted = [VOCABULARY[i] for i in probabilities.argmax(axis=1)]
    claim(predicted == [*WORDS[1:], "fly"], "In every row the largest probability")
    options: dict[str, Any] = {"role": "output", "scale": "sequential", "mark": (THEY, None)}
    options |= {"row_labels": WORDS, "column_labels": VOCABULARY, "compact": True}
    options |= {"rows": "", "columns": "next word"}
    return heatmap(probabilities, "Probabilities after each word", **options)


@site_figure
def course_temperatures(steps_of: StepsOf) -> Html:
    r"""Three of the probabilities after *they*, at three temperatures. The higher the temperature,
    the less *fly* has, and the more *sail* and the full stop."""
    steps = steps_of("course_next_token")
    shown = [VOCABULARY.index(word) for word in ("fly", "sail", ".")]
    probabilities = steps["tempered"][:, shown]
    changes = np.diff(probabilities, axis=0)
    claim(
        np.all(changes[:, 0] < 0) and np.all(changes[:, 1:] > 0),
        "the less *fly* has, and the more *sail* and the full stop",
    )
    options: dict[str, Any] = {"role": "output", "scale": "sequential", "columns": "next word"}
    options["row_labels"] = [exact_number(temperature) for temperature in steps["temperatures"]]
    options["column_labels"] = [VOCABULARY[i] for i in shown]
    return heatmap(probabilities, "Probabilities", rows="temperature", **options)


@site_figure
def course_writing(steps_of: StepsOf) -> Html:
    r"""The two drawn words, the probabilities, and where each word ends when these are laid side by
    side. The second word is drawn given six words, of which the last is the first drawn one."""
    steps = steps_of("course_writing")
    options: dict[str, Any] = {"scale": "sequential", "rows": "", "columns": ""}
    options["column_labels"] = examples.labels("course_writing", "draws")[0]
    # What is written comes first, because phones show one panel beside the sliders.
    names = {"written": "Written", "probabilities": "Probabilities", "cumulative": "Reaches to"}
    panels = [
        matrix_panel(steps[step], name, role="output", row_labels=words, **options)
        for step, name in names.items()
        for words in [examples.labels("course_writing", step)[0]]
    ]
    return beside(panels, "Two words, drawn")


def clock(hands: np.ndarray, radius: float = 78) -> Panel:
    """Draw clock hands (sine, cosine) from one centre, each with its word at its tip.

    Arrows show the turn from each hand to the next, and dashed lines the height of each tip.
    """
    x, y = radius + 50, radius + 3.75 * LINE_HEIGHT
    body = [
        label(x, LINE_HEIGHT / 2, "The clock", font_weight="bold"),
        *clock_face(x, y, radius),
        *(turn(x, y, 0.42 * radius, *ends) for ends in pairwise(hands.tolist())),
    ]
    for row, (word, (sine, cosine)) in enumerate(zip(WORDS, hands.tolist(), strict=True)):
        tip = x + radius * sine, y - radius * cosine
        ends = {"x1": x, "y1": y, "x2": tip[0], "y2": tip[1]}
        anchor = "middle" if abs(sine) < 0.2 else "start" if sine > 0 else "end"
        label_position = x + (radius + 7) * sine, y - (radius + 12) * cosine
        hand = {"stroke": colour("input"), "stroke_width": 2, "data_val": row_reference(hands, row)}
        height = {"x1": tip[0], "y1": y, "x2": tip[0], "y2": tip[1], "stroke_dasharray": "2 3"}
        body.append(element("line", **height, stroke="currentColor", stroke_opacity=0.6))
        body.append(element("line", **ends, **hand))
        body.append(label(*label_position, word, anchor))
    description = "; ".join(
        f"{word} at sine {number(sine)}, cosine {number(cosine)}"
        for word, (sine, cosine) in zip(WORDS, hands.tolist(), strict=True)
    )
    description = f"Clock hands: {description}."
    return Panel(
        x + radius + 102,
        y + radius + 1.5 * LINE_HEIGHT,
        "".join(body),
        description,
        name="The clock",
    )


def clock_face(x: float, y: float, radius: float) -> list[str]:
    """Draw the circle of a clock around (x, y), with its two axes and their names."""
    stroke = {"stroke": "currentColor", "stroke_opacity": 0.3}
    small: dict[str, Any] = {"fill_opacity": 0.7}
    half = f"a{radius:g} {radius:g} 0 1 0 "
    circle = f"M{x - radius:g} {y:g}{half}{2 * radius:g} 0{half}{-2 * radius:g} 0z"
    beside_x = x + radius + 7
    return [
        element("path", d=circle, fill="none", **stroke),
        element("line", x1=x, y1=y - radius - 8, x2=x, y2=y + radius + 8, **stroke),
        element("line", x1=x - radius - 8, y1=y, x2=x + radius, y2=y, **stroke),
        label(x, y - radius - 1.5 * LINE_HEIGHT, "↑ clock 2: how high", **small),
        label(beside_x, y + LINE_HEIGHT, "→ clock 1:", "start", **small),
        label(beside_x, y + 2 * LINE_HEIGHT, "how far right", "start", **small),
    ]


def turn(
    x: float, y: float, radius: float, start: list[float], end: list[float], *, back: bool = False
) -> str:
    """Draw an arrow around the centre (x, y) from one hand (sine, cosine) to another.

    It goes clockwise, or the other way if it goes back.
    """
    sign = -1 if back else 1
    gap = sign * 0.12  # radians between the ends of the arrow and the hands
    angles = math.atan2(*start) + gap, math.atan2(*end) - gap
    (x1, y1), (x2, y2) = ((x + radius * math.sin(a), y - radius * math.cos(a)) for a in angles)
    backwards = [angles[1] - sign * math.pi / 2 + side for side in (-0.5, 0.5)]
    arrowhead = "".join(
        f"M{x2:.1f} {y2:.1f}l{6 * math.sin(a):.1f} {-6 * math.cos(a):.1f}" for a in backwards
    )
    arc = f"M{x1:.1f} {y1:.1f}A{radius:g} {radius:g} 0 0 {int(not back)} {x2:.1f} {y2:.1f}"
    return element(
        "path", d=arc + arrowhead, fill="none", stroke="currentColor", stroke_opacity=0.7
    )


def noun_arrows(rows: np.ndarray, role: str) -> list[Arrow]:
    """Return the first two features of both nouns as arrows."""
    return [Arrow(WORDS[i], rows[i : i + 1, :2], role) for i in (BIRDS, BOATS)]


def turned_hand(
    hands: np.ndarray, query: np.ndarray, scores: np.ndarray, pixels_per_unit: int = 26
) -> Panel:
    """Draw keys, the clock hands at twice their length, with their scores, and a query."""
    x, y = 150, 2 * LINE_HEIGHT + 5 * pixels_per_unit

    def at(hand: Sequence[float] | np.ndarray, length: float) -> Place:
        return x + length * pixels_per_unit * hand[0], y - length * pixels_per_unit * hand[1]

    def line(role: str, tip: Place, **attributes: Any) -> str:
        ends = {"x1": x, "y1": y, "x2": tip[0], "y2": tip[1]}
        return element("line", **ends, stroke=colour(role), **attributes)

    body = [label(x, LINE_HEIGHT / 2, "The query of “pass”", font_weight="bold")]
    body.append(line("query", at(hands[PASS], 5), stroke_dasharray="3 4", stroke_opacity=0.7))
    tip = at(query, 1)
    reference = row_reference(query[None, :2], 0)
    body.append(line("query", tip, stroke_width=2.5, data_val=reference))
    body.append(label(tip[0] + 8, tip[1], "query of pass", "start", fill=colour("query")))
    # The offsets keep the labels off the hands.
    rights, downs = (-8, 8, 6, 0, -6), (-8, 10, 6, 12, 4)
    anchors = ("end", "start", "start", "middle", "end")
    for row, (right, down, anchor) in enumerate(zip(rights, downs, anchors, strict=True)):
        tip = at(hands[row], 2)
        body.append(line("key", tip, stroke_width=5, data_val=row_reference(hands, row)))
        score = cells.inline_number(scores, (row,))
        body.append(label(tip[0] + right, tip[1] + down, f"{WORDS[row]} ", anchor, score))
    body.append(turn(x, y, 4.4 * pixels_per_unit, *hands[[PASS, BIRDS]].tolist(), back=True))
    body.append(label(*at((0.9, 0.44), 5), "one step back", "start"))
    words = ", ".join(f"{word} {number(score)}" for word, score in zip(WORDS, scores, strict=True))
    return Panel(
        2 * x + 52,
        y + 2 * pixels_per_unit + 1.5 * LINE_HEIGHT,
        "".join(body),
        f"The hand of pass, turned back by one step, points where the hand of birds points. "
        f"Scores: {words}.",
        name="The query of “pass”",
    )
