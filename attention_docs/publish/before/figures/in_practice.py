"""The figures of "In practice"."""

import numpy as np

from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.registry import StepsOf, site_figure
from attention_docs.publish.before.figures.steps_of_attention import masks_figure
from attention_docs.publish.before.results import load_results
from attention_docs.render.figures import (
    Axis,
    Html,
    Series,
    figure,
    line_chart,
)

AXIS_OF_N = Axis("positions", (128, 512, 2048, 8192, 32768), logarithmic=True)
GROWTH = (
    ("this package", "ours", "output"),
    ("PyTorch", "torch", "key"),
    ("plain formula", "plain", "scores"),
)


@site_figure
def causal_alignments(steps_of: StepsOf) -> Html:
    r"""Two causal masks for four queries and five keys. Top-left, the first query sees the first
    key. Bottom-right, the last query sees the last key."""
    steps = steps_of("causal_alignments")
    masks = {"top-left": steps["top_left"], "bottom-right": steps["bottom_right"]}
    return masks_figure("Two alignments of a causal mask", masks)


@site_figure
def speed_growth(steps_of: StepsOf) -> Html:
    r"""One head on the Intel machine. From \measured{attention_intel.growth.5.n} positions on, this
    package and PyTorch take about four times as long for twice as many. At shorter lengths the
    factor is smaller. The plain formula was measured only there, because its tables grow with the
    square of the length."""
    rows = load_results("attention_intel")["growth"]
    times = np.array([[row["seconds"][key] for key in ("ours", "torch")] for row in rows])
    factors = times[1:] / times[:-1]
    claim(np.all(np.abs(factors[5:] - 4) < 0.5), "about four times as long for twice as many")
    claim(factors[:5].max() < factors[5:].min(), "At shorter lengths the factor is smaller")
    longer = [row["seconds"].get("plain") for row in rows[5:]]
    claim(not any(longer), "The plain formula was measured only there")
    series = [
        Series(
            name, np.array([n for n, _ in points]), 1000 * np.array([t for _, t in points]), role
        )
        for name, key, role in GROWTH
        if (points := [(row["n"], t) for row in rows if (t := row["seconds"].get(key))])
    ]
    name = "Time of one head"
    axis = Axis("milliseconds", (0.1, 1, 10, 100, 1000, 10000), logarithmic=True)
    return figure(line_chart(name, AXIS_OF_N, axis, series), name)
