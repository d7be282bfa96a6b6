"""Read a model of the Llama family, and its vocabulary, from a GGUF file.

Needs PyPI's `gguf`, which reads the format and dequantises weights to float32.
"""

from pathlib import Path
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.model.llama import Layer, Llama
from attention_docs.model.tokenizer import Tokenizer

# What the file calls the weights of a layer, in the order of `Layer`.
ATTENTION = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output")
FEED_FORWARD = ("ffn_norm", "ffn_gate", "ffn_up", "ffn_down")
UNSUPPORTED = ("llama.rope.scaling", "llama.expert")


def read_gguf(path: str | Path) -> tuple[Llama, Tokenizer]:
    """Read the weights and the tokenizer of a GGUF file.

    Raises:
        ImportError: if PyPI's `gguf` is not installed.
        OSError: if the file cannot be read.
        ValueError: if it is not a GGUF file of a model that `Llama` and `Tokenizer` compute.
    """
    from gguf import GGUFReader
    from gguf.quants import dequantize

    try:
        reader = GGUFReader(path)
        settings = {name: field.contents() for name, field in reader.fields.items()}
        tensors = {
            # Transposed, a matrix is (inputs, outputs).
            tensor.name: np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32).T
            for tensor in reader.tensors
        }
        return _model(settings, tensors), _tokenizer(settings)
    except KeyError as error:
        raise ValueError(f"{path}: expected a GGUF file of the Llama family: no {error}") from None
    except (IndexError, NotImplementedError, OverflowError, ValueError) as error:
        raise ValueError(f"{path}: expected a GGUF file of the Llama family: {error}") from None


def _model(settings: dict[str, Any], tensors: dict[str, Array]) -> Llama:
    """Return the model; refuse settings and tensors that it does not compute with."""
    layers = [
        Layer(*(tensors.pop(f"blk.{number}.{name}.weight") for name in ATTENTION + FEED_FORWARD))
        for number in range(settings["llama.block_count"])
    ]
    embeddings = tensors.pop("token_embd.weight").T
    model = Llama(
        heads=settings["llama.attention.head_count"],
        kv_heads=settings["llama.attention.head_count_kv"],
        base=settings.get("llama.rope.freq_base", 10000.0),
        epsilon=settings["llama.attention.layer_norm_rms_epsilon"],
        context=settings["llama.context_length"],
        embeddings=embeddings,
        layers=layers,
        output_norm=tensors.pop("output_norm.weight"),
        # Many models tie the output matrix to the embeddings.
        W_vocabulary=tensors.pop("output.weight", embeddings.T),
    )
    if unknown := [*tensors, *(name for name in settings if name.startswith(UNSUPPORTED))]:
        raise ValueError(f"it has {unknown[0]}, which this model does not compute")
    d_k = layers[0].W_Q.shape[-1] // model.heads
    if settings.get("llama.rope.dimension_count", d_k) != d_k:
        raise ValueError(f"its llama.rope.dimension_count is not {d_k}, the width of a head")
    return model


def _tokenizer(settings: dict[str, Any]) -> Tokenizer:
    if (rule := settings["tokenizer.ggml.pre"]) != "smollm":
        raise ValueError(f"its tokenizer has the rule {rule!r}; expected 'smollm'")
    names = ("tokens", "merges", "token_type")
    return Tokenizer(*(settings[f"tokenizer.ggml.{name}"] for name in names))
