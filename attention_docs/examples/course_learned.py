"""A model of the course's shape whose matrices are learned.

The sentences are "X VERB Y because they REASON", where X and Y are two of `NOUNS` and the reason
belongs to X: 120 in all. Sentences in which X and Y are neighbours in `NOUNS` are held out, so the
model learns from 80 and is asked about 40 with pairs of nouns that it has never seen together. Two
of these are "birds pass boats because they" and "boats pass birds because they".

The model has the shape of the course's model: one block, two heads, and the same sizes, but a
vocabulary of 18 words. All its matrices begin with random numbers of standard deviation 1/4. In
each of 200 steps it predicts the next word at all five positions of all 80 sentences, and Adam with
weight decay updates the matrices. The loss is the mean of -log p over these predictions.

- `loss_they` and `accuracy`, in percent, count only the word after "they" in the sentences held
  out.
- The model was trained from ten seeds, 0 to 9. All steps but `accuracy_by_seed` belong to the seed
  with the lowest loss in the end. `loss_they_uniform` and `accuracy_uniform` come from a model with
  uniform attention weights, trained from the same seed.
- `X` has the learned vectors of the sentence's words. `before_2` are the weights of head 2 for
  "birds pass boats because they" before the first step of training.
- The columns of the last three steps are the whole model, the model without head 1, and the model
  without head 2. `next_words` counts the vocabulary from 0.

>>> show(computed(steps))
sentences [80 40]
step [0 20 40 60 80 100 120 140 160 180 200]
loss_they [2.8993 1.9056 1.8459 1.0399 0.2967 0.1270 0.0675 0.0507 0.0405 0.0348 0.0266]
loss_they_uniform [2.9043 1.8979 1.8509 1.8086 1.7615 1.9779 2.3701 2.6481 2.7595 2.9992 2.9787]
accuracy [10 10 10 70 100 100 100 100 100 100 100]
accuracy_uniform [10 10 10 10 30 30 30 20 20 20 20]
accuracy_by_seed [90 100 100 100 100 100 100 100 100 100]
X 5 x 7
[[ 0.1296  0.3344  0.2581  0.2761  0.6607 -0.1853  0.0625]
 [-0.1229 -0.0367  0.1777  0.1520  0.0940  0.1169  0.0804]
 [ 0.4162  0.2328 -0.0104  0.1455  0.5010  0.0631  0.0865]
 [-0.1179  0.1141  0.0195 -0.1425 -0.0981  0.0622  0.2085]
 [-0.1272 -0.0136 -0.0071 -0.0646 -0.1896 -0.3699 -0.0994]]
before_2 5 x 5
[[     1      0      0      0      0]
 [0.5415 0.4585      0      0      0]
 [0.3352 0.3334 0.3313      0      0]
 [0.2437 0.2608 0.2501 0.2454      0]
 [0.1972 0.2160 0.2031 0.1929 0.1908]]
weights_1 5 x 5
[[     1      0      0      0      0]
 [0.7842 0.2158      0      0      0]
 [0.2222 0.1833 0.5945      0      0]
 [0.1859 0.4034 0.1574 0.2533      0]
 [0.1608 0.3125 0.0639 0.2566 0.2062]]
weights_2 5 x 5
[[     1      0      0      0      0]
 [0.2733 0.7267      0      0      0]
 [0.0106 0.5488 0.4407      0      0]
 [0.1443 0.3695 0.1831 0.3031      0]
 [0.7614 0.0461 0.0629 0.0745 0.0551]]
weights_2_swapped 5 x 5
[[     1      0      0      0      0]
 [0.2132 0.7868      0      0      0]
 [0.0026 0.3080 0.6895      0      0]
 [0.1103 0.3623 0.2302 0.2971      0]
 [0.8983 0.0232 0.0134 0.0374 0.0277]]
with_positions 5 x 7
[[ 0.2953  0.7120  0.0002 -0.2995  0.8518  0.1290 -0.2840]
 [-0.3219 -0.0220  0.4607  0.2887  0.2330  0.2595  0.0265]
 [ 0.9837 -0.1571 -0.2694  0.3035  0.9573 -0.6581  0.7833]
 [-0.2745  0.3152  0.0521 -0.2722 -0.2398  0.0849  0.5603]
 [-0.1717 -0.1418  0.0692 -0.0717 -0.3525 -0.5474 -0.1832]]
Q_2 5 x 3
[[ 0.3770  0.5669  0.6755]
 [ 0.3560  0.1296  0.4393]
 [ 1.3937  1.1104  1.1111]
 [-0.1944  0.3117  0.6523]
 [-0.8825 -0.7490 -0.9252]]
K_2 5 x 3
[[-1.2650 -1.6275 -1.0163]
 [ 0.3341  0.6339  0.8761]
 [ 1.5325 -0.0129 -0.3225]
 [ 0.1447  0.2328  0.4847]
 [ 0.7283  0.4236  0.3369]]
V_2 5 x 4
[[ 0.1495  0.4251  0.4677  0.3161]
 [-0.0559  0.3352 -0.1861 -0.1549]
 [-0.4736 -0.0510  0.1942  0.5943]
 [ 0.2896 -0.0058 -0.1830 -0.1421]
 [ 0.0954 -0.1424 -0.2898  0.1298]]
masked_2 5 x 5
[[-1.2044    -inf    -inf    -inf    -inf]
 [-0.6395  0.3383    -inf    -inf    -inf]
 [-2.7133  1.2373  1.0179    -inf    -inf]
 [-0.5337  0.4065 -0.2957  0.2082    -inf]
 [ 1.8913 -0.9124 -0.6030 -0.4333 -0.7343]]
output_2 5 x 4
[[ 0.1495 0.4251  0.4677  0.3161]
 [ 0.0002 0.3598 -0.0074 -0.0262]
 [-0.2378 0.1660 -0.0116  0.1802]
 [ 0.0020 0.1741 -0.0212  0.0541]
 [ 0.1083 0.3276  0.3301  0.2674]]
block 5 x 7
[[ 0.7937  0.8880 -1.5018 -1.1732  0.9799  0.7100 -0.6967]
 [-1.3929 -1.1188 -0.3149  0.7704  0.0473  1.7445  0.2643]
 [ 1.2076 -0.4355 -1.3722  0.0891  0.8521 -1.3275  0.9863]
 [-0.9621  0.7435 -0.4625 -0.8207 -0.8129  0.3528  1.9619]
 [ 0.6380 -1.0686  0.1000  0.8683 -1.7507 -0.0592  1.2723]]
reasons [0.9800 0.0082 1.3e-06 0.0008 0.0044 0.0001]
next_words [[12 12 16] [13 13 16]]
log_odds [[4.7815 6.1262 6.0845] [-4.3551 -2.1951 6.0836]]
accuracy_without [100 90 20]
"""

