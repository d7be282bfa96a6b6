"""The eighth step of the course: a whole block, after its two heads.

Each part is LayerNorm(x + part(x)). The norms have no learned gain or shift. `before` is what the
maximum of the feed-forward network is given, and `before_without_norm` what it would be given if
the first norm were left out. `they` follows one word: what comes in, after the sum with what
attention adds, after the norm, after the sum with what the feed-forward network adds, and after the
second norm.

>>> show(steps())
added 5 x 7
[[     2      0      0      0 0 0 0]
 [1.2809 0.3595 0.4499      0 0 0 0]
 [0.0884 1.0000 1.7754      0 0 0 0]
 [0.9589 0.6752 0.4970 0.2479 0 0 0]
 [1.8596 0.1847 0.0093 1.6852 0 0 0]]
placed 5 x 7
[[2 0 0 0 0       0       1]
 [0 1 1 0 0  0.8000  0.6000]
 [1 2 0 0 0  0.9600 -0.2800]
 [0 0 0 2 1  0.3520 -0.9360]
 [0 0 0 0 2 -0.5376 -0.8432]]
summed 5 x 7
[[     4      0      0      0 0       0       1]
 [1.2809 1.3595 1.4499      0 0  0.8000  0.6000]
 [1.0884      3 1.7754      0 0  0.9600 -0.2800]
 [0.9589 0.6752 0.4970 2.2479 1  0.3520 -0.9360]
 [1.8596 0.1847 0.0093 1.6852 2 -0.5376 -0.8432]]
mean 5
[0.7143 0.7843 0.9348 0.6850 0.6226]
variance 5
[1.9184 0.3264 1.1742 0.7701 1.2313]
normed 5 x 7
[[2.3723 -0.5157 -0.5157 -0.5157 -0.5157 -0.5157  0.2063]
 [0.8691  1.0068  1.1649 -1.3728 -1.3728  0.0274 -0.3226]
 [0.1417  1.9059  0.7757 -0.8627 -0.8627  0.0232 -1.1211]
 [0.3121 -0.0111 -0.2142  1.7809  0.3589 -0.3795 -1.8471]
 [1.1148 -0.3946 -0.5527  0.9576  1.2413 -1.0455 -1.3209]]
before 5 x 1
[[-2.1749]
 [-6.2492]
 [-5.4464]
 [-0.1891]
 [ 1.5551]]
before_without_norm 5 x 1
[[      1]
 [-1.7191]
 [-1.9116]
 [ 2.2068]
 [ 4.5447]]
hidden 5 x 1
[[     0]
 [     0]
 [     0]
 [     0]
 [1.5551]]
fed 5 x 7
[[0 0      0 0       0 0 0]
 [0 0      0 0       0 0 0]
 [0 0      0 0       0 0 0]
 [0 0      0 0       0 0 0]
 [0 0 3.1102 0 -3.1102 0 0]]
output 5 x 7
[[2.3723 -0.5157 -0.5157 -0.5157 -0.5157 -0.5157  0.2063]
 [0.8691  1.0068  1.1649 -1.3728 -1.3728  0.0274 -0.3226]
 [0.1417  1.9058  0.7757 -0.8627 -0.8627  0.0232 -1.1211]
 [0.3121 -0.0111 -0.2142  1.7809  0.3589 -0.3795 -1.8471]
 [0.7569 -0.2679  1.7363  0.6501 -1.2688 -0.7098 -0.8968]]
they 5 x 7
[[     0       0       0      0       2 -0.5376 -0.8432]
 [1.8596  0.1847  0.0093 1.6852       2 -0.5376 -0.8432]
 [1.1148 -0.3946 -0.5527 0.9576  1.2413 -1.0455 -1.3209]
 [1.1148 -0.3946  2.5575 0.9576 -1.8689 -1.0455 -1.3209]
 [0.7569 -0.2679  1.7363 0.6501 -1.2688 -0.7098 -0.8968]]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.examples.course_heads import steps as heads
from attention_docs.examples.course_sentence import given

TITLE = "A block: sums, norms and a feed-forward network"
SOURCE = "our own"

EPSILON = 1e-5  # keeps the norm of a constant row finite


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    attention = heads(xp)
    return {"added": attention["output"], **block(xp, attention["placed"], attention["output"])}


def block(xp: ModuleType, placed: Array, added: Array) -> dict[str, Array]:
    """Return the steps of a block after its attention, of which `output` is the last but one."""
    summed = placed + added
    mean, variance = moments(xp, summed)
    normed = layer_norm(xp, summed)
    before, hidden, fed = feed_forward(xp, normed)
    output = layer_norm(xp, normed + fed)
    stages = [placed, summed, normed, normed + fed, output]
    return {
        "placed": placed,
        "summed": summed,
        "mean": mean[:, 0],
        "variance": variance[:, 0],
        "normed": normed,
        "before": before,
        "before_without_norm": feed_forward(xp, summed)[0],
        "hidden": hidden,
        "fed": fed,
        "output": output,
        "they": xp.stack([stage[4, :] for stage in stages]),
    }


def feed_forward(xp: ModuleType, rows: Array) -> tuple[Array, Array, Array]:
    """Return the sums, what the maximum leaves of them, and what is added to each row."""
    matrices = given(xp)
    before = rows @ matrices["W_1"] + matrices["b_1"]
    hidden = xp.where(before > 0, before, xp.zeros_like(before))
    return before, hidden, hidden @ matrices["W_2"]


def moments(xp: ModuleType, rows: Array) -> tuple[Array, Array]:
    mean = xp.mean(rows, axis=-1, keepdims=True)
    return mean, xp.mean((rows - mean) ** 2, axis=-1, keepdims=True)


def layer_norm(xp: ModuleType, rows: Array) -> Array:
    """Shift and scale every row to mean 0 and variance 1."""
    mean, variance = moments(xp, rows)
    return (rows - mean) / xp.sqrt(variance + EPSILON)
