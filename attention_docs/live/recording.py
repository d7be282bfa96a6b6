"""Run a worked example once with the recording array library."""

from dataclasses import dataclass, field
from functools import cache

from attention_docs import examples
from attention_docs.live.library import RecordedArray, Tape, UnknownOperationError
from attention_docs.live.scopes import CallRecorder, recorded_calls


@dataclass
class Recording:
    """The recording of one run of an example.

    Attributes:
        steps: the array of each step; empty if the run raised an error.
        state_updates: if the example can be repeated, pairs of arrays: what an iteration begins
            with, and what the next one begins with in its place.
    """

    tape: Tape
    calls: CallRecorder
    steps: dict[str, RecordedArray] = field(default_factory=dict)
    state_updates: list[tuple[RecordedArray, RecordedArray]] = field(default_factory=list)
    error: Exception | None = None


def attempt(name: str, flipped_read: int | None = None) -> Recording:
    """Run an example, and return the recording even if the run raises an error."""
    examples.load(name)  # so that its module is among those whose calls are recorded
    tape = Tape(flipped_read)
    with recorded_calls(tape) as calls:
        return run(name, Recording(tape, calls))


def run(name: str, recording: Recording) -> Recording:
    """Run an example on the tape of a recording, and return the recording with its steps.

    If the example has an `iteration`, which repeats a step of training, its state is stored too. An
    error is stored instead of raised, because an edit may lead to it, as it does in Python.
    """
    try:
        iteration = getattr(examples.load(name), "iteration", None)
        if iteration:
            recording.steps, recording.state_updates = iteration(recording.tape.xp)
        else:
            recording.steps = examples.steps(name, recording.tape.xp)
    except Exception as error:
        recording.error = error
    return recording


@cache
def record(name: str) -> Recording:
    """Return the recording of an example with its own inputs, which is made once."""
    recording = attempt(name)
    if isinstance(recording.error, UnknownOperationError):
        raise UnknownOperationError(f"example {name!r}: {recording.error}") from recording.error
    if recording.error:
        raise recording.error
    return recording


def recorded_names() -> list[str]:
    """Return the names of the examples that can be recorded, so that a page can compute them.

    The others draw many random inputs, some to train a model. They have FORMULAS, because a page
    has only their steps, and the formula of each step in words. So have examples that are repeated.
    The trained matrices of `course_learned` and `learning_induction` could be inputs, but would
    take about 15 KB each, compressed.
    """
    modules = {name: examples.load(name) for name in examples.names()}
    return [
        name
        for name, module in modules.items()
        if hasattr(module, "iteration") or not hasattr(module, "FORMULAS")
    ]
