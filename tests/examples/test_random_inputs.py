"""The definitions of today's models on random inputs, compared with independent computations."""

import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import attention_steps, create_mask, examples, rotary
from attention_docs.examples import around_softmax, chosen_keys, delta_rule, mask_functions
from attention_docs.examples.delta_rule_chunks import one_chunk
from tests import loops
from tests.examples.comparison import literals, patched_literals, perturbed_literals
from tests.examples.independent import computations_of
from tests.examples.independent.chosen_keys import largest
from tests.examples.independent.delta_rules import exact, product, run
from tests.loops import rotate_pairs


def in_list(numbers):
    return numbers.map(lambda number: [number])


seeds = st.integers(0, 2**32 - 1)
one_of_eight = in_list(st.integers(1, 8))
axes_of_pairs = st.lists(st.sampled_from([0, 1, 2]), min_size=8, max_size=8)
# For each example, the literals that noise would make meaningless, and how to draw them. All other
# literals get noise.
CHOICES = {
    "delta_rule": {},
    "delta_rule_chunks": {},
    "chosen_keys": {"K": one_of_eight},
    "mask_functions": {},
    "mask_blocks": {
        "WINDOW": in_list(st.integers(0, 7)),
        "PREFIX": in_list(st.integers(0, 8)),
        "SECOND": one_of_eight,
        "CHUNK": one_of_eight,
    },
    "rotary_variants": {
        "FACTOR": in_list(st.floats(1, 32)),
        "TRAINED": in_list(st.floats(40, 500)),
        "BOUNDS": st.tuples(st.floats(0.5, 2), st.floats(5, 40)).map(list),
        "CHUNKS": axes_of_pairs,
        "WOVEN": axes_of_pairs,
    },
    "position_biases": {"DISTANCES": st.lists(st.integers(0, 200), min_size=12, max_size=12)},
    "head_norms": {},
    "around_softmax": {"POSITIONS": st.lists(st.integers(0, 2**20), min_size=4, max_size=4)},
    "split_sums": {},
    "quantised_cache": {"BITS": in_list(st.integers(2, 8))},
}


@pytest.mark.parametrize("name", CHOICES)
@given(seed=seeds, data=st.data())
def test_steps_agree_with_independent_computation_on_random_inputs(name, seed, data):
    choices = {
        id(getattr(examples.load(name), literal)): data.draw(values, literal)
        for literal, values in CHOICES[name].items()
    }
    computations = computations_of(name)
    fixed = {literal for computation in computations for literal in computation.fixed}
    noise = perturbed_literals(name, fixed, seed, size=1)
    with patched_literals(name, noise | choices):
        steps = examples.steps(name)
        for computation in computations:
            for step, expected in computation.compute(literals(name)).items():
                tolerances = {"rtol": computation.rtol, "atol": computation.atol}
                np.testing.assert_allclose(steps[step], expected, **tolerances, err_msg=step)


def draw_rows(random, *shape):
    """Return numbers between -1 and 1."""
    return random.uniform(-1, 1, shape)


def assert_close_to_fractions(actual, fractions):
    """Assert that floats equal the results of exact arithmetic, up to rounding."""
    np.testing.assert_allclose(actual, np.array(fractions, float), rtol=1e-9, atol=1e-12)


def exact_states(k, v, strengths, gates):
    """Return an empty state and the state after each token, in fractions."""
    _, _, states = run(exact(k), exact(v), exact(strengths), exact(gates))
    return states


def draw_tokens(seed, n, d_k, d_v):
    """Return queries, keys, values, strengths and gates."""
    random = np.random.RandomState(seed)
    q, k, v = (draw_rows(random, n, d) for d in (d_k, d_k, d_v))
    return q, k, v, random.uniform(0, 1, n), random.uniform(0.2, 1, n)


@given(seeds, st.integers(1, 7), st.integers(1, 4), st.integers(1, 3))
def test_delta_rule_token_by_token_equals_exact_arithmetic(seed, n, d_k, d_v):
    _, k, v, strengths, gates = draw_tokens(seed, n, d_k, d_v)
    writes = delta_rule.write_all(k, v, strengths, gates, np)
    assert_close_to_fractions(writes.states, exact_states(k, v, strengths, gates))


@given(seeds, st.integers(1, 7), st.integers(1, 7), st.integers(1, 4), st.integers(1, 3))
def test_delta_rule_in_chunks_equals_exact_arithmetic(seed, n, chunk, d_k, d_v):
    tokens = draw_tokens(seed, n, d_k, d_v)
    state = np.zeros((d_k, d_v))
    outputs = []
    for start in range(0, n, chunk):
        tokens_of_chunk = [rows[start : start + chunk] for rows in tokens]
        steps = one_chunk(*tokens_of_chunk, state, np)
        state = steps["state"]
        outputs.extend(steps["output"])
    q, k, v, strengths, gates = tokens
    states = exact_states(k, v, strengths, gates)[1:]  # without the empty one
    assert_close_to_fractions(state, states[-1])
    exact_outputs = [product(query, state) for query, state in zip(exact(q), states, strict=True)]
    assert_close_to_fractions(outputs, exact_outputs)


@given(seeds, st.integers(1, 6), st.integers(1, 4), st.integers(1, 3))
def test_delta_rule_with_a_gate_for_each_feature_equals_exact_arithmetic(seed, n, d_k, d_v):
    _, k, v, strengths, _ = draw_tokens(seed, n, d_k, d_v)
    gates = np.random.RandomState(seed).uniform(0, 1, (n, d_k))
    writes = delta_rule.write_all(k, v, strengths, gates[:, :, None], np)
    assert_close_to_fractions(writes.states, exact_states(k, v, strengths, gates))


