"""The eighth step of the course: a whole block, after its two heads.

Each part is LayerNorm(x + part(x)). The norms have no learned gain or shift.

>>> show(computed(steps))
summed 5 x 7
[[     4      2      0      0 0  0.6000  0.8000]
 [1.9393 0.9696 2.2414      0 0       1       0]
 [1.0884 2.0884 3.5507      0 0  0.6000 -0.8000]
 [1.4545 1.4545 0.1960 2.1960 0 -0.2800 -0.9600]
 [1.9611 1.0166 0.0106 1.6687 2 -0.9360 -0.3520]]
mean [1.0571 0.8786 0.9325 0.5801 0.7670]
variance [1.8824 0.7602 1.8667 1.1051 1.2209]
normed 5 x 7
[[2.1449 0.6872 -0.7705 -0.7705 -0.7705 -0.3332 -0.1874]
 [1.2165 0.1044  1.5630 -1.0077 -1.0077  0.1392 -1.0077]
 [0.1141 0.8460  1.9163 -0.6825 -0.6825 -0.2434 -1.2681]
 [0.8317 0.8317 -0.3654  1.5371 -0.5518 -0.8182 -1.4650]
 [1.0807 0.2259 -0.6846  0.8161  1.1159 -1.5413 -1.0127]]
before [[-5.0820] [-6.0309] [-4.7301] [-2.1185] [2.1638]]
hidden [[0] [0] [0] [0] [2.1638]]
fed [[0 0 0 0 0 0 0] [0 0 0 0 0 0 0] [0 0 0 0 0 0 0] [0 0 0 0 0 0 0] [0 0 2.1638 0 -2.1638 0 0]]
output 5 x 7
[[2.1449 0.6872 -0.7705 -0.7705 -0.7705 -0.3332 -0.1874]
 [1.2165 0.1044  1.5630 -1.0077 -1.0077  0.1392 -1.0077]
 [0.1141 0.8460  1.9163 -0.6825 -0.6825 -0.2434 -1.2681]
 [0.8317 0.8317 -0.3654  1.5371 -0.5518 -0.8182 -1.4650]
 [0.9766 0.2042  1.3367  0.7375 -0.9469 -1.3928 -0.9152]]
they 5 x 7
[[     0      0       0      0       2 -0.9360 -0.3520]
 [1.9611 1.0166  0.0106 1.6687       2 -0.9360 -0.3520]
 [1.0807 0.2259 -0.6846 0.8161  1.1159 -1.5413 -1.0127]
 [1.0807 0.2259  1.4792 0.8161 -1.0479 -1.5413 -1.0127]
 [0.9766 0.2042  1.3367 0.7375 -0.9469 -1.3928 -0.9152]]
"""

from typing import NamedTuple

import numpy

from attention_docs.arrays import Array
from attention_docs.examples import course_heads
from attention_docs.examples.course_sentence import FEATURES, RULE, THEY, WORDS, given_matrices

TITLE = "A block: sums, norms and a feed-forward network"
SOURCE = "our own example"

EPSILON = 1e-5  # keeps the norm of a constant row finite
STAGES = ["word and place", "+ attention", "norm", "+ feed-forward", "norm"]
LABELS = {
    "added with_positions summed normed fed output": (WORDS, FEATURES),
    "mean variance": (WORDS,),
    "before hidden": (WORDS, RULE),
    "they": (STAGES, FEATURES),
}


class FeedForward(NamedTuple):
    """The input and the output of the ReLU, and the output of the whole network, for each row."""

    relu_input: Array
    hidden: Array
    output: Array


def steps(xp=numpy):
    """Return the output of both heads, `added`, and the steps of the block around them."""
    attention = course_heads.steps(xp)
    return {
        "added": attention["output"],
        **block(xp, attention["with_positions"], attention["output"]),
    }


def block(xp, with_positions, attention_output):
    """Add attention and a feed-forward network to the input, with a norm after each sum.

    Returns the steps by name: `before` and `hidden` are the input and the output of the ReLU,
    `fed` is the output of the network, and `they` has the row of "they" after each of STAGES.
    """
    summed = with_positions + attention_output
    mean, variance = mean_and_variance(xp, summed)
    normed = layer_norm(xp, summed)
    network = feed_forward(xp, normed)
    summed_again = normed + network.output
    output = layer_norm(xp, summed_again)
    stages = [with_positions, summed, normed, summed_again, output]
    return {
        "with_positions": with_positions,
        "summed": summed,
        "mean": mean[:, 0],
        "variance": variance[:, 0],
        "normed": normed,
        "before": network.relu_input,
        "hidden": network.hidden,
        "fed": network.output,
        "output": output,
        "they": xp.stack([stage[THEY, :] for stage in stages]),
    }


def feed_forward(xp, rows):
    """Apply the feed-forward network, ReLU(rows W_1 + b_1) W_2, to each row."""
    matrices = given_matrices(xp)
    relu_input = rows @ matrices["W_1"] + matrices["b_1"]
    hidden = xp.where(relu_input > 0, relu_input, xp.zeros_like(relu_input))
    return FeedForward(relu_input, hidden, hidden @ matrices["W_2"])


def mean_and_variance(xp, rows):
    """Return the mean and the variance of each row, (n, 1) each."""
    mean = xp.mean(rows, axis=-1, keepdims=True)
    return mean, xp.mean((rows - mean) ** 2, axis=-1, keepdims=True)


def layer_norm(xp, rows):
    """Shift and scale every row to mean 0 and variance 1."""
    mean, variance = mean_and_variance(xp, rows)
    return (rows - mean) / xp.sqrt(variance + EPSILON)
