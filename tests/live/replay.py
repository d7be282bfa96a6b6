"""What Python computes of an example when other numbers are written in the sources."""

from typing import NamedTuple

import numpy as np

from attention_docs import examples
from attention_docs.live.literals import find_literal, rewritten_literals
from attention_docs.live.recording import record


class Replay(NamedTuple):
    """The steps of a run; none if it ended in an error."""

    steps: dict[str, np.ndarray]
    error: Exception | None = None


def replay(name, edits):
    """Compute an example with NumPy, after an edit of its sources.

    Args:
        name: of the example.
        edits: what to write in place of literals, by their steps; those of another example as
            `example.step`.
    """
    written = {place(name, literal): array.tolist() for literal, array in edits.items()}
    with rewritten_literals(name, written), np.errstate(all="ignore"):
        try:
            return Replay(examples.steps(name))
        except ValueError as error:
            return Replay({}, error)


def place(name, literal):
    owner, _, step = literal.rpartition(".")
    recording = record(owner or name)
    return find_literal(recording.tape.nodes[recording.steps[step].node].literal)
