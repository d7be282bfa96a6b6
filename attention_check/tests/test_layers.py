"""Layers: their weights are read by name, and they are asked for what they take."""

import numpy as np
import pytest

from attention_check import checking
from attention_check.calling import Settings
from attention_check.libraries import LoadError
from attention_check.recipe import LayerCall, attend_in_heads

D_MODEL, HEADS = 12, 3


class Layer:
    """An object with arrays; it takes a mask (b, n) in which True keeps a key."""

    def __init__(self, heads=HEADS):
        if heads:
            self.num_heads = heads
        random = np.random.RandomState(0)
        self.W_q, self.W_k, self.W_v, self.W_o = random.normal(size=(4, D_MODEL, D_MODEL)) / 2

    def call(self, x, mask=None, is_causal=False):
        weights = {"Q": self.W_q, "K": self.W_k, "V": self.W_v, "O": self.W_o}
        mask = None if mask is None else mask[:, None, None, :]
        call = LayerCall(x, x, HEADS, weights, mask=mask, is_causal=is_causal)
        return attend_in_heads(call, self.changes)

    changes = None
    __call__ = call


def report_on(layer):
    return checking.check(layer, Settings(library="numpy"))


def statuses(report):
    return {verdict.case.name: verdict.status for verdict in report.verdicts}


@pytest.mark.parametrize("heads", [HEADS, None], ids=["told", "found by trying"])
def test_right_layer_passes(heads):
    report = report_on(Layer(heads))
    assert report.is_correct
    assert statuses(report)["layer_padding"] == statuses(report)["layer_causal"] == "ok"


def test_mask_that_is_ignored_is_named():
    layer = Layer()
    layer.changes = {"mask": lambda call: np.ones_like(call.distance, dtype=bool)}
    report = report_on(layer)
    wrong = {v.case.name: v.mistakes for v in report.verdicts if v.status == "wrong"}
    assert [mistake.name for mistake in wrong["layer_padding"]] == ["mask_ignored"]


def test_causal_layer_with_a_mistake_is_seen_to_be_causal():
    class Causal(Layer):
        def call(self, x):
            return super().call(x, is_causal=True)

        __call__ = call
        changes = {"scale": lambda call: 1.0}  # noqa: RUF012 -- read, never changed

    report = report_on(Causal())
    assert report.interface.is_always_causal
    names = {mistake.name for verdict in report.verdicts for mistake in verdict.mistakes}
    assert names == {"not_scaled"}


def test_function_of_a_layer_without_heads_has_one():
    def layer(x, W_q, W_k, W_v):
        call = LayerCall(x, x, 1, {"Q": W_q, "K": W_k, "V": W_v})
        return attend_in_heads(call)

    assert report_on(layer).is_correct


def test_layer_without_a_query_projection_is_refused():
    layer = Layer()
    del layer.W_q
    with pytest.raises(LoadError, match="not recognised as a projection"):
        report_on(layer)


@pytest.mark.thorough
def test_layers_of_pytorch(torch):
    torch.manual_seed(0)
    for layer in (
        torch.nn.MultiheadAttention(12, 3, batch_first=True),
        torch.nn.MultiheadAttention(12, 3, add_bias_kv=True),
        torch.nn.MultiheadAttention(12, 3, add_zero_attn=True),
    ):
        report = checking.check(layer)
        assert report.is_correct
        assert layer.training  # a copy of it was checked
        assert layer.in_proj_weight.dtype == torch.float32
        assert statuses(report)["layer_gradients"] == statuses(report)["layer_float16"] == "ok"


@pytest.mark.thorough
def test_detached_weights_of_a_layer_are_found(torch):
    class Detached(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.heads = 3
            self.to_qkv, self.to_out = torch.nn.Linear(12, 36), torch.nn.Linear(12, 12)

        def forward(self, x):
            b, n, _ = x.shape
            parts = self.to_qkv(x).reshape(b, n, 3, 3, 4).permute(2, 0, 3, 1, 4)
            weights = (parts[0] @ parts[1].mT / 2).softmax(-1).detach()
            return self.to_out((weights @ parts[2]).transpose(1, 2).reshape(b, n, 12))

    report = checking.check(Detached())
    wrong = [verdict.case.name for verdict in report.verdicts if verdict.status == "wrong"]
    assert wrong == ["layer_gradients"]
