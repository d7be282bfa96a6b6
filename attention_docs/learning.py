"""A trainable model of a few attention layers: its loss, its gradients and Adam.

Each layer has one head and adds its output to its input:

    x = tokens W_E + W_P                        (batch, n, d_model)
    x = x + Attention(x W_Q, x W_K, x W_V)      in each layer
    logits = x W_vocabulary                     (batch, n, vocabulary)

The model is just large enough to show how attention learns, so it can be trained while the site is
built. There is no norm and no feed-forward network, and W_V takes the role of W_O as well.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, Protocol

from numpy.random import RandomState

from attention_docs.arrays import Array, namespace
from attention_docs.backward import attention_backward
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.softmax import softmax
from attention_docs.tasks import Batch, Task

Weights = dict[str, Array]
# How much of Adam's two averages each step keeps, as in Vaswani et al. 2017, section 5.3.
BETA_1, BETA_2 = 0.9, 0.98
ADAM_EPSILON = 1e-8  # keeps the divisor of a zero gradient above zero, as in Adam's paper


@dataclass(frozen=True)
class Model:
    """The sizes of a model and its options.

    Attributes:
        length: n, positions of a sequence.
        width: d_model, features of a position.
        has_positions: whether W_P is added to the tokens.
        has_residual: whether a layer adds its output to its input or replaces the input.
        scale: the factor of the scores; 1/sqrt(d_k) if left out.
    """

    vocabulary: int
    length: int
    width: int
    d_k: int
    layers: int = 1
    is_causal: bool = False
    has_positions: bool = True
    has_residual: bool = True
    scale: float | None = None

    def initial_weights(self, seed: int, embedding_scale: float = 1.0) -> Weights:
        """Draw normal weights of deviation 1/sqrt(d_model); W_E and W_P are scaled in addition."""
        # NumPy promises never to change the numbers of `RandomState`.
        # The numbers are drawn in the order of the names.
        shapes = {"W_E": (self.vocabulary, self.width), "W_P": (self.length, self.width)}
        for layer in range(1, self.layers + 1):
            shapes |= {f"W_Q{layer}": (self.width, self.d_k), f"W_K{layer}": (self.width, self.d_k)}
            shapes |= {f"W_V{layer}": (self.width, self.width)}
        shapes |= {"W_vocabulary": (self.width, self.vocabulary)}
        random_state = RandomState(seed)
        weights = {
            name: random_state.standard_normal(shape) / math.sqrt(self.width)
            for name, shape in shapes.items()
        }
        weights["W_E"] *= embedding_scale
        weights["W_P"] *= embedding_scale
        return weights

    def run(self, weights: Weights, tokens: Array) -> "Run":
        """Compute the logits of one-hot tokens, (batch, n, vocabulary), keeping all steps."""
        x = tokens @ weights["W_E"]  # (batch, n, d_model)
        if self.has_positions:
            x = x + weights["W_P"]
        hidden_states: list[Array] = [x]
        heads: list[tuple[Array, Array, Array]] = []
        steps: list[AttentionSteps] = []
        for layer in range(1, self.layers + 1):
            query, key, value = (x @ weights[f"W_{role}{layer}"] for role in "QKV")
            attention = attention_steps(
                query, key, value, is_causal=self.is_causal, scale=self.scale
            )
            x = x + attention.output if self.has_residual else attention.output
            hidden_states.append(x)
            heads.append((query, key, value))
            steps.append(attention)
        return Run(hidden_states, heads, steps, x @ weights["W_vocabulary"])

    def gradients(self, weights: Weights, tokens: Array, run: "Run", d_logits: Array) -> Weights:
        """Backpropagate the gradient of the logits of a run to all the weights."""
        xp = namespace(tokens=tokens)
        gradients = {"W_vocabulary": matrix_gradient(run.hidden_states[-1], d_logits)}
        dx = d_logits @ xp.matrix_transpose(weights["W_vocabulary"])  # (batch, n, d_model)
        for layer in range(self.layers, 0, -1):
            x, head = run.hidden_states[layer - 1], run.heads[layer - 1]
            attention = attention_backward(dx, *head, is_causal=self.is_causal, scale=self.scale)
            d_qkv = (attention.query, attention.key, attention.value)
            # The gradient of the input sums what the residual connection passes on, which is 0
            # without one, and what the three projections pass on.
            dx = dx if self.has_residual else 0 * dx
            for role, gradient in zip("QKV", d_qkv, strict=True):
                gradients[f"W_{role}{layer}"] = matrix_gradient(x, gradient)
                dx = dx + gradient @ xp.matrix_transpose(weights[f"W_{role}{layer}"])
        gradients["W_E"] = matrix_gradient(tokens, dx)
        if self.has_positions:
            gradients["W_P"] = xp.sum(dx, axis=0)
        return gradients


class Run(NamedTuple):
    """One forward pass of a model.

    Attributes:
        hidden_states: (batch, n, d_model) the input of each layer and the output of the last one.
        heads: the queries, keys and values of each layer.
        steps: the attention steps of each layer.
        logits: (batch, n, vocabulary).
    """

    hidden_states: list[Array]
    heads: list[tuple[Array, Array, Array]]
    steps: list[AttentionSteps]
    logits: Array


def matrix_gradient(rows: Array, gradient: Array) -> Array:
    """Return the (d, e) gradient of W from (..., d) rows and the (..., e) gradient of rows @ W."""
    xp = namespace(rows=rows)
    rows, gradient = (xp.reshape(a, (-1, a.shape[-1])) for a in (rows, gradient))
    return xp.matrix_transpose(rows) @ gradient


def cross_entropy(logits: Array, targets: Array) -> tuple[Array, Array]:
    r"""Return the mean of -log p of the targets, and the gradient with respect to the logits.

    $$L = -\frac{1}{N} \sum \log p_{\text{target}}, \qquad dz = \frac{p - y}{N}$$
    """
    xp = namespace(logits=logits, targets=targets)
    has_target = xp.sum(targets, axis=-1, keepdims=True)  # (..., n, 1)
    target_count = xp.sum(has_target)
    maximum = xp.max(logits, axis=-1, keepdims=True)  # (..., n, 1)
    log_total = maximum + xp.log(xp.sum(xp.exp(logits - maximum), axis=-1, keepdims=True))
    loss = xp.sum(targets * (log_total - logits)) / target_count
    return loss, (softmax(logits) * has_target - targets) / target_count


class Adam:
    """The Adam optimiser, with decoupled weight decay (AdamW).

    Args:
        decay: multiplied by the rate, the fraction of each weight that each step takes away.

    Source: Kingma and Ba 2015; the decay: Loshchilov and Hutter 2019.
    """

    def __init__(self, rate: float, decay: float = 0.0) -> None:
        self.rate = rate
        self.decay = decay
        self.count = 0  # of steps
        self.mean: Weights = {}
        self.square: Weights = {}

    def step(self, weights: Weights, gradients: Weights) -> Weights:
        """Return the weights after one step; those without a gradient stay the same."""
        self.count += 1
        updated = dict(weights)
        for name, gradient in gradients.items():
            mean = BETA_1 * self.mean.get(name, 0.0) + (1 - BETA_1) * gradient
            square = BETA_2 * self.square.get(name, 0.0) + (1 - BETA_2) * gradient**2
            self.mean[name] = mean
            self.square[name] = square
            # Bias correction: both averages start at zero.
            unbiased_mean = mean / (1 - BETA_1**self.count)
            unbiased_square = square / (1 - BETA_2**self.count)
            weight = weights[name]
            if self.decay:  # otherwise a page would record a product with 1
                weight = (1 - self.rate * self.decay) * weight
            update = self.rate * unbiased_mean / (unbiased_square**0.5 + ADAM_EPSILON)
            updated[name] = weight - update
        return updated


class Trainable(Protocol):
    """A model that computes logits, and the gradients of its weights from the logits' gradients."""

    def run(self, weights: Weights, tokens: Array) -> Any: ...

    def gradients(self, weights: Weights, tokens: Array, run: Any, d_logits: Array) -> Weights: ...


