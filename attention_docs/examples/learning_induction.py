"""Two layers learn induction, and one layer does not.

A sequence has 8 tokens out of 9. The first seven all differ, and the last one repeats one of the
first six, drawn at random. The task is to predict the token that followed it there. Loss and
percentage of right predictions are measured on 256 test sequences, at the steps 0, 25, ..., 250.

`guesses` are the losses of a guess among five and among six tokens, the best that one layer can do.

The weights of both layers belong to one of these sequences, `tokens`, after 250 steps.
`position_scores` are the scores of the positions alone in the first layer. `match_scores` are the
scores in the second layer between a last token (row) and the previous token that the first layer
has written to a position (column).

Training always uses NumPy, whatever library the steps are requested in.

>>> show(computed(steps))
step [0 25 50 75 100 125 150 175 200 225 250]
loss_one [2.2325 2.1818 2.1466 2.1197 2.1137 2.0887 2.0436 2.0338 1.9993 1.9608 1.9672]
loss_two [2.2564 2.1778 2.1484 2.1226 2.0965 1.9713 1.7157 1.3106 0.5361 0.0494 0.0136]
accuracy_one [11 14 15 15 11 18 24 21 21 23 17]
accuracy_two [13 14 16 17 15 23 38 59 88 100 100]
guesses [1.6094 1.7918]
tokens [1 6 8 5 4 3 0 3]
weights1 8 x 8
[[     1      0      0      0      0      0      0      0]
 [0.9240 0.0760      0      0      0      0      0      0]
 [0.0051 0.9564 0.0385      0      0      0      0      0]
 [0.0122 0.0084 0.9790 0.0004      0      0      0      0]
 [0.0373 0.0061 0.0018 0.9516 0.0032      0      0      0]
 [0.0019 0.0420 0.0104 0.0031 0.9394 0.0033      0      0]
 [0.0009 0.0388 0.0419 0.0013 0.0304 0.8849 0.0017      0]
 [0.0910 0.1207 0.1135 0.2497 0.1534 0.0901 0.0906 0.0910]]
weights2 8 x 8
[[      1       0       0       0       0      0      0       0]
 [ 0.9971  0.0029       0       0       0      0      0       0]
 [ 0.8298  0.1612  0.0090       0       0      0      0       0]
 [ 0.0012  0.9543  0.0445 6.1e-08       0      0      0       0]
 [ 0.0004 2.9e-07 1.3e-09  0.9996 1.1e-14      0      0       0]
 [ 0.0100  0.0970  0.7811 3.6e-05  0.1109 0.0011      0       0]
 [1.2e-06 5.8e-06  0.0117  0.0015  0.9865 0.0002 0.0002       0]
 [2.5e-05  0.0001  0.0056 7.2e-06  0.0001 0.0001 0.9941 3.9e-05]]
position_scores 8 x 8
[[ 1.2832 -0.6368 -0.0434  0.9031 -1.4608 -1.1668  0.6695  0.3518]
 [ 3.0600 -1.2872 -1.2918  3.1495 -0.9013 -4.1489  1.1405  1.1025]
 [-2.5428  2.1732 -1.1600 -1.4578  3.1041  2.1083 -1.9688 -0.7423]
 [-1.5404 -1.2694  3.7542 -2.7442 -2.7363  3.6242  1.0721 -0.8048]
 [ 2.1007 -0.9950 -2.5881  4.7307 -1.2695 -4.1692  1.1463  0.8163]
 [-0.2729  1.1895 -0.9908 -0.4841  3.8662 -0.7999 -1.1913  0.1649]
 [-2.9059  1.0499  1.3895 -3.0833  0.2779  4.2903 -0.9930 -1.0617]
 [ 0.1156 -0.0377 -0.2943  0.5165 -0.1370 -0.4182  0.1263  0.0384]]
match_scores 9 x 9
[[11.7919 -7.1173  3.5542  1.0760  -8.9239  2.7188   3.5814  3.8294 -6.6395]
 [-7.3939 10.5948 -6.4018  0.4941   2.8379  0.4858   0.8395 -5.0684  0.0547]
 [ 5.3008 -8.3269 13.2084  2.4080   2.0402 -0.2748  -9.9378  2.3558 -7.4191]
 [-0.5471  0.9447  1.3442  7.3910   0.3050 -1.1242   2.1324 -9.2745 -4.7007]
 [-5.8062  0.1210  3.8970 -1.0748  14.4913 -8.1491 -11.0629  2.4728  3.7072]
 [ 2.0563  1.2724 -0.8507 -0.9338  -8.8463  8.2815   1.7645 -0.2665 -3.4929]
 [-0.2314  4.1395 -9.0842  4.3931 -10.2414  3.1959  16.6240 -9.4796  0.3142]
 [ 5.1639 -5.2670  1.5785 -9.0895  -0.5422  0.0960  -4.1527 14.6539  3.6240]
 [-5.5928 -0.3415 -4.3964 -4.8696   4.2587 -2.9547   0.6533  3.4031 11.4100]]
"""

