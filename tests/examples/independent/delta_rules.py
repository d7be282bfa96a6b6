"""Linear attention and the delta rule, token by token in exact fractions."""

from fractions import Fraction

import numpy as np

from tests import loops
from tests.examples.comparison import independent


def floats(steps):
    return {name: np.array(step, dtype=float) for name, step in steps.items()}


def exact(array):
    """Return nested lists of fractions that equal the floats exactly."""
    return [exact(row) for row in array] if hasattr(array, "__len__") else Fraction(float(array))


def product(row, matrix):
    return [
        sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*matrix, strict=True)
    ]


def run(keys, values, strengths=None, gates=None, error_after_decay=True):
    """Return what the states recall, the errors, and all states, beginning with an empty one."""
    n, zero = len(keys), Fraction(0)
    strengths, gates = strengths or [Fraction(1)] * n, gates or [Fraction(1)] * n
    states, recalled, errors = [[[zero] * len(values[0]) for _ in keys[0]]], [], []
    for key, value, strength, gate in zip(keys, values, strengths, gates, strict=True):
        gates_of_rows = gate if isinstance(gate, list) else [gate] * len(key)
        decayed = [
            [kept * x for x in row] for kept, row in zip(gates_of_rows, states[-1], strict=True)
        ]
        recalled.append(product(key, decayed if error_after_decay else states[-1]))
        errors.append([v - r for v, r in zip(value, recalled[-1], strict=True)])
        states.append(
            [
                [x + strength * k * e for x, e in zip(row, errors[-1], strict=True)]
                for k, row in zip(key, decayed, strict=True)
            ]
        )
    return recalled, errors, states


@independent("delta_rule", "exact fractions, one number at a time")
def delta_rule(literals):
    keys, values, queries = (exact(literals[name]) for name in "KVQ")
    strengths, gates, channel_gates, long_key = (
        exact(literals[name]) for name in ("HALF_STRENGTH", "GATES", "CHANNEL_GATES", "LONG_KEY")
    )
    recalled, errors, states = run(keys, values)

    def answers(state):
        return [product(query, state) for query in queries]

    added = [product(feature, values) for feature in zip(*keys, strict=True)]
    _, repeated, _ = run(long_key, [values[0][:1]] * len(long_key))
    steps = {
        "sum": added,
        "added": answers(added),
        "attention": loops.every_step(*(literals[name] for name in "QKV"))["output"],
        "recalled": recalled,
        "errors": errors,
        "after_third": states[3],
        "after_fourth": states[4],
        "rewritten": answers(states[4]),
        "half": answers(run(keys, values, strengths)[2][-1]),
        "gated": answers(run(keys, values, gates=gates)[2][-1]),
        "late_gate": answers(run(keys, values, gates=gates, error_after_decay=False)[2][-1]),
        "channel_gated": answers(run(keys, values, gates=channel_gates)[2][-1]),
        "repeated_errors": [error for (error,) in repeated],
    }
    return floats(steps)


@independent("delta_rule_chunks", "exact fractions, one token at a time", fixed=["CHUNK"])
def delta_rule_chunks(literals):
    queries, keys, values = (exact(literals[name]) for name in "QKV")
    strengths, gates = exact(literals["STRENGTHS"]), exact(literals["GATES"])
    _, errors, states = run(keys, values, strengths, gates)
    n, zero = len(keys), Fraction(0)
    kept = [[zero] * n for _ in range(n)]
    for column in range(n):
        part = Fraction(1)
        for row in range(column, n):
            part = part * gates[row] if row > column else part
            kept[row][column] = part
    scores = [[loops.dot(query, key) for key in keys] for query in queries]
    corrections = [
        [strength * e for e in error] for strength, error in zip(strengths, errors, strict=True)
    ]
    output = [product(query, state) for query, state in zip(queries, states[1:], strict=True)]
    causal = [[scores[row][i] if i <= row else 0.0 for i in range(n)] for row in range(n)]
    steps = {
        "output": output,
        "kept": kept,
        "in_chunks": output,
        "causal_only": loops.matmul(causal, corrections),
    }
    return floats(steps)


@independent(
    "state_sizes",
    "the bytes of arrays, layer by layer",
    fixed=[
        *("LAYERS", "ATTENTION_EVERY", "KV_HEADS", "HEAD_DIM", "CACHE_BYTES", "CONTEXTS"),
        *("STATE_HEADS", "STATE_KEY_DIM", "STATE_VALUE_DIM", "STATE_BYTES"),
    ],
)
def state_sizes(literals):
    state = np.zeros((32, 128, 128), "float32").nbytes
    keys_and_values = np.zeros((2, 2, 256), "float16").nbytes
    has_attention = [layer % 4 == 3 for layer in range(48)]

    def mebibytes(tokens, layers):
        return sum(keys_and_values * tokens if full else state for full in layers) / 1024**2

    return {
        "layers": [sum(has_attention), 48 - sum(has_attention)],
        "state": [state],
        "cache_per_token": [keys_and_values],
        "break_even": [min(n for n in range(1, 10**4) if keys_and_values * n >= state)],
        "hybrid": [mebibytes(tokens, has_attention) for tokens in literals["CONTEXTS"]],
        "attention_only": [mebibytes(tokens, [True] * 48) for tokens in literals["CONTEXTS"]],
    }


@independent("linear_attention_family", "each write on its own, times all later transitions")
def linear_attention_family(literals):
    names = ("K", "V", "Q", "GATE", "GATES", "STRENGTH", "ERASE")
    k, v, q, gate, gates, beta, erase = (np.array(literals[name], dtype=float) for name in names)
    one, step = np.ones(2), -np.log(gate)

    def state(decay, out=1, erased=0 * one, write=1, read=None, first=0):
        total = 0 * one
        for t in range(first, len(v)):
            written = out * write * v[t] * k[t]
            for key in k[t + 1 :]:
                removed = np.outer(out * key, erased * key * (decay if read is None else read))
                written = (np.diag(decay) - removed) @ written
            total = total + written
        return total

    rules = [(one,), (gate * one,), (gate * one, step), (gates,), (one, beta, one)]
    rules += [(gate * one, beta, one), (gates, beta, one), (gates, beta, one, 1, one)]
    states = np.transpose([state(*rule) for rule in [*rules, (gates, 1, erase, beta)]])
    return {
        "step": step,
        "states": states,
        "reads": [sum(q * column) for column in states.T],
        "restarted": state(gate * one, beta, one, first=1),
    }
