"""Blockwise attention: equal to the formula for every option, with either shift, in linear memory."""

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ml_dtypes import bfloat16

from attention_docs import (
    InputGradients,
    attention_backward,
    attention_steps,
    scaled_dot_product_attention,
    scaled_dot_product_attention_backward,
    window_mask,
)
from attention_docs.backward import _differentiate
from attention_docs.dot_product import _compute_steps
from attention_docs.inputs import prepare_inputs
from attention_docs.kernels import blockwise, exponential
from attention_docs.kernels.blockwise import bounded_weights, online_weights
from attention_docs.kernels.selection import LOG2_E, Method, check_and_measure, select_method
from attention_docs.kernels.threads import blas_threads
from tests.conftest import peak_memory, random_array, random_arrays, to_numpy

attend = scaled_dot_product_attention
TOLERANCE = {"float64": 1e-13, "float32": 3e-6, "float16": 2e-3}
FLOAT32_BYTES = 4


def finite_inputs(*qkv, **options):
    return prepare_inputs(*qkv, **options).check_finite()


def selected_method(*qkv, **options):
    inputs = prepare_inputs(*qkv, **options)
    return select_method(inputs, check_and_measure(inputs))


@st.composite
def attention_inputs(draw):
    """Draw the inputs of one call with random sizes, leading axes, dtype and options."""
    m, n, d_k, d_v = (draw(st.integers(1, 9)) for _ in range(4))
    batch = draw(st.sampled_from([(), (2,), (2, 4), (1, 4), (3, 2, 4)]))
    enable_gqa = len(batch) > 1 and draw(st.booleans())
    if enable_gqa:
        query_axes = score_axes = batch
        key_axes = (*batch[:-1], draw(st.sampled_from([1, 2, 4])))
        value_axes = (*batch[:-1], draw(st.sampled_from([1, 2, 4])))
    else:
        query_axes, key_axes, value_axes = (draw(broadcastable(batch)) for _ in range(3))
        score_axes = np.broadcast_shapes(query_axes, key_axes)
    dtype = draw(st.sampled_from(["float64", "float32", "float16"]))
    qkv = random_arrays(
        (*query_axes, m, d_k),
        (*key_axes, n, d_k),
        (*value_axes, n, d_v),
        dtype=dtype,
        seed=m * n + d_k,
    )
    options = draw(attention_options((*score_axes, m, n)))
    return finite_inputs(*qkv, **options, enable_gqa=enable_gqa)


@st.composite
def attention_options(draw, score_shape):
    """Draw a mask of any kind or none, a window, a softcap and a scale."""
    side = st.none() | st.integers(0, 6)
    options = {
        "window": draw(st.none() | st.tuples(side, side)),
        "softcap": draw(st.sampled_from([None, 0.7])),
        "scale": draw(st.sampled_from([None, -1.5])),
    }
    mask_kind = draw(st.sampled_from(["none", "boolean", "float", "causal"]))
    if mask_kind == "causal":
        options["is_causal"] = True
    elif mask_kind != "none":
        mask = draw(masks(score_shape))
        options["attn_mask"] = mask if mask_kind == "boolean" else np.where(mask, 0.5, -np.inf)
    return options


def broadcastable(shape):
    """Return a strategy of shapes that broadcast to `shape`."""
    return st.integers(0, len(shape)).flatmap(
        lambda dropped: st.tuples(*(st.sampled_from([1, size]) for size in shape[dropped:]))
    )


@st.composite
def masks(draw, shape):
    """Draw a boolean mask that broadcasts to `shape` and hides about 40 % of the keys."""
    shape = draw(broadcastable(shape))
    return np.random.default_rng(draw(st.integers(0, 9))).random(shape) < 0.6


@settings(max_examples=2 * settings.default.max_examples)
@given(attention_inputs(), st.tuples(st.integers(1, 10), st.integers(1, 10)))
def test_blocks_equal_formula_for_all_options(inputs, block):
    expected = _compute_steps(inputs).output
    for weight_blocks in (online_weights, bounded_weights):
        output = blockwise.attend(inputs, weight_blocks, block)
        assert output.dtype == expected.dtype
        assert output.shape == expected.shape
        np.testing.assert_allclose(output, expected, rtol=0, atol=TOLERANCE[output.dtype.name])


