"""The definitions of today's models on random inputs, compared with independent computations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import examples
from tests.examples.comparison import literals, patched_literals, perturbed_literals
from tests.examples.independent import computations_of


def in_list(numbers):
    return numbers.map(lambda number: [number])


seeds = st.integers(0, 2**32 - 1)
one_of_eight = in_list(st.integers(1, 8))
five_odds = st.lists(st.integers(1, 40), min_size=5, max_size=5, unique=True)
three_probabilities = st.lists(st.floats(0.05, 0.95), min_size=3, max_size=3)
axes_of_pairs = st.lists(st.sampled_from([0, 1, 2]), min_size=8, max_size=8)
block_tables = st.permutations(range(6)).map(lambda p: [p[:3], [*p[:2], p[3]], [*p[4:], p[0]]])
# For each example, the literals that noise would make meaningless, and how to draw them. All other
# literals get noise.
CHOICES = {
    "delta_rule": {},
    "delta_rule_chunks": {},
    "linear_attention_family": {"GATE": in_list(st.floats(0.1, 1))},
    "differential_attention": {},
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
    "rope_scaling": {
        "FACTOR": in_list(st.floats(1, 32)),
        "TRAINED": in_list(st.floats(40, 500)),
        "LENGTH": in_list(st.floats(20, 5000)),
        "LOW": in_list(st.floats(0.5, 2)),
        "HIGH": in_list(st.floats(3, 8)),
        "BETAS": st.tuples(st.floats(0.5, 2), st.floats(5, 40)).map(list),
    },
    "position_biases": {"DISTANCES": st.lists(st.integers(0, 200), min_size=12, max_size=12)},
    "head_norms": {},
    "around_softmax": {"POSITIONS": st.lists(st.integers(0, 2**20), min_size=4, max_size=4)},
    "split_sums": {},
    "quantised_cache": {"BITS": in_list(st.integers(2, 8))},
    "paged_cache": {"TABLE": block_tables},
    "chunked_prefill": {},
    "padded_batch": {},
    "compressed_keys": {},
    "flash_backward": {},
    "lazy_rescaling": {},
    "exp2_polynomial": {},
    "fp8_blocks": {},
    "packed_sequences": {},
    "arithmetic_intensity": {},
    "decode_time": {"TEXTS": one_of_eight, "QUERIES": one_of_eight},
    "speculative_sampling": {
        "TARGET_ODDS": five_odds,
        "DRAFT_ODDS": five_odds,
        "SHARPNESS": in_list(st.integers(1, 3)),
        **dict.fromkeys(("DRAFTED_P", "DRAFTED_Q", "DRAWS"), three_probabilities),
    },
    "speculative_cache": {},
    "non_causal_masks": {},
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
