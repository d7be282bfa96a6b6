"""The course: its sizes, the mistakes, and whether the sentence makes sense."""

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.examples.course_sentence import VOCABULARY, WORDS
from attention_docs.publish.before.figures import course as figures
from attention_docs.render.text import as_text
from tests.examples.comparison import constants
from tests.examples.ways import course as loops

GIVEN = {name: array.tolist() for name, array in examples.steps("course_sentence").items()}
CATS, DRINK, MILK, BECAUSE, THEY = range(5)
PLACED = loops.placed(GIVEN)


def agrees(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


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
    assert figures.WORDS == sentence.WORDS
    assert figures.FEATURES == sentence.FEATURES
    assert figures.VOCABULARY == sentence.VOCABULARY
    assert [sentence.WORDS[i] for i in order] == figures.SWAPPED


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


def test_without_positions_each_word_has_the_same_output_in_both_orders():
    steps = examples.steps("course_order")
    order = examples.load("course_order").ORDER
    agrees(steps["output_swapped"], steps["output"][order])
    assert np.all(steps["output_2_swapped"][DRINK, :2] != steps["output_2"][DRINK, :2])
    assert steps["output_2"][DRINK].argmax() == 0, "drink finds the animal before it"
    assert steps["output_2_swapped"][DRINK].argmax() == 1, "drink finds the liquid before it"


def largest(row):
    return int(np.argmax(row))


def test_without_the_first_norm_the_rule_misleads_two_words():
    """As two pages say: after "cats" and after "because"."""
    sums = examples.steps("course_block")["before_without_norm"][:, 0]
    assert np.flatnonzero(sums > 0).tolist() == [CATS, BECAUSE, THEY]
    rows = loops.without(constants("course_next_token"), "first norm")
    said = [VOCABULARY[largest(row)] for row in rows]
    assert said == ["purr", "milk", "because", "like", "like"]


def test_it_makes_sense():
    """What the pages say in words: who looks at whom, and which word comes next."""
    alike = examples.steps("course_averages")["weights"]
    assert alike[DRINK, MILK] == alike[DRINK, DRINK] > alike[DRINK, CATS]
    for name in ("course_formula", "course_order", "course_mask"):
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
    assert np.all(np.max(steps["probabilities"], axis=1) > 0.6)
    assert VOCABULARY[steps["next_token"]] == "like"
    assert VOCABULARY[steps["next_but_one"]] == "milk"
    choices = [VOCABULARY[i] for i in steps["first_choice"]]
    assert choices == ["like", "purr", "like", "purr", "drink", "like", "drink", "like"]
    order = [VOCABULARY[i] for i in np.argsort(steps["on_milk"])[::-1]]
    assert order[:2] == ["because", "flow"]
    assert order[-1] == "like"


def attend(rows, number=1, **options):
    q, k, v = (np.array(matrix) for matrix in loops.projected(GIVEN, rows, number))
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
    assert as_text(right) != as_text(wrong)
