"""Another sentence with the weights of the course, for the page of questions.

"ships pass geese because they ..." has two new nouns. As in the course, `dots` compares the words
themselves, and `Q`, `K` and `V` belong to head 1, without positions. `weights` are scaled, and not
masked yet. `removed` is the weight that each word gives to later words, which the causal mask
hides. `slope` is the derivative of the weight of "pass" on "geese" with respect to its scaled
score.

With positions, "ships" has the key `key_with_positions`, and the score of "they" with it is
`score_with_positions`. `probabilities` are the output of the complete model. `next_token` is an
index in the vocabulary, and `loss` is -log p of "sail". `reasons` is what each feature adds to the
difference between the scores of "they" on "ships" and on "geese". `summed` is the row of "they"
after the residual sum, and `times_as_likely` compares "sail" with the full stop at temperatures.

`mistakes` has likely wrong answers: the weight without the root and without exponentials, one minus
the weight, the score with the height of the hand once, and the loss to base ten and without minus.

>>> show(computed(steps))
dots [[9 0 3 0 0] [0 4 0 0 0] [3 0 10 0 0] [0 0 0 4 0] [0 0 0 0 4]]
Q [[0 3 0] [2 0 0] [0 4 0] [2 0 0] [2 0 2]]
K [[3 0 0] [0 2 0] [4 0 0] [0 0 0] [0 0 0]]
V [[0 3 0 0] [0 0 2 0] [3 1 0 0] [0 0 0 2] [0 0 0 0]]
scores [[0 6 0 0 0] [6 0 8 0 0] [0 8 0 0 0] [6 0 8 0 0] [6 0 8 0 0]]
scaled 5 x 5
[[     0 3.4641      0 0 0]
 [3.4641      0 4.6188 0 0]
 [     0 4.6188      0 0 0]
 [3.4641      0 4.6188 0 0]
 [3.4641      0 4.6188 0 0]]
weights 5 x 5
[[0.0278 0.8887 0.0278 0.0278 0.0278]
 [0.2344 0.0073 0.7436 0.0073 0.0073]
 [0.0095 0.9620 0.0095 0.0095 0.0095]
 [0.2344 0.0073 0.7436 0.0073 0.0073]
 [0.2344 0.0073 0.7436 0.0073 0.0073]]
output 5 x 4
[[0.0835 0.1113 1.7775 0.0556]
 [2.2309 1.4467 0.0147 0.0147]
 [0.0285 0.0380 1.9241 0.0190]
 [2.2309 1.4467 0.0147 0.0147]
 [2.2309 1.4467 0.0147 0.0147]]
removed [0.9722 0.7583 0.0190 0.0073 0]
slope 0.1906
key_with_positions [3 0 1.6000]
score_with_positions 9.2000
reasons [-2 0 6.4000]
summed [0.2177 2.8337 0.0101 1.6687 2 -0.9360 -0.3520]
probabilities 5 x 9
[[ 0.8832  0.0941 6.9e-06  0.0001  0.0012 1.8e-07 0.0012 0.0002 0.0199]
 [ 0.9687 1.5e-05 3.5e-05  0.0097 4.8e-05 8.2e-06 0.0174 0.0001 0.0039]
 [ 0.0027  0.0001  0.4835  0.3291  0.0004  0.0572 0.0012 0.0011 0.1249]
 [6.1e-06  0.1432  0.0001 6.1e-07  0.5415  0.0207 0.0027 0.0003 0.2915]
 [ 0.0106  0.0003 3.1e-06  0.0003  0.0144  0.0020 0.8973 0.0004 0.0747]]
times_as_likely [12.0055 3.4649]
loss 0.1084
mistakes [0.8800 0.5714 0.2564 7.6000 0.0471 -0.1084]
"""

import numpy

from attention_docs.dot_product import attention_steps
from attention_docs.examples import course_sentence as course
from attention_docs.examples.course_next_token import SAIL, multi_head_output, predict
from attention_docs.examples.course_scale import slope
from attention_docs.masks import causal_mask
from attention_docs.softmax import softmax

TITLE = "Another sentence, to test oneself"
SOURCE = "our own example"

WORDS = ["ships", "pass", "geese", "because", "they"]
SHIPS, PASS, GEESE, THEY = (WORDS.index(word) for word in ("ships", "pass", "geese", "they"))
X = [
    [0, 3, 0, 0, 0, 0, 0],
    [0, 0, 2, 0, 0, 0, 0],
    [3, 1, 0, 0, 0, 0, 0],
    [0, 0, 0, 2, 0, 0, 0],
    [0, 0, 0, 0, 2, 0, 0],
]
LABELS = {
    "X": (WORDS, course.FEATURES),
    "dots scores scaled weights": (WORDS, WORDS),
    "Q K": (WORDS, course.KEY_FEATURES),
    "V output": (WORDS, course.VALUE_FEATURES),
    "removed": (WORDS,),
    "key_with_positions reasons": (course.KEY_FEATURES,),
    "summed": (course.FEATURES,),
    "times_as_likely": (["temperature 1", "temperature 2"],),
    "probabilities": (WORDS, course.VOCABULARY),
}


def steps(xp=numpy):
    """Return head 1 of another sentence without positions, and what the complete model predicts."""
    matrices = course.given_matrices(xp)
    x = xp.asarray(X, dtype=xp.float64)
    q, k, v = course.project(matrices, x, head=1)
    attention = attention_steps(q, k, v)
    is_later = ~causal_mask(x.shape[0], xp=xp)
    with_positions = x + matrices["E"]
    attention_output = multi_head_output(xp, with_positions)
    probabilities = predict(xp, with_positions, attention_output).probabilities
    logits = xp.log(probabilities[THEY, :])  # up to a constant, which a softmax ignores
    tempered = xp.stack([softmax(logits / temperature) for temperature in (1, 2)], axis=1)
    they_query = with_positions[THEY, :] @ matrices["W_Q_1"]
    ships_key = with_positions[SHIPS, :] @ matrices["W_K_1"]
    geese_key = with_positions[GEESE, :] @ matrices["W_K_1"]
    pass_scores = attention.scores[PASS, :]
    mistakes = [
        softmax(pass_scores)[GEESE],
        pass_scores[GEESE] / xp.sum(pass_scores),
        1 - attention.weights[PASS, GEESE],
        they_query[0] * ships_key[0] + they_query[2] * with_positions[SHIPS, 6],
        -xp.log(probabilities[THEY, SAIL]) / xp.log(xp.asarray(10.0)),
        xp.log(probabilities[THEY, SAIL]),
    ]
    return {
        "X": x,
        "dots": x @ x.T,
        "Q": q,
        "K": k,
        "V": v,
        "scores": attention.scores,
        "scaled": attention.scaled,
        "weights": attention.weights,
        "output": attention.output,
        "removed": xp.sum(xp.where(is_later, attention.weights, xp.asarray(0.0)), axis=1),
        "slope": slope(attention.weights[PASS, GEESE]),
        "key_with_positions": ships_key,
        "score_with_positions": they_query @ ships_key,
        "reasons": they_query * (ships_key - geese_key),
        "summed": (with_positions + attention_output)[THEY, :],
        "probabilities": probabilities,
        "times_as_likely": tempered[SAIL, :] / tempered[-1, :],
        "loss": -xp.log(probabilities[THEY, SAIL]),
        "next_token": xp.argmax(probabilities[THEY, :]),
        "mistakes": xp.stack(mistakes),
    }
