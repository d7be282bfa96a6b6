"""One row of scores in which the last key is hidden, masked in four ways.

The hidden score is far above the others, and only minus infinity hides it (`weights`). If hidden
weights are set to zero after the softmax, no weight is left (`kept`), so it cannot be divided by
its sum. If a large number is subtracted from the hidden score (`lowered`), the key still takes all
the weight. If the score is multiplied by zero (`multiplied`), the key keeps some weight.

>>> show(computed(steps))
weights [0.2689 0.7311 0]
kept [0 0 0]
kept_sum 0
lowered [1 2 802]
weights_lowered [0 0 1]
multiplied [1 2 0]
weights_multiplied [0.2447 0.6652 0.0900]
"""

import numpy

from attention_docs.softmax import softmax

TITLE = "One row, masked in four ways"
SOURCE = "our own example"

SCORES = [1, 2, 10_802]  # the last is still the largest after LARGE is subtracted
MASK = [True, True, False]
LARGE = [10_000]

WORDS = ["birds", "pass", "boats"]
LABELS = {
    "scores mask weights kept": (WORDS,),
    "lowered weights_lowered multiplied weights_multiplied": (WORDS,),
}


def steps(xp=numpy):
    """Hide the last key by -inf, by zeroing its weight, by subtraction and by multiplication."""
    scores, large = (xp.asarray(numbers, dtype=xp.float64) for numbers in (SCORES, LARGE))
    mask = xp.asarray(MASK, dtype=xp.bool)
    is_visible = xp.astype(mask, xp.float64)  # one or zero
    kept = softmax(scores) * is_visible
    lowered = scores - large * (1 - is_visible)
    multiplied = scores * is_visible
    return {
        "scores": scores,
        "mask": mask,
        "large": large,
        "weights": softmax(xp.where(mask, scores, xp.asarray(-xp.inf))),
        "kept": kept,
        "kept_sum": xp.sum(kept),
        "lowered": lowered,
        "weights_lowered": softmax(lowered),
        "multiplied": multiplied,
        "weights_multiplied": softmax(multiplied),
    }
