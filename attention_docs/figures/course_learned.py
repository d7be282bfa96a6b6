import numpy as np

from attention_docs.examples.course_sentence import BIRDS, FEATURES, THEY, VOCABULARY, WORDS
from attention_docs.figures.course_sentence import WEIGHTS_OF_WORDS
from attention_docs.figures.learning import loss_chart
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import matrices_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, bars, beside, heatmap


@site_figure
def course_gradient(steps_of: StepsOf) -> Html:
    r"""Three of the nine columns of the gradient. That of *fly* is marked."""
    words = ["fly", "sail", "."]
    columns = [VOCABULARY.index(word) for word in words]
    gradient = steps_of("course_step")["gradient"][:, columns]
    fly = words.index("fly")
    claim([len(words), len(VOCABULARY)] == [3, 9], "Three of the nine columns")
    return heatmap(
        gradient,
        "Gradient",
        rows="features",
        columns="next word",
        row_labels=FEATURES,
        column_labels=words,
        mark=(None, fly),
    )


@site_figure
def course_losses(steps_of: StepsOf) -> Html:
    r"""The loss after the word *they*, in sentences that the models have not seen. That of the
    learned model falls almost to zero. With uniform weights it falls at first and ends above where
    it began."""
    steps = steps_of("course_learned")
    learned, uniform = steps["loss_they"], steps["loss_they_uniform"]
    claim(learned[-1] < learned[0] / 100, "falls almost to zero")
    claim(uniform.min() < 0.7 * uniform[0] < uniform[-1], "it falls at first")
    claim(uniform[-1] > uniform[0], "ends above where it began")
    lines = {"learned": (learned, "first"), "uniform": (uniform, "second")}
    return loss_chart(
        "The word after they", steps["step"], lines, (0, 50, 100, 150, 200), (0, 1, 2, 3)
    )


@site_figure
def course_training(steps_of: StepsOf) -> Html:
    r"""The weights of the word *they* in both heads, for *birds pass boats because they*,
    and the probabilities of the six reasons after it."""
    steps = steps_of("course_training")
    (reasons,) = words_of(steps["reasons"])
    claim(len(reasons) == 6, "the six reasons")
    panels = [
        bars.bars_panel("head 1", steps["weights_1"][THEY], WORDS),
        bars.bars_panel("head 2", steps["weights_2"][THEY], WORDS),
        bars.bars_panel("next word", steps["reasons"], reasons, "output"),
    ]
    return beside(panels, "What training changes")


@site_figure
def course_learned_weights(steps_of: StepsOf) -> Html:
    r"""The weights of head 2. Before the first step every row is close to a plain average. After
    the last one the word *they* looks mostly at *birds*."""
    steps = steps_of("course_learned")
    weights_before, weights_after = steps["before_2"], steps["weights_2"]
    uniform = np.tri(len(WORDS))
    uniform /= uniform.sum(axis=1, keepdims=True)
    difference = np.abs(weights_before - uniform).max()
    claim(difference < 0.05, "every row is close to a plain average")
    claim(weights_after[THEY, BIRDS] > 0.7, "mostly at *birds*")
    weights = {"Before the first step": weights_before, "After the last step": weights_after}
    options = {"mark": (THEY, None), "numbers": False, **WEIGHTS_OF_WORDS}
    return matrices_figure("Learned weights", weights, **options)
