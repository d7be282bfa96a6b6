"""Multi-head attention: compared with PyTorch and a loop over heads, and every error."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_docs import (
    MultiHeadAttention,
    causal_mask,
    merge_heads,
    padding_mask,
    split_heads,
)
from tests import reference
from tests.conftest import random_array, random_arrays, to_numpy

# batch 2, m = 3, n = 5, d_query = 8, d_key = 6, d_value = 7, 4 heads
QUERY, KEY, VALUE = random_arrays((2, 3, 8), (2, 5, 6), (2, 5, 7))
W_Q, W_K, W_V, W_O = random_arrays((8, 8), (6, 8), (7, 8), (8, 8), seed=1)
WEIGHTS = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
BIASES = {f"b_{letter}": random_array((8,), seed=seed) for seed, letter in enumerate("QKVO")}


def layer(**changes):
    """Return the layer with some weights changed."""
    return MultiHeadAttention(**({"num_heads": 4} | WEIGHTS | BIASES | changes))


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_merge_heads_inverts_split_heads(batch, tokens, heads, width):
    features = random_array((batch, tokens, heads * width))
    split = split_heads(features, heads)
    assert split.shape == (batch, heads, tokens, width)
    np.testing.assert_array_equal(merge_heads(split), features)
    for head in range(heads):
        block = features[:, :, head * width : (head + 1) * width]
        np.testing.assert_array_equal(split[:, head], block)


MASKS = {
    "none": None,
    "per query": causal_mask(3, 5),
    "padding": padding_mask(np.array([[3], [5]]), 5),
    "float": random_array((3, 5)),
}


def torch_layer(torch, weights, biases, heads):
    """Return PyTorch's layer with our weights."""
    layer = torch.nn.MultiheadAttention(
        8, heads, bias=bool(biases), kdim=6, vdim=7, batch_first=True, dtype=torch.float64
    )
    tensors = {name: torch.from_numpy(a) for name, a in (weights | biases).items()}
    with torch.no_grad():
        layer.q_proj_weight.copy_(tensors["W_Q"].T)
        layer.k_proj_weight.copy_(tensors["W_K"].T)
        layer.v_proj_weight.copy_(tensors["W_V"].T)
        layer.out_proj.weight.copy_(tensors["W_O"].T)
        if biases:
            layer.in_proj_bias.copy_(torch.cat([tensors["b_Q"], tensors["b_K"], tensors["b_V"]]))
            layer.out_proj.bias.copy_(tensors["b_O"])
    return layer


def torch_mask(torch, mask):
    """Return a mask for PyTorch's layer: one per batch element and head, and True hides a key."""
    if mask is None:
        return None
    per_head = torch.from_numpy(np.broadcast_to(mask, (2, 4, 3, 5)).reshape(8, 3, 5).copy())
    return ~per_head if per_head.dtype == torch.bool else per_head


