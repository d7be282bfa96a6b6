"""Nine rules for a state of fixed size, on the same three tokens.

Values have one feature, so a state is one number for each of the two features of the keys. It is a
column of `states`. `restarted` is a mistake: the state is lost after the first token.

>>> show(computed(steps))
step [0.6931]
states 2 x 9
[[6.2000 2.6000 1.8022 4.1500 1.6200 0.8550 1.1863 0.9350 0.5000]
 [1.6000 0.8000 0.5545 0.4000 0.3200 0.2800 0.1100 0.0800 0.0200]]
reads [7.8000 3.4000 2.3567 4.5500 1.9400 1.1350 1.2963 1.0150 0.5200]
restarted [0.6500 0.4000]
"""

import numpy

TITLE = "Nine updates of a state"
SOURCE = "our own example"

K = [[1, 0], [0.6, 0.8], [1, 0]]
V = [4, 2, 1]
Q = [1, 1]
GATE = [0.5]
GATES = [0.75, 0.25]
STRENGTH = [0.5]
ERASE = [1, 0.5]

RULES = ["linear", "RetNet", "Mamba-2", "GLA", "delta", "gated delta", "KDA", "RWKV-7", "GDN-2"]
LABELS = {"states": (["feature 1", "feature 2"], RULES), "reads": (RULES,)}


def final_state(tokens, decay=1, out=1, erase=0, write=1, from_old=False):
    """Let the state decay, recall with the erased key, and write what is missing, per token."""
    state = 0 * tokens[0][0]
    for key, value in tokens:
        kept = decay * state
        recalled = (erase * key) @ (state if from_old else kept)
        state = kept + out * key * (write * value - recalled)
    return state


def steps(xp=numpy):
    """Run all rules, and one of them with a mistake."""
    literals = (K, V, Q, GATE, GATES, STRENGTH, ERASE)
    k, v, q, gate, gates, strength, erase = (xp.asarray(a, dtype=xp.float64) for a in literals)
    tokens = [(k[t, :], v[t]) for t in range(len(V))]
    step = -xp.log(gate)  # Mamba-2 with A = -1, whose decay is exp(-step)
    rules = [(), (gate,), (gate, step), (gates,), (1, strength, 1), (gate, strength, 1)]
    rules += [(gates, strength, 1), (gates, strength, 1, 1, True), (gates, 1, erase, strength)]
    states = xp.stack([final_state(tokens, *rule) for rule in rules], axis=1)
    inputs = {"K": k, "V": v, "Q": q, "gate": gate, "gates": gates, "strength": strength}
    return inputs | {
        "step": step,
        "states": states,
        "reads": q @ states,
        "restarted": final_state(tokens[1:], gate, strength, 1),
    }
