"""Run a Llama model on a sentence, print its next words and strongest heads, and write a page."""

import html
import sys
from pathlib import Path

import numpy as np

from attention_docs.model import heads
from attention_docs.model.gguf_file import read_gguf
from attention_docs.model.record import REPEATED_LENGTH, run_weights, weights_file, words
from attention_docs.model.sampling import next_token_probabilities
from attention_docs.publish.before.figures.real_model import draw_heads
from attention_docs.render import heatmap

MAX_TOKENS = 100
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
    text, page, *path = sys.argv[1:]
    try:
        model, tokenizer = read_gguf(path[0] if path else weights_file())
        tokens = tokenizer.encode(text)
        if len(tokens) > MAX_TOKENS:
            raise ValueError(f"the text has {len(tokens)} tokens; expected at most {MAX_TOKENS}")
        run = list(model.run(tokens))
    except (ImportError, OSError, ValueError) as error:
        sys.exit(f"model: {error}")
    weights = heads.all_weights(run)
    names = words(tokenizer, tokens)
    probabilities = next_token_probabilities(model.compute_logits(run[-1].hidden)[-1])
    most_likely = [
        (tokenizer.decode([int(token)]), float(probabilities[token]))
        for token in np.argsort(-probabilities)[:10]
    ]
    kinds = scores_of_heads(model, weights, names)
    print("tokens:", " | ".join(names))
    print("next:", ", ".join(f"{word.strip()!r} {number:.3f}" for word, number in most_likely))
    for kind, scores in kinds.items():
        strongest = heads.strongest(scores, 3)
        listed = [f"layer {head.layer} head {head.head} {scores[head]:.3f}" for head in strongest]
        print(f"{kind}:", ", ".join(listed))
    Path(page).write_text(page_of(text, names, most_likely, weights, kinds), encoding="utf-8")
    print("all heads:", page)


def scores_of_heads(model, weights, names):
    """Return the (layers, h) scores of each kind that the text is long enough for."""
    repeated = heads.repeated_sequence(model, min(REPEATED_LENGTH, model.context // 2), seed=0)
    kinds = {"induction, on random tokens": heads.induction(run_weights(model, repeated))}
    if len(names) > 1:
        kinds["previous token"] = heads.previous_token(weights)
        kinds["first token"] = heads.first_token(weights)
    starts = heads.word_starts(names)
    if heads.inside_words(starts):
        kinds["first of the word"] = heads.first_of_word(weights, starts)
    return kinds


def page_of(text, names, most_likely, weights, kinds):
    """Return the page as HTML."""
    percent = np.rint(100 * weights).astype(int).tolist()
    side = len(names)
    pictures = [
        f'<svg viewBox="-.5 0 {side} {side}" role="img" aria-label="layer {layer}, head {head}">'
        f"<title>layer {layer}, head {head}</title>{draw_heads({(0, 0): rows})}</svg>"
        for layer, rows_of_heads in enumerate(percent)
        for head, rows in enumerate(rows_of_heads)
    ]
    drawings = []
    for kind, scores in kinds.items():
        best = heads.strongest(scores, 1)[0]
        title = f"{kind}: layer {best.layer}, head {best.head}"
        labels = {"row_labels": names, "column_labels": names}
        picture = heatmap(weights[best], title, scale="sequential", role="weights", **labels)
        drawings.append(f"<h3>{html.escape(title)}</h3>{picture}")
    rows = [
        f"<tr><td>{html.escape(word)}</td><td>{probability:.4f}</td></tr>"
        for word, probability in most_likely
    ]
    return PAGE.format(
        title=html.escape(text),
        style=STYLE.read_text(encoding="utf-8"),
        columns=weights.shape[1],
        tokens=" | ".join(map(html.escape, names)),
        next_words="".join(rows),
        all_heads="".join(pictures),
        strongest="".join(drawings),
    )


if __name__ == "__main__":
    main()
