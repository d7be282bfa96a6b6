import numpy as np

from attention_docs.figures.registry import claim, site_figure
from attention_docs.lookup import StepsOf, load_results
from attention_docs.render.figures import Axis, Html, Series, line_chart

POSITIONS_AXIS = Axis("positions", (256, 512, 1024, 2048, 4096, 8192), logarithmic=True)
TIME_AXIS = Axis("milliseconds", (0.1, 1, 10, 100, 1000), logarithmic=True)
# The lines of the growth of time: the name and the role of each, by its key in the results.
GROWTH_LINES = {
    "ours": ("this package", "first"),
    "torch": ("PyTorch", "second"),
    "plain": ("plain formula", "third"),
}


@site_figure
def speed_growth(steps_of: StepsOf) -> Html:
    r"""One head, with one thread for each of the three, so none has to wake another. Twice
    \measured{attention.growth.4.n} positions take each of them at least three times as long,
    because there are four times as many scores."""
    rows = load_results("attention")["growth"]
    lengths = np.array([row["n"] for row in rows])
    series = []
    for key, (name, role) in GROWTH_LINES.items():
        seconds = np.array([row["seconds"][key]["minimum"] for row in rows])
        claim(seconds[-1] >= 3 * seconds[-2], "at least three times as long")
        series.append(Series(name, lengths, 1000 * seconds, role))
    is_on_one_thread = all(row["threads"] == 1 for row in rows)
    claim(is_on_one_thread, "one thread for each of the three")
    return line_chart("Time of one head on one thread", POSITIONS_AXIS, TIME_AXIS, series)
