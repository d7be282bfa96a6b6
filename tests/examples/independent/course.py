"""The course, in slow loops."""

import itertools
import math
import statistics

import numpy as np

from tests import loops
from tests.examples.comparison import independent
from tests.examples.independent.backward import gradient
from tests.examples.independent.one_head import is_causal

BIRDS, PASS, BOATS, BECAUSE, THEY = range(5)
LOOPS = "slow loops"


def add_positions(literals):
    return loops.add(literals["X"], literals["E"])


def swap_nouns(words):
    """Return the rows with birds and boats exchanged."""
    return [words[BOATS], words[PASS], words[BIRDS], words[BECAUSE], words[THEY]]


def project(literals, rows, head=1):
    """Return the queries, keys and values of a head."""
    names = (f"W_Q_{head}", f"W_K_{head}", "W_V")
    return [loops.matmul(rows, literals[name]) for name in names]


def head(literals, number, rows, allowed=is_causal, **kwargs):
    """Return the steps of one head by name."""
    return loops.every_step(*project(literals, rows, number), allowed, **kwargs)


def multi_head_output(literals, rows, heads=(1, 2), **kwargs):
    outputs = [(i, head(literals, i, rows, **kwargs)["output"]) for i in heads]
    parts = [loops.matmul(output, literals[f"W_O_{i}"]) for i, output in outputs]
    return [
        [math.fsum(column) for column in zip(*words, strict=True)]
        for words in zip(*parts, strict=True)
    ]


def layer_norm(rows):
    """Shift and scale every row to mean 0 and variance 1."""
    normed = []
    for row in rows:
        mean, std = statistics.fmean(row), math.sqrt(statistics.pvariance(row) + 1e-5)
        normed.append([(x - mean) / std for x in row])
    return normed


def feed_forward(literals, rows):
    """Return the hidden features before and after ReLU, and the output of the network."""
    before = [[x + literals["B_1"][0] for x in row] for row in loops.matmul(rows, literals["W_1"])]
    hidden = [[max(0.0, x) for x in row] for row in before]
    return before, hidden, loops.matmul(hidden, literals["W_2"])


def block(literals, rows, extra=None):
    """Return the block's output; `extra` replaces what the two heads add to its input."""
    extra = multi_head_output(literals, rows) if extra is None else extra
    attended = layer_norm(loops.add(rows, extra))
    return layer_norm(loops.add(attended, feed_forward(literals, attended)[2]))


def probabilities(literals, rows):
    """Return the probabilities of the next word after each row."""
    logits = loops.matmul(rows, literals["W_VOCABULARY"])
    return [loops.softmax_row(row) for row in logits]


@independent("course_sentence", "counting rows and columns")
def course_sentence(literals):
    query_row, value_row = literals["W_Q_1"][0], literals["W_V"][0]
    heads = sum(f"W_Q_{i}" in literals for i in range(10))
    return {
        "sizes": [
            len(literals["X"]),
            len(literals["X"][0]),
            len(query_row),
            len(value_row),
            heads,
            len([*query_row, *literals["W_Q_2"][0]]),  # the queries of both heads, side by side
            len(heads * [*value_row]),
            len(literals["W_1"][0]),
            len(literals["VOCABULARY"]),
        ],
        # The embeddings and W_vocabulary, then W_Q, W_K, W_V and W_O, then W_1, b_1 and W_2.
        "parameters": 2 * 9 * 7 + 4 * 7 * 3 + 7 * 4 + 2 * 4 * 7 + 7 + 1 + 7,
    }


@independent("course_averages", LOOPS)
def course_averages(literals):
    x = literals["X"]
    dots = [[loops.dot(a, b) for b in x] for a in x]
    weights = [loops.softmax_row(row) for row in dots]
    powers = [math.exp(dot) for dot in dots[BIRDS]]
    return {
        "mean": [statistics.fmean(column) for column in zip(*x, strict=True)],
        "dots": dots,
        "birds_exponentials": powers,
        "birds_sum": math.fsum(powers),
        "weights": weights,
        "blended": loops.matmul(weights, x),
    }


