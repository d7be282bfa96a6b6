"""The learned model of the course: what was trained, evaluated in slow loops."""

import itertools
import math
import statistics

import numpy as np
from numpy.random import RandomState

from tests import loops
from tests.examples import trained
from tests.examples.comparison import independent
from tests.examples.independent import course

SENTENCE = ["birds", "pass", "boats", "because", "they"]
SWAPPED = ["boats", "pass", "birds", "because", "they"]
LOOPS = "slow loops over the matrices that were trained"


def vocabulary_and_sentences(literals):
    """Return the words, the sentences to learn from, and those that are held out.

    Held out are the sentences whose nouns are neighbours in the list.
    """
    nouns, verbs, reasons = (literals[name] for name in ("NOUNS", "VERBS", "REASONS"))
    learned, held_out = [], []
    for a in range(len(nouns)):
        for b in set(range(len(nouns))) - {a}:
            for verb in verbs:
                sentence = [nouns[a], verb, nouns[b], "because", "they", reasons[a]]
                (held_out if a in (b - 1, b + 1) else learned).append(sentence)
    return [*nouns, *verbs, "because", "they", *reasons], learned, held_out


def chances(matrices, words, sentence, heads=(1, 2), divisor=None):
    """Return the probability of each word after each of the first five words of a sentence."""
    rows = embed(matrices, words, sentence[:5])
    extra = course.multi_head_output(matrices, rows, heads, divisor=divisor)
    return course.probabilities(matrices, course.block(matrices, rows, extra))


def embed(matrices, words, sentence):
    return loops.add([matrices["X"][words.index(word)] for word in sentence], matrices["E"])


def attention_weights(matrices, number, words, sentence):
    return course.head(matrices, number, embed(matrices, words, sentence))["weights"]


def loss(matrices, words, sentences):
    """Return the mean loss over all words of the sentences."""
    losses = []
    for sentence in sentences:
        rows = zip(chances(matrices, words, sentence), sentence[1:], strict=True)
        losses += [-math.log(row[words.index(word)]) for row, word in rows]
    return statistics.fmean(losses)


def evaluate(matrices, words, sentences, **options):
    """Return the loss and the accuracy, in percent, of the word after "they"."""
    losses, right = [], 0
    for sentence in sentences:
        row = chances(matrices, words, sentence, **options)[-1]
        answer = words.index(sentence[-1])
        losses.append(-math.log(row[answer]))
        right += course.argmax(row) == answer
    return statistics.fmean(losses), round(100 * right / len(sentences))


@independent("course_learned", LOOPS, atol=0)
def training(literals):
    words, learned, held_out = vocabulary_and_sentences(literals)
    runs = [trained.checkpoints_of_course(seed) for seed in range(10)]
    losses = [loss(run[-1], words, learned) for run in runs]
    best = losses.index(min(losses))
    uniform = trained.checkpoints_of_course(best, is_uniform=True)
    loss_they, accuracy = zip(*(evaluate(w, words, held_out) for w in runs[best]), strict=True)
    loss_uniform, accuracy_uniform = zip(
        *(evaluate(w, words, held_out, divisor=math.inf) for w in uniform), strict=True
    )
    whole = runs[best][-1]
    return {
        "sentences": [len(learned), len(held_out)],
        "step": range(0, literals["STEPS"] + 1, literals["STEPS_PER_CHECKPOINT"]),
        "loss_they": loss_they,
        "loss_they_uniform": loss_uniform,
        "accuracy": accuracy,
        "accuracy_uniform": accuracy_uniform,
        "accuracy_by_seed": [evaluate(run[-1], words, held_out)[1] for run in runs],
        "accuracy_without": [
            evaluate(whole, words, held_out, heads=heads)[1] for heads in ((1, 2), (2,), (1,))
        ],
        **steps_of_sentences(literals, words, runs[best][0], whole),
    }


def steps_of_sentences(literals, words, untrained, learned):
    """Return the steps of head 2, and the answers to both sentences with and without a head."""
    rows = embed(learned, words, SENTENCE)
    q, k, v = course.project(learned, rows, 2)
    head = loops.every_step(q, k, v, course.is_causal)
    after_they = [
        [chances(learned, words, sentence, heads)[-1] for heads in ((1, 2), (2,), (1,))]
        for sentence in (SENTENCE, SWAPPED)
    ]
    fly, sail = words.index("fly"), words.index("sail")
    return {
        "X": [learned["X"][words.index(word)] for word in SENTENCE],
        "with_positions": rows,
        "Q_2": q,
        "K_2": k,
        "V_2": v,
        "masked_2": head["masked"],
        "output_2": head["output"],
        "block": course.block(learned, rows),
        "reasons": [after_they[0][0][words.index(reason)] for reason in literals["REASONS"]],
        "before_2": attention_weights(untrained, 2, words, SENTENCE),
        "weights_1": attention_weights(learned, 1, words, SENTENCE),
        "weights_2": head["weights"],
        "weights_2_swapped": attention_weights(learned, 2, words, SWAPPED),
        "next_words": [[course.argmax(row) for row in rows] for rows in after_they],
        "log_odds": [[math.log(row[fly] / row[sail]) for row in rows] for rows in after_they],
    }


@independent("course_training", "slow loops over the first weights, drawn once more")
def before_training(literals):
    words, learned, _ = vocabulary_and_sentences(literals)
    d, k, v, f = 7, 3, 4, 1
    shapes = {"X": (len(words), d), "E": (5, d)}
    for i in "12":
        shapes |= {f"W_Q_{i}": (d, k), f"W_K_{i}": (d, k), f"W_O_{i}": (v, d)}
    shapes |= {"W_V": (d, v), "W_1": (d, f), "B_1": (f,), "W_2": (f, d)}
    shapes |= {"W_VOCABULARY": (d, len(words))}
    draw = RandomState(literals["SEED"])
    matrices = {
        name: (literals["DEVIATION"] * draw.standard_normal(shape)).round(3).tolist()
        for name, shape in shapes.items()
    }
    after_they = chances(matrices, words, SENTENCE)[-1]
    return {
        "loss": loss(matrices, words, learned),
        **{f"weights_{i}": attention_weights(matrices, i, words, SENTENCE) for i in (1, 2)},
        "reasons": [after_they[words.index(reason)] for reason in literals["REASONS"]],
    }


@independent("course_writing", LOOPS)
def writing(literals):
    words, *_ = vocabulary_and_sentences(literals)
    learned = trained.checkpoints_of_course(literals["SEED"])[-1]
    matrices = {name: np.round(matrix, 3).tolist() for name, matrix in learned.items()}
    sentence = ["birds"]
    computed = {"probabilities": [], "written": [], "piece": []}
    for number in literals["DRAWS"]:
        # What follows the sentence is hidden, so it does not matter.
        rows = embed(matrices, words, [*sentence, *["they"] * 4][:5])
        logits = loops.matmul(course.block(matrices, rows), matrices["W_VOCABULARY"])
        tempered = [z / literals["TEMPERATURE"][0] for z in logits[len(sentence) - 1]]
        row = loops.softmax_row(tempered)
        ends = [0.0, *itertools.accumulate(row)]
        word = sum(end <= number for end in ends[1:-1])
        computed["probabilities"].append(row)
        computed["written"].append(word)
        computed["piece"].append(ends[word : word + 2])
        sentence.append(words[word])
    return {
        "written": computed["written"],
        **{name: list(zip(*computed[name], strict=True)) for name in ("probabilities", "piece")},
    }
