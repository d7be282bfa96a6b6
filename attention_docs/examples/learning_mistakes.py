"""What goes wrong when a part of a model is left out, shown by training each variant.

Every variant has its loss and its percentage of right predictions on 256 test sequences, at the
steps 0, 10, ..., 100, and for induction at 0, 25, ..., 250.

- Steps that start with `no_` are variants of `learning_reverse`, and steps that start with
  `induction_no_` variants of `learning_induction`.
- `wide` has d_k = 64 and larger initial embeddings, of variance one, and `wide_unscaled` is the
  same without the scale. `wide_accuracy_by_seed` and `wide_unscaled_accuracy_by_seed` are the
  percentages after 40 steps from six other initial weights, trained on other sequences.
- `walk` is a small language model: each token is followed by one of two, equally likely, so no
  model that cannot see the next token has a loss below log 2. `unmasked` sees the next token in
  training, and `unmasked_used` is its loss when the next token is hidden. `unshifted` is trained to
  predict the token itself, and `unshifted_used` is its loss when the target is the next token.

Training always uses NumPy, whatever library the steps are requested in.

>>> show(computed(steps))
step [0 10 20 30 40 50 60 70 80 90 100]
log_2 0.6931
no_positions [2.0038 1.8725 1.7660 1.6435 1.5594 1.5032 1.4829 1.4791 1.4657 1.4431 1.4380]
no_positions_accuracy [13 26 34 36 39 40 41 39 39 40 40]
no_residual [1.9665 1.8374 1.6120 1.1095 0.4783 0.0996 0.0063 0.0014 0.0007 0.0004 0.0003]
no_residual_accuracy [12 33 45 61 85 98 100 100 100 100 100]
induction_no_positions 11
[2.2230 2.1756 2.1347 2.1229 2.0734 1.9805 1.8595 1.6266 1.4981 1.2998 1.0777]
induction_no_positions_accuracy [13 16 16 14 16 18 34 45 48 57 66]
induction_no_residual [2.1880 2.2051 2.2024 2.2177 2.2006 2.1927 2.1714 2.1645 2.1619 2.1280 2.1394]
induction_no_residual_accuracy [13 8 11 10 12 12 12 15 11 16 16]
wide [2.9168 1.9690 1.5094 0.6935 0.1574 0.0239 0.0068 0.0031 0.0020 0.0015 0.0012]
wide_accuracy [14 23 46 86 98 100 100 100 100 100 100]
wide_unscaled [3.0578 2.1026 1.7792 1.5432 1.1174 0.6442 0.1707 0.0347 0.0121 0.0059 0.0038]
wide_unscaled_accuracy [15 19 36 54 71 87 98 100 100 100 100]
wide_accuracy_by_seed [78 86 100 98 97 100]
wide_unscaled_accuracy_by_seed [16 28 55 32 73 56]
walk [1.8273 1.4028 1.0078 0.7949 0.7463 0.7280 0.7218 0.7191 0.7153 0.7052 0.7136]
walk_accuracy [14 49 50 50 50 51 51 49 49 51 51]
unmasked [1.8248 1.4454 1.0748 0.7894 0.6331 0.5481 0.4974 0.4171 0.3130 0.1996 0.1668]
unmasked_accuracy [14 54 56 60 69 74 77 82 89 93 94]
unmasked_used [1.8273 1.4797 1.1861 1.0674 1.1926 1.2876 1.3596 1.5039 1.6876 2.0828 2.4615]
unmasked_used_accuracy [14 46 49 46 47 45 42 38 36 35 31]
unshifted [1.7086 1.0007 0.3042 0.0418 0.0079 0.0013 0.0005 0.0003 0.0002 0.0002 0.0002]
unshifted_accuracy [33 97 100 100 100 100 100 100 100 100 100]
unshifted_used [1.8273 2.1538 3.5914 6.7611 9.5027 10.9670 11.6837 12.0267 12.2021 12.3056 12.3804]
unshifted_used_accuracy [14 1 0 0 0 0 0 0 0 0 0]
"""

from dataclasses import replace
from functools import cache, partial
from itertools import islice

import numpy
from numpy.random import RandomState

from attention_docs.examples.learning_induction import TWO_LAYERS
from attention_docs.examples.learning_reverse import MODEL
from attention_docs.learning import Model, checkpoints, evaluate, train
from attention_docs.tasks import induction, reverse, walk

TITLE = "What goes wrong in training"
SOURCE = "our own example"

