from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import step_panel
from attention_docs.lookup import StepsOf
from attention_docs.render.figures import Html, figure


@site_figure
def quantised_weights(steps_of: StepsOf) -> Html:
    r"""The weights over four keys: exact, and with keys of few bits, with one scale for each
    channel and with one for each token."""
    weights = steps_of("quantised_cache")["weights"]
    claim(weights.shape == (3, 4), "over four keys")
    name = "Weights with keys of few bits"
    options = {"rows": "caches", "columns": "keys", "scale": "sequential", "role": "weights"}
    return figure(step_panel(weights, name, **options), name)
