from attention_docs.examples.course_sentence import FEATURES, THEY, VOCABULARY, WORDS
from attention_docs.figures import course_sentence as course
from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, bars, beside, heatmap


@site_figure
def course_ablation(steps_of: StepsOf) -> Html:
    r"""The probabilities of *fly*, *sail* and the full stop after both sentences, and how many of
    the ten rows put the right word first."""
    steps = steps_of("course_ablation")
    sentences, words = words_of(steps["endings"])
    panels = [
        bars.bars_panel(f"{sentence} …", row, words, "output")
        for sentence, row in zip(sentences, steps["endings"], strict=True)
    ]
    (of_ten,) = words_of(steps["right"])
    panels.append(bars.bars_panel("rows right", steps["right"], of_ten, largest=10))
    return beside(panels, "The endings of both sentences")


@site_figure
def course_vocabulary(steps_of: StepsOf) -> Html:
    r"""The matrix without its last two rows, which are zero. A column says what a row of
    $\output{B}$ must look like for its word to come next."""
    w_vocabulary = steps_of("course_sentence")["W_vocabulary"]
    claim(not w_vocabulary[course.CLOCK_FEATURES].any(), "its last two rows, which are zero")
    return heatmap(
        w_vocabulary[course.WORD_FEATURES],
        "Vocabulary",
        rows="features",
        columns="next word",
        row_labels=FEATURES[course.WORD_FEATURES],
        column_labels=VOCABULARY,
        compact=True,
    )


@site_figure
def course_next(steps_of: StepsOf) -> Html:
    r"""The probabilities $P$. In every row the largest probability belongs to the word that
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