QUERIES, KEYS = 200, 230  # their product exceeds MAX_SCORES_AT_ONCE, so attend uses blocks
LARGE = random_arrays((2, 4, QUERIES, 8), (2, 4, KEYS, 8), (2, 4, KEYS, 5))
LARGE_CASES = {
    "plain": {},
    "causal": {"is_causal": True},
    "boolean mask": {"attn_mask": window_mask(QUERIES, KEYS, left=20, right=40)},
    "row mask": {"attn_mask": random_array((1, KEYS)) > 0},
    "float mask": {"attn_mask": random_array((QUERIES, KEYS))},
    "lowest floats as mask": {"attn_mask": np.where(random_array((QUERIES, 1)) > 0, 0, -3e38)},
}


@pytest.mark.parametrize("case", LARGE_CASES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-14), ("float32", 2e-6)])
def test_long_sequences_equal_formula(case, dtype, tolerance):
    options, qkv = LARGE_CASES[case], [array.astype(dtype) for array in LARGE]
    assert selected_method(*qkv, **options) is not Method.FORMULA
    expected = attention_steps(*qkv, **options).output
    np.testing.assert_allclose(attend(*qkv, **options), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("batch", [(0,), (2, 0)])
def test_output_is_empty_without_sequences_or_heads(batch):
    empty = np.ones((*batch, QUERIES, 8))
    assert attend(empty, empty, empty).shape == empty.shape


def test_strided_views_of_integers_are_accepted():
    array = np.arange(QUERIES * 6).reshape(QUERIES, 6) % 5
    query, key, value = array[:, ::2], array[::-1, 1::2], array[:, :2]
    expected = attention_steps(query, key, value).output
    np.testing.assert_allclose(attend(query, key, value), expected, rtol=1e-13)


def arrays_at_limit_of_bounded_weights(dtype):
    """Return arrays with scores of either sign just below the limit, if the scale is 1."""
    max_exponent = math.log2(np.finfo(dtype).max) - 4  # as in `select_method`
    max_score = max_exponent / LOG2_E
    factor = math.sqrt(max_score) * (1 - 1e-6)
    alternating = np.where(np.arange(200) % 2, factor, -factor).astype(dtype)[:, None]
    return alternating, alternating, random_array((200, 3), dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bounded_method_is_selected_up_to_its_limit(dtype):
    qkv = arrays_at_limit_of_bounded_weights(dtype)
    assert selected_method(*qkv, scale=1.0) is Method.BOUNDED
    assert selected_method(*qkv, scale=1.00001) is Method.ONLINE


@pytest.mark.parametrize("weight_blocks", [bounded_weights, online_weights])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 1e-6), ("float64", 1e-14)])
def test_scores_at_limit_of_bounded_weights_equal_formula(dtype, tolerance, weight_blocks):
    qkv = arrays_at_limit_of_bounded_weights(dtype)
    expected = attention_steps(*(array.astype("float64") for array in qkv), scale=1.0).output
    output = blockwise.attend(finite_inputs(*qkv, scale=1.0), weight_blocks, block=(64, 64))
    np.testing.assert_allclose(output, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("bias", [None, 3.0, -9.0], ids=["no bias", "positive", "negative"])
@pytest.mark.parametrize(
    ("extreme_score", "mean_value"), [(75, 1e15), (40, 1e15), (-40, 1e-20), (-75, 1e-20)]
)
def test_bounded_falls_back_when_sums_leave_range(extreme_score, mean_value, bias):
    """In float32, exp(75) times 1e15 overflows, and exp(-75) times 1e-20 underflows.

    All scores of a query are equal, so its output is the mean of the values.
    """
    query, key = np.linspace(0, extreme_score, 200)[:, None], np.ones((200, 1))
    value = mean_value * np.linspace(0.5, 1.5, 200)[:, None]
    arrays = [array.astype("float32") for array in (query, key, value)]
    options = {"scale": 1.0}
    if bias is not None:
        options["attn_mask"] = np.full((1, 200), bias, "float32")
    assert selected_method(*arrays, **options) is Method.BOUNDED
    np.testing.assert_allclose(attend(*arrays, **options), mean_value, rtol=1e-5)


def test_equal_bias_for_all_keys_changes_nothing():
    """Without a shift, all exponentials of a query with a bias of -1e6 underflow."""
    mask = np.where(np.arange(QUERIES) % 2, 0.0, -1e6)[:, None]
    assert selected_method(*LARGE, attn_mask=mask) is Method.BOUNDED
    expected = attention_steps(*LARGE).output
    np.testing.assert_allclose(attend(*LARGE, attn_mask=mask), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("size", [1e-30, 1e3, 1e9])
@pytest.mark.parametrize("is_largest_last", [True, False])
def test_online_weights_accept_scores_of_any_size(size, is_largest_last):
    query = np.full((200, 1), size, "float32")
    ascending = np.linspace(-size, size, 200, dtype="float32")[:, None]
    key = ascending if is_largest_last else ascending[::-1]
    value = np.arange(400, dtype="float32").reshape(200, 2)
    expected = attention_steps(*(array.astype("float64") for array in (query, key, value))).output
    output = blockwise.attend(finite_inputs(query, key, value), online_weights, block=(64, 64))
    np.testing.assert_allclose(output, expected, rtol=1e-5)


def test_large_scores_of_some_queries_do_not_change_others():
    query, key, value = random_arrays((200, 4), (200, 4), (200, 3))
    query[::2] *= 1e4
    expected = attention_steps(query, key, value).output
    np.testing.assert_allclose(attend(query, key, value), expected, rtol=0, atol=1e-12)


def test_larger_hidden_scores_are_ignored():
    query, key, value = random_arrays((200, 4), (200, 4), (200, 3))
    visible = np.arange(200) < 100
    key[~visible] *= 1e6
    output = attend(query, key, value, attn_mask=visible)
    np.testing.assert_allclose(output, attend(query, key[:100], value[:100]), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("query", "key", "value", "scale"),
    [
        (1, 1, 1, 1),
        (1e200, 1, 1, 1),  # squares overflow, so there is no bound
        (1e100, 1e-100, 1, 1),
        (1e60, 1e60, 1, 1),
        (1, 1, 1e154, 1),
        (1, 1, 1e306, 1),
        (300, 1, 1e154, 1),  # exponentials times the largest values that have a bound
        (350, 1, 1e154, 1),  # their sums would overflow
        (1e120, 1e-300, 1, 1e200),  # a factor overflows, though the scores are moderate
    ],
)
def test_equal_numbers_of_any_size_give_their_mean(query, key, value, scale):
    qkv = [np.full((200, 1), number) for number in (query, key, value)]
    np.testing.assert_allclose(attend(*qkv, scale=scale), value, rtol=1e-12)


def test_overflowing_scores_raise_as_in_formula():
    query, key, value = random_arrays((200, 4), (200, 4), (200, 4))
    query[20] *= 1e10
    key[150] *= 1e300  # times 1e10 exceeds the largest float
    for function in (attend, attention_steps):
        with pytest.raises(ValueError, match=r"the scores of query and key hold .* at \[20, 150\]"):
            function(query, key, value)


def test_concurrent_calls_equal_calls_one_by_one_and_restore_the_blas_threads():
    arguments_of_calls = 10 * [
        random_arrays(*[(4, 600, 64)] * 3, dtype="float32", seed=seed) for seed in (1, 2)
    ]
    expected, threads = [attend(*qkv) for qkv in arguments_of_calls], blas_threads()
    with ThreadPoolExecutor(max_workers=2) as pool:
        outputs = list(pool.map(lambda qkv: attend(*qkv), arguments_of_calls))
    np.testing.assert_array_equal(outputs, expected)
    assert blas_threads() == threads


@pytest.mark.parametrize(
    "options",
    [{}, {"is_causal": True}, {"softcap": 2.0}, {"scale": 9.0}, {"attn_mask": np.zeros((1, 4096))}],
    ids=["bounded", "causal", "softcap", "online", "float mask"],
)
def test_memory_is_linear_in_length(options):
    """All scores at once would be 64 MB; each thread may hold a block and temporary copies of it."""
    qkv = random_arrays(*[(4096, 16)] * 3, dtype="float32")
    peak = peak_memory(lambda: attend(*qkv, **options))
    block_bytes = FLOAT32_BYTES * blockwise.BLOCK_SCORES
    assert peak < 3 * block_bytes * blas_threads() + 4 * qkv[0].nbytes


def test_bfloat16_is_computed_in_float32():
    qkv = [array.astype(bfloat16) for array in LARGE]
    expected = attend(*(array.astype("float32") for array in qkv))
    output = attend(*qkv, attn_mask=np.zeros((1, 1), dtype=bfloat16))
    assert output.dtype == bfloat16
    np.testing.assert_allclose(output.astype("float32"), expected, rtol=2**-7, atol=1e-6)


@pytest.mark.parametrize("has_vector_exp2", [True, False])
def test_exp2_and_exp_agree(monkeypatch, has_vector_exp2):
    """Which one is faster depends on the processor; both must be correct on all."""
    monkeypatch.setattr(exponential, "_has_vector_exp2", lambda: has_vector_exp2)
    expected = attention_steps(*LARGE, softcap=2.0).output
    np.testing.assert_allclose(attend(*LARGE, softcap=2.0), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("xp", ["numpy", "torch"], indirect=True)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"is_causal": True},
        {"window": (30, 2)},
        {"softcap": 1.5},
        {"scale": 40.0},
        {"attn_mask": random_array((QUERIES, 1)) > 0},
        {"attn_mask": random_array((1, KEYS))},
    ],
    ids=["plain", "causal", "window", "softcap", "scale", "boolean mask", "float mask"],
)
def test_device_runs_large_blocks_sequentially(monkeypatch, xp, options):
    """Run the code path of a GPU on the host; torch shows that it needs only the standard."""
    monkeypatch.setattr(blockwise, "is_supported", lambda xp: True)
    monkeypatch.setattr(blockwise, "is_on_host", lambda xp: False)
    monkeypatch.setattr(blockwise, "run_parallel", pytest.fail)
    monkeypatch.setattr(blockwise, "DEVICE_BLOCK", (64, 128))
    expected = attention_steps(*LARGE, **options).output
    if "attn_mask" in options:
        options = {"attn_mask": xp.asarray(options["attn_mask"])}
    output = attend(*(xp.asarray(array) for array in LARGE), **options)
    np.testing.assert_allclose(to_numpy(output), expected, rtol=0, atol=1e-13)


