"""The figures of the course's page on learning."""

from typing import Any

import numpy as np

from attention_docs import examples
from attention_docs.examples.course_sentence import FEATURES, VOCABULARY, WORDS
from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.course import (
    BIRDS,
    THEY,
    WEIGHTS_OF_WORDS,
)
from attention_docs.publish.before.figures.drawings.bars import bars_panel
from attention_docs.publish.before.figures.learning import loss_chart
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import Html, beside, heatmap, matrix_panel


@site_figure
def course_gradient(steps_of: StepsOf) -> Html:
    r"""Five of the nine columns of the gradient of $W_{\text{vocabulary}}$. A step subtracts it, so
    the number of *action* in the column *fly* grows."""
    words = ["boats", "they", "fly", "sail", "."]
    gradient = steps_of("course_step")["gradient"][:, [VOCABULARY.index(word) for word in words]]
    fly = words.index("fly")
    claim(gradient[FEATURES.index("action"), fly] < 0, "*action* in the column *fly* grows")
    options: dict[str, Any] = {"row_labels": FEATURES, "column_labels": words}
    options |= {"rows": "features", "columns": "next word", "mark": (None, fly)}
    return heatmap(gradient, "Gradient", **options)


@site_figure
def course_losses(steps_of: StepsOf) -> Html:
    r"""The loss of the word after *they*, in the sentences held out. That of the learned model
    falls almost to zero. With uniform weights it falls at first and ends where it began."""
    steps = steps_of("course_learned")
    learned, uniform = steps["loss_they"], steps["loss_they_uniform"]
    claim(learned[-1] < learned[0] / 100, "falls almost to zero")
    claim(uniform.min() < 0.7 * uniform[0] < uniform[-1], "it falls at first")
    claim(abs(uniform[-1] - uniform[0]) < 0.1, "ends where it began")
    lines = {"learned": (learned, "first"), "uniform": (uniform, "second")}
    ticks = (0, 50, 100, 150, 200), (0, 1, 2, 3)
    return loss_chart("The word after they", steps["step"], lines, *ticks)


@site_figure
def course_training(steps_of: StepsOf) -> Html:
    r"""The weights of *they* in both heads, for *birds pass boats because they*, and the
    probabilities of the six reasons after it."""
    steps = steps_of("course_training")
    reasons = examples.labels("course_training", "reasons")[0]
    heads = {"head 1": "weights_1", "head 2": "weights_2"}
    panels = [bars_panel(name, steps[step][THEY], WORDS) for name, step in heads.items()]
    next_words = bars_panel("next word", steps["reasons"], reasons, "output")
    return beside([*panels, next_words], "What training changes")


@site_figure
def course_learned_weights(steps_of: StepsOf) -> Html:
    r"""The weights of head 2 for *birds pass boats because they*. Before the first step every row
    is close to a plain average. After the last one *they* looks mostly at *birds*."""
    steps = steps_of("course_learned")
    average = np.tri(5) / np.arange(1, 6)[:, None]
    claim(np.abs(steps["before_2"] - average).max() < 0.05, "every row is close to a plain average")
    claim(steps["weights_2"][THEY, BIRDS] > 0.7, "mostly at *birds*")
    stages = {"before_2": "Before the first step", "weights_2": "After the last step"}
    panels = [
        matrix_panel(steps[step], name, **WEIGHTS_OF_WORDS, mark=(THEY, None))
        for step, name in stages.items()
    ]
    return beside(panels, "Learned weights")
