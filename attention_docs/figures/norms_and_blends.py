import numpy as np

from attention_docs.figures.one_similarity import NEXT_KEY, QUERY
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import scores_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html


@site_figure
def batched_second_pair(steps_of: StepsOf) -> Html:
    r"""The same row of $\query{Q}$ and column 4 of $\key{K}^\top$ give the second largest score of
    the row. Nobody put it in. It is less than half of the largest, and the softmax leaves it less
    than a hundredth of the weight."""
    steps = steps_of("batched_attention")
    scores, weights = steps["scores"][QUERY], steps["weights"][QUERY]
    claim(np.sort(scores)[-2] == scores[NEXT_KEY], "the second largest score of the row")
    claim(scores[NEXT_KEY] < scores.max() / 2, "less than half of the largest")
    claim(weights[NEXT_KEY] < 1 / 100, "less than a hundredth of the weight")
    return scores_figure(steps, row=QUERY, column=NEXT_KEY)