from dataclasses import replace
from functools import cache
from itertools import islice, product

import numpy

from attention_docs.learning import evaluate, train
from attention_docs.softmax import softmax
from attention_docs.tasks import Batch, one_hot
from attention_docs.transformer_block import Block

TITLE = "A model of the course that is learned"
SOURCE = "our own example"

NOUNS = ["birds", "boats", "fish", "horses", "snakes", "trucks"]
VERBS = ["pass", "follow", "lead", "beat"]
REASONS = ["fly", "sail", "swim", "gallop", "crawl", "roll"]  # one for each noun
VOCABULARY = [*NOUNS, *VERBS, "because", "they", *REASONS]

MODEL = Block(vocabulary=len(VOCABULARY), length=5, d_model=7, d_k=3, d_v=4, d_ff=1)
UNIFORM = replace(MODEL, scale=0.0)
SENTENCES = ["birds pass boats because they", "boats pass birds because they"]
WORDS, SWAPPED = SENTENCES[0].split(), SENTENCES[1].split()
ABLATIONS = ["whole", "without head 1", "without head 2"]
# The features of a learned model have no names.
FEATURES = [str(feature) for feature in range(1, MODEL.d_model + 1)]
KEY_FEATURES, VALUE_FEATURES = FEATURES[: MODEL.d_k], FEATURES[: MODEL.d_v]
LABELS = {
    "accuracy_without": (ABLATIONS,),
    "X with_positions block": (WORDS, FEATURES),
    "before_2 weights_1 weights_2 masked_2": (WORDS, WORDS),
    "weights_2_swapped": (SWAPPED, SWAPPED),
    "Q_2 K_2": (WORDS, KEY_FEATURES),
    "V_2 output_2": (WORDS, VALUE_FEATURES),
    "reasons": (REASONS,),
    "next_words log_odds": (SENTENCES, ABLATIONS),
}