def draw_whole_numbers(random, *shape):
    """Return whole numbers from -2 to 2, so that equal scores are frequent."""
    return random.randint(-2, 3, shape).astype(float)


@given(seeds, st.integers(1, 9), st.integers(1, 4))
def test_index_scores_are_weighted_sums_of_positive_products(seed, n, d):
    random = np.random.RandomState(seed)
    queries_1, queries_2, keys = draw_whole_numbers(random, 3, n, d)
    head_weights = np.abs(draw_whole_numbers(random, n, 2))
    scores = chosen_keys.index_scores((queries_1, queries_2), keys, head_weights, np)
    for i, j in np.ndindex(n, n):
        product_1 = max(0, loops.dot(queries_1[i], keys[j]))
        product_2 = max(0, loops.dot(queries_2[i], keys[j]))
        weight_1, weight_2 = head_weights[i]
        assert scores[i, j] == weight_1 * product_1 + weight_2 * product_2


@given(seeds, st.integers(1, 9), st.integers(1, 5))
def test_top_k_mask_chooses_the_largest_visible_scores(seed, n, count):
    scores = draw_whole_numbers(np.random.RandomState(seed), n, n)
    causal = np.tri(n, dtype=bool)
    masked = np.where(causal, scores, -np.inf)
    chosen = chosen_keys.top_k_mask(masked, np.array([count]), np) & causal
    for i in range(n):
        assert [*np.flatnonzero(chosen[i])] == largest(scores[i], range(i + 1), count)


@given(seeds, st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3))
def test_query_sees_its_own_block_and_those_with_the_best_means(seed, blocks, size, count, d):
    random, n = np.random.RandomState(seed), blocks * size
    q, means = draw_whole_numbers(random, n, d), draw_whole_numbers(random, blocks, d)
    with patch.multiple(chosen_keys, BLOCK=size, BLOCKS_CHOSEN=count):
        mask, _ = chosen_keys.block_mask(q, means, np.tri(n, dtype=bool), np)
    for i in range(n):
        own = i // size
        products = [loops.dot(q[i], mean) for mean in means]
        seen = {own, *largest(products, range(own), count - 1)}
        assert [*np.flatnonzero(mask[i])] == [j for j in range(i + 1) if j // size in seen]


@given(st.lists(st.integers(0, 9), max_size=7))
def test_token_of_a_draft_sees_its_ancestors(numbers):
    # The parent of a token is one of the tokens before it.
    parents = (None, *(number % token for token, number in enumerate(numbers, start=1)))
    with patch.object(mask_functions, "PARENTS", parents):
        tree = mask_functions.tree_mask(np)
    for token in range(len(parents)):
        path, ancestor = [], token
        while ancestor is not None:
            path, ancestor = [ancestor, *path], parents[ancestor]
        assert [*np.flatnonzero(tree[token])] == path


def output_of_document(q, k, v):
    """Return the output of a document alone: rotated, and with a causal mask."""
    query = [rotate_pairs(row, t, base=10000) for t, row in enumerate(q)]
    key = [rotate_pairs(row, t, base=10000) for t, row in enumerate(k)]
    _, output = loops.attention(query, key, v, allowed=lambda i, j: j <= i)
    return output


def restarting_positions(lengths):
    """Return positions that restart at each document."""
    return np.concatenate([np.arange(length) for length in lengths])


def running_positions(lengths):
    """Return positions that run on: rotary scores depend on distances only."""
    return np.arange(sum(lengths))


@pytest.mark.parametrize("positions_of", [restarting_positions, running_positions])
@given(seed=seeds, lengths=st.lists(st.integers(1, 4), min_size=1, max_size=3))
def test_packed_documents_equal_each_document_alone(positions_of, seed, lengths):
    random = np.random.RandomState(seed)
    q, k, v = (draw_rows(random, sum(lengths), d) for d in (4, 4, 3))
    document = np.repeat(np.arange(len(lengths)), lengths)
    mask = create_mask(lambda i, j: (j <= i) & (document[i] == document[j]), sum(lengths))
    positions = positions_of(lengths)
    output = attention_steps(rotary(q, positions), rotary(k, positions), v, attn_mask=mask).output
    for i in range(len(lengths)):
        rows = document == i
        expected = output_of_document(q[rows], k[rows], v[rows])
        np.testing.assert_allclose(output[rows], expected, atol=1e-12)


def slopes_in_authors_code(heads):
    """Return ALiBi's slopes as the authors' `get_slopes` does."""
    if math.log2(heads).is_integer():
        start = 2 ** -(2 ** -(math.log2(heads) - 3))
        return [start * start**i for i in range(heads)]
    below = 2 ** math.floor(math.log2(heads))
    return slopes_in_authors_code(below) + slopes_in_authors_code(2 * below)[::2][: heads - below]


@given(st.integers(1, 100))
def test_slopes_for_any_number_of_heads_equal_formula_and_authors_code(heads):
    power_below = 2 ** (heads.bit_length() - 1)
    with patch.multiple(around_softmax, HEADS=heads, POWER_BELOW=power_below):
        steps = around_softmax.steps()
    by_formula = [2 ** (-8 * head / heads) for head in range(1, heads + 1)]
    np.testing.assert_allclose(steps["slopes"], by_formula, rtol=1e-12)
    np.testing.assert_allclose(steps["slopes_in_code"], slopes_in_authors_code(heads), rtol=1e-12)
