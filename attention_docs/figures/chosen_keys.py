from attention_docs.examples.course_sentence import BIRDS, BOATS, THEY
from attention_docs.figures.registry import claim, site_figure
from attention_docs.figures.steps_of_attention import WEIGHTS, matrices_figure
from attention_docs.lookup import StepsOf, words_of
from attention_docs.render.figures import Axis, Html, Series, bars, beside, line_chart, matrix_panel


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
    return beside([weights, bars.bars_panel("missed", steps["missed"], tokens)], name)


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
