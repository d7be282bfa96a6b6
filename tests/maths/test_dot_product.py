"""Attention: properties, comparison with a slow loop and PyTorch, and every error."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attention_docs import (
    attention_steps,
    causal_mask,
    scaled_dot_product_attention,
    window_mask,
)
from tests import loops
from tests.conftest import assert_raises, random_array, random_arrays, to_numpy

attend = scaled_dot_product_attention


@st.composite
def heads(draw, batch=()):
    """Draw query, key and value with independent sizes m, n, d_k and d_v."""
    m, n, d_k, d_v = (draw(st.integers(1, 5)) for _ in range(4))
    numbers = st.floats(-10, 10)
    query = draw(arrays(float, (*batch, m, d_k), elements=numbers))
    key = draw(arrays(float, (*batch, n, d_k), elements=numbers))
    value = draw(arrays(float, (*batch, n, d_v), elements=numbers))
    return query, key, value


def assert_equals_slow_loop(qkv, options, **slow_options):
    weights, output = loops.attention(*qkv, **slow_options)
    steps = attention_steps(*qkv, **options)
    np.testing.assert_allclose(steps.weights, weights, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(steps.output, output, rtol=1e-10, atol=1e-12)


@given(heads(), st.none() | st.floats(0.1, 2))
def test_every_scale_equals_slow_loop(qkv, divisor):
    scale = None if divisor is None else 1 / divisor
    assert_equals_slow_loop(qkv, {"scale": scale}, divisor=divisor)


@given(heads(), st.integers(0, 3), st.integers(0, 3))
def test_window_equals_slow_loop(qkv, left, right):
    def is_in_window(i, j):
        return -left <= j - i <= right

    assert_equals_slow_loop(qkv, {"window": (left, right)}, allowed=is_in_window)


@given(heads())
def test_causal_option_window_and_masks_agree(qkv):
    query, key, _ = qkv
    mask = causal_mask(len(query), len(key))
    bias = np.where(mask, 0.0, -np.inf)
    expected = attend(*qkv, attn_mask=mask)
    for options in ({"is_causal": True}, {"window": (None, 0)}, {"attn_mask": bias}):
        np.testing.assert_array_equal(attend(*qkv, **options), expected, err_msg=str(options))


# 2 sequences, 4 heads, 3 queries, 5 keys, d_k = 8, d_v = 6
QUERY, KEY, VALUE = random_arrays((2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 6))

TORCH_CASES = {
    "plain": {},
    "scale": {"scale": 0.3},
    "causal": {"is_causal": True},
    "boolean mask": {"attn_mask": window_mask(3, 5, left=1, right=2)},
    "boolean mask of one head": {"attn_mask": random_array((2, 1, 3, 5)) > 0},
    "row mask": {"attn_mask": np.array([[True, False, True, True, False]])},
    "float mask": {"attn_mask": random_array((3, 5))},
}


def torch_attention(torch, query, key, value, attn_mask=None, **options):
    """Return the output of PyTorch, where a float mask must have the dtype of the query."""
    if attn_mask is not None and attn_mask.dtype != bool:
        attn_mask = attn_mask.astype(query.dtype)
    mask = None if attn_mask is None else torch.from_numpy(attn_mask)
    qkv = map(torch.from_numpy, (query, key, value))
    attention = torch.nn.functional.scaled_dot_product_attention
    return attention(*qkv, attn_mask=mask, **options).numpy()


@pytest.mark.parametrize("case", TORCH_CASES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-14), ("float32", 2e-6)])
def test_equals_pytorch(torch, case, dtype, tolerance):
    options = TORCH_CASES[case]
    qkv = [array.astype(dtype) for array in (QUERY, KEY, VALUE)]
    output = attend(*qkv, **options)
    expected = torch_attention(torch, *qkv, **options)
    np.testing.assert_allclose(output, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize(
    ("query", "key", "value"),
    [(QUERY, KEY[:, :2], VALUE[:, :1]), (QUERY[0], KEY[0, :2], VALUE[0, :1])],
    ids=["batch", "no batch"],
)
def test_grouped_queries_equal_repeated_heads(xp, query, key, value):
    grouped = attention_steps(*map(xp.asarray, (query, key, value)), enable_gqa=True)
    repeated = attention_steps(query, key.repeat(2, axis=-3), value.repeat(4, axis=-3))
    for ours, expected in zip(grouped, repeated, strict=True):
        np.testing.assert_allclose(to_numpy(ours), expected, rtol=0, atol=1e-14)


def test_steps_stay_on_device(strict):
    device = strict.Device("device1")
    qkv = [strict.asarray(array, device=device) for array in (QUERY, KEY, VALUE)]
    mask = causal_mask(3, 5, xp=strict, device=device)
    for options in ({}, {"attn_mask": mask}, {"window": (1, 1), "softcap": 2.0}):
        assert {step.device for step in attention_steps(*qkv, **options)} == {device}


def test_float16_is_computed_in_float32():
    narrow = [array.astype("float16") for array in (QUERY, KEY, VALUE)]
    in_float32 = attend(*(array.astype("float32") for array in narrow))
    assert attend(*narrow).dtype == "float16"
    np.testing.assert_array_equal(attend(*narrow), in_float32.astype("float16"))


@pytest.mark.parametrize(
    "options",
    [{}, {"is_causal": True}, {"window": (1, 2)}, {"softcap": 1.5}, {"enable_gqa": True}],
    ids=str,
)
def test_libraries_agree_and_keep_array_type(xp, options):
    query, key, value = map(xp.asarray, (QUERY, KEY, VALUE))
    output = attend(query, key, value, **options)
    assert type(output) is type(query)
    assert output.dtype == query.dtype
    expected = attend(QUERY, KEY, VALUE, **options)
    np.testing.assert_allclose(to_numpy(output), expected, rtol=0, atol=1e-14)


def test_leading_axes_broadcast():
    output = attend(QUERY, KEY[:, :1], VALUE[1:])
    assert output.shape == (2, 4, 3, 6)
    sequence, head = 0, 2
    expected = attend(QUERY[sequence, head], KEY[sequence, 0], VALUE[1, head])
    np.testing.assert_allclose(output[sequence, head], expected)


def test_softcap_bounds_the_scaled_scores_before_the_mask():
    capped = attention_steps(QUERY, KEY, VALUE, softcap=0.5, is_causal=True)
    uncapped = attention_steps(QUERY, KEY, VALUE)
    np.testing.assert_allclose(capped.scaled, 0.5 * np.tanh(uncapped.scaled / 0.5))
    assert np.all(capped.masked[..., ~causal_mask(3, 5)] == -np.inf)


@pytest.mark.parametrize("limit", ["smallest_normal", "max"])
def test_softcap_accepts_every_normal_number(limit):
    softcap = float(getattr(np.finfo("float32"), limit))
    steps = attention_steps(
        *(array.astype("float32") for array in (QUERY, KEY, VALUE)), softcap=softcap
    )
    assert np.abs(steps.scaled).max() <= softcap


@pytest.mark.parametrize("mask_dtype", ["float32", "float64"])
def test_most_negative_float32_in_a_mask_hides_a_key(mask_dtype):
    query, key, value = (array.astype("float32") for array in (QUERY, KEY, VALUE))
    is_hidden = np.array([False, True, False, False, True])
    mask = np.where(is_hidden, np.finfo("float32").min, 0).astype(mask_dtype)
    output = scaled_dot_product_attention(query, key, value, mask)
    np.testing.assert_array_equal(
        output, scaled_dot_product_attention(query, key, value, ~is_hidden)
    )


@pytest.mark.parametrize("has_float_mask", [False, True])
def test_output_is_zero_without_keys(xp, has_float_mask):
    mask = xp.zeros((2, 0)) if has_float_mask else None
    output = attend(xp.ones((2, 3)), xp.ones((0, 3)), xp.ones((0, 4)), attn_mask=mask)
    assert to_numpy(output).tolist() == [[0] * 4] * 2


def test_output_is_empty_without_queries(xp):
    assert attend(xp.ones((0, 3)), xp.ones((2, 3)), xp.ones((2, 4))).shape == (0, 4)


def test_numpy_scale_does_not_promote_dtype():
    qkv = [array.astype("float32") for array in (QUERY, KEY, VALUE)]
    steps = attention_steps(*qkv, scale=np.float64(2), is_causal=True)
    assert {step.dtype.name for step in steps} == {"float32"}


def test_byte_order_is_ignored():
    output = attend(QUERY, KEY.astype(">f8"), VALUE)  # big-endian
    np.testing.assert_array_equal(output, attend(QUERY, KEY, VALUE))


Q, K, V = np.ones((3, 2)), np.ones((4, 2)), np.ones((4, 5))
QKV_FLOAT32 = [array.astype("float32") for array in (Q, K, V)]
QKV_FLOAT16 = [array.astype("float16") for array in (Q, K, V)]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: attend(np.ma.masked_array(Q), K, V), TypeError, "query is a numpy.ma.MaskedArray; expected a plain numpy.ndarray"),
        (lambda: attend(Q, K.view(np.matrix), V), TypeError, "key is a numpy.matrix; expected a plain numpy.ndarray"),
        (lambda: attend(Q, K, np.ones(4)), ValueError, "value has shape (4,); expected at least two axes, (..., length, dim)"),
        (lambda: attend(Q, np.ones((4, 3)), V), ValueError, "key has shape (4, 3); expected (..., n, 2) to match query (3, 2)"),
        (lambda: attend(Q, K, np.ones((3, 5))), ValueError, "value has shape (3, 5); expected (..., 4, d_v) to match key (4, 2)"),
        (lambda: attend(np.ones((2, 3, 2)), np.ones((3, 4, 2)), V), ValueError, "key has shape (3, 4, 2); expected leading axes that broadcast with query (2, 3, 2)"),
        (lambda: attend(np.ones((3, 0)), np.ones((4, 0)), V), ValueError, "query has shape (3, 0); expected d_k of 1 or more"),
        (lambda: attend(Q * 1e200, K * 1e200, V), ValueError, "the scores of query and key hold inf at [0, 0]; expected products that fit float64"),
        (lambda: attend(Q, K, V, dropout_p=0.1), ValueError, "dropout_p is 0.1; expected 0, because dropout is not implemented"),
        (lambda: attend(Q, K, V, softcap=0), ValueError, "softcap is 0; expected a positive number"),
        (lambda: attend(Q, K, V, softcap=math.inf), ValueError, "softcap is inf; expected a positive number"),
        (lambda: attend(*QKV_FLOAT32, softcap=1e39), ValueError, "softcap is 1e+39; expected a number that fits float32"),
        (lambda: attend(*QKV_FLOAT32, softcap=1e-39), ValueError, "softcap is 1e-39; expected a number that fits float32"),
        (lambda: attend(Q, K, V, causal_mask(3, 4), is_causal=True), ValueError, "attn_mask and is_causal were both given; expected one, for example attn_mask & causal_mask(m, n)"),
        (lambda: attend(Q, K, V, np.ones((3, 4), dtype=int)), TypeError, "attn_mask has dtype int64; expected bool (True takes part) or float (added to the scores)"),
        (lambda: attend(Q, K, V, causal_mask(4, 4)), ValueError, "attn_mask has shape (4, 4); expected one that broadcasts to (3, 4)"),
        (lambda: attend(Q, K, V, np.ones((2, 3, 4))), ValueError, "attn_mask has shape (2, 3, 4); expected one that broadcasts to (3, 4)"),
        (lambda: attend(Q, K, V, np.array(math.inf)), ValueError, "attn_mask holds inf at []; expected finite numbers or -inf"),
        (lambda: attend(*QKV_FLOAT32, np.full((3, 4), 1e300)), ValueError, "attn_mask holds 1e+300 at [0, 0]; expected numbers that fit float32, or -inf"),
        (lambda: attend(*QKV_FLOAT16, np.full((3, 4), -1e39)), ValueError, "attn_mask holds -1e+39 at [0, 0]; expected numbers that fit float32, or -inf"),
        (lambda: attend(Q * 1e153, K * 1e153, V, np.full((3, 4), 1.7976e308), scale=60.0), ValueError, "the scores with attn_mask added hold inf at [0, 0]; expected products that fit float64"),
        (lambda: attend(*QKV_FLOAT32, scale=1e39), ValueError, "scale is 1e+39; expected a number that fits float32"),
        (lambda: attend(Q, K, V, is_causal=np.ones(2)), TypeError, "is_causal is array([1., 1.]); expected True or False"),
        (lambda: attend(Q, K, V, window=(-1, 0)), ValueError, "window[0] is -1; expected 0 or more"),
        (lambda: attend(Q, K, V, window=3), ValueError, "window is 3; expected a pair (left, right)"),
        (lambda: attend(Q, K, V, enable_gqa=True), ValueError, "key has shape (4, 2); expected (..., heads, n, d)"),
        (lambda: attend(QUERY[0, 0], KEY, VALUE, enable_gqa=True), ValueError, "key has shape (2, 4, 5, 8); expected (..., heads, n, d)"),
        (lambda: attend(QUERY, KEY[0, 0], VALUE, enable_gqa=True), ValueError, "key has shape (5, 8); expected (..., heads, n, d)"),
        (lambda: attend(QUERY, KEY, VALUE[:, :0], enable_gqa=True), ValueError, "value has shape (2, 0, 5, 6); expected (..., heads, n, d)"),
        (lambda: attend(QUERY, KEY[:, :3], VALUE, enable_gqa=True), ValueError, "key has 3 heads; expected a divisor of the 4 heads of query"),
    ],
)  # fmt: skip
def test_error_states_argument_expectation_and_value(call, error, message):
    assert_raises(call, error, message)


def test_tensors_that_pytorch_cannot_compute_with_are_refused(torch):
    query, key, value = map(torch.asarray, (Q, K, V))
    with pytest.raises(TypeError, match=r"key has layout torch.sparse_coo; expected a dense"):
        attend(query, key.to_sparse(), value)
    qkv = [tensor.to(torch.float8_e5m2) for tensor in (query, key, value)]
    with pytest.raises(
        TypeError, match=r"query has dtype float8_e5m2; expected floats of at least"
    ):
        attend(*qkv)


@pytest.mark.parametrize("name", ["key", "value", "attn_mask"])
def test_mixed_libraries_raise(strict, name):
    arguments = {"query": Q, "key": K, "value": V, "attn_mask": causal_mask(3, 4)}
    message = f"{name} is an array of array_api_strict; expected numpy to match query"
    with pytest.raises(TypeError, match=message):
        attend(**arguments | {name: strict.asarray(arguments[name])})
