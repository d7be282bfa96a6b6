"""A transformer block that can be trained: its forward pass and its gradients.

It has the shape of the course's model: a causal mask, heads that share W_V, a feed-forward network,
and after each residual sum a norm without gain or shift. h counts the heads from 1.

    x = tokens X + E                                              (batch, n, d_model)
    y = norm(x + sum of Attention(x W_Q_h, x W_K_h, x W_V) W_O_h)
    output = norm(y + max(0, y W_1 + b_1) W_2)
    logits = output W_vocabulary                                  (batch, n, vocabulary)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from numpy.random import RandomState

from attention_docs.arrays import Array, namespace
from attention_docs.backward import attention_backward
from attention_docs.dot_product import AttentionSteps, attention_steps
from attention_docs.learning import Weights, matrix_gradient

EPSILON = 1e-5  # keeps the norm of a constant row finite


class Norm(NamedTuple):
    """Rows of mean 0 and variance 1, and the standard deviations they were divided by."""

    rows: Array
    std: Array


def norm(rows: Array) -> Norm:
    """Shift and scale every row to mean 0 and variance 1.

    >>> show(norm(np.array([[1.0, 2.0, 6.0]])).rows)
    [[-0.9258 -0.4629 1.3887]]
    """
    xp = namespace(rows=rows)
    centred = rows - xp.mean(rows, axis=-1, keepdims=True)
    std = xp.sqrt(xp.mean(centred**2, axis=-1, keepdims=True) + EPSILON)
    return Norm(centred / std, std)


def norm_backward(gradient: Array, normed: Norm) -> Array:
    r"""Return the gradient of the input of `norm`, from the gradient dY of its output Y.

    $$dX = (dY - \operatorname{mean}(dY) - Y \operatorname{mean}(dY \circ Y)) / \sigma$$
    """
    xp = namespace(gradient=gradient)
    mean = xp.mean(gradient, axis=-1, keepdims=True)
    correlation = xp.mean(gradient * normed.rows, axis=-1, keepdims=True)
    return (gradient - mean - normed.rows * correlation) / normed.std


class BlockRun(NamedTuple):
    """One forward pass of a block.

    Attributes:
        with_positions: (batch, n, d_model) the tokens with their positions.
        heads: the queries, keys and values of each head.
        steps: the attention steps of each head.
        attended: (batch, n, d_model) after attention and the first norm.
        hidden: (batch, n, d_ff) the features of the feed-forward network.
        output: (batch, n, d_model) after the second norm.
        logits: (batch, n, vocabulary).
    """

    with_positions: Array
    heads: list[tuple[Array, Array, Array]]
    steps: list[AttentionSteps]
    attended: Norm
    hidden: Array
    output: Norm
    logits: Array


@dataclass(frozen=True)
class Block:
    """The sizes of a model of one block.

    Attributes:
        length: n, positions of a sequence.
        scale: the factor of the scores; 1/sqrt(d_k) if left out. With 0 all weights are uniform.
    """

    vocabulary: int
    length: int
    d_model: int
    d_k: int
    d_v: int
    d_ff: int
    heads: int = 2
    scale: float | None = None

    @property
    def head_numbers(self) -> Sequence[int]:
        """The numbers of the heads from 1, as in the names of their matrices."""
        return range(1, self.heads + 1)

    def initial_weights(self, seed: int, deviation: float) -> Weights:
        """Draw normally distributed initial weights, all of the same standard deviation."""
        # NumPy promises never to change the numbers of `RandomState`.
        # The numbers are drawn in the order of the names.
        shapes: dict[str, tuple[int, ...]] = {
            "X": (self.vocabulary, self.d_model),
            "E": (self.length, self.d_model),
        }
        for head in self.head_numbers:
            shapes |= {f"W_{role}_{head}": (self.d_model, self.d_k) for role in "QK"}
            shapes |= {f"W_O_{head}": (self.d_v, self.d_model)}
        shapes |= {"W_V": (self.d_model, self.d_v)}
        shapes |= {"W_1": (self.d_model, self.d_ff), "b_1": (self.d_ff,)}
        shapes |= {"W_2": (self.d_ff, self.d_model)}
        shapes |= {"W_vocabulary": (self.d_model, self.vocabulary)}
        random_state = RandomState(seed)
        return {
            name: deviation * random_state.standard_normal(shape) for name, shape in shapes.items()
        }

    def run(self, weights: Weights, tokens: Array) -> BlockRun:
        """Compute the logits of one-hot tokens, (batch, n, vocabulary), keeping all steps."""
        xp = namespace(tokens=tokens)
        with_positions = tokens @ weights["X"] + weights["E"]  # (batch, n, d_model)
        heads = [
            (
                with_positions @ weights[f"W_Q_{i}"],
                with_positions @ weights[f"W_K_{i}"],
                with_positions @ weights["W_V"],
            )
            for i in self.head_numbers
        ]
        steps = [attention_steps(*head, is_causal=True, scale=self.scale) for head in heads]
        residual_sum = with_positions  # (batch, n, d_model)
        for i, attention in zip(self.head_numbers, steps, strict=True):
            residual_sum = residual_sum + attention.output @ weights[f"W_O_{i}"]
        attended = norm(residual_sum)
        preactivation = attended.rows @ weights["W_1"] + weights["b_1"]  # (batch, n, d_ff)
        hidden = xp.where(preactivation > 0, preactivation, xp.zeros_like(preactivation))
        output = norm(attended.rows + hidden @ weights["W_2"])  # (batch, n, d_model)
        logits = output.rows @ weights["W_vocabulary"]  # (batch, n, vocabulary)
        return BlockRun(with_positions, heads, steps, attended, hidden, output, logits)

    def gradients(self, weights: Weights, tokens: Array, run: BlockRun, d_logits: Array) -> Weights:
        """Backpropagate the gradient of the logits of a run to all the weights."""
        xp = namespace(tokens=tokens)
        transpose = xp.matrix_transpose
        # Each d_* is the gradient with respect to a value of `run`; d_sum_1 and d_sum_2 are the
        # gradients with respect to the residual sums.
        d_output = d_logits @ transpose(weights["W_vocabulary"])  # (batch, n, d_model)
        d_sum_2 = norm_backward(d_output, run.output)
        d_hidden = d_sum_2 @ transpose(weights["W_2"])  # (batch, n, d_ff)
        d_preactivation = xp.where(run.hidden > 0, d_hidden, xp.zeros_like(d_hidden))
        d_attended = d_sum_2 + d_preactivation @ transpose(weights["W_1"])
        d_sum_1 = norm_backward(d_attended, run.attended)
        head_gradients, dx = self._head_gradients(weights, run, d_sum_1)
        return {
            "W_vocabulary": matrix_gradient(run.output.rows, d_logits),
            "W_2": matrix_gradient(run.hidden, d_sum_2),
            "W_1": matrix_gradient(run.attended.rows, d_preactivation),
            "b_1": xp.sum(d_preactivation, axis=(0, 1)),
            **head_gradients,
            "X": matrix_gradient(tokens, dx),
            "E": xp.sum(dx, axis=0),
        }

    def _head_gradients(
        self, weights: Weights, run: BlockRun, d_sum: Array
    ) -> tuple[Weights, Array]:
        """Return the gradients of the heads' matrices, and of x, from that of the sum x + heads."""
        transpose = namespace(d_sum=d_sum).matrix_transpose
        gradients: Weights = {}
        dx = d_sum  # through the residual connection
        d_value = 0.0 * run.heads[0][2]  # summed over the heads, which share W_V
        for i, head, steps in zip(self.head_numbers, run.heads, run.steps, strict=True):
            gradients[f"W_O_{i}"] = matrix_gradient(steps.output, d_sum)
            d_head = d_sum @ transpose(weights[f"W_O_{i}"])  # (batch, n, d_v)
            d_inputs = attention_backward(d_head, *head, is_causal=True, scale=self.scale)
            d_value = d_value + d_inputs.value
            for name, gradient in ((f"W_Q_{i}", d_inputs.query), (f"W_K_{i}", d_inputs.key)):
                gradients[name] = matrix_gradient(run.with_positions, gradient)
                dx = dx + gradient @ transpose(weights[name])
        gradients["W_V"] = matrix_gradient(run.with_positions, d_value)
        return gradients, dx + d_value @ transpose(weights["W_V"])
