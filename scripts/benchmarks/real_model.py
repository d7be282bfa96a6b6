"""Measure what the chapter on a real model reports; scripts/model fetches the weights."""

import importlib.util
import time

import numpy as np

import results
from attention_docs.model.gguf_file import read_gguf
from attention_docs.model.record import TEXTS, file_description, record, weights_file

# The comparison with transformers runs if all of these packages are installed.
ENGINE = ("torch", "transformers", "accelerate")


def main():
    path = weights_file()
    start = time.perf_counter()
    model, tokenizer = read_gguf(path)
    loaded = time.perf_counter()
    result = {**results.metadata(), "file": file_description(path)}
    result["sizes"] = {
        "layers": len(model.layers),
        "heads": model.heads,
        "kv_heads": model.kv_heads,
        "all_heads": len(model.layers) * model.heads,
        "d_k": model.layers[0].W_Q.shape[-1] // model.heads,
        "vocabulary": len(model.embeddings),
        # The output matrix is tied to the embeddings, so it is not counted again.
        "parameters": model.embeddings.size
        + model.output_norm.size
        + sum(array.size for layer in model.layers for array in layer),
    }
    result.update(record(model, tokenizer))
    if all(map(importlib.util.find_spec, ENGINE)):
        result["independent"] = compare_with_transformers(path, model, tokenizer)
    result["seconds"] = {"read": loaded - start, "measure": time.perf_counter() - loaded}
    results.write(result)


def compare_with_transformers(path, model, tokenizer):
    """Return the largest differences from transformers, relative to the largest number."""
    import torch
    import transformers

    theirs = transformers.AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32, attn_implementation="eager"
    )
    largest_differences = {"hidden states": 0.0, "weights": 0.0, "logits": 0.0}
    for text in TEXTS:
        tokens = tokenizer.encode(text)
        with torch.no_grad():
            run = theirs(torch.tensor([tokens]), output_hidden_states=True, output_attentions=True)
        steps = list(model.run(tokens))
        # Their last hidden state is already normed, so the logits are compared instead.
        pairs = {
            "hidden states": zip([s.hidden for s in steps[:-1]], run.hidden_states[1:-1]),
            "weights": zip([s.attention.weights for s in steps], run.attentions),
            "logits": [(model.compute_logits(steps[-1].hidden), run.logits)],
        }
        for name, arrays in pairs.items():
            for ours, expected in arrays:
                expected = expected[0].numpy()
                difference = float(np.abs(ours - expected).max() / np.abs(expected).max())
                largest_differences[name] = max(largest_differences[name], difference)
    versions = {package: results.version(package) for package in ENGINE[:2]}
    return {"texts": len(TEXTS), "versions": versions, "largest_difference": largest_differences}


if __name__ == "__main__":
    main()
