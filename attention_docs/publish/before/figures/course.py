"""The figures of the course, all of the same sentence."""

from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.examples.course_sentence import (
    FEATURES,
    KEY_FEATURES,
    SWAPPED,
    VOCABULARY,
    WORDS,
)
from attention_docs.publish.before.figures.claims import claim, labels_of_largest
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
from attention_docs.publish.before.figures.drawings.steps_of_attention import (
    matrices_figure,
    output_figure,
    step_panel,
)
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import (
    Axis,
    Html,
    Series,
    beside,
    figure,
    heatmap,
    line_chart,
    lines_panel,
    matrix_panel,
    product_figure,
)
from attention_docs.render.figures.svg import below
from attention_docs.render.numbers import exact_number
from attention_docs.softmax import softmax

BIRDS, PASS, BOATS, BECAUSE, THEY = range(5)
# The features that have a meaning, and those of the position.
WORD_FEATURES, CLOCK_FEATURES = slice(0, 5), slice(5, 7)
AIR_AND_WATER = slice(0, 2)
VALUE_FEATURES = FEATURES[:4]
# Titles for the ends of lines on pages that have not introduced queries and keys.
SIDES = ("asks", "is asked")


# The options of `matrix_panel` for weights of words on words.
WEIGHTS_OF_WORDS: dict[str, Any] = {
    "rows": "the word that asks",
    "columns": "the word that is asked",
    "row_labels": WORDS,
    "column_labels": WORDS,
    "role": "weights",
    "scale": "sequential",
}
# The words whose columns are drawn where the whole vocabulary would be too wide.
ENDINGS = ["fly", "sail", "."]
ENDING_COLUMNS = [VOCABULARY.index(word) for word in ENDINGS]


@site_figure
def course_product(steps_of: StepsOf) -> Html:
    r"""A matrix product. The marked row, *birds*, and the marked column have the same five names.
    Their entries are multiplied pair by pair, and the sum of the products stands where the row and
    the column meet. Only *air* and *water* contribute to it."""
    steps = steps_of("course_projections")
    words, matrix = steps["X"][:, WORD_FEATURES], steps["W_Q"][WORD_FEATURES]
    marked_column = 1
    claim(len(matrix) == 5, "have the same five names")
    terms = words[BIRDS] * matrix[:, marked_column]
    # The features that are not drawn are zero in every word, so they add nothing to a sum.
    claim(not steps["X"][:, CLOCK_FEATURES].any(), "the sum of the products stands where")
    contributing = [FEATURES[i] for i in np.flatnonzero(terms)]
    claim(contributing == ["air", "water"], "Only *air* and *water* contribute")
    return product_figure(
        words,
        matrix,
        row=BIRDS,
        column=marked_column,
        names=("X", "W_Q", "Q"),
        roles=("input", None, "query"),
        row_labels=WORDS,
        column_labels=KEY_FEATURES,
        inner_labels=FEATURES[WORD_FEATURES],
        product=steps["Q"],
    )


@site_figure
def course_sentences(steps_of: StepsOf) -> Html:
    r"""Two sentences of the same words, and the word that comes next. It depends on who *they* are:
    the noun that comes first."""
    steps = steps_of("course_next_token")
    next_word = labels_of_largest(steps["probabilities"], VOCABULARY)[THEY]
    next_word_swapped = labels_of_largest(steps["probabilities_swapped"], VOCABULARY)[THEY]
    claim([next_word, next_word_swapped] == ["fly", "sail"], "It depends on who *they* are")
    claim(sorted(WORDS) == sorted(SWAPPED), "Two sentences of the same words")
    sentences = [[*WORDS, next_word], [*SWAPPED, next_word_swapped]]
    panel = boxed_words_panel(sentences, pronoun=THEY, noun=BIRDS)
    return figure(panel, "Two sentences and their next words")


