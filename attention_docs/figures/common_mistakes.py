from attention_docs.figures.registry import site_figure
from attention_docs.figures.steps_of_attention import matrices_figure
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html


@site_figure
def causal_alignments(steps_of: StepsOf) -> Html:
    r"""Two causal masks for four queries and five keys. Top-left, the first query sees the first
    key. Bottom-right, the last query sees the last key."""
    steps = steps_of("causal_alignments")
    masks = {"top-left": steps["top_left"], "bottom-right": steps["bottom_right"]}
    name = "Two alignments of a causal mask"
    return matrices_figure(name, masks, rows="queries", columns="keys")
