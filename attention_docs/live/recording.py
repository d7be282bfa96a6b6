"""A worked example, computed once with the library that remembers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from attention_docs import examples
from attention_docs.live.library import RecordedArray, Tape
from attention_docs.live.scopes import Calls, watched


@dataclass
class Recording:
    """What is known of one run.

    Attributes:
        tape: the operations, and what Python read of their results.
        calls: the calls of public functions.
        steps: the array of each named step; none if the run ended in an error.
        error: what it ended in.
    """

    tape: Tape
    calls: Calls
    steps: dict[str, RecordedArray] = field(default_factory=dict)
    error: Exception | None = None


def attempt(
    name: str, edits: Mapping[int, np.ndarray] | None = None, turned: int | None = None
) -> Recording:
    """Run an example, perhaps into an error.

    Args:
        name: of the example.
        edits: as for `Tape`.
        turned: likewise.

    >>> attempt("self_attention", turned=0).error
    ValueError('query holds 2.0 at [0, 0]; expected finite numbers only')
    """
    tape = Tape(edits, turned)
    with watched(tape) as calls:
        recording = Recording(tape, calls)
        try:
            recording.steps = examples.steps(name, tape.xp)
        except Exception as error:
            recording.error = error
    return recording


def record(name: str) -> Recording:
    """Run an example with its own inputs.

    Raises:
        UnknownOperationError: if it applies an operation that cannot be recorded.
        Exception: whatever else it ends in.

    >>> record("self_attention").steps["Q"].value
    array([[2., 0.],
           [0., 2.],
           [2., 2.]])
    """
    recording = attempt(name)
    if recording.error:
        raise recording.error
    return recording