def train(
    model: Trainable, weights: Weights, task: Task, rate: float, seed: int, decay: float = 0.0
) -> Iterator[Weights]:
    """Yield the weights before each training step, indefinitely; the batches have the seed."""
    adam = Adam(rate, decay=decay)
    random_state = RandomState(seed)
    while True:
        yield weights
        batch = task(random_state)
        run = model.run(weights, batch.tokens)
        _, d_logits = cross_entropy(run.logits, batch.targets)
        weights = adam.step(weights, model.gradients(weights, batch.tokens, run, d_logits))


@cache
def checkpoints(
    model: Model, task: Task, steps: int, embedding_scale: float = 1.0
) -> list[Weights]:
    """Train a model, and return its weights at the start and after each tenth of the steps."""
    weights = model.initial_weights(0, embedding_scale)
    training = train(model, weights, task, rate=1 / 100, seed=1)
    return list(islice(training, 0, steps + 1, steps // 10))


def evaluate(model: Trainable, weights: Weights, batch: Batch) -> tuple[float, int]:
    """Return a model's mean loss on a batch, and its accuracy as a whole number of percent."""
    xp = namespace(tokens=batch.tokens)
    run = model.run(weights, batch.tokens)
    loss, _ = cross_entropy(run.logits, batch.targets)
    has_target = xp.max(batch.targets, axis=-1) > 0
    is_correct = xp.argmax(run.logits, axis=-1) == xp.argmax(batch.targets, axis=-1)
    accuracy = int(xp.count_nonzero(is_correct & has_target)) / int(xp.count_nonzero(has_target))
    return float(loss), round(100 * accuracy)
