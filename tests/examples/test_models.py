"""The examples of today's models, each computed once more in another way."""

import numpy as np

from attention_docs import examples

ROTARY = examples.steps("rotary")


def test_rotary_scores_are_real_parts_of_complex_products():
    q, k = (ROTARY[name].reshape(3, 2) @ np.array([1, 1j]) for name in "qk")
    distance = np.arange(4)[:, None] - np.arange(5)
    waves = np.exp(1j * distance[..., None] * 64 ** (-np.arange(3) / 3))
    expected = (q * k.conj() * waves).real.sum(axis=-1)
    np.testing.assert_allclose(ROTARY["scores"], expected, rtol=1e-12)


def test_rotary_scores_of_halves_are_those_of_other_pairs():
    q, k = (np.array([1, 1j]) @ ROTARY[name].reshape(2, 3) for name in "qk")
    distance = np.arange(4)[:, None] - np.arange(5)
    waves = np.exp(1j * distance[..., None] * 64 ** (-np.arange(3) / 3))
    expected = (q * k.conj() * waves).real.sum(axis=-1)
    np.testing.assert_allclose(ROTARY["scores_of_halves"], expected, rtol=1e-12)


def test_both_ways_to_go_further_bring_the_slowest_pair_back():
    np.testing.assert_allclose(ROTARY["interpolated_angles"], ROTARY["last_angles"], rtol=1e-15)
    plain, ntk = ROTARY["longer_angles"], ROTARY["ntk_angles"]
    np.testing.assert_allclose(ntk / plain, [1, 1 / 2, 1 / 4], rtol=1e-12)
