"""The figures of the chapter on a real model, from the record of what was measured."""

from typing import Any

import numpy as np

from attention_docs.examples.course_sentence import THEY, WORDS
from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.lookup import StepsOf, load_results
from attention_docs.model.record import SEEDS
from attention_docs.render import figures as draw


@site_figure
def real_they(steps_of: StepsOf) -> draw.Html:
    r"""Weights of *they* on the words before it. Left and in the middle, the real head: the first
    *they* gives its largest weight to *cats*, and the second to *dogs*. Right, head 1 of the
    course, whose matrices we set by hand: its largest weight is on *birds*."""
    record = load_results("real_model")["sentence"]
    words = [token.strip() for token in record["tokens"]]
    first_they = words.index("they")
    words_to_first = words[: first_they + 1]
    of_first = np.array(record["weights"][first_they])[None, : len(words_to_first)]
    of_second = steps_of("real_head")["weights"]
    in_course = steps_of("course_mask")["weights"][THEY : THEY + 1]
    seen_by_first = labels_of_largest(of_first, words_to_first)
    claim(seen_by_first == ["cats"], "the first *they* gives its largest")
    claim(labels_of_largest(of_second, words) == ["dogs"], "and the second to *dogs*")
    claim(labels_of_largest(in_course, WORDS) == ["birds"], "its largest weight is on *birds*")
    options: dict[str, Any] = {"length": 100, "row_height": 20, "has_legend": False}
    options["sides"] = ("asks", "is asked")
    panels = [
        draw.lines_panel(weights, ["they"], keys, heading=heading, **options)
        for weights, keys, heading in (
            (of_first, words_to_first, "The first they"),
            (of_second, words, "The second they"),
            (in_course, WORDS, "In the course"),
        )
    ]
    return draw.beside(panels, "Weights of they in a real model and in the course")


@site_figure
def real_induction(steps_of: StepsOf) -> draw.Html:
    r"""The loss at each position of random tokens that are repeated once, in the mean over eight
    sequences. The copy begins at position \number{40}, counted from 0. From its second token on,
    the loss is far smaller."""
    record = load_results("real_model")["induction"]
    losses = np.array(record["losses"])
    half = (len(losses) + 1) // 2
    claim(len(SEEDS) == 8, "over eight sequences")
    claim(half == 40, r"The copy begins at position \number{40}")
    claim(losses[half:].mean() < losses[: half - 1].mean() / 2, "the loss is far smaller")
    series = [draw.Series("loss", np.arange(1, len(losses) + 1), losses, "first")]
    x = draw.Axis("position", (0, 20, 40, 60, 80))
    y = draw.Axis("loss", (0, 5, 10, 15, 20))
    return draw.line_chart("The loss of a repeated sequence", x, y, series)


@site_figure
def real_sinks(steps_of: StepsOf) -> draw.Html:
    r"""The weight on the first token in each layer, in the mean over its heads and over the tokens
    after the first."""
    by_layer = np.array(load_results("real_model")["sinks"]["by_layer"])
    series = [
        draw.Series("weight on the first token", np.arange(len(by_layer)), by_layer, "weights")
    ]
    x = draw.Axis("layer", (0, 5, 10, 15, 20, 25, 30))
    y = draw.Axis("weight on the first token", (0, 0.25, 0.5, 0.75, 1))
    return draw.line_chart("Sinks by layer", x, y, series)
