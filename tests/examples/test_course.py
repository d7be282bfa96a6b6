"""The course: its sizes, its mistakes, and what its pages say about the sentence."""

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.examples.course_sentence import VOCABULARY, WORDS
from attention_docs.publish.before.figures import course as figures
from attention_docs.render.text import as_text
from tests.examples.comparison import literals
from tests.examples.independent import course as independent

INPUTS = {name: array.tolist() for name, array in examples.steps("course_sentence").items()}
CATS, DRINK, MILK, BECAUSE, THEY = range(5)
PLACED = independent.placed(INPUTS)


def assert_close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-11, atol=1e-13)


def test_nine_sizes_are_one_to_nine():
    sizes = examples.steps("course_sentence")["sizes"].tolist()
    assert sorted(sizes) == list(range(1, 10))
    n, d_model, d_k, d_v, h, all_d_k, all_d_v, d_ff, words = sizes
    assert (n, words) == (len(WORDS), len(VOCABULARY))
    shapes = {name: np.shape(literal) for name, literal in INPUTS.items()}
    for i in range(1, h + 1):
        assert shapes[f"W_Q_{i}"] == shapes[f"W_K_{i}"] == (d_model, d_k)
        assert shapes[f"W_O_{i}"] == (d_v, d_model)
    assert shapes["X"] == shapes["E"] == (n, d_model)
    assert shapes["W_V"] == (d_model, d_v)
    assert (all_d_k, all_d_v) == (h * d_k, h * d_v)
    assert shapes["W_1"] == (d_model, d_ff) == shapes["W_2"][::-1]
    assert shapes["W_vocabulary"] == (d_model, words)


def test_labels_of_figures_match_the_sentence():
    sentence = examples.load("course_sentence")
    order = examples.load("course_order").ORDER
    assert figures.WORDS == sentence.WORDS
    assert figures.FEATURES == sentence.FEATURES
    assert figures.VOCABULARY == sentence.VOCABULARY
    assert [sentence.WORDS[i] for i in order] == figures.SWAPPED


def test_matrices_of_course_are_small():
    """The pages show the two exceptions in halves and as a figure."""
    for name in (name for name in examples.names() if name.startswith("course_")):
        for step, array in examples.steps(name).items():
            assert array.size <= 45 or step in ("W_O", "W_vocabulary"), (name, step)


def test_clock_hands_differ_by_equal_rotations():
    hands = np.array(INPUTS["E"])[:, 5:]
    rotation = np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert_close(hands[1:], hands[:-1] @ rotation.T)
    like = examples.load("course_next_token").LIKE[5:]
    assert_close(like, rotation @ hands[-1])
    assert len(np.unique(hands.round(9), axis=0)) == len(hands)


def test_outputs_without_positions_ignore_word_order():
    steps = examples.steps("course_order")
    order = examples.load("course_order").ORDER
    assert_close(steps["output_swapped"], steps["output"][order])
    assert np.all(steps["output_2_swapped"][DRINK, :2] != steps["output_2"][DRINK, :2])
    assert steps["output_2"][DRINK].argmax() == 0, "drink finds the animal before it"
    assert steps["output_2_swapped"][DRINK].argmax() == 1, "drink finds the liquid before it"


def largest(row):
    return int(np.argmax(row))


def test_missing_first_norm_changes_two_predictions():
    """Two pages say so: the predictions after "cats" and after "because"."""
    sums = examples.steps("course_block")["before_without_norm"][:, 0]
    assert np.flatnonzero(sums > 0).tolist() == [CATS, BECAUSE, THEY]
    rows = independent.probabilities_without(literals("course_next_token"), "first norm")
    predicted = [VOCABULARY[largest(row)] for row in rows]
    assert predicted == ["purr", "milk", "because", "like", "like"]


def test_statements_of_pages_about_weights_and_predictions():
    by_similarity = examples.steps("course_averages")["weights"]
    drink = by_similarity[DRINK]
    assert drink[MILK] == drink[DRINK] > drink[CATS]
    for name in ("course_formula", "course_order", "course_mask"):
        assert largest(examples.steps(name)["weights"][THEY]) == CATS, "the pronoun finds its noun"
    weights = examples.steps("course_formula")["weights"]
    assert weights[THEY, CATS] > 0.6
    assert weights[THEY, CATS] > weights[THEY, MILK] > weights[THEY, BECAUSE]
    scale = examples.steps("course_scale")
    assert scale["gain"] > 3, "scaling increases the gradient"
    assert np.all(np.diff(scale["slopes_divided"] / scale["slopes"]) > 0), "the more, the larger d"
    heads = examples.steps("course_heads")
    assert [largest(row) for row in heads["weights_2"]] == [0, 0, 1, 2, 3], (
        "head 2 finds the previous word"
    )
    assert largest(heads["one_head_weights"][THEY]) in (MILK, BECAUSE), "one softmax loses the noun"
    assert heads["one_head_weights"][THEY, CATS] < 0.01
    summed = heads["they_scores"][2]
    assert summed[MILK] == summed[BECAUSE] > summed[THEY] > summed[CATS], "milk ties with because"
    hidden = examples.steps("course_block")["hidden"][:, 0]
    assert (hidden > 0).tolist() == [False, False, False, False, True], (
        "the hidden feature is active for they"
    )
    steps = examples.steps("course_next_token")
    assert np.all(np.max(steps["probabilities"], axis=1) > 0.6)
    assert VOCABULARY[steps["next_token"]] == "like"
    assert VOCABULARY[steps["next_but_one"]] == "milk"
    choices = [VOCABULARY[i] for i in steps["first_choice"]]
    assert choices == ["like", "purr", "like", "purr", "drink", "like", "drink", "like"]
    order = [VOCABULARY[i] for i in np.argsort(steps["on_milk"])[::-1]]
    assert order[:2] == ["because", "flow"]
    assert order[-1] == "like"


def attend(rows, head=1, **options):
    q, k, v = (np.array(matrix) for matrix in independent.projected(INPUTS, rows, head))
    return attention_steps(q, k, v, **options).output


def normalised(rows, axis):
    rows = np.asarray(rows)
    centred = rows - rows.mean(axis=axis, keepdims=True)
    return centred / np.sqrt(rows.var(axis=axis, keepdims=True) + 1e-5)


X, AVERAGES = np.array(INPUTS["X"]), examples.steps("course_averages")
FORMULA, HEADS = examples.steps("course_formula"), examples.steps("course_heads")
BLOCK, NEXT = examples.steps("course_block"), examples.steps("course_next_token")
EXP = np.exp(FORMULA["scaled"])
# For each page: the correct result, and the result of a classical mistake.
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
            X @ INPUTS["W_Q_2"], np.array(PLACED) @ INPUTS["W_K_2"], X @ INPUTS["W_V"]
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
def test_mistake_changes_printed_digits(mistake):
    right, wrong = MISTAKES[mistake]
    assert as_text(right) != as_text(wrong)
