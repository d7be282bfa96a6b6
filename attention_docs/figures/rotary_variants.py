import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Axis, Html, Series, line_chart


@site_figure
def rope_factors(steps_of: StepsOf) -> Html:
    r"""What each rule multiplies the frequency of a pair by, against its wavelength, the positions
    in which the pair turns once. Each rule slows the slow pairs at least as much as the fast ones.
    LongRoPE has a list of its own in each model, so it has no curve here."""
    steps = steps_of("rope_scaling")
    rules, _ = words_of(steps["ratios"])
    lines = {
        "linear": "linear",
        "dynamic": "dynamic NTK",
        "yarn": "YaRN",
        "llama3": "llama3",
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
