from collections.abc import Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import output_figure, scores_figure
from attention_docs.lookup import Steps, StepsOf, words_of
from attention_docs.render import figures as draw

TOKENS = ["bird", "boat", "seaplane"]
BIRD, BOAT, SEAPLANE = range(3)
AFLOAT = 1  # the second feature of the values


@site_figure
def self_attention_scores(steps_of: StepsOf) -> draw.Html:
    r"""The query of the seaplane, row 3 of $\query{Q}$, meets its key, column 3 of $\key{K}^\top$.
    Their dot product is the score in row 3, column 3 of $\scores{S}$."""
    return scores_figure(steps_of("self_attention"), row=SEAPLANE, column=SEAPLANE)


@site_figure
def self_attention_output(steps_of: StepsOf) -> draw.Html:
    r"""The weights of the bird, row 1 of $\weights{A}$, average column 2 of $\value{V}$, which says
    how far each of the three is *afloat*. The result is in row 1, column 2 of the output
    $\output{O}$."""
    claim(len(TOKENS) == 3, "how far each of the three is *afloat*")
    return output_figure(steps_of("self_attention"), row=BIRD, column=AFLOAT)


@site_figure
def self_attention_lines(steps_of: StepsOf) -> draw.Html:
    r"""Who looks at whom. The thicker a line, the larger the weight. Bird and boat look at each
    other and at the seaplane, which looks mostly at itself."""
    weights = steps_of("self_attention")["weights"]
    for token, others in ((BIRD, [BOAT, SEAPLANE]), (BOAT, [BIRD, SEAPLANE])):
        looks_at_others = weights[token, others].min() > weights[token, token]
        claim(looks_at_others, "Bird and boat look at each other and at the seaplane")
    claim(weights[SEAPLANE, SEAPLANE] > 3 / 4, "which looks mostly at itself")
    return draw.attention_lines(weights, TOKENS)


@site_figure
def self_attention_plane(steps_of: StepsOf) -> draw.Html:
    r"""The inputs have a plane of their own. Of their four features two are drawn, and the other
    two repeat them. Values and outputs share another plane: an output is an average of the values,
    so it lies in their triangle."""
    steps = steps_of("self_attention")
    claim(repeats_two_features(steps["X"]), "two repeat them")
    inputs = [draw.Points("inputs X", steps["X"][:, :2], TOKENS, "input")]
    return plane_figure("Self-attention: points", inputs, steps)


@site_figure
def self_attention_space(steps_of: StepsOf) -> draw.Html:
    r"""Values and outputs in the space of the values, with three features each. An output is an
    average of the values, so it lies in their triangle. The output of the seaplane lies close to
    its own value, from which it takes most. The inputs are not drawn, because they have four
    features and live in another space."""
    steps = steps_of("values_in_space")
    claim(steps["V"].shape[1] == 3, "in the space of the values, with three features each")
    claim(steps["X"].shape[1] == 4, "they have four features")
    distances = np.linalg.norm(steps["V"] - steps["output"][SEAPLANE], axis=1)
    claim(distances.argmin() == SEAPLANE, "The output of the seaplane lies close to its own value")
    claim(steps["weights"][SEAPLANE].argmax() == SEAPLANE, "from which it takes most")
    return space_figure("Self-attention: values and outputs", steps, size=(2, 2, 1))


def outputs_and_values(steps: Steps) -> list[draw.Points]:
    """Return the points of the outputs and, outlined, of the values in the same space."""
    queries, keys = words_of(steps["weights"])
    # The labels of the first points are left of them, and those of the others right. So the labels
    # of an output and of a value close to it do not overlap.
    return [
        draw.Points("outputs O", steps["output"], queries, "output"),
        draw.Points("values V", steps["V"], keys, "value", outlined=True),
    ]


def repeats_two_features(x: Array) -> bool:
    """Whether features 3 and 4 of all tokens repeat 1 and 2, so that these two show all four."""
    return np.array_equal(x[:, 2:], x[:, :2])


def plane_figure(name: str, inputs: Sequence[draw.Points], steps: Steps) -> draw.Html:
    """Draw the first two features of inputs beside the values and outputs."""
    _, features = words_of(steps["V"])
    panels = [
        draw.scatter_2d("Inputs", ["flies", "floats"], inputs, size=(1, 1)),
        draw.scatter_2d("Values and outputs", features, outputs_and_values(steps), size=(2, 2)),
    ]
    return draw.beside(panels, name)


def space_figure(name: str, steps: Steps, size: Sequence[int]) -> draw.Html:
    """Draw the values and outputs in space, on axes from 0 to the given sizes."""
    _, features = words_of(steps["V"])
    return draw.scatter_3d(name, features, outputs_and_values(steps), size)
