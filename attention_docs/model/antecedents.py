"""Sentences that end with *they*, which can only mean one of their two nouns: the plural one.

Each pair of nouns gives four sentences: either noun comes first, and either is the plural one. So a
rule that looks only at places, or only at words, is right in half of them.
"""

from collections.abc import Iterator
from typing import NamedTuple

# The beginning of a sentence, a verb, the words before the pronoun.
RANKING = (
    ("boy", "girl", "followed", "because"),
    ("dog", "cat", "saw", "because"),
    ("teacher", "student", "called", "because"),
    ("king", "soldier", "watched", "because"),
    ("farmer", "horse", "found", "because"),
)
# Other nouns, verbs and conjunctions. The head that was ranked best is tried on these once.
TRIAL = (
    ("doctor", "nurse", "met", "when"),
    ("bird", "snake", "passed", "but"),
    ("artist", "writer", "helped", "so"),
    ("lion", "bear", "heard", "and"),
    ("driver", "guest", "left", "before"),
)


class Sentence(NamedTuple):
    """A sentence up to the pronoun.

    Attributes:
        text: the sentence.
        antecedent: the noun that *they* means.
        other: the noun that it cannot mean, because it is singular.
        is_first: whether the antecedent is the first noun.
    """

    text: str
    antecedent: str
    other: str
    is_first: bool


def sentences(frames: tuple[tuple[str, str, str, str], ...]) -> Iterator[Sentence]:
    """Yield the four sentences of each pair of nouns.

    >>> for sentence in sentences(TRIAL[:1]):
    ...     print(sentence.text, "->", sentence.antecedent)
    The doctors met the nurse when they -> doctors
    The doctor met the nurses when they -> nurses
    The nurses met the doctor when they -> nurses
    The nurse met the doctors when they -> doctors
    """
    for one, two, verb, conjunction in frames:
        for first, second in ((one, two), (two, one)):
            for is_first in (True, False):
                nouns = (f"{first}s", second) if is_first else (first, f"{second}s")
                text = f"The {nouns[0]} {verb} the {nouns[1]} {conjunction} they"
                antecedent, other = nouns if is_first else nouns[::-1]
                yield Sentence(text, antecedent, other, is_first)