@independent("course_projections", LOOPS)
def course_projections(literals):
    q, k, v = project(literals, literals["X"])
    steps = loops.every_step(q, k, v, divisor=1)
    computed = {name: steps[name] for name in ("scores", "weights", "output")}
    alike = loops.attention(literals["X"], literals["X"], literals["X"], divisor=1)[0]
    return {"Q": q, "K": k, "V": v, **computed, "weights_alike": alike}


@independent(
    "course_scale",
    "slow loops, and a step in the imaginary direction",
    # One minus a weight near one has six significant digits.
    rtol=1e-6,
    atol=0,
)
def course_scale(literals):
    queries, keys, _ = project(literals, literals["X"])
    scores = [loops.dot(queries[BIRDS], key) for key in keys]
    scaled = [score / math.sqrt(3) for score in scores]
    grown = [[z * math.sqrt(d / literals["D"][0]) for z in scores] for d in literals["D"]]
    slopes = [loops.softmax_slopes(row)[PASS][PASS] for row in (scaled, *grown)]
    return {
        "scores": scores,
        "weights_unscaled": loops.softmax_row(scores),
        "scaled": scaled,
        "weights": loops.softmax_row(scaled),
        "slope": slopes[0],
        "scores_of_pass": [row[PASS] for row in grown],
        "weights_by_d": [loops.softmax_row(row) for row in grown],
        "slope_by_d": slopes[1:],
    }


@independent("course_plane", LOOPS, fixed=["ORDER"])
def course_plane(literals):
    birds, boats = literals["NOUNS"]
    fifths = [value / 5 for value in (boats, birds)[literals["ORDER"][0]]]
    mean = [math.fsum(pair) / 5 for pair in zip(birds, boats, strict=True)]
    return {"order": literals["ORDER"], "mean": mean, "path": [[0, 0], fifths, mean]}


@independent("turning_clock", "complex numbers of length one", fixed=["POSITION"])
def turning_clock(literals):
    first, second = (complex(*row[5:]) for row in literals["E"][:2])
    cosine = (first * second.conjugate()).real
    step = complex(cosine, -math.sqrt(1 - cosine**2))
    turned = [first * step ** min(i, literals["POSITION"][0] - 1) for i in range(8)]
    return {"hands": [[hand.real, hand.imag] for hand in turned]}


@independent("clicked_mask", LOOPS, fixed=["MASK"])
def clicked_mask(literals):
    steps = head(literals, 1, add_positions(literals), lambda i, j: literals["MASK"][i][j])
    computed = {name: steps[name] for name in ("masked", "weights", "output")}
    rows = enumerate(steps["weights"])
    return {
        **computed,
        "mask": literals["MASK"],
        "leaked": [math.fsum(row[i + 1 :]) for i, row in rows],
    }


@independent("course_formula", LOOPS)
def course_formula(literals):
    q, k, v = project(literals, literals["X"])
    steps = loops.every_step(q, k, v)
    powers = [[math.exp(z) for z in row] for row in steps["scaled"]]
    computed = {name: steps[name] for name in ("scores", "scaled", "weights", "output")}
    sums = [math.fsum(row) for row in powers]
    return {"Q": q, "K": k, "V": v, **computed, "exponentials": powers, "sums": sums}


@independent("course_order", LOOPS)
def course_order(literals):
    x = literals["X"]
    hands = [row[5:] for row in literals["E"]]
    computed = {
        "X_swapped": swap_nouns(x),
        "with_positions": add_positions(literals),
        "angle": math.degrees(math.acos(loops.dot(hands[0], hands[1]))),
    }
    rows = {
        "": x,
        "_swapped": computed["X_swapped"],
        "_with_positions": computed["with_positions"],
        "_with_positions_swapped": loops.add(swap_nouns(x), literals["E"]),
    }
    for ending, words in rows.items():
        steps = head(literals, 1, words, lambda i, j: True)
        computed |= {f"{step}{ending}": steps[step] for step in ("weights", "output")}
    queries, keys, _ = project(literals, computed["with_positions"])
    return {**computed, "K_with_positions": keys, "they_query": queries[THEY]}


@independent("course_order", LOOPS)
def they_scores_with_positions(literals):
    queries, keys, _ = project(literals, add_positions(literals))
    return {"they_scores": [loops.dot(queries[THEY], key) for key in keys]}


