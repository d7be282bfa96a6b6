"""The example in which all sizes differ: each classical mistake must show in it."""

import math

import numpy as np
import pytest

from attention_docs import attention_steps, examples, merge_heads, padding_mask, split_heads
from attention_docs.render.text import text
from tests import reference
from tests.conftest import ROOT

STEPS = examples.steps("distinct_sizes")
Q, K, V = (STEPS[name] for name in "QKV")
M, D_MODEL = STEPS["X_q"].shape
N, D_K, D_V = len(K), K.shape[1], V.shape[1]
CAUSAL = np.tri(M, N, dtype=bool)


@pytest.mark.parametrize("step", STEPS)
def test_no_row_and_no_column_repeats(step):
    matrix = STEPS[step]
    assert len(np.unique(matrix, axis=0)) == matrix.shape[0]
    assert len(np.unique(matrix, axis=1).T) == matrix.shape[1]


def attend(**options):
    return attention_steps(Q, K, V, **options).output


MISTAKES = {
    "divided by d_k": lambda: attend(scale=1 / D_K),
    "divided by the root of d_model": lambda: attend(scale=1 / math.sqrt(D_MODEL)),
    "not scaled": lambda: attend(scale=1.0),
    "multiplied by the root of d_k": lambda: attend(scale=math.sqrt(D_K)),
    "softmax over the queries": lambda: (
        np.exp(STEPS["scaled"]) / np.exp(STEPS["scaled"]).sum(0) @ V
    ),
    "weights left unnormalised": lambda: np.exp(STEPS["scaled"]) @ V,
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_changes_every_printed_row(mistake):
    for right, mistaken in zip(STEPS["output"], MISTAKES[mistake](), strict=True):
        assert text(right) != text(mistaken)


TWO = examples.steps("two_sequences")
OTHER_MISTAKES = {
    "divided by d_k": lambda q, k, v: attention_steps(q, k, v, scale=1 / 5).output,
    "divided by the root of d_model": lambda q, k, v: (
        attention_steps(q, k, v, scale=1 / math.sqrt(6)).output
    ),
    "not scaled": lambda q, k, v: attention_steps(q, k, v, scale=1.0).output,
    "softmax over the queries": lambda q, k, v: (
        np.exp(TWO["scaled"]) / np.exp(TWO["scaled"]).sum(0) @ v
    ),
    "W_Q and W_K swapped": lambda q, k, v: (
        attention_steps(TWO["X_q"] @ TWO["W_K"], TWO["X_kv"] @ TWO["W_Q"], v).output
    ),
    "keys made with W_Q": lambda q, k, v: attention_steps(q, TWO["X_kv"] @ TWO["W_Q"], v).output,
}


@pytest.mark.parametrize("mistake", OTHER_MISTAKES)
def test_a_mistake_changes_every_printed_row_of_two_sequences(mistake):
    mistaken = OTHER_MISTAKES[mistake](TWO["Q"], TWO["K"], TWO["V"])
    for right, wrong in zip(TWO["output"], mistaken, strict=True):
        assert text(right) != text(wrong)


def test_a_flipped_mask_changes_every_printed_row():
    for right, mistaken in zip(attend(attn_mask=CAUSAL), attend(attn_mask=~CAUSAL), strict=True):
        assert text(right) != text(mistaken)


def test_a_mask_after_the_softmax_changes_every_printed_row():
    mistaken = (STEPS["weights"] * CAUSAL) @ V
    for right, wrong in zip(attend(attn_mask=CAUSAL), mistaken, strict=True):
        assert text(right) != text(wrong)


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ((K, Q, V), r"value has shape \(5, 3\); expected \(..., 4, d_v\) to match key \(4, 2\)"),
        ((Q, V, K), r"key has shape \(5, 3\); expected \(..., n, 2\) to match query \(4, 2\)"),
        ((V, K, Q), r"key has shape \(5, 2\); expected \(..., n, 3\) to match query \(5, 3\)"),
    ],
    ids=["Q and K swapped", "K and V swapped", "Q and V swapped"],
)
def test_swapped_roles_do_not_fit(roles, message):
    with pytest.raises(ValueError, match=message):
        attention_steps(*roles)


def test_padding_that_is_not_hidden_changes_every_printed_row():
    keys, values = (np.vstack([rows, np.zeros(rows.shape[1])]) for rows in (K, V))
    hidden = padding_mask(np.array([N]), N + 1)[0]
    kept = attention_steps(Q, keys, values, attn_mask=hidden).output
    for right, mistaken, mended in zip(
        STEPS["output"], attention_steps(Q, keys, values).output, kept, strict=True
    ):
        assert text(right) != text(mistaken)
        assert text(right) == text(mended)


def among(query, key):
    return attention_steps(query, key, key).output


def test_heads_without_the_transpose_change_every_printed_row_and_miss_tokens():
    queries, keys = STEPS["X_q"], STEPS["X_kv"]
    wrong = among(queries.reshape(3, M, 2), keys.reshape(3, N, 2)).reshape(M, D_MODEL)
    right = merge_heads(among(split_heads(queries, 3), split_heads(keys, 3)))
    for row, mistaken in zip(right, wrong, strict=True):
        assert text(row) != text(mistaken)
    pieces = zip(np.split(queries.ravel(), 3), np.split(keys.ravel(), 3), strict=True)
    heads = [(q.reshape(M, 2), k.reshape(N, 2)) for q, k in pieces]
    slow = np.concatenate([np.ravel(reference.attention(q, k, k)[1]) for q, k in heads])
    expected = examples.steps("common_mistakes")["heads_without_transpose"]
    np.testing.assert_allclose(expected, slow.reshape(M, D_MODEL), rtol=1e-12)
    np.testing.assert_allclose(expected, wrong, rtol=1e-12)


def test_the_page_shows_every_mistake_beside_what_is_right():
    page = (ROOT / "docs" / "mechanisms" / "common_mistakes.md").read_text(encoding="utf-8")
    for step in examples.steps("common_mistakes"):
        assert rf"\val{{common_mistakes.{step}" in page
