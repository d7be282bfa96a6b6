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
- `formulas`: the formula of each step in words, only for an example whose inputs are drawn in bulk.
  Its graph has only its steps, each as a literal.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.live.guards import FirstInvalid, Refusal, find_refusal
from attention_docs.live.library import Node, Read, RecordedArray
from attention_docs.live.literals import check_literal, find_literal, shared_literals
from attention_docs.live.recording import DRAWN_IN_BULK, Recording, record
from attention_docs.live.scopes import Scope

# Python writes whole floats below this limit without an exponent.
WHOLE_FLOAT_LIMIT = 10**15


class Guard(NamedTuple):
    """A read whose answer an edit can change, and the error that follows."""

    read: Read
    refusal: Refusal | None


def graph(name: str) -> dict[str, Any]:
    """Return the graph of an example.

    Raises:
        UnknownOperationError: if the example applies an operation that cannot be recorded.
        LiteralError: if an edit would not reach everything that is computed from a literal.

    >>> example = graph("self_attention")
    >>> example["inputs"], [scope["call"] for scope in example["scopes"]]
    (['X', 'W_Q', 'W_K', 'W_V'], ['attention_steps', 'softmax'])
    """
    if name in DRAWN_IN_BULK:
        return results_graph(name)
    pruned = PrunedGraph(name, record(name))
    for node, literal_name in pruned.literals().items():
        check_literal(name, literal_name, pruned.nodes[node].literal)
    return pruned.as_json()


def results_graph(name: str) -> dict[str, Any]:
    """Return the graph of an example whose inputs are drawn in bulk: its steps and formulas.

    >>> example = results_graph("score_variance")
    >>> example["nodes"][example["steps"]["pairs"]], example["formulas"]["kurtosis_exact"]
    (['asarray', [], {'value': 8000, 'dtype': 'int64'}], '6 / d')
    """
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
    }


