import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, bars, figure


@site_figure
def models_share(steps_of: StepsOf) -> Html:
    r"""What a text as long as the model's own context keeps in memory, as a share of what it would
    keep if all layers saw all keys. The two models with an indexer keep everything."""
    fractions = steps_of("models_by_name")["share"]
    (models,) = words_of(fractions)
    keep_everything = [models[i] for i in np.flatnonzero(fractions == 1)]
    claim(keep_everything == ["DeepSeek-V3.2", "GLM-5"], "with an indexer keep everything")
    name = "Share that is kept"
    return figure(bars.bars_panel(name, fractions, models), name)
