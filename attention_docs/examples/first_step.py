"""The loss of one answer, its gradient, and the first step of Adam.

A row h of three features times W_U gives the logits of four tokens, and the second, seaplane, is
the right one. The loss is -log p of that token. Adam divides each derivative by its own size, so in
its first step every weight changes by the learning rate, 1/100, however large or small its
derivative.
`second_step` is the change in the step after it.

>>> show(steps())
h 1 x 3
[[2 -1 0.5000]]
W_U 3 x 4
[[ 1 0.5000     -1       0]
 [ 0      1 0.5000 -0.5000]
 [-1      0      1       2]]
logits 1 x 4
[[1.5000 0 -2 1.5000]]
p 1 x 4
[[0.4438 0.0990 0.0134 0.4438]]
y 1 x 4
[[0 1 0 0]]
loss number
2.3124
d_logits 1 x 4
[[0.4438 -0.9010 0.0134 0.4438]]
dW_U 3 x 4
[[ 0.8876 -1.8020  0.0268  0.8876]
 [-0.4438  0.9010 -0.0134 -0.4438]
 [ 0.2219 -0.4505  0.0067  0.2219]]
dh 1 x 3
[[-0.0201 -1.1162 0.4572]]
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
W_U_after 3 x 4
[[ 0.9900 0.5100 -1.0100 -0.0100]
 [ 0.0100 0.9900  0.5100 -0.4900]
 [-1.0100 0.0100  0.9900  1.9900]]
loss_after number
2.2496
second_step 3 x 4
[[-0.0100  0.0100 -0.0100 -0.0100]
 [ 0.0100 -0.0100  0.0100  0.0100]
 [-0.0100  0.0100 -0.0100 -0.0100]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.learning import Adam, cross_entropy
from attention_docs.softmax import softmax

TITLE = "Cross-entropy and the first step of Adam"
SOURCE = "our own example; Kingma and Ba 2015"

H = [[2, -1, 0.5]]
W_U = [[1, 0.5, -1, 0], [0, 1, 0.5, -0.5], [-1, 0, 1, 2]]
ANSWER = [[0, 1, 0, 0]]
RATE = 1 / 100

FEATURES = ["air", "water", "size"]
TOKENS = ["gull", "seaplane", "whale", "truck"]
LABELS = {
    "h": ([], FEATURES),
    "W_U": (FEATURES, TOKENS),
    **dict.fromkeys(("logits", "p", "y", "d_logits"), ([], TOKENS)),
    "dW_U": (FEATURES, TOKENS),
}


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    h, w, y = (xp.asarray(matrix, dtype=xp.float64) for matrix in (H, W_U, ANSWER))
    transpose = xp.matrix_transpose
    loss, d_logits = cross_entropy(h @ w, y)
    dw = transpose(h) @ d_logits
    adam = Adam(RATE)
    after = adam.step({"W_U": w}, {"W_U": dw})["W_U"]
    mean, square = adam.mean["W_U"], adam.square["W_U"]
    loss_after, d_logits_after = cross_entropy(h @ after, y)
    second = adam.step({"W_U": after}, {"W_U": transpose(h) @ d_logits_after})["W_U"]
    return {
        "h": h,
        "W_U": w,
        "logits": h @ w,
        "p": softmax(h @ w),
        "y": y,
        "loss": loss,
        "d_logits": d_logits,
        "dW_U": dw,
        "dh": d_logits @ transpose(w),
        "mean": mean,
        "square": square,
        "step": after - w,
        "W_U_after": after,
        "loss_after": loss_after,
        "second_step": second - after,
    }
