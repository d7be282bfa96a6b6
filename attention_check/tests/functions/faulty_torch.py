"""PyTorch attention functions with a fault, and in brackets what the check must say of it."""

import pytest

torch = pytest.importorskip("torch")
nn, F = torch.nn, torch.nn.functional


def scaled_scores(query, key):
    return query @ key.transpose(-2, -1) * query.size(-1) ** -0.5


def scaled_in_place(q, k, v):
    """Scales the caller's queries in place. [changes its input]"""
    q *= q.size(-1) ** -0.5
    return (q @ k.transpose(-2, -1)).softmax(-1) @ v


def detached(q, k, v):
    """Detaches the weights, so queries and keys have no gradient. [gradient of q]"""
    return scaled_scores(q, k).softmax(-1).detach() @ v


class WrongBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, q, k, v):
        weights = scaled_scores(q, k).softmax(-1)
        ctx.save_for_backward(q, k, v, weights)
        return weights @ v

    @staticmethod
    def backward(ctx, grad):
        q, k, v, weights = ctx.saved_tensors
        grad_weights = grad @ v.transpose(-2, -1)
        grad_scores = weights * (grad_weights - (weights * grad_weights).sum(-1, keepdim=True))
        grad_query = grad_scores @ k  # the scale is missing
        grad_key = grad_scores.transpose(-2, -1) @ q * q.size(-1) ** -0.5
        return grad_query, grad_key, weights.transpose(-2, -1) @ grad


def backward_without_scale(q, k, v):
    """Forgets the scale in the gradient of the queries. [gradient of q]"""
    return WrongBackward.apply(q, k, v)


def view_after_transpose(q, k, v):
    """Flattens with .view, which raises for transposed arrays. [RuntimeError]"""
    b, h, m, _ = q.shape
    q, k, v = (x.view(b * h, -1, x.size(-1)) for x in (q, k, v))
    return (scaled_scores(q, k).softmax(-1) @ v).view(b, h, m, -1)


def empty_output(q, k, v):
    """Returns zeros if the values have another shape than the queries. [could not recover its weights]"""
    weights = scaled_scores(q, k).softmax(-1)
    output = torch.zeros_like(q)
    return torch.matmul(weights, v, out=output) if q.shape == v.shape else output


def padding_inverted(q, k, v, key_padding_mask=None, is_causal=False):
    """Inverts the padding mask, but only beside a causal mask. [the mask is the first wrong step]"""
    scores = scaled_scores(q, k)
    if key_padding_mask is not None:
        hidden = key_padding_mask if is_causal else ~key_padding_mask
        scores = scores.masked_fill(hidden[:, None, None, :], torch.finfo(q.dtype).min)
    if is_causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, torch.finfo(q.dtype).min)
    return scores.softmax(-1) @ v


class Layer(nn.Module):
    """A correct layer, of which the faulty ones change a method."""

    def __init__(self, width=48, heads=4):
        super().__init__()
        self.num_heads, self.head_dim = heads, width // heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (
            nn.Linear(width, width) for _ in range(4)
        )
        self.scale = self.head_dim**-0.5

    def split(self, x):
        return x.view(*x.shape[:2], self.num_heads, self.head_dim).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).flatten(2)

    def forward(self, x):
        q, k, v = (self.split(project(x)) for project in (self.q_proj, self.k_proj, self.v_proj))
        weights = (q @ k.transpose(-2, -1) * self.scale).softmax(-1)
        return self.out_proj(self.merge(weights @ v))


class SplitWrong(Layer):
    """Splits heads without the transpose. [heads_split_without_transpose]"""

    def split(self, x):
        return x.reshape(x.size(0), self.num_heads, -1, self.head_dim)


layer_split_wrong = SplitWrong()
