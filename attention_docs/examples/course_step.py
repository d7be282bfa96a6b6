"""One step of training on one sentence: the gradient of W_vocabulary, and what the step changes.

The model is the one with matrices set by hand, and the sentence is "birds pass boats because they".
`Y` has a one at the index of each next word, so the gradient of the logits, `d_logits`, is
(probabilities - Y) divided by the five rows. `gradient` is the gradient of W_vocabulary, and the
step is -rate * gradient.

`fly` is the probability of "fly" after "they", before and after the step. `swapped` is the loss of
"boats pass birds because they sail", which the step was not computed from, before and after the
same step.

The other steps that begin with `d_` follow the loss of "they" alone back to W_Q of head 1, of which
`d_W_Q` has the row "refers".

>>> show(computed(steps))
d_logits 5 x 9
[[4.1e-05 -0.0310  0.0139 3.4e-06  0.0003 3.4e-06 4.3e-08 1.6e-05 0.0168]
 [ 0.0018 6.9e-06 -0.0464  0.0321 3.1e-05  0.0025  0.0001  0.0001 0.0099]
 [ 0.0302 3.3e-06  0.0016 -0.0572 4.5e-05  0.0011  0.0100  0.0002 0.0141]
 [2.0e-06  0.0095 2.0e-06 7.2e-08 -0.0490  0.0042  0.0042  0.0001 0.0310]
 [1.5e-05 9.3e-06  0.0003  0.0001  0.0051 -0.0476  0.0150  0.0001 0.0270]]
gradient 7 x 9
[[ 0.0057 -0.0585 -0.0262  0.0326 -0.0351 -0.0399  0.0194  0.0003  0.1017]
 [ 0.0257 -0.0133  0.0061 -0.0450 -0.0395 -0.0051  0.0150  0.0003  0.0558]
 [ 0.0606  0.0204 -0.0797 -0.0593  0.0246 -0.0592  0.0378  0.0007  0.0542]
 [-0.0224  0.0385  0.0352  0.0068 -0.0718 -0.0320  0.0106 -0.0001  0.0352]
 [-0.0224  0.0186  0.0347  0.0066  0.0219  0.0396 -0.0234 -0.0004 -0.0751]
 [-0.0071  0.0025 -0.0120  0.0183  0.0329  0.0630 -0.0267 -0.0002 -0.0706]
 [-0.0401 -0.0082  0.0418  0.0401  0.0670  0.0336 -0.0325 -0.0006 -0.1011]]
column 7 x 3
[[ 0  0.0200  0.0200]
 [-3  0.0025 -2.9975]
 [ 2  0.0296  2.0296]
 [ 3  0.0160  3.0160]
 [-2 -0.0198 -2.0198]
 [ 0 -0.0315 -0.0315]
 [ 0 -0.0168 -0.0168]]
loss 0.2644
loss_after 0.2181
expected -0.0517
fly [0.7618 0.8108]
swapped [0.2644 0.2551]
d_summed [[0.2335 0.8864 -0.0906 -0.3329 -0.4808 -0.1420 -0.0737]]
d_head_1 [[0.2335 0.8864 -0.0906 -0.3329]]
d_weights [[1.3534 -0.1812 2.0064 -0.6657 0]]
d_scaled [[-0.0043 -0.0074 0.0156 -0.0011 -0.0029]]
d_scores [[-0.0025 -0.0042 0.0090 -0.0006 -0.0017]]
d_query [[0.0195 -0.0085 -0.0161]]
d_W_Q [[0.0391 -0.0170 -0.0321]]
"""

import numpy

from attention_docs.backward import attention_backward
from attention_docs.examples import course_heads
from attention_docs.examples import course_sentence as course
from attention_docs.examples.course_block import feed_forward
from attention_docs.examples.course_next_token import FLY, multi_head_output, predict
from attention_docs.learning import cross_entropy
from attention_docs.softmax import softmax
from attention_docs.transformer_block import norm, norm_backward

TITLE = "One step of training"
SOURCE = "our own example"

