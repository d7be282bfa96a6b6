"""All examples: their form, committed digits, independent computations and sizes."""

import numpy as np
import pytest

from attention_docs import examples
from attention_docs.render.text import as_text
from tests.conftest import LIBRARIES
from tests.examples.comparison import Computation, compare
from tests.examples.independent import ONE_HEAD_STEPS, computations_of
from tests.examples.independent.one_head import one_head_steps, steps_of_one_head

NAMES = examples.names()


def test_every_example_has_title_and_source():
    for name in NAMES:
        assert examples.load(name).TITLE, name
        assert examples.load(name).SOURCE, name


@pytest.mark.parametrize("xp", LIBRARIES[1:], indirect=True)  # doctests compare NumPy's
@pytest.mark.parametrize("name", NAMES)
def test_steps_match_committed_digits_on_every_library(name, xp):
    assert as_text(examples.computed(examples.load(name).steps, xp)) == examples.expected(name)


@pytest.mark.parametrize("name", NAMES)
def test_steps_have_identifiers_and_at_most_two_axes(name):
    for step, array in examples.steps(name).items():
        assert step.isidentifier()
        assert array.ndim <= 2, step


@pytest.mark.parametrize("name", NAMES)
def test_steps_agree_with_independent_computation(name):
    compare(name, computations_of(name))


WEIGHTS = examples.steps("self_attention")["weights"]
SLOW_LOOP = steps_of_one_head(ONE_HEAD_STEPS | {"scores", "scaled"})


def function_of_module_that_imports_the_package(literals):
    return SLOW_LOOP.compute(literals)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda literals: {}, "a loop computes nothing"),
        (lambda literals: {"weights": WEIGHTS}, "weights and a loop, perturbed"),
        (lambda literals: {"weights": WEIGHTS + 1e-9}, "weights and a loop, as committed"),
        (lambda literals: {"weights": WEIGHTS[0]}, r"as committed: \(3, 3\) and \(3,\)"),
        (lambda literals: examples.steps("self_attention"), "must not call examples.steps"),
        (lambda literals: {"weight": WEIGHTS}, "self_attention has no step weight"),
        (function_of_module_that_imports_the_package, "uses .*examples.* of the package"),
    ],
)
def test_compare_rejects_wrong_or_dependent_computation(function, message):
    computation = Computation(function, method="a loop", rtol=1e-12, atol=1e-15, fixed=())
    with pytest.raises(AssertionError, match=message):
        compare("self_attention", [computation])


def test_compare_rejects_example_without_computation():
    with pytest.raises(AssertionError, match="self_attention has no independent computation"):
        compare("self_attention", [])


def test_compare_rejects_tolerance_that_hides_a_wrong_digit():
    with pytest.raises(AssertionError, match="a wrong digit would pass"):
        compare("self_attention", [SLOW_LOOP._replace(rtol=1e-3)])


def test_compare_rejects_steps_without_computation():
    without_scores = steps_of_one_head(ONE_HEAD_STEPS | {"scaled"})
    with pytest.raises(AssertionError, match="nothing is compared with scores"):
        compare("self_attention", [without_scores])


def test_one_head_takes_queries_keys_and_values_as_literals():
    q, k, v = (examples.steps("self_attention")[letter].tolist() for letter in "QKV")
    output = one_head_steps({"Q": q, "K": k, "V": v})["output"]
    np.testing.assert_allclose(output, examples.steps("self_attention")["output"])
