"""Norms, gates, a one in the denominator, temperatures and ALiBi's slopes, number by number."""

import cmath
import math

from tests import loops
from tests.examples.comparison import independent


def normed(row):
    root = math.sqrt(math.fsum(x * x for x in row) / len(row))
    return [x / root for x in row]


def normed_by_head(row):
    return normed(row[:2]) + normed(row[2:])


def logistic(x):
    return math.exp(x) / (1 + math.exp(x))


@independent("head_norms", "one head and one key at a time", atol=1e-24)
def head_norms(literals):
    long = literals["LONG"][0]
    first, second = literals["FIRST_QUERY"], [long * x for x in literals["DIRECTION"]]
    (gate_1, gate_2), keys, values = literals["GATES"], literals["K"], literals["V"]
    q = [*first, *second]
    steps = {"q": q, "largest": [], "bounds": [math.sqrt(2), 2 * math.sqrt(2)]}

    def weights_of(query, key_rows, name):
        heads = [slice(0, 2), slice(2, 4)]
        scores = [
            [loops.dot(query[head], key[head]) / math.sqrt(2) for key in key_rows] for head in heads
        ]
        steps["largest"].append(max(abs(score) for score in scores[1]))
        steps[f"weights_{name}"] = [loops.softmax_row(row) for row in scores]

    weights_of(q, keys, "without_norm")
    for name, norm in (("by_head", normed_by_head), ("together", normed)):
        steps[f"q_{name}"], steps[f"K_{name}"] = norm(q), [norm(key) for key in keys]
        weights_of(steps[f"q_{name}"], steps[f"K_{name}"], name)
    output = [
        math.fsum(
            weight * value[feature]
            for weight, value in zip(steps["weights_by_head"][feature // 2], values, strict=True)
        )
        for feature in range(4)
    ]
    row = [*first, *gate_1, *second, *gate_2]
    gate, gate_flat = ([logistic(x) for x in part] for part in ([*gate_1, *gate_2], row[4:]))
    return steps | {
        "row": row,
        "gate": gate,
        "output": output,
        "gated": [o * g for o, g in zip(output, gate, strict=True)],
        "gate_flat": gate_flat,
        "gated_flat": [o * g for o, g in zip(output, gate_flat, strict=True)],
    }


@independent("around_softmax", "one weight and one slope at a time", fixed=["POSITIONS"])
def around_softmax(literals):
    scores, (a, b) = literals["SCORES"], literals["RAW"]
    plus_one = [[math.exp(s) / (1 + math.fsum(map(math.exp, row))) for s in row] for row in scores]
    late = []
    for row in scores:
        powers = [math.exp(s - max(row)) for s in row]
        late.append([power / (1 + math.fsum(powers)) for power in powers])
    temperatures = [
        1 + math.log(1 + (position + 1) // 8192) / 10 for position in literals["POSITIONS"]
    ]
    value = normed([a, b])
    z = complex(*(g * x for g, x in zip(literals["SCALE"], value, strict=True))) * cmath.exp(1j)

    def halvings(exponents):
        return [1 / 2**exponent for exponent in exponents]

    return {
        "plus_one": plus_one,
        "sums": [math.fsum(row) for row in plus_one],
        "plus_one_late": late,
        "sums_late": [math.fsum(row) for row in late],
        "temperatures": temperatures,
        "plain": loops.softmax_row(literals["ROW"]),
        "sharp": loops.softmax_row([temperatures[-1] * score for score in literals["ROW"]]),
        "key": [z.real, z.imag],
        "value": value,
        "value_late": normed([z.real, z.imag]),
        "slopes": halvings(4 * head / 3 for head in range(1, 7)),
        "slopes_in_code": halvings([2, 4, 6, 8, 1, 3]),
    }


@independent("differential_attention", "one pair of heads at a time")
def differential_attention(literals):
    (share,), values = literals["SHARE"], [v for v in literals["V"] for _ in range(2)]
    weights = [loops.softmax_row(row) for row in literals["SCORES"]]
    pairs = [[a - share * b for a, b in zip(*weights[i : i + 2], strict=True)] for i in (0, 2)]
    heads = [loops.dot(row, value) for row, value in zip(weights, values, strict=True)]
    output, halves = ([heads[i] - share * heads[i + n] for i in (0, 3 - n)] for n in (1, 2))
    sums = [math.fsum(row) for row in pairs]
    steps = {"weights": weights, "difference": pairs, "sums": sums}
    return steps | {"output": output, "halves": halves}
