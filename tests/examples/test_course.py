"""The course: its sizes and its mistakes."""

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.render.text import as_text

MATRICES = examples.load("course_sentence").given_matrices(np)
SIZES = examples.steps("course_sentence")["sizes"].tolist()
# The two sizes without a name are h d_k and h d_v.
N, D_MODEL, D_K, D_V, H, _, _, D_FF, VOCABULARY_SIZE = SIZES
EXAMPLES_OF_COURSE = [name for name in examples.names() if name.startswith("course_")]
FORMULA = examples.steps("course_formula")
ORDER = examples.steps("course_order")
HEADS = examples.steps("course_heads")
BLOCK = examples.steps("course_block")
NEXT = examples.steps("course_next_token")


def test_nine_sizes_are_one_to_nine():
    assert sorted(SIZES) == list(range(1, 10))


def test_matrices_have_the_sizes():
    shapes = {
        "X": (N, D_MODEL),
        "E": (N, D_MODEL),
        "W_V": (D_MODEL, D_V),
        "W_1": (D_MODEL, D_FF),
        "b_1": (D_FF,),
        "W_2": (D_FF, D_MODEL),
        "W_vocabulary": (D_MODEL, VOCABULARY_SIZE),
    }
    for i in range(1, H + 1):
        shapes |= dict.fromkeys((f"W_Q_{i}", f"W_K_{i}"), (D_MODEL, D_K))
        shapes[f"W_O_{i}"] = (D_V, D_MODEL)
    assert {name: matrix.shape for name, matrix in MATRICES.items()} == shapes


@pytest.mark.parametrize("name", EXAMPLES_OF_COURSE)
def test_every_matrix_of_the_course_has_words_at_rows_and_columns(name):
    for step, array in examples.steps(name).items():
        labels = examples.labels(name, step)
        if array.ndim == 2 or labels:
            assert tuple(map(len, labels)) == array.shape, f"{name}.{step}"


@pytest.mark.parametrize("name", EXAMPLES_OF_COURSE)
def test_matrices_of_course_fit_on_its_pages(name):
    shown_in_halves_or_as_figures = ("W_O", "W_vocabulary", "gradient")
    for step, array in examples.steps(name).items():
        assert array.size <= 45 or step in shown_in_halves_or_as_figures, step


def test_words_are_drawn_with_their_probabilities():
    draws = 10_000
    evenly_spaced = (np.arange(draws) + 0.5) / draws
    probabilities = examples.steps("course_writing")["probabilities"][:, 0]
    draw = examples.load("course_writing").draw
    shares = np.mean([draw(np, probabilities, number) for number in evenly_spaced], axis=0)
    np.testing.assert_allclose(shares, probabilities, atol=1 / draws)


X, WITH_POSITIONS = MATRICES["X"], MATRICES["X"] + MATRICES["E"]


def attend(rows, **options):
    """Return the output of head 1."""
    q, k, v = (rows @ MATRICES[name] for name in ("W_Q_1", "W_K_1", "W_V"))
    return attention_steps(q, k, v, **options).output


def normalised(rows, axis):
    """Norm rows over an axis as the block does."""
    centred = rows - rows.mean(axis=axis, keepdims=True)
    return centred / np.sqrt(rows.var(axis=axis, keepdims=True) + 1e-5)


AVERAGES = examples.steps("course_averages")
MASK = examples.steps("course_mask")
PROJECTIONS = examples.steps("course_projections")
# For each page: the correct result, and the result of a classical mistake.
MISTAKES = {
    "averages: dots divided by their sum, without the exponential": (
        AVERAGES["weights"],
        AVERAGES["dots"] / AVERAGES["dots"].sum(axis=1, keepdims=True),
    ),
    "projections: queries and keys exchanged": (
        PROJECTIONS["weights"],
        attention_steps(FORMULA["K"], FORMULA["Q"], FORMULA["V"], scale=1.0).weights,
    ),
    "projections: keys made with W_Q": (
        PROJECTIONS["output"],
        attention_steps(FORMULA["Q"], FORMULA["Q"], FORMULA["V"], scale=1.0).output,
    ),
    "scale: divided by d_k": (FORMULA["output"], attend(X, scale=1 / D_K)),
    "scale: divided by the root of d_model": (FORMULA["output"], attend(X, scale=D_MODEL**-0.5)),
    "scale: not divided": (FORMULA["output"], attend(X, scale=1.0)),
    "formula: softmax over the queries": (
        FORMULA["weights"],
        FORMULA["exponentials"] / FORMULA["exponentials"].sum(axis=0),
    ),
    "order: positions not added to the keys": (
        ORDER["output_with_positions"],
        attention_steps(WITH_POSITIONS @ MATRICES["W_Q_1"], FORMULA["K"], FORMULA["V"]).output,
    ),
    "mask: flipped": (MASK["output"], attend(WITH_POSITIONS, attn_mask=~np.tri(N, dtype=bool))),
    "mask: after the softmax": (MASK["output"], FORMULA["weights"] * np.tri(N) @ FORMULA["V"]),
    "heads: side by side in the other order": (
        HEADS["output"],
        np.hstack([HEADS["head_2"], HEADS["head_1"]]) @ HEADS["W_O"],
    ),
    "block: no norm before the rule": (
        BLOCK["before"],
        BLOCK["summed"] @ MATRICES["W_1"] + MATRICES["b_1"],
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
    correct, wrong = MISTAKES[mistake]
    assert as_text(correct) != as_text(wrong)
