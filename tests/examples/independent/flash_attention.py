"""FlashAttention's backward pass, rescaling, powers of two, FP8 and packed sequences, by loops."""

import math

from tests import loops
from tests.examples.comparison import independent


def scores_of(query, keys):
    return [loops.dot(query, key) / math.sqrt(len(query)) for key in keys]


def log_sum_exp(scores):
    return math.log(math.fsum(map(math.exp, scores)))


@independent("flash_backward", "the Jacobian of each softmax", fixed=["TILE"])
def flash_backward(literals):
    keys, values = literals["K"], literals["V"]

    def head(queries, d_output):
        """Return weights, their gradients, dZ, dK, dV and the row sums."""
        weights, output = loops.attention(queries, keys, values)
        d_weights = loops.matmul(d_output, list(zip(*values, strict=True)))
        d_scaled = []
        for query, row in zip(queries, d_weights, strict=True):
            slopes = loops.softmax_slopes(scores_of(query, keys))
            d_scaled.append([loops.dot(column, row) for column in zip(*slopes, strict=True)])
        scaled = [[x / math.sqrt(len(keys[0])) for x in row] for row in d_scaled]
        d_keys = loops.matmul(zip(*scaled, strict=True), queries)
        d_values = loops.matmul(zip(*weights, strict=True), d_output)
        row_sums = [loops.dot(*rows) for rows in zip(output, d_output, strict=True)]
        return weights, d_weights, d_scaled, d_keys, d_values, row_sums

    queries = literals["Q"], literals["Q_2"]
    one, two = map(head, queries, (literals["D_O_1"], literals["D_O_2"]))
    scores = scores_of(literals["Q"][0], keys)
    left, right = log_sum_exp(scores[:4]), log_sum_exp(scores[4:])
    output_left, output_right = (
        loops.matmul([loops.softmax_row(scores[part])], values[part])[0]
        for part in (slice(4), slice(4, 8))
    )
    wrong = 1 / (1 + math.exp((left - right) / math.log(2)))
    return {
        "lse": [[log_sum_exp(scores_of(q, keys)) for q in rows] for rows in queries],
        "D": [one[-1], two[-1]],
        "D_by_weights": [[loops.dot(*p) for p in zip(*h[:2], strict=True)] for h in (one, two)],
        "P": one[0][0],
        "dP": one[1][0],
        "dZ": one[2][0],
        "dK_1": one[3],
        "dK_2": two[3],
        "dK": loops.add(one[3], two[3]),
        "dV": loops.add(one[4], two[4]),
        "package_agrees": True,
        "lse_parts": [left, right],
        "share": [math.exp(right) / (math.exp(left) + math.exp(right))],
        "share_base_2": [wrong],
        "output_base_2": [
            (1 - wrong) * a + wrong * b for a, b in zip(output_left, output_right, strict=True)
        ],
        "beside_empty": [output_left, [0] * len(output_left)],
    }


@independent("lazy_rescaling", "one threshold at a time, with all keys at once")
def lazy_rescaling(literals):
    values = literals["V"]
    natural = scores_of(literals["Q"][0], literals["K"])
    scores = [score / math.log(2) for score in natural]
    computed = {"scores": scores}
    for threshold in literals["THRESHOLDS"]:
        adopted, largest, count = [], scores[0], 0
        for score in scores:
            if score - largest > threshold:
                largest, count = score, count + 1
            adopted.append(largest)
        final = [2 ** (score - largest) for score in scores]
        # An exponential that was cut off is rescaled later like the others.
        clipped = [
            min(2 ** (score - then), 448 / 256) * 2 ** (then - largest)
            for score, then in zip(scores, adopted, strict=True)
        ]
        total = math.fsum(final)
        rows = {
            "maxima": adopted,
            "powers": [2 ** (score - then) for score, then in zip(scores, adopted, strict=True)],
            "counts": count,
            "totals": total,
            "outputs": loops.matmul([loops.softmax_row(natural)], values)[0],
            "clipped": [x / total for x in loops.matmul([clipped], values)[0]],
        }
        for name, row in rows.items():
            computed.setdefault(name, []).append(row)
    return computed


