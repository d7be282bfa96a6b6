"""A model of a few attention layers that learns: its loss, its gradients and Adam.

Each layer has one head and adds its output to its input:

    x = tokens W_E + W_P                        (batch, n, d_model)
    x = x + Attention(x W_Q, x W_K, x W_V)      in each layer
    logits = x W_U                              (batch, n, vocabulary)

It is as small as a model can be that shows how attention learns, so it can be trained while the
site is built. There is no norm and no feed-forward network, and W_V does the work of W_O as well.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from numpy.random import RandomState

from attention_docs.arrays import Array, namespace
from attention_docs.backward import attention_backward
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.lessons import Lesson, Task
from attention_docs.softmax import softmax

Weights = dict[str, Array]


@dataclass(frozen=True)
class Model:
    """The sizes of a model, and what may be left out of it.

    Attributes:
        vocabulary: how many tokens there are.
        length: n, positions of a sequence.
        width: d_model, features of a position.
        d_k: features of a query and a key.
        layers: how many layers of attention follow each other.
        is_causal: whether a position sees no later one.
        has_positions: whether W_P is added to the tokens.
        has_residual: whether a layer adds its output to its input or puts it in its place.
        scale: what the scores are multiplied by; 1/sqrt(d_k) if left out.
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

    def drawn(self, seed: int, size: float = 1.0) -> Weights:
        """Draw the weights from normal numbers of the standard deviation 1/sqrt(d_model).

        Args:
            seed: of NumPy's `RandomState`, whose numbers NumPy promises to keep.
            size: multiplies W_E and W_P.
        """
        draw = RandomState(seed)
        shapes = {"W_E": (self.vocabulary, self.width), "W_P": (self.length, self.width)}
        for layer in range(1, self.layers + 1):
            shapes |= {f"W_Q{layer}": (self.width, self.d_k), f"W_K{layer}": (self.width, self.d_k)}
            shapes |= {f"W_V{layer}": (self.width, self.width)}
        shapes |= {"W_U": (self.width, self.vocabulary)}
        found = {
            name: draw.standard_normal(shape) / math.sqrt(self.width)
            for name, shape in shapes.items()
        }
        return {**found, "W_E": size * found["W_E"], "W_P": size * found["W_P"]}

    def run(self, weights: Weights, tokens: Array) -> "Run":
        """Compute the logits, and keep what the backward pass needs.

        Args:
            weights: as `drawn` names them.
            tokens: (batch, n, vocabulary) with a single one in each row.
        """
        x = tokens @ weights["W_E"]
        x = x + weights["W_P"] if self.has_positions else x
        rows, heads, steps = [x], [], []
        for layer in range(1, self.layers + 1):
            query, key, value = (x @ weights[f"W_{role}{layer}"] for role in "QKV")
            heads.append((query, key, value))
            steps.append(attention_steps(*heads[-1], is_causal=self.is_causal, scale=self.scale))
            x = x + steps[-1].output if self.has_residual else steps[-1].output
            rows.append(x)
        return Run(rows, heads, steps, x @ weights["W_U"])

    def gradients(self, weights: Weights, tokens: Array, run: "Run", d_logits: Array) -> Weights:
        """Go back through a run, from the gradient of its logits to those of all the weights."""
        xp = namespace(tokens=tokens)

        def product(rows: Array, gradient: Array) -> Array:
            """Return the gradient of a matrix that all positions of all sequences share."""
            rows, gradient = (xp.reshape(a, (-1, a.shape[-1])) for a in (rows, gradient))
            return xp.matrix_transpose(rows) @ gradient

        found = {"W_U": product(run.rows[-1], d_logits)}
        dx = d_logits @ xp.matrix_transpose(weights["W_U"])
        for layer in range(self.layers, 0, -1):
            x, head = run.rows[layer - 1], run.heads[layer - 1]
            by = attention_backward(dx, *head, is_causal=self.is_causal, scale=self.scale)
            dx = dx if self.has_residual else 0 * dx
            for role, gradient in zip("QKV", (by.query, by.key, by.value), strict=True):
                found[f"W_{role}{layer}"] = product(x, gradient)
                dx = dx + gradient @ xp.matrix_transpose(weights[f"W_{role}{layer}"])
        found["W_E"] = product(tokens, dx)
        if self.has_positions:
            found["W_P"] = xp.sum(dx, axis=0)
        return found


