"""Compare the steps of each example with an independent computation.

An independent computation is a function from the literals of an example to some of its steps, by
slow loops, closed forms or counting, and without the package, of which `trained` alone gives it the
weights of trained models. It is called twice: with the literals as committed, and with all of them
perturbed by random amounts. So a function that returns the committed digits, or takes its steps
from the example, disagrees.
"""

import contextlib
import inspect
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from attention_docs import examples
from attention_docs.render.text import as_text

# Half of the last digit that pages show: the fourth decimal, or of smaller numbers the second digit.
HALF_LAST_DECIMAL, HALF_SECOND_DIGIT = 0.5e-4, 0.5e-1


class Computation(NamedTuple):
    """An independent computation of steps of an example.

    Attributes:
        compute: a function from a dictionary of literals to a dictionary of steps.
        method: how it computes them, in a few words.
        fixed: names of literals that are not perturbed, such as positions and sizes.
    """

    compute: Callable
    method: str
    rtol: float
    atol: float
    fixed: tuple[str, ...]


COMPUTATIONS = defaultdict(list)


def independent(example, method, *, rtol=1e-11, atol=1e-13, fixed=()):
    """Register a function as an independent computation of steps of an example."""

    def register(compute):
        COMPUTATIONS[example].append(Computation(compute, method, rtol, atol, tuple(fixed)))
        return compute

    return register


def compare(example, computations):
    """Compare all steps of an example but its inputs."""
    assert computations, f"{example} has no independent computation: write one for its steps"
    fixed = {name for computation in computations for name in computation.fixed}
    perturbed = perturbed_literals(example, fixed)
    compared = set()
    for computation in computations:
        compared |= compare_with(example, computation, changes={})
        if perturbed:
            compare_with(example, computation, perturbed)
        refuse_package_imports(example, computation)
    missing = examples.steps(example).keys() - compared - literal_steps(example, perturbed)
    assert not missing, f"{example}: nothing is compared with {', '.join(sorted(missing))}"


def compare_with(example, computation, changes):
    """Change literals, compare steps with a computation, and return the names of these steps."""
    refuse_steps = AssertionError("an independent computation must not call examples.steps")
    with patched_literals(example, changes):
        steps = examples.steps(example)
        with patch.object(examples, "steps", side_effect=refuse_steps):
            expected_steps = computation.compute(literals(example))
    assert expected_steps, f"{example}: {computation.method} computes nothing"
    for step, value in expected_steps.items():
        assert step in steps, f"{example} has no step {step}"
        state = "perturbed" if changes else "as committed"
        message = f"{example}.{step} and {computation.method}, {state}"
        assert_close(np.asarray(steps[step]), np.asarray(value), computation, message)
    return set(expected_steps)


def assert_close(actual, expected, computation, message):
    """Fail if arrays differ by more than the tolerances, or if these would hide a wrong digit."""
    assert actual.shape == expected.shape, f"{message}: {actual.shape} and {expected.shape}"
    tolerances = {"rtol": computation.rtol, "atol": computation.atol}
    np.testing.assert_allclose(actual, expected, **tolerances, err_msg=message)
    is_finite = np.isfinite(actual)
    passes = np.isclose(with_wrong_last_digit(actual[is_finite]), expected[is_finite], **tolerances)
    assert not passes.any(), f"{message}: a wrong digit would pass"


def with_wrong_last_digit(numbers):
    """Return the numbers off by half of the last digit that a page displays."""
    size = np.abs(numbers)
    error = np.where(
        size < 2 * HALF_LAST_DECIMAL,
        HALF_SECOND_DIGIT * size,
        HALF_LAST_DECIMAL * np.maximum(1, size),
    )
    return np.where(numbers == 0, HALF_LAST_DECIMAL, numbers + error)


def equal_on_page(numbers, others):
    """Return for each pair of numbers or rows whether a page displays the same digits."""
    return [as_text(a) == as_text(b) for a, b in zip(numbers, others, strict=True)]


def refuse_package_imports(example, computation):
    """Fail if the module of a computation has a function or a module of the package."""
    names = [
        name for name, value in computation.compute.__globals__.items() if is_from_package(value)
    ]
    assert not names, (
        f"{example}: an independent computation uses {', '.join(sorted(names))} of the package"
    )


def is_from_package(value):
    if not (callable(value) or inspect.ismodule(value)):
        return False
    module = inspect.getmodule(value)
    return module is not None and module.__name__.split(".")[0] == "attention_docs"


def literals(example):
    """Return the literals of an example by name: lists and numbers."""
    by_name = {}
    for module in examples.with_imported(examples.load(example)):
        by_name |= {name: value for name, value in vars(module).items() if is_literal(value)}
    return by_name


def is_literal(value):
    return isinstance(value, list | tuple | int | float) and not isinstance(value, bool)


def is_array(value):
    """Whether a literal is a vector, a matrix or several of one shape."""
    if not isinstance(value, list | tuple):
        return False
    try:
        return np.asarray(value).dtype.kind in "if"
    except ValueError:  # its rows differ in length
        return False


def perturbed_literals(example, fixed, seed=0, size=0.1):
    """Return the literal arrays, keyed by `id`, with noise between -size and size added."""
    random, perturbed = np.random.RandomState(seed), {}
    for name, value in literals(example).items():
        if name not in fixed and is_array(value):
            noise = random.uniform(-size, size, np.shape(value))
            perturbed[id(value)] = (np.asarray(value) + noise).tolist()
    return perturbed


@contextlib.contextmanager
def patched_literals(example, changes):
    """Replace literals by their `id`, because one example may import a literal of another."""
    with contextlib.ExitStack() as stack:
        for module in examples.with_imported(examples.load(example)):
            for name, value in list(vars(module).items()):
                if id(value) in changes:
                    stack.enter_context(patch.object(module, name, changes[id(value)]))
        yield


def literal_steps(example, perturbed):
    """Return the steps that equal a literal, both as committed and perturbed."""
    names = set(examples.steps(example))
    for changes in ({}, perturbed):
        with patched_literals(example, changes):
            arrays = [value for value in literals(example).values() if is_array(value)]
            rows = [row for array in arrays for row in array if is_array(row)]
            steps = examples.steps(example)
            names &= {
                name
                for name, step in steps.items()
                if any(np.array_equal(step, literal) for literal in (*arrays, *rows))
            }
    return names
