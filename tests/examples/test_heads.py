"""Encoder and decoder, and the published classes, also against PyTorch."""

import numpy as np

from attention_docs import MultiHeadAttention, examples
from attention_docs.examples.source_classes import EMBED_SIZE, HEAD_DIM, HEADS

SOURCE_CLASSES = examples.steps("source_classes")


def set_weights_of_attention(torch, attention, matrices):
    """Copy our matrices into PyTorch's attention layer, whose Linear holds transposes."""
    w_q, w_k, w_v, w_o = (torch.tensor(matrix, dtype=torch.float64) for matrix in matrices)
    attention.in_proj_weight.copy_(torch.cat([w_q.T, w_k.T, w_v.T]))
    attention.out_proj.weight.copy_(w_o.T)


def set_weights_of_layer(torch, layer, **attentions):
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
            set_weights_of_attention(torch, getattr(layer, attribute), matrices)
        layer.linear1.weight.copy_(torch.tensor(example.W_1).T)
        layer.linear2.weight.copy_(torch.tensor(example.W_2).T)


def torch_encoder_and_decoder(torch):
    """Return PyTorch's layers with the weights of the example."""
    example = examples.load("encoder_decoder")
    sizes = {"d_model": 6, "nhead": 2, "dim_feedforward": 7}
    options = {**sizes, "dropout": 0.0, "batch_first": True, "dtype": torch.float64}
    encoder = torch.nn.TransformerEncoderLayer(**options)
    decoder = torch.nn.TransformerDecoderLayer(**options)
    set_weights_of_layer(torch, encoder, self_attn=example.ENCODER)
    set_weights_of_layer(torch, decoder, self_attn=example.DECODER, multihead_attn=example.CROSS)
    return encoder, decoder


def test_encoder_and_decoder_equal_pytorch_layers(torch):
    steps = examples.steps("encoder_decoder")
    encoder, decoder = torch_encoder_and_decoder(torch)
    x, y = (torch.tensor(steps[name].tolist(), dtype=torch.float64)[None] for name in "XY")
    hidden = torch.triu(torch.ones(4, 4, dtype=torch.bool), diagonal=1)  # True hides in PyTorch
    memory = encoder(x)
    output = decoder(y, memory, tgt_mask=hidden)
    np.testing.assert_allclose(steps["memory"], memory[0].detach().numpy(), atol=1e-13)
    np.testing.assert_allclose(steps["output"], output[0].detach().numpy(), atol=1e-13)


def test_decoder_output_ignores_later_targets(monkeypatch):
    example = examples.load("encoder_decoder")
    before = example.steps()["probabilities"]
    other_token = [3, -1, 2, 0, 1, -2]
    monkeypatch.setattr(example, "TARGET_TOKENS", [*example.TARGET_TOKENS[:-1], other_token])
    after = example.steps()["probabilities"]
    np.testing.assert_array_equal(after[:-1], before[:-1])
    assert np.all(after[-1] != before[-1])


def published_cross_attention(torch, query, memory, mask, parameters):
    """Return the output of the published class, which fills hidden scores with -1e20."""

    def linear(rows, letter):
        weight, bias = (torch.tensor(parameters[f"{name}_{letter}"]) for name in "Wb")
        return torch.nn.functional.linear(rows, weight.T, bias)

    q, k, v = (
        linear(rows, letter).unflatten(2, (HEADS, HEAD_DIM)).transpose(1, 2)
        for rows, letter in ((query, "Q"), (memory, "K"), (memory, "V"))
    )
    energy = (q @ k.mT / HEAD_DIM**0.5).masked_fill(mask == 0, -1e20)
    attended = torch.softmax(energy, dim=-1) @ v
    return linear(attended.transpose(1, 2).flatten(2), "O").numpy()


def test_multi_head_attention_equals_published_cross_attention_class(torch):
    memory = torch.arange(40, dtype=torch.float64).reshape(2, 5, EMBED_SIZE).sin()
    query = torch.arange(24, dtype=torch.float64).reshape(2, 3, EMBED_SIZE).cos()
    no_row_is_empty = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 1, 1, 1], [1, 1, 0, 0, 0]])
    parameters = {f"W_{letter}": SOURCE_CLASSES[f"W_{letter}"] for letter in "QKVO"}
    parameters |= {f"b_{letter}": np.arange(4) / (i + 3) for i, letter in enumerate("QKVO")}
    expected = published_cross_attention(torch, query, memory, no_row_is_empty, parameters)
    layer = MultiHeadAttention(**parameters, num_heads=HEADS)
    key = value = memory.numpy()
    output = layer(query.numpy(), key, value, attn_mask=no_row_is_empty.bool().numpy())
    np.testing.assert_allclose(output, expected, rtol=0, atol=1e-13)
