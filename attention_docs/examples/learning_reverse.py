"""One layer with one head learns to reverse a sequence.

Sequences of 6 tokens out of 7 are drawn at random, 32 for each step of Adam. The task is to name at
each position the token at the mirrored position. Loss and percentage of right answers are measured
on 256 test sequences, at the steps 0, 10, ..., 100. The weights are those of one of these
sequences, before the first step, after 30 steps and after 100. The scores of the positions alone,
W_P W_Q (W_P W_K)^T / sqrt(d_k) after 100 steps, are `position_scores`.

Training always uses NumPy, whatever library the steps are requested in.

>>> show(steps())
step 11
[0 10 20 30 40 50 60 70 80 90 100]
loss 11
[2.0278 1.8891 1.7587 1.5043 0.9256 0.2740 0.0186 0.0027 0.0011 0.0006 0.0005]
accuracy 11
[13 23 34 46 69 96 100 100 100 100 100]
tokens 6
[0 5 0 6 3 2]
weights_before 6 x 6
[[0.1624 0.1664 0.1694 0.1715 0.1711 0.1593]
 [0.1776 0.1742 0.1540 0.1588 0.1664 0.1691]
 [0.1671 0.1613 0.1949 0.1703 0.1635 0.1428]
 [0.1637 0.1503 0.1575 0.1523 0.1848 0.1915]
 [0.1482 0.1627 0.1721 0.1850 0.1754 0.1567]
 [0.1732 0.1825 0.1694 0.1720 0.1542 0.1488]]
weights_during 6 x 6
[[0.1368 0.1259 0.1735 0.0917 0.1777 0.2943]
 [0.1274 0.1193 0.2336 0.0948 0.2519 0.1730]
 [0.1635 0.2149 0.0843 0.3314 0.0864 0.1194]
 [0.0431 0.0408 0.3682 0.0718 0.3642 0.1118]
 [0.1848 0.2127 0.1260 0.2636 0.1238 0.0891]
 [0.3160 0.2696 0.0688 0.1437 0.0605 0.1415]]
weights_after 6 x 6
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

from functools import cache
from itertools import islice
from types import ModuleType

import numpy
from numpy.random import RandomState

from attention_docs.arrays import Array
from attention_docs.learning import Model, Weights, evaluate, train
from attention_docs.tasks import reverse

TITLE = "One layer learns to reverse a sequence"
SOURCE = "our own example"

MODEL = Model(vocabulary=7, length=6, width=16, d_k=8)
RATE = 1 / 100
STEPS, EVERY, DURING = 100, 10, 3

FORMULAS = {
    "step": "how often Adam has changed the weights",
    "loss": "the mean of −log p, where p is the probability of the right token",
    "accuracy": "the percentage of right tokens that have the largest logit",
    "tokens": "the first sequence of the test",
    "weights_before": "softmax(Q Kᵀ / √8) of this sequence, before the first step",
    "weights_during": f"softmax(Q Kᵀ / √8) of this sequence, after {DURING * EVERY} steps",
    "weights_after": f"softmax(Q Kᵀ / √8) of this sequence, after {STEPS} steps",
    "position_scores": f"(W_P W_Q) (W_P W_K)ᵀ / √8, after {STEPS} steps",
}


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    test = reverse(RandomState(2), batch_size=256)
    all_weights = checkpoints()
    results = [evaluate(MODEL, weights, test) for weights in all_weights]
    before, during, after = (
        MODEL.run(all_weights[i], test.tokens[:1]).steps[0].weights[0] for i in (0, DURING, -1)
    )
    computed = {
        "step": numpy.arange(0, STEPS + 1, EVERY),
        "loss": numpy.array([loss for loss, _ in results]),
        "accuracy": numpy.array([accuracy for _, accuracy in results]),
        "tokens": numpy.argmax(test.tokens[0], axis=-1),
        "weights_before": before,
        "weights_during": during,
        "weights_after": after,
        "position_scores": position_scores(all_weights[-1]),
    }
    return {name: xp.asarray(array) for name, array in computed.items()}


@cache
def checkpoints() -> list[Weights]:
    """Train the model; return its weights before the first step, and after every tenth."""
    training = train(MODEL, MODEL.initial_weights(seed=0), reverse, RATE, seed=1)
    return list(islice(training, 0, STEPS + 1, EVERY))


def position_scores(weights: Weights) -> Array:
    """Return the scaled scores of the positions' embeddings alone, (n, n)."""
    queries, keys = (weights["W_P"] @ weights[name] for name in ("W_Q1", "W_K1"))
    return queries @ keys.T / MODEL.d_k**0.5
