"""The worked examples: one shape for all, and the right digits."""

import itertools
import re

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.render.text import text
from tests import reference
from tests.conftest import ROOT

NAMES = examples.names()
# One head, on queries, keys and values that are given or projected: the loop and PyTorch know it all.
GIVEN = {"X", "X_q", "X_kv", "W_Q", "W_K", "W_V"}
ATTENTION = {"Q", "K", "V", "weights", "output"}


def names_of_steps(name):
    """The names of an example's steps, as it prints them: to compute them all would take a while."""
    return set(re.findall(r"^([A-Za-z]\w*)", examples.expected(name), re.M))


def is_plain(name):
    return ATTENTION <= names_of_steps(name) <= ATTENTION | GIVEN | {"scores", "scaled"}


PLAIN = [name for name in NAMES if is_plain(name)]


def test_examples_are_told_apart_by_their_steps_and_words():
    assert "self_attention" in PLAIN
    assert "softmax_overflow" not in PLAIN
    assert {"distinct_sizes": 1, "multi_head": 2}.items() <= HEADS.items()


def test_every_example_has_a_title_and_a_source():
    for name in NAMES:
        assert examples.load(name).TITLE, name
        assert examples.load(name).SOURCE, name


@pytest.mark.parametrize("name", NAMES)
def test_gives_the_committed_digits_on_every_library_and_fits_in_a_page(name, xp):
    steps = examples.steps(name, xp)
    assert text(steps) == examples.expected(name)
    for step, array in steps.items():
        assert step.isidentifier()
        assert array.ndim <= 2, step


def test_every_example_is_compared_with_another_way_to_compute_it():
    tests = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    compared = {*PLAIN, *re.findall(r'examples\.steps\("(\w+)"\)', tests)}
    assert not set(NAMES) - compared, (
        "a test with examples.steps(name) should compute these another way"
    )


@pytest.mark.parametrize("name", PLAIN)
def test_equals_a_slow_loop(name):
    steps = examples.steps(name)
    queries, keys = steps.get("X_q", steps.get("X")), steps.get("X_kv", steps.get("X"))
    q, k, v = (
        reference.matmul(x, steps[f"W_{letter}"]) if f"W_{letter}" in steps else steps[letter]
        for x, letter in ((queries, "Q"), (keys, "K"), (keys, "V"))
    )
    weights, output = reference.attention(q, k, v)
    for step, expected in {"Q": q, "K": k, "V": v, "weights": weights, "output": output}.items():
        np.testing.assert_allclose(steps[step], expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", PLAIN)
def test_equals_pytorch(name, torch):
    steps = examples.steps(name)
    tensors = (torch.from_numpy(steps[step]) for step in "QKV")
    expected = torch.nn.functional.scaled_dot_product_attention(*tensors)
    np.testing.assert_allclose(steps["output"], expected.numpy(), rtol=1e-14)


# By these words an example claims that no wrong product of its matrices fits: each is held to it.
CLAIM = "all sizes differ"


def number_of_heads(name):
    """The heads that an example numbers, `Q_1` and so on, or one."""
    return max(1, sum(bool(re.fullmatch(r"Q_\d+", step)) for step in names_of_steps(name)))


HEADS = {
    name: number_of_heads(name)
    for name in NAMES
    if CLAIM in " ".join(examples.load(name).__doc__.split())
}


@pytest.mark.parametrize(("name", "heads"), HEADS.items())
def test_no_two_sizes_agree_those_of_the_merged_heads_included(name, heads):
    steps = examples.steps(name)
    (m, d_model), n = steps["X_q"].shape, len(steps["X_kv"])
    all_d_k, all_d_v = steps["K"].shape[1], steps["V"].shape[1]
    sizes = {"m": m, "n": n, "d_model": d_model, "h d_k": all_d_k, "h d_v": all_d_v}
    if heads > 1:
        sizes |= {"h": heads, "d_k": all_d_k // heads, "d_v": all_d_v // heads}
    assert len(set(sizes.values())) == len(sizes), sizes
    assert steps.get("Q_1", steps["Q"]).shape == (m, all_d_k // heads)
    assert steps.get("V_1", steps["V"]).shape == (n, all_d_v // heads)


@pytest.mark.parametrize("name", HEADS)
def test_a_forgotten_or_a_needless_transpose_does_not_fit(name):
    steps = examples.steps(name)
    q, k, v = (steps[letter] for letter in "QKV")
    weights = steps["weights"] if "weights" in steps else steps["one_head_weights"]
    assert (q @ k.T).shape == weights.shape
    for left, right in ((q, k), (q.T, k), (q.T, k.T), (q, v.T), (weights.T, v), (weights, v.T)):
        with pytest.raises(ValueError, match="mismatch"):
            left @ right


@pytest.mark.parametrize("name", [name for name, heads in HEADS.items() if heads == 1])
def test_queries_keys_and_values_in_a_wrong_order_do_not_fit(name):
    right, *wrong = itertools.permutations(examples.steps(name)[letter] for letter in "QKV")
    attention_steps(*right)
    for roles in wrong:
        with pytest.raises(ValueError, match="expected"):
            attention_steps(*roles)


def test_the_weights_of_a_tetrahedron_are_the_only_blend_that_gives_its_outputs():
    steps = examples.steps("two_sequences")
    corners = np.vstack([steps["V"].T, np.ones(4)])
    assert abs(np.linalg.det(corners)) > 1
    blends = np.linalg.solve(corners, np.vstack([steps["output"].T, np.ones(2)]))
    np.testing.assert_allclose(blends.T, steps["weights"], rtol=1e-12)


def test_outputs_lie_inside_the_triangle_of_values_in_space():
    steps, flat = examples.steps("values_in_space"), examples.steps("self_attention")
    corner, side, other = (
        steps["V"][0],
        steps["V"][1] - steps["V"][0],
        steps["V"][2] - steps["V"][0],
    )
    normal = np.cross(side, other)
    assert normal[1] != 0, "the triangle leans, so its height counts"
    np.testing.assert_allclose((steps["output"] - corner) @ normal, 0, atol=1e-14)
    for output in steps["output"]:
        inner = [
            np.cross(output - corner, other) @ normal,
            np.cross(side, output - corner) @ normal,
        ]
        shares = np.array(inner) / (normal @ normal)
        assert np.all(shares > 0)
        assert shares.sum() < 1
    np.testing.assert_array_equal(steps["output"][:, :2], flat["output"])
    np.testing.assert_array_equal(steps["weights"], flat["weights"])


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(LookupError, match=r"example 'nope' is unknown; known are .*self_attention"):
        examples.load("nope")
