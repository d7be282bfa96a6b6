"""Words that people type into the search instead of the words that a page uses."""

import re

# For a phrase in a title or a description, other search terms. The last word of a phrase may be cut
# short, so that "saturat" stands for "saturated" and "saturation".
SYNONYMS = {
    "additive score": "bahdanau",
    "around the softmax": "qk-norm qk_norm rmsnorm output gate gated softmax1 off by one k=v",
    "average": "mean",
    "backward pass": "backprop backpropagation gradient derivative autograd",
    "bias": "alibi",
    "bits and batches": "float16 nondeterminism deterministic invariant quantization int4",
    "cache": "kv generation inference memory size gqa mqa multi-query grouped-query",
    "causal": "autoregressive future triangular lower tril look-ahead",
    "chosen": "sparse top-k dsa indexer deepseek moba nsa selection",
    "check your": "test verify unit debug implementation",
    "cost": "complexity quadratic flops time memory o(n^2)",
    "distribution of": "gaussian",
    "encoder and decoder": "transformer architecture seq2seq translation",
    "feed-forward": "ffn mlp",
    "fully masked": "nan",
    "gradient": "backprop backpropagation derivative jacobian",
    "grouped quer": "gqa mqa mha multi-query kv heads",
    "heads in code": "reshape view einsum parameters count number",
    "heads that share": "gqa mqa mha multi-query grouped-query",
    "latent": "mla deepseek",
    "layer cost": "complexity quadratic",
    "layer norm": "layernorm normalization normalisation rmsnorm",
    "local window": "sliding swa longformer banded",
    "masks as functions": "flexattention mask_mod score_mod block-sparse packing document tree",
    "masks": "masking attn_mask boolean true false",
    "mistake": "bug wrong error debug",
    "multi-head": "mha multihead",
    "next token": "logits sampling temperature top-k decoding",
    "one formula": "equation scaled dot-product kq qk softmax(q k^t / sqrt(d_k)) v",
    "overflow": "numerically stable stability inf nan log-sum-exp",
    "padding": "pad key_padding_mask",
    "position": "pe",
    "positional encoding": "sinusoidal sine cosine embedding",
    "query, key, value": "qkv kq q k v w_q w_k w_v meaning what projection",
    "relevance": "luong dot-product similarity versus",
    "residual": "skip connection",
    "rotary": "rope embedding",
    "saturat": "temperature vanishing",
    "scaled": "sqrt sqrt(d_k) square root divide scaling scale factor",
    "scaled_dot_product": "sdpa",
    "tiles": "flash attention flashattention online softmax memory",
    "two heads": "multi-head multihead",
    "variance of": "sqrt sqrt(d_k) square root divide",
    "word order": "positional position",
}
PATTERNS = {
    re.compile(rf"\b{re.escape(phrase)}", re.IGNORECASE): terms
    for phrase, terms in SYNONYMS.items()
}


def synonyms(text: str) -> str:
    """Return the search terms for all phrases of `SYNONYMS` that a text contains.

    >>> synonyms("Rotary positions")  # "pe" stands for "position", the others for "rotary"
    'pe rope embedding'
    """
    return " ".join(terms for pattern, terms in PATTERNS.items() if pattern.search(text))
