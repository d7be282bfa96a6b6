"""A memory of fixed size that is written four times: doors that are open or shut.

Each token writes a value, open or shut, for a key: a door, a window or a hatch. The key of the
hatch resembles the key of the door, and the last token writes about the door again. `Q` asks for
the door, the window and the hatch after the last token.

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

>>> show(computed(steps))
sum [[1.6000 1] [0 1] [0.8000 0]]
added [[1.6000 1] [0 1] [1.6000 0.6000]]
attention [[0.5346 0.4654] [0.4183 0.5817] [0.5696 0.4304]]
recalled [[0 0] [0 0] [0.6000 0] [1.2400 0]]
errors [[1 0] [0 1] [0.4000 0] [-1.2400 1]]
after_third [[1.2400 0] [0 1] [0.3200 0]]
after_fourth [[0 1] [0 1] [0.3200 0]]
rewritten [[0 1] [0 1] [0.2560 0.6000]]
half [[0.6200 0.5000] [0 1] [0.6280 0.3000]]
gated [[0 1] [0 0.5000] [0.1280 0.6000]]
late_gate [[-0.6200 1] [0 0.5000] [-0.2440 0.6000]]
channel_gated [[0 1] [0 1] [0.0640 0.6000]]
repeated_errors [1 -3 9 -27]
"""

import numpy

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

WRITES = ["door open", "window shut", "hatch open", "door shut"]
THINGS, STATES = ["door", "window", "hatch"], ["open", "shut"]
KEY_FEATURES = ["hinged", "glass", "outdoors"]
LABELS = {
    "K": (WRITES, KEY_FEATURES),
    "V recalled errors": (WRITES, STATES),
    "Q": (THINGS, KEY_FEATURES),
    "sum after_third after_fourth": (KEY_FEATURES, STATES),
    "added attention rewritten half gated late_gate channel_gated": (THINGS, STATES),
}


def write_all(keys, values, strengths, gates, xp, error_first=False):
    """Return all states, what they recalled, and the errors; `error_first` is a mistake."""
    states = [xp.zeros((keys.shape[1], values.shape[1]), dtype=xp.float64)]
    recalled, errors = [], []
    for t in range(keys.shape[0]):
        decayed = gates[t, ...] * states[-1]  # (d_k, d_v); the gate is one number or (d_k, 1)
        recalled.append(keys[t, :] @ (states[-1] if error_first else decayed))
        errors.append(values[t, :] - recalled[-1])
        states.append(decayed + strengths[t] * keys[t, :, None] * errors[-1][None, :])
    return states, xp.stack(recalled), xp.stack(errors)


def steps(xp=numpy):
    """Write `V` for the keys `K` by addition, by softmax attention and by the delta rule."""
    k, v, q = (xp.asarray(rows, dtype=xp.float64) for rows in (K, V, Q))
    strengths, gates = (xp.asarray(row, dtype=xp.float64) for row in (HALF_STRENGTH, GATES))
    channel_gates = xp.asarray(CHANNEL_GATES, dtype=xp.float64)
    long_keys = xp.asarray(LONG_KEY, dtype=xp.float64)
    ones = xp.ones(k.shape[0], dtype=xp.float64)
    repeated_value = xp.repeat(v[:1, :1], long_keys.shape[0], axis=0)

    sum_of_writes = k.T @ v
    states, recalled, errors = write_all(k, v, ones, ones, xp)
    half, _, _ = write_all(k, v, strengths, ones, xp)
    gated, _, _ = write_all(k, v, ones, gates, xp)
    channel_gated, _, _ = write_all(k, v, ones, channel_gates[:, :, None], xp)
    late_gate, _, _ = write_all(k, v, ones, gates, xp, error_first=True)
    _, _, repeated_errors = write_all(long_keys, repeated_value, ones, ones, xp)
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
        "recalled": recalled,
        "errors": errors,
        "after_third": states[3],
        "after_fourth": states[4],
        "rewritten": q @ states[4],
        "half": q @ half[-1],
        "gated": q @ gated[-1],
        "late_gate": q @ late_gate[-1],
        "channel_gated": q @ channel_gated[-1],
        "repeated_errors": repeated_errors[:, 0],
    }
