"""The fourth step of the course: the whole of attention as one formula.

`exponentials` and `sums` lie between the scaled scores and the weights.

>>> show(steps())
X 5 x 7
[[2 0 0 0 0 0 0]
 [0 1 1 0 0 0 0]
 [1 2 0 0 0 0 0]
 [0 0 0 2 1 0 0]
 [0 0 0 0 2 0 0]]
Q 5 x 3
[[0 0 2]
 [2 1 1]
 [0 0 3]
 [2 0 2]
 [4 0 0]]
K 5 x 3
[[2 0 0]
 [0 1 2]
 [1 2 0]
 [0 0 0]
 [0 0 0]]
V 5 x 4
[[2 0 0 0]
 [0 1 1 0]
 [1 2 0 0]
 [0 0 0 2]
 [0 0 0 0]]
scores 5 x 5
[[0 4 0 0 0]
 [4 3 4 0 0]
 [0 6 0 0 0]
 [4 4 2 0 0]
 [8 0 4 0 0]]
scaled 5 x 5
[[     0 2.3094      0 0 0]
 [2.3094 1.7321 2.3094 0 0]
 [     0 3.4641      0 0 0]
 [2.3094 2.3094 1.1547 0 0]
 [4.6188      0 2.3094 0 0]]
exponentials 5 x 5
[[       1 10.0684       1 1 1]
 [ 10.0684  5.6522 10.0684 1 1]
 [       1 31.9477       1 1 1]
 [ 10.0684 10.0684  3.1731 1 1]
 [101.3725       1 10.0684 1 1]]
sums 5
[14.0684 27.7890 35.9477 25.3099 114.4409]
weights 5 x 5
[[0.0711 0.7157 0.0711 0.0711 0.0711]
 [0.3623 0.2034 0.3623 0.0360 0.0360]
 [0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.3978 0.3978 0.1254 0.0395 0.0395]
 [0.8858 0.0087 0.0880 0.0087 0.0087]]
output 5 x 4
[[0.2132 0.8578 0.7157 0.1422]
 [1.0869 0.9280 0.2034 0.0720]
 [0.0835 0.9444 0.8887 0.0556]
 [0.9210 0.6485 0.3978 0.0790]
 [1.8596 0.1847 0.0087 0.0175]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps
from attention_docs.examples.course_sentence import given

TITLE = "Attention over the sentence"
SOURCE = "our own"


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    matrices = given(xp)
    x, w_q, w_k, w_v = (matrices[name] for name in ("X", "W_Q_1", "W_K_1", "W_V"))
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    attention = attention_steps(q, k, v)
    exponentials = xp.exp(attention.scaled)
    return {
        "X": x,
        "Q": q,
        "K": k,
        "V": v,
        "scores": attention.scores,
        "scaled": attention.scaled,
        "exponentials": exponentials,
        "sums": xp.sum(exponentials, axis=1),
        "weights": attention.weights,
        "output": attention.output,
    }
