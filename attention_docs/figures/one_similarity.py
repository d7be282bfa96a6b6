import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import output_figure, scores_figure, softmax_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html

# In the batched example: the query and the key that are alike, and the key with which that query
# has the second largest score.
QUERY, KEY, NEXT_KEY = 2, 5, 3


@site_figure
def batched_scores(steps_of: StepsOf) -> Html:
    r"""The pair put in: row 3 of $\query{Q}$ and column 6 of $\key{K}^\top$ are alike. Where they
    meet stands the largest score. A cell shows its number when the pointer rests on it."""
    steps = steps_of("batched_attention")
    scores = steps["scores"]
    claim(scores.max() == scores[QUERY, KEY], "stands the largest score")
    return scores_figure(steps, row=QUERY, column=KEY)


@site_figure
def batched_weights(steps_of: StepsOf) -> Html:
    r"""The softmax turns each row of scaled scores into weights. In the marked row one score stands
    out, and takes nearly all the weight."""
    steps = steps_of("batched_attention")
    claim(steps["weights"][QUERY].max() > 0.95, "takes nearly all the weight")
    return softmax_figure("Scaled scores and their weights", steps["scaled"], steps["weights"])


@site_figure
def batched_output(steps_of: StepsOf) -> Html:
    r"""Row 3 of the weights meets column 4 of the values. Nearly all of its weight lies on the
    sixth value, so the output is close to it."""
    steps = steps_of("batched_attention")
    weight = steps["weights"][QUERY, KEY]
    claim(weight > 0.95, "Nearly all of its weight lies on the sixth value")
    feature = 3
    distances = np.abs(steps["V"][:, feature] - steps["output"][QUERY, feature])
    claim(distances.argmin() == KEY, "the output is close to it")
    return output_figure(steps, row=QUERY, column=feature)
