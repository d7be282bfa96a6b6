"""Record the calls of public functions while an example runs, and the nodes of each call.

While a tape records, each public function is replaced by a wrapper in all modules that hold it. A
permanent decorator would slow down every call, and mutmut does not mutate decorated functions.
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
# Attention has validated its scores, so it calls the softmax without the checks of the public one,
# which is recorded in its place.
WITHOUT_CHECKS = {softmax: _softmax}


@dataclass
class Scope:
    """A recorded call of a public function.

    Attributes:
        start: the number of nodes on the tape when it was called.
        arguments: the arguments that differ from their defaults, by name.
        stop: the number of nodes on the tape when it returned.
        results: the arrays that it returned, by their names in a named tuple; a single array has
            the name "".
    """

    call: str
    start: int
    arguments: dict[str, Any]
    stop: int = 0
    results: dict[str, RecordedArray] = field(default_factory=dict)


class ElementDescription(NamedTuple):
    """A result of `describe_first`: the first element of an array where `invalid` is true."""

    invalid: RecordedArray
    array: RecordedArray
    text: str


class CallRecorder:
    """The calls of public functions and the descriptions of elements that a run makes."""

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self.scopes: list[Scope] = []
        self.descriptions: list[ElementDescription] = []

    def wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        signature = signature_of(function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            arguments = recorded_arguments(signature.bind(*args, **kwargs))
            scope = Scope(name, len(self.tape.nodes), arguments)
            self.scopes.append(scope)
            result = function(*args, **kwargs)
            scope.stop = len(self.tape.nodes)
            scope.results = dict(named_arrays(result))
            return result

        return wrapper

    def describe_first(self, xp: Any, invalid: RecordedArray, array: RecordedArray) -> str:
        text = describe_first(xp, invalid, array)
        self.descriptions.append(ElementDescription(invalid, array, text))
        return text


@contextmanager
def recorded_calls(tape: Tape) -> Iterator[CallRecorder]:
    """Replace the public functions in all imported modules by wrappers that record their calls.

    The functions are put back when the context ends.
    """
    calls = CallRecorder(tape)
    wrappers: dict[Any, Any] = {describe_first: calls.describe_first}
    for name, function in PUBLIC_FUNCTIONS.items():
        wrappers[function] = calls.wrap(name, function)
    # Not this module, whose wrappers call the originals.
    modules = tuple(
        name for name in [*sys.modules] if name.startswith(PACKAGE) and name != __name__
    )
    targets = patch_targets(modules)
    try:
        for owner, name, function in targets:
            setattr(owner, name, wrappers[function])
        yield calls
    finally:
        for owner, name, function in targets:
            setattr(owner, name, function)


@functools.cache
def patch_targets(modules: tuple[str, ...]) -> list[tuple[Any, str, Callable[..., Any]]]:
    """Return where these modules refer to a function to record: (module or class, name, function).

    The result is cached, because it is the same for all examples once they are imported.
    """
    functions = {describe_first, *PUBLIC_FUNCTIONS.values()}
    return [
        (owner, name, member)
        for owner in (MultiHeadAttention, *map(sys.modules.get, modules))
        for name, member in vars(owner).items()
        if isinstance(member, FunctionType) and member in functions
    ]


def public_functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public functions and methods of the mathematics with their names."""
    for module_name in MATHEMATICS:
        module = importlib.import_module(f"{PACKAGE}{module_name}")
        for name, member in inspect.getmembers(module):
            is_imported = inspect.getmodule(member) is not module
            if is_imported or name.startswith("_"):
                continue
            if inspect.isfunction(member):
                yield name, WITHOUT_CHECKS.get(member, member)
            elif inspect.isclass(member) and is_dataclass(member):
                for method_name, method in inspect.getmembers(member, inspect.isfunction):
                    if method_name == "__call__":
                        yield name, method
                    elif not method_name.startswith("_"):
                        yield f"{name}.{method_name}", method


def recorded_arguments(bound: inspect.BoundArguments) -> dict[str, Any]:
    """Return the arguments of a call that differ from their defaults, by name.

    Instead of `self`, its attributes are returned, and instead of a named tuple its arrays, with
    names like `argument.field`.
    """
    arguments = {}
    for name, value in bound.arguments.items():
        if name == "self":
            arguments.update(vars(value))
        elif hasattr(value, "_asdict"):
            arguments.update(named_arrays(value, name))
        # Not !=, which would compare an array element by element.
        elif value is not bound.signature.parameters[name].default:
            arguments[name] = value
    return arguments


def named_arrays(result: Any, name: str = "") -> Iterator[tuple[str, RecordedArray]]:
    """Yield an array, or the arrays in nested named tuples, with names like `outer.inner`."""
    if isinstance(result, RecordedArray):
        yield name, result
    elif hasattr(result, "_asdict"):
        for field_name, value in result._asdict().items():
            yield from named_arrays(value, f"{name}.{field_name}" if name else field_name)


PUBLIC_FUNCTIONS = dict(public_functions())
signature_of = functools.cache(inspect.signature)  # because each recording wraps all functions
