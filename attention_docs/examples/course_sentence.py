"""The sentences of the course, and every given number: the rest of the course is computed.

"birds pass boats because they ..." goes on with "fly", and "boats pass birds because they ..." with
"sail". All matrices treat air and water alike, so the two sentences are mirror images: only the
order of the nouns distinguishes them.

A sentence has n = 5 words of d_model = 7 features. There are h = 2 heads with d_k = 3 and d_v = 4,
so the heads side by side have 6 and 8 columns. The feed-forward network has one hidden feature, and
the vocabulary has 9 words. So the nine sizes are the numbers from 1 to 9, each of them once, and a
product of the wrong matrices rarely fits.

The first five features have a meaning each. The last two are zero in every word. There `E` adds the
hand of a clock, which turns by an angle of the triangle 3-4-5 from each position to the next.

`parameters` counts the numbers that such a model would learn: the given matrices, with a row of X
for each word of the vocabulary. `E` is not learned, and `W_V` counts once, as both heads share it.

>>> show(computed(steps))
sizes [5 7 3 4 2 6 8 1 9]
parameters 309
"""

import math

import numpy

TITLE = "The sentence of the course"
SOURCE = "our own example"

WORDS = ["birds", "pass", "boats", "because", "they"]
SWAPPED = ["boats", "pass", "birds", "because", "they"]
HEADS = 2
BIRDS, PASS, BOATS, BECAUSE, THEY = range(5)
FEATURES = ["air", "water", "action", "reason", "refers", "clock 1", "clock 2"]
KEY_FEATURES = ["thing", "action", "place"]
VALUE_FEATURES = FEATURES[:4]
# Head 2 needs two of its three features.
HAND_FEATURES = ["right", "up", "unused"]
RULE = ["rule"]
VOCABULARY = [*WORDS, "fly", "sail", "and", "."]

X = [
    [2, 1, 0, 0, 0, 0, 0],
    [0, 0, 2, 0, 0, 0, 0],
    [1, 2, 0, 0, 0, 0, 0],
    [0, 0, 0, 2, 0, 0, 0],
    [0, 0, 0, 0, 2, 0, 0],
]
E = [
    [0, 0, 0, 0, 0, 0.6, 0.8],
    [0, 0, 0, 0, 0, 1, 0],
    [0, 0, 0, 0, 0, 0.6, -0.8],
    [0, 0, 0, 0, 0, -0.28, -0.96],
    [0, 0, 0, 0, 0, -0.936, -0.352],
]
# Head 1 looks for what a word needs to be understood, head 2 for the previous word.
W_Q_1 = [[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 0]]
W_K_1 = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 2]]
W_Q_2 = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [3, 4, 0], [-4, 3, 0]]
W_K_2 = [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [2, 0, 0], [0, 2, 0]]
# The values of both heads are the same four features.
W_V = [
    [1, 0, 0, 0],
    [0, 1, 0, 0],
    [0, 0, 1, 0],
    [0, 0, 0, 1],
    [0, 0, 0, 0],
    [0, 0, 0, 0],
    [0, 0, 0, 0],
]
W_O_1 = [[1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0]]
W_O_2 = [[0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0]]
W_1 = [[0], [0], [0], [1], [3], [0], [0]]
B_1 = [-2]
W_2 = [[0, 0, 1, 0, -1, 0, 0]]
# Exchanging air with water exchanges birds with boats and fly with sail.
W_VOCABULARY = [
    [-3, 2, 1, -1, 0, 0, -3, -1, 2],
    [1, 2, -3, -1, 0, -3, 0, -1, 2],
    [0, -3, 0, 3, -1, 2, 2, 0, 1],
    [-3, 0, -3, -3, 3, 3, 3, 0, 1],
    [-2, 2, -2, 2, -2, -2, -2, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, 0],
]
LABELS = {
    "X E": (WORDS, FEATURES),
    "W_Q_1 W_K_1": (FEATURES, KEY_FEATURES),
    "W_Q_2 W_K_2": (FEATURES, HAND_FEATURES),
    "W_V": (FEATURES, VALUE_FEATURES),
    "W_O_1 W_O_2": (VALUE_FEATURES, FEATURES),
    "W_1": (FEATURES, RULE),
    "b_1": (RULE,),
    "W_2": (RULE, FEATURES),
    "W_vocabulary": (FEATURES, VOCABULARY),
}


def given_matrices(xp):
    """Return the inputs and the weights by name, as arrays of the library `xp`."""
    literals = {
        "X": X,
        "E": E,
        "W_Q_1": W_Q_1,
        "W_K_1": W_K_1,
        "W_Q_2": W_Q_2,
        "W_K_2": W_K_2,
        "W_V": W_V,
        "W_O_1": W_O_1,
        "W_O_2": W_O_2,
        "W_1": W_1,
        "b_1": B_1,
        "W_2": W_2,
        "W_vocabulary": W_VOCABULARY,
    }
    return {name: xp.asarray(literal, dtype=xp.float64) for name, literal in literals.items()}


def project(matrices, rows, head):
    """Return the queries, keys and values of head 1 or 2."""
    return (
        rows @ matrices[f"W_Q_{head}"],
        rows @ matrices[f"W_K_{head}"],
        rows @ matrices["W_V"],  # the same for both heads
    )


def swap_nouns(xp, rows):
    """Exchange the first and the third row, which turns the order of `WORDS` into `SWAPPED`."""
    return xp.take(rows, xp.asarray([WORDS.index(word) for word in SWAPPED]), axis=0)


def round_off(xp, array):
    """Round to thirteen decimals, to remove rounding errors where a sum is a whole number."""
    return xp.round(array * 1e13) / 1e13


def steps(xp=numpy):
    """Return the inputs and weights, and the `sizes` and `parameters` of the model.

    The sizes are n, d_model, d_k, d_v, h, h d_k, h d_v, d_ff and the words of the vocabulary.
    """
    matrices = given_matrices(xp)
    n, d_model = matrices["X"].shape
    d_k = matrices["W_Q_1"].shape[1]
    d_v = matrices["W_V"].shape[1]
    d_ff = matrices["W_1"].shape[1]
    vocabulary_size = matrices["W_vocabulary"].shape[1]
    sizes = [n, d_model, d_k, d_v, HEADS, HEADS * d_k, HEADS * d_v, d_ff, vocabulary_size]
    learned = [math.prod(array.shape) for name, array in matrices.items() if name not in ("X", "E")]
    parameters = vocabulary_size * d_model + sum(learned)
    return {**matrices, "sizes": xp.asarray(sizes), "parameters": xp.asarray(parameters)}
