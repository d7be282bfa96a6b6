"""Encoder and decoder against the layers of PyTorch."""

import numpy as np

from attention_docs import examples


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
