"""The worked examples: one shape for all, and the right digits."""

import importlib
import itertools
import pkgutil
import re

import numpy as np
import pytest

from attention_docs import attention_steps, examples
from attention_docs.render.text import as_text
from tests.examples import ways
from tests.examples.comparison import WAYS, Way, compare
from tests.examples.ways.plain import steps_of_one_head

for module in pkgutil.iter_modules(ways.__path__):
    importlib.import_module(f"{ways.__name__}.{module.name}")

NAMES = examples.names()
THOROUGH = (pytest.mark.thorough,)
# One head, on queries, keys and values that are projected: the loop and PyTorch know it all.
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
    assert as_text(steps) == examples.expected(name)
    for step, array in steps.items():
        assert step.isidentifier()
        assert array.ndim <= 2, step


def ways_of(name):
    return WAYS[name] or [steps_of_one_head(names_of_steps(name) - GIVEN)] * is_plain(name)


@pytest.mark.parametrize(
    "name",
    # To train the models once more takes a while.
    [pytest.param(name, marks=THOROUGH * name.startswith("learning_")) for name in NAMES],
)
def test_all_steps_agree_with_another_way_to_compute_them(name, record_property):
    record_property("compared", compare(name, ways_of(name)))


RIGHT = examples.steps("self_attention")["weights"]


SLOW_LOOP = steps_of_one_head(ATTENTION | {"scores", "scaled"})


def right(given):
    return SLOW_LOOP.compute(given)


@pytest.mark.parametrize(
    ("ways", "message"),
    [
        ([], "self_attention is compared with nothing"),
        ([lambda given: {}], "a way computes nothing"),
        ([lambda given: {"weights": RIGHT}], "weights and a way, moved"),
        ([lambda given: {"weights": RIGHT + 1e-9}], "weights and a way, as committed"),
        ([lambda given: {"weights": RIGHT[0]}], r"as committed: \(3, 3\) and \(3,\)"),
        ([lambda given: examples.steps("self_attention")], "a way is independent"),
        ([lambda given: {"weight": RIGHT}], "self_attention has no step weight"),
        ([right], "a way takes .*attention_steps.* from the package"),
    ],
)
def test_a_comparison_that_cannot_fail_is_refused(ways, message):
    with pytest.raises(AssertionError, match=message):
        compare("self_attention", [Way(one, "a way", 1e-12, 1e-15, ()) for one in ways])


def test_a_tolerance_that_lets_a_digit_pass_is_refused():
    with pytest.raises(AssertionError, match="a wrong digit would pass"):
        compare("self_attention", [SLOW_LOOP._replace(rtol=1e-3)])


def test_a_step_that_is_compared_with_nothing_is_named():
    without = steps_of_one_head(ATTENTION | {"scaled"})
    with pytest.raises(AssertionError, match="nothing is compared with scores"):
        compare("self_attention", [without])


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
