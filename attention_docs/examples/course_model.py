"""The course in one example: the sentence on its way through the model, page by page.

The steps from `with_positions` to `scaled` belong to head 1 of the complete model.

`they_outputs` has the output of head 1 for "they" as four pages of the course compute it: with
queries and keys only, with the scale, with positions, and with the mask. `logits` and `next_words`
are the logits and probabilities of the next word if head 1 gives this output, and everything else,
head 2 included, is complete.

>>> show(computed(steps))
scaled 5 x 5
[[     0 3.4641      0       0       0]
 [3.4641      0 3.4641       0       0]
 [     0 3.4641      0       0       0]
 [3.4641      0 3.4641       0       0]
 [5.3116      0 1.6166 -2.2170 -0.8129]]
they_outputs 4 x 4
[[1.4944 1.4944 0.0025 0.0025]
 [1.4327 1.4327 0.0299 0.0299]
 [1.9611 1.0166 0.0096 0.0010]
 [1.9611 1.0166 0.0096 0.0010]]
logits 4 x 9
[[-1.4314 -3.7518 -1.4314 -1.2729 2.8425 5.1970 5.1970 -1.1972 4.5212]
 [-1.2776 -4.2602 -1.2776 -1.0726 2.8910 5.6186 5.6186 -1.0856 4.3789]
 [-3.0441 -3.5424  0.0455 -1.2769 2.7695 6.1670 3.8498 -1.1807 4.4356]
 [-3.0441 -3.5424  0.0455 -1.2769 2.7695 6.1670 3.8498 -1.1807 4.4356]]
next_words 4 x 9
[[0.0005 5.0e-05 0.0005 0.0006 0.0364 0.3832 0.3832 0.0006 0.1949]
 [0.0004 2.2e-05 0.0004 0.0005 0.0277 0.4238 0.4238 0.0005 0.1227]
 [0.0001 4.6e-05 0.0017 0.0004 0.0255 0.7618 0.0751 0.0005 0.1349]
 [0.0001 4.6e-05 0.0017 0.0004 0.0255 0.7618 0.0751 0.0005 0.1349]]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples import course_sentence as course
from attention_docs.examples.course_block import feed_forward, layer_norm
from attention_docs.softmax import softmax

TITLE = "The sentence on its way through the model"
SOURCE = "our own example"

PAGES = ["query and key", "and scale", "and positions", "and mask"]
LABELS = {
    "with_positions": (course.WORDS, course.FEATURES),
    "Q K": (course.WORDS, course.KEY_FEATURES),
    "V": (course.WORDS, course.VALUE_FEATURES),
    "scaled": (course.WORDS, course.WORDS),
    "they_outputs": (PAGES, course.VALUE_FEATURES),
    "logits next_words": (PAGES, course.VOCABULARY),
}


def steps(xp=numpy):
    """Return the steps of head 1, and the next word that the model predicts on each of PAGES."""
    matrices = course.given_matrices(xp)
    with_positions = matrices["X"] + matrices["E"]
    q, k, v = course.project(matrices, with_positions, head=1)
    head_1 = attention_steps(q, k, v, is_causal=True)
    head_2 = attention_steps(*course.project(matrices, with_positions, head=2), is_causal=True)
    without_positions = course.project(matrices, matrices["X"], head=1)
    outputs = [
        attention_steps(*without_positions, scale=1.0).output,
        attention_steps(*without_positions).output,
        attention_steps(q, k, v).output,
        head_1.output,
    ]
    they_outputs = xp.stack([output[course.THEY, :] for output in outputs])
    # Both have one row, which broadcasts to the four rows of `they_outputs`.
    they_head_2 = head_2.output[course.THEY : course.THEY + 1, :]
    they_with_position = with_positions[course.THEY : course.THEY + 1, :]
    attention_output = they_outputs @ matrices["W_O_1"] + they_head_2 @ matrices["W_O_2"]
    normed = layer_norm(xp, they_with_position + attention_output)
    block_output = layer_norm(xp, normed + feed_forward(xp, normed).output)
    logits = block_output @ matrices["W_vocabulary"]
    return {
        "with_positions": with_positions,
        "Q": q,
        "K": k,
        "V": v,
        "scaled": head_1.scaled,
        "they_outputs": they_outputs,
        "logits": logits,
        "next_words": softmax(logits),
    }
