"""The graph of an example: the nodes that its named steps and its guards need, as JSON.

- `nodes`: `[operation, inputs, attributes?]`, named as in the array API standard, in the order in
  which Python carried them out; those that only a message needs are last. An input is given by how
  many nodes before this one it stands.
- `steps`: the node of each named step, in reading order.
- `inputs`: the steps that are literals and that another step is computed from; where several are
  the same literal, the first.
- `shared`: the nodes of literals that other examples compute with too. A name, `example.step`, is
  the same in all of them, so an edit in one example can be carried over to the others.
- `scopes`: the calls of public functions: their arguments (`{"node": 7}` or a plain value), and
  which nodes they returned. The function's own result has the name "", those of a named tuple
  within another have names like `attention.weights`.
- `guards`: what Python asked of a node, what it got, and the error that another answer leads to, in
  the order in which it asked. In a message, `{"first": wrong, "of": array}` stands for the value
  and the index of the first element where `wrong` is true. An error of null means that Python would
  go another way.
- `formulas`: in words, by step, only of an example whose inputs are drawn in bulk. All that it has
  is its steps, each as a literal.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.live.guards import First, Refusal, refusal
from attention_docs.live.library import Node, Read, RecordedArray
from attention_docs.live.literals import check_literal, place_of, shared_literals
from attention_docs.live.recording import DRAWN_IN_BULK, Recording, record
from attention_docs.live.scopes import Scope

VERSION = 1
# Below it every whole number is a float that Python writes without an exponent.
WHOLE = 10**15


class Guard(NamedTuple):
    """A read whose answer an edit can change, and what follows then."""

    read: Read
    refusal: Refusal | None


def graph(name: str) -> dict[str, Any]:
    """Return the graph of an example.

    Raises:
        UnknownOperationError: if the example applies an operation that cannot be recorded.
        LiteralError: if an edit would not reach all that Python computes from a literal.

    >>> found = graph("self_attention")
    >>> found["inputs"], [scope["call"] for scope in found["scopes"]]
    (['X', 'W_Q', 'W_K', 'W_V'], ['attention_steps', 'softmax'])
    """
    if name in DRAWN_IN_BULK:
        return results(name)
    reduction = Reduction(name, record(name))
    for node, literal in reduction.literals().items():
        check_literal(name, literal, reduction.nodes[node].literal)
    return reduction.graph()


def results(name: str) -> dict[str, Any]:
    """Return the graph of an example whose inputs are drawn in bulk: its results and formulas.

    >>> found = results("score_variance")
    >>> found["nodes"][found["steps"]["pairs"]], found["formulas"]["kurtosis_proved"]
    (['asarray', [], {'value': 8000, 'dtype': 'int64'}], '6 / d')
    """
    steps = {step: np.asarray(array) for step, array in examples.steps(name).items()}
    return {
        "version": VERSION,
        "example": name,
        "nodes": [
            ["asarray", [], {"value": digits(array.tolist()), "dtype": array.dtype.name}]
            for array in steps.values()
        ],
        "steps": {step: node for node, step in enumerate(steps)},
        "inputs": [],
        "shared": {},
        "scopes": [],
        "guards": [],
        "formulas": {step: examples.load(name).FORMULAS[step] for step in steps},
    }


class Reduction:
    """A recording, of which only what is needed is kept, under new numbers.

    Attributes:
        nodes: those of the recording, and after them those of the refusals.
        first: for each node, the number of the first that computes the same.
        reached: for each node, the numbers of those that it is computed from, with its own.
        steps: by name, the number of each step.
        inputs: the names of the steps that can be edited.
        shared: the literals that another example computes with too, by a step that names each.
        guards: the reads that an edit can turn, in the order in which Python made them.
        number: the new number of each node that is kept.
    """

    def __init__(self, name: str, recording: Recording) -> None:
        self.name = name
        self.recording = recording
        self.nodes = list(recording.tape.nodes)
        self.named = {array.node for array in recording.steps.values()}
        self.first = self.representatives()
        self.reached = ancestors(self.nodes, self.first)
        self.steps = {step: self.first[array.node] for step, array in recording.steps.items()}
        self.inputs = list(self.editable())
        self.shared = {
            shared_literals()[place]: self.first[number]
            for number, node in enumerate(self.nodes)
            if (place := place_of(node.literal)) in shared_literals()
        }
        self.guards = list(self.turnable())
        self.first = self.representatives()
        self.reached = ancestors(self.nodes, self.first)
        needed = set().union(*(self.reached[node] for node in self.wanted()))
        self.number = {old: new for new, old in enumerate(sorted(needed))}

    def representatives(self) -> list[int]:
        """Return for each node the first that computes the same.

        Two literals that a reader can edit are the same only if they have one place in the sources:
        their numbers may be equal by chance, and an edit of one is to leave the other alone.
        """
        sources = {place_of(self.nodes[number].literal) for number in self.named} - {None}
        sources |= set(shared_literals())
        known: dict[Any, int] = {}
        first: list[int] = []
        for number, (operation, inputs, attributes, literal) in enumerate(self.nodes):
            key: Any = (operation, *(first[each] for each in inputs), json.dumps(attributes))
            if (place := place_of(literal)) in sources:
                key = place
            elif operation == "asarray" and number in self.named:
                key = f"step {number}"
            first.append(known.setdefault(key, number))
        return first

    def editable(self) -> Iterator[str]:
        """Name the literals that another step is computed from, each by the first step it is."""
        first_steps = {node: step for step, node in reversed(self.steps.items())}
        for step, node in self.steps.items():
            others = (other for other in self.steps.values() if other != node)
            if (
                self.nodes[node].operation == "asarray"
                and first_steps[node] == step
                and any(node in self.reached[other] for other in others)
            ):
                yield step

    def literals(self) -> dict[int, str]:
        """Return the names of the literals that can be edited, by their nodes."""
        shared = {node: name for name, node in self.shared.items()}
        return {self.steps[step]: step for step in self.inputs} | shared

    def turnable(self) -> Iterator[Guard]:
        """Yield the reads that depend on an input, each once, and add the nodes of refusals."""
        inputs = set(self.literals())
        seen = set()
        for number, read in enumerate(self.recording.tape.reads):
            node = self.first[read.node]
            if node not in seen and self.reached[node] & inputs:
                seen.add(node)
                # Of a number there is more than one other answer.
                found = refusal(self.name, number) if isinstance(read.answer, bool) else None
                yield Guard(read, self.placed(found, read.time))

    def placed(self, found: Refusal | None, time: int) -> Refusal | None:
        """Add the nodes of a refusal after all others, and return it with their new numbers."""
        if found is None:
            return None
        shift = len(self.nodes) - time

        def moved(node: int) -> int:
            return node if node < time else node + shift

        for node in found.nodes:
            self.nodes.append(node._replace(inputs=tuple(map(moved, node.inputs))))
        return found._replace(
            message=[
                First(*map(moved, piece)) if isinstance(piece, First) else piece
                for piece in found.message
            ]
        )

    def wanted(self) -> Iterator[int]:
        """Yield the nodes that the page asks for."""
        yield from self.steps.values()
        for guard in self.guards:
            yield guard.read.node
            for piece in guard.refusal.message if guard.refusal else []:
                if isinstance(piece, First):
                    yield from piece

    def renumbered(self, node: int) -> int:
        return self.number[self.first[node]]

    def is_kept(self, node: int) -> bool:
        return self.first[node] in self.number

    def graph(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {
            "version": VERSION,
            "example": self.name,
            "nodes": [self.node(old) for old in self.number],
            "steps": {step: self.number[node] for step, node in self.steps.items()},
            "inputs": self.inputs,
            "shared": {
                name: self.number[node] for name, node in self.shared.items() if node in self.number
            },
            "scopes": list(self.scopes()),
            "guards": [self.guard(guard) for guard in self.guards],
        }

    def node(self, old: int) -> list[Any]:
        node = self.nodes[old]
        attributes = {name: digits(value) for name, value in node.attributes.items()}
        # Counted backwards they repeat themselves, so they compress to less.
        inputs = [self.number[old] - self.renumbered(each) for each in node.inputs]
        return [node.operation, inputs, *([attributes] if attributes else [])]

    def scopes(self) -> Iterator[dict[str, Any]]:
        """Yield the calls in which a node of the graph was first computed."""
        for scope in self.recording.calls.scopes:
            if any(old in self.number for old in range(scope.first, scope.last)):
                yield {
                    "call": scope.call,
                    "arguments": dict(self.arguments(scope)),
                    "results": dict(self.results(scope)),
                }

    def arguments(self, scope: Scope) -> Iterator[tuple[str, Any]]:
        for name, value in scope.arguments.items():
            if isinstance(value, RecordedArray):
                if self.is_kept(value.node):
                    yield name, {"node": self.renumbered(value.node)}
            elif isinstance(value, bool | int | float | str):
                yield name, value
            elif isinstance(value, tuple):
                yield name, list(value)

    def results(self, scope: Scope) -> Iterator[tuple[str, int]]:
        for name, array in scope.results.items():
            if self.is_kept(array.node):
                yield name, self.renumbered(array.node)

    def guard(self, guard: Guard) -> dict[str, Any]:
        refusal = guard.refusal and [
            guard.refusal.error,
            [
                {"first": self.renumbered(piece.wrong), "of": self.renumbered(piece.array)}
                if isinstance(piece, First)
                else piece
                for piece in guard.refusal.message
            ],
        ]
        node, holds = self.renumbered(guard.read.node), digits(guard.read.answer)
        return {"node": node, "holds": holds, "refusal": refusal}


def ancestors(nodes: Iterable[Node], first: list[int]) -> list[set[int]]:
    """Return for each node those that it is computed from, with its own number."""
    found: list[set[int]] = []
    for node, number in zip(nodes, first, strict=True):
        found.append({number}.union(*(found[i] for i in node.inputs)))
    return found


def digits(value: Any) -> Any:
    """Return numbers with as few digits as give them back; what JSON lacks becomes text.

    >>> digits([1.0, 0.5, -0.0, math.inf, True])
    [1, 0.5, -0.0, 'inf', True]
    """
    if isinstance(value, list):
        return [digits(each) for each in value]
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return str(value)
    is_whole = value.is_integer() and abs(value) < WHOLE and str(value) != "-0.0"
    return int(value) if is_whole else value


def text(found: Mapping[str, Any]) -> str:
    """Write a graph as JSON without spaces."""
    return json.dumps(found, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
