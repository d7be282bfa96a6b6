"""The graph of an example: the nodes that its steps and its guards need, as JSON.

- `nodes`: `[operation, inputs, attributes?]`, named as in the array API standard, in the order of
  execution; nodes that only an error message needs come last. Each input is an offset: how many
  nodes it comes before this one.
- `steps`: the node of each step, in reading order.
- `inputs`: the steps that are literals and that another step is computed from; where several steps
  are the same literal, the first.
- `shared`: the nodes of literals that other examples compute with too. Their names, `example.step`,
  are the same in all examples, so an edit in one example can be carried over to the others.
- `scopes`: the calls of public functions, with their arguments (`{"node": 7}` or a value) and the
  nodes that they returned. A single result has the name "", and results in nested named tuples have
  names like `attention.weights`.
- `guards`: the comparisons that steered Python, in order: a node, the value that it had, and the
  error that any other value raises, or null if Python would take another branch instead. In a
  message, `{"first": invalid, "of": array}` is a placeholder for the value and the index of the
  first element where `invalid` is true.
- `carried`: for an example that can be repeated, pairs of nodes: the next iteration begins with the
  value of the second node as the value of the first.
- `names`: the letters or words by which pages call steps, if other than the steps' own names.
- `written`: formulas in the letters of the pages, where the page's script would write none or one
  too long. Both come from `formulas.csv`, or from the letters of attention's results.
- `constants`: the Python code of the literal that an input comes from.
- `formulas`: the formula of each step in words, only for an example that can be repeated, or whose
  inputs are drawn in bulk. The graph of the latter has only its steps, each as a literal.
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.live import literals
from attention_docs.live.guards import FirstInvalid, Refusal, find_refusal
from attention_docs.live.library import Node, Read, RecordedArray
from attention_docs.live.recording import Recording, record, recorded_names
from attention_docs.live.scopes import Scope

# Python writes whole floats below this limit without an exponent.
WHOLE_FLOAT_LIMIT = 10**15

# The letters of the results of attention, for steps of the same name.
LETTERS = {"scores": "S", "scaled": "Z", "masked": "Z", "weights": "A", "output": "O"}


@cache
def rows_of_formulas() -> list[dict[str, str]]:
    with Path(__file__).with_name("formulas.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def from_table(example: str, column: str) -> dict[str, str]:
    """Return the names or the formulas of an example's steps in `formulas.csv`."""
    rows = (row for row in rows_of_formulas() if row["example"] == example)
    return {row["step"]: row[column] for row in rows if row[column]}


class Guard(NamedTuple):
    """A read whose answer an edit can change, and the error that follows, if any."""

    read: Read
    refusal: Refusal | None


def graph(name: str) -> dict[str, Any]:
    """Return the graph of an example."""
    if name not in recorded_names():
        return results_graph(name)
    pruned = PrunedGraph(name, record(name))
    for node, literal_name in pruned.literal_names.items():
        literals.check_literal(name, literal_name, pruned.nodes[node].literal)
    return pruned.as_json()


def results_graph(name: str) -> dict[str, Any]:
    """Return the graph of an example whose inputs are drawn in bulk: its steps and formulas."""
    steps = {step: np.asarray(array) for step, array in examples.steps(name).items()}
    return {
        "example": name,
        "nodes": [
            ["asarray", [], {"value": shortest_numbers(array.tolist()), "dtype": array.dtype.name}]
            for array in steps.values()
        ],
        "steps": {step: node for node, step in enumerate(steps)},
        "inputs": [],
        "shared": {},
        "scopes": [],
        "guards": [],
        "formulas": {step: examples.load(name).FORMULAS[step] for step in steps},
        "names": from_table(name, "name"),
    }


