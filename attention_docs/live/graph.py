"""The graph of an example: the nodes that its named steps and its guards need, as JSON."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from attention_docs.live.guards import First, Refusal, refusal
from attention_docs.live.library import Node, Read, RecordedArray
from attention_docs.live.recording import Recording, record
from attention_docs.live.scopes import Scope

VERSION = 1
# Below it every whole number is a float that Python writes without an exponent.
WHOLE = 10**15

# The inputs of these are drawn at random in bulk; the page has only their names and formulas.
DRAWN_IN_BULK = ("score_variance", "source_experiment")


class Guard(NamedTuple):
    """A read whose answer an edit can change, and what follows then."""

    read: Read
    refusal: Refusal | None


def graph(name: str) -> dict[str, Any]:
    """Return the graph of an example.

    Raises:
        UnknownOperationError: if the example applies an operation that cannot be recorded.

    >>> found = graph("self_attention")
    >>> found["inputs"], [scope["call"] for scope in found["scopes"]]
    (['X', 'W_Q', 'W_K', 'W_V'], ['attention_steps', 'softmax'])
    """
    return Reduction(name, record(name)).graph()


class Reduction:
    """A recording, of which only what is needed is kept, under new numbers.

    Attributes:
        nodes: those of the recording, and after them those of the refusals.
        first: for each node, the number of the first that computes the same.
        reached: for each node, the numbers of those that it is computed from, with its own.
        steps: by name, the number of each step.
        inputs: the names of the steps that can be edited.
        guards: the reads that an edit can turn, in the order in which Python made them.
        number: the new number of each node that is kept.
    """

    def __init__(self, name: str, recording: Recording) -> None:
        self.name = name
        self.recording = recording
        self.nodes = list(recording.tape.nodes)
        self.named = {array.node for array in recording.steps.values()}
        self.first = representatives(self.nodes, self.named)
        self.reached = ancestors(self.nodes, self.first)
        self.steps = {step: self.first[array.node] for step, array in recording.steps.items()}
        self.inputs = list(self.editable())
        self.guards = list(self.turnable())
        self.first = representatives(self.nodes, self.named)
        self.reached = ancestors(self.nodes, self.first)
        needed = set().union(*(self.reached[node] for node in self.wanted()))
        self.number = {old: new for new, old in enumerate(sorted(needed))}

    def editable(self) -> Iterator[str]:
        """Name the steps that are literals, and that another step is computed from."""
        for step, node in self.steps.items():
            others = (other for other in self.steps.values() if other != node)
            if self.nodes[node].operation == "asarray" and any(
                node in self.reached[other] for other in others
            ):
                yield step

    def turnable(self) -> Iterator[Guard]:
        """Yield the reads that depend on an input, each once, and add the nodes of refusals."""
        inputs = {self.steps[step] for step in self.inputs}
        seen = set()
        for number, read in enumerate(self.recording.tape.reads):
            node = self.first[read.node]
            if node not in seen and self.reached[node] & inputs:
                seen.add(node)
                yield Guard(read, self.placed(refusal(self.name, number), read.time))

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
            "scopes": list(self.scopes()),
            "guards": [self.guard(guard) for guard in self.guards],
        }

    def node(self, old: int) -> list[Any]:
        node = self.nodes[old]
        attributes = {name: digits(value) for name, value in node.attributes.items()}
        inputs = [self.renumbered(each) for each in node.inputs]
        return [node.operation, inputs, *([attributes] if attributes else [])]

    def scopes(self) -> Iterator[dict[str, Any]]:
        """Yield the calls in which a node of the graph was first computed."""
        for scope in self.recording.calls.scopes:
            inside = [old for old in range(scope.first, scope.last) if old in self.number]
            if inside:
                yield {
                    "call": scope.call,
                    "first": self.number[inside[0]],
                    "last": self.number[inside[-1]],
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


def representatives(nodes: list[Node], named: set[int]) -> list[int]:
    """Return for each node the first that computes the same.

    Two literals that steps name are the same only if they are one object in the example: their
    numbers may be equal by chance, and an edit of one is to leave the other alone.
    """
    sources = {id(nodes[i].literal) for i in named if nodes[i].literal is not None}
    known: dict[Any, int] = {}
    first: list[int] = []
    for number, node in enumerate(nodes):
        key: Any = (node.operation, *(first[i] for i in node.inputs), json.dumps(node.attributes))
        if id(node.literal) in sources:
            key = id(node.literal)
        elif node.operation == "asarray" and number in named:
            key = f"step {number}"
        first.append(known.setdefault(key, number))
    return first


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
