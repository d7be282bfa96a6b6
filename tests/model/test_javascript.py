"""The model in the browser gives the tokens, weights and logits that Python gives."""

import re
from collections import Counter

import gguf
import numpy as np
import pytest

from attention_docs.figures import course_at_full_size as figure
from attention_docs.lookup import load_results
from attention_docs.model import heads, record
from attention_docs.model.gguf_file import read_gguf
from tests.live.page_modules.nodejs import in_node
from tests.model import tiny

# Read the file `data.path`, and run it on lists of tokens; `data.cut` are heads to cut.
RUN = """
    (() => {
        const model = new llama.Llama(new Uint8Array(readFileSync(data.path)));
        const words = new tokenizer.Tokenizer(model.settings);
        return data.texts.map(text => {
            const ids = words.encode(text);
            const cache = data.cached ? [...model.run(ids.slice(0, data.cached))] : [];
            const steps = [...model.run(ids.slice(data.cached), cache, new Set(data.cut))];
            const last = steps[model.layers - 1].hidden;
            return {
                ids, text: words.decode(ids), weights: steps.map(step => [...step.weights]),
                strongest: kinds.strongestByKind(
                    steps.map(step => step.weights), model.heads, ids.map(id => words.decode([id])), ids
                ),
                logits: [...model.logits(last)],
            };
        });
    })()
"""
TEXTS = [
    "The cat sat at the cat.",
    "it's  a   test \n\n of \t spaces ",
    "12345 and 3.14, ½ ² Ⅷ ٣",
    "Grüße aus Köln, naïve cafe\u0301",
    "日本語 हिन्दी العربية",
    "😀 👩‍👩‍👧 family",
    "def f(x):\n    return x**2",
    "<|end|>they'll've<|end|>don't",
    "\ufeffx\u0085y \u00a0z\x1c",
    "a",
]
# With those above, texts for the real model, in several languages and of one token to forty.
OTHERS = [
    *TEXTS,
    "of the dog " * 13 + "a",
    *(f"{who} {what} because {why}" for who in ("The boys", "My mother", "Paris", "A dog", "The trees")
      for what in ("called the girl", "is old") for why in ("they", "it was late", "of 42 reasons")),
]  # fmt: skip


def run(path, texts, cached=0, cut=()):
    data = {"path": str(path), "texts": texts, "cached": cached, "cut": list(cut)}
    return in_node(RUN, data)


@pytest.mark.parametrize("cached", [0, 1, 4])
def test_layers_and_logits_equal_slow_loops(gguf, tokenizer, cached):
    text = TEXTS[0]
    tokens = tokenizer.encode(text)
    layers, logits = tiny.slow_run(tiny.WEIGHTS, tokens)
    (result,) = run(gguf, [text], cached)
    for weights, (expected, _) in zip(result["weights"], layers, strict=True):
        rows = np.reshape(weights, (tiny.HEADS, -1, len(tokens)))
        np.testing.assert_allclose(rows, np.array(expected)[:, cached:], atol=1e-5)
    np.testing.assert_allclose(result["logits"], logits[-1], atol=2e-4)


def test_cut_heads_equal_python(gguf, model, tokenizer):
    def cut(layer, outputs):
        outputs = outputs.copy()
        outputs[[head for head in range(tiny.HEADS) if (layer, head) in {(0, 1), (2, 3)}]] = 0
        return outputs

    (result,) = run(gguf, TEXTS[:1], cut=[0 * tiny.HEADS + 1, 2 * tiny.HEADS + 3])
    expected = model.logits(tokenizer.encode(TEXTS[0]), replace_heads=cut)
    np.testing.assert_allclose(result["logits"], expected[-1], atol=2e-4)


def test_tokens_equal_python(gguf, tokenizer):
    for text, result in zip(TEXTS, run(gguf, TEXTS), strict=True):
        assert result["ids"] == tokenizer.encode(text)
        assert result["text"] == text


def test_kinds_of_heads_have_python_scores(gguf, model, tokenizer):
    text = TEXTS[0]
    tokens = tokenizer.encode(text)
    weights = heads.attention_weights(model.run(tokens))
    names = record.token_texts(tokenizer, tokens)
    scores = {
        "Previous token": heads.previous_token_score(weights),
        "Sink": heads.first_token_score(weights),
        "First of a word": heads.first_of_word_score(weights, heads.word_starts(names)),
    }
    (result,) = run(gguf, [text])
    strongest = {row.pop("kind"): row for row in result["strongest"]}
    assert strongest.keys() == {*scores, "Induction"}
    for kind, expected in scores.items():
        (place,) = heads.strongest_heads(expected, 1)
        row = strongest[kind]
        assert (row["layer"], row["head"]) == place
        assert row["score"] == pytest.approx(float(expected[place]), abs=1e-5)


@pytest.mark.parametrize("kind", ["Q4_1", "Q8_0"])
def test_rows_of_few_bits_equal_gguf(kind):
    kind = gguf.GGMLQuantizationType[kind]
    matrix = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)
    packed = gguf.quants.quantize(matrix, kind)
    tensor = {"shape": [64, 3], "type": int(kind), "offset": 0}
    rows = in_node(
        "[0, 1, 2].map(i => [...gguf.readRow("
        "Uint8Array.from(data.bytes), data.tensor, i, new Float32Array(64))])",
        {"bytes": packed.ravel().tolist(), "tensor": tensor},
    )
    np.testing.assert_array_equal(np.float32(rows), gguf.quants.dequantize(packed, kind))


def test_small_pictures_equal_those_of_recorded_sentences():
    for sentence in load_results("real_model")["sentences"]:
        lines = in_node(
            "data.percent.map((heads, layer) => drawings.smallLayer(heads, layer, data.tokens.length))",
            sentence,
        )
        by_shade = [Counter(), Counter()]
        for layer in lines:
            for shade, path in zip(by_shade, re.findall(r' d="([^"]*)"', layer), strict=True):
                shade.update(re.findall(r"M[^M]*", path))
        recorded = re.findall(r' d="([^"]*)"', figure.small_pictures(sentence))
        assert by_shade == [Counter(re.findall(r"M[^M]*", path)) for path in recorded]


def test_real_model_equals_python():
    try:
        path = record.weights_file()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    model, tokenizer = read_gguf(path)
    texts = [*record.SENTENCES, *OTHERS]
    for text, result in zip(texts, run(path, texts), strict=True):
        tokens = tokenizer.encode(text)
        steps = list(model.run(tokens))
        logits = model.compute_logits(steps[-1].hidden[-1:])[0]
        weights = [step.attention.weights.ravel() for step in steps]
        assert result["ids"] == tokens
        np.testing.assert_allclose(result["weights"], weights, atol=1e-4)
        assert (
            np.argsort(result["logits"])[:-11:-1].tolist() == np.argsort(logits)[:-11:-1].tolist()
        )
