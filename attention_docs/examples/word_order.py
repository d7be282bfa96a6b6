"""Cross-attention as word alignment: a Japanese sentence attends to an English one.

English, the keys: “I eat apples today”. Japanese, the queries: “kyou ringo-o taberu” (today,
apples, eat): the subject is dropped and the verb comes last. The embeddings are set by hand. Their
features stand for person, action, thing and time, and a little of other meanings is mixed in. W_Q
and W_K multiply all features by the same factor, so matching meanings score highest. (In a trained
model, embeddings and matrices are learned.) `aligned` is the index of the key with the largest
weight for each query.

>>> show(computed(steps))
W_Q [[3 0 0 0] [0 3 0 0] [0 0 3 0] [0 0 0 3]]
W_K [[3 0 0 0] [0 3 0 0] [0 0 3 0] [0 0 0 3]]
Q [[0 0.3000 0 3] [0.3000 0.6000 3 0] [0.6000 3 0.9000 0]]
K [[3 0.3000 0 0] [0.9000 3 0.6000 0] [0 0.6000 3 0.3000] [0 0 0.3000 3]]
scores [[0.0900 0.9000 1.0800 9] [1.0800 3.8700 9.3600 0.9000] [2.7000 10.0800 4.5000 0.2700]]
scaled [[0.0450 0.4500 0.5400 4.5000] [0.5400 1.9350 4.6800 0.4500] [1.3500 5.0400 2.2500 0.1350]]
weights [[0.0111 0.0166 0.0182 0.9541] [0.0145 0.0587 0.9135 0.0133] [0.0228 0.9142 0.0562 0.0068]]
aligned [3 2 1]
output [[0.0161 0.0214 0.1169 0.9559] [0.0322 0.2428 0.9265 0.1046] [0.2971 0.9278 0.2397 0.0124]]
"""

import numpy

from attention_docs.dot_product import attention_steps

TITLE = "Word order, an English-Japanese alignment"
SOURCE = "002_d7461449c953e4ff.txt, “Self-Attention vs Cross-Attention”"

X_japanese = [[0, 0.1, 0, 1], [0.1, 0.2, 1, 0], [0.2, 1, 0.3, 0]]
X_english = [[1, 0.1, 0, 0], [0.3, 1, 0.2, 0], [0, 0.2, 1, 0.1], [0, 0, 0.1, 1]]
STRETCH = 3.0


def steps(xp=numpy):
    """Return the steps of attention, with Japanese queries and English keys and values.

    The values are the English embeddings themselves.
    """
    japanese = xp.asarray(X_japanese, dtype=xp.float64)
    english = xp.asarray(X_english, dtype=xp.float64)
    w = STRETCH * xp.eye(english.shape[1], dtype=xp.float64)
    attention = attention_steps(japanese @ w, english @ w, english)
    return {
        "X_japanese": japanese,
        "X_english": english,
        "W_Q": w,
        "W_K": w,
        "Q": japanese @ w,
        "K": english @ w,
        "V": english,
        "scores": attention.scores,
        "scaled": attention.scaled,
        "weights": attention.weights,
        "aligned": xp.argmax(attention.weights, axis=1),
        "output": attention.output,
    }
