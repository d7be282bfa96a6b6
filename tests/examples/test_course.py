"""The course: its sizes, its mistakes, and what its pages say about the sentence."""

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.examples.course_sentence import SWAPPED, VOCABULARY, WORDS
from attention_docs.render.text import as_text
from tests.examples.independent import course as independent

INPUTS = {name: array.tolist() for name, array in examples.steps("course_sentence").items()}
BIRDS, PASS, BOATS, BECAUSE, THEY = range(5)
WITH_POSITIONS = independent.add_positions(INPUTS)


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


@pytest.mark.parametrize("name", [name for name in examples.names() if name.startswith("course_")])
def test_every_matrix_of_the_course_has_words_at_rows_and_columns(name):
    for step, array in examples.steps(name).items():
        labels = examples.labels(name, step)
        if array.ndim == 2 or labels:
            assert tuple(map(len, labels)) == array.shape, f"{name}.{step}"


def test_matrices_of_course_are_small():
    """The pages show the exceptions in halves and as figures."""
    for name in (name for name in examples.names() if name.startswith("course_")):
        for step, array in examples.steps(name).items():
            assert array.size <= 45 or step in ("W_O", "W_vocabulary", "gradient"), (name, step)


def test_clock_hands_differ_by_equal_rotations():
    hands = np.array(INPUTS["E"])[:, 5:]
    rotation = np.array([[0.6, 0.8], [-0.8, 0.6]])
    assert_close(hands[1:], hands[:-1] @ rotation.T)
    fly = examples.load("course_next_token").FLY_WITH_POSITION[5:]
    assert_close(fly, rotation @ hands[-1])
    assert len(np.unique(hands.round(9), axis=0)) == len(hands)


def test_sentences_are_mirror_images_of_each_other():
    """Exchanging air and water exchanges the nouns, and the words that follow."""
    mirrored_features, mirrored_words = [1, 0, 2, 3, 4, 5, 6], [2, 1, 0, 3, 4, 6, 5, 7, 8]
    x = np.array(INPUTS["X"])
    assert_close(x[:, mirrored_features], x[[BOATS, PASS, BIRDS, BECAUSE, THEY]])
    for name in ("W_Q_1", "W_K_1", "W_Q_2", "W_K_2", "W_1"):
        matrix = np.array(INPUTS[name])
        assert_close(matrix[mirrored_features], matrix)
    w_vocabulary = np.array(INPUTS["W_vocabulary"])
    assert_close(w_vocabulary[mirrored_features][:, mirrored_words], w_vocabulary)
    steps = examples.steps("course_next_token")
    assert_close(steps["probabilities_swapped"], steps["probabilities"][:, mirrored_words])


def test_outputs_without_positions_ignore_word_order():
    steps = examples.steps("course_order")
    order = [SWAPPED.index(word) for word in WORDS]
    assert_close(steps["output_swapped"][order], steps["output"])


def largest(row):
    return int(np.argmax(row))


def test_pronoun_cannot_tell_the_nouns_apart_without_positions():
    weights = examples.steps("course_formula")["weights"][THEY]
    assert weights[BIRDS] == weights[BOATS] > 0.4, "both nouns answer alike"


def test_scaling_increases_the_gradient():
    scale = examples.steps("course_scale")
    assert largest(scale["scores"]) == PASS
    assert scale["slope"] > 5 * scale["slope_by_d"][0]


def test_one_softmax_for_both_heads_finds_the_wrong_noun():
    heads = examples.steps("course_heads")
    assert largest(heads["one_head_weights"][THEY]) == BOATS
    assert heads["one_head_weights"][THEY, BIRDS] < 0.02


def test_hidden_feature_is_active_for_the_pronoun_alone():
    hidden = examples.steps("course_block")["hidden"][:, 0]
    assert (hidden > 0).tolist() == [False, False, False, False, True]


def test_course_test_exchanges_only_the_nouns():
    other = examples.load("course_test")
    same = [PASS, BECAUSE, THEY]
    assert [other.WORDS[i] for i in same] == [WORDS[i] for i in same]
    assert [other.X[i] for i in same] == [INPUTS["X"][i] for i in same]
    assert VOCABULARY[examples.steps("course_test")["next_token"]] == "sail"


def test_next_word_but_one_is_the_full_stop():
    steps = examples.steps("course_next_token")
    assert VOCABULARY[steps["next_but_one"]] == "."


def test_words_are_drawn_with_their_probabilities():
    example = examples.load("course_writing")
    row = np.asarray(examples.steps("course_writing")["probabilities"][:, 0])
    numbers = (np.arange(10_000) + 0.5) / 10_000
    shares = np.mean([example.draw(np, row, number) for number in numbers], axis=0)
    np.testing.assert_allclose(shares, row, atol=1e-4)


def test_both_endings_are_equally_likely_without_positions():
    steps, fly, sail = examples.steps("course_model"), *map(VOCABULARY.index, ("fly", "sail"))
    next_words = steps["next_words"]
    assert_close(next_words[:2, fly], next_words[:2, sail])
    assert [largest(row) for row in next_words[2:]] == [fly, fly]
    assert_close(next_words[3], examples.steps("course_next_token")["probabilities"][THEY])


