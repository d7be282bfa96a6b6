import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import WEIGHTS, matrices_figure, step_panel
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, beside


@site_figure
def mask_functions(steps_of: StepsOf) -> Html:
    r"""Two rules for eight tokens, and both together: a query sees a key if both rules allow it.
    The first three tokens are one document, the others another."""
    steps = steps_of("mask_functions")
    both = steps["causal"] & steps["document"]
    claim(np.array_equal(steps["packed"], both), "a query sees a key if both rules allow it")
    claim(steps["documents"].tolist() == 3 * [0] + 5 * [1], "first three tokens are one document")
    tokens, _ = words_of(steps["packed"])
    return matrices_figure(
        "Two rules and both together",
        {
            "kv <= q": steps["causal"],
            "same document": steps["document"],
            "both": steps["packed"],
        },
        rows="queries",
        columns="keys",
        row_labels=tokens,
        column_labels=tokens,
    )


@site_figure
def mask_blocks(steps_of: StepsOf) -> Html:
    r"""The weights of equal scores under this mask, and how many of the four pairs take part in
    each block of two queries and two keys. A kernel skips the blocks with 0."""
    steps = steps_of("mask_blocks")
    panels = [
        step_panel(steps["weights"], "Weights of equal scores", **WEIGHTS),
        step_panel(steps["counts"], "Pairs in blocks", **WEIGHTS),
    ]
    return beside(panels, "A mask and its blocks")
