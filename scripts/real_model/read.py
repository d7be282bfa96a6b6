"""Run a Llama model on a sentence, print its next words and strongest heads, and write a page."""

import html
import sys
from pathlib import Path

import numpy as np

from attention_docs.figures.real_model import draw_heads
from attention_docs.model import heads
from attention_docs.model.gguf_file import read_gguf
from attention_docs.model.record import REPEATED_LENGTH, token_texts, weights_file
from attention_docs.model.sampling import next_token_probabilities
from attention_docs.render import heatmap

MAX_TOKENS = 100
NEXT_WORDS = 10  # the number of next words that are listed
LISTED_HEADS = 3  # the number of strongest heads of each kind that are listed
STYLE = Path(__file__).parents[2] / "docs" / "assets" / "site.css"
PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
html {{ color-scheme: light dark; font: 16px/1.6 system-ui, sans-serif; }}
body {{ max-width: 60rem; margin: auto; padding: 1rem; }}
svg {{ max-width: 100%; height: auto; }}
.heads {{ display: grid; gap: 6px; max-width: 40rem; }}
.heads {{ grid-template-columns: repeat({columns}, 1fr); }}
.heads svg {{ width: 100%; stroke: var(--role-weights, #d6409f); }}
.heads svg:hover {{ transform: scale(3); position: relative; z-index: 1; background: Canvas; }}
td, th {{ padding: 0 1rem 0 0; text-align: left; }}
</style>
<h1>{title}</h1>
<p>Tokens: {tokens}</p>
<h2>The next word</h2>
<table>{next_words}</table>
<h2>All heads</h2>
<p>Each row is a layer, and each square a head with a row for each token. Point at one to enlarge
it.</p>
<div class="heads">{all_heads}</div>
<h2>The strongest heads</h2>
{strongest}
</html>
"""


def main():
    """Run the model; the arguments are the text, the page and optionally the model's path."""
    text, page, *model_paths = sys.argv[1:]
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
    html_page = write_html(text, token_names, next_words, weights, scores_by_kind)
    Path(page).write_text(html_page, encoding="utf-8")
    print("all heads:", page)


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


def write_html(text, token_names, next_words, weights, scores_by_kind):
    table_rows = [
        f"<tr><td>{html.escape(word)}</td><td>{probability:.4f}</td></tr>"
        for word, probability in next_words
    ]
    strongest_heads = [
        draw_strongest_head(kind, scores, weights, token_names)
        for kind, scores in scores_by_kind.items()
    ]
    return PAGE.format(
        title=html.escape(text),
        style=STYLE.read_text(encoding="utf-8"),
        columns=weights.shape[1],
        tokens=" | ".join(map(html.escape, token_names)),
        next_words="".join(table_rows),
        all_heads=draw_all_heads(weights),
        strongest="".join(strongest_heads),
    )


def draw_all_heads(weights):
    """Return a small picture of the weights of each head, the heads of a layer in a row."""
    n = weights.shape[-1]
    percents = np.rint(100 * weights).astype(int).tolist()
    pictures = []
    for layer, rows_of_heads in enumerate(percents):
        for head, rows in enumerate(rows_of_heads):
            title = f"layer {layer}, head {head}"
            pictures.append(
                f'<svg viewBox="-.5 0 {n} {n}" role="img" aria-label="{title}">'
                f"<title>{title}</title>{draw_heads({(0, 0): rows})}</svg>"
            )
    return "".join(pictures)


def draw_strongest_head(kind, scores, weights, token_names):
    """Return a heading and the weights of the head with the largest score of a kind."""
    (head,) = heads.strongest_heads(scores, 1)
    title = f"{kind}: layer {head.layer}, head {head.head}"
    picture = heatmap(
        weights[head],
        title,
        scale="sequential",
        role="weights",
        row_labels=token_names,
        column_labels=token_names,
    )
    return f"<h3>{html.escape(title)}</h3>{picture}"


if __name__ == "__main__":
    main()
