import numpy as np

from attention_docs.arrays import Array
from attention_docs.figures.registry import site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, Panel, bars, beside, svg
from attention_docs.render.numbers import number
from attention_docs.render.references import step_name

# A histogram: the height of its largest bin and of its row, the room for its name, and of 1.
HEIGHT, ROW, NAME_WIDTH, UNIT = 40, 48, 62, 0.85
END = 100  # of the axis, on both sides


@site_figure
def random_scores(steps_of: StepsOf) -> Html:
    r"""Histograms of ten thousand random scores for each number of features, $d$. For the filled
    one, the bars are the softmax of five of its scores, from low to high."""
    steps = steps_of("random_scores")
    panels = []
    for i, (name, ending) in enumerate((("without the root", "_unscaled"), ("with the root", ""))):
        data = steps["roots"] ** 2, steps["counts"], steps["bins"][i]
        histograms = histograms_panel(name, *data, steps["selected"])
        row = steps[f"weights{ending}"]
        (words,) = words_of(row)
        weights = bars.bars_panel("softmax", row, words)
        panels.append(svg.below([histograms, weights], name))
    return beside(panels, "Random scores and their softmax, without and with the root")


def histograms_panel(name: str, sizes: Array, counts: Array, bins: Array, selected: Array) -> Panel:
    """Draw histograms of m sizes d, with counts (m, n) and bins of m widths, on one axis.

    The one with a 1 in `selected`, (m,), is filled; an edit in the page fills another.
    """
    middle, top = NAME_WIDTH + END * UNIT, 1.6 * svg.LINE_HEIGHT
    labels, paths = [svg.title(middle, svg.LINE_HEIGHT / 2, name, "scores")], []
    bottom = top
    for i, (d, row, width) in enumerate(zip(sizes, counts, bins, strict=True)):
        bottom = top + i * ROW + HEIGHT
        left = middle - len(row) / 2 * width * UNIT
        heights = np.concatenate([row, [0]]) / np.max(counts) * HEIGHT
        steps = (f"V{bottom - h:.1f}h{width * UNIT:.2f}" for h in heights[:-1])
        path = f"M{left:.2f} {bottom:g}{''.join(steps)}V{bottom:g}z"
        fill = {"fill_opacity": bars.OPACITY * float(selected[i]), "data_at": i}
        paths.append(svg.element("path", d=path, stroke=svg.colour("scores"), **fill))
        labels.append(svg.label(0, bottom - svg.LINE_HEIGHT / 2, f"d = {number(d)}", "start"))
    for tick in (-END, 0, END):
        x = middle + tick * UNIT
        labels.append(svg.label(x, bottom + svg.LINE_HEIGHT, number(tick)))
    rules = {"data_val": step_name(selected), "data_set": f"path fill-opacity {bars.OPACITY}"}
    group = svg.element("g", *paths, fill=svg.colour("scores"), **rules)
    reach = zip(sizes, len(counts[0]) / 2 * bins, strict=True)
    texts = ", ".join(f"d = {number(d)} up to {number(end)}" for d, end in reach)
    return Panel(
        middle + END * UNIT + svg.LINE_HEIGHT,
        bottom + 1.5 * svg.LINE_HEIGHT,
        "".join(labels) + group,
        f"Histograms of scores, {name}: {texts}, and as far below zero.",
        name=name,
    )