@independent("course_mask", LOOPS)
def course_mask(literals):
    steps = head(literals, 1, add_positions(literals))
    open_weights = head(literals, 1, add_positions(literals), lambda i, j: True)["weights"]
    late = [[w if j <= i else 0.0 for j, w in enumerate(row)] for i, row in enumerate(open_weights)]
    exchanged = head(literals, 1, loops.add(swap_nouns(literals["X"]), literals["E"]))
    return {
        **{name: steps[name] for name in ("scaled", "masked", "weights", "output")},
        "open_weights": open_weights,
        "masked_late": late,
        "late_sums": [math.fsum(row) for row in late],
        "mask": [[j <= i for j in range(5)] for i in range(5)],
        **{f"{name}_swapped": exchanged[name] for name in ("masked", "weights")},
    }


@independent("course_heads", LOOPS)
def course_heads(literals):
    rows, computed = add_positions(literals), {"with_positions": add_positions(literals)}
    for i in (1, 2):
        steps = head(literals, i, rows)
        computed |= {f"weights_{i}": steps["weights"], f"head_{i}": steps["output"]}
        computed[f"K_{i}"] = project(literals, rows, i)[1]
        computed[f"added_{i}"] = loops.matmul(steps["output"], literals[f"W_O_{i}"])
    return {
        **computed,
        "Q_1": project(literals, rows, 1)[0],
        "V": project(literals, rows, 1)[2],
        "side_by_side": np.hstack([computed["head_1"], computed["head_2"]]),
        "W_O": [*literals["W_O_1"], *literals["W_O_2"]],
        "output": loops.add(computed["added_1"], computed["added_2"]),
        "one_head_weights": one_head_over_both(literals)["weights"],
    }


def one_head_over_both(literals):
    """Return the steps of one head that has the queries and keys of both heads, side by side."""
    (q_1, k_1, v), (q_2, k_2, _) = (project(literals, add_positions(literals), i) for i in (1, 2))
    q, k = ([[*a, *b] for a, b in zip(*both, strict=True)] for both in ((q_1, q_2), (k_1, k_2)))
    return loops.every_step(q, k, v, is_causal)


@independent("course_heads", LOOPS)
def scores_of_heads(literals):
    first, second = (head(literals, i, add_positions(literals))["scores"] for i in (1, 2))
    both = [first[THEY], second[THEY]]
    return {
        "they_scores": [*both, [a + b for a, b in zip(*both, strict=True)]],
        "Q_2": project(literals, add_positions(literals), 2)[0],
        "pass_query": project(literals, add_positions(literals), 2)[0][PASS],
        "pass_scores": second[PASS],
    }


@independent("course_block", LOOPS)
def course_block(literals):
    rows = add_positions(literals)
    extra = multi_head_output(literals, rows)
    summed = loops.add(rows, extra)
    before, hidden, fed = feed_forward(literals, layer_norm(summed))
    stages = [
        rows,
        summed,
        layer_norm(summed),
        loops.add(layer_norm(summed), fed),
        block(literals, rows, extra),
    ]
    return {
        "added": extra,
        "with_positions": rows,
        "summed": summed,
        "mean": [statistics.fmean(row) for row in summed],
        "variance": [statistics.pvariance(row) for row in summed],
        "normed": layer_norm(summed),
        "before": before,
        "hidden": hidden,
        "fed": fed,
        "output": stages[-1],
        "they": [stage[THEY] for stage in stages],
    }


def argmax(row):
    return row.index(max(row))


@independent("course_next_token", LOOPS, atol=1e-15, fixed=["SWITCHES"])
def course_next_token(literals):
    rows = add_positions(literals)
    output = block(literals, rows)
    predicted = probabilities(literals, output)
    other = loops.add(swap_nouns(literals["X"]), literals["E"])
    losses = [-math.log(row[i + 1]) for i, row in enumerate(predicted)]
    longer = [*rows, literals["FLY_WITH_POSITION"]]
    appended = probabilities(literals, block(literals, longer))[-1]
    logits = loops.matmul(output, literals["W_VOCABULARY"])
    tempered = [
        loops.softmax_row([z / temperature for z in logits[-1]])
        for temperature in literals["TEMPERATURES"]
    ]
    return {
        "output": output,
        "logits": logits,
        "probabilities": predicted,
        "probabilities_swapped": probabilities(literals, block(literals, other)),
        "next_token": argmax(predicted[-1]),
        "next_token_swapped": argmax(probabilities(literals, block(literals, other))[-1]),
        "losses": losses,
        "loss": statistics.fmean(losses),
        "appended": appended,
        "next_but_one": argmax(appended),
        "tempered": tempered,
    }


