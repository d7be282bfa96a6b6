"""Where the literals of the examples are written, and the examples with other numbers in them.

A reader edits a literal of the sources. A graph knows it as one array, so where an example also
computes with its numbers as Python's own, such as `D[0]`, an edit would not be noticed. So the
sources are run once more with other numbers, and then only that array may hold other numbers.
"""

import ast
import inspect
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.live.library import Tape
from attention_docs.live.recording import Recording, record, recorded_names, run
from attention_docs.live.scopes import Calls


class LiteralError(ValueError):
    """An input that no edit can reach as Python would; the message names it and its example."""


class Place(NamedTuple):
    """Where a literal is written.

    Attributes:
        example: the module.
        constant: the name that the module assigns.
        path: the indices that lead to the literal if it is only a part of the constant.
    """

    example: str
    constant: str
    path: tuple[int, ...] = ()


class Statement(NamedTuple):
    """A statement of an example's module.

    Attributes:
        code: what Python runs.
        examples: those that it imports.
        constants: the names that it assigns.
    """

    code: CodeType
    examples: list[str]
    constants: list[str]


def check_literal(name: str, step: str, literal: Any) -> None:
    """Check that an example computes with a literal as an array, and in no other way.

    Args:
        name: of the example.
        step: what the pages call the literal.
        literal: the list in the sources.

    Raises:
        LiteralError: if it does not, or if the list is no constant of a module.
    """
    place = place_of(literal)
    if place is None:
        raise LiteralError(
            f"example {name!r}: a reader could edit {step!r}, which is no constant of a module; "
            "write its numbers there as a list"
        )
    with rewritten(name, {place: other_numbers(literal)}), np.errstate(all="ignore"):
        tape = Tape()
        edited = run(name, Recording(tape, Calls(tape)))
    recording = record(name)
    # From an answer on that has turned, Python went another way, and a page says so.
    reads = zip(recording.tape.reads, tape.reads, strict=False)
    end = next((read.time for read, other in reads if read.answer != other.answer), None)
    its_own = {i for i, node in enumerate(recording.tape.nodes) if node.literal is literal}
    if operations(recording, its_own)[:end] != operations(edited, its_own)[:end]:
        raise LiteralError(
            f"example {name!r}: the literal {place.constant} of {place.example} reaches a result "
            "by another way than its array, so an edit would not; compute with the array alone"
        )


def operations(recording: Recording, but: set[int]) -> list[Any]:
    """Return what was computed, without the numbers of some literals."""
    return [
        (node.operation, node.inputs, None if number in but else node.attributes)
        for number, node in enumerate(recording.tape.nodes)
    ]


def other_numbers(literal: Any) -> list[Any]:
    """Return nested lists with other numbers, most of whose differences and ratios are others.

    >>> other_numbers([[1, 2], [True, 0.5]])
    [[2, 4], [False, 3.5]]
    """
    added = itertools.count(1)

    def other(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [other(part) for part in value]
        return not value if isinstance(value, bool) else value + next(added)

    return [other(part) for part in literal]


@cache
def shared_literals() -> dict[Place, str]:
    """Name the literals that several examples compute with, if one of them has it as a step.

    Returns:
        By the place of the literal, a step that names it, `example.step`.

    >>> shared_literals()[Place("course_sentence", "W_1")]
    'course_sentence.W_1'
    """
    recordings = {name: record(name) for name in recorded_names()}
    uses = Counter(
        place
        for recording in recordings.values()
        for place in {place_of(node.literal) for node in recording.tape.nodes}
    )
    named = {
        name: {
            place: f"{name}.{step}"
            for step, array in recording.steps.items()
            if (place := place_of(recording.tape.nodes[array.node].literal)) and uses[place] > 1
        }
        for name, recording in recordings.items()
    }
    # The example that names most of them is the one that they belong to.
    return {k: v for names in sorted(named.values(), key=len) for k, v in names.items()}


def place_of(literal: Any) -> Place | None:
    """Find a list, not one that is equal to it, among the constants of all examples.

    >>> from attention_docs.examples import batch_of_two
    >>> place_of(batch_of_two.X[1])
    Place(example='batch_of_two', constant='X', path=(1,))
    """
    constant, place = constants().get(id(literal), (None, None))
    return place if constant is literal else None


@cache
def constants() -> dict[int, tuple[Any, Place]]:
    """Return the lists among the constants of all examples, by their identity.

    They are held here, so that no other object can come to have the identity of one of them.
    """
    found: dict[int, tuple[Any, Place]] = {}
    for name in recorded_names():
        for constant in itertools.chain(*(each.constants for each in statements(name))):
            for part, path in parts(vars(examples.load(name)).get(constant)):
                found.setdefault(id(part), (part, Place(name, constant, path)))
    return found


def parts(value: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Yield all lists of a nested list, with the indices that lead to each.

    Tuples are only looked into: two with the same numbers can be one object.
    """
    if isinstance(value, list):
        yield value, path
    if isinstance(value, list | tuple):
        for index, part in enumerate(value):
            yield from parts(part, (*path, index))


@contextmanager
def rewritten(name: str, edits: Mapping[Place, list[Any]]) -> Iterator[None]:
    """Have `examples` compute an example as if other literals were written in the sources.

    Args:
        name: of the example; its module and those that it imports are run once more.
        edits: what is written in place of which literal.

    >>> with rewritten("self_attention", {Place("self_attention", "W_Q", (0,)): [7, 0]}):
    ...     print(examples.steps("self_attention")["Q"][0])
    [8. 0.]
    """
    saved: dict[str, dict[str, Any]] = {}
    try:
        execute(name, edits, saved)
        yield
    finally:
        for module, namespace in saved.items():
            vars(examples.load(module)).clear()
            vars(examples.load(module)).update(namespace)


def execute(name: str, edits: Mapping[Place, list[Any]], saved: dict[str, dict[str, Any]]) -> None:
    """Run a module once more, after those that it imports, and save what it held before."""
    namespace = vars(examples.load(name))
    saved[name] = dict(namespace)
    for statement in statements(name):
        for other in set(statement.examples) - set(saved):
            execute(other, edits, saved)
        exec(statement.code, namespace)
        # At once, because what follows may be computed from it.
        for (example, constant, path), value in edits.items():
            if example == name and constant in statement.constants:
                namespace[constant] = replaced(namespace[constant], path, value)


def replaced(whole: Any, path: tuple[int, ...], value: list[Any]) -> Any:
    """Return nested lists with another part.

    >>> replaced(([1, 2], [3, 4]), (1,), [5, 6])
    ([1, 2], [5, 6])
    """
    if not path:
        return value
    copy = list(whole)
    copy[path[0]] = replaced(copy[path[0]], path[1:], value)
    return type(whole)(copy)


@cache
def statements(name: str) -> list[Statement]:
    """Return the statements of an example's module, in their order."""
    module = examples.load(name)
    return [
        Statement(
            compile(ast.Module([statement], []), str(module.__file__), "exec"),
            list(imported(statement)),
            list(assigned(statement)),
        )
        for statement in ast.parse(inspect.getsource(module)).body
    ]


def imported(statement: ast.stmt) -> Iterator[str]:
    if not isinstance(statement, ast.ImportFrom):
        return
    if statement.module == examples.__name__:
        yield from (alias.name for alias in statement.names)
    elif str(statement.module).startswith(f"{examples.__name__}."):
        yield str(statement.module).rpartition(".")[2]


def assigned(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