DEVIATION = 1 / 4  # the standard deviation of the initial weights
RATE = 3 / 100
DECAY = 1 / 5
STEPS = 200
STEPS_PER_CHECKPOINT = 20
SEEDS = range(10)

THEY = "the word after “they” in sentences held out"
FORMULAS = {
    "sentences": "how many sentences the model learns from, and how many are held out",
    "step": "how often Adam has changed the matrices",
    "loss_they": f"the mean of −log p of {THEY}",
    "loss_they_uniform": "the same mean, with uniform weights",
    "accuracy": f"how often, in %, {THEY} is predicted",
    "accuracy_uniform": "accuracy, with uniform weights",
    "accuracy_by_seed": f"accuracy after {STEPS} steps, for each of ten seeds",
    "X": "the learned vectors of “birds pass boats because they”",
    "before_2": "the weights of head 2 before the first step",
    "weights_1": f"the weights of head 1 after {STEPS} steps",
    "weights_2": f"the weights of head 2 after {STEPS} steps",
    "weights_2_swapped": f"the weights of head 2 after {STEPS} steps, nouns exchanged",
    "with_positions": "the learned vectors of the words and of their positions, added",
    "Q_2": "the queries of head 2",
    "K_2": "the keys of head 2",
    "V_2": "the values of head 2",
    "masked_2": "the scores of head 2, divided by √3, with later words hidden",
    "output_2": "what head 2 gives each word",
    "block": "the output of the block",
    "reasons": "the probability of each reason after “birds pass boats because they”",
    "next_words": "the word with the largest probability in both sentences, counted from 0",
    "log_odds": "log(fly / sail)",
    "accuracy_without": f"accuracy after {STEPS} steps",
}


def steps(xp=numpy):
    """Train the model from each seed, and return its losses, its weights and its predictions.

    All steps but `accuracy_by_seed` belong to the seed with the lowest loss.
    """
    runs = [checkpoints(MODEL, seed) for seed in SEEDS]
    final_weights = [run[-1] for run in runs]
    training_batch = sentences_batch()
    final_losses = [evaluate(MODEL, weights, training_batch)[0] for weights in final_weights]
    best_seed = int(numpy.argmin(final_losses))  # the seeds are their own indices
    learned = runs[best_seed]
    computed = {
        **training_steps(learned, checkpoints(UNIFORM, best_seed)),
        "accuracy_by_seed": evaluate_held_out(MODEL, final_weights)[1],
        **attention_before_and_after(learned[0], learned[-1]),
        **ablation_steps(learned[-1]),
    }
    return {name: xp.asarray(array) for name, array in computed.items()}


def training_steps(learned, uniform):
    """Return the losses and the accuracies at each checkpoint, with learned and uniform weights."""
    loss_they, accuracy = evaluate_held_out(MODEL, learned)
    loss_they_uniform, accuracy_uniform = evaluate_held_out(UNIFORM, uniform)
    return {
        "sentences": numpy.array([len(sentences(held_out)) for held_out in (False, True)]),
        "step": numpy.arange(0, STEPS + 1, STEPS_PER_CHECKPOINT),
        "loss_they": loss_they,
        "loss_they_uniform": loss_they_uniform,
        "accuracy": accuracy,
        "accuracy_uniform": accuracy_uniform,
    }