class PrunedGraph:
    """The nodes of a recording that the page needs, with new indices.

    Attributes:
        nodes: the nodes of the recording, followed by the nodes of the refusals.
        representative: for each node, the index of the first node that computes the same.
        ancestors: for each node, the indices of the nodes it is computed from, and its own.
        steps: the node of each step, by name.
        carried: pairs of nodes, as in the module's docstring.
        inputs: the names of the steps that can be edited.
        shared: the nodes of the literals that other examples compute with too, by name.
        guards: the reads whose answers an edit can change, in the order of the reads.
        new_index: the new index of each node that is kept.
    """

    def __init__(self, name: str, recording: Recording) -> None:
        self.name = name
        self.recording = recording
        self.nodes = list(recording.tape.nodes)
        self.step_nodes = {array.node for array in recording.steps.values()}
        self.merge_nodes()
        self.steps = {
            step: self.representative[array.node] for step, array in recording.steps.items()
        }
        self.carried = [
            (self.representative[before.node], self.representative[after.node])
            for before, after in recording.carried
        ]
        self.inputs = list(self.editable_steps())
        self.shared = dict(self.shared_literal_nodes())
        self.guards = list(self.editable_guards())
        self.merge_nodes()  # again, because the guards have appended the nodes of their refusals
        required = set().union(*(self.ancestors[node] for node in self.page_nodes()))
        self.new_index = {old: new for new, old in enumerate(sorted(required))}

    def merge_nodes(self) -> None:
        """Find the nodes that compute the same, and the ancestors of each node."""
        self.representative = self.representatives()
        self.ancestors = ancestors(self.nodes, self.representative)

    def representatives(self) -> list[int]:
        """Return for each node the first node that computes the same.

        Editable literals are the same only if they have the same position in the code: their
        numbers may be equal by chance, and an edit of one must not change the other. For the same
        reason, other literals that are steps, and the arrays that an iteration replaces, are the
        same as no other node.
        """
        editable = {find_literal(self.nodes[index].literal) for index in self.step_nodes} - {None}
        editable |= set(shared_literals())
        carried = {before.node for before, _ in self.recording.carried}
        first_index: dict[Any, int] = {}
        representative: list[int] = []
        for index, (operation, inputs, attributes, literal) in enumerate(self.nodes):
            position = find_literal(literal)
            key: Any
            if position in editable:
                key = position
            elif index in carried or (operation == "asarray" and index in self.step_nodes):
                key = index
            else:
                key = (operation, *(representative[i] for i in inputs), json.dumps(attributes))
            representative.append(first_index.setdefault(key, index))
        return representative

    def editable_steps(self) -> Iterator[str]:
        """Yield the steps that are literals and that another step is computed from.

        Where several steps are the same literal, only the first is yielded.
        """
        first_step = {node: step for step, node in reversed(self.steps.items())}
        results = {*self.steps.values(), *(after for _, after in self.carried)}
        for step, node in self.steps.items():
            is_literal = self.nodes[node].operation == "asarray"
            is_used = any(node in self.ancestors[other] for other in results - {node})
            if is_literal and is_used and step == first_step[node]:
                yield step

    def shared_literal_nodes(self) -> Iterator[tuple[str, int]]:
        """Yield the name and the node of each literal that other examples compute with too."""
        for index, node in enumerate(self.nodes):
            position = find_literal(node.literal)
            if position in shared_literals():
                yield shared_literals()[position], self.representative[index]

    def literals(self) -> dict[int, str]:
        """Return the names of the editable literals by node."""
        shared = {node: name for name, node in self.shared.items()}
        return {self.steps[step]: step for step in self.inputs} | shared

    def editable_guards(self) -> Iterator[Guard]:
        """Yield a guard for the first read of each node that depends on an input.

        The nodes of its refusal are appended to `nodes`.
        """
        inputs = {*self.literals(), *(before for before, _ in self.carried)}
        guarded = set()
        for index, read in enumerate(self.recording.tape.reads):
            node = self.representative[read.node]
            if node not in guarded and self.ancestors[node] & inputs:
                guarded.add(node)
                # Only a boolean answer can be flipped.
                refusal = find_refusal(self.name, index) if isinstance(read.answer, bool) else None
                yield Guard(read, self.append_refusal(refusal, read.node_count))

    def append_refusal(self, refusal: Refusal | None, node_count: int) -> Refusal | None:
        """Append the nodes of a refusal, and return it with their new indices."""
        if refusal is None:
            return None
        shift = len(self.nodes) - node_count

        def shift_index(node: int) -> int:
            return node if node < node_count else node + shift

        for node in refusal.nodes:
            self.nodes.append(node._replace(inputs=tuple(map(shift_index, node.inputs))))
        message: list[str | FirstInvalid] = []
        for piece in refusal.message:
            if isinstance(piece, FirstInvalid):
                piece = FirstInvalid(shift_index(piece.invalid), shift_index(piece.array))
            message.append(piece)
        return refusal._replace(message=message)

    def page_nodes(self) -> Iterator[int]:
        """Yield the nodes that the page needs, without their ancestors."""
        yield from self.steps.values()
        for pair in self.carried:
            yield from pair
        for guard in self.guards:
            yield guard.read.node
            for piece in guard.refusal.message if guard.refusal else []:
                if isinstance(piece, FirstInvalid):
                    yield from piece

    def renumber(self, node: int) -> int:
        return self.new_index[self.representative[node]]

    def is_kept(self, node: int) -> bool:
        return self.representative[node] in self.new_index

    def as_json(self) -> dict[str, Any]:
        """Return the graph as JSON values."""
        carried = [list(map(self.renumber, pair)) for pair in self.carried]
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
            **({"carried": carried} if carried else {}),
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
                    "results": dict(self.results_json(scope)),
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

    def results_json(self, scope: Scope) -> Iterator[tuple[str, int]]:
        """Yield the results of a call whose nodes are kept, by name."""
        for name, array in scope.results.items():
            if self.is_kept(array.node):
                yield name, self.renumber(array.node)

    def guard_json(self, guard: Guard) -> dict[str, Any]:
        """Return a guard with the answer it expects and the error that another answer leads to."""
        refusal = None
        if guard.refusal:
            message = [self.message_piece_json(piece) for piece in guard.refusal.message]
            refusal = [guard.refusal.error, message]
        answer = shortest_numbers(guard.read.answer)
        return {"node": self.renumber(guard.read.node), "holds": answer, "refusal": refusal}

    def message_piece_json(self, piece: str | FirstInvalid) -> str | dict[str, int]:
        """Return a piece of a refusal's message: its text, or the nodes that the page reads."""
        if isinstance(piece, str):
            return piece
        return {"first": self.renumber(piece.invalid), "of": self.renumber(piece.array)}


def ancestors(nodes: Iterable[Node], representative: list[int]) -> list[set[int]]:
    """Return for each node the indices of the nodes it is computed from, and its own.

    Args:
        nodes: the nodes, each after its inputs.
        representative: for each node, the index of the first node that computes the same, which
            stands for it in the result.
    """
    result: list[set[int]] = []
    for node, index in zip(nodes, representative, strict=True):
        result.append({index}.union(*(result[i] for i in node.inputs)))
    return result


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
    """Return a graph as JSON without spaces."""
    return json.dumps(graph, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
