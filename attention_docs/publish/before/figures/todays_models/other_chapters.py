"""The figures of the chapters on biases, states, chosen keys, bits and batches, and the table."""

import numpy as np

from attention_docs.examples import load
from attention_docs.publish.before.figures.claims import claim, labels_of_largest
from attention_docs.publish.before.figures.course import BIRDS, BOATS, THEY
from attention_docs.publish.before.figures.drawings.bars import bars_panel
from attention_docs.publish.before.figures.drawings.steps_of_attention import (
    WEIGHTS,
    matrices_figure,
    step_panel,
)
from attention_docs.publish.before.figures.registry import site_figure
from attention_docs.publish.before.values import StepsOf, words_of
from attention_docs.render.figures import (
    Axis,
    Html,
    Series,
    beside,
    figure,
    line_chart,
    matrix_panel,
)


@site_figure
def alibi_biases(steps_of: StepsOf) -> Html:
    r"""What ALiBi adds to a score, for each of four heads."""
    slopes = steps_of("position_biases")["slopes"]
    ticks = (0, 4, 8, 12, 16)
    distances = np.arange(ticks[-1] + 1)
    series = [
        Series(f"head {head + 1}", distances, -slopes[head] * distances, role)
        for head, role in enumerate(("first", "second", "third", "fourth"))
    ]
    x = Axis("distance", ticks)
    y = Axis("bias", (-4, -3, -2, -1, 0))
    return line_chart("A bias for the distance", x, y, series)


@site_figure
def window_reach(steps_of: StepsOf) -> Html:
    r"""Which tokens reach which through one, two and three layers, each with a window of the token
    itself and two before it. The last row belongs to the last of the ten tokens."""
    steps = steps_of("position_biases")
    claim(steps["reach_1"].sum(axis=1).max() == 3, "the token itself and two before it")
    reaches = {
        "1 layer": steps["reach_1"],
        "2 layers": steps["reach_2"],
        "3 layers": steps["reach_3"],
    }
    name = "Reach of a window through layers"
    return matrices_figure(name, reaches, rows="outputs", columns="inputs")


@site_figure
def first_head_weights(steps_of: StepsOf) -> Html:
    r"""The weights of the first head over four keys, with a norm of each head and with one of all
    heads together."""
    steps = steps_of("head_norms")
    _, tokens = words_of(steps["weights_by_head"])
    panels = [
        bars_panel("norm of each head", steps["weights_by_head"][0], tokens),
        bars_panel("norm of all heads", steps["weights_together"][0], tokens),
    ]
    return beside(panels, "Weights of the first head, with two norms")


@site_figure
def delta_rule_answers(steps_of: StepsOf) -> Html:
    r"""Four tokens said: the door is open, the window is shut, the gate is open, the door is shut.
    Which is open now? Softmax attention without positions hesitates about the door. A state that
    adds takes it for open. The delta rule has overwritten it: it is shut."""
    steps = steps_of("delta_rule")
    things, states = words_of(steps["rewritten"])
    writes, _ = words_of(steps["V"])
    said = ["door open", "window shut", "gate open", "door shut"]
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


@site_figure
def chosen_keys_masks(steps_of: StepsOf) -> Html:
    r"""What each token of *birds pass boats because they like trees.* may see: itself and two
    tokens before it, its own block of two and another one, or the three keys that an indexer chose.
    For *they*, the framed row, the indexer finds both nouns before it, blocks and window one
    each."""
    steps = steps_of("chosen_keys")
    window, blocks, chosen = steps["window"], steps["blocks"], steps["chosen"]
    sizes = [mask[-1].sum() for mask in (window, blocks, chosen)]
    claim(sizes == [3, 4, 3], "its own block of two and another one, or the three keys")
    nouns = [BIRDS, BOATS]
    claim(chosen[THEY, nouns].all(), "the indexer finds both nouns before it")
    has_one_each = blocks[THEY, nouns].sum() == window[THEY, nouns].sum() == 1
    claim(has_one_each, "blocks and window one each")
    return matrices_figure(
        "Three ways to leave keys out",
        {"A window": window, "Two blocks": blocks, "Three chosen keys": chosen},
        rows="queries",
        columns="keys",
        mark=(THEY, None),
    )


