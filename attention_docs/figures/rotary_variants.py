import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Axis, Html, Series, heatmap, line_chart


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


@site_figure
def rope_factors(steps_of: StepsOf) -> Html:
    r"""What each rule multiplies the frequency of a pair by, against its wavelength, the positions
    in which the pair turns once. Each rule slows the slow pairs at least as much as the fast ones.
    LongRoPE has a list of its own in each model, here an invented one, whatever the factor is."""
    steps = steps_of("rope_scaling")
    rules, _ = words_of(steps["ratios"])
    lines = {
        "linear": "linear",
        "dynamic": "dynamic NTK",
        "llama3": "llama3",
        "longrope, long": "LongRoPE",
    }
    series = []
    for (rule, name), role in zip(
        lines.items(), ("first", "second", "third", "fourth"), strict=True
    ):
        ratios = steps["ratios"][rules.index(rule)]
        claim((np.diff(ratios) <= 0).all(), "at least as much as the fast ones")
        series.append(Series(name, steps["wavelengths"], ratios, role, points=True))
    x = Axis("wavelength / 2π", (1, 2, 4, 8, 16, 32, 64, 128), logarithmic=True, unit=2 * np.pi)
    y = Axis("factor on the frequency", (0, 0.25, 0.5, 0.75, 1))
    return line_chart("Four rules of scaling", x, y, series)
