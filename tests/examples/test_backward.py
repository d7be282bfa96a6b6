"""The backward passes of the examples: what they are to show, and PyTorch's autograd."""

import numpy as np

from attention_docs import examples


def test_one_step_lowers_the_loss_by_less_than_the_gradient_promises():
    steps = examples.steps("backward")
    assert steps["expected"] < steps["loss_after"] - steps["loss"] < 0


def test_gradients_of_the_layer_equal_the_autograd_of_pytorch(torch):
    steps = examples.steps("backward_layer")
    names = ("X", "W_Q", "W_K", "W_V", "W_O", "B", "gain", "shift")
    x, w_q, w_k, w_v, w_o, mask, gain, shift = tensors = [
        torch.from_numpy(steps[name].copy()).requires_grad_() for name in names
    ]
    query = (x @ w_q).reshape(4, 2, 3).transpose(0, 1)
    key, value = ((x @ w)[None].expand(2, -1, -1) for w in (w_k, w_v))
    weights = torch.softmax(query @ key.transpose(1, 2) / 3**0.5 + mask, dim=-1)
    summed = x + (weights @ value).transpose(0, 1).reshape(4, 2) @ w_o
    summed.retain_grad()
    output = torch.nn.functional.layer_norm(summed, (5,), gain, shift)
    output.backward(torch.from_numpy(steps["dY"]))
    np.testing.assert_allclose(steps["d_summed"], summed.grad, rtol=0, atol=1e-12)
    for name, tensor in zip(names, tensors, strict=True):
        gradient = steps[f"d_{name}" if name in ("gain", "shift") else f"d{name}"]
        np.testing.assert_allclose(gradient, tensor.grad, rtol=0, atol=1e-12, err_msg=name)


def test_gradients_of_attention_equal_the_autograd_of_pytorch(torch):
    steps, given = examples.steps("backward"), examples.steps("distinct_sizes")
    names = ("X_q", "X_kv", "W_Q", "W_K", "W_V")
    x_q, x_kv, w_q, w_k, w_v = tensors = [
        torch.from_numpy(given[name].copy()).requires_grad_() for name in names
    ]
    weights = torch.softmax(x_q @ w_q @ (x_kv @ w_k).T / 2**0.5, dim=-1)
    loss = ((weights @ (x_kv @ w_v) - torch.from_numpy(steps["T"])) ** 2).sum() / 2
    loss.backward()
    for name, tensor in zip(names, tensors, strict=True):
        np.testing.assert_allclose(steps[f"d{name}"], tensor.grad, rtol=0, atol=1e-12, err_msg=name)