def attention_before_and_after(first, last):
    """Return the attention weights before the first and after the last step, and head 2 in full."""
    before, after = run_on_both_sentences(first), run_on_both_sentences(last)
    return {
        "X": last["X"][word_indices(WORDS)],
        "before_2": before.steps[1].weights[0],
        "weights_1": after.steps[0].weights[0],
        "weights_2": after.steps[1].weights[0],
        "weights_2_swapped": after.steps[1].weights[1],
        **first_sentence_steps(after),
    }


def first_sentence_steps(run):
    """Return the steps of head 2 on the first sentence, and the probability of each reason."""
    (q, k, v), head = run.heads[1], run.steps[1]  # of head 2, for both sentences
    return {
        "with_positions": run.with_positions[0],
        "Q_2": q[0],
        "K_2": k[0],
        "V_2": v[0],
        "masked_2": head.masked[0],
        "output_2": head.output[0],
        "block": run.output.rows[0],
        "reasons": softmax(run.logits[0])[-1, word_indices(REASONS)],
    }


def ablation_steps(weights):
    """Return the words predicted after both sentences by the whole model and without each head."""
    # Without the output matrix of a head, the block lacks what the head adds.
    without_head = [{**weights, f"W_O_{i}": 0 * weights[f"W_O_{i}"]} for i in (1, 2)]
    ablations = [weights, *without_head]
    after_they = numpy.stack(
        [softmax(run_on_both_sentences(ablated).logits[:, -1]) for ablated in ablations], axis=1
    )
    fly, sail = (after_they[:, :, VOCABULARY.index(word)] for word in ("fly", "sail"))
    return {
        "next_words": numpy.argmax(after_they, axis=-1),
        "log_odds": numpy.log(fly / sail),
        "accuracy_without": evaluate_held_out(MODEL, ablations)[1],
    }


def sentences(held_out):
    """Return the sentences to train on, or those held out, whose nouns are neighbours in NOUNS."""
    pairs = [(i, j) for i, j in product(range(len(NOUNS)), repeat=2) if i != j]
    return [
        [NOUNS[i], verb, NOUNS[j], "because", "they", REASONS[i]]
        for (i, j), verb in product(pairs, VERBS)
        if (abs(i - j) == 1) == held_out
    ]


def word_indices(words):
    return [VOCABULARY.index(word) for word in words]


def sentences_batch(held_out=False):
    """Return sentences as one batch, with the next word of each position as its target."""
    words = numpy.array([word_indices(sentence) for sentence in sentences(held_out)])
    tokens = one_hot(words, len(VOCABULARY))
    return Batch(tokens[:, :-1], tokens[:, 1:])


@cache
def checkpoints(model, seed):
    """Train a model, and return its weights at the start and after every STEPS_PER_CHECKPOINT."""
    batch = sentences_batch()
    initial_weights = model.initial_weights(seed, DEVIATION)

    # Each step takes all sentences and draws none, so the seed is unused.
    training = train(model, initial_weights, lambda _: batch, RATE, seed=0, decay=DECAY)
    return list(islice(training, 0, STEPS + 1, STEPS_PER_CHECKPOINT))


def evaluate_held_out(model, run):
    """Return the losses and accuracies of the word after "they" in the held-out sentences.

    Each is an array with one number for each of the weights in `run`.
    """
    tokens, targets = sentences_batch(held_out=True)
    is_they = numpy.arange(MODEL.length)[:, None] == WORDS.index("they")
    test = Batch(tokens, targets * is_they)
    losses, accuracies = zip(*(evaluate(model, weights, test) for weights in run), strict=True)
    return numpy.array(losses), numpy.array(accuracies)


def run_on_both_sentences(weights):
    """Run the model on "birds pass boats because they" and "boats pass birds because they"."""
    words = numpy.array([word_indices(WORDS), word_indices(SWAPPED)])
    return MODEL.run(weights, one_hot(words, len(VOCABULARY)))
