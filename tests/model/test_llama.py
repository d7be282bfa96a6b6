"""A model of the Llama family: compared with loops over Python numbers and with transformers."""

import re
import sys

import numpy as np
import pytest

from attention_docs import rms_norm
from attention_docs.model.gguf_file import read_gguf
from tests.conftest import random_array
from tests.model import tiny

TEXT = "The cat sat."


@pytest.fixture
def tokens(tokenizer):
    return tokenizer.encode(TEXT)


def test_every_layer_equals_slow_loops(model, tokens):
    layers, logits = tiny.slow_run(tiny.WEIGHTS, tokens)
    steps = list(model.run(tokens))
    for step, (heads, hidden) in zip(steps, layers, strict=True):
        np.testing.assert_allclose(step.attention.weights, heads, atol=1e-5)
        np.testing.assert_allclose(step.hidden, hidden, atol=1e-4)
    np.testing.assert_allclose(model.compute_logits(steps[-1].hidden), logits, atol=2e-4)


def test_untied_output_matrix_is_used_for_logits(tokens, tmp_path):
    output = random_array(tiny.WEIGHTS["token_embd.weight"].shape, "float32")
    path = tiny.write_gguf(tmp_path / "untied.gguf", {**tiny.WEIGHTS, "output.weight": output})
    model, _ = read_gguf(path)
    *_, last = model.run(tokens)
    normed = rms_norm(last.hidden, model.output_norm, model.epsilon)
    np.testing.assert_allclose(model.logits(tokens), normed @ output.T, rtol=1e-6)


@pytest.mark.parametrize("prompt_length", [1, 4])
def test_logits_with_cache_equal_logits_of_whole_text(model, tokens, prompt_length):
    expected = model.logits(tokens)
    steps = list(model.run(tokens[:prompt_length]))
    for start in range(prompt_length, len(tokens), 2):
        two_tokens = slice(start, start + 2)  # so that a mask must hide the second from the first
        steps = list(model.run(tokens[two_tokens], cache=steps))
        logits = model.compute_logits(steps[-1].hidden)
        np.testing.assert_allclose(logits, expected[two_tokens], atol=1e-4)


def test_mask_replaces_causal_mask(model, tokens):
    mask = np.ones((len(tokens), len(tokens)), bool)
    mask[1:, 0] = False
    for step in model.run(tokens, mask=mask):
        for weights in step.attention.weights:
            np.testing.assert_array_equal(weights > 0, mask)
            np.testing.assert_allclose(np.sum(weights, axis=-1), 1, rtol=1e-5)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "tokens has 0 ids; expected 1 to 32"),
        ([1] * 33, "tokens has 33 ids; expected 1 to 32"),
        ([0, -1], "outside the vocabulary of 259"),
        ([259], "outside the vocabulary of 259"),
    ],
)
def test_invalid_tokens_are_refused(model, tokens, message):
    with pytest.raises(ValueError, match=message):
        model.logits(tokens)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"architecture": "qwen2"}, "no 'llama.attention.head_count'"),
        ({"pre": "llama-bpe"}, "its tokenizer has the rule 'llama-bpe'; expected 'smollm'"),
        ({"extra": [("llama.rope.scaling.factor", 8.0)]}, "it has llama.rope.scaling.factor"),
        ({"extra": [("llama.expert_count", 8.0)]}, "it has llama.expert_count"),
        ({"sizes": {**tiny.SIZES, "block_count": 4}}, "its tensor blk.3.attn_norm.weight is missing"),
        ({"sizes": {**tiny.SIZES, "block_count": 2}}, "it has blk.2.attn_norm.weight"),
        ({"sizes": {**tiny.SIZES, "rope.dimension_count": 2}}, "its tensor blk.0.attn_q.weight has"),
        ({"sizes": {k: v for k, v in tiny.SIZES.items() if k != "block_count"}}, "no 'llama.block_count'"),
    ],
)  # fmt: skip
def test_unsupported_models_are_refused(tmp_path, options, message):
    path = tiny.write_gguf(tmp_path / "other.gguf", tiny.WEIGHTS, **options)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}: .*{message}"):
        read_gguf(path)


# The tensors of the model, and those of one layer: all layers have the same.
TENSOR_NAMES = [name for name in tiny.WEIGHTS if not name.startswith(("blk.0.", "blk.1."))]


@pytest.mark.parametrize("name", [*TENSOR_NAMES, "output.weight"])
def test_tensors_of_wrong_shape_are_refused(tmp_path, name):
    tensor = tiny.WEIGHTS.get(name, tiny.WEIGHTS["token_embd.weight"])
    longer = np.concatenate((tensor, tensor[:1]))
    path = tiny.write_gguf(tmp_path / "other.gguf", {**tiny.WEIGHTS, name: longer})
    # A matrix of the file is (outputs, inputs).
    message = f"{name} has shape {longer.T.shape}; expected shape {tensor.T.shape}"
    with pytest.raises(ValueError, match=f"its tensor {re.escape(message)}$"):
        read_gguf(path)


@pytest.mark.parametrize("module", ["gguf", "gguf.quants", "yaml"])
def test_missing_module_is_an_error_that_names_the_extra(gguf, monkeypatch, module):
    for loaded in [name for name in sys.modules if name.partition(".")[0] == "gguf"]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'attention-docs\[model\]'$") as error:
        read_gguf(gguf)
    assert module in str(error.value)


@pytest.mark.parametrize("end", [0, 10, 1000, -100])
def test_truncated_files_are_refused(gguf, tmp_path, end):
    path = tmp_path / "other.gguf"
    path.write_bytes(gguf.read_bytes()[:end])
    with pytest.raises(ValueError, match="expected a GGUF file of the Llama family: "):
        read_gguf(path)


def test_layers_weights_and_logits_equal_transformers(torch, gguf, model, tokens):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.float32, attn_implementation="eager"
    )
    assert largest_difference(torch, theirs, model, tokens) < 1e-4


def largest_difference(torch, theirs, model, tokens):
    """Return the largest difference of two models, relative to the largest number of an array."""
    with torch.no_grad():
        run = theirs(torch.tensor([tokens]), output_hidden_states=True, output_attentions=True)
    steps = list(model.run(tokens))
    hidden = [step.hidden for step in steps]
    hidden[-1] = rms_norm(hidden[-1], model.output_norm, model.epsilon)
    ours = [
        *hidden,
        *(step.attention.weights for step in steps),
        model.compute_logits(steps[-1].hidden),
    ]
    expected = [*run.hidden_states[1:], *run.attentions, run.logits]
    pairs = [(a, b[0].numpy()) for a, b in zip(ours, expected, strict=True)]
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)
