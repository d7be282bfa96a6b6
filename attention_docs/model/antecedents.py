"""Sentences that end with *they*, which can only refer to the one plural noun among their two.

Each pair of nouns gives four sentences: either noun comes first, and either is the plural one. So a
rule that looks only at positions, or only at words, is correct in half of them.
"""

from collections.abc import Iterator
from typing import NamedTuple

# Two nouns, a verb and a conjunction. The heads are ranked on these sentences.
SELECTION_FRAMES = (
    ("boy", "girl", "followed", "because"),
    ("dog", "cat", "saw", "because"),
    ("teacher", "student", "called", "because"),
    ("king", "soldier", "watched", "because"),
    ("farmer", "horse", "found", "because"),
)
# No word is shared with the frames above, and the head that ranked first is tested on these once.
HELD_OUT_FRAMES = (
    ("doctor", "nurse", "met", "when"),
    ("bird", "snake", "passed", "but"),
    ("artist", "writer", "helped", "so"),
    ("lion", "bear", "heard", "and"),
    ("driver", "guest", "left", "before"),
)


class Sentence(NamedTuple):
    """A sentence that ends with the pronoun.

    Attributes:
        antecedent: the noun that *they* refers to.
        other: the noun that it cannot refer to, because it is singular.
        is_first: whether the antecedent is the first noun.
    """

    text: str
    antecedent: str
    other: str
    is_first: bool


def sentences(frames: tuple[tuple[str, str, str, str], ...]) -> Iterator[Sentence]:
    """Yield the four sentences of each frame.

    >>> for sentence in sentences(HELD_OUT_FRAMES[:1]):
    ...     print(sentence.text, "->", sentence.antecedent)
    The doctors met the nurse when they -> doctors
    The doctor met the nurses when they -> nurses
    The nurses met the doctor when they -> nurses
    The nurse met the doctors when they -> doctors
    """
    for noun_1, noun_2, verb, conjunction in frames:
        for first, second in ((noun_1, noun_2), (noun_2, noun_1)):
            text = f"The {first}s {verb} the {second} {conjunction} they"
            yield Sentence(text, antecedent=f"{first}s", other=second, is_first=True)
            text = f"The {first} {verb} the {second}s {conjunction} they"
            yield Sentence(text, antecedent=f"{second}s", other=first, is_first=False)