class PrunedGraph:
    """The nodes of a recording that the page needs, with new indices.

    Attributes:
        nodes: the nodes of the recording, followed by the nodes that only error messages need.
        representative: for each node, the index of the first node that computes the same.
        ancestors: for each node, the indices of the nodes it is computed from, and its own, each
            replaced by its representative.
    """

    def __init__(self, name: str, recording: Recording) -> None:
        self.name = name
        self.recording = recording
        self.nodes: list[Node] = []
        self.representative: list[int] = []
        self.ancestors: list[set[int]] = []
        self.first_index: dict[Any, int] = {}  # by what a node computes
        for node in recording.tape.nodes:
            self.append(node)

    def append(self, node: Node) -> None:
        """Append a node, and find its representative and its ancestors among the nodes before."""
        index = len(self.nodes)
        first = self.first_index.setdefault(self.computation(node, index), index)
        self.nodes.append(node)
        self.representative.append(first)
        self.ancestors.append({first}.union(*(self.ancestors[i] for i in node.inputs)))

    def computation(self, node: Node, index: int) -> Any:
        """Return a hashable key that is equal for nodes that compute the same.

        Editable literals compute the same only if they have the same position in the code: their
        numbers may be equal by chance, and an edit of one must not change the other. For the same
        reason, other literals that are steps, and arrays that an iteration replaces, compute the
        same as no other node.
        """
        position = literals.find_literal(node.literal)
        if position in self.editable_literals:
            return position
        is_literal_step = node.operation == "asarray" and index in self.step_nodes
        if is_literal_step or index in self.state_nodes:
            return index
        inputs = (self.representative[i] for i in node.inputs)
        return (node.operation, *inputs, json.dumps(node.attributes))

    @cached_property
    def step_nodes(self) -> set[int]:
        """The nodes of the steps, before equal nodes are merged."""
        return {array.node for array in self.recording.steps.values()}

    @cached_property
    def state_nodes(self) -> set[int]:
        """The nodes of the arrays that an iteration begins with, and the next one replaces."""
        return {old.node for old, _ in self.recording.state_updates}

    @cached_property
    def editable_literals(self) -> set[literals.LiteralPosition | None]:
        """The positions of the literals that are steps, or that other examples compute with too."""
        tape_nodes = self.recording.tape.nodes
        step_literals = {
            literals.find_literal(tape_nodes[index].literal) for index in self.step_nodes
        }
        return (step_literals | set(literals.shared_literals())) - {None}

    @cached_property
    def steps(self) -> dict[str, int]:
        return {
            step: self.representative[array.node] for step, array in self.recording.steps.items()
        }

    @cached_property
    def state_updates(self) -> list[tuple[int, int]]:
        """Pairs of nodes: an iteration begins with the first, and the next one with the second."""
        return [
            (self.representative[old.node], self.representative[new.node])
            for old, new in self.recording.state_updates
        ]

    @cached_property
    def inputs(self) -> list[str]:
        """The steps that are literals and that another step or update is computed from.

        Where several steps are the same literal, only the first is listed.
        """
        first_step = {node: step for step, node in reversed(self.steps.items())}
        results = {*self.steps.values(), *(new for _, new in self.state_updates)}
        inputs = []
        for step, node in self.steps.items():
            is_literal = self.nodes[node].operation == "asarray"
            is_used = any(node in self.ancestors[result] for result in results - {node})
            if is_literal and is_used and step == first_step[node]:
                inputs.append(step)
        return inputs

    @cached_property
    def shared(self) -> dict[str, int]:
        """The nodes of the literals that other examples compute with too, by name."""
        names = literals.shared_literals()
        positions = [literals.find_literal(node.literal) for node in self.recording.tape.nodes]
        return {
            names[position]: self.representative[index]
            for index, position in enumerate(positions)
            if position in names
        }

    @cached_property
    def literal_names(self) -> dict[int, str]:
        """The names of the editable literals, by node."""
        shared_names = {node: name for name, node in self.shared.items()}
        return {self.steps[step]: step for step in self.inputs} | shared_names

    @cached_property
    def guards(self) -> list[Guard]:
        """A guard for the first read of each node that depends on an editable literal or a state.

        The nodes that the errors of the guards need are appended to `nodes`.
        """
        editable_nodes = {*self.literal_names, *(old for old, _ in self.state_updates)}
        guards: dict[int, Guard] = {}
        for read_index, read in enumerate(self.recording.tape.reads):
            node = self.representative[read.node]
            if node not in guards and self.ancestors[node] & editable_nodes:
                is_flippable = isinstance(read.answer, bool)
                refusal = find_refusal(self.name, read_index) if is_flippable else None
                guards[node] = Guard(read, self.append_refusal(refusal, read.node_count))
        return list(guards.values())

    def append_refusal(self, refusal: Refusal | None, node_count: int) -> Refusal | None:
        """Append the nodes of a refusal, whose indices from `node_count` on change."""
        if refusal is None:
            return None
        shift = len(self.nodes) - node_count

        def shift_index(node: int) -> int:
            return node if node < node_count else node + shift

        for node in refusal.nodes:
            self.append(node._replace(inputs=tuple(map(shift_index, node.inputs))))
        message = [
            FirstInvalid(shift_index(piece.invalid), shift_index(piece.array))
            if isinstance(piece, FirstInvalid)
            else piece
            for piece in refusal.message
        ]
        return refusal._replace(message=message)

    def page_nodes(self) -> Iterator[int]:
        """Yield the nodes that the page needs, without their ancestors."""
        yield from self.steps.values()
        for old_and_new in self.state_updates:
            yield from old_and_new
        for guard in self.guards:
            yield guard.read.node
            for piece in guard.refusal.message if guard.refusal else []:
                if isinstance(piece, FirstInvalid):
                    yield from piece

    @cached_property
    def new_index(self) -> dict[int, int]:
        """The new index of each node that the page needs, or that such a node is computed from."""
        kept_nodes = set().union(*(self.ancestors[node] for node in self.page_nodes()))
        return {old: new for new, old in enumerate(sorted(kept_nodes))}

    def renumber(self, node: int) -> int:
        return self.new_index[self.representative[node]]

    def is_kept(self, node: int) -> bool:
        return self.representative[node] in self.new_index

    def as_json(self) -> dict[str, Any]:
        """Return the graph as JSON values, with the keys that the module's docstring explains."""
        state_updates = [
            [self.renumber(old), self.renumber(new)] for old, new in self.state_updates
        ]
        return {
            "example": self.name,
            "nodes": [self.node_json(old_index) for old_index in self.new_index],
            "steps": {step: self.new_index[node] for step, node in self.steps.items()},
            "inputs": self.inputs,
            "shared": {
                name: self.new_index[node]
                for name, node in self.shared.items()
                if node in self.new_index
            },
            "scopes": list(self.scopes_json()),
            "guards": [self.guard_json(guard) for guard in self.guards],
            "labels": dict(self.labels()),
            "names": self.letters() | from_table(self.name, "name"),
            "written": from_table(self.name, "formula"),
            "constants": {
                name: position.code
                for node, name in self.literal_names.items()
                if node in self.new_index
                and (position := literals.find_literal(self.nodes[node].literal))
            },
            **(
                {"carried": state_updates, "formulas": examples.load(self.name).FORMULAS}
                if state_updates
                else {}
            ),
        }

    def letters(self) -> dict[str, str]:
        """Return the letter of each step that is a result of attention and is named like it."""
        results = [
            (name, self.representative[array.node])
            for scope in self.recording.calls.scopes
            for name, array in scope.results.items()
            if name in LETTERS
        ]
        return {
            step: LETTERS[name] + step.removeprefix(name)
            for step, node in self.steps.items()
            for name, result in results
            if result == node and (step == name or step.startswith(f"{name}_"))
        }

    def labels(self) -> Iterator[tuple[str, tuple[list[str], ...]]]:
        """Yield the words along the axes of steps and shared literals that have words."""
        for name in (*self.steps, *self.shared):
            example, _, step = name.rpartition(".")
            if labels := examples.labels(example or self.name, step):
                yield name, labels

    def node_json(self, old_index: int) -> list[Any]:
        """Return the operation of a node, the offsets to its inputs, and its attributes if any."""
        node = self.nodes[old_index]
        # The same offsets occur again and again, so they compress better than indices.
        offsets = [self.new_index[old_index] - self.renumber(i) for i in node.inputs]
        if not node.attributes:
            return [node.operation, offsets]
        attributes = {name: shortest_numbers(value) for name, value in node.attributes.items()}
        return [node.operation, offsets, attributes]

    def scopes_json(self) -> Iterator[dict[str, Any]]:
        """Yield the calls in which a node of the graph was first computed."""
        for scope in self.recording.calls.scopes:
            if any(old_index in self.new_index for old_index in range(scope.start, scope.stop)):
                yield {
                    "call": scope.call,
                    "arguments": dict(self.arguments_json(scope)),
                    "results": {
                        name: self.renumber(array.node)
                        for name, array in scope.results.items()
                        if self.is_kept(array.node)
                    },
                }

    def arguments_json(self, scope: Scope) -> Iterator[tuple[str, Any]]:
        """Yield the arguments of a call that the page can show, by name."""
        for name, value in scope.arguments.items():
            if isinstance(value, RecordedArray):
                if self.is_kept(value.node):
                    yield name, {"node": self.renumber(value.node)}
            elif isinstance(value, bool | int | float | str):
                yield name, value
            elif isinstance(value, tuple):
                yield name, list(value)

    def guard_json(self, guard: Guard) -> dict[str, Any]:
        """Return the node of a guard, the answer that holds, and the error of another answer."""
        refusal = None
        if guard.refusal:
            message = [
                {"first": self.renumber(piece.invalid), "of": self.renumber(piece.array)}
                if isinstance(piece, FirstInvalid)
                else piece
                for piece in guard.refusal.message
            ]
            refusal = [guard.refusal.error, message]
        answer = shortest_numbers(guard.read.answer)
        return {"node": self.renumber(guard.read.node), "holds": answer, "refusal": refusal}


def shortest_numbers(value: Any) -> Any:
    """Return a number, or nested lists of numbers, such that JSON writes few characters.

    Whole floats become integers; infinities and NaN, which JSON lacks, become strings.

    >>> shortest_numbers([1.0, 0.5, -0.0, math.inf, True])
    [1, 0.5, -0.0, 'inf', True]
    """
    if isinstance(value, list):
        return [shortest_numbers(item) for item in value]
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return str(value)
    is_whole = value.is_integer() and abs(value) < WHOLE_FLOAT_LIMIT and str(value) != "-0.0"
    return int(value) if is_whole else value


def to_json(graph: Mapping[str, Any]) -> str:
    return json.dumps(graph, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
