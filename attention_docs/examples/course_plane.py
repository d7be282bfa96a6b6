"""The two nouns of the course in a plane that readers can change, and the average of the sentence.

`nouns` are *air* and *water* of birds and boats, and `order` chooses which of them comes first. The
other three words have neither air nor water. The steps of `path` add up a fifth of each word, in
the order of the sentence: it leads from zero past the first noun to `mean`, the plain average.

>>> show(computed(steps))
mean [0.6000 0.6000]
path [[0 0] [0.4000 0.2000] [0.6000 0.6000]]
"""

import numpy

TITLE = "Two nouns and the average of their sentence"
SOURCE = "our own example"

NOUNS = [[2, 1], [1, 2]]
ORDER = [True, False]
LENGTH = 5  # of the sentence, in words
FEATURES = ["air", "water"]
LABELS = {
    "nouns": (["birds", "boats"], FEATURES),
    "order": (["birds pass boats", "boats pass birds"],),
    "mean": (FEATURES,),
    "path": (["start", "first noun", "second noun"], FEATURES),
}


def steps(xp=numpy):
    """Add the nouns, divided by the number of words, in the order that is chosen."""
    nouns = xp.asarray(NOUNS, dtype=xp.float64)
    order = xp.asarray(ORDER, dtype=xp.bool)
    first = xp.astype(order, xp.float64) @ nouns
    both = xp.sum(nouns, axis=0)
    mean = both / LENGTH
    return {
        "nouns": nouns,
        "order": order,
        "mean": mean,
        "path": xp.stack([xp.zeros(2), first / LENGTH, mean]),
    }
