"""Read a model of the Llama family, and its vocabulary, from a GGUF file with PyPI's `gguf`."""

from pathlib import Path
from typing import Any

import numpy as np

from attention_docs.arrays import Array
from attention_docs.model.llama import Layer, Llama
from attention_docs.model.tokenizer import Tokenizer

# The names of a layer's weights in the file, in the order of `Layer`, with a letter for the size of
# each axis, as in `sizes` of `_build_model`.
LAYER_AXES = {"attn_norm": "d", "attn_q": "dq", "attn_k": "dk", "attn_v": "dk", "attn_output": "qd",
              "ffn_norm": "d", "ffn_gate": "df", "ffn_up": "df", "ffn_down": "fd"}  # fmt: skip
# The beginnings of settings that change the computation in ways that `Llama` does not know.
UNSUPPORTED_SETTINGS = ("llama.rope.scaling", "llama.expert")


def read_gguf(path: str | Path) -> tuple[Llama, Tokenizer]:
    try:  # imported here, because only this function needs the optional package
        from gguf import GGUFReader
        from gguf.quants import dequantize
    except ImportError as error:
        raise ImportError(f"{error}: pip install 'attention-docs[model]'") from None
    try:
        reader = GGUFReader(path)
        settings = {name: field.contents() for name, field in reader.fields.items()}
        tensors = {  # a matrix is transposed to (inputs, outputs)
            tensor.name: np.asarray(dequantize(tensor.data, tensor.tensor_type), np.float32).T
            for tensor in reader.tensors
        }
        return _build_model(settings, tensors), Tokenizer.from_gguf(settings)
    except KeyError as error:
        raise ValueError(f"{path}: expected a GGUF file of the Llama family: no {error}") from None
    except (ArithmeticError, IndexError, NotImplementedError, ValueError) as error:
        raise ValueError(f"{path}: expected a GGUF file of the Llama family: {error}") from None


def _build_model(settings: dict[str, Any], tensors: dict[str, Array]) -> Llama:
    """Build the model from the settings and tensors of a file; used tensors are removed."""
    heads = settings["llama.attention.head_count"]
    kv_heads = settings["llama.attention.head_count_kv"]
    d = settings["llama.embedding_length"]
    d_k = settings.get("llama.rope.dimension_count", d // heads)
    sizes = {
        "d": d,
        "q": heads * d_k,
        "k": kv_heads * d_k,
        "f": settings["llama.feed_forward_length"],
        "v": len(settings["tokenizer.ggml.tokens"]),
    }

    def take(name: str, axes: str) -> Array:
        """Take a tensor out of `tensors`, and check its shape against the sizes of its axes."""
        tensor = tensors.pop(f"{name}.weight", None)
        shape = tuple(sizes[axis] for axis in axes)
        if tensor is None or tensor.shape != shape:
            problem = "is missing" if tensor is None else f"has shape {tensor.shape}"
            raise ValueError(f"its tensor {name}.weight {problem}; expected shape {shape}")
        return tensor

    embeddings = take("token_embd", "dv").T
    model = Llama(
        heads=heads,
        kv_heads=kv_heads,
        base=settings.get("llama.rope.freq_base", 10000.0),
        epsilon=settings["llama.attention.layer_norm_rms_epsilon"],
        context=settings["llama.context_length"],
        embeddings=embeddings,
        layers=[
            Layer(*(take(f"blk.{number}.{name}", axes) for name, axes in LAYER_AXES.items()))
            for number in range(settings["llama.block_count"])
        ],
        output_norm=take("output_norm", "d"),
        # Many models tie the output matrix to the embeddings.
        W_vocabulary=take("output", "dv") if "output.weight" in tensors else embeddings.T,
    )
    unsupported = list(tensors)  # those that were not taken
    unsupported += [name for name in settings if name.startswith(UNSUPPORTED_SETTINGS)]
    if unsupported:
        raise ValueError(f"it has {unsupported[0]}, which this model does not compute")
    return model
