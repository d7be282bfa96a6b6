"""Multi-head attention: compared with PyTorch and a loop over heads, and every error."""

import itertools
import math

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
from tests import loops
from tests.conftest import assert_raises, random_array, random_arrays, to_numpy

# batch 2, m = 3, n = 5, d_query = 8, d_key = 6, d_value = 7, 4 heads
QUERY, KEY, VALUE = random_arrays((2, 3, 8), (2, 5, 6), (2, 5, 7))
W_Q, W_K, W_V, W_O = random_arrays((8, 8), (6, 8), (7, 8), (8, 8), seed=1)
WEIGHTS = {"W_Q": W_Q, "W_K": W_K, "W_V": W_V, "W_O": W_O}
BIASES = {f"b_{letter}": random_array((8,), seed=seed) for seed, letter in enumerate("QKVO")}


def layer(**changes):
    return MultiHeadAttention(**({"num_heads": 4} | WEIGHTS | BIASES | changes))


sizes = st.integers(1, 4)


@given(sizes, sizes, sizes, sizes)
def test_split_heads_gives_each_head_consecutive_features(batch, tokens, heads, width):
    features = random_array((batch, tokens, heads * width))
    expected = np.stack(np.split(features, heads, axis=-1), axis=1)
    np.testing.assert_array_equal(split_heads(features, heads), expected, strict=True)


@given(sizes, sizes, sizes, sizes)
def test_merge_heads_inverts_split_heads(batch, tokens, heads, width):
    features = random_array((batch, tokens, heads * width))
    np.testing.assert_array_equal(merge_heads(split_heads(features, heads)), features)


MASKS = {
    "none": None,
    "per query": causal_mask(3, 5),
    "padding": padding_mask(np.array([[3], [5]]), 5),
    "float": random_array((3, 5)),
}


def torch_layer(torch, biases):
    """Return PyTorch's layer with our weights."""
    module = torch.nn.MultiheadAttention(
        8, 4, bias=bool(biases), kdim=6, vdim=7, batch_first=True, dtype=torch.float64
    )
    tensors = {name: torch.from_numpy(a) for name, a in (WEIGHTS | biases).items()}
    with torch.no_grad():
        module.q_proj_weight.copy_(tensors["W_Q"].T)
        module.k_proj_weight.copy_(tensors["W_K"].T)
        module.v_proj_weight.copy_(tensors["W_V"].T)
        module.out_proj.weight.copy_(tensors["W_O"].T)
        if biases:
            module.in_proj_bias.copy_(torch.cat([tensors["b_Q"], tensors["b_K"], tensors["b_V"]]))
            module.out_proj.bias.copy_(tensors["b_O"])
    return module


def torch_mask(torch, mask):
    """Return a mask for PyTorch's layer: one for each sequence and head, and True hides a key."""
    if mask is None:
        return None
    per_head = torch.from_numpy(np.broadcast_to(mask, (2, 4, 3, 5)).reshape(8, 3, 5).copy())
    return ~per_head if per_head.dtype == torch.bool else per_head