@independent("exp2_polynomial", "sums of powers", rtol=1e-6, fixed=["COEFFICIENTS"])
def exp2_polynomial(literals):
    rows = literals["COEFFICIENTS"]
    (x,) = literals["X"]
    scores = scores_of(literals["Q"][0], literals["K"])

    def exp2(row, x):
        fraction = x - math.floor(x)
        return 2.0 ** math.floor(x) * polynomial(row, fraction)

    def polynomial(row, fraction):
        return math.fsum(c * fraction**power for power, c in enumerate(row))

    def weights(row):
        powers = [exp2(row, (score - max(scores)) / math.log(2)) for score in scores]
        return [power / math.fsum(powers) for power in powers]

    def largest_error(numbers, exact):
        return max(abs(a - b) / b for a, b in zip(numbers, exact, strict=True))

    grid = [i / 256 for i in range(257)]
    exact = [2**f for f in grid]
    return {
        "errors": [largest_error([polynomial(row, f) for f in grid], exact) for row in rows],
        "jumps": [(polynomial(row, 1) - 2) / 2 for row in rows],
        "floor": [math.floor(x)],
        "fraction": [x - math.floor(x)],
        "power": [2**x],
        "approximate": [exp2(rows[2], x)],
        "weights": weights(rows[2]),
        "weight_errors": [largest_error(weights(row), loops.softmax_row(scores)) for row in rows],
    }


def fp8(x):
    """Round to four significant binary digits, or to a multiple of 2^-9 if that is coarser."""
    _, exponent = math.frexp(x)
    unit = max(exponent - 4, -9)
    return math.ldexp(round(math.ldexp(x, -unit)), unit)


@independent("fp8_blocks", "one number at a time", fixed=["HADAMARD"])
def fp8_blocks(literals):
    q, k = literals["Q"], literals["K"]
    h = [[x / 2 for x in row] for row in literals["HADAMARD"]]
    rotated_q, rotated_k = loops.matmul(q, h), loops.matmul(k, h)
    formats = {448: fp8, 127: round}

    def quantise(rows, size, largest):
        """Round with one scale for each `size` rows."""
        rounded = []
        for start in range(0, len(rows), size):
            block = rows[start : start + size]
            scale = max(abs(x) for row in block for x in row) / largest
            rounded += [[formats[largest](x / scale) * scale for x in row] for row in block]
        return rounded

    def error(q_rows, k_rows, sizes, largest):
        pairs = zip((q_rows, k_rows), sizes, strict=True)
        rounded_q, rounded_k = (quantise(rows, size, largest) for rows, size in pairs)
        scores = loops.matmul(rounded_q, list(zip(*rounded_k, strict=True)))
        exact = loops.matmul(q, list(zip(*k, strict=True)))
        squares = [math.dist(*rows) ** 2 for rows in zip(scores, exact, strict=True)]
        return math.sqrt(math.fsum(squares) / (len(q) * len(k)))

    return {
        "H": h,
        "rotated": rotated_k,
        "fp8_key": quantise(k, 8, 448)[3],
        "fp8_rotated": quantise(rotated_k, 8, 448)[3],
        "errors": [
            [
                error(q, k, (4, 8), largest),
                error(q, k, (2, 2), largest),
                error(rotated_q, rotated_k, (4, 8), largest),
            ]
            for largest in formats
        ],
    }


SEQUENCES = ["LENGTHS_Q", "LENGTHS_K", "OFFSETS_Q", "OFFSETS_K"]


@independent("packed_sequences", "a rule for each pair", fixed=SEQUENCES)
def packed_sequences(literals):
    q, k, v = (literals[name] for name in "QKV")
    # The sequence of each query and key, and its place there.
    places_q, places_k = [(0, 0), (1, 0), (1, 1), (1, 2)], [(j // 3, j % 3) for j in range(3)]
    places_k += [(1, j) for j in range(5)]

    def sees(cached):
        def rule(i, j):
            (sequence, place), (of_key, place_of_key) = places_q[i], places_k[j]
            return sequence == of_key and place_of_key <= place + cached

        return rule

    _, output = loops.attention(q, k, v, sees(2))
    return {
        "offsets_q": [0, 1, 4],
        "offsets_k": [0, 3, 8],
        "mask": [[sees(2)(i, j) for j in range(8)] for i in range(4)],
        "outputs": output,
        "calls_agree": True,
        "outputs_top_left": loops.attention(q, k, v, sees(0))[1],
        "no_leading_zero": [[0] * 5, *output[1:]],
    }