@site_figure
def course_words(steps_of: StepsOf) -> Html:
    r"""The sentence as a matrix $\input{X}$: a row for each word, a column for each feature.
    *Birds* and *boats* both contain some *air* and some *water*. *They* contains nothing but
    *refers*, and so has nothing in common with either."""
    # The features of the position are still empty.
    matrix = steps_of("course_averages")["X"][:, WORD_FEATURES]
    nouns, they = matrix[[BIRDS, BOATS]], matrix[THEY]
    claim(np.all(nouns[:, AIR_AND_WATER] > 0), "both contain some *air* and some *water*")
    features_of_they = [FEATURES[i] for i in np.flatnonzero(they)]
    claim(features_of_they == ["refers"], "nothing but *refers*")
    claim(not (nouns @ they).any(), "nothing in common with either")
    labels = {"row_labels": WORDS, "column_labels": FEATURES[WORD_FEATURES]}
    return heatmap(matrix, "The words X", rows="words", columns="features", role="input", **labels)


@site_figure
def course_plane(steps_of: StepsOf) -> Html:
    r"""Two of the features as a plane. Each noun is an arrow: *birds* points more towards *air* and
    *boats* more towards *water*. The plain average of all five words lies between the two, the
    same for both sentences."""
    steps = steps_of("course_averages")
    words = steps["X"][:, AIR_AND_WATER]
    (air_of_birds, water_of_birds), (air_of_boats, water_of_boats) = words[[BIRDS, BOATS]]
    claim(air_of_birds > water_of_birds, "*birds* points more towards *air*")
    claim(air_of_boats < water_of_boats, "*boats* more towards *water*")
    average = steps["mean"][AIR_AND_WATER]
    claim(np.ptp(average) == 0, "lies between the two")
    arrows = [*noun_arrows(steps["X"], "input"), Arrow("average", average, "output")]
    panel = arrows_panel("Words as arrows", FEATURES[AIR_AND_WATER], arrows)
    return figure(panel, "Two nouns and the average")


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
    own_weights = np.diag(weights)
    weights_of_others = weights - np.diag(own_weights)
    claim(np.all(own_weights > weights_of_others.max(axis=1)), "more than it gives to any other")
    distance, distance_of_averages = (
        np.linalg.norm(rows[BIRDS] - rows[BOATS]) for rows in (steps["X"], steps["blended"])
    )
    claim(distance_of_averages < distance, "closer together than the nouns themselves")
    nouns, averages = noun_arrows(steps["X"], "input"), noun_arrows(steps["blended"], "output")
    arrows = [*(noun._replace(name="", dashed=True) for noun in nouns), *averages]
    heading = "Weights from similarity"
    panels = [
        matrix_panel(weights, heading, mark=(BIRDS, None), **WEIGHTS_OF_WORDS),
        arrows_panel("The nouns, averaged", FEATURES[AIR_AND_WATER], arrows),
    ]
    return beside(panels, "Similarity and what it does")


