"""Which public function of the mathematics each node was computed in."""

import dataclasses
import importlib
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from types import CodeType, FrameType
from typing import Any, NamedTuple

from attention_docs.arrays import describe_first
from attention_docs.live.library import RecordedArray, Tape
from attention_docs.softmax import _softmax, softmax

# Attention has checked its scores, and takes the softmax without the checks of the public one.
WITHOUT_CHECKS = {softmax: _softmax}
MATHEMATICS = ("additive", "backward", "dot_product", "masks", "multi_head", "positions", "softmax")


@dataclasses.dataclass
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
    results: dict[str, RecordedArray] = dataclasses.field(default_factory=dict)


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
        self.open: list[tuple[FrameType, Scope]] = []

    def watch(self, frame: FrameType, event: str, result: Any) -> None:
        """Notice a call or a return, as `sys.setprofile` reports it."""
        code = frame.f_code
        if event == "call" and code in PUBLIC:
            name, signature = PUBLIC[code]
            scope = Scope(name, len(self.tape.nodes), arguments(frame, signature))
            self.scopes.append(scope)
            self.open.append((frame, scope))
        elif event == "return" and self.open and self.open[-1][0] is frame:
            _, scope = self.open.pop()
            scope.last = len(self.tape.nodes)
            scope.results = dict(named_arrays(result))
        elif event == "return" and code is describe_first.__code__ and result is not None:
            found = frame.f_locals
            self.phrases.append(Phrase(found["wrong"], found["array"], result))


@contextmanager
def watched(tape: Tape) -> Iterator[Calls]:
    """Watch the calls while a tape runs, from the answer on that is to be turned, if one is.

    To watch makes Python three times slower, and only what follows such an answer is asked for.
    """
    calls = Calls(tape)
    tape.when_turned = lambda: sys.setprofile(calls.watch)
    if tape.turned is None:
        tape.when_turned()
    try:
        yield calls
    finally:
        sys.setprofile(None)


def public_functions() -> Iterator[tuple[CodeType, tuple[str, inspect.Signature]]]:
    """Yield the public functions and methods of the mathematics, by their code.

    >>> [name for name, _ in dict(public_functions()).values()][:3]
    ['additive_scores', 'attention_backward', 'scaled_dot_product_attention_backward']
    """
    modules = [importlib.import_module(f"attention_docs.{name}") for name in MATHEMATICS]
    for name, member in chain.from_iterable(map(inspect.getmembers, modules)):
        if inspect.getmodule(member) not in modules or name.startswith("_"):
            continue
        if inspect.isfunction(member):
            yield WITHOUT_CHECKS.get(member, member).__code__, (name, inspect.signature(member))
        elif dataclasses.is_dataclass(member):
            for method, function in inspect.getmembers(member, inspect.isfunction):
                if not method.startswith("_") or method == "__call__":
                    full_name = f"{name}.{method}".removesuffix(".__call__")
                    yield function.__code__, (full_name, inspect.signature(function))


def arguments(frame: FrameType, signature: inspect.Signature) -> dict[str, Any]:
    """Return the arguments of a call that differ from their defaults; for `self`, its fields.

    A named tuple of arrays becomes its arrays, as `argument.field`.
    """
    found = {}
    for name, parameter in signature.parameters.items():
        value = frame.f_locals[name]
        if name == "self":
            found.update(vars(value))
        elif hasattr(value, "_asdict"):
            found.update(named_arrays(value, name))
        elif value is not parameter.default:
            found[name] = value
    return found


def named_arrays(result: Any, name: str = "") -> Iterator[tuple[str, RecordedArray]]:
    """Yield the arrays of a result, those of a named tuple within another as `outer.inner`."""
    if isinstance(result, RecordedArray):
        yield name, result
    elif hasattr(result, "_asdict"):
        for field, value in result._asdict().items():
            yield from named_arrays(value, f"{name}.{field}" if name else field)


PUBLIC = dict(public_functions())
