"""A worked example, computed once with the library that remembers."""

from dataclasses import dataclass, field
from functools import cache

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


def recorded_names() -> list[str]:
    """Return the names of the examples that have a graph."""
    return [name for name in examples.names() if name not in DRAWN_IN_BULK]
