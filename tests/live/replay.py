"""Compute an example with NumPy after an edit of its code."""

from typing import NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.live.literals import find_literal, rewritten_literals
from attention_docs.live.recording import record


class Replay(NamedTuple):
    """The steps of a run; empty if it raised an error."""

    steps: dict[str, np.ndarray]
    error: Exception | None = None


def replay(name, edits):
    """Compute an example with NumPy, with literals replaced by step, or by `example.step`."""
    replacements = {
        literal_position(name, literal): array.tolist() for literal, array in edits.items()
    }
    with rewritten_literals(name, replacements), np.errstate(all="ignore"):
        try:
            return Replay(examples.steps(name))
        except ValueError as error:
            return Replay({}, error)


def literal_position(name, literal):
    """Return where in the code the literal of an example's step is, given as in `replay`."""
    owner, _, step = literal.rpartition(".")
    recording = record(owner or name)
    return find_literal(recording.tape.nodes[recording.steps[step].node].literal)