@pytest.mark.parametrize("case", MASKS)
@pytest.mark.parametrize("biases", [BIASES, {}], ids=["biases", "no biases"])
def test_equals_pytorch_with_copied_weights(torch, case, biases):
    theirs = torch_layer(torch, WEIGHTS, biases, heads=4)
    tensors = (torch.from_numpy(array) for array in (QUERY, KEY, VALUE))
    mask = torch_mask(torch, MASKS[case])
    output, weights = theirs(*tensors, attn_mask=mask, average_attn_weights=False)
    ours = MultiHeadAttention(**WEIGHTS, **biases, num_heads=4)
    steps = ours.steps(QUERY, KEY, VALUE, MASKS[case])
    np.testing.assert_allclose(steps.output, output.detach().numpy(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        steps.attention.weights, weights.detach().numpy(), rtol=0, atol=1e-14
    )


def test_equals_pytorch_in_causal_self_attention(torch):
    theirs = torch.nn.MultiheadAttention(8, 4, batch_first=True, dtype=torch.float64)
    blocks = theirs.in_proj_weight.detach().numpy().reshape(3, 8, 8)
    ours = MultiHeadAttention(
        *(block.T for block in blocks), theirs.out_proj.weight.detach().numpy().T, num_heads=4
    )
    x = torch.from_numpy(QUERY)
    hidden = ~torch.from_numpy(causal_mask(3))
    expected = theirs(x, x, x, attn_mask=hidden, is_causal=True)[0].detach().numpy()
    np.testing.assert_allclose(
        ours(QUERY, QUERY, QUERY, is_causal=True), expected, rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("has_biases", [False, True], ids=["no biases", "biases"])
def test_equals_slow_loop_over_heads(has_biases):
    ours = layer() if has_biases else layer(**dict.fromkeys(BIASES))
    biases = BIASES if has_biases else dict.fromkeys(BIASES, 0)
    steps = ours.steps(QUERY, KEY, VALUE)
    for b in range(2):
        q = np.asarray(reference.matmul(QUERY[b], WEIGHTS["W_Q"])) + biases["b_Q"]
        k = np.asarray(reference.matmul(KEY[b], WEIGHTS["W_K"])) + biases["b_K"]
        v = np.asarray(reference.matmul(VALUE[b], WEIGHTS["W_V"])) + biases["b_V"]
        for projected, step in ((q, steps.Q), (k, steps.K), (v, steps.V)):
            np.testing.assert_allclose(np.hstack(step[b]), projected, rtol=1e-12, atol=1e-14)
        outputs = []
        for head in (slice(0, 2), slice(2, 4), slice(4, 6), slice(6, 8)):
            outputs.append(reference.attention(q[:, head], k[:, head], v[:, head])[1])
        merged = np.hstack(outputs)
        np.testing.assert_allclose(steps.merged[b], merged, rtol=1e-12, atol=1e-14)
        expected = merged @ WEIGHTS["W_O"] + biases["b_O"]
        np.testing.assert_allclose(steps.output[b], expected, atol=1e-13)


def test_key_and_value_heads_may_differ_in_width():
    wide = layer(W_V=random_array((7, 12)), W_O=random_array((12, 5)), b_V=None, b_O=None)
    steps = wide.steps(QUERY, KEY, VALUE)
    assert steps.Q.shape == (2, 4, 3, 2)
    assert steps.V.shape == (2, 4, 5, 3)
    assert steps.merged.shape == (2, 3, 12)
    assert steps.output.shape == (2, 3, 5)


def test_fully_masked_query_outputs_bias():
    mask = np.array([[True] * 5, [False] * 5, [True] * 5])
    output = layer()(QUERY, KEY, VALUE, attn_mask=mask)
    np.testing.assert_array_equal(output[:, 1], np.broadcast_to(BIASES["b_O"], (2, 8)))


def test_is_causal_equals_causal_mask():
    causal = layer()(QUERY, KEY, VALUE, is_causal=True)
    masked = layer()(QUERY, KEY, VALUE, attn_mask=causal_mask(3, 5))
    np.testing.assert_array_equal(causal, masked)


def test_no_keys_output_bias():
    output = layer()(QUERY, KEY[:, :0], VALUE[:, :0])
    np.testing.assert_array_equal(output, np.broadcast_to(BIASES["b_O"], (2, 3, 8)))
    assert layer()(QUERY[:, :0], KEY, VALUE).shape == (2, 0, 8)


@pytest.mark.parametrize("name", ["query", "key", "value", "attn_mask"])
def test_mixed_libraries_raise(strict, name):
    arguments = {"query": QUERY, "key": KEY, "value": VALUE, "attn_mask": causal_mask(3, 5)}
    message = f"{name} is an array of array_api_strict; expected numpy to match W_Q"
    with pytest.raises(TypeError, match=message):
        layer()(**arguments | {name: strict.asarray(arguments[name])})


def test_libraries_agree_and_keep_array_type(xp):
    tensors = {
        name: xp.asarray(array.tolist(), dtype=xp.float64)
        for name, array in (WEIGHTS | BIASES).items()
    }
    query, key, value = (
        xp.asarray(array.tolist(), dtype=xp.float64) for array in (QUERY, KEY, VALUE)
    )
    output = MultiHeadAttention(**tensors, num_heads=4)(query, key, value)
    assert type(output) is type(query)
    np.testing.assert_allclose(to_numpy(output), layer()(QUERY, KEY, VALUE), atol=1e-14)


def test_16_bit_floats_are_computed_in_float32(torch):
    narrow = {
        name: torch.from_numpy(array).to(torch.bfloat16)
        for name, array in (WEIGHTS | BIASES).items()
    }
    inputs = [torch.from_numpy(array).to(torch.bfloat16) for array in (QUERY, KEY, VALUE)]
    output = MultiHeadAttention(**narrow, num_heads=4)(*inputs)
    assert output.dtype == torch.bfloat16
    wide = {name: tensor.float() for name, tensor in narrow.items()}
    expected = MultiHeadAttention(**wide, num_heads=4)(*(tensor.float() for tensor in inputs))
    assert torch.equal(output, expected.to(torch.bfloat16))


def test_seeded_weights_are_equal_in_every_library(xp):
    ours = MultiHeadAttention.seeded(6, 2, seed=3, kdim=4, vdim=5)
    theirs = MultiHeadAttention.seeded(6, 2, seed=3, kdim=4, vdim=5, xp=xp)
    other = MultiHeadAttention.seeded(6, 2, seed=4, kdim=4, vdim=5)
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        matrix = getattr(ours, name)
        np.testing.assert_array_equal(to_numpy(getattr(theirs, name)), matrix)
        assert np.all(matrix != getattr(other, name))
        assert np.abs(matrix).max() <= math.sqrt(6 / sum(matrix.shape))
    assert ours(*random_arrays((3, 6), (2, 4), (2, 5))).shape == (3, 6)
    assert MultiHeadAttention.seeded(6, 2, seed=3, bias=False).b_O is None
    assert MultiHeadAttention.seeded(1, 1, seed=3).W_Q.shape == (1, 1)


def test_counts_accept_narrow_integers():
    ours = MultiHeadAttention.seeded(np.int8(100), np.int8(2), seed=np.uint8(3))
    expected = MultiHeadAttention.seeded(100, 2, seed=3)
    np.testing.assert_array_equal(ours.W_Q, expected.W_Q)
    assert split_heads(np.ones((2, 200)), np.int8(2)).shape == (2, 2, 100)


def call_layer(**changes):
    """Return the output of the layer with some arguments changed."""
    return layer()(**({"query": QUERY, "key": KEY, "value": VALUE} | changes))


def output_of_fully_masked_row(torch, *, need_weights, training, gradients, kind="bool", **options):
    """Return the output of PyTorch's layer for a fully masked query; its bias is 1, 2, 3, 4."""
    layer = torch.nn.MultiheadAttention(4, 2, dtype=torch.float64, **options).train(training)
    if layer.out_proj.bias is not None:
        with torch.no_grad():
            layer.out_proj.bias.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    x = torch.arange(12, dtype=torch.float64).reshape(1, 3, 4).sin()
    x = x if options.get("batch_first") else x.transpose(0, 1)
    mask = torch.tensor([[True] * 3, [False] * 3, [False] * 3])
    if kind == "float":
        mask = torch.zeros(3, 3, dtype=torch.float64).masked_fill(mask, -math.inf)
    with torch.set_grad_enabled(gradients):
        output, _ = layer(x, x, x, attn_mask=mask, need_weights=need_weights)
    return output.detach().reshape(3, 4)[0].tolist()


@pytest.mark.parametrize("kind", ["bool", "float"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("batch_first", [True, False])
def test_pytorch_layer_on_fully_masked_row_matches_page(
    torch, kind, training, gradients, batch_first
):
    state = {"training": training, "gradients": gradients, "batch_first": batch_first, "kind": kind}
    with warnings.catch_warnings():
        # PyTorch warns of a mask whose dtype is not that of the inputs.
        warnings.simplefilter("ignore")
        with_weights = output_of_fully_masked_row(torch, need_weights=True, **state)
        without_weights = output_of_fully_masked_row(torch, need_weights=False, **state)
    assert all(math.isnan(number) for number in with_weights)
    is_fast_path = batch_first and not training and not gradients and kind == "bool"
    if is_fast_path:
        assert all(math.isnan(number) for number in without_weights)
        assert output_of_fully_masked_row(torch, need_weights=False, bias=False, **state) == [
            0,
            0,
            0,
            0,
        ]
    else:
        assert without_weights == [1, 2, 3, 4]


@pytest.mark.parametrize("gradients", [True, False])
def test_pytorch_function_gives_zeros_for_fully_masked_row(torch, gradients):
    x = torch.arange(12, dtype=torch.float64).reshape(1, 3, 4).sin().requires_grad_(gradients)
    visible = torch.tensor([[False] * 3, [True] * 3, [True] * 3])
    bias = torch.zeros(3, 3, dtype=torch.float64).masked_fill(~visible, -math.inf)
    for mask in (visible, bias):
        output = torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)
        assert output.detach()[0, 0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: layer(num_heads=3), ValueError, "num_heads is 3; expected a divisor of the 8 features of W_Q"),
        (lambda: layer(num_heads=0), ValueError, "num_heads is 0; expected a divisor of the 8 features of W_Q"),
        (lambda: layer(num_heads=2.0), TypeError, "num_heads is 2.0; expected a whole number"),
        (lambda: layer(W_V=np.ones((7, 6)), W_O=np.ones((6, 8)), b_V=None), ValueError, "num_heads is 4; expected a divisor of the 6 features of W_V"),
        (lambda: layer(W_K=np.ones((6, 8)) > 0), TypeError, "W_K has dtype bool; expected real numbers"),
        (lambda: layer(W_Q=np.ones(8)), ValueError, "W_Q has shape (8,); expected two axes"),
        (lambda: layer(W_K=np.ones((6, 8), dtype="float32")), TypeError, "W_K has dtype float32; expected float64 to match W_Q"),
        (lambda: layer(W_K=np.ones((6, 4))), ValueError, "W_K has shape (6, 4); expected (d_key, 8) to match W_Q (8, 8)"),
        (lambda: layer(W_O=np.ones((6, 8))), ValueError, "W_O has shape (6, 8); expected (8, d_out) to match W_V (7, 8)"),
        (lambda: layer(b_V=np.ones(7)), ValueError, "b_V has shape (7,); expected (8,) to match W_V"),
        (lambda: call_layer(query=QUERY[..., :5]), ValueError, "query has shape (2, 3, 5); expected (..., length, 8) to match W_Q (8, 8)"),
        (lambda: call_layer(key=VALUE), ValueError, "key has shape (2, 5, 7); expected (..., length, 6) to match W_K (6, 8)"),
        (lambda: call_layer(value=VALUE[0, 0]), ValueError, "value has shape (7,); expected (..., length, 7) to match W_V (7, 8)"),
        (lambda: call_layer(value=VALUE[:, :4]), ValueError, "value has shape (2, 4, 7); expected (..., 5, d_value) to match key (2, 5, 6)"),
        (lambda: call_layer(query=QUERY.astype("float32")), TypeError, "query has dtype float32; expected float64 to match W_Q"),
        (lambda: call_layer(attn_mask=np.ones((2, 3, 5), dtype=bool)), ValueError, "attn_mask has shape (2, 3, 5); expected one that broadcasts to (2, 4, 3, 5)"),
        (lambda: layer(b_K=BIASES["b_K"] * math.nan), ValueError, "b_K holds nan at [0]; expected finite numbers only"),
        (lambda: call_layer(key=np.full_like(KEY, -math.inf)), ValueError, "key holds -inf at [0, 0, 0]; expected finite numbers only"),
        (lambda: MultiHeadAttention.seeded(0, 2, seed=0), ValueError, "embed_dim is 0; expected 1 or more"),
        (lambda: MultiHeadAttention.seeded(6, 2, seed=0, kdim=0), ValueError, "kdim is 0; expected 1 or more"),
        (lambda: MultiHeadAttention.seeded(6, 2, seed=None), TypeError, "seed is None; expected a whole number"),
        (lambda: MultiHeadAttention.seeded(6, 2, seed=0, bias=np.ones(2)), TypeError, "bias is array([1., 1.]); expected True or False"),
        (lambda: layer(W_Q=np.ones((8, 0)), W_K=np.ones((6, 0)), b_Q=None, b_K=None), ValueError, "W_Q has shape (8, 0); expected h d_k of 1 or more"),
        (lambda: layer(W_Q=np.ones((8, 8)), W_K=np.ones((6, 8)))(np.full_like(QUERY, 1e200), np.full_like(KEY, 1e200), VALUE), ValueError, "the scores of query and key hold inf at [0, 0, 0, 0]; expected products that fit float64"),
        (lambda: layer(W_V=np.full((7, 8), 1e308))(QUERY, KEY, np.ones((2, 5, 7))), ValueError, "the projection of value by W_V and b_V holds inf at [0, 0, 0]; expected products that fit float64"),
        (lambda: layer(W_V=np.ones((7, 8)), b_V=None, W_O=np.full((8, 8), 1e308), b_O=None)(QUERY, KEY, np.ones((2, 5, 7))), ValueError, "the projection of the merged heads by W_O holds inf at [0, 0, 0]; expected products that fit float64"),
        (lambda: MultiHeadAttention.seeded(6, 4, seed=0), ValueError, "num_heads is 4; expected a divisor of the 6 features of W_Q"),
        (lambda: split_heads(np.ones(4), 2), ValueError, "features has shape (4,); expected (..., n, h d)"),
        (lambda: split_heads(np.ones((2, 3, 4)), 3), ValueError, "num_heads is 3; expected a divisor of the 4 features of each token"),
        (lambda: merge_heads(np.ones((3, 4))), ValueError, "heads has shape (3, 4); expected (..., h, n, d)"),
    ],
)  # fmt: skip
def test_error_states_argument_expectation_and_value(make, error, message):
    with pytest.raises(error) as caught:
        make()
    assert str(caught.value) == message
