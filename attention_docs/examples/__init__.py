"""The worked examples. Each module is one example, named in pages and tests by its module name.

An example has a TITLE, a SOURCE, literal inputs, and `steps(xp)`, which returns every array that
the pages name, in reading order. Its docstring commits the digits that it computes as a doctest.
Two constants are optional: LABELS has the words along the axes of steps, whose names stand in its
keys, and FORMULAS says in words how a step is computed, for examples that pages cannot recompute.
"""

import doctest
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

from attention_docs.arrays import Array, check_library

STATEMENT = "show(computed(steps))"


def names() -> list[str]:
    """Return the names of all examples, sorted.

    >>> "self_attention" in names()
    True
    """
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


@cache  # A build loads examples some 900 times, and `names` lists the folder each time.
def load(name: str) -> ModuleType:
    """Return an example by its name.

    >>> load("self_attention").TITLE
    'Self-attention, three tokens'
    """
    if name not in names():
        raise LookupError(f"example {name!r} is unknown; expected one of {', '.join(names())}")
    return importlib.import_module(f"{__name__}.{name}")


def steps(name: str, xp: ModuleType = numpy) -> dict[str, Array]:
    """Compute the steps of an example with the array library `xp`.

    Raises:
        LookupError: if no example has this name.
        TypeError: if `xp` is not an array library.
    """
    check_library(xp)
    steps_by_name: dict[str, Array] = load(name).steps(xp)
    return steps_by_name


def computed(
    steps: Callable[[ModuleType], dict[str, Array]], xp: ModuleType = numpy
) -> dict[str, Array]:
    """Return the steps that an example computes itself, with the array library `xp`.

    These are neither a literal nor a step of an example that it imports from. NumPy decides which
    they are, because another library rounds in another way.

    >>> list(computed(load("values_in_space").steps))
    ['V', 'output']
    """
    *imported, module = with_imported(importlib.import_module(steps.__module__))
    given = [numpy.asarray(a).tolist() for m in imported for a in m.steps(numpy).values()]
    for example in (*imported, module):
        given += _literals({k: v for k, v in vars(example).items() if not k.startswith("__")})
    with_numpy = steps(numpy)
    result = with_numpy if xp is numpy else steps(xp)
    return {
        name: result[name]
        for name, array in with_numpy.items()
        if numpy.asarray(array).tolist() not in given
    }


def with_imported(module: ModuleType) -> list[ModuleType]:
    """Return the examples that an example imports from, directly or not, and then itself."""
    modules = []
    for value in vars(module).values():
        imported = inspect.getmodule(value) if callable(value) or inspect.ismodule(value) else None
        if imported not in (None, module) and imported.__name__.startswith(f"{__name__}."):
            modules += with_imported(imported)
    return [*dict.fromkeys(modules), module]


def _literals(value: Any) -> Iterator[Any]:
    """Yield the numbers and lists of a literal, but not the numbers in a list.

    A computed number may well equal one of these by chance.
    """
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, int | float | list):
        yield value
    if isinstance(value, list | tuple):
        for part in value:
            if isinstance(value, tuple) or isinstance(part, list):
                yield from _literals(part)


def labels(name: str, step: str) -> tuple[list[str], ...]:
    """Return the words along each axis of a step, or an empty tuple if its example has no labels.

    >>> labels("course_formula", "V")
    (['birds', 'pass', 'boats', 'because', 'they'], ['air', 'water', 'action', 'reason'])
    """
    labels_by_steps: dict[str, tuple[list[str], ...]] = getattr(load(name), "LABELS", {})
    return next((axes for steps, axes in labels_by_steps.items() if step in steps.split()), ())


def expected(name: str) -> str:
    """Return the output that the doctest of an example expects."""
    return _doctest(name).want.rstrip("\n")


def write_expected(name: str, output: str) -> None:
    """Replace the output that the doctest of an example expects, in the example's file."""
    file = Path(inspect.getfile(load(name)))
    doctest_of_example = _doctest(name)
    statement = f">>> {doctest_of_example.source}"
    committed = statement + doctest_of_example.want
    code = file.read_text("utf-8").replace(committed, f"{statement}{output}\n", 1)
    file.write_text(code, "utf-8", newline="\n")


def _doctest(name: str) -> doctest.Example:
    """Return the doctest of an example, which must have one, `>>> show(computed(steps))`."""
    doctests = doctest.DocTestParser().get_examples(inspect.getdoc(load(name)) or "")
    statements = [example.source.rstrip() for example in doctests]
    if statements != [STATEMENT]:
        raise LookupError(f"doctests of {name} are {statements}; expected {[STATEMENT]}")
    return doctests[0]
