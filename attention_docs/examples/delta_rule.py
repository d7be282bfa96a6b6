"""A memory of fixed size that is written four times: doors that are open or shut.

Each token writes a value, open or shut, for a key: a door, a window or a gate. The key of the gate
resembles the key of the door, and the last token writes about the door again. `Q` asks for the
door, the window and the gate after the last token.

- Adding: `sum` is the state that adds up all writes, and `added` has its answers. `attention` has
  the answers of softmax attention without positions.
- The delta rule reads before it writes: `recalled` is the value that the state holds for each key,
  and `errors` is the difference to the value to write. `after_third` and `after_fourth` are states,
  and `rewritten` has the answers of the last state.
- Strength: `half` has the answers if the last write corrects half of its error.
- Gates: `gated` has the answers if the state decays by one half before the last write, and
  `channel_gated` if each feature of the keys has its own gate. `late_gate` takes the error before
  the decay, which is a mistake.
- `repeated_errors` are the errors of one value that is written four times with a key of length 2:
  they grow, because the key is too long.

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
    """Let a state decay, then move what it holds for a key towards a value.

    Args:
        state: (d_k, d_v), what was written so far.
        key: (d_k,), of length one in a model.
        value: (d_v,).
        strength: beta, how much of the error is corrected.
        gate: alpha, the part of the state that is kept: one number, or (d_k, 1), one per feature.

    Returns:
        The new state, (d_k, d_v); what the decayed state held for the key, (d_v,); and the error,
        (d_v,).
    """
    state = state * gate
    recalled = key @ state
    error = value - recalled
    return state + strength * key[:, None] * error[None, :], recalled, error


def write_with_late_gate(state: Array, key: Array, value: Array, gate: Array) -> Array:
    """Return the new state if, by mistake, the error is taken before the state decays."""
    error = value - key @ state
    return gate * state + key[:, None] * error[None, :]


def repeat_write(keys: Array, value: Array, xp: ModuleType) -> Array:
    """Return the error of each write of one value, (1,), with keys of one feature, (n, 1)."""
    state, errors = xp.zeros((1, 1), dtype=xp.float64), list[Array]()
    for t in range(keys.shape[0]):
        state, _, error = write(state, keys[t, :], value)
        errors.append(error)
    return xp.concat(errors)


def steps(xp: ModuleType = numpy) -> dict[str, Array]:
    k, v, q = (xp.asarray(rows, dtype=xp.float64) for rows in (K, V, Q))
    strengths, gates = (xp.asarray(row, dtype=xp.float64) for row in (HALF_STRENGTH, GATES))
    channel_gates = xp.asarray(CHANNEL_GATES, dtype=xp.float64)
    long_key = xp.asarray(LONG_KEY, dtype=xp.float64)
    n, empty = k.shape[0], xp.zeros((k.shape[1], v.shape[1]), dtype=xp.float64)

    states, recalled, errors = [empty], list[Array](), list[Array]()
    half = gated = channel_gated = late = empty
    for t in range(n):
        key, value = k[t, :], v[t, :]
        state, memory, error = write(states[-1], key, value)
        states, recalled, errors = [*states, state], [*recalled, memory], [*errors, error]
        half = write(half, key, value, strengths[t])[0]
        gated = write(gated, key, value, gate=gates[t])[0]
        channel_gated = write(channel_gated, key, value, gate=channel_gates[t, :, None])[0]
        late = write_with_late_gate(late, key, value, gates[t])
    sum_of_writes = k.T @ v
    return {
        "K": k,
        "V": v,
        "Q": q,
        "strengths": strengths,
        "gates": gates,
        "channel_gates": channel_gates,
        "sum": sum_of_writes,
        "added": q @ sum_of_writes,
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
        "repeated_errors": repeat_write(long_key, v[0, :1], xp),
    }
