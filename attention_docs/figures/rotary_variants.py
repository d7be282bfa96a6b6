import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, heatmap


@site_figure
def rotary_speeds(steps_of: StepsOf) -> Html:
    r"""The speed of each pair, divided by that of plain rotary positions. If half of the head
    turns, the pairs of the other half stand still. In YaRN the first pair keeps its speed and the
    slow pairs are interpolated."""
    steps = steps_of("rotary_variants")
    variants, pairs = words_of(steps["speeds"])
    speeds = dict(zip(variants, steps["speeds"], strict=True))
    fast_half, slow_half = slice(len(pairs) // 2), slice(len(pairs) // 2, None)
    half_rotated, interpolated = speeds["half of the head"], speeds["interpolated"]
    is_half_rotated = half_rotated[fast_half].all() and not half_rotated[slow_half].any()
    claim(is_half_rotated, "the pairs of the other half stand still")
    for yarn in (speeds["YaRN, paper"], speeds["YaRN, code"]):
        claim(yarn[0] == 1, "the first pair keeps its speed")
        claim(np.allclose(yarn[slow_half], interpolated[slow_half]), "are interpolated")
    return heatmap(
        steps["speeds"],
        "Relative speed of each pair",
        rows="variants",
        columns="pairs",
        row_labels=variants,
        column_labels=pairs,
        scale="sequential",
        role="input",
    )
