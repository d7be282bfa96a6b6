from attention_docs.figures.registry import site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, attention_lines, heatmap, product_figure


@site_figure
def reference_heatmap(steps_of: StepsOf) -> Html:
    r"""`heatmap(masked, ...)`: four queries on five keys under a causal mask."""
    masked = steps_of("causal_alignments")["masked"]
    return heatmap(
        masked, "Masked scores", rows="queries", columns="keys", role="scores", mark=(2, None)
    )


@site_figure
def reference_product(steps_of: StepsOf) -> Html:
    r"""`product_figure(weights, value, row=1, column=2, ...)`: the second query, the third number
    of its output."""
    steps = steps_of("distinct_sizes")
    return product_figure(
        steps["weights"],
        steps["V"],
        row=1,
        column=2,
        names=("A", "V", "O"),
        roles=("weights", "value", "output"),
        scales=("sequential", "diverging", "diverging"),
        product=steps["output"],
    )


@site_figure
def reference_lines(steps_of: StepsOf) -> Html:
    r"""`attention_lines(weights, tokens, keys, query=1)`: one query alone, with its weights."""
    weights = steps_of("distinct_sizes")["weights"]
    queries, keys = words_of(weights)
    return attention_lines(weights, queries, keys, query=1)