class Run(NamedTuple):
    """One forward pass of a model.

    Attributes:
        rows: what goes into each layer and what comes out of the last one, (batch, n, d_model).
        heads: the queries, keys and values of each layer.
        steps: the attention of each layer.
        logits: (batch, n, vocabulary).
    """

    rows: list[Array]
    heads: list[tuple[Array, Array, Array]]
    steps: list[AttentionSteps]
    logits: Array


def cross_entropy(logits: Array, targets: Array) -> tuple[Array, Array]:
    r"""Return the mean of -log p over the answers asked for, and the gradient of the logits.

    $$L = -\frac{1}{N} \sum \log p_{\text{target}}, \qquad dz = \frac{p - y}{N}$$

    >>> loss, gradient = cross_entropy(np.array([[0.0, 0.0]]), np.array([[1.0, 0.0]]))
    >>> show(loss), show(gradient)
    0.6931
    [[-0.5000 0.5000]]
    (None, None)
    """
    xp = namespace(logits=logits, targets=targets)
    asked = xp.sum(targets, axis=-1, keepdims=True)
    answers = xp.sum(asked)
    peak = xp.max(logits, axis=-1, keepdims=True)
    log_total = peak + xp.log(xp.sum(xp.exp(logits - peak), axis=-1, keepdims=True))
    loss = xp.sum(targets * (log_total - logits)) / answers
    return loss, (softmax(logits) * asked - targets) / answers


class Adam:
    """Steps against the mean gradient, each in units of its own recent size.

    Source: Kingma and Ba 2015.
    """

    def __init__(self, rate: float, beta_1: float = 0.9, beta_2: float = 0.98) -> None:
        self.rate, self.beta_1, self.beta_2 = rate, beta_1, beta_2
        self.count = 0
        self.mean: Weights = {}
        self.square: Weights = {}

    def step(self, weights: Weights, gradients: Weights) -> Weights:
        """Return the weights after one step."""
        self.count += 1
        found = dict(weights)
        for name, gradient in gradients.items():
            mean = self.beta_1 * self.mean.get(name, 0.0) + (1 - self.beta_1) * gradient
            square = self.beta_2 * self.square.get(name, 0.0) + (1 - self.beta_2) * gradient**2
            self.mean[name], self.square[name] = mean, square
            # Both averages begin at zero, and are divided by the share that they have seen.
            mean = mean / (1 - self.beta_1**self.count)
            square = square / (1 - self.beta_2**self.count)
            found[name] = weights[name] - self.rate * mean / (square**0.5 + 1e-8)
        return found


def train(model: Model, weights: Weights, task: Task, rate: float, seed: int) -> Iterator[Weights]:
    """Yield the weights before each step, of which there is no last."""
    adam, draw = Adam(rate), RandomState(seed)
    while True:
        yield weights
        lesson = task(draw)
        run = model.run(weights, lesson.tokens)
        _, d_logits = cross_entropy(run.logits, lesson.targets)
        weights = adam.step(weights, model.gradients(weights, lesson.tokens, run, d_logits))


def graded(model: Model, weights: Weights, lesson: Lesson) -> tuple[float, int]:
    """Return the loss, and how many percent of the answers have the largest logit."""
    xp, run = namespace(tokens=lesson.tokens), model.run(weights, lesson.tokens)
    loss, _ = cross_entropy(run.logits, lesson.targets)
    asked = xp.max(lesson.targets, axis=-1) > 0
    right = xp.argmax(run.logits, axis=-1) == xp.argmax(lesson.targets, axis=-1)
    share = int(xp.count_nonzero(right & asked)) / int(xp.count_nonzero(asked))
    return float(loss), round(100 * share)
