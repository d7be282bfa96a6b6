import numpy as np

from attention_docs.examples.course_sentence import BIRDS, FEATURES, KEY_FEATURES, WORDS
from attention_docs.figures.course_sentence import CLOCK_FEATURES, WORD_FEATURES
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, product_figure


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
