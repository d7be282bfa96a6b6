"""A memory of fixed size that is written four times: doors that are open or shut.

Each token writes that something, its key, is open or shut, its value. The key of the gate resembles
the key of the door, and the last token writes about the door again. `Q` asks for the door, the
window and the gate after the last token. `added` are the answers of the state that adds,
`attention` the answers of softmax attention without positions. The delta rule reads before it
writes: `recalled` is what the state holds for each key, `errors` what is missing, and `after_...`
are the states, then `rewritten` the answers. `half` are the answers if the last write has a
strength of one half. With a gate of one half at the last token, `gated` are the answers and
`late_gate` the answers if the error is taken before the decay; `channel_gated` have a gate for each
feature of the keys. `repeated_errors` are the errors of one association written four times with a
key of length 2.
>>> show(steps())
K 4 x 3
[[     1 0      0]
 [     0 1      0]
 [0.6000 0 0.8000]
 [     1 0      0]]
V 4 x 2
[[1 0]
 [0 1]
 [1 0]
 [0 1]]
Q 3 x 3
[[     1 0      0]
 [     0 1      0]
 [0.6000 0 0.8000]]
strengths 4
[1 1 1 0.5000]
gates 4
[1 1 1 0.5000]
channel_gates 4 x 3
[[     1 1      1]
 [     1 1      1]
 [     1 1      1]
 [0.5000 1 0.2500]]
sum 3 x 2
[[1.6000 1]
 [     0 1]
 [0.8000 0]]
added 3 x 2
[[1.6000      1]
 [     0      1]
 [1.6000 0.6000]]
attention 3 x 2
[[0.5346 0.4654]
 [0.4183 0.5817]
 [0.5696 0.4304]]
recalled 4 x 2
[[     0 0]
 [     0 0]
 [0.6000 0]
 [1.2400 0]]
errors 4 x 2
[[      1 0]
 [      0 1]
 [ 0.4000 0]
 [-1.2400 1]]
after_third 3 x 2
[[1.2400 0]
 [     0 1]
 [0.3200 0]]
after_fourth 3 x 2
[[     0 1]
 [     0 1]
 [0.3200 0]]
rewritten 3 x 2
[[     0      1]
 [     0      1]
 [0.2560 0.6000]]
half 3 x 2
[[0.6200 0.5000]
 [     0      1]
 [0.6280 0.3000]]
gated 3 x 2
[[     0      1]
 [     0 0.5000]
 [0.1280 0.6000]]
late_gate 3 x 2
[[-0.6200      1]
 [      0 0.5000]
 [-0.2440 0.6000]]
channel_gated 3 x 2
[[     0      1]
 [     0      1]
 [0.0640 0.6000]]
repeated_errors 4
[1 -3 9 -27]
"""

from types import ModuleType

import numpy

from attention_docs.arrays import Array
from attention_docs.dot_product import attention_steps

TITLE = "The delta rule, written four times"
SOURCE = "our own example"

K = [[1, 0, 0], [0, 1, 0], [0.6, 0, 0.8], [1, 0, 0]]
V = [[1, 0], [0, 1], [1, 0], [0, 1]]
Q = [[1, 0, 0], [0, 1, 0], [0.6, 0, 0.8]]
HALF_STRENGTH = [1, 1, 1, 0.5]
GATES = [1, 1, 1, 0.5]
CHANNEL_GATES = [[1, 1, 1], [1, 1, 1], [1, 1, 1], [0.5, 1, 0.25]]
LONG_KEY = [[2], [2], [2], [2]]

WRITES = ["door open", "window shut", "gate open", "door shut"]
THINGS, STATES = ["door", "window", "gate"], ["open", "shut"]
KEY_FEATURES = ["hinged", "glass", "outdoors"]
ANSWERS = ("added", "attention", "rewritten", "half", "gated", "late_gate", "channel_gated")
LABELS = {
    "K": (WRITES, KEY_FEATURES),
    "V": (WRITES, STATES),
    "Q": (THINGS, KEY_FEATURES),
    "sum": (KEY_FEATURES, STATES),
    "recalled": (WRITES, STATES),
    "errors": (WRITES, STATES),
    "after_third": (KEY_FEATURES, STATES),
    "after_fourth": (KEY_FEATURES, STATES),
    **dict.fromkeys(ANSWERS, (THINGS, STATES)),
}


def write(
    state: Array, key: Array, value: Array, strength: Array | float = 1, gate: Array | float = 1
) -> tuple[Array, Array, Array]:
    """Let a state decay, then replace what it holds for a key by a value.

    Args:
        state: (d_k, d_v), what was written so far.
        key: (d_k,) of length one.
        value: (d_v,).
        strength: beta, how much of the error is corrected.
        gate: alpha, the part of the state that is kept: a number, or (d_k, 1) numbers.

    Returns:
        The new state, (d_k, d_v); what the decayed state held for the key, (d_v,); and the error,
        (d_v,).
    """
    state = state * gate
    recalled = key @ state
    error = value - recalled
    return state + strength * key[:, None] * error[None, :], recalled, error


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    k, v, q = (xp.asarray(rows, dtype=xp.float64) for rows in (K, V, Q))
    strengths, gates = (xp.asarray(row, dtype=xp.float64) for row in (HALF_STRENGTH, GATES))
    channel_gates = xp.asarray(CHANNEL_GATES, dtype=xp.float64)
    long_key = xp.asarray(LONG_KEY, dtype=xp.float64)
    n, empty = k.shape[0], xp.zeros((k.shape[1], v.shape[1]), dtype=xp.float64)

    states, recalled, errors = [empty], list[Array](), list[Array]()
    half = gated = channel_gated = late = empty
    for t in range(n):
        state, memory, error = write(states[-1], k[t, :], v[t, :])
        states, recalled, errors = [*states, state], [*recalled, memory], [*errors, error]
        half = write(half, k[t, :], v[t, :], strengths[t])[0]
        gated = write(gated, k[t, :], v[t, :], gate=gates[t])[0]
        channel_gated = write(channel_gated, k[t, :], v[t, :], gate=channel_gates[t, :, None])[0]
        late_error = v[t, :] - k[t, :] @ late
        late = gates[t] * late + k[t, :, None] * late_error[None, :]

    scalar, repeated_errors = xp.zeros((1, 1), dtype=xp.float64), []
    for t in range(n):
        scalar, _, error = write(scalar, long_key[t, :], v[0, :1])
        repeated_errors.append(error)
    total = k.T @ v
    return {
        "K": k,
        "V": v,
        "Q": q,
        "strengths": strengths,
        "gates": gates,
        "channel_gates": channel_gates,
        "sum": total,
        "added": q @ total,
        "attention": attention_steps(q, k, v).output,
        "recalled": xp.stack(recalled),
        "errors": xp.stack(errors),
        "after_third": states[3],
        "after_fourth": states[4],
        "rewritten": q @ states[4],
        "half": q @ half,
        "gated": q @ gated,
        "late_gate": q @ late,
        "channel_gated": q @ channel_gated,
        "repeated_errors": xp.concat(repeated_errors),
    }
