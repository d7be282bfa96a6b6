"""The course: its one sentence against slow loops and PyTorch, its sizes, and whether it makes sense."""

import math
import statistics

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.examples.course_sentence import VOCABULARY, WORDS
from attention_docs.publish import course_figures
from attention_docs.render.numbers import number
from attention_docs.render.text import text
from tests import reference

GIVEN = {name: array.tolist() for name, array in examples.steps("course_sentence").items()}
CATS, DRINK, MILK, BECAUSE, THEY = range(5)
PLACED = [
    [x + e for x, e in zip(*rows, strict=True)] for rows in zip(GIVEN["X"], GIVEN["E"], strict=True)
]


def agrees(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


def projected(rows, head=1):
    names = (f"W_Q_{head}", f"W_K_{head}", "W_V")
    return [reference.matmul(rows, GIVEN[name]) for name in names]


def earlier(i, j):
    return j <= i


def head(number, rows=PLACED, allowed=earlier):
    return reference.attention(*projected(rows, number), allowed)


def added(rows=PLACED):
    """What both heads add to each word, as loops."""
    parts = [reference.matmul(head(i, rows)[1], GIVEN[f"W_O_{i}"]) for i in (1, 2)]
    return [[a + b for a, b in zip(*both, strict=True)] for both in zip(*parts, strict=True)]


def normed(row):
    mean, variance = statistics.fmean(row), statistics.pvariance(row)
    return [(x - mean) / math.sqrt(variance + 1e-5) for x in row]


def block(rows, extra):
    """Sum, norm, feed-forward network, sum and norm of each row, as loops."""
    outputs = []
    for row, more in zip(rows, extra, strict=True):
        first = normed([x + y for x, y in zip(row, more, strict=True)])
        hidden = max(0.0, reference.matmul([first], GIVEN["W_1"])[0][0] + GIVEN["b_1"][0])
        outputs.append(
            normed([x + hidden * w for x, w in zip(first, GIVEN["W_2"][0], strict=True)])
        )
    return outputs


def probabilities(rows, extra):
    logits = reference.matmul(block(rows, extra), GIVEN["W_vocabulary"])
    return [reference.softmax_row(row) for row in logits]


def test_the_nine_sizes_are_the_numbers_from_one_to_nine():
    sizes = examples.steps("course_sentence")["sizes"].tolist()
    assert sorted(sizes) == list(range(1, 10))
    n, d_model, d_k, d_v, h, all_d_k, all_d_v, d_ff, words = sizes
    assert (n, words) == (len(WORDS), len(VOCABULARY))
    shapes = {name: np.shape(literal) for name, literal in GIVEN.items()}
    for i in range(1, h + 1):
        assert shapes[f"W_Q_{i}"] == shapes[f"W_K_{i}"] == (d_model, d_k)
        assert shapes[f"W_O_{i}"] == (d_v, d_model)
    assert shapes["X"] == shapes["E"] == (n, d_model)
    assert shapes["W_V"] == (d_model, d_v)
    assert (all_d_k, all_d_v) == (h * d_k, h * d_v)
    assert shapes["W_1"] == (d_model, d_ff) == shapes["W_2"][::-1]
    assert shapes["W_vocabulary"] == (d_model, words)


def test_the_figures_name_rows_and_columns_as_the_sentence_does():
    sentence = examples.load("course_sentence")
    order = examples.load("course_order").ORDER
    assert course_figures.WORDS == sentence.WORDS
    assert course_figures.FEATURES == sentence.FEATURES
    assert course_figures.VOCABULARY == sentence.VOCABULARY
    assert [sentence.WORDS[i] for i in order] == course_figures.SWAPPED


def test_no_matrix_of_the_course_is_too_large_to_read():
    """But for the two that the pages show in halves and as a picture."""
    for name in (name for name in examples.names() if name.startswith("course_")):
        for step, array in examples.steps(name).items():
            assert array.size <= 45 or step in ("W_O", "W_vocabulary"), (name, step)


def test_each_step_of_the_clock_turns_by_the_same_angle_and_no_two_hands_agree():
    hands = np.array(GIVEN["E"])[:, 5:]
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    agrees(hands[1:], hands[:-1] @ turn.T)
    like = examples.load("course_next_token").LIKE[5:]
    agrees(like, turn @ hands[-1])
    assert len(np.unique(hands.round(9), axis=0)) == len(hands)


def test_averages_equal_slow_loops():
    steps, x = examples.steps("course_averages"), GIVEN["X"]
    agrees(steps["mean"], [statistics.fmean(column) for column in zip(*x, strict=True)])
    dots = [[reference.dot(a, b) for b in x] for a in x]
    weights = [reference.softmax_row(row) for row in dots]
    agrees(steps["dots"], dots)
    agrees(steps["weights"], weights)
    agrees(steps["blended"], reference.matmul(weights, x))
    agrees(steps["drink_exponentials"], [math.exp(dot) for dot in dots[DRINK]])
    agrees(steps["drink_sum"], math.fsum(map(math.exp, dots[DRINK])))


def test_projections_equal_slow_loops():
    steps = examples.steps("course_projections")
    q, k, v = projected(GIVEN["X"])
    scores = [[reference.dot(a, b) for b in k] for a in q]
    weights = [reference.softmax_row(row) for row in scores]
    for name, expected in {"Q": q, "K": k, "V": v, "scores": scores, "weights": weights}.items():
        agrees(steps[name], expected)
    agrees(steps["output"], reference.matmul(weights, v))
    agrees(steps["weights_alike"], examples.steps("course_averages")["weights"])


def test_the_scale_equals_slow_loops_and_the_slope_a_small_difference():
    steps = examples.steps("course_scale")
    q, k, _ = projected(GIVEN["X"])
    scores = [reference.dot(q[THEY], key) for key in k]
    scaled = [score / math.sqrt(3) for score in scores]
    agrees(steps["scores"], scores)
    agrees(steps["weights"], reference.softmax_row(scaled))
    agrees(steps["weights_unscaled"], reference.softmax_row(scores))
    names = ("grown", "d", "slopes", "slopes_divided")
    for row, d, slope, divided in zip(*(steps[name] for name in names), strict=True):
        grown = [z * math.sqrt(d) for z in scaled]
        agrees(row, reference.softmax_row(grown))
        nudged = [reference.softmax_row([grown[0] + step, *grown[1:]])[0] for step in (1e-4, -1e-4)]
        assert slope == pytest.approx((nudged[0] - nudged[1]) / 2e-4, rel=1e-4, abs=1e-10)
        # By the score itself, where the softmax gets it divided by the root of d.
        score, rest = grown[0], grown[1:]
        nudged = [
            reference.softmax_row([x / math.sqrt(d) for x in (score + step, *rest)])[0]
            for step in (1e-4, -1e-4)
        ]
        assert divided == pytest.approx((nudged[0] - nudged[1]) / 2e-4, rel=1e-6)
    agrees(steps["gain"], steps["slopes_divided"][0] / steps["slopes"][0])
    agrees(steps["grown"][0], steps["weights_unscaled"])
    assert steps["slope"] == pytest.approx(steps["weights"][0] * sum(steps["weights"][1:]))


def test_the_formula_equals_a_slow_loop():
    steps = examples.steps("course_formula")
    weights, output = reference.attention(*projected(GIVEN["X"]))
    agrees(steps["weights"], weights)
    agrees(steps["output"], output)
    agrees(steps["exponentials"], [[math.exp(z) for z in row] for row in steps["scaled"].tolist()])
    agrees(steps["sums"], [math.fsum(row) for row in steps["exponentials"].tolist()])


def test_the_formula_equals_pytorch(torch):
    steps = examples.steps("course_formula")
    q, k, v = (torch.from_numpy(steps[letter]) for letter in "QKV")
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    agrees(steps["output"], expected.numpy())


def test_both_orders_equal_slow_loops():
    steps = examples.steps("course_order")
    x = GIVEN["X"]
    swapped = [x[MILK], x[DRINK], x[CATS], x[BECAUSE], x[THEY]]
    for ending, words in {"": x, "_swapped": swapped}.items():
        placed = [
            [a + b for a, b in zip(*r, strict=True)] for r in zip(words, GIVEN["E"], strict=True)
        ]
        agrees(steps[f"placed{ending}"], placed)
        for name, (weights, output) in {
            "": reference.attention(*projected(words, 1)),
            "_2": reference.attention(*projected(placed, 2)),
        }.items():
            agrees(steps[f"weights{name}{ending}"], weights)
            agrees(steps[f"output{name}{ending}"], output)


def test_the_scores_of_the_clock_are_cosines_of_whole_turns():
    """Each hand as an angle, and queries and keys as hands of the lengths 5 and 2."""
    steps, turn = examples.steps("course_order"), math.atan2(4, 3)
    agrees(steps["angle"], math.degrees(turn))
    agrees(steps["drink_query"], [5 * math.sin(0), 5 * math.cos(0), 0])
    for word, name in ((CATS, "cats_scores"), (DRINK, "drink_scores")):
        scores = [5 * 2 * math.cos((word - 1 - other) * turn) for other in range(5)]
        np.testing.assert_allclose(steps[name], scores, atol=1e-9)


def test_without_positions_each_word_has_the_same_output_in_both_orders():
    steps = examples.steps("course_order")
    order = examples.load("course_order").ORDER
    agrees(steps["output_swapped"], steps["output"][order])
    assert np.all(steps["output_2_swapped"][DRINK, :2] != steps["output_2"][DRINK, :2])
    assert steps["output_2"][DRINK].argmax() == 0, "drink finds the animal before it"
    assert steps["output_2_swapped"][DRINK].argmax() == 1, "drink finds the liquid before it"


def test_the_causal_mask_equals_a_slow_loop():
    steps = examples.steps("course_mask")
    weights, output = head(1)
    agrees(steps["weights"], weights)
    agrees(steps["output"], output)
    agrees(steps["open_weights"], reference.attention(*projected(GIVEN["X"]))[0])
    assert steps["mask"].tolist() == [[j <= i for j in range(5)] for i in range(5)]


def test_two_heads_equal_slow_loops():
    steps = examples.steps("course_heads")
    for i in (1, 2):
        weights, output = head(i)
        agrees(steps[f"weights_{i}"], weights)
        agrees(steps[f"head_{i}"], output)
        agrees(steps[f"added_{i}"], reference.matmul(output, GIVEN[f"W_O_{i}"]))
    agrees(steps["output"], added())
    agrees(steps["output"], reference.matmul(steps["side_by_side"].tolist(), steps["W_O"].tolist()))
    (q_1, k_1, v), (q_2, k_2, _) = projected(PLACED, 1), projected(PLACED, 2)
    q, k = ([a + b for a, b in zip(*rows, strict=True)] for rows in ((q_1, q_2), (k_1, k_2)))
    agrees(steps["one_head_weights"], reference.attention(q, k, v, earlier)[0])
    pairs = ((q_1, k_1), (q_2, k_2), (q, k))
    scores = [[reference.dot(asks[THEY], key) for key in keys] for asks, keys in pairs]
    np.testing.assert_allclose(steps["they_scores"], scores, atol=1e-9)


def test_the_block_equals_slow_loops():
    steps = examples.steps("course_block")
    agrees(steps["summed"], np.array(PLACED) + added())
    agrees(steps["normed"], [normed(row) for row in steps["summed"].tolist()])
    agrees(steps["mean"], [statistics.fmean(row) for row in steps["summed"].tolist()])
    agrees(steps["variance"], [statistics.pvariance(row) for row in steps["summed"].tolist()])
    agrees(steps["output"], block(PLACED, added()))
    for rule, rows in {"before": "normed", "before_without_norm": "summed"}.items():
        sums = [row[0] + row[3] + 2 * row[4] - 3 for row in steps[rows].tolist()]
        agrees(steps[rule][:, 0], sums)
    stages = (steps["placed"], steps["summed"], steps["normed"], None, steps["output"])
    for i, stage in enumerate(stages):
        if stage is not None:
            agrees(steps["they"][i], stage[THEY])
    agrees(steps["they"][3], steps["normed"][THEY] + steps["fed"][THEY])


def test_the_block_equals_pytorch(torch):
    steps = examples.steps("course_block")
    placed, extra = torch.from_numpy(steps["placed"]), torch.from_numpy(steps["added"])
    w_1, b_1, w_2 = (
        torch.tensor(GIVEN[name], dtype=torch.float64) for name in ("W_1", "b_1", "W_2")
    )
    normed = torch.nn.functional.layer_norm(placed + extra, (7,))
    fed = torch.relu(normed @ w_1 + b_1) @ w_2
    output = torch.nn.functional.layer_norm(normed + fed, (7,))
    agrees(steps["output"], output.numpy())


def test_the_next_token_equals_slow_loops():
    steps = examples.steps("course_next_token")
    expected = probabilities(PLACED, added())
    agrees(steps["probabilities"], expected)
    losses = [-math.log(row[i + 1]) for i, row in enumerate(expected)]
    agrees(steps["losses"], losses)
    agrees(steps["loss"], statistics.fmean(losses))
    longer = [*PLACED, examples.load("course_next_token").LIKE]
    again = probabilities(longer, added(longer))
    agrees(steps["appended"], again[-1])
    agrees(again[:-1], expected)
    assert steps["earlier_rows_stay"]
    agrees(steps["like_placed"], examples.load("course_next_token").LIKE)
    milk = reference.matmul([projected(PLACED)[2][MILK]], GIVEN["W_O_1"])[0]
    other = reference.matmul(head(2)[1], GIVEN["W_O_2"])[THEY]
    extra = [[a + b for a, b in zip(milk, other, strict=True)]]
    agrees(steps["on_milk"], probabilities([PLACED[THEY]], extra)[0])


def largest(row):
    return int(np.argmax(row))


def without(part):
    """The probabilities of each row if a part of the model is left out, as loops."""
    rows = GIVEN["X"] if part == "positions" else PLACED
    found = [
        reference.matmul(head(i, rows)[1], GIVEN[f"W_O_{i}"]) for i in (1, 2) if part != f"head {i}"
    ]
    outputs = []
    for row, *parts in zip(rows, *found, strict=True):
        row = [0.0] * len(row) if part == "first residual sum" else row
        row = [math.fsum(column) for column in zip(row, *parts, strict=True)]
        row = row if part == "first norm" else normed(row)
        hidden = max(0.0, reference.matmul([row], GIVEN["W_1"])[0][0] + GIVEN["b_1"][0])
        hidden = 0.0 if part == "feed-forward network" else hidden
        row = [x + hidden * w for x, w in zip(row, GIVEN["W_2"][0], strict=True)]
        outputs.append(row if part == "second norm" else normed(row))
    return [reference.softmax_row(row) for row in reference.matmul(outputs, GIVEN["W_vocabulary"])]


def test_what_each_part_is_for_equals_slow_loops():
    steps = examples.steps("course_next_token")
    parts = ["nothing", *examples.load("course_next_token").PARTS]
    expected = [without(part) for part in parts]
    agrees(expected[0], steps["probabilities"])
    assert steps["first_choice"].tolist() == [largest(rows[THEY]) for rows in expected]
    agrees(steps["first"], [max(rows[THEY]) for rows in expected])
    agrees(steps["like"], [rows[THEY][VOCABULARY.index("like")] for rows in expected])
    right = [sum(largest(row) == i + 1 for i, row in enumerate(rows)) for rows in expected]
    assert steps["right"].tolist() == right


def test_without_the_first_norm_the_rule_misleads_two_words():
    """As two pages say: after "cats" and after "because"."""
    sums = examples.steps("course_block")["before_without_norm"][:, 0]
    assert np.flatnonzero(sums > 0).tolist() == [CATS, BECAUSE, THEY]
    rows = without("first norm")
    said = [VOCABULARY[largest(row)] for row in rows]
    assert said == ["purr", "milk", "because", "like", "like"]


def test_the_picture_of_the_home_page_shows_what_its_formula_computes():
    weights, _ = reference.attention(*projected(GIVEN["X"]))
    picture = course_figures.course_pronoun(examples.steps)
    for word, weight in zip(WORDS, weights[THEY], strict=True):
        assert f">they to {word}: {number(weight)}<" in picture
    assert number(examples.steps("course_projections")["weights"][THEY, CATS]) not in picture


def test_it_makes_sense():
    """What the pages say in words: who looks at whom, and which word comes next."""
    alike = examples.steps("course_averages")["weights"]
    assert largest(alike[THEY]) == THEY, "by similarity the pronoun finds itself"
    assert alike[DRINK, MILK] == alike[DRINK, DRINK] > alike[DRINK, CATS]
    for name in ("course_projections", "course_formula", "course_order", "course_mask"):
        assert largest(examples.steps(name)["weights"][THEY]) == CATS, "the pronoun finds its noun"
    weights = examples.steps("course_formula")["weights"]
    assert weights[THEY, CATS] > 0.6
    assert weights[THEY, CATS] > weights[THEY, MILK] > weights[THEY, BECAUSE]
    scale = examples.steps("course_scale")
    assert scale["gain"] > 3, "the scale lets more of a correction through"
    assert np.all(np.diff(scale["slopes_divided"] / scale["slopes"]) > 0), "the more features"
    heads = examples.steps("course_heads")
    assert [largest(row) for row in heads["weights_2"]] == [0, 0, 1, 2, 3], "the word before"
    assert largest(heads["one_head_weights"][THEY]) in (MILK, BECAUSE), "one softmax loses the noun"
    assert heads["one_head_weights"][THEY, CATS] < 0.01
    both = heads["they_scores"][2]
    assert both[MILK] == both[BECAUSE] > both[THEY] > both[CATS], "milk ties with because"
    hidden = examples.steps("course_block")["hidden"][:, 0]
    assert (hidden > 0).tolist() == [False, False, False, False, True], "the rule fires for they"
    steps = examples.steps("course_next_token")
    said = [VOCABULARY[largest(row)] for row in steps["probabilities"]]
    assert said == ["drink", "milk", "because", "they", "like"]
    assert np.all(np.max(steps["probabilities"], axis=1) > 0.6)
    assert VOCABULARY[steps["next_token"]] == "like"
    assert VOCABULARY[steps["next_but_one"]] == "milk"
    choices = [VOCABULARY[i] for i in steps["first_choice"]]
    assert choices == ["like", "purr", "like", "purr", "drink", "like", "drink", "like"]
    order = [VOCABULARY[i] for i in np.argsort(steps["on_milk"])[::-1]]
    assert order[:2] == ["because", "flow"]
    assert order[-1] == "like"


def attend(rows, number=1, **options):
    q, k, v = (np.array(matrix) for matrix in projected(rows, number))
    return attention_steps(q, k, v, **options).output


def normalised(rows, axis):
    rows = np.asarray(rows)
    moved = rows - rows.mean(axis=axis, keepdims=True)
    return moved / np.sqrt(rows.var(axis=axis, keepdims=True) + 1e-5)


X, AVERAGES = np.array(GIVEN["X"]), examples.steps("course_averages")
FORMULA, HEADS = examples.steps("course_formula"), examples.steps("course_heads")
BLOCK, NEXT = examples.steps("course_block"), examples.steps("course_next_token")
EXP = np.exp(FORMULA["scaled"])
# For each page: what is right, and what a classical mistake makes of it.
MISTAKES = {
    "averages: dots divided by their sum, without the exponential": (
        AVERAGES["weights"],
        AVERAGES["dots"] / AVERAGES["dots"].sum(axis=1, keepdims=True),
    ),
    "projections: queries and keys exchanged": (
        examples.steps("course_projections")["weights"],
        attention_steps(FORMULA["K"], FORMULA["Q"], FORMULA["V"], scale=1.0).weights,
    ),
    "projections: keys made with W_Q": (
        examples.steps("course_projections")["output"],
        attention_steps(FORMULA["Q"], FORMULA["Q"], FORMULA["V"], scale=1.0).output,
    ),
    "scale: divided by d_k": (FORMULA["output"], attend(X, scale=1 / 3)),
    "scale: divided by the root of d_model": (FORMULA["output"], attend(X, scale=7**-0.5)),
    "scale: not divided": (FORMULA["output"], attend(X, scale=1.0)),
    "formula: softmax over the queries": (FORMULA["weights"], EXP / EXP.sum(axis=0)),
    "order: positions added to the keys alone": (
        examples.steps("course_order")["output_2"],
        attention_steps(
            X @ GIVEN["W_Q_2"], np.array(PLACED) @ GIVEN["W_K_2"], X @ GIVEN["W_V"]
        ).output,
    ),
    "mask: flipped": (
        examples.steps("course_mask")["output"],
        attend(PLACED, attn_mask=~np.tri(5, dtype=bool)),
    ),
    "mask: after the softmax": (
        examples.steps("course_mask")["output"],
        (FORMULA["weights"] * np.tri(5)) @ FORMULA["V"],
    ),
    "heads: side by side in the other order": (
        HEADS["output"],
        np.hstack([HEADS["head_2"], HEADS["head_1"]]) @ HEADS["W_O"],
    ),
    "block: no norm before the rule": (BLOCK["before"], BLOCK["before_without_norm"]),
    "block: norm over the words": (BLOCK["normed"], normalised(BLOCK["summed"], axis=0)),
    "block: no residual sum": (BLOCK["normed"], normalised(BLOCK["added"], axis=1)),
    "next token: softmax over the words of the sentence": (
        NEXT["probabilities"],
        np.exp(NEXT["logits"]) / np.exp(NEXT["logits"]).sum(axis=0),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_changes_a_printed_digit(mistake):
    right, wrong = MISTAKES[mistake]
    assert text(right) != text(wrong)