def test_predictions_after_the_pronoun_coincide_without_head_1():
    steps = examples.steps("course_next_token")
    with_head, without_head = 0, 1 + examples.load("course_next_token").PARTS.index("head 1")
    assert steps["log_odds"][0, with_head] == -steps["log_odds"][1, with_head] > 2
    assert steps["log_odds"][:, without_head].tolist() == [0, 0]


def test_scale_and_norms_alone_can_be_ablated_without_errors():
    steps, parts = examples.steps("course_next_token"), examples.load("course_next_token").PARTS
    right = dict(zip(parts, steps["right"].tolist()[1:], strict=True))
    assert {part for part in parts if right[part] == 10} == {"scale", "first norm", "second norm"}
    # Words are exchanged with the nouns, and the last row may see all words without a mask, too.
    assert_close(steps["fly"], steps["sail"][::-1])
    assert steps["log_odds"][0, 1 + parts.index("mask")] == steps["log_odds"][0, 0]


LEARNED = examples.steps("course_learned")


def test_held_out_sentences_pair_nouns_not_trained_together():
    example = examples.load("course_learned")
    trained_on, held_out = (example.sentences(is_held_out) for is_held_out in (False, True))
    assert len({tuple(sentence) for sentence in trained_on + held_out}) == 120
    pairs = [{frozenset(sentence[0:3:2]) for sentence in part} for part in (trained_on, held_out)]
    assert not pairs[0] & pairs[1]
    assert [*WORDS, "fly"] in held_out
    assert [*SWAPPED, "sail"] in held_out
    for position in (0, 2):
        assert {sentence[position] for sentence in trained_on} == set(example.NOUNS)


def test_learned_model_is_right_about_the_held_out_sentences():
    assert LEARNED["accuracy"][-1] == 100
    assert LEARNED["accuracy_uniform"].max() < 60
    assert sorted(LEARNED["accuracy_by_seed"])[:2] == [90, 100]
    assert np.all(LEARNED["loss_by_seed"] >= LEARNED["loss"][-1])


def test_learned_model_shares_sizes_and_predictions_with_the_course():
    example = examples.load("course_learned")
    sizes = examples.steps("course_sentence")["sizes"].tolist()
    block = example.MODEL
    assert [block.length, block.d_model, block.d_k, block.d_v, block.heads] == sizes[:5]
    assert block.d_ff == sizes[7]
    words = [[example.VOCABULARY[i] for i in row] for row in LEARNED["next_words"].tolist()]
    assert words == [["fly", "fly", "crawl"], ["sail", "sail", "crawl"]]


def test_learned_pronoun_head_finds_the_first_noun():
    for name in ("weights_2", "weights_2_swapped"):
        assert 0.7 < LEARNED[name][THEY, 0] < 0.95
    assert LEARNED["weights_1"][THEY].argmax() == PASS
    assert LEARNED["weights_1"][THEY].max() < 0.4
    assert LEARNED["accuracy_without"].tolist() == [100, 90, 20]
    assert abs(np.diff(LEARNED["log_odds"][:, 2])) < 0.001


def test_pronoun_needs_both_heads_for_some_seeds():
    example = examples.load("course_learned")
    accuracies_without_a_head = []
    for seed in example.SEEDS:
        end = example.checkpoints(example.MODEL, seed)[-1]
        _, accuracies = example.evaluate_held_out(example.MODEL, example.with_heads_ablated(end))
        accuracies_without_a_head.append(accuracies[1:])
    assert any(max(accuracies) < 60 for accuracies in accuracies_without_a_head)


def test_small_training_step_lowers_both_losses_and_a_large_one_does_not(monkeypatch):
    steps = examples.steps("course_step")
    assert steps["expected"] < steps["loss_after"] - steps["loss"] < 0
    assert steps["swapped"][1] < steps["swapped"][0]
    monkeypatch.setattr(examples.load("course_step"), "RATE", [2])
    large = examples.steps("course_step")
    assert large["loss_after"] < steps["loss_after"]
    assert large["swapped"][1] > large["swapped"][0]


def attend(rows, head=1, **options):
    q, k, v = (np.array(matrix) for matrix in independent.project(INPUTS, rows, head))
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
    "order: positions not added to the keys": (
        examples.steps("course_order")["output_with_positions"],
        attention_steps(
            np.array(WITH_POSITIONS) @ INPUTS["W_Q_1"], X @ INPUTS["W_K_1"], X @ INPUTS["W_V"]
        ).output,
    ),
    "mask: flipped": (
        examples.steps("course_mask")["output"],
        attend(WITH_POSITIONS, attn_mask=~np.tri(5, dtype=bool)),
    ),
    "mask: after the softmax": (
        examples.steps("course_mask")["output"],
        (FORMULA["weights"] * np.tri(5)) @ FORMULA["V"],
    ),
    "heads: side by side in the other order": (
        HEADS["output"],
        np.hstack([HEADS["head_2"], HEADS["head_1"]]) @ HEADS["W_O"],
    ),
    "block: no norm before the rule": (
        BLOCK["before"],
        BLOCK["summed"] @ INPUTS["W_1"] + INPUTS["b_1"],
    ),
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