@independent("course_ablation", LOOPS, fixed=["SWITCHES"])
def course_ablation(literals):
    rows = add_positions(literals)
    other = loops.add(swap_nouns(literals["X"]), literals["E"])
    output = block(literals, rows)
    words = [literals["VOCABULARY"].index(word) for word in literals["ENDINGS"]]
    both = [probabilities(literals, block(literals, x)) for x in (rows, other)]
    last_rows = [sentence[THEY] for sentence in both]
    vocabulary = literals["VOCABULARY"]
    following = [*literals["NEXT_WORDS"], *literals["NEXT_WORDS_SWAPPED"]]
    predicted = zip(itertools.chain(*both), map(vocabulary.index, following), strict=True)
    return {
        "with_positions": rows,
        **{f"weights_{i}": head(literals, i, rows)["weights"] for i in (1, 2)},
        "output": multi_head_output(literals, rows),
        "block_output": output,
        "probabilities": probabilities(literals, output),
        "endings": [[row[word] for word in words] for row in last_rows],
        "right": [sum(argmax(row) == word for row, word in predicted)],
    }


def probabilities_without(literals, component, words=None):
    """Return the probabilities of each row if a component of the model is left out."""
    words = words or literals["X"]
    rows = words if component == "positions" else loops.add(words, literals["E"])
    heads = [i for i in (1, 2) if component != f"head {i}"]
    changed = {"scale": {"divisor": 1}, "mask": {"allowed": lambda i, j: True}}
    extra = multi_head_output(literals, rows, heads, **changed.get(component, {}))
    rows = extra if component == "first residual sum" else loops.add(rows, extra)
    rows = rows if component in ("first norm", "both norms") else layer_norm(rows)
    if component != "feed-forward network":
        rows = loops.add(rows, feed_forward(literals, rows)[2])
    rows = rows if component in ("second norm", "both norms") else layer_norm(rows)
    return probabilities(literals, rows)


@independent("course_next_token", "slow loops without the component")
def ablations(literals):
    x, words = literals["X"], literals["VOCABULARY"]
    fly, sail = words.index("fly"), words.index("sail")
    following = {False: [1, 2, 3, 4, fly], True: [1, 0, 3, 4, sail]}
    computed = {"fly": [], "sail": []}
    counts = [0] * (1 + len(literals["WITHOUT"]))
    for is_swapped, sentence in ((False, x), (True, swap_nouns(x))):
        rows = [
            probabilities_without(literals, component, sentence)
            for component in (None, *literals["WITHOUT"])
        ]
        last = [row[THEY] for row in rows]
        computed["fly"].append([row[fly] for row in last])
        computed["sail"].append([row[sail] for row in last])
        for component, sentence_rows in enumerate(rows):
            for row, word in zip(sentence_rows, following[is_swapped], strict=True):
                rivals = [p for index, p in enumerate(row) if index != word]
                counts[component] += row[word] > max(rivals) + 5e-10
    return {**computed, "right": counts}


