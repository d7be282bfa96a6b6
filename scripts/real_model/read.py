"""Run a Llama model on a sentence, and print its next words and strongest heads."""

import sys

import numpy as np

from attention_docs.model import heads
from attention_docs.model.gguf_file import read_gguf
from attention_docs.model.record import REPEATED_LENGTH, token_texts, weights_file
from attention_docs.model.sampling import next_token_probabilities

MAX_TOKENS = 100
NEXT_WORDS = 10  # the number of next words that are listed
LISTED_HEADS = 3  # the number of strongest heads of each kind that are listed


def main():
    """Run the model; the arguments are the text and optionally the model's path."""
    text, *model_paths = sys.argv[1:]
    try:
        model, tokenizer = read_gguf(model_paths[0] if model_paths else weights_file())
        tokens = tokenizer.encode(text)
        if len(tokens) > MAX_TOKENS:
            raise ValueError(f"the text has {len(tokens)} tokens; expected at most {MAX_TOKENS}")
        layers = list(model.run(tokens))
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f"model: {error}")
    token_names = token_texts(tokenizer, tokens)
    weights = heads.attention_weights(layers)
    next_words = most_likely_words(tokenizer, model.compute_logits(layers[-1].hidden)[-1])
    scores_by_kind = scores_of_heads(model, weights, token_names)
    print("tokens:", " | ".join(token_names))
    print("next:", ", ".join(f"{word.strip()!r} {number:.3f}" for word, number in next_words))
    for kind, scores in scores_by_kind.items():
        for head in heads.strongest_heads(scores, LISTED_HEADS):
            print(f"{kind}: layer {head.layer} head {head.head} {scores[head]:.3f}")


def most_likely_words(tokenizer, logits):
    """Return the most likely next tokens as text, each with its probability, likeliest first."""
    probabilities = next_token_probabilities(logits)
    return [
        (tokenizer.decode([int(token)]), float(probabilities[token]))
        for token in np.argsort(-probabilities)[:NEXT_WORDS]
    ]


def scores_of_heads(model, weights, token_names):
    """Return (layers, h) scores of each kind of head that the text is long enough to tell."""
    repeated = heads.repeated_sequence(model, min(REPEATED_LENGTH, model.context // 2), seed=0)
    repeated_weights = heads.attention_weights(model.run(repeated))
    scores = {"induction, on random tokens": heads.induction_score(repeated_weights)}
    if len(token_names) > 1:
        scores["previous token"] = heads.previous_token_score(weights)
        scores["first token"] = heads.first_token_score(weights)
    starts = heads.word_starts(token_names)
    if heads.positions_inside_words(starts):
        scores["first of the word"] = heads.first_of_word_score(weights, starts)
    return scores


if __name__ == "__main__":
    main()
