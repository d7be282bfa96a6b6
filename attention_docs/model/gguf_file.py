"""Read a model of the Llama family, and its vocabulary, from a GGUF file.

Needs PyPI's `gguf`, which reads the format and dequantises weights to float32.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.model.llama import Layer, Llama, Sizes
from attention_docs.model.tokenizer import Tokenizer

# The name that each array of `Layer` has in the file.
LAYER_TENSORS = {
    "attention_norm": "attn_norm",
    "W_Q": "attn_q",
    "W_K": "attn_k",
    "W_V": "attn_v",
    "W_O": "attn_output",
    "feed_forward_norm": "ffn_norm",
    "W_gate": "ffn_gate",
    "W_up": "ffn_up",
    "W_down": "ffn_down",
}


def read_gguf(path: str | Path) -> tuple[Llama, Tokenizer]:
    """Read the weights and the tokenizer of a GGUF file.

    Raises:
        ImportError: if PyPI's `gguf` is not installed.
        OSError: if the file cannot be read.
        ValueError: if it is not a GGUF file of the Llama family, or has tensors or settings that
            `Llama` does not support.
    """
    reader = _open(Path(path))
    fields = dict(reader.fields)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    try:
        architecture = _value(fields, "general.architecture")
        if architecture != "llama":
            raise ValueError(f"its architecture is {architecture!r}; expected 'llama'")
        sizes = _sizes(fields)
        return _model(sizes, tensors), _tokenizer(fields)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _open(path: Path) -> Any:
    """Open the file with PyPI's `gguf`."""
    try:
        import gguf
    except ImportError:
        raise ImportError(
            "reading a model needs PyPI's gguf: pip install 'attention-docs[model]'"
        ) from None
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ValueError(f"{path}: expected a GGUF file, which begins with the bytes GGUF")
    try:
        return gguf.GGUFReader(path)
    except (IndexError, OverflowError, ValueError) as error:
        raise ValueError(f"{path}: the file is damaged or incomplete: {error}") from None


def _value(fields: Mapping[str, Any], name: str) -> Any:
    if name not in fields:
        raise ValueError(f"it has no {name}")
    return fields[name].contents()


def _sizes(fields: Mapping[str, Any]) -> Sizes:
    """Return the sizes in the metadata; refuse settings that `Llama` does not support."""
    for name in fields:
        if name.startswith(("llama.rope.scaling", "llama.expert")):
            raise ValueError(f"it has {name}, which this model does not compute")
    number = {
        name: _value(fields, f"llama.{name}")
        for name in (
            "block_count",
            "embedding_length",
            "attention.head_count",
            "attention.head_count_kv",
            "feed_forward_length",
            "attention.layer_norm_rms_epsilon",
            "context_length",
        )
    }
    layers, d_model, heads, kv_heads, d_ff, epsilon, context = number.values()
    d_k = d_model // heads
    for name in ("rope.dimension_count", "attention.key_length", "attention.value_length"):
        if f"llama.{name}" in fields and _value(fields, f"llama.{name}") != d_k:
            raise ValueError(f"its llama.{name} is not {d_model} / {heads}, the width of a head")
    base = _value(fields, "llama.rope.freq_base") if "llama.rope.freq_base" in fields else 10000.0
    return Sizes(layers, d_model, heads, kv_heads, d_k, d_ff, base, epsilon, context)


def _model(sizes: Sizes, tensors: Mapping[str, Any]) -> Llama:
    """Return the model; refuse missing and unknown tensors and wrong shapes."""
    d, queries, keys = sizes.d_model, sizes.heads * sizes.d_k, sizes.kv_heads * sizes.d_k
    shapes = Layer((d,), (d, queries), (d, keys), (d, keys), (queries, d), (d,),
                   (d, sizes.d_ff), (d, sizes.d_ff), (sizes.d_ff, d))  # fmt: skip
    remaining = dict(tensors)

    def take(name: str, shape: tuple[int, ...]) -> Array:
        if name not in remaining:
            raise ValueError(f"it has no tensor {name}")
        array = _dequantized(remaining.pop(name))
        if array.shape != shape:
            raise ValueError(f"its tensor {name} has shape {array.shape}; expected {shape}")
        return array

    vocabulary = (
        int(tensors["token_embd.weight"].shape[-1]) if "token_embd.weight" in tensors else 0
    )
    embeddings = take("token_embd.weight", (d, vocabulary)).T
    layers = [
        Layer(*(
            take(f"blk.{number}.{name}.weight", shape)
            for name, shape in zip(LAYER_TENSORS.values(), shapes, strict=True)
        ))
        for number in range(sizes.layers)
    ]  # fmt: skip
    output_norm = take("output_norm.weight", (d,))
    # Many models tie the output matrix to the embeddings.
    is_tied = "output.weight" not in tensors
    W_vocabulary = embeddings.T if is_tied else take("output.weight", (d, vocabulary))
    if remaining:
        raise ValueError(f"it has a tensor {min(remaining)}, which this model does not compute")
    return Llama(sizes, embeddings, layers, output_norm, W_vocabulary)


def _dequantized(tensor: Any) -> Array:
    """Return a tensor in float32; a matrix is transposed to (inputs, outputs)."""
    from gguf.quants import dequantize

    try:
        return np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32).T
    except NotImplementedError:
        kind = tensor.tensor_type.name
        raise ValueError(f"its tensor {tensor.name} has the unknown type {kind}") from None


def _tokenizer(fields: Mapping[str, Any]) -> Tokenizer:
    kind = _value(fields, "tokenizer.ggml.model"), _value(fields, "tokenizer.ggml.pre")
    if kind != ("gpt2", "smollm"):
        raise ValueError(
            f"its tokenizer is {kind[0]} with the rule {kind[1]}; expected gpt2 with smollm"
        )
    return Tokenizer(
        _value(fields, "tokenizer.ggml.tokens"),
        _value(fields, "tokenizer.ggml.merges"),
        _value(fields, "tokenizer.ggml.token_type"),
    )
