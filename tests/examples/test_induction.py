"""Induction by hand on other sequences."""

import pytest

from attention_docs import examples


def one_hot(token):
    return [float(token == letter) for letter in "ABC"]


@pytest.mark.parametrize("sequence", ["CABA", "BCAC", "ABCB", "CBAB", "BACA"])
def test_induction_by_hand_continues_other_sequences(sequence, monkeypatch):
    example = examples.load("induction_by_hand")
    positions = [row[len("ABC") :] for row in example.X]  # the features after those of the token
    rows = [one_hot(token) + row for token, row in zip(sequence, positions, strict=True)]
    monkeypatch.setattr(example, "X", rows)
    first_occurrence = sequence.index(sequence[-1])
    expected = one_hot(sequence[first_occurrence + 1])
    assert example.steps()["output"][-1].tolist() == expected
