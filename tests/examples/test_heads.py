"""Heads, word order, encoder and decoder, and the published classes, also against PyTorch."""

import numpy as np
import pytest

from attention_docs import MultiHeadAttention, examples


def test_wrong_head_split_changes_every_output():
    steps = examples.steps("head_splitting")
    for i in (1, 2):
        assert np.any(steps[f"wrong_head_{i}"] != steps[f"head_{i}"])
    assert np.any(steps["wrong_merged"] != steps["X"])
    assert np.all(steps["wrong_output"] != steps["output"])


def test_single_head_prefers_a_key_that_neither_head_prefers():
    steps, query = examples.steps("multi_head"), 2
    preferred_keys = [steps[name][query].argmax() for name in ("weights_1", "weights_2")]
    assert steps["one_head_weights"][query].argmax() not in preferred_keys


def test_each_japanese_word_finds_its_translation():
    english, japanese = ["I", "eat", "apples", "today"], ["today", "apples", "eat"]
    assert [english[i] for i in examples.steps("word_order")["aligned"]] == japanese


def set_weights(torch, attention, matrices):
    """Copy our matrices into PyTorch's attention layer, whose Linear holds transposes."""
    w_q, w_k, w_v, w_o = (torch.tensor(matrix, dtype=torch.float64) for matrix in matrices)
    attention.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
    attention.out_proj.weight.copy_(w_o.T)


def with_our_weights(torch, layer, **attentions):
    """Copy our weights into PyTorch's transformer layer; the biases outside its norms are zero."""
    example = examples.load("encoder_decoder")
    with torch.no_grad():
        for name, parameter in layer.named_parameters():
            if name.startswith("norm"):
                parameter.copy_(
                    torch.tensor(example.GAIN if name.endswith("weight") else example.SHIFT)
                )
            elif name.endswith("bias"):
                parameter.zero_()
        for attribute, matrices in attentions.items():
            set_weights(torch, getattr(layer, attribute), matrices)
        layer.linear1.weight.copy_(torch.tensor(example.W_1).T)
        layer.linear2.weight.copy_(torch.tensor(example.W_2).T)
    return layer


def test_encoder_and_decoder_equal_pytorch_layers(torch):
    example, steps = examples.load("encoder_decoder"), examples.steps("encoder_decoder")
    options = {
        "d_model": 6, "nhead": 2, "dim_feedforward": 7,
        "dropout": 0.0, "batch_first": True, "dtype": torch.float64,
    }  # fmt: skip
    encoder = with_our_weights(
        torch, torch.nn.TransformerEncoderLayer(**options), self_attn=example.ENCODER
    )
    decoder = with_our_weights(
        torch,
        torch.nn.TransformerDecoderLayer(**options),
        self_attn=example.DECODER,
        multihead_attn=example.CROSS,
    )
    x, y = (torch.tensor(steps[name].tolist(), dtype=torch.float64)[None] for name in "XY")
    hidden = torch.triu(torch.ones(4, 4, dtype=torch.bool), diagonal=1)  # True hides in PyTorch
    memory = encoder(x)
    output = decoder(y, memory, tgt_mask=hidden)
    np.testing.assert_allclose(steps["memory"], memory[0].detach().numpy(), atol=1e-13)
    np.testing.assert_allclose(steps["output"], output[0].detach().numpy(), atol=1e-13)


def test_decoder_output_ignores_later_targets(monkeypatch):
    example = examples.load("encoder_decoder")
    before = example.steps()["probabilities"]
    changed_targets = [*example.TARGET_TOKENS[:3], [3, -1, 2, 0, 1, -2]]
    monkeypatch.setattr(example, "TARGET_TOKENS", changed_targets)
    after = example.steps()["probabilities"]
    np.testing.assert_array_equal(after[:3], before[:3])
    assert np.all(after[3] != before[3])


@pytest.mark.parametrize(
    ("step", "translation"),
    [
        ("probabilities", ["la", "voiture", "est", "verte"]),
        ("loop_probabilities", ["la", "voiture", "est", "verte", "."]),
        ("book_probabilities", ["le", "livre", "est", "vert"]),
    ],
)
def test_each_row_predicts_the_next_word(step, translation):
    vocabulary = examples.load("encoder_decoder").VOCABULARY
    likeliest = examples.steps("encoder_decoder")[step].argmax(axis=1)
    assert [vocabulary[token] for token in likeliest] == translation


def test_mistakes_of_the_published_class_change_every_number():
    steps = examples.steps("source_classes")
    for name in ("scaled_by_embed_size", "not_projected", "as_in_the_source"):
        assert np.all(np.abs(steps[f"output_{name}"] - steps["output"]) > 1e-4), name


def test_published_class_equals_its_formula_in_pytorch(torch):
    """The class has no projections, divides by the root of embed_size and has an output layer."""
    steps = examples.steps("source_classes")
    heads = torch.tensor(steps["X"].tolist(), dtype=torch.float64).reshape(3, 2, 2).transpose(0, 1)
    attended = torch.nn.functional.scaled_dot_product_attention(heads, heads, heads, scale=4**-0.5)
    merged = attended.transpose(0, 1).reshape(3, 4).numpy()
    np.testing.assert_allclose(steps["output_as_in_the_source"], merged @ steps["W_O"], rtol=1e-13)


def test_sizes_of_unused_layers_equal_pytorch(torch):
    steps = examples.steps("source_classes")
    head_dim, embed_size, heads = 2, 4, 2
    unused = torch.nn.Linear(head_dim, embed_size, bias=False)
    assert steps["unused_parameters"] == 3 * unused.weight.numel()
    assert steps["features_if_applied"] == heads * unused.out_features


def test_scores_without_projections_are_symmetric():
    steps = examples.steps("source_classes")
    scores, first_head = steps["scores_1_not_projected"], steps["X"][:, :2]
    np.testing.assert_array_equal(scores, first_head @ first_head.T)
    np.testing.assert_array_equal(scores, scores.T)


def test_equal_halves_of_tokens_give_identical_heads():
    output = examples.steps("source_classes")["repeated_head_output"]
    np.testing.assert_array_equal(output[:, :2], output[:, 2:])


def test_published_cross_attention_class_equals_layer(torch):
    """The published formula in PyTorch, with a mask that has no empty row."""
    steps = examples.steps("source_classes")
    matrices = {f"W_{letter}": steps[f"W_{letter}"] for letter in "QKVO"}
    biases = {f"b_{letter}": np.arange(4) / (i + 3) for i, letter in enumerate("QKVO")}

    def linear(rows, letter):
        weight, bias = matrices[f"W_{letter}"].T, biases[f"b_{letter}"]
        return torch.nn.functional.linear(rows, torch.tensor(weight), torch.tensor(bias))

    memory = torch.arange(40, dtype=torch.float64).reshape(2, 5, 4).sin()
    query = torch.arange(24, dtype=torch.float64).reshape(2, 3, 4).cos()
    q, k, v = (
        linear(rows, letter).unflatten(2, (2, 2)).transpose(1, 2)
        for rows, letter in ((query, "Q"), (memory, "K"), (memory, "V"))
    )
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    energy = (q @ k.mT / 2**0.5).masked_fill(mask == 0, -1e20)
    attended = torch.softmax(energy, dim=-1) @ v
    expected = linear(attended.transpose(1, 2).flatten(2), "O").numpy()

    layer = MultiHeadAttention(**matrices, **biases, num_heads=2)
    output = layer(query.numpy(), memory.numpy(), memory.numpy(), attn_mask=mask.bool().numpy())
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-13)
