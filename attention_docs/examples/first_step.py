"""The loss of one prediction, its gradient, and the first step of Adam.

B is the output of a model at one position. B W_vocabulary gives the logits of four tokens, and the
second, seaplane, is the right one. The loss is -log p of that token. In its first step, Adam
divides each derivative by its own absolute value, so every weight changes by the learning rate,
1/100, however large or small its derivative is.

>>> show(computed(steps))
logits [[1.5000 0 -2 1.5000]]
p [[0.4438 0.0990 0.0134 0.4438]]
loss 2.3124
d_logits [[0.4438 -0.9010 0.0134 0.4438]]
dW_vocabulary 3 x 4
[[ 0.8876 -1.8020  0.0268  0.8876]
 [-0.4438  0.9010 -0.0134 -0.4438]
 [ 0.2219 -0.4505  0.0067  0.2219]]
mean 3 x 4
[[ 0.0888 -0.1802  0.0027  0.0888]
 [-0.0444  0.0901 -0.0013 -0.0444]
 [ 0.0222 -0.0450  0.0007  0.0222]]
square 3 x 4
[[0.0158 0.0649 1.4e-05 0.0158]
 [0.0039 0.0162 3.6e-06 0.0039]
 [0.0010 0.0041 9.0e-07 0.0010]]
step 3 x 4
[[-0.0100  0.0100 -0.0100 -0.0100]
 [ 0.0100 -0.0100  0.0100  0.0100]
 [-0.0100  0.0100 -0.0100 -0.0100]]
loss_after 2.2496
"""

import numpy

from attention_docs.learning import Adam, cross_entropy
from attention_docs.softmax import softmax

TITLE = "Cross-entropy and the first step of Adam"
SOURCE = "our own example; Kingma and Ba 2015"

B = [[2, -1, 0.5]]
W_VOCABULARY = [[1, 0.5, -1, 0], [0, 1, 0.5, -0.5], [-1, 0, 1, 2]]
ANSWER = [[0, 1, 0, 0]]
RATE = 1 / 100

FEATURES = ["air", "water", "size"]
TOKENS = ["gull", "seaplane", "whale", "truck"]
LABELS = {
    "B": ([], FEATURES),
    "W_vocabulary dW_vocabulary": (FEATURES, TOKENS),
    "logits p y d_logits": ([], TOKENS),
}


def steps(xp=numpy):
    """Return the loss, its gradient, one step of Adam, and its averages `mean` and `square`."""
    b, w, y = (xp.asarray(matrix, dtype=xp.float64) for matrix in (B, W_VOCABULARY, ANSWER))
    loss, d_logits = cross_entropy(b @ w, y)
    dw = xp.matrix_transpose(b) @ d_logits
    adam = Adam(RATE)
    w_after = adam.step({"W": w}, {"W": dw})["W"]
    loss_after, _ = cross_entropy(b @ w_after, y)
    return {
        "B": b,
        "W_vocabulary": w,
        "logits": b @ w,
        "p": softmax(b @ w),
        "y": y,
        "loss": loss,
        "d_logits": d_logits,
        "dW_vocabulary": dw,
        "mean": adam.mean["W"],
        "square": adam.square["W"],
        "step": w_after - w,
        "loss_after": loss_after,
    }
