from attention_docs.examples.course_sentence import FEATURES, KEY_FEATURES, WORDS
from attention_docs.figures.course_sentence import CLOCK_FEATURES, WORD_FEATURES
from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, product_figure, svg


@site_figure
def course_product(steps_of: StepsOf) -> Html:
    r"""A matrix product. The marked row and the marked column have the same five names. Their
    entries are multiplied pair by pair, and the sum of the products stands where the row and the
    column meet."""
    steps = steps_of("course_projections")
    words, matrix = steps["X"][:, WORD_FEATURES], steps["W_Q"][WORD_FEATURES]
    claim(len(matrix) == 5, "have the same five names")
    # The features that are not drawn are zero in every word, so they add nothing to a sum.
    claim(not steps["X"][:, CLOCK_FEATURES].any(), "the sum of the products stands where")
    states = []
    for row, column in (0, 1), (1, 0), (2, 1), (4, 2):
        picture = product_figure(
            words,
            matrix,
            row=row,
            column=column,
            names=("X", "W_Q", "Q"),
            roles=("input", None, "query"),
            row_labels=WORDS,
            column_labels=KEY_FEATURES,
            inner_labels=FEATURES[WORD_FEATURES],
            product=steps["Q"],
        )
        name = f"row {WORDS[row]}, column {KEY_FEATURES[column]}"
        states.append(picture.panel._replace(name=name))
    return svg.player(states, "A matrix product, entry by entry")
