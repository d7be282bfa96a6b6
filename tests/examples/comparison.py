"""Each worked example beside another way to compute it, and what was compared.

A way is a function from the constants of an example to some of its steps, by slow loops, closed
forms or counting, and without the package. It is asked twice: with the constants as they are, and
with all of them moved by random amounts. So a way that does not compute, but knows the digits or
has them from the example itself, disagrees.
"""

import contextlib
import inspect
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from attention_docs import examples

# Half a unit of the last decimal that a page shows; of a smaller number it shows two digits.
SHOWN, SMALL = 0.5e-4, 0.5e-1


class Way(NamedTuple):
    """Another way to compute steps of an example.

    Attributes:
        compute: takes the constants by their names and returns steps by theirs.
        by: what it is, in a few words.
        rtol: how far a step may be from it, relative to its own size.
        atol: how far beside that.
        fixed: constants that stay as they are, such as places and sizes.
    """

    compute: Callable
    by: str
    rtol: float
    atol: float
    fixed: tuple[str, ...]


WAYS = defaultdict(list)


def way(example, by, *, rtol=1e-11, atol=1e-13, fixed=()):
    """Say that a function computes steps of an example in another way."""

    def register(compute):
        WAYS[example].append(Way(compute, by, rtol, atol, tuple(fixed)))
        return compute

    return register


def compare(example, ways):
    """Compare all steps of an example that are not its inputs, and say with what.

    Raises:
        AssertionError: if a step differs, if it is compared with nothing, or with something that
            comes from the package or would let a displayed digit pass.
    """
    assert ways, f"{example} is compared with nothing: write a way to compute its steps"
    other = moved(example, {name for one in ways for name in one.fixed})
    compared = {one: agree(example, one, {}) for one in ways}
    for one in ways if other else ():
        agree(example, one, other)
    taken = {name for one in ways for name, it in one.compute.__globals__.items() if is_ours(it)}
    assert not taken, f"{example}: a way takes {', '.join(sorted(taken))} from the package"
    inputs = examples.steps(example).keys() - set().union(*compared.values())
    missing = inputs - constant_steps(example, other)
    assert not missing, f"{example}: nothing is compared with {', '.join(sorted(missing))}"
    parts = [
        f"{len(steps)} by {one.by}, within {max(one.rtol, one.atol):.0e}"
        for one, steps in compared.items()
    ]
    return f"{example}, {sum(map(len, compared.values()))} steps and {len(inputs)} inputs: {'; '.join(parts)}"


def agree(example, one, changes):
    """Compare what one way finds, with some of the constants changed; return the steps' names."""
    with changed(example, changes):
        steps = examples.steps(example)
        with patch.object(examples, "steps", side_effect=AssertionError("a way is independent")):
            expected = one.compute(constants(example))
    assert expected, f"{example}: {one.by} computes nothing"
    for step, value in expected.items():
        what = f"{example}.{step} and {one.by}, {'moved' if changes else 'as committed'}"
        assert step in steps, f"{example} has no step {step}"
        actual, value = np.asarray(steps[step]), np.asarray(value)
        assert actual.shape == value.shape, f"{what}: {actual.shape} and {value.shape}"
        close = {"rtol": one.rtol, "atol": one.atol}
        np.testing.assert_allclose(actual, value, **close, err_msg=what)
        right = actual[np.isfinite(actual)]
        size = np.abs(right)
        wrong = right + np.where(size < 2 * SHOWN, SMALL * size, SHOWN * np.maximum(1, size))
        wrong = np.where(right == 0, SHOWN, wrong)
        passed = np.isclose(wrong, value[np.isfinite(actual)], **close)
        assert not passed.any(), f"{what}: a wrong digit would pass"
    return set(expected)


def is_ours(value):
    module = inspect.getmodule(value) if callable(value) or inspect.ismodule(value) else None
    return module is not None and module.__name__.split(".")[0] == "attention_docs"


def sources(module):
    """Return an example's module, and before it those of the examples that it is built from."""
    modules = (inspect.getmodule(value) for value in vars(module).values() if callable(value))
    modules = [*modules, *filter(inspect.ismodule, vars(module).values())]
    names = {f"{examples.__name__}.{name}" for name in examples.names()}
    built_from = {m for m in modules if m and m.__name__ in names and m is not module}
    inner = [one for other in sorted(built_from, key=str) for one in sources(other)]
    return [*dict.fromkeys(inner), module]


def constants(example):
    """Return the constants that an example computes with, by name: lists and numbers."""
    by_name = {}
    for module in sources(examples.load(example)):
        by_name |= {name: value for name, value in vars(module).items() if is_constant(value)}
    return by_name


def is_constant(value):
    return isinstance(value, list | tuple | int | float) and not isinstance(value, bool)


def is_array(value):
    """Whether a constant is a vector, a matrix or a few of them."""
    if not isinstance(value, list | tuple):
        return False
    with contextlib.suppress(ValueError):  # its parts differ in shape
        return np.asarray(value).dtype.kind in "if"
    return False


def moved(example, fixed):
    """Return random neighbours of the arrays among the constants, by identity; zeros move too."""
    draw = np.random.RandomState(0)
    return {
        id(value): (np.asarray(value) + draw.uniform(-0.1, 0.1, np.shape(value))).tolist()
        for name, value in constants(example).items()
        if name not in fixed and is_array(value)
    }


@contextlib.contextmanager
def changed(example, changes):
    """Put other lists in place of an example's own, wherever it has them from."""
    with contextlib.ExitStack() as stack:
        for module in sources(examples.load(example)):
            for name, value in list(vars(module).items()):
                if id(value) in changes:
                    stack.enter_context(patch.object(module, name, changes[id(value)]))
        yield


def constant_steps(example, other):
    """Return the steps that are constants of the example, whatever these are."""
    equals = []
    for changes in ({}, other):
        with changed(example, changes):
            arrays = [value for value in constants(example).values() if is_array(value)]
            parts = [part for array in arrays for part in array if is_array(part)]
            values = [np.asarray(value) for value in (*arrays, *parts)]
            steps = examples.steps(example).items()
            equals.append({name for name, step in steps if any(equal(step, one) for one in values)})
    return equals[0] & equals[1]


def equal(one, other):
    return one.shape == other.shape and np.array_equal(one, other)