@independent("course_step", LOOPS, fixed=["Y"])
def course_step(literals):
    words, (rate,) = literals["VOCABULARY"], literals["RATE"]
    fly, sail = words.index("fly"), words.index("sail")
    answers = [row.index(1) for row in literals["Y"]]
    exchanged = [{BIRDS: BOATS, BOATS: BIRDS, fly: sail}.get(word, word) for word in answers]
    rows = add_positions(literals)
    output = block(literals, rows)
    p = probabilities(literals, output)
    d_logits = [
        [(q - (j == answer)) / len(p) for j, q in enumerate(row)]
        for row, answer in zip(p, answers, strict=True)
    ]
    gradient = loops.matmul(np.transpose(output), d_logits)
    steps = [[-rate * slope for slope in row] for row in gradient]
    after = {"W_VOCABULARY": loops.add(literals["W_VOCABULARY"], steps)}
    p_after = probabilities(after, output)
    other = loops.add(swap_nouns(literals["X"]), literals["E"])
    output_other = block(literals, other)
    matrices = (literals["W_VOCABULARY"], steps, after["W_VOCABULARY"])

    def loss(rows, answers):
        return -statistics.fmean(math.log(row[i]) for row, i in zip(rows, answers, strict=True))

    return {
        "output": output,
        "probabilities": p,
        "d_logits": d_logits,
        "gradient": gradient,
        "column": [[row[fly] for row in rows] for rows in zip(*matrices, strict=True)],
        "loss": loss(p, answers),
        "loss_after": loss(p_after, answers),
        "expected": -rate * math.fsum(slope**2 for row in gradient for slope in row),
        "fly": [p[THEY][fly], p_after[THEY][fly]],
        "swapped": [loss(probabilities(w, output_other), exchanged) for w in (literals, after)],
    }


@independent("course_step", "differences of slow loops", rtol=1e-6, atol=1e-9, fixed=["Y"])
def query_gradients(literals):
    rows, fly = np.array(add_positions(literals)), literals["VOCABULARY"].index("fly")
    _, keys, values = map(np.array, project(literals, rows))
    other = rows[THEY] + multi_head_output(literals, rows, [2])[THEY]
    steps = {
        "query": lambda a: rows[THEY] @ a["W_Q"],
        "scores": lambda a: keys @ a["query"],
        "scaled": lambda a: a["scores"] / math.sqrt(3),
        "weights": lambda a: np.array(loops.softmax_row(a["scaled"])),
        "head_1": lambda a: a["weights"] @ values,
        "summed": lambda a: other + a["head_1"] @ np.array(literals["W_O_1"]),
        "output": lambda a: block(literals, [a["summed"]], [[0] * 7]),
        "loss": lambda a: -math.log(probabilities(literals, a["output"])[0][fly]),
    }
    arrays = {"W_Q": np.array(literals["W_Q_1"], dtype=float)}
    names = ("query", "scores", "scaled", "weights", "head_1", "summed")
    return {
        "K": keys,
        "V": values,
        **{f"d_{name}": [gradient(steps, arrays, name)] for name in names},
        "d_W_Q": gradient(steps, arrays, "W_Q")[[4]],  # the row of "refers"
    }


@independent("course_test", LOOPS)
def course_test(literals):
    x = literals["X"]
    q, k, v = project(literals, x)
    steps = loops.every_step(q, k, v)
    rows = loops.add(x, literals["E"])
    predicted = probabilities(literals, block(literals, rows))
    queries, keys, _ = project(literals, rows)
    scores, loss = steps["scores"][PASS], -math.log(predicted[THEY][6])
    weights = [
        loops.softmax_row(scores)[2],
        scores[2] / math.fsum(scores),
        1 - steps["weights"][PASS][2],
    ]
    hand_once = loops.dot(queries[THEY], [keys[0][0], 0, rows[0][6]])
    return {
        "mistakes": [*weights, hand_once, loss / math.log(10), -loss],
        "reasons": [q * (a - b) for q, a, b in zip(queries[THEY], keys[0], keys[2], strict=True)],
        "slope": loops.softmax_slopes(steps["scaled"][PASS])[2][2],
        "summed": loops.add(rows, multi_head_output(literals, rows))[THEY],
        "times_as_likely": [(predicted[THEY][6] / predicted[THEY][8]) ** (1 / t) for t in (1, 2)],
        "key_with_positions": keys[0],
        "score_with_positions": loops.dot(queries[THEY], keys[0]),
        "loss": loss,
        "dots": [[loops.dot(a, b) for b in x] for a in x],
        "Q": q,
        "K": k,
        "V": v,
        **{name: steps[name] for name in ("scores", "scaled", "weights", "output")},
        "removed": [math.fsum(row[i + 1 :]) for i, row in enumerate(steps["weights"])],
        "probabilities": predicted,
        "next_token": argmax(predicted[-1]),
    }
