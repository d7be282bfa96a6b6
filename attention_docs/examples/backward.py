"""The backward pass of attention, on four queries and five keys.

The forward pass is the same as in `distinct_sizes`. The loss L = sum((O - T)^2) / 2 compares its
output O with a target T of the same shape, and dX is the gradient of L with respect to an array X.

- `row_sums` has sum_j A_ij dA_ij for each query i, and `row_sums_by_output` the same numbers as
  sum_j O_ij dO_ij.
- One step of gradient descent on the three weight matrices, with learning rate 1/500, changes the
  loss to `loss_after`. To first order, the change would be `expected`. With learning rate 1/100 the
  loss becomes `loss_after_large`.
- `capped` has the scaled scores after a softcap of 4, and `cap_slopes` the derivatives of the
  softcap.

>>> show(computed(steps))
loss 6.0839
dO 4 x 3
[[-0.7261  1.2928 -1.2803]
 [ 0.4090 -0.3981 -0.4398]
 [-0.4656 -0.9745  1.6176]
 [-0.6164  1.8717  0.3801]]
dV 5 x 3
[[-0.0298  0.1228 -0.0239]
 [-0.8258  1.6577 -0.9372]
 [-0.6603 -0.0683  1.4632]
 [-0.0781  0.2144 -0.0197]
 [ 0.1948 -0.1347 -0.2048]]
dA 4 x 5
[[ 3.8908 10.3174 -12.0388  6.7704 -15.6106]
 [-2.0323 -1.5091  -0.1849 -1.9924   1.0077]
 [-2.2806 -9.0823   6.9115 -1.7040  13.0037]
 [ 7.8671 10.4702  -1.4176  5.8289 -10.5626]]
row_sums [8.2828 0.3325 6.4849 2.9389]
row_sums_by_output [8.2828 0.3325 6.4849 2.9389]
dZ 4 x 5
[[-0.0921  1.7478 -1.4695 -0.0643 -0.1219]
 [-0.1901 -0.0080 -0.1149 -0.1201  0.4331]
 [-0.0597 -0.4554  0.3920 -0.0947  0.2178]
 [ 0.3536  2.3230 -1.9136  0.2953 -1.0582]]
dS 4 x 5
[[-0.0652  1.2359 -1.0391 -0.0455 -0.0862]
 [-0.1344 -0.0057 -0.0813 -0.0849  0.3063]
 [-0.0422 -0.3220  0.2772 -0.0670  0.1540]
 [ 0.2500  1.6426 -1.3531  0.2088 -0.7483]]
dQ [[0.7014 -3.3941] [-0.2943 0.2808] [-0.2421 1.0962] [1.2810 -5.3989]]
dK [[0.2244 -0.1814] [3.6384 -1.3987] [-2.9139 1.0437] [0.1235 -0.1681] [-1.0725 0.7045]]
dW_Q 6 x 2
[[-1.0639   4.1973]
 [ 0.6403  -5.6527]
 [ 4.2591 -17.8667]
 [-0.9436   4.4903]
 [ 2.2677 -10.5170]
 [ 0.4593  -2.2978]]
dW_K 6 x 2
[[-8.6407  3.1179]
 [ 6.2322 -3.1705]
 [ 5.7268 -2.0742]
 [-3.0148  1.0569]
 [-8.0013  3.1525]
 [ 1.4935  0.0103]]
dW_V 6 x 3
[[-1.9326 -0.2966  4.3853]
 [-1.2749  2.1725 -0.5754]
 [-0.1269  2.0202 -2.6446]
 [-0.7087  0.0233  1.4675]
 [ 1.7384 -3.1128  1.6260]
 [-0.4361  1.3883 -1.3469]]
loss_after 4.7861
loss_after_large 6.1702
expected -1.7006
capped 4 x 5
[[-0.5272  2.6460 0.6998 0.1767 -1.8046]
 [ 0.5272 -2.1386 1.4740 0.0884  2.2917]
 [ 0.0442  1.4357 3.3789 0.5706  1.5498]
 [-0.1325  1.2793 1.5872 0.2207 -0.0442]]
cap_slopes 4 x 5
[[0.9826 0.5624 0.9694 0.9980 0.7965]
 [0.9826 0.7142 0.8642 0.9995 0.6718]
 [0.9999 0.8712 0.2864 0.9797 0.8499]
 [0.9989 0.8977 0.8426 0.9970 0.9999]]
largest_weights 3 x 4
[[0.8591 0.6415 0.9190 0.4393]
 [0.9999 0.9856 1.0000 0.8014]
 [1.0000 0.9998 1.0000 0.9442]]
largest_dQ 3 x 4
[[ 3.3941 0.2943  1.0962  5.3989]
 [ 0.0096 0.1067  0.0001 15.8787]
 [9.6e-07 0.0031 2.6e-10 10.6309]]
"""

