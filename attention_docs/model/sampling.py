"""Choose the next token from logits: temperature, top-k, top-p and greedy decoding."""

from collections.abc import Iterator, Sequence

import numpy as np

from attention_docs.arrays import Array
from attention_docs.model.llama import LayerSteps, Llama
from attention_docs.softmax import softmax


def next_token_probabilities(
    logits: Array, temperature: float = 1.0, top_k: int | None = None, top_p: float = 1.0
) -> Array:
    """Return the probabilities with which the next token is sampled.

    Args:
        logits: (vocabulary,) of the last token.
        temperature: divides the logits; below 1, likely tokens become more likely.
        top_k: keep only this many of the most likely tokens; by default all.
        top_p: keep the most likely tokens until their cumulative probability reaches this.
    """
    probabilities = softmax(logits / temperature)
    order = np.argsort(-probabilities, kind="stable")  # the most likely token first
    sorted_probabilities = probabilities[order]
    # The total probability of the tokens that are more likely than each token.
    preceding_total = np.cumsum(sorted_probabilities) - sorted_probabilities
    is_kept = np.zeros(len(order), bool)
    is_kept[order] = preceding_total < top_p
    if top_k is not None:
        is_kept[order[top_k:]] = False
    kept_probabilities = np.where(is_kept, probabilities, 0)
    return kept_probabilities / np.sum(kept_probabilities)


def continue_greedily(model: Llama, tokens: Sequence[int]) -> Iterator[int]:
    """Yield the most likely next token indefinitely, each time appended to the text.

    Only the new token is computed each time: keys and values of the previous ones are cached.
    """
    steps: Sequence[LayerSteps] = ()
    new_tokens = list(tokens)
    while True:
        steps = list(model.run(new_tokens, cache=steps))
        last_logits = model.compute_logits(steps[-1].hidden[-1:])
        next_token = int(np.argmax(last_logits))
        yield next_token
        new_tokens = [next_token]
