"""Comparisons that steered Python while an example was recorded, and what a turned one leads to.

The example is run once more with that one answer turned round. The message of the error that
follows becomes a template: where `describe_first` had its say, the page puts in the element that is
wrong after an edit. So no message is written twice.
"""

from typing import NamedTuple

from attention_docs.live.library import Node, UnknownOperationError
from attention_docs.live.recording import Recording, attempt


class First(NamedTuple):
    """In a message, the first element of a node where another is true, and its index."""

    wrong: int
    array: int


class Refusal(NamedTuple):
    """An error that a turned answer leads to.

    Attributes:
        error: the name of its class.
        message: its pieces, of which those that are no text depend on the numbers.
        nodes: the operations that Python carried out for the message; their numbers follow
            those of the nodes before the answer.
    """

    error: str
    message: list[str | First]
    nodes: list[Node]


def refusal(name: str, read: int) -> Refusal | None:
    """Return what an example ends in if one of its reads gets the other answer.

    Args:
        name: of the example.
        read: the number of the read.

    Returns:
        The error; None if Python goes another way.

    >>> refusal("self_attention", 0).message
    ['query holds ', First(wrong=8, array=4), '; expected finite numbers only']
    """
    turned = attempt(name, turned=read)
    if turned.error is None or isinstance(turned.error, UnknownOperationError):
        return None
    time = turned.tape.reads[read].time
    return Refusal(type(turned.error).__name__, template(turned), turned.tape.nodes[time:])


def template(turned: Recording) -> list[str | First]:
    """Return the message of an error, with `First` in place of what `describe_first` said."""
    message = str(turned.error)
    for phrase in turned.calls.phrases:
        before, found, after = message.partition(phrase.text)
        if found:
            return [before, First(phrase.wrong.node, phrase.array.node), after]
    return [message]
