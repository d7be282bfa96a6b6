"""Compare the steps of each example with an independent computation.

An independent computation is a function from the literals of an example to some of its steps, by
slow loops, closed forms or counting, and without the package. It is called twice: with the literals
as committed, and with all of them moved by random amounts. So a function that returns the committed
digits, or takes its steps from the example, disagrees.
"""

import contextlib
import inspect
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from attention_docs import examples

# Half a unit of the last decimal on a page, and of the second digit, as small numbers have there.
HALF_LAST_DECIMAL, HALF_SECOND_DIGIT = 0.5e-4, 0.5e-1


class Computation(NamedTuple):
    """An independent computation of steps of an example.

    Attributes:
        compute: a function from the literals by their names to the steps by theirs.
        method: how it computes them, in a few words.
        rtol: the relative tolerance.
        atol: the absolute tolerance, which is added to it.
        fixed: literals that are not moved, such as places and sizes.
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
    """Compare all steps of an example but its inputs, and return a summary.

    Raises:
        AssertionError: if a step differs or is not compared, or if a computation uses the package
            or has a tolerance that would let a wrong displayed digit pass.
    """
    assert computations, f"{example} has no independent computation: write one for its steps"
    perturbed = perturbed_literals(example, {name for c in computations for name in c.fixed})
    compared = {c: compare_with(example, c, {}) for c in computations}
    for computation in computations if perturbed else ():
        compare_with(example, computation, perturbed)
    from_package = {
        name
        for computation in computations
        for name, value in computation.compute.__globals__.items()
        if is_from_package(value)
    }
    names = ", ".join(sorted(from_package))
    assert not from_package, f"{example}: an independent computation uses {names} of the package"
    inputs = examples.steps(example).keys() - set().union(*compared.values())
    missing = inputs - literal_steps(example, perturbed)
    assert not missing, f"{example}: nothing is compared with {', '.join(sorted(missing))}"
    parts = [
        f"{len(steps)} by {c.method}, within {max(c.rtol, c.atol):.0e}"
        for c, steps in compared.items()
    ]
    return f"{example}, {sum(map(len, compared.values()))} steps and {len(inputs)} inputs: {'; '.join(parts)}"


def compare_with(example, computation, changes):
    """Compare steps with a computation, after changes of literals; return the names of the steps."""
    refuse_steps = AssertionError("an independent computation must not call examples.steps")
    with patched_literals(example, changes):
        steps = examples.steps(example)
        with patch.object(examples, "steps", side_effect=refuse_steps):
            expected = computation.compute(literals(example))
    assert expected, f"{example}: {computation.method} computes nothing"
    for step, value in expected.items():
        state = "moved" if changes else "as committed"
        message = f"{example}.{step} and {computation.method}, {state}"
        assert step in steps, f"{example} has no step {step}"
        actual, value = np.asarray(steps[step]), np.asarray(value)
        assert actual.shape == value.shape, f"{message}: {actual.shape} and {value.shape}"
        tolerance = {"rtol": computation.rtol, "atol": computation.atol}
        np.testing.assert_allclose(actual, value, **tolerance, err_msg=message)
        # The tolerance must refuse a number whose last displayed digit is wrong.
        finite = actual[np.isfinite(actual)]
        size = np.abs(finite)
        error = np.where(
            size < 2 * HALF_LAST_DECIMAL,
            HALF_SECOND_DIGIT * size,
            HALF_LAST_DECIMAL * np.maximum(1, size),
        )
        wrong = np.where(finite == 0, HALF_LAST_DECIMAL, finite + error)
        passed = np.isclose(wrong, value[np.isfinite(actual)], **tolerance)
        assert not passed.any(), f"{message}: a wrong digit would pass"
    return set(expected)


def is_from_package(value):
    module = inspect.getmodule(value) if callable(value) or inspect.ismodule(value) else None
    return module is not None and module.__name__.split(".")[0] == "attention_docs"


def with_dependencies(module):
    """Return the module of an example, after those of the examples that it is built from."""
    modules = (inspect.getmodule(value) for value in vars(module).values() if callable(value))
    modules = [*modules, *filter(inspect.ismodule, vars(module).values())]
    names = {f"{examples.__name__}.{name}" for name in examples.names()}
    direct = {m for m in modules if m and m.__name__ in names and m is not module}
    nested = [m for dependency in sorted(direct, key=str) for m in with_dependencies(dependency)]
    return [*dict.fromkeys(nested), module]


def literals(example):
    """Return the literals of an example by name: lists and numbers."""
    by_name = {}
    for module in with_dependencies(examples.load(example)):
        by_name |= {name: value for name, value in vars(module).items() if is_literal(value)}
    return by_name


def is_literal(value):
    return isinstance(value, list | tuple | int | float) and not isinstance(value, bool)


def is_array(value):
    """Return whether a literal is a vector, a matrix or a few of them."""
    if not isinstance(value, list | tuple):
        return False
    with contextlib.suppress(ValueError):  # its parts differ in shape
        return np.asarray(value).dtype.kind in "if"
    return False


def perturbed_literals(example, fixed):
    """Return random neighbours of the literal arrays, zeros included, by identity."""
    draw = np.random.RandomState(0)
    return {
        id(value): (np.asarray(value) + draw.uniform(-0.1, 0.1, np.shape(value))).tolist()
        for name, value in literals(example).items()
        if name not in fixed and is_array(value)
    }


@contextlib.contextmanager
def patched_literals(example, changes):
    """Replace literals of an example, by identity, in all modules that it takes them from."""
    with contextlib.ExitStack() as stack:
        for module in with_dependencies(examples.load(example)):
            for name, value in list(vars(module).items()):
                if id(value) in changes:
                    stack.enter_context(patch.object(module, name, changes[id(value)]))
        yield


def literal_steps(example, perturbed):
    """Return the steps that equal a literal, both as committed and perturbed."""
    equals = []
    for changes in ({}, perturbed):
        with patched_literals(example, changes):
            arrays = [value for value in literals(example).values() if is_array(value)]
            parts = [part for array in arrays for part in array if is_array(part)]
            values = [np.asarray(value) for value in (*arrays, *parts)]
            steps = examples.steps(example).items()
            equals.append({name for name, step in steps if any(is_equal(step, v) for v in values)})
    return equals[0] & equals[1]


def is_equal(a, b):
    return a.shape == b.shape and np.array_equal(a, b)