RATE = 1 / 100
WIDE = replace(MODEL, d_k=64)
WIDE_UNSCALED = replace(WIDE, scale=1.0)
# The initial embeddings have standard deviation 1 / sqrt(width). This factor makes it one.
EMBEDDING_SCALE = MODEL.width**0.5
SEEDS, EARLY = range(10, 16), 40
WALK = Model(vocabulary=6, length=8, width=16, d_k=8, is_causal=True)
UNMASKED = replace(WALK, is_causal=False)
unshifted_walk = partial(walk, shift=0)

MODELS = {
    "no_positions": "of the model without W_P",
    "no_residual": "of the model without the residual sum",
    "induction_no_positions": "of two layers without W_P",
    "induction_no_residual": "of two layers without the residual sum",
    "wide": f"with d_k = {WIDE.d_k}",
    "wide_unscaled": f"with d_k = {WIDE.d_k}, unscaled",
    "walk": "of the model with a causal mask",
    "unmasked": "of the model without a mask",
    "unmasked_used": "of the model trained without a mask, with one",
    "unshifted": "of the model that is asked for the token itself",
    "unshifted_used": "of the same model, asked for the next token",
}
LOSS = "mean −log p of right tokens, {}"
ACCURACY = "% of tokens predicted, {}"
FORMULAS = {
    "step": "how often Adam has changed the weights",
    "log_2": "log 2",
    **{name: LOSS.format(model) for name, model in MODELS.items()},
    **{f"{name}_accuracy": ACCURACY.format(model) for name, model in MODELS.items()},
    **{
        f"{name}_accuracy_by_seed": ACCURACY.format(f"{MODELS[name]}, {EARLY} steps, six starts")
        for name in ("wide", "wide_unscaled")
    },
}


def steps(xp=numpy):
    """Train each variant of the models, and return its losses and percentages of right tokens."""
    computed = {
        "step": numpy.arange(0, 101, 10),
        "log_2": numpy.log(numpy.array(2.0)),
        **learning_curve("no_positions", replace(MODEL, has_positions=False), reverse),
        **learning_curve("no_residual", replace(MODEL, has_residual=False), reverse),
        **learning_curve(
            "induction_no_positions", replace(TWO_LAYERS, has_positions=False), induction
        ),
        **learning_curve(
            "induction_no_residual", replace(TWO_LAYERS, has_residual=False), induction
        ),
        **learning_curve("wide", WIDE, reverse, embedding_scale=EMBEDDING_SCALE),
        **learning_curve("wide_unscaled", WIDE_UNSCALED, reverse, embedding_scale=EMBEDDING_SCALE),
        "wide_accuracy_by_seed": accuracy_by_seed(WIDE),
        "wide_unscaled_accuracy_by_seed": accuracy_by_seed(WIDE_UNSCALED),
        **learning_curve("walk", WALK, walk),
        **learning_curve("unmasked", UNMASKED, walk),
        **learning_curve("unmasked_used", UNMASKED, walk, test_model=WALK),
        **learning_curve("unshifted", WALK, unshifted_walk),
        **learning_curve("unshifted_used", WALK, unshifted_walk, test_task=walk),
    }
    return {name: xp.asarray(array) for name, array in computed.items()}


@cache
def learning_curve(
    name,
    model,
    task,
    *,
    embedding_scale=1.0,
    test_model=None,
    test_task=None,
):
    """Train a model on a task, and return its losses and percentages of right tokens as steps.

    The steps are called `name` and `name`_accuracy. The initial embeddings are multiplied by
    `embedding_scale`. The weights can be tested in another model or on another task.
    """
    test = (test_task or task)(RandomState(2), batch_size=256)
    training_steps = 250 if task is induction else 100
    run = checkpoints(model, task, training_steps, embedding_scale)
    results = [evaluate(test_model or model, weights, test) for weights in run]
    losses, accuracies = zip(*results, strict=True)
    return {name: numpy.array(losses), f"{name}_accuracy": numpy.array(accuracies)}


@cache
def accuracy_by_seed(model):
    """Return the percentage of right tokens after `EARLY` steps, for each seed in `SEEDS`."""
    test = reverse(RandomState(2), batch_size=256)
    percentages = []
    for seed in SEEDS:
        initial = model.initial_weights(seed, EMBEDDING_SCALE)
        training = train(model, initial, reverse, RATE, seed=seed + 10)
        weights = next(islice(training, EARLY, None))
        _, percentage = evaluate(model, weights, test)
        percentages.append(percentage)
    return numpy.array(percentages)
