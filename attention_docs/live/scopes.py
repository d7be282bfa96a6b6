"""Which public function of the mathematics each node was computed in.

While a tape runs, a wrapper stands in place of each public function, wherever the mathematics and
the examples have it. A decorator would cost every call time, and mutmut skips what has one.
"""

import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, is_dataclass
from types import FunctionType
from typing import Any, NamedTuple

from attention_docs.arrays import describe_first
from attention_docs.live.library import RecordedArray, Tape
from attention_docs.multi_head import MultiHeadAttention
from attention_docs.softmax import _softmax, softmax

PACKAGE = "attention_docs."
MATHEMATICS = ("additive", "backward", "dot_product", "masks", "multi_head", "positions", "softmax")
# Attention has checked its scores, and takes the softmax without the checks of the public one.
WITHOUT_CHECKS = {softmax: _softmax}


@dataclass
class Scope:
    """One call of a public function.

    Attributes:
        call: its name, with that of its class.
        first: the number of nodes when it was called.
        arguments: those that differ from their defaults, by name.
        last: the number of nodes when it returned.
        results: the arrays that it returned, by their names in a named tuple; one has no name.
    """

    call: str
    first: int
    arguments: dict[str, Any]
    last: int = 0
    results: dict[str, RecordedArray] = field(default_factory=dict)


class Phrase(NamedTuple):
    """What `describe_first` said of the first element of an array where another is true."""

    wrong: RecordedArray
    array: RecordedArray
    text: str


class Calls:
    """The calls that were made while a tape ran."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.scopes: list[Scope] = []
        self.phrases: list[Phrase] = []

    def noting(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that also notes each of its calls."""
        signature = signature_of(function)

        @functools.wraps(function)
        def called(*positional: Any, **named: Any) -> Any:
            given = arguments(signature.bind(*positional, **named))
            scope = Scope(name, len(self.tape.nodes), given)
            self.scopes.append(scope)
            result = function(*positional, **named)
            scope.last = len(self.tape.nodes)
            scope.results = dict(named_arrays(result))
            return result

        return called

    def describe_first(self, xp: Any, wrong: RecordedArray, array: RecordedArray) -> str:
        """Describe the first element where `wrong` is true, and note what was said."""
        text = describe_first(xp, wrong, array)
        self.phrases.append(Phrase(wrong, array, text))
        return text


@contextmanager
def watched(tape: Tape) -> Iterator[Calls]:
    """Watch the calls while a tape runs, of modules that are imported already."""
    calls = Calls(tape)
    wrappers: dict[Any, Any] = {describe_first: calls.describe_first}
    wrappers |= {function: calls.noting(name, function) for name, function in PUBLIC.items()}
    loaded = tuple(name for name in sys.modules if name.startswith(PACKAGE) and name != __name__)
    try:
        for owner, name, function in places(loaded):
            setattr(owner, name, wrappers[function])
        yield calls
    finally:
        for owner, name, function in places(loaded):
            setattr(owner, name, function)


@functools.cache
def places(modules: tuple[str, ...]) -> list[tuple[Any, str, Callable[..., Any]]]:
    """Return where these modules have the functions that are watched: owner, name, function."""
    functions = {describe_first, *PUBLIC.values()}
    return [
        (owner, name, member)
        for owner in (MultiHeadAttention, *map(sys.modules.get, modules))
        for name, member in vars(owner).items()
        if isinstance(member, FunctionType) and member in functions
    ]


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions and methods of the mathematics, by their names.

    >>> [name for name, _ in public_functions()][:2]
    ['additive_scores', 'attention_backward']
    """
    for module in (importlib.import_module(f"{PACKAGE}{name}") for name in MATHEMATICS):
        for name, member in inspect.getmembers(module):
            if inspect.getmodule(member) is not module or name.startswith("_"):
                continue
            if inspect.isfunction(member):
                yield name, WITHOUT_CHECKS.get(member, member)
            elif is_dataclass(member):
                for method, function in inspect.getmembers(member, inspect.isfunction):
                    if not method.startswith("_") or method == "__call__":
                        yield f"{name}.{method}".removesuffix(".__call__"), function


def arguments(given: inspect.BoundArguments) -> dict[str, Any]:
    """Return the arguments of a call that differ from their defaults; for `self`, its fields.

    A named tuple of arrays becomes its arrays, as `argument.field`.
    """
    found = {}
    for name, value in given.arguments.items():
        if name == "self":
            found.update(vars(value))
        elif hasattr(value, "_asdict"):
            found.update(named_arrays(value, name))
        elif value is not given.signature.parameters[name].default:
            found[name] = value
    return found


def named_arrays(result: Any, name: str = "") -> Iterator[tuple[str, RecordedArray]]:
    """Yield the arrays of a result, those of a named tuple within another as `outer.inner`."""
    if isinstance(result, RecordedArray):
        yield name, result
    elif hasattr(result, "_asdict"):
        for field_name, value in result._asdict().items():
            yield from named_arrays(value, f"{name}.{field_name}" if name else field_name)


PUBLIC = dict(public_functions())
signature_of = functools.cache(inspect.signature)
