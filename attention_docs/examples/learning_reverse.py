"""One layer with one head learns to reverse a sequence.

Sequences of 6 tokens out of 7 are drawn at random, 32 for each step of Adam. The task is to predict
at each position the token at the mirrored position. Loss and percentage of right predictions are
measured on 256 test sequences, at the steps 0, 10, ..., 100. The weights belong to one of these
sequences, after the number of steps in their name. `position_scores` are the scores of the
positions alone, W_P W_Q (W_P W_K)^T / sqrt(d_k), after 100 steps.

Training always uses NumPy, whatever library the steps are requested in.

>>> show(computed(steps))
step [0 10 20 30 40 50 60 70 80 90 100]
loss [2.0278 1.8891 1.7587 1.5043 0.9256 0.2740 0.0186 0.0027 0.0011 0.0006 0.0005]
accuracy [13 23 34 46 69 96 100 100 100 100 100]
tokens [0 5 0 6 3 2]
weights_0 6 x 6
[[0.1624 0.1664 0.1694 0.1715 0.1711 0.1593]
 [0.1776 0.1742 0.1540 0.1588 0.1664 0.1691]
 [0.1671 0.1613 0.1949 0.1703 0.1635 0.1428]
 [0.1637 0.1503 0.1575 0.1523 0.1848 0.1915]
 [0.1482 0.1627 0.1721 0.1850 0.1754 0.1567]
 [0.1732 0.1825 0.1694 0.1720 0.1542 0.1488]]
weights_40 6 x 6
[[0.1199 0.0975 0.1171 0.0372 0.1143 0.5140]
 [0.1285 0.1484 0.1881 0.0657 0.2725 0.1969]
 [0.0590 0.0744 0.0385 0.7711 0.0303 0.0266]
 [0.0084 0.0155 0.6200 0.0343 0.2318 0.0901]
 [0.1954 0.2425 0.1004 0.2705 0.1455 0.0456]
 [0.5618 0.2532 0.0185 0.0789 0.0295 0.0581]]
weights_50 6 x 6
[[0.0632 0.0414 0.0349 0.0067 0.0407 0.8130]
 [0.0698 0.2285 0.0732 0.0396 0.4906 0.0983]
 [0.0064 0.0047 0.0541 0.9276 0.0046 0.0026]
 [0.0004 0.0041 0.8894 0.0375 0.0502 0.0184]
 [0.1614 0.4146 0.0358 0.0571 0.3109 0.0203]
 [0.9265 0.0510 0.0006 0.0045 0.0028 0.0146]]
weights_100 6 x 6
[[ 0.0004  0.0006  0.0009 1.7e-05  0.0032  0.9949]
 [ 0.0001  0.0126  0.0004  0.0001  0.9859  0.0010]
 [ 0.0001 3.1e-05  0.0055  0.9942  0.0001 4.3e-06]
 [2.2e-06  0.0001  0.9600  0.0353  0.0043  0.0003]
 [ 0.0092  0.9178  0.0001 3.1e-05  0.0725  0.0003]
 [ 0.9941  0.0033 2.9e-06 2.1e-05 3.8e-06  0.0026]]
position_scores 6 x 6
[[-1.1541 -1.5589  0.9135 -3.6478 -1.2384  5.3494]
 [-3.0157  0.4068 -0.9692 -1.2110  5.7830 -1.5342]
 [ 0.0116 -3.9506  4.9926  8.9092 -1.8543 -5.2969]
 [-6.7286 -3.4690  8.6162  3.2620 -0.1047 -0.9187]
 [ 0.3012  5.2966 -4.3547 -4.5344  2.1717 -0.2005]
 [ 7.7682  1.3826 -5.7240 -0.9307 -4.0276  1.7043]]
"""

import numpy
from numpy.random import RandomState

from attention_docs.learning import Model, checkpoints, evaluate
from attention_docs.tasks import reverse

TITLE = "One layer learns to reverse a sequence"
SOURCE = "our own example"

MODEL = Model(vocabulary=7, length=6, width=16, d_k=8)
STEPS, EVERY = 100, 10
DRAWN = (0, 40, 50, 100)  # the steps whose weights the figure draws

FORMULAS = {
    "step": "how often Adam has changed the weights",
    "loss": "the mean of −log p, where p is the probability of the right token",
    "accuracy": "the percentage of right tokens that have the largest logit",
    "tokens": "the first sequence of the test",
    **{f"weights_{s}": f"softmax(Q Kᵀ / √d_k) of this sequence, after {s} steps" for s in DRAWN},
    "position_scores": f"(W_P W_Q) (W_P W_K)ᵀ / √d_k, after {STEPS} steps",
}


def steps(xp=numpy):
    """Train the model, and return its losses, its accuracies, and what it attends to."""
    test = reverse(RandomState(2), batch_size=256)
    model_weights = checkpoints(MODEL, reverse, STEPS)
    results = [evaluate(MODEL, weights, test) for weights in model_weights]
    runs = {step: MODEL.run(model_weights[step // EVERY], test.tokens[:1]) for step in DRAWN}
    computed = {
        "step": numpy.arange(0, STEPS + 1, EVERY),
        "loss": numpy.array([loss for loss, _ in results]),
        "accuracy": numpy.array([accuracy for _, accuracy in results]),
        "tokens": numpy.argmax(test.tokens[0], axis=-1),
        **{f"weights_{step}": run.steps[0].weights[0] for step, run in runs.items()},
        "position_scores": position_scores(model_weights[-1]),
    }
    return {name: xp.asarray(array) for name, array in computed.items()}


def position_scores(weights):
    """Return the (n, n) scaled scores of the position embeddings W_P without tokens."""
    queries, keys = (weights["W_P"] @ weights[name] for name in ("W_Q1", "W_K1"))
    return queries @ keys.T / MODEL.d_k**0.5
