"""The examples of today's models, each computed once more in another way."""

import math

import numpy as np

from attention_docs import examples
from attention_docs.render.text import text
from tests import reference

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


BIASES = examples.steps("position_biases")


def seen(i, j):
    return j <= i


def slow_weights(score):
    """Weigh all pairs that a causal mask allows, from a score for each pair of positions."""
    scaled = [[reference.dot(q, k) / math.sqrt(3) for k in BIASES["K"]] for q in BIASES["Q"]]
    return [
        reference.softmax_row(
            [score(z, i, j) if seen(i, j) else -math.inf for j, z in enumerate(row)]
        )
        for i, row in enumerate(scaled)
    ]


def test_alibi_is_the_formula_of_its_paper():
    ratio = 2 ** (-8 / 4)  # the slopes are a geometric sequence that starts at this ratio
    np.testing.assert_allclose(BIASES["slopes"], [ratio**head for head in (1, 2, 3, 4)])
    slow = slow_weights(lambda z, i, j: z + ratio * -(i - j))
    np.testing.assert_allclose(BIASES["weights_alibi"], slow, rtol=1e-12)
    np.testing.assert_allclose(BIASES["output_alibi"], slow @ BIASES["V"], rtol=1e-12)
    np.testing.assert_allclose(BIASES["weights"], slow_weights(lambda z, i, j: z), rtol=1e-12)


def test_buckets_are_where_the_edges_of_t5_lie():
    # Bucket 4 + k begins at the distance 4 * 8 ** (k / 4): the last of eight ends at 32.
    edges = [1, 2, 3, 4, *(4 * 8 ** (k / 4) for k in (1, 2, 3))]
    slow = [sum(edge <= distance for edge in edges) for distance in BIASES["distances"]]
    assert BIASES["buckets"].tolist() == slow


def test_reach_is_that_of_a_walk_through_the_layers():
    reached = {9}
    for count in BIASES["reach"]:
        reached = {i - step for i in reached for step in (0, 1, 2)}
        assert len(reached) == count


def test_a_sink_is_a_term_of_the_denominator():
    for i, row in enumerate(BIASES["masked"]):
        powers = [math.exp(z) for z in row]
        slow = [power / (math.exp(3) + math.fsum(powers)) for power in powers]
        np.testing.assert_allclose(BIASES["weights_sink"][i], slow, rtol=1e-12)
    expected = BIASES["weights_sink"] @ BIASES["V"]
    np.testing.assert_allclose(BIASES["output_sink"], expected, rtol=1e-12)


def test_a_softcap_before_the_mask_hides_and_one_after_it_does_not():
    slow = slow_weights(lambda z, i, j: 2 * math.tanh(z / 2))
    np.testing.assert_allclose(BIASES["weights_capped"], slow, rtol=1e-12)
    late = BIASES["weights_capped_late"]
    for i in range(4):
        assert text(late[i]) != text(BIASES["weights_capped"][i])
        assert (late[i, i + 1 :] > 0).all()
    ones = [math.exp(-2) / (4 * math.exp(-2) + math.exp(2 * math.tanh(BIASES["masked"][0, 0] / 2)))]
    np.testing.assert_allclose(late[0, 1:], 4 * ones, rtol=1e-12)
