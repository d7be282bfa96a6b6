"""Tokens by byte pairs: five words, three pairs joined, and the rows of a word that is not in them.

In each round the pair of neighbouring pieces that occurs most often becomes a token. `counts_1`,
`counts_2` and `counts_3` say how often each pair occurs in the text, in the order in which the
words have them, and `pieces` how many pieces the text has before the first round and after each.
`ids` are the numbers of the tokens of `WORD`, and `rows` their rows of the table `W_E`.

>>> show(computed(steps))
counts_1 [7 10 11 4 2 1]
counts_2 [7 10 4 2 1]
counts_3 [7 4 2 1]
pieces [46 35 25 18]
ids [2 7 4]
rows [[0.1000 -0.4000 0.2000] [0.9000 0.6000 -0.2000] [-0.1000 0.3000 1.1000]]
"""

from itertools import pairwise

import numpy

TITLE = "Tokens by byte pairs"
SOURCE = "our own example"

WORDS, COUNTS = ("boat", "boats", "coat", "oats", "bat"), [4, 3, 2, 1, 1]
LETTERS, ROUNDS = tuple("abcost"), 3
WORD = "coats"
W_E = [
    [0.4, 0.1, -0.3],
    [-0.2, 0.5, 0.0],
    [0.1, -0.4, 0.2],
    [0.3, 0.2, 0.1],
    [-0.1, 0.3, 1.1],
    [0.0, -0.6, 0.4],
    [0.2, 0.7, -0.5],
    [0.9, 0.6, -0.2],
    [1.2, 0.4, 0.3],
]


def joined(pieces, pair):
    """Return the pieces of a word with each occurrence of a pair as one piece."""
    result = []
    for piece in pieces:
        if (*result[-1:], piece) == pair:
            result[-1] += piece
        else:
            result.append(piece)
    return result


def counts_of_rounds():
    """Return for each round a dictionary with the number of occurrences of each pair."""
    words = [list(word) for word in WORDS]
    rounds = []
    for _ in range(ROUNDS):
        counts = {}
        for word, times in zip(words, COUNTS, strict=True):
            for pair in pairwise(word):
                counts[pair] = counts.get(pair, 0) + times
        rounds.append(counts)
        words = [joined(word, max(counts, key=counts.get)) for word in words]
    return rounds


TOKENS = (*LETTERS, *("".join(max(counts, key=counts.get)) for counts in counts_of_rounds()))
LABELS: dict[str, tuple[list[str], list[str]]] = {
    **{
        f"counts_{n}": ([" ".join(pair) for pair in counts], [])
        for n, counts in enumerate(counts_of_rounds(), 1)
    },
    "W_E": (list(TOKENS), []),
    "ids rows": (["c", "oat", "s"], []),
}
FORMULAS = {
    "times": "how often each word occurs",
    **{f"counts_{n}": "how often each pair occurs in the text" for n in (1, 2, 3)},
    "pieces": "how many pieces the text has",
    "W_E": "a row for each token",
    "ids": "the places of the tokens in the vocabulary, counted from 0",
    "rows": "the rows of W_E with these ids",
}


def steps(xp=numpy):
    """Return the counts of pairs in each round, and the ids and rows of the word."""
    rounds = counts_of_rounds()
    word = list(WORD)
    for counts in rounds:
        word = joined(word, max(counts, key=counts.get))
    ids = [TOKENS.index(piece) for piece in word]

    letters = sum(times * len(word) for word, times in zip(WORDS, COUNTS, strict=True))
    # Each occurrence of a joined pair is one piece less.
    pieces = letters - numpy.cumsum([0, *(max(counts.values()) for counts in rounds)])
    table = xp.asarray(W_E)
    return {
        "times": xp.asarray(COUNTS, dtype=xp.float64),
        **{
            f"counts_{n}": xp.asarray(list(counts.values()), dtype=xp.float64)
            for n, counts in enumerate(rounds, 1)
        },
        "pieces": xp.asarray(pieces.tolist(), dtype=xp.float64),
        "W_E": table,
        "ids": xp.asarray(ids, dtype=xp.float64),
        "rows": xp.stack([table[row, :] for row in ids]),
    }