@site_figure
def chosen_keys_missed(steps_of: StepsOf) -> Html:
    r"""The weights over the chosen keys, and how much weight attention to all keys gives to those
    that were not chosen."""
    steps = steps_of("chosen_keys")
    (tokens,) = words_of(steps["missed"])
    weights = matrix_panel(
        steps["sparse"], "Weights over chosen keys", row_labels=tokens, **WEIGHTS
    )
    name = "Weights over chosen keys, and what is missed"
    return beside([weights, bars_panel("missed", steps["missed"], tokens)], name)


@site_figure
def indexer_saving(steps_of: StepsOf) -> Html:
    r"""Multiplications for one generated token and layer of DeepSeek-V3.2. Both axes are
    logarithmic. For the longest text, indexer and chosen keys together cost less than a tenth of
    attention to all keys, and most of that is the indexer."""
    steps = steps_of("indexer_costs")
    claim(steps["saving"][-1] > 10, "cost less than a tenth of attention to all keys")
    claim(steps["indexer"][-1] > steps["together"][-1] / 2, "most of that is the indexer")
    tokens = steps["contexts"]
    series = [
        Series("all keys", tokens, steps["dense"], "second"),
        Series("chosen keys", tokens, steps["together"], "first"),
        Series("the indexer alone", tokens, steps["indexer"], "third"),
    ]
    x = Axis("tokens", (2048, 8192, 32768, 131072), logarithmic=True)
    y = Axis("million multiplications", (16, 256, 4096, 65536), logarithmic=True)
    return line_chart("What choosing keys saves", x, y, series)


@site_figure
def split_outputs(steps_of: StepsOf) -> Html:
    r"""The second feature of one output, computed in float16 from one, two, four and eight pieces
    of the same keys. With eight pieces it is further from the exact output than with one."""
    steps = steps_of("split_sums")
    second_feature = 1
    outputs, exact = steps["outputs"][:, second_feature], steps["exact"][second_feature]
    errors = np.abs(outputs - exact)
    claim(errors[-1] > errors[0], "further from the exact output than with one")
    pieces = load("split_sums").PIECES
    claim(pieces == (1, 2, 4, 8), "from one, two, four and eight pieces")
    series = [
        Series("in float16", np.asarray(pieces), outputs, "first", points=True),
        Series("exact", np.asarray(pieces), np.full(len(pieces), exact), "second"),
    ]
    x = Axis("pieces", pieces, logarithmic=True)
    y = Axis("output", (1.518, 1.519, 1.52, 1.521))
    return line_chart("One output from pieces", x, y, series)


@site_figure
def quantised_weights(steps_of: StepsOf) -> Html:
    r"""The weights over four keys: exact, and with keys of few bits, with one scale for each
    channel and with one for each token."""
    weights = steps_of("quantised_cache")["weights"]
    claim(weights.shape == (3, 4), "over four keys")
    name = "Weights with keys of few bits"
    options = {"rows": "caches", "columns": "keys", "scale": "sequential", "role": "weights"}
    return figure(step_panel(weights, name, **options), name)


@site_figure
def models_share(steps_of: StepsOf) -> Html:
    r"""What a text as long as the model's own context keeps in memory, as a share of what it would
    keep if all layers saw all keys. The two models with an indexer keep everything."""
    fractions = steps_of("models_by_name")["share"]
    (models,) = words_of(fractions)
    keep_everything = [models[i] for i in np.flatnonzero(fractions == 1)]
    claim(keep_everything == ["DeepSeek-V3.2", "GLM-5"], "with an indexer keep everything")
    name = "Share that is kept"
    return figure(bars_panel(name, fractions, models), name)
