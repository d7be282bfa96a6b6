"""Find the error that an example raises if one of its comparisons has the opposite answer.

The example is run again with that answer flipped. The message of the error becomes a template: the
page replaces the text that `describe_first` returned by the element that is invalid after an edit.
So the page's script needs no messages of its own.
"""

from typing import NamedTuple

from attention_docs.live.library import Node, UnknownOperationError
from attention_docs.live.recording import attempt


class FirstInvalid(NamedTuple):
    """Placeholder in a message for the first element of `array` where `invalid` is true."""

    invalid: int
    array: int


class Refusal(NamedTuple):
    """The error that a flipped answer leads to.

    Attributes:
        message: the message in pieces: strings, and placeholders for what depends on the numbers.
        nodes: the operations recorded after the answer, which the placeholders need; their indices
            follow the indices of the nodes before the answer.
    """

    error: str
    message: list[str | FirstInvalid]
    nodes: list[Node]


def find_refusal(name: str, read_index: int) -> Refusal | None:
    """Return the error that an example raises if a read is flipped, None if it raises none.

    >>> find_refusal("self_attention", 0).message
    ['query holds ', FirstInvalid(invalid=8, array=4), '; expected finite numbers only']
    """
    recording = attempt(name, flipped_read=read_index)
    error = recording.error
    if error is None or isinstance(error, UnknownOperationError):
        return None
    message: list[str | FirstInvalid] = [str(error)]
    for description in recording.calls.descriptions:
        if description.text in str(error):  # another edit can make another element invalid
            start, _, end = str(error).partition(description.text)
            place = FirstInvalid(description.invalid.node, description.array.node)
            message = [start, place, end]
            break
    tape = recording.tape
    nodes_after_read = tape.nodes[tape.reads[read_index].node_count :]
    return Refusal(type(error).__name__, message, nodes_after_read)
