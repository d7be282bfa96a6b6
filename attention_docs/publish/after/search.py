"""Search that finds what people type, and loads its index only when they do.

The theme would fetch its search worker and the whole index on each first visit. So the sections are
moved from the index to a file of their own, and pages start a small worker,
`docs/assets/search.js`, which fetches the theme's worker and the sections when they are needed.
Each section is also found by the title of its page and by its synonyms.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any

from attention_docs.publish.formula_text import formula_text
from attention_docs.publish.inserts import FORMULA

# Exercises repeat the sections before them, and papers have a page of their own.
EXCLUDED_SECTIONS = ("#exercises", "#where-this-comes-from")
# The weight of the sections of some pages in the ranking, by the start of their location. Tuned by
# hand until tests/browser/queries.txt led to its pages.
BOOSTS = {
    "course/": 1.5,
    "glossary/": 2.0,
    "check/": 0.5,
    "errata/": 0.5,
    "mechanisms/kv_cache/": 1.3,
    "notebooks/": 0.5,
    "reading_order/": 0.5,
    "reference/": 0.6,
}
# For a phrase in a title or a description, other search terms. The last word of a phrase may be cut
# short, so that "grouped quer" stands for "grouped query" and "grouped queries".
SYNONYMS = {
    "additive attention": "bahdanau luong score",
    "as a class": "from scratch numpy implementation code gpt-2",
    "backward pass": "backprop backpropagation gradient derivative autograd",
    "batch invariance": "float16 fp16 bfloat16 bf16 nondeterminism deterministic invariant",
    "bias": "alibi",
    "cache": "kv generation inference memory size gqa mqa multi-query grouped-query",
    "causal": "autoregressive future triangular lower tril look-ahead",
    "check your": "test verify unit debug implementation",
    "complexity": "quadratic flops cost number of operations",
    "encoder and decoder": "transformer architecture seq2seq translation",
    "feed-forward": "ffn mlp",
    "flashattention": "flash attention flash-attention memory logsumexp lse",
    "flexattention": "flex_attention create_block_mask mask_mod score_mod block-sparse speculative",
    "fully masked": "nan",
    "gradient": "backprop backpropagation derivative jacobian",
    "grouped quer": "gqa mqa mha multi-query kv heads",
    "heads in code": "reshape view einsum parameters count number",
    "latent": "mla deepseek",
    "layer norm": "layernorm normalization normalisation rmsnorm",
    "linear attention": "recurrent state deltanet mamba rnn gated",
    "local attention": "sliding swa longformer banded",
    "log-sum-exp": "logsumexp lse",
    "masks": "masking attn_mask boolean true false",
    "mistake": "bug wrong error debug",
    "models by name": "llama qwen mistral gemma deepseek gpt-oss configuration number of heads",
    "multi-head": "mha multihead head_dim",
    "one formula": "equation scaled dot-product kq qk softmax(q k^t / sqrt(d_k)) v",
    "other axis": "weights don't sum to 1 rows sum to one",
    "overflow": "numerically stable stability inf nan log-sum-exp",
    "padding": "pad key_padding_mask",
    "position": "pe",
    "positional encoding": "sinusoidal sine cosine embedding nope no position",
    "qk-norm": "qk_norm rmsnorm query key normalization gated softmax1 off by one k=v",
    "quantised": "quantization quantized int4 int8 fp8 kv cache compression",
    "query, key, value": "qkv kq q k v w_q w_k w_v meaning what projection",
    "real model": "interpretability explain explanation visualize attention maps",
    "residual": "skip connection",
    "rope scaling": "long context extension ntk interpolation yarn mrope llama3",
    "rotary": "rope embedding rotate_half",
    "scaled": "sqrt sqrt(d_k) square root divide scaling scale factor",
    "scaled_dot_product": "sdpa",
    "sparse attention": "top-k indexer deepseek selection native sparse",
    "variance of": "sqrt sqrt(d_k) square root divide",
    "writing": "sampling temperature top-k top-p nucleus generation decoding",
}
SYNONYM_PATTERNS = {
    re.compile(rf"\b{re.escape(phrase)}", re.IGNORECASE): terms
    for phrase, terms in SYNONYMS.items()
}
THEME_WORKER = re.compile(
    r'"search": "(?P<root>[^"]*)assets/(?P<worker>javascripts/workers/[\w.]+\.js)"'
)
OUR_WORKER = r'"search": "\g<root>assets/search.js?\g<worker>"'
TERM = re.compile(r'<dt id="(?P<id>[^"]+)">(?P<term>.*?)</dt>\s*<dd>(?P<text>.*?)</dd>', re.DOTALL)
DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)"')
TAG = re.compile(r"<[^>]*>")

# A section of the theme's index: its location, title and text.
Section = dict[str, Any]


def with_worker(page: str, *, offline: bool = False) -> str:
    """Make a page start our search worker, with the address of the theme's as its query string.

    >>> with_worker('{"search": "../assets/javascripts/workers/search.a7.min.js"}')
    '{"search": "../assets/search.js?javascripts/workers/search.a7.min.js"}'
    """
    # The theme omits the accessible name.
    page = page.replace('role="dialog"', 'role="dialog" aria-label="Search"', 1)
    return page if offline else THEME_WORKER.sub(OUR_WORKER, page)


def write_index(site: Path, pages: Mapping[str, str], *, offline: bool = False) -> None:
    """Add search terms to a site's index, and move its sections to documents.json.

    The offline site keeps them in the index, for the theme's worker. Zensical's index, which has
    another name, stays as it is.
    """
    index_file = site / "search" / "search_index.json"
    if not index_file.is_file():
        return
    index = json.loads(index_file.read_text(encoding="utf-8"))
    sections = list(searchable_sections(index["docs"], pages))
    if offline:
        write_json(index_file, {**index, "docs": sections})
    else:
        write_json(index_file, {**index, "docs": []})
        write_json(index_file.with_name("documents.json"), {"docs": sections})


def searchable_sections(sections: Iterable[Section], pages: Mapping[str, str]) -> Iterator[Section]:
    """Yield the sections worth searching, with keywords; each term of a glossary is a section."""
    page_title = ""
    for section in sections:
        url, _, fragment = section["location"].partition("#")
        if section["location"].endswith(EXCLUDED_SECTIONS):
            continue
        if fragment:
            yield with_keywords(section, page_title)
            continue
        # A section without a fragment is the beginning of a page, before its other sections.
        page_title = section["title"]
        # The offline site has the URL of the file, not of its folder.
        html = pages.get(f"{url}index.html") or pages.get(url, "")
        terms = list(definitions(url, html))
        # The terms become sections of their own, so the beginning need not repeat them.
        text = "" if terms else section["text"]
        description = DESCRIPTION.search(html)
        yield with_keywords(
            {**section, "text": text}, page_title, description[1] if description else ""
        )
        for term in terms:
            yield with_keywords(term, page_title)


def with_keywords(section: Section, page_title: str, page_description: str = "") -> Section:
    """Add a ranking weight and keywords; a page's first section has the page's description, too.

    >>> section = {"location": "course/scores/#rotary", "title": "Rotary positions"}
    >>> with_keywords(section, "Order")  # "pe" stands for "position", the others for "rotary"
    {'location': 'course/scores/#rotary', 'title': 'Rotary positions', \
'keywords': 'Order pe rope embedding rotate_half', 'boost': 1.5}
    """
    text = f"{section['title']} {page_description}"
    synonyms = (terms for pattern, terms in SYNONYM_PATTERNS.items() if pattern.search(text))
    keywords = " ".join(filter(None, (page_title, page_description, *synonyms)))
    boosts = (BOOSTS[start] for start in BOOSTS if section["location"].startswith(start))
    return {**section, "keywords": keywords, "boost": next(boosts, 1.0)}


def definitions(url: str, html: str) -> Iterator[Section]:
    """Yield a section for each term that a page defines.

    >>> html = '<dt id="head">Head</dt><dd>An <a href="..">attention</a>.</dd>'
    >>> list(definitions("glossary/", html))
    [{'location': 'glossary/#head', 'title': 'Head', 'text': 'An attention.'}]
    """
    for match in TERM.finditer(html):
        text = FORMULA.sub(lambda formula: formula_text(unescape(formula["tex"])), match["text"])
        yield {
            "location": f"{url}#{match['id']}",
            "title": TAG.sub("", match["term"]),
            "text": TAG.sub("", text),
        }


def write_json(path: Path, content: Any) -> None:
    """Write content as compact JSON, whose bytes are the same in each build."""
    path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True), encoding="utf-8")