@pytest.mark.parametrize("case", MASKS)
@pytest.mark.parametrize("biases", [BIASES, {}], ids=["biases", "no biases"])
def test_equals_pytorch_with_copied_weights(torch, case, biases):
    with torch.no_grad():
        output, weights = torch_layer(torch, biases)(
            *(torch.from_numpy(array) for array in (QUERY, KEY, VALUE)),
            attn_mask=torch_mask(torch, MASKS[case]),
            average_attn_weights=False,
        )
    ours = MultiHeadAttention(**WEIGHTS, **biases, num_heads=4)
    steps = ours.steps(QUERY, KEY, VALUE, MASKS[case])
    np.testing.assert_allclose(steps.output, output.numpy(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(steps.attention.weights, weights.numpy(), rtol=0, atol=1e-14)


def slow_steps(query, key, value, biases):
    """Return the projections, the merged heads and the output of one sequence."""

    def project(features, letter):
        product = loops.matmul(features, WEIGHTS[f"W_{letter}"])
        return np.asarray(product) + biases.get(f"b_{letter}", 0)

    Q, K, V = project(query, "Q"), project(key, "K"), project(value, "V")
    heads = zip(*(np.split(array, 4, axis=1) for array in (Q, K, V)), strict=True)
    merged = np.hstack([loops.attention(*head)[1] for head in heads])
    return {"Q": Q, "K": K, "V": V, "merged": merged, "output": project(merged, "O")}


@pytest.mark.parametrize("biases", [{}, BIASES], ids=["no biases", "biases"])
def test_equals_slow_loop_over_heads(biases):
    steps = MultiHeadAttention(**WEIGHTS, **biases, num_heads=4).steps(QUERY, KEY, VALUE)
    ours = {name: merge_heads(getattr(steps, name)) for name in "QKV"}
    ours |= {"merged": steps.merged, "output": steps.output}
    for sequence in range(2):
        expected = slow_steps(QUERY[sequence], KEY[sequence], VALUE[sequence], biases)
        for name, array in expected.items():
            np.testing.assert_allclose(
                ours[name][sequence], array, rtol=1e-12, atol=1e-13, err_msg=name
            )


def test_fully_masked_query_outputs_bias():
    is_masked = np.array([False, True, False])
    output = layer()(QUERY, KEY, VALUE, attn_mask=~is_masked[:, None])
    np.testing.assert_array_equal(output[:, is_masked], np.broadcast_to(BIASES["b_O"], (2, 1, 8)))


def test_is_causal_equals_causal_mask():
    causal = layer()(QUERY, KEY, VALUE, is_causal=True)
    masked = layer()(QUERY, KEY, VALUE, attn_mask=causal_mask(3, 5))
    np.testing.assert_array_equal(causal, masked)


@pytest.mark.parametrize("name", ["query", "key", "value", "attn_mask"])
def test_mixed_libraries_raise(strict, name):
    arguments = {"query": QUERY, "key": KEY, "value": VALUE, "attn_mask": causal_mask(3, 5)}
    message = f"{name} is an array of array_api_strict; expected numpy to match W_Q"
    with pytest.raises(TypeError, match=message):
        layer()(**arguments | {name: strict.asarray(arguments[name])})


def test_16_bit_floats_are_computed_in_float32(torch):
    weights = {
        name: torch.asarray(array, dtype=torch.bfloat16)
        for name, array in (WEIGHTS | BIASES).items()
    }
    wide_weights = {name: tensor.float() for name, tensor in weights.items()}
    qkv = [torch.asarray(array, dtype=torch.bfloat16) for array in (QUERY, KEY, VALUE)]
    output = MultiHeadAttention(**weights, num_heads=4)(*qkv)
    wide_qkv = (tensor.float() for tensor in qkv)
    expected = MultiHeadAttention(**wide_weights, num_heads=4)(*wide_qkv)
    assert output.dtype == torch.bfloat16
    assert torch.equal(output, expected.to(torch.bfloat16))


def test_seeded_weights_are_equal_in_every_library(xp):
    in_numpy = MultiHeadAttention.seeded(6, 2, seed=3, kdim=4, vdim=5)
    in_library = MultiHeadAttention.seeded(6, 2, seed=3, kdim=4, vdim=5, xp=xp)
    for name in WEIGHTS:
        weight = to_numpy(getattr(in_library, name))
        np.testing.assert_array_equal(weight, getattr(in_numpy, name))


@pytest.mark.parametrize("name", WEIGHTS)
def test_seeded_weights_are_uniform_within_glorot_limit(name):
    weight = getattr(MultiHeadAttention.seeded(60, 2, seed=3, kdim=40, vdim=50), name)
    limit = math.sqrt(6 / sum(weight.shape))
    assert 0.98 * limit < weight.max() <= limit
    assert -limit <= weight.min() < -0.98 * limit


def test_seeded_layer_may_have_no_biases():
    assert MultiHeadAttention.seeded(6, 2, seed=3, bias=False).b_O is None


def test_seeded_layer_may_have_a_single_feature():
    assert MultiHeadAttention.seeded(1, 1, seed=3).W_Q.shape == (1, 1)


def call_layer(**changes):
    return layer()(**({"query": QUERY, "key": KEY, "value": VALUE} | changes))


def torch_output_of_masked_query(
    torch, *, training, gradients, batch_first, mask_dtype, need_weights=False, bias=True
):
    """Return what PyTorch's layer outputs for a fully masked query; its bias is [1, 2, 3, 4]."""
    module = torch.nn.MultiheadAttention(
        4, 2, bias=bias, batch_first=batch_first, dtype=torch.float64
    ).train(training)
    if bias:
        with torch.no_grad():
            module.out_proj.bias.copy_(torch.tensor([1, 2, 3, 4]))
    x = torch.asarray(random_array((1, 3, 4) if batch_first else (3, 1, 4)))
    mask = torch.tensor([[True] * 3, [False] * 3, [False] * 3])  # True hides a key
    if mask_dtype == "float":
        mask = torch.zeros(3, 3, dtype=torch.float64).masked_fill(mask, -math.inf)
    with torch.set_grad_enabled(gradients):
        output, _ = module(x, x, x, attn_mask=mask, need_weights=need_weights)
    return output.detach().reshape(3, 4)[0].tolist()


FAST_PATH = {"training": False, "gradients": False, "batch_first": True, "mask_dtype": "bool"}
ALL_PATHS = [
    dict(zip(FAST_PATH, (*flags, dtype), strict=True))
    for flags in itertools.product([True, False], repeat=3)
    for dtype in ("bool", "float")
]


@pytest.mark.parametrize("need_weights", [True, False])
@pytest.mark.parametrize("state", ALL_PATHS, ids=str)
def test_pytorch_layer_gives_nan_or_bias_for_fully_masked_query(torch, state, need_weights):
    output = torch_output_of_masked_query(torch, need_weights=need_weights, **state)
    if need_weights or state == FAST_PATH:
        assert all(math.isnan(number) for number in output)
    else:
        assert output == [1, 2, 3, 4]


def test_pytorch_layer_without_biases_has_no_fast_path(torch):
    assert torch_output_of_masked_query(torch, bias=False, **FAST_PATH) == [0, 0, 0, 0]


@pytest.mark.parametrize("gradients", [True, False])
@pytest.mark.parametrize("mask_dtype", ["bool", "float"])
def test_pytorch_function_gives_zeros_for_fully_masked_query(torch, gradients, mask_dtype):
    x = torch.asarray(random_array((1, 3, 4))).requires_grad_(gradients)
    mask = torch.tensor([[False] * 3, [True] * 3, [True] * 3])  # False hides a key
    if mask_dtype == "float":
        mask = torch.zeros(3, 3, dtype=torch.float64).masked_fill(~mask, -math.inf)
    output = torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)
    assert output.detach()[0, 0].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: layer(num_heads=3), ValueError, "num_heads is 3; expected a divisor of the 8 features of W_Q"),
        (lambda: layer(num_heads=0), ValueError, "num_heads is 0; expected a divisor of the 8 features of W_Q"),
        (lambda: layer(W_V=np.ones((7, 6)), W_O=np.ones((6, 8)), b_V=None), ValueError, "num_heads is 4; expected a divisor of the 6 features of W_V"),
        (lambda: layer(W_Q=np.ones(8)), ValueError, "W_Q has shape (8,); expected two axes"),
        (lambda: layer(W_K=np.ones((6, 4))), ValueError, "W_K has shape (6, 4); expected (d_key, 8) to match W_Q (8, 8)"),
        (lambda: layer(W_O=np.ones((6, 8))), ValueError, "W_O has shape (6, 8); expected (8, d_out) to match W_V (7, 8)"),
        (lambda: layer(b_V=np.ones(7)), ValueError, "b_V has shape (7,); expected (8,) to match W_V"),
        (lambda: call_layer(query=QUERY[..., :5]), ValueError, "query has shape (2, 3, 5); expected (..., length, 8) to match W_Q (8, 8)"),
        (lambda: call_layer(key=VALUE), ValueError, "key has shape (2, 5, 7); expected (..., length, 6) to match W_K (6, 8)"),
        (lambda: call_layer(value=VALUE[0, 0]), ValueError, "value has shape (7,); expected (..., length, 7) to match W_V (7, 8)"),
        (lambda: call_layer(value=VALUE[:, :4]), ValueError, "value has shape (2, 4, 7); expected (..., 5, d_value) to match key (2, 5, 6)"),
        (lambda: call_layer(attn_mask=np.ones((2, 3, 5), dtype=bool)), ValueError, "attn_mask has shape (2, 3, 5); expected one that broadcasts to (2, 4, 3, 5)"),
        (lambda: MultiHeadAttention.seeded(0, 2, seed=0), ValueError, "embed_dim is 0; expected 1 or more"),
        (lambda: layer(W_Q=np.ones((8, 0)), W_K=np.ones((6, 0)), b_Q=None, b_K=None), ValueError, "W_Q has shape (8, 0); expected h d_k of 1 or more"),
        (lambda: layer(W_Q=np.ones((8, 8)), W_K=np.ones((6, 8)))(np.full_like(QUERY, 1e200), np.full_like(KEY, 1e200), VALUE), ValueError, "the scores of query and key hold inf at [0, 0, 0, 0]; expected products that fit float64"),
        (lambda: layer(W_V=np.full((7, 8), 1e308))(QUERY, KEY, np.ones((2, 5, 7))), ValueError, "the projection of value by W_V and b_V holds inf at [0, 0, 0]; expected products that fit float64"),
        (lambda: layer(W_V=np.ones((7, 8)), b_V=None, W_O=np.full((8, 8), 1e308), b_O=None)(QUERY, KEY, np.ones((2, 5, 7))), ValueError, "the projection of the merged heads by W_O holds inf at [0, 0, 0]; expected products that fit float64"),
        (lambda: split_heads(np.ones(4), 2), ValueError, "features has shape (4,); expected (..., n, h d)"),
        (lambda: split_heads(np.ones((2, 3, 4)), 3), ValueError, "num_heads is 3; expected a divisor of the 4 features of each token"),
        (lambda: merge_heads(np.ones((3, 4))), ValueError, "heads has shape (3, 4); expected (..., h, n, d)"),
    ],
)  # fmt: skip
def test_error_states_argument_expectation_and_value(make, error, message):
    assert_raises(make, error, message)
