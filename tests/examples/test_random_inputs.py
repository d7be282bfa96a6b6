"""The definitions of today's models on random inputs, compared with independent computations.

Hypothesis draws a hundred cases for each test.
"""

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import attention_steps, create_mask, examples, rotary
from attention_docs.examples import around_softmax, chosen_keys, delta_rule, mask_functions
from attention_docs.examples.delta_rule_chunks import one_chunk, token_by_token
from tests import reference
from tests.examples.comparison import literals, patched_literals, perturbed_literals
from tests.examples.independent.chosen_keys import largest
from tests.examples.independent.delta_rules import exact, product, run
from tests.examples.test_examples import computations_of

seeds = st.integers(0, 2**32 - 1)
one_of_eight = st.integers(1, 8).map(lambda number: [number])
axes_of_pairs = st.lists(st.sampled_from([0, 1, 2]), min_size=8, max_size=8)
# How the literals of each example vary that noise would make meaningless; noise moves all others.
CHOICES = {
    "delta_rule": {},
    "delta_rule_chunks": {},
    "chosen_keys": {"K": one_of_eight},
    "mask_functions": {},
    "mask_blocks": {
        "WINDOW": st.integers(0, 7).map(lambda number: [number]),
        "PREFIX": st.integers(0, 8).map(lambda number: [number]),
        "SECOND": one_of_eight,
        "CHUNK": one_of_eight,
    },
    "rotary_variants": {
        "FACTOR": st.floats(1, 32).map(lambda number: [number]),
        "TRAINED": st.floats(40, 500).map(lambda number: [number]),
        "BOUNDS": st.tuples(st.floats(0.5, 2), st.floats(5, 40)).map(list),
        "CHUNKS": axes_of_pairs,
        "WOVEN": axes_of_pairs,
    },
    "position_biases": {"DISTANCES": st.lists(st.integers(0, 200), min_size=12, max_size=12)},
    "head_norms": {},
    "around_softmax": {"POSITIONS": st.lists(st.integers(0, 2**20), min_size=4, max_size=4)},
    "split_sums": {},
    "quantised_cache": {"BITS": st.integers(2, 8).map(lambda number: [number])},
}


@pytest.mark.parametrize("name", CHOICES)
@given(seed=seeds, data=st.data())
def test_steps_agree_with_independent_computation_on_random_inputs(name, seed, data):
    choices = {
        id(getattr(examples.load(name), literal)): data.draw(values, literal)
        for literal, values in CHOICES[name].items()
    }
    for computation in computations_of(name):
        noise = perturbed_literals(name, computation.fixed, seed, size=1)
        with patched_literals(name, noise | choices):
            steps, expected = examples.steps(name), computation.compute(literals(name))
        for step, value in expected.items():
            np.testing.assert_allclose(
                steps[step], value, computation.rtol, computation.atol, err_msg=step
            )


def draw_rows(random, *shape):
    """Return numbers between -1 and 1."""
    return random.uniform(-1, 1, shape)


@given(seeds, st.integers(1, 7), st.integers(1, 7), st.integers(1, 4), st.integers(1, 3))
def test_delta_rule_is_the_same_token_by_token_and_in_chunks(seed, n, chunk, d_k, d_v):
    random = np.random.RandomState(seed)
    q, k, v = (draw_rows(random, n, d) for d in (d_k, d_k, d_v))
    strengths, gates = random.uniform(0, 1, n), random.uniform(0.2, 1, n)
    _, _, states = run(*map(exact, (k, v, strengths, gates)))
    outputs = [product(row, state) for row, state in zip(exact(q), states[1:], strict=True)]
    np.testing.assert_allclose(
        token_by_token(k, v, strengths, gates)[-1], np.array(states[-1], float), atol=1e-12
    )
    state = np.zeros((d_k, d_v))
    for start in range(0, n, chunk):
        rows = slice(start, start + chunk)
        tokens = (array[rows] for array in (q, k, v, strengths, gates))
        steps = one_chunk(*tokens, state, np)
        state = steps["state"]
        np.testing.assert_allclose(
            steps["output"], np.array(outputs[rows], float), rtol=1e-9, atol=1e-12
        )
    np.testing.assert_allclose(state, np.array(states[-1], float), rtol=1e-9, atol=1e-12)


@given(seeds, st.integers(1, 6), st.integers(1, 4), st.integers(1, 3))
def test_delta_rule_with_a_gate_for_each_feature_equals_fractions(seed, n, d_k, d_v):
    random = np.random.RandomState(seed)
    k, v = draw_rows(random, n, d_k), draw_rows(random, n, d_v)
    strengths, gates = random.uniform(0, 1, n), random.uniform(0, 1, (n, d_k))
    state = np.zeros((d_k, d_v))
    for t in range(n):
        state = delta_rule.write(state, k[t], v[t], strengths[t], gates[t, :, None])[0]
    _, _, states = run(*map(exact, (k, v, strengths, gates)))
    np.testing.assert_allclose(state, np.array(states[-1], float), rtol=1e-9, atol=1e-12)


