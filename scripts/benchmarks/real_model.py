"""Measure what the chapter on a real model reports; scripts/model fetches the weights."""

import importlib.util
import time

import numpy as np

import results
from attention_docs.model.gguf_file import read_gguf
from attention_docs.model.record import TEXTS, file_description, record, weights_file

# The comparison with transformers needs all of them.
TRANSFORMERS_PACKAGES = ("torch", "transformers", "accelerate")


def main():
    path = weights_file()
    start = time.perf_counter()
    model, tokenizer = read_gguf(path)
    read_seconds = time.perf_counter() - start
    result = {**results.metadata(), "file": file_description(path), "sizes": sizes_of(model)}
    start = time.perf_counter()
    result.update(record(model, tokenizer))
    if all(map(importlib.util.find_spec, TRANSFORMERS_PACKAGES)):
        result["independent"] = compare_with_transformers(path, model, tokenizer)
    result["seconds"] = {"read": read_seconds, "measure": time.perf_counter() - start}
    results.write(result)


def sizes_of(model):
    layer_parameters = sum(array.size for layer in model.layers for array in layer)
    return {
        "layers": len(model.layers),
        "heads": model.heads,
        "kv_heads": model.kv_heads,
        "all_heads": len(model.layers) * model.heads,
        "d_k": model.layers[0].W_Q.shape[-1] // model.heads,
        "vocabulary": len(model.embeddings),
        "width": model.embeddings.shape[-1],
        "context": model.context,
        # The output matrix is tied to the embeddings, so it is not counted again.
        "parameters": model.embeddings.size + model.output_norm.size + layer_parameters,
    }


def compare_with_transformers(path, model, tokenizer):
    """Compare the results of our model with those of transformers, which reads the same file."""
    import torch
    import transformers

    reference_model = transformers.AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32, attn_implementation="eager"
    )
    largest_differences = {"hidden states": 0.0, "weights": 0.0, "logits": 0.0}
    for text in TEXTS:
        tokens = tokenizer.encode(text)
        with torch.no_grad():
            expected = reference_model(
                torch.tensor([tokens]), output_hidden_states=True, output_attentions=True
            )
        layers = list(model.run(tokens))
        # In transformers, the first hidden states are the embeddings, and the last ones are normed
        # already: the logits are compared in their place.
        pairs = {
            "hidden states": zip(
                [layer.hidden for layer in layers[:-1]], expected.hidden_states[1:-1]
            ),
            "weights": zip([layer.attention.weights for layer in layers], expected.attentions),
            "logits": [(model.compute_logits(layers[-1].hidden), expected.logits)],
        }
        for name, arrays in pairs.items():
            for array, expected_batch in arrays:
                difference = relative_difference(array, expected_batch[0].numpy())
                largest_differences[name] = max(largest_differences[name], difference)
    versions = {package: results.version(package) for package in ("torch", "transformers")}
    return {"texts": len(TEXTS), "versions": versions, "largest_difference": largest_differences}


def relative_difference(array, expected):
    return float(np.abs(array - expected).max() / np.abs(expected).max())


if __name__ == "__main__":
    main()
