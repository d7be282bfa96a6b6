import numpy as np

from attention_docs.arrays import Array
from attention_docs.figures.registry import site_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Html, Panel, bars, beside, svg
from attention_docs.render.numbers import number
from attention_docs.render.references import step_name

# A histogram: the height of its largest bin and of its row, the room for its name, half its width.
HEIGHT, ROW, NAME_WIDTH, HALF = 40, 48, 62, 85


@site_figure
def random_scores(steps_of: StepsOf) -> Html:
    r"""Histograms of ten thousand random scores for each number of features, $d$. For the filled
    one, the bars are the softmax of five of its scores, from low to high."""
    steps = steps_of("random_scores")
    panels = []
    kinds = ("without the root", "_unscaled", 100), ("with the root", "", 5)
    for i, (name, ending, end) in enumerate(kinds):
        data = steps["roots"] ** 2, steps["counts"], steps["bins"][i]
        histograms = histograms_panel(name, end, *data, steps["selected"])
        row = steps[f"weights{ending}"]
        (words,) = words_of(row)
        weights = bars.bars_panel("softmax", row, words)
        panels.append(svg.below([histograms, weights], name))
    return beside(panels, "Random scores and their softmax, without and with the root")


def histograms_panel(
    name: str, end: float, sizes: Array, counts: Array, bins: Array, selected: Array
) -> Panel:
    """Draw histograms of m sizes d, with counts (m, n) and bins of m widths, from -end to end.

    The one with a 1 in `selected`, (m,), is filled; an edit in the page fills another.
    """
    middle, top, unit = NAME_WIDTH + HALF, 1.6 * svg.LINE_HEIGHT, HALF / end
    labels, paths = [svg.title(middle, svg.LINE_HEIGHT / 2, name, "scores")], []
    bottom = top
    for i, (d, row, width) in enumerate(zip(sizes, counts, bins, strict=True)):
        bottom = top + i * ROW + HEIGHT
        left = middle - len(row) / 2 * width * unit
        heights = np.concatenate([row, [0]]) / np.max(counts) * HEIGHT
        steps = (f"V{bottom - h:.1f}h{width * unit:.2f}" for h in heights[:-1])
        path = f"M{left:.2f} {bottom:g}{''.join(steps)}V{bottom:g}z"
        fill = {"fill_opacity": bars.OPACITY * float(selected[i]), "data_at": i}
        paths.append(svg.element("path", d=path, stroke=svg.colour("scores"), **fill))
        labels.append(svg.label(0, bottom - svg.LINE_HEIGHT / 2, f"d = {number(d)}", "start"))
    for tick in (-end, 0, end):
        x = middle + tick * unit
        labels.append(svg.label(x, bottom + svg.LINE_HEIGHT, number(tick)))
    rules = {"data_val": step_name(selected), "data_set": f"path fill-opacity {bars.OPACITY}"}
    group = svg.element("g", *paths, fill=svg.colour("scores"), **rules)
    reach = zip(sizes, len(counts[0]) / 2 * bins, strict=True)
    texts = ", ".join(f"d = {number(d)} up to {number(end)}" for d, end in reach)
    return Panel(
        middle + HALF + svg.LINE_HEIGHT,
        bottom + 1.5 * svg.LINE_HEIGHT,
        "".join(labels) + group,
        f"Histograms of scores, {name}: {texts}, and as far below zero.",
        name=name,
    )