from dataclasses import replace

import numpy
from numpy.random import RandomState

from attention_docs.learning import Model, checkpoints, evaluate
from attention_docs.tasks import induction

TITLE = "Two layers learn induction"
SOURCE = "our own; the task: Olsson and others 2022"

D_K = 16
TWO_LAYERS = Model(vocabulary=9, length=8, width=16, d_k=D_K, layers=2, is_causal=True)
ONE_LAYER = replace(TWO_LAYERS, layers=1)
STEPS, EVERY = 250, 25

LOSS = "the mean of −log p of the right tokens, with {}"
ACCURACY = "the percentage of tokens that are predicted, with {}"
FORMULAS = {
    "step": "how often Adam has changed the weights",
    "loss_one": LOSS.format("one layer"),
    "loss_two": LOSS.format("two layers"),
    "accuracy_one": ACCURACY.format("one layer"),
    "accuracy_two": ACCURACY.format("two layers"),
    "guesses": "log 5 and log 6",
    "tokens": "the first sequence of the test",
    "weights1": f"softmax(Q Kᵀ / √{D_K}) of this sequence in layer 1, after {STEPS} steps",
    "weights2": f"softmax(Q Kᵀ / √{D_K}) of this sequence in layer 2, after {STEPS} steps",
    "position_scores": f"(W_P W_Q1) (W_P W_K1)ᵀ / √{D_K}, after {STEPS} steps",
    "match_scores": f"(W_E W_Q2) (W_E W_V1 W_K2)ᵀ / √{D_K}, after {STEPS} steps",
}


def steps(xp=numpy):
    """Train models of one and of two layers, and return their results and what they attend to."""
    test = induction(RandomState(seed=2), batch_size=256)
    results_one, results_two = (
        [evaluate(model, weights, test) for weights in checkpoints(model, induction, STEPS)]
        for model in (ONE_LAYER, TWO_LAYERS)
    )
    weights = checkpoints(TWO_LAYERS, induction, STEPS)[-1]
    run = TWO_LAYERS.run(weights, test.tokens[:1])
    written_by_first_layer = weights["W_E"] @ weights["W_V1"]
    computed = {
        "step": numpy.arange(0, STEPS + 1, EVERY),
        "loss_one": numpy.array([loss for loss, _ in results_one]),
        "loss_two": numpy.array([loss for loss, _ in results_two]),
        "accuracy_one": numpy.array([accuracy for _, accuracy in results_one]),
        "accuracy_two": numpy.array([accuracy for _, accuracy in results_two]),
        "guesses": numpy.log(numpy.array([5.0, 6.0])),  # among five tokens, and among six
        "tokens": numpy.argmax(test.tokens[0], axis=-1),
        "weights1": run.steps[0].weights[0],
        "weights2": run.steps[1].weights[0],
        "position_scores": layer_scores(weights, 1, weights["W_P"], weights["W_P"]),
        "match_scores": layer_scores(weights, 2, weights["W_E"], written_by_first_layer),
    }
    return {name: xp.asarray(array) for name, array in computed.items()}


def layer_scores(weights, layer, x_q, x_kv):
    """Return the scaled scores of a layer, with queries from `x_q` and keys from `x_kv`."""
    queries, keys = x_q @ weights[f"W_Q{layer}"], x_kv @ weights[f"W_K{layer}"]
    return queries @ keys.T / D_K**0.5
