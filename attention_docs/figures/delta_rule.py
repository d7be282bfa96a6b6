import numpy as np

from attention_docs.figures.registry import claim, labels_of_largest, site_figure
from attention_docs.figures.steps_of_attention import matrices_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Axis, Html, Series, line_chart


@site_figure
def delta_rule_answers(steps_of: StepsOf) -> Html:
    r"""Four tokens said: the door is open, the window is shut, the hatch is open, the door is
    shut. Which is open now? Softmax attention without positions hesitates about the door. A state
    that adds takes it for open. The delta rule has overwritten it: it is shut."""
    steps = steps_of("delta_rule")
    things, states = words_of(steps["rewritten"])
    writes, _ = words_of(steps["V"])
    said = ["door open", "window shut", "hatch open", "door shut"]
    claim(writes == said, "Four tokens said")
    door = things.index("door")
    claim(np.ptp(steps["attention"][door]) < 0.1, "hesitates about the door")
    claim(labels_of_largest(steps["added"], states)[door] == "open", "takes it for open")
    is_shut = [state == "shut" for state in states]
    claim(np.array_equal(steps["rewritten"][door], is_shut), "it is shut")
    return matrices_figure(
        "What three memories answer",
        {
            "softmax attention": steps["attention"],
            "a state that adds": steps["added"],
            "the delta rule": steps["rewritten"],
        },
        rows="asked for",
        columns="answer",
        row_labels=things,
        column_labels=states,
        scale="sequential",
        role="output",
    )


@site_figure
def state_and_cache(steps_of: StepsOf) -> Html:
    r"""The memory that Qwen3-Next needs for a text, and what it would need if all its layers were
    attention. Both axes are logarithmic. For the longest text it needs about a quarter, the
    fraction of its layers with attention."""
    steps = steps_of("state_sizes")
    fraction = steps["layers"][0] / steps["layers"].sum()
    saving = steps["hybrid"][-1] / steps["attention_only"][-1]
    claim(fraction == 1 / 4 and abs(saving - fraction) < 0.01, "needs about a quarter")
    tokens = steps["contexts"]
    series = [
        Series("attention in all layers", tokens, steps["attention_only"], "second"),
        Series("Qwen3-Next", tokens, steps["hybrid"], "first"),
    ]
    x = Axis("tokens", (1024, 16384, 262144), logarithmic=True)
    y = Axis("MiB", (64, 512, 4096, 32768), logarithmic=True)
    return line_chart("Memory that a text needs", x, y, series)
