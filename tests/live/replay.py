"""What Python computes of an example when other numbers are written in the sources."""

import ast
import contextlib
import functools
import inspect
from typing import NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.live.literals import assigned, place_of
from attention_docs.live.recording import record


class Replay(NamedTuple):
    """The steps of a run; none if it ended in an error."""

    steps: dict[str, np.ndarray]
    error: Exception | None = None


def replay(name, edits):
    """Compute an example with NumPy, after an edit of its sources.

    Args:
        name: of the example.
        edits: what to write in place of literals, by their steps; those of another example as
            `example.step`.
    """
    written = {place(name, literal): array.tolist() for literal, array in edits.items()}
    with rewritten(name, written), np.errstate(all="ignore"):
        try:
            return Replay(examples.steps(name))
        except ValueError as error:
            return Replay({}, error)


def place(name, literal):
    owner, _, step = literal.rpartition(".")
    recording = record(owner or name)
    return place_of(recording.tape.nodes[recording.steps[step].node].literal)


@contextlib.contextmanager
def rewritten(name, edits):
    """Have an example, and those that it imports, computed with other literals in the sources."""
    saved = {}
    try:
        execute(name, edits, saved)
        yield
    finally:
        for module, namespace in saved.items():
            vars(examples.load(module)).clear()
            vars(examples.load(module)).update(namespace)


def execute(name, edits, saved):
    """Run a module once more, after those that it imports, and save what it held before."""
    namespace = vars(examples.load(name))
    saved[name] = dict(namespace)
    for code, imports, constants in statements(name):
        for other in imports - set(saved):
            execute(other, edits, saved)
        exec(code, namespace)
        # At once, because what follows may be computed from it.
        for (example, constant, path), value in edits.items():
            if example == name and constant in constants:
                namespace[constant] = replaced(namespace[constant], path, value)


def replaced(whole, path, value):
    """Return nested lists with another part."""
    if not path:
        return value
    copy = list(whole)
    copy[path[0]] = replaced(copy[path[0]], path[1:], value)
    return type(whole)(copy)


@functools.cache
def statements(name):
    """Return the statements of a module: their code, the examples they import, the names they assign."""
    module = examples.load(name)
    return [
        (
            compile(ast.Module([statement], []), module.__file__, "exec"),
            set(imported(statement)),
            set(assigned(statement)),
        )
        for statement in ast.parse(inspect.getsource(module)).body
    ]


def imported(statement):
    if isinstance(statement, ast.ImportFrom):
        if statement.module == examples.__name__:
            yield from (alias.name for alias in statement.names)
        elif statement.module.startswith(f"{examples.__name__}."):
            yield statement.module.rpartition(".")[2]
