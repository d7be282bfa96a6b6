"""A worked example, computed once with the library that remembers."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from itertools import chain

from attention_docs import examples
from attention_docs.live.library import RecordedArray, Tape, UnknownOperationError
from attention_docs.live.scopes import Calls, watched

# The inputs of these are drawn at random in bulk, and models are trained on some of them. A page
# has their results, with the formulas that they give in words.
DRAWN_IN_BULK = (
    "learning_induction",
    "learning_mistakes",
    "learning_reverse",
    "score_variance",
    "source_experiment",
)


@dataclass
class Recording:
    """What is known of one run.

    Attributes:
        tape: the operations, and what Python read of their results.
        calls: the calls of public functions; none if they were not watched.
        steps: the array of each named step; none if the run ended in an error.
        error: what it ended in.
    """

    tape: Tape
    calls: Calls
    steps: dict[str, RecordedArray] = field(default_factory=dict)
    error: Exception | None = None


def attempt(name: str, turned: int | None = None) -> Recording:
    """Run an example, perhaps into an error, and watch what it calls.

    Args:
        name: of the example.
        turned: as for `Tape`.

    >>> attempt("self_attention", turned=0).error
    ValueError('query holds 2.0 at [0, 0]; expected finite numbers only')
    """
    examples.load(name)
    tape = Tape(turned=turned)
    with watched(tape) as calls:
        return run(name, Recording(tape, calls))


def run(name: str, recording: Recording) -> Recording:
    try:
        recording.steps = examples.steps(name, recording.tape.xp)
    except Exception as error:
        recording.error = error
    return recording


@cache
def record(name: str) -> Recording:
    """Run an example with its own inputs, once.

    Raises:
        UnknownOperationError: if it applies an operation that cannot be recorded; the message names
            both.
        Exception: whatever else it ends in.

    >>> record("self_attention").steps["Q"].value
    array([[2., 0.],
           [0., 2.],
           [2., 2.]])
    """
    recording = attempt(name)
    if isinstance(recording.error, UnknownOperationError):
        raise UnknownOperationError(f"example {name!r}: {recording.error}") from recording.error
    if recording.error:
        raise recording.error
    return recording


@cache
def shared_literals() -> dict[int, str]:
    """Name the literals that several examples compute with, if one of them has it as a step.

    Returns:
        By the identity of the list in the sources, a step that names it, `example.step`.

    >>> from attention_docs.examples import course_sentence
    >>> shared_literals()[id(course_sentence.W_1)]
    'course_sentence.W_1'
    """
    # All of them are kept: a list that is no longer there could leave its identity to another.
    recordings = {name: record(name) for name in recorded_names()}
    uses = Counter(chain.from_iterable(map(literals, recordings.values())))
    named = {
        name: {
            literal: f"{name}.{step}"
            for step, array in recording.steps.items()
            if uses[literal := id(recording.tape.nodes[array.node].literal)] > 1
        }
        for name, recording in recordings.items()
    }
    # The example that names most of them is the one that they belong to.
    return {k: v for names in sorted(named.values(), key=len) for k, v in names.items()}


def literals(recording: Recording) -> set[int]:
    """Return the identity of each literal that a run computed with."""
    return {id(node.literal) for node in recording.tape.nodes if node.literal is not None}


def recorded_names() -> list[str]:
    """Return the names of the examples that have a graph."""
    return [name for name in examples.names() if name not in DRAWN_IN_BULK]
