"""Byte pairs as in the paper: words are texts with a space between pieces, and pairs are replaced."""

import re

import numpy as np

from tests.examples.comparison import independent


@independent("tokens", "replacing pairs in texts, and a product with ones and zeros")
def tokens(literals):
    text = {
        " ".join(word): times
        for word, times in zip(literals["WORDS"], literals["COUNTS"], strict=True)
    }
    vocabulary, spelled = list("abcost"), "c o a t s"
    steps, pieces = {}, [sum(times * len(word.split()) for word, times in text.items())]
    for n in (1, 2, 3):
        counts = {}
        for word, times in text.items():
            for pair in re.findall(r"(?=(?<!\S)(\S+ \S+)(?!\S))", word):
                counts[pair] = counts.get(pair, 0) + times
        best = sorted(counts, key=counts.get)[-1]
        pattern = rf"(?<!\S){best}(?!\S)"
        text = {re.sub(pattern, best.replace(" ", ""), word): text[word] for word in text}
        spelled = re.sub(pattern, best.replace(" ", ""), spelled)
        vocabulary.append(best.replace(" ", ""))
        steps[f"counts_{n}"] = list(counts.values())
        pieces.append(sum(times * len(word.split()) for word, times in text.items()))
    ids = [vocabulary.index(piece) for piece in spelled.split()]
    return {
        **steps,
        "pieces": pieces,
        "ids": ids,
        "rows": np.eye(9)[ids] @ np.array(literals["W_E"]),
    }
