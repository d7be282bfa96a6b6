from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.figures.self_attention import (
    BIRD,
    plane_figure,
    repeats_two_features,
    space_figure,
)
from attention_docs.figures.steps_of_attention import output_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, Points, attention_lines


@site_figure
def cross_attention_output(steps_of: StepsOf) -> Html:
    r"""Each row of $\weights{A}$ holds the weights of one average of the three values, so the
    output $\output{O}$ has a row for each query."""
    claim(len(steps_of("cross_attention")["V"]) == 3, "one average of the three values")
    return output_figure(steps_of("cross_attention"), row=BIRD, column=0)


@site_figure
def cross_attention_plane(steps_of: StepsOf) -> Html:
    r"""Both input sequences in a plane of their own, drawn by two of their four features, which the
    other two repeat. Each position of $\input{X_q}$ stands where one of $\input{X_{kv}}$ does,
    because their features are equal. Values and outputs share another plane, and the outputs lie
    in the triangle of the values."""
    steps = steps_of("cross_attention")
    x_q, x_kv = steps["X_q"], steps["X_kv"]
    claim(repeats_two_features(x_q), "which the other two repeat")
    claim(repeats_two_features(x_kv), "which the other two repeat")
    claim({*map(tuple, x_q)} <= {*map(tuple, x_kv)}, "their features are equal")
    queries, keys = words_of(steps["weights"])
    inputs = [
        Points("X_q", x_q[:, :2], queries, "input"),
        Points("X_kv", x_kv[:, :2], keys, "input"),
    ]
    return plane_figure("Cross-attention: points", inputs, steps)


@site_figure
def cross_attention_lines(steps_of: StepsOf) -> Html:
    r"""The alignment of the words. Each French word on the left looks at the English word that is
    to be translated next. The thickest lines cross, because *voiture* comes before the adjective
    in French and *car* after it in English."""
    weights = steps_of("two_sequences")["weights"]
    french, english = words_of(weights)
    seen = labels_of_largest(weights, english)
    claim(seen == ["car", "green"], "looks at the English word that is to be translated next")
    claim(english.index("car") > english.index("green"), "The thickest lines cross")
    return attention_lines(weights, french, english)


@site_figure
def cross_attention_space(steps_of: StepsOf) -> Html:
    r"""Four values are the corners of a tetrahedron, and the two outputs lie inside it. The output
    of *la* is drawn towards the value of *car*, and that of *voiture* towards the value of *green*,
    as their weights say. The two input sequences are not drawn: they have six features, and a query
    and a value have no space in common."""
    steps = steps_of("two_sequences")
    claim(steps["output"].shape == (2, 3), "the two outputs lie inside it")
    claim(steps["V"].shape == (4, 3), "Four values are the corners of a tetrahedron")
    claim(steps["X_q"].shape[1] == 6, "they have six features")
    _, english = words_of(steps["weights"])
    seen_by_la, seen_by_voiture = labels_of_largest(steps["weights"], english)
    claim(seen_by_la == "car", "The output of *la* is drawn towards the value of *car*")
    claim(seen_by_voiture == "green", "that of *voiture* towards the value of *green*")
    return space_figure("Cross-attention: values and outputs", steps, size=(2, 2, 2))
