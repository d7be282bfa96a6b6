"""Find the error that an example raises if one of its comparisons has the opposite answer.

The example is run again with that answer flipped. The message of the error becomes a template: the
page replaces the text that `describe_first` returned by the element that is invalid after an edit.
So the page's script needs no messages of its own.
"""

from typing import NamedTuple

from attention_docs.live.library import Node, UnknownOperationError
from attention_docs.live.recording import Recording, attempt


class FirstInvalid(NamedTuple):
    """Placeholder in a message for the first element of `array` where `invalid` is true."""

    invalid: int
    array: int


class Refusal(NamedTuple):
    """The error that a flipped answer leads to.

    Attributes:
        error: the name of the error's class.
        message: the message in pieces: strings, and placeholders for what depends on the numbers.
        nodes: the operations recorded after the answer, which the placeholders need; their indices
            follow the indices of the nodes before the answer.
    """

    error: str
    message: list[str | FirstInvalid]
    nodes: list[Node]


def find_refusal(name: str, read: int) -> Refusal | None:
    """Return the error that an example raises if the answer of one of its reads is flipped.

    Args:
        name: the name of the example.
        read: the index of the read.

    Returns:
        The error, or None if Python takes another branch without an error.

    >>> find_refusal("self_attention", 0).message
    ['query holds ', FirstInvalid(invalid=8, array=4), '; expected finite numbers only']
    """
    flipped = attempt(name, flipped=read)
    if flipped.error is None or isinstance(flipped.error, UnknownOperationError):
        return None
    nodes = flipped.tape.nodes[flipped.tape.reads[read].node_count :]
    return Refusal(type(flipped.error).__name__, message_template(flipped), nodes)


def message_template(flipped: Recording) -> list[str | FirstInvalid]:
    """Return the message of an error, with `FirstInvalid` for the result of `describe_first`."""
    message = str(flipped.error)
    for description in flipped.calls.descriptions:
        if description.text in message:
            before, _, after = message.partition(description.text)
            return [before, FirstInvalid(description.invalid.node, description.array.node), after]
    return [message]
