"""Find the literals in the code of the examples, and run the examples with other literals.

When a reader edits a literal of the code, the page changes one array of the graph. If an example
also uses the literal's numbers as Python scalars, such as `D[0]`, the edit would miss these. To
detect this, the code is run again with different numbers: only that array may then differ.
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
from attention_docs.live.scopes import CallRecorder


class LiteralError(ValueError):
    """A literal that cannot be edited; the message names it and its example."""


class LiteralPosition(NamedTuple):
    """The position of a literal in the code.

    Attributes:
        path: the indices of the literal within the constant; empty if it is all of it.
    """

    example: str
    constant: str
    path: tuple[int, ...] = ()

    @property
    def code(self) -> str:
        """The literal in Python: `encoder_decoder.ENCODER[0]`."""
        return f"{self.example}.{self.constant}" + "".join(f"[{index}]" for index in self.path)


class Statement(NamedTuple):
    """A statement of an example's module.

    Attributes:
        examples: the examples that it imports.
        constants: the names that it assigns.
    """

    code: CodeType
    examples: list[str]
    constants: list[str]


def check_literal(name: str, step: str, literal: Any) -> None:
    """Check that an example uses a literal only as an array."""
    position = find_literal(literal)
    if position is None:
        raise LiteralError(
            f"example {name!r}: a reader could edit {step!r}, which is not a constant of a module; "
            "write its numbers there as a list"
        )
    tape, edited_tape = record(name).tape, Tape()
    # Other numbers may overflow or divide by zero.
    edits = {position: different_numbers(literal)}
    with rewritten_literals(name, edits), np.errstate(all="ignore"):
        run(name, Recording(edited_tape, CallRecorder(edited_tape)))
    # Nodes are compared up to a read that the runs answered differently, after which they may take
    # different branches and read more or less often.
    reads = zip(tape.reads, edited_tape.reads, strict=False)
    node_count = next((a.node_count for a, b in reads if a.answer != b.answer), None)
    literal_nodes = {i for i, node in enumerate(tape.nodes) if node.literal is literal}
    operations, edited_operations = (
        [
            (node.operation, node.inputs, None if i in literal_nodes else node.attributes)
            for i, node in enumerate(nodes[:node_count])
        ]
        for nodes in (tape.nodes, edited_tape.nodes)
    )
    if operations != edited_operations:
        raise LiteralError(
            f"example {name!r}: the literal {position.constant} of {position.example} reaches a "
            "result other than through its array, so an edit would miss it; "
            "compute with the array alone"
        )


def different_numbers(literal: Any) -> list[Any]:
    """Return nested lists of the same shape with every number changed, and every boolean negated.

    The first number grows by 1, the second by 2 and so on, so that most differences and ratios
    change, too.
    """
    increments = itertools.count(1)

    def change(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [change(item) for item in value]
        if isinstance(value, bool):  # first, because Python could add a number to it
            return not value
        return value + next(increments)

    return [change(item) for item in literal]


@cache
def shared_literals() -> dict[LiteralPosition, str]:
    """Return the names of the literals that several examples use, by their positions.

    A name is `example.step`, so a literal that is a step of no example is left out.
    """
    recordings = {name: record(name) for name in recorded_names()}
    example_counts: Counter[LiteralPosition | None] = Counter()
    for recording in recordings.values():
        example_counts.update({find_literal(node.literal) for node in recording.tape.nodes})
    names_by_example = [
        {
            position: f"{name}.{step}"
            for step, array in recording.steps.items()
            if (position := find_literal(recording.tape.nodes[array.node].literal))
            and example_counts[position] > 1
        }
        for name, recording in recordings.items()
    ]
    # Of several names of a literal, the one from the example with the most shared steps wins.
    name_by_position = {}
    for names in sorted(names_by_example, key=len):
        name_by_position.update(names)
    return name_by_position


def find_literal(literal: Any) -> LiteralPosition | None:
    """Return the position of a list in the constants of all examples, or None if it is in none.

    The list itself is looked for, not an equal one.
    """
    _, position = lists_in_constants().get(id(literal), (None, None))
    return position


@cache
def lists_in_constants() -> dict[int, tuple[Any, LiteralPosition]]:
    """Return the lists in the constants of all examples, with their positions, by `id`.

    The dictionary holds references to the lists, so that their ids are not reused.
    """
    positions: dict[int, tuple[Any, LiteralPosition]] = {}
    for name in recorded_names():
        namespace = vars(examples.load(name))
        for statement in statements(name):
            for constant in statement.constants:
                for item, path in nested_lists(namespace.get(constant)):
                    positions.setdefault(id(item), (item, LiteralPosition(name, constant, path)))
    return positions


def nested_lists(value: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Yield all lists within nested lists and tuples, each with its path of indices.

    Tuples themselves are not yielded, because Python may store two equal tuples as one object, so
    they cannot be told apart by identity.
    """
    if isinstance(value, list):
        yield value, path
    if isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from nested_lists(item, (*path, index))


@contextmanager
def rewritten_literals(name: str, edits: Mapping[LiteralPosition, list[Any]]) -> Iterator[None]:
    """Run an example's module again with other literals, until the context ends."""
    original_namespaces: dict[str, dict[str, Any]] = {}
    try:
        execute(name, edits, original_namespaces)
        yield
    finally:
        for module_name, original_namespace in original_namespaces.items():
            namespace = vars(examples.load(module_name))
            namespace.clear()
            namespace.update(original_namespace)


def execute(
    name: str,
    edits: Mapping[LiteralPosition, list[Any]],
    original_namespaces: dict[str, dict[str, Any]],
) -> None:
    """Run a module after the examples it imports, and keep the namespaces that they had."""
    namespace = vars(examples.load(name))
    original_namespaces[name] = dict(namespace)
    for statement in statements(name):
        for imported_name in set(statement.examples) - set(original_namespaces):
            execute(imported_name, edits, original_namespaces)
        exec(statement.code, namespace)
        # Edit a constant right after its assignment, because later statements may compute with it.
        for (example, constant, path), value in edits.items():
            if example == name and constant in statement.constants:
                namespace[constant] = replace_item(namespace[constant], path, value)


def replace_item(nested: Any, path: tuple[int, ...], value: list[Any]) -> Any:
    """Return nested lists with the item at a path replaced."""
    if not path:
        return value
    copy = list(nested)
    copy[path[0]] = replace_item(copy[path[0]], path[1:], value)
    return type(nested)(copy)


@cache
def statements(name: str) -> list[Statement]:
    module = examples.load(name)
    return [
        Statement(
            compile(ast.Module([statement], []), str(module.__file__), "exec"),
            list(imported_examples(statement)),
            [
                node.id
                for target in getattr(statement, "targets", [])  # of an assignment
                for node in ast.walk(target)
                if isinstance(node, ast.Name)
            ],
        )
        for statement in ast.parse(inspect.getsource(module)).body
    ]


def imported_examples(statement: ast.stmt) -> Iterator[str]:
    if not isinstance(statement, ast.ImportFrom):
        return
    if statement.module == examples.__name__:
        yield from (alias.name for alias in statement.names)
    elif str(statement.module).startswith(f"{examples.__name__}."):
        yield str(statement.module).rpartition(".")[2]