Y = [
    [0, 1, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 1, 0, 0, 0],
]
RATE = [0.5]
REFERS = course.FEATURES.index("refers")
EXCHANGED = {"birds": "boats", "boats": "birds", "fly": "sail", "sail": "fly"}
LABELS = {
    "output": (course.WORDS, course.FEATURES),
    "probabilities Y d_logits": (course.WORDS, course.VOCABULARY),
    "gradient": (course.FEATURES, course.VOCABULARY),
    "column": (course.FEATURES, ["before", "step", "after"]),
    "fly swapped": (["before", "after"],),
    "d_summed": (["they"], course.FEATURES),
    "d_head_1": (["they"], course.VALUE_FEATURES),
    "d_weights d_scaled d_scores": (["they"], course.WORDS),
    "K": (course.WORDS, course.KEY_FEATURES),
    "V": (course.WORDS, course.VALUE_FEATURES),
    "d_query": (["they"], course.KEY_FEATURES),
    "d_W_Q": (["refers"], course.KEY_FEATURES),
}


def steps(xp=numpy):
    """Change W_vocabulary by one step of gradient descent, and compare losses before and after.

    `expected` is the change of the loss to first order. `column` is the column of "fly" in
    W_vocabulary before the step, in the step, and after it.
    """
    w_before = course.given_matrices(xp)["W_vocabulary"]
    y = xp.asarray(Y, dtype=xp.float64)
    rate = xp.asarray(RATE)
    attention = course_heads.steps(xp)
    prediction = predict(xp, attention["with_positions"], attention["output"])
    output = prediction.block_output
    loss, d_logits = cross_entropy(prediction.logits, y)
    gradient = xp.matrix_transpose(output) @ d_logits
    step = -rate * gradient
    w_after = w_before + step
    loss_after, _ = cross_entropy(output @ w_after, y)
    return {
        "output": output,
        "probabilities": prediction.probabilities,
        "Y": y,
        "d_logits": d_logits,
        "gradient": gradient,
        "rate": rate,
        "column": xp.stack([matrix[:, FLY] for matrix in (w_before, step, w_after)], axis=1),
        "loss": loss,
        "loss_after": loss_after,
        "expected": -rate[0] * xp.sum(gradient**2),
        "fly": xp.stack([softmax(output @ w)[course.THEY, FLY] for w in (w_before, w_after)]),
        "swapped": xp.stack([loss_swapped(xp, y, w) for w in (w_before, w_after)]),
        **query_gradients(xp, attention, prediction.probabilities - y),
    }


def query_gradients(xp, attention, d_logits):
    """Follow the loss of "they" alone, of which `d_logits` has the slopes, back to W_Q."""
    matrices = course.given_matrices(xp)
    transpose = xp.matrix_transpose
    they = slice(course.THEY, course.THEY + 1)
    rows = attention["with_positions"]
    attended = norm((rows + attention["output"])[they, :])
    network = feed_forward(xp, attended.rows)
    output = norm(attended.rows + network.output)
    d_fed = norm_backward(d_logits[they, :] @ transpose(matrices["W_vocabulary"]), output)
    d_hidden = xp.where(network.hidden > 0, d_fed @ transpose(matrices["W_2"]), 0 * network.hidden)
    d_summed = norm_backward(d_fed + d_hidden @ transpose(matrices["W_1"]), attended)
    d_head_1 = d_summed @ transpose(matrices["W_O_1"])
    queries, keys, values = course.project(matrices, rows, head=1)
    gradients = attention_backward(d_head_1, queries[they, :], keys, values)
    return {
        "K": keys,
        "V": values,
        "d_summed": d_summed,
        "d_head_1": d_head_1,
        "d_weights": gradients.weights,
        "d_scaled": gradients.scaled,
        "d_scores": gradients.scores,
        "d_query": gradients.query,
        "d_W_Q": rows[they, REFERS] * gradients.query,
    }


def loss_swapped(xp, y, w_vocabulary):
    """Return the loss of "boats pass birds because they sail".

    `y` has the next words of "birds pass boats because they fly", one-hot, (5, 9).
    """
    matrices = course.given_matrices(xp)
    with_positions = course.swap_nouns(xp, matrices["X"]) + matrices["E"]
    attention_output = multi_head_output(xp, with_positions)
    output = predict(xp, with_positions, attention_output).block_output
    # Where birds, boats or fly came next, now boats, birds or sail do: the columns are exchanged.
    columns = [course.VOCABULARY.index(EXCHANGED.get(word, word)) for word in course.VOCABULARY]
    next_words = xp.take(y, xp.asarray(columns), axis=1)
    loss, _ = cross_entropy(output @ w_vocabulary, next_words)
    return loss
