"""Columns, additive scores and convolution: statements of the pages about them."""

import numpy as np

from attention_docs import examples


def test_additive_example_shares_rows_with_column_vectors():
    columns, rows = examples.steps("column_vectors"), examples.steps("additive_attention")
    np.testing.assert_array_equal(rows["Q"], columns["Q"].T[:2])
    np.testing.assert_array_equal(rows["K"], columns["K"].T)
    np.testing.assert_array_equal(rows["V"], columns["V"].T)


def test_weights_of_a_tap_ignore_pixels(monkeypatch):
    example = examples.load("convolution")
    before = example.steps()
    monkeypatch.setattr(example, "IMAGE", np.asarray(example.IMAGE)[::-1, ::-1].tolist())
    after = example.steps()
    np.testing.assert_array_equal(after["weights_1"], before["weights_1"])
    assert np.any(after["output"] != before["output"])