@given(seeds, st.integers(1, 9), st.integers(1, 4), st.integers(1, 5))
def test_indexer_chooses_the_largest_sums_of_positive_products(seed, n, d, count):
    random = np.random.RandomState(seed)
    first, second, keys = (random.randint(-2, 3, (n, d)).astype(float) for _ in range(3))
    head_weights = random.randint(0, 3, (n, 2)).astype(float)
    scores = chosen_keys.index_scores((first, second), keys, head_weights, np)
    causal = np.tri(n, dtype=bool)
    chosen = chosen_keys.largest(np.where(causal, scores, -np.inf), np.array([count]), np) & causal
    for i in range(n):
        sums = [
            sum(
                weight * max(0, reference.dot(query[i], key))
                for weight, query in zip(head_weights[i], (first, second), strict=True)
            )
            for key in keys
        ]
        np.testing.assert_array_equal(scores[i], sums)
        assert [*np.flatnonzero(chosen[i])] == largest(sums, range(i + 1), count)


@given(seeds, st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3))
def test_query_sees_its_own_block_and_those_with_the_best_means(seed, blocks, size, count, d):
    random = np.random.RandomState(seed)
    n = blocks * size
    q, k = (random.randint(-2, 3, (n, d)).astype(float) for _ in "qk")
    with patch.multiple(chosen_keys, BLOCK=size, BLOCKS_CHOSEN=count):
        means = np.mean(k.reshape(-1, size, k.shape[1]), axis=1)
        mask, _ = chosen_keys.block_mask(q, means, np.tri(n, dtype=bool), np)
    means = [
        [sum(column) / size for column in zip(*k[start : start + size], strict=True)]
        for start in range(0, n, size)
    ]
    for i in range(n):
        products = [reference.dot(q[i], mean) for mean in means]
        seen = {i // size, *largest(products, range(i // size), count - 1)}
        assert [*np.flatnonzero(mask[i])] == [j for j in range(i + 1) if j // size in seen]


@given(st.lists(st.integers(0, 9), max_size=7))
def test_token_of_a_draft_sees_its_ancestors(numbers):
    parents = (None, *(number % (i + 1) for i, number in enumerate(numbers)))
    with patch.object(mask_functions, "PARENTS", parents):
        tree = mask_functions.tree_mask(np)
    for token in range(len(parents)):
        path, ancestor = [], token
        while ancestor is not None:
            path, ancestor = [ancestor, *path], parents[ancestor]
        assert [*np.flatnonzero(tree[token])] == path


@given(seeds, st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_packed_documents_are_read_as_if_each_stood_alone(seed, lengths):
    random = np.random.RandomState(seed)
    q, k = (draw_rows(random, sum(lengths), 4) for _ in "qk")
    v = draw_rows(random, sum(lengths), 3)
    document = np.repeat(np.arange(len(lengths)), lengths)

    def packed(i, j):
        return (j <= i) & (document[i] == document[j])

    def output(positions):
        rows = rotary(q, positions), rotary(k, positions)
        mask = create_mask(packed, len(document))
        return attention_steps(*rows, v, attn_mask=mask).output

    restarted = np.concatenate([np.arange(length) for length in lengths])
    start, alone = 0, []
    for length in lengths:
        part = slice(start, start + length)
        rows = [turned_by_complex_numbers(array[part]) for array in (q, k)]
        alone += reference.attention(*rows, v[part], lambda i, j: j <= i)[1]
        start += length
    np.testing.assert_allclose(output(restarted), alone, atol=1e-12)
    # Positions of the row will do, so a text may also be padded on its left.
    np.testing.assert_allclose(output(np.arange(len(document))), alone, atol=1e-12)


def turned_by_complex_numbers(rows):
    """Rotate features i and i + 2 of rows at the positions 0, 1, ... with the base 10000."""
    pairs = (rows[:, :2] + 1j * rows[:, 2:]) * np.exp(
        1j * np.outer(np.arange(len(rows)), [1, 1 / 100])
    )
    return np.hstack([pairs.real, pairs.imag])


def slopes_in_authors_code(heads):
    """Return ALiBi's slopes as the authors' `get_slopes` does."""
    if math.log2(heads).is_integer():
        start = 2 ** -(2 ** -(math.log2(heads) - 3))
        return [start * start**i for i in range(heads)]
    below = 2 ** math.floor(math.log2(heads))
    return slopes_in_authors_code(below) + slopes_in_authors_code(2 * below)[::2][: heads - below]


@given(st.integers(1, 100))
def test_slopes_for_any_number_of_heads_equal_the_authors_code(heads):
    below = 2 ** (heads.bit_length() - 1)
    with patch.multiple(around_softmax, HEADS=heads, POWER_BELOW=below):
        steps = around_softmax.steps()
    np.testing.assert_allclose(steps["slopes_in_code"], slopes_in_authors_code(heads), rtol=1e-12)
    np.testing.assert_allclose(
        steps["slopes"], [2 ** (-8 * head / heads) for head in range(1, heads + 1)], rtol=1e-12
    )
