import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, bars, figure


@site_figure
def models_share(steps_of: StepsOf) -> Html:
    r"""What a text as long as the model's own context keeps in memory, as a share of what it would
    keep if all layers saw all keys. Windows and states keep less, an indexer does not."""
    kept = steps_of("models_by_name")["kept"]
    models, columns = words_of(kept)
    fractions = kept[:, columns.index("share")]
    steps = steps_of("models_by_name")
    has_less = steps["windowed"] + steps["states"] > 0
    claim(np.array_equal(fractions < 1, has_less), "Windows and states keep less")
    claim(fractions[models.index("DeepSeek-V3.2-Exp")] == 1, "an indexer does not")
    name = "Share that is kept"
    return figure(bars.bars_panel(name, fractions, models), name)