@site_figure
def course_query(steps_of: StepsOf) -> Html:
    r"""Where *they* looks, first by similarity alone, then with the query and the keys that this
    page introduces. The thicker a line, the larger the weight: *they* turns from itself to the two
    nouns."""
    steps = steps_of("course_projections")
    by_similarity, by_query = steps["weights_alike"], steps["weights"]
    saw_itself = by_similarity[THEY].argmax() == THEY
    sees_nouns = by_query[THEY, [BIRDS, BOATS]].min() > 0.4
    claim(saw_itself and sees_nouns, "*they* turns from itself to the two nouns")
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
    they = slice(THEY, THEY + 1)
    word, word_features = steps["X"][they, WORD_FEATURES], FEATURES[WORD_FEATURES]
    rows = [
        LabelledRow("word x", "input", word, word_features, "times W_Q"),
        LabelledRow("query q", "query", steps["Q"][they], KEY_FEATURES, "times each word's key"),
        LabelledRow("scores s", "scores", steps["scores"][they], WORDS, "softmax"),
        LabelledRow("weights a", "weights", steps["weights"][they], WORDS, "average the values"),
        LabelledRow("output o", "output", steps["output"][they], VALUE_FEATURES, ""),
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
    factor_of_step = {"weights": 3**-0.5, "weights_unscaled": 1.0}
    series = []
    # The words other than *pass* have equal weights.
    for name, word, role in (("pass", PASS, "weights"), ("any other", BIRDS, "first")):
        series.append(Series(name, factors, curves[:, word], role))
        for step, factor in factor_of_step.items():
            weight = steps[step][word : word + 1]
            series.append(Series("", [factor], weight, role, line=False, points=True))
    x = Axis("factor", (1 / 16, 1 / 4, 1, 4), logarithmic=True)
    y = Axis("weight", (0, 0.5, 1))
    return line_chart("Weights of “birds”", x, y, series)


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
    r"""A query among three keys, its output among their values, and the weights of the three. The
    axes of both planes go from $-3$ to $3$."""
    steps = steps_of("turned_query")
    names = ["a", "b", "c"]
    keys, values = [], []
    for name, key, value in zip(names, steps["K"], steps["V"], strict=True):
        keys.append(Vector(name, key, "key"))
        values.append(Vector(name, value, "value", is_arrow=False))
    query = Vector("query", steps["Q"][0], "query", is_input=True)
    output = Vector("output", steps["output"][0], "output", is_arrow=False, is_inside=True)
    options: dict[str, Any] = {"reach": 3, "pixels_per_unit": 26}
    panels = [
        plane_panel("query and keys", [*keys, query], **options),
        plane_panel("output and values", [*values, output], corners=steps["V"], **options),
        bars_panel("weights", steps["weights"][0], names),
    ]
    return beside(panels, "A query, its weights and its output")


@site_figure
def course_one_number(steps_of: StepsOf) -> Html:
    r"""The last step: the weights of *they*, row 5 of $\weights{A}$, average the column *air* of
    the values $\value{V}$. The result stands where the two meet, in the output $\output{O}$."""
    return output_figure(steps_of("course_formula"), row=THEY, column=FEATURES.index("air"))


@site_figure
def course_order(steps_of: StepsOf) -> Html:
    r"""Where *they* looks in the two sentences, without positions. The nouns have changed places,
    and their weights have moved along with them. Both get the same weight in both sentences."""
    steps = steps_of("course_order")
    weights, swapped = steps["weights"], steps["weights_swapped"]
    with_nouns_exchanged = weights[THEY, [BOATS, PASS, BIRDS, BECAUSE, THEY]]
    have_moved = np.allclose(with_nouns_exchanged, swapped[THEY])
    claim(have_moved, "their weights have moved along with them")
    on_nouns = [weights[THEY, [BIRDS, BOATS]], swapped[THEY, [BIRDS, BOATS]]]
    claim(np.ptp(on_nouns) < 1e-12, "Both get the same weight in both")
    return lines_of_they("Where the pronoun looks without positions", weights, swapped)


@site_figure
def course_positions(steps_of: StepsOf) -> Html:
    r"""Where *they* looks in the two sentences, with positions. Now it finds the noun that comes
    first, whichever it is, and the other noun gets almost nothing."""
    steps = steps_of("course_order")
    weights, swapped = steps["weights_with_positions"], steps["weights_with_positions_swapped"]
    first_noun, second_noun = BIRDS, BOATS  # their positions in both sentences
    for rows in (weights, swapped):
        claim(rows[THEY, first_noun] > 0.9, "it finds the noun that comes first")
        claim(rows[THEY, second_noun] < 0.03, "the other noun gets almost nothing")
    return lines_of_they("Where the pronoun looks with positions", weights, swapped)


def lines_of_they(name: str, weights: Array, swapped: Array) -> Html:
    """Draw the weights of "they" as lines, in the sentence and in the one with swapped nouns."""
    panels = [
        lines_panel(weights, WORDS, query=THEY, heading="Birds pass boats …"),
        lines_panel(swapped, SWAPPED, query=THEY, heading="Boats pass birds …"),
    ]
    return beside(panels, name)


@site_figure
def course_mask(steps_of: StepsOf) -> Html:
    r"""The weights without and with the causal mask. What is crossed out lies in the future of the
    word that asks. Each row divides its weight among the words that are left."""
    steps = steps_of("course_mask")
    panels = [
        matrix_panel(steps["open_weights"], "Without a mask", **WEIGHTS_OF_WORDS),
        matrix_panel(
            steps["weights"],
            "With the causal mask",
            hidden=~np.asarray(steps["mask"]),
            **WEIGHTS_OF_WORDS,
        ),
    ]
    return beside(panels, "Weights without and with a mask")


@site_figure
def clicked_mask(steps_of: StepsOf) -> Html:
    r"""The weights under this mask, and the share of its weight that each word gives to later
    words: what leaks."""
    steps = steps_of("clicked_mask")
    panels = [
        matrix_panel(steps["weights"], "Weights", **WEIGHTS_OF_WORDS),
        bars_panel("leaked", steps["leaked"], WORDS),
    ]
    return beside(panels, "Weights under a mask, and what leaks")


@site_figure
def course_heads(steps_of: StepsOf) -> Html:
    r"""Two attention heads look at the same sentence. In the last row, *they* finds its
    noun in head 1 and the previous word in head 2."""
    steps = steps_of("course_heads")
    weights_1, weights_2 = steps["weights_1"], steps["weights_2"]
    seen_by_they = [weights_1[THEY].argmax(), weights_2[THEY].argmax()]
    claim(seen_by_they == [BIRDS, THEY - 1], "finds its noun in head 1 and the previous word")
    options = {**WEIGHTS_OF_WORDS, "hidden": ~np.tri(len(WORDS), dtype=bool), "mark": (THEY, None)}
    heads = {"Head 1: what it needs": weights_1, "Head 2: the previous word": weights_2}
    return matrices_figure("Weights of two heads", heads, **options)


@site_figure
def course_output_projection(steps_of: StepsOf) -> Html:
    r"""The word *they*: what the two heads have found stands on the left, eight numbers below each
    other. Each number multiplies its row of $W_O$, and the sum of the rows is the output. The lower
    half of $W_O$ drops the *air* and *water* of head 2."""
    steps = steps_of("course_heads")
    w_o, output = steps["W_O"], steps["output"][THEY:]
    # The rows of head 2 come after those of head 1.
    rows_of_head_2 = w_o[len(VALUE_FEATURES) :]
    claim(not rows_of_head_2[AIR_AND_WATER].any(), "drops the *air* and *water* of head 2")
    head_outputs = steps["side_by_side"][THEY:]
    claim(head_outputs.size == 8, "eight numbers below each other")
    panel = output_projection_panel("they", head_outputs, w_o, output, FEATURES)
    return figure(panel, "The row of “they” times W_O")


@site_figure
def course_block_steps(steps_of: StepsOf) -> Html:
    r"""The word *they* on its way through the block, from top to bottom. Attention adds *air*, the
    mark of the noun, and a *reason*. The feed-forward network exchanges *refers* for an *action*.
    Each norm brings the row back to one scale."""
    rows = steps_of("course_block")["they"]
    word, with_attention, normed, with_network, output = rows
    added_by_attention, added_by_network = with_attention - word, with_network - normed
    two_largest = {FEATURES[i] for i in added_by_attention.argsort()[-2:]}
    claim(two_largest == {"air", "reason"}, "Attention adds *air*, the mark of the noun, and")
    exchanged = FEATURES[added_by_network.argmin()], FEATURES[added_by_network.argmax()]
    claim(exchanged == ("refers", "action"), "exchanges *refers* for an *action*")
    variances = [normed.var(), output.var()]
    claim(np.allclose(variances, 1, atol=1e-3), "back to one scale")
    return heatmap(
        rows,
        "The word “they”",
        rows="stages",
        columns="features",
        row_labels=["word and place", "+ attention", "norm", "+ feed-forward", "norm"],
        column_labels=FEATURES,
        compact=True,
    )


@site_figure
def course_endings(steps_of: StepsOf) -> Html:
    r"""The probabilities of *fly*, *sail* and the full stop after *they*, in both sentences. With
    head 1 the first noun decides between *fly* and *sail*. Without it both rows are the same, for
    all words of the vocabulary."""
    steps = steps_of("course_next_token")
    endings = labels_of_largest(steps["with_head_1"], VOCABULARY)
    claim(endings == ["fly", "sail"], "the first noun decides between *fly* and *sail*")
    row_of_birds, row_of_boats = steps["without_head_1"]
    claim(np.allclose(row_of_birds, row_of_boats, rtol=1e-12), "both rows are the same")
    return matrices_figure(
        "The next word in both sentences",
        {
            "With head 1": steps["with_head_1"][:, ENDING_COLUMNS],
            "Without head 1": steps["without_head_1"][:, ENDING_COLUMNS],
        },
        rows="sentence",
        columns="after “they”",
        row_labels=["birds pass boats", "boats pass birds"],
        column_labels=ENDINGS,
        role="output",
        scale="sequential",
    )


@site_figure
def course_vocabulary(steps_of: StepsOf) -> Html:
    r"""The matrix $W_{\text{vocabulary}}$ without its last two rows, which are zero. A column says
    what the vector of a position must look like if its word is to come next."""
    w_vocabulary = steps_of("course_sentence")["W_vocabulary"]
    claim(not w_vocabulary[CLOCK_FEATURES].any(), "its last two rows, which are zero")
    return heatmap(
        w_vocabulary[WORD_FEATURES],
        "Vocabulary",
        rows="features",
        columns="next word",
        row_labels=FEATURES[WORD_FEATURES],
        column_labels=VOCABULARY,
        compact=True,
    )


@site_figure
def course_next(steps_of: StepsOf) -> Html:
    r"""What comes next? One row for each word of the sentence, one column for each word of the
    vocabulary. In every row the largest probability belongs to the word that
    actually follows."""
    probabilities = steps_of("course_next_token")["probabilities"]
    predicted = labels_of_largest(probabilities, VOCABULARY)
    claim(predicted == [*WORDS[1:], "fly"], "In every row the largest probability")
    return heatmap(
        probabilities,
        "Probabilities after each word",
        rows="",
        columns="next word",
        row_labels=WORDS,
        column_labels=VOCABULARY,
        role="output",
        scale="sequential",
        mark=(THEY, None),
        compact=True,
    )


@site_figure
def course_temperatures(steps_of: StepsOf) -> Html:
    r"""Three of the probabilities after *they*, at three temperatures. The higher the temperature,
    the less *fly* has, and the more *sail* and the full stop."""
    steps = steps_of("course_next_token")
    probabilities = steps["tempered"][:, ENDING_COLUMNS]
    claim(probabilities.shape == (3, 3), "Three of the probabilities after *they*, at three")
    fly, sail, full_stop = np.diff(probabilities.T)  # from one temperature to the next
    claim(np.all(fly < 0), "the less *fly* has")
    claim(np.all(sail > 0) and np.all(full_stop > 0), "the more *sail* and the full stop")
    return heatmap(
        probabilities,
        "Probabilities",
        rows="temperature",
        columns="next word",
        row_labels=[exact_number(temperature) for temperature in steps["temperatures"]],
        column_labels=ENDINGS,
        role="output",
        scale="sequential",
    )


@site_figure
def course_writing(steps_of: StepsOf) -> Html:
    r"""The two drawn words, the probabilities, and where each word ends when these are laid side by
    side. The second word is drawn given six words, of which the last is the first drawn one."""
    steps = steps_of("course_writing")
    # What is written comes first, because phones show one panel beside the sliders.
    names = {"written": "Written", "probabilities": "Probabilities", "cumulative": "Reaches to"}
    panels = [
        step_panel(steps[step], name, rows="", columns="", role="output", scale="sequential")
        for step, name in names.items()
    ]
    return beside(panels, "Two words, drawn")


def noun_arrows(rows: np.ndarray, role: str) -> list[Arrow]:
    """Return *air* and *water* of both nouns as arrows."""
    return [Arrow(WORDS[i], rows[i, AIR_AND_WATER], role) for i in (BIRDS, BOATS)]
