"""The figures of "In practice"."""

import numpy as np

from attention_docs.publish.before.figures.claims import claim
from attention_docs.publish.before.figures.drawings.steps_of_attention import matrices_figure
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.results import load_results
from attention_docs.publish.before.values import StepsOf
from attention_docs.render.figures import Axis, Html, Series, line_chart

POSITIONS_AXIS = Axis("positions", (128, 512, 2048, 8192, 32768), logarithmic=True)
TIME_AXIS = Axis("milliseconds", (0.1, 1, 10, 100, 1000, 10000), logarithmic=True)
# The lines of the growth of time: the name and the role of each, by its key in the results.
GROWTH_LINES = {
    "ours": ("this package", "first"),
    "torch": ("PyTorch", "second"),
    "plain": ("plain formula", "third"),
}
# The measurement from which on time quadruples with twice the length; the caption has it, too.
QUADRUPLES_FROM = 5


@site_figure
def causal_alignments(steps_of: StepsOf) -> Html:
    r"""Two causal masks for four queries and five keys. Top-left, the first query sees the first
    key. Bottom-right, the last query sees the last key."""
    steps = steps_of("causal_alignments")
    masks = {"top-left": steps["top_left"], "bottom-right": steps["bottom_right"]}
    name = "Two alignments of a causal mask"
    return matrices_figure(name, masks, rows="queries", columns="keys")


@site_figure
def speed_growth(steps_of: StepsOf) -> Html:
    r"""One head on the Intel machine. From \measured{attention_intel.growth.5.n} positions on, this
    package and PyTorch take about four times as long for twice as many. At shorter lengths the
    factor is smaller. The plain formula was measured only there, because its tables grow with the
    square of the length."""
    rows = load_results("attention_intel")["growth"]
    times = np.array([[row["seconds"]["ours"], row["seconds"]["torch"]] for row in rows])
    factors = times[1:] / times[:-1]
    factors_at_short, factors_at_long = factors[:QUADRUPLES_FROM], factors[QUADRUPLES_FROM:]
    is_quadrupled = np.all(np.abs(factors_at_long - 4) < 0.5)
    claim(is_quadrupled, "about four times as long for twice as many")
    is_smaller = factors_at_short.max() < factors_at_long.min()
    claim(is_smaller, "At shorter lengths the factor is smaller")
    plain_at_long = [row["seconds"].get("plain") for row in rows[QUADRUPLES_FROM:]]
    claim(not any(plain_at_long), "The plain formula was measured only there")
    series = []
    for key, (name, role) in GROWTH_LINES.items():
        measured = [row for row in rows if row["seconds"].get(key)]
        lengths = np.array([row["n"] for row in measured])
        milliseconds = 1000 * np.array([row["seconds"][key] for row in measured])
        series.append(Series(name, lengths, milliseconds, role))
    return line_chart("Time of one head", POSITIONS_AXIS, TIME_AXIS, series)