import numpy

from attention_docs.backward import attention_backward
from attention_docs.dot_product import attention_steps
from attention_docs.examples import distinct_sizes

TITLE = "The backward pass, four queries on five keys"
SOURCE = "our own example"

T = [[1, 4, 0], [2, -3, 5], [6, 1, 4], [3, 0, 2]]
RATE, LARGE_RATE = 1 / 500, 1 / 100
SOFTCAP = 4.0
FACTORS = [1, 4, 8]

QUERIES, KEYS = distinct_sizes.QUERIES, distinct_sizes.KEYS
FEATURES = [f"feature {feature}" for feature in range(1, 7)]
LABELS = {
    "T dO dQ": (QUERIES, []),
    "dV dK": (KEYS, []),
    "dW_Q dW_K dW_V": (FEATURES, []),
    "dA dZ dS capped cap_slopes": (QUERIES, KEYS),
}


def steps(xp=numpy):
    """Return the gradients of the loss by each array, and the loss after a step of descent.

    `expected` is the change of the loss to first order.
    """
    forward = distinct_sizes.steps(xp)
    target = xp.asarray(T, dtype=xp.float64)
    d_output = forward["output"] - target
    gradients = attention_backward(d_output, forward["Q"], forward["K"], forward["V"])
    weight_gradients = projection_gradients(xp, forward, gradients)

    def loss_after(rate):
        """Return the loss after one step of gradient descent on W_Q, W_K and W_V."""
        w_q, w_k, w_v = (
            forward[name] - rate * weight_gradients[f"d{name}"] for name in ("W_Q", "W_K", "W_V")
        )
        x_q, x_kv = forward["X_q"], forward["X_kv"]
        return loss(xp, attention_steps(x_q @ w_q, x_kv @ w_k, x_kv @ w_v).output, target)

    squared_norm = sum(xp.sum(d_w**2) for d_w in weight_gradients.values())
    return {
        "T": target,
        "loss": loss(xp, forward["output"], target),
        "dO": d_output,
        "dV": gradients.value,
        "dA": gradients.weights,
        "row_sums": xp.sum(gradients.weights * forward["weights"], axis=-1),
        "row_sums_by_output": xp.sum(d_output * forward["output"], axis=-1),
        "dZ": gradients.scaled,
        "dS": gradients.scores,
        "dQ": gradients.query,
        "dK": gradients.key,
        **weight_gradients,
        "loss_after": loss_after(RATE),
        "loss_after_large": loss_after(LARGE_RATE),
        "expected": -RATE * squared_norm,
        "capped": SOFTCAP * xp.tanh(forward["scaled"] / SOFTCAP),
        "cap_slopes": 1 - xp.tanh(forward["scaled"] / SOFTCAP) ** 2,
        **saturation(xp, forward, d_output),
    }


def projection_gradients(xp, forward, gradients):
    """Return the gradients of W_Q, W_K and W_V from those of Q, K and V."""
    transpose = xp.matrix_transpose
    x_q, x_kv = forward["X_q"], forward["X_kv"]
    return {
        "dW_Q": transpose(x_q) @ gradients.query,
        "dW_K": transpose(x_kv) @ gradients.key,
        "dW_V": transpose(x_kv) @ gradients.value,
    }


def saturation(xp, forward, d_output):
    """Saturate the softmax: multiply the scaled scores by each of FACTORS, with the same dO.

    Returns the largest weight of each query, and the largest absolute entry of its gradient.
    """
    q, k, v = forward["Q"], forward["K"], forward["V"]
    # Multiplying the scaled scores is the same as multiplying the scale, 1 / sqrt(d_k).
    scales = [factor / k.shape[-1] ** 0.5 for factor in FACTORS]
    weights_by_factor = [attention_steps(q, k, v, scale=scale).weights for scale in scales]
    d_queries = [attention_backward(d_output, q, k, v, scale=scale).query for scale in scales]
    return {
        "factors": xp.asarray(FACTORS),
        "largest_weights": xp.stack([xp.max(weights, axis=-1) for weights in weights_by_factor]),
        "largest_dQ": xp.stack([xp.max(xp.abs(d_query), axis=-1) for d_query in d_queries]),
    }


def loss(xp, output, target):
    """Return half the sum of squared differences between output and target."""
    return xp.sum((output - target) ** 2) / 2
