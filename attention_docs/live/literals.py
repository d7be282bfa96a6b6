"""Where the literals of the examples are written.

A reader edits a literal of the sources, wherever the examples compute with it. So it is known by
its place, and not by its numbers.
"""

import ast
import inspect
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from attention_docs import examples
from attention_docs.live.recording import record, recorded_names


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
        module = examples.load(name)
        for statement in ast.parse(inspect.getsource(module)).body:
            for constant in assigned(statement):
                for part, path in parts(vars(module).get(constant)):
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


def assigned(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement assigns."""
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