# ---- Gradients ----


@settings(max_examples=2 * settings.default.max_examples)
@given(attention_inputs(), st.tuples(st.integers(1, 10), st.integers(1, 10)))
def test_gradients_equal_formula_for_all_options(inputs, block):
    output_shape = (*inputs.batch, inputs.query.shape[-2], inputs.value.shape[-1])
    grad_output = random_array(output_shape, inputs.query.dtype, seed=5)
    expected = _differentiate(inputs, _compute_steps(inputs), grad_output)
    gradients = blockwise.differentiate(inputs, grad_output, block)
    # Many heads and queries add to one gradient, so errors accumulate.
    tolerance = 1e-11 if inputs.query.dtype == "float64" else 2e-3
    assert_gradients_close(InputGradients(*gradients), expected, tolerance)


def assert_gradients_close(gradients, expected, tolerance):
    """Compare all gradients; the one of a mask is None if there is no float mask."""
    for name in InputGradients._fields:
        actual, desired = getattr(gradients, name), getattr(expected, name)
        if desired is None:
            assert actual is None
            continue
        assert actual.shape == desired.shape
        np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=tolerance, err_msg=name)


LARGE_GRADIENT = random_array((2, 4, QUERIES, 5), seed=6)


@pytest.mark.parametrize("case", LARGE_CASES)
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-12), ("float16", 3e-3)])
def test_gradients_of_long_sequences_equal_formula(case, dtype, tolerance):
    options = {**LARGE_CASES[case], "softcap": 2.0}
    arrays = [array.astype(dtype) for array in (LARGE_GRADIENT, *LARGE)]
    assert selected_method(*arrays[1:], **options) is not Method.FORMULA
    gradients = scaled_dot_product_attention_backward(*arrays, **options)
    expected = attention_backward(*arrays, **options)
    assert_gradients_close(gradients, expected, tolerance)
    assert gradients.query.dtype == gradients.key.dtype == gradients.value.dtype == dtype


@pytest.mark.thorough
def test_gradient_memory_is_linear_in_length():
    """All scores at once would be 64 MB, and their gradients as much again."""
    arrays = random_arrays(*[(4096, 16)] * 4, dtype="float32")
    peak = peak_memory(lambda: scaled_dot_product_attention_backward(*arrays, is_causal=True))
    block_bytes = FLOAT32_BYTES * math.prod(blockwise.GRADIENT_BLOCK)
    assert peak < 10 * block_bytes + 8 * arrays[0].nbytes


def test_overflow_of_a_gradient_raises():
    with pytest.raises(ValueError, match=r"the gradient of query holds .*; expected products"):
        scaled_dot_product_attention_backward(np.full_like(LARGE_GRADIENT, 1.7e308), *LARGE)
