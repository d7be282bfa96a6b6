"""Gradients: finite differences, PyTorch's autograd, and properties."""

import itertools

import numpy as np
import pytest

from attention_docs import attention_backward, attention_steps, window_mask
from tests.conftest import random_array, random_arrays, to_numpy

# 2 sequences, 4 heads, 3 queries, 5 keys, d_k = 8, d_v = 6.
QUERY, KEY, VALUE, GRAD_OUTPUT = random_arrays(
    (2, 4, 3, 8), (2, 4, 5, 8), (2, 4, 5, 6), (2, 4, 3, 6)
)
MASK = window_mask(3, 5, left=1, right=2)
HIDING_BIAS = np.where(MASK, random_array((3, 5)), -np.inf)

MASKS = {
    "no mask": {},
    "causal": {"is_causal": True},
    "boolean mask": {"attn_mask": MASK},
    "fully masked row": {"attn_mask": np.array([[True] * 5, [False] * 5, [True] * 5])},
    "row mask": {"attn_mask": np.array([True, False, True, True, False])},
    "float mask": {"attn_mask": random_array((3, 5))},
    "float mask of each head": {"attn_mask": random_array((2, 4, 3, 5))},
    "float mask for all queries": {"attn_mask": random_array((4, 1, 5))},
    "one number as mask": {"attn_mask": np.array(0.5)},
    "float mask that hides": {"attn_mask": HIDING_BIAS},
}
SCORE_OPTIONS = {
    "plain scores": {},
    "scale": {"scale": -0.3},
    "softcap": {"softcap": 0.8},
    "window": {"window": (1, 1)},
    "all of them": {"scale": 0.7, "softcap": 1.5, "window": (None, 1)},
}
SHAPES = {
    "same axes": (QUERY, KEY, VALUE, {}),
    "one head of keys": (QUERY, KEY[:, :1], VALUE, {}),
    "one batch of values": (QUERY, KEY, VALUE[1:], {}),
    "values alone in a batch": (QUERY[0, 0], KEY[0, :1], VALUE, {}),
    "one sequence of queries": (QUERY[0], KEY, VALUE, {}),
    "grouped heads": (QUERY, KEY[:, :2], VALUE[:, :1], {"enable_gqa": True}),
    "grouped and broadcast": (QUERY, KEY[:1, :2], VALUE[0, :2], {"enable_gqa": True}),
}


def cases(mask_name):
    """Yield the name and the arguments of every valid combination with a mask."""
    mask = MASKS[mask_name]
    for score_name, shape_name in itertools.product(SCORE_OPTIONS, SHAPES):
        query, key, value, grouping = SHAPES[shape_name]
        # Key heads are repeated for query heads, so with grouped heads the query has all the axes.
        key_axes = () if grouping else key.shape[:-2]
        score_axes = np.broadcast_shapes(query.shape[:-2], key_axes)
        if "attn_mask" in mask and not broadcasts_to(mask["attn_mask"].shape[:-2], score_axes):
            continue
        options = {**mask, **SCORE_OPTIONS[score_name], **grouping}
        arguments = {"query": query, "key": key, "value": value, **options}
        yield f"{score_name}, {shape_name}", arguments


def broadcasts_to(axes, target):
    return len(axes) <= len(target) and np.broadcast_shapes(axes, target) == target


def loss(arguments, grad_output):
    """Return Σ output · grad_output, whose gradient with respect to the output is grad_output."""
    return float(np.sum(attention_steps(**arguments).output * grad_output))


def central_difference(arguments, name, direction, grad_output):
    """Return the slope of the loss when one argument moves along a direction."""
    array, step = arguments[name], 1e-4
    above = loss({**arguments, name: array + step * direction}, grad_output)
    below = loss({**arguments, name: array - step * direction}, grad_output)
    return (above - below) / (2 * step)


def assert_gradients_equal_finite_differences(arguments, grad_output, case=""):
    """Compare each gradient with the slope of the loss along a random direction."""
    gradients = attention_backward(grad_output, **arguments)
    for name in ("query", "key", "value", "attn_mask"):
        gradient = getattr(gradients, name)
        if gradient is None:  # there is no mask, or it is boolean
            continue
        assert gradient.shape == arguments[name].shape, name
        assert np.all(gradient[arguments[name] == -np.inf] == 0), name
        direction = random_array(gradient.shape, seed=1)
        direction /= np.linalg.norm(direction)
        expected = central_difference(arguments, name, direction, grad_output)
        np.testing.assert_allclose(
            np.sum(gradient * direction), expected, rtol=1e-7, atol=1e-7, err_msg=f"{case}: {name}"
        )


@pytest.mark.parametrize("mask", MASKS)
def test_gradients_equal_finite_differences(mask):
    for case, arguments in cases(mask):
        grad_output = random_array(attention_steps(**arguments).output.shape)
        assert_gradients_equal_finite_differences(arguments, grad_output, case)


@pytest.mark.parametrize(
    "options",
    [{}, {"is_causal": True}, {"window": (1, 2)}, {"softcap": 1.5}, {"enable_gqa": True}],
    ids=str,
)
def test_libraries_agree_and_keep_array_type(xp, options):
    key_heads = 2 if "enable_gqa" in options else 4
    one_sequence = VALUE[1:]  # whose gradient is summed over both sequences
    arrays = (GRAD_OUTPUT, QUERY, KEY[:, :key_heads], one_sequence[:, :key_heads])
    gradients = attention_backward(*map(xp.asarray, arrays), **options)
    expected = attention_backward(*arrays, **options)
    for name in ("query", "key", "value", "weights", "scaled", "scores"):
        gradient = getattr(gradients, name)
        assert type(gradient) is type(xp.asarray([1.0]))
        np.testing.assert_allclose(to_numpy(gradient), getattr(expected, name), rtol=0, atol=1e-13)


def test_gradients_stay_on_device(strict):
    device = strict.Device("device1")
    arrays = [strict.asarray(array, device=device) for array in (GRAD_OUTPUT, QUERY, KEY, VALUE)]
    gradients = attention_backward(*arrays, window=(1, 1), softcap=2.0)
    assert {gradient.device for gradient in gradients if gradient is not None} == {device}


def test_float16_is_computed_in_float32():
    narrow = [array.astype("float16") for array in (GRAD_OUTPUT, QUERY, KEY, VALUE)]
    wide = attention_backward(*(array.astype("float32") for array in narrow))
    gradients = attention_backward(*narrow)
    for name in ("query", "key", "value"):
        gradient = getattr(gradients, name)
        assert gradient.dtype == "float16"
        np.testing.assert_array_equal(gradient, getattr(wide, name).astype("float16"))


def test_gradient_of_query_is_zero_without_keys(xp):
    no_keys, no_values = xp.ones((0, 3)), xp.ones((0, 4))
    gradients = attention_backward(xp.ones((2, 4)), xp.ones((2, 3)), no_keys, no_values)
    assert to_numpy(gradients.query).tolist() == [[0, 0, 0]] * 2
    assert (gradients.key.shape, gradients.value.shape) == ((0, 3), (0, 4))


def test_gradient_of_key_is_zero_without_queries(xp):
    no_queries, no_outputs = xp.ones((0, 3)), xp.ones((0, 4))
    gradients = attention_backward(no_outputs, no_queries, xp.ones((2, 3)), xp.ones((2, 4)))
    assert to_numpy(gradients.key).tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize(
    ("grad_output", "error", "message"),
    [
        (np.ones((3, 2)), ValueError, "grad_output has shape (3, 2); expected (3, 5), as the output"),
        (np.ones((1, 3, 5)), ValueError, "grad_output has shape (1, 3, 5); expected (3, 5), as the output"),
        (np.full((3, 5), 1.7e308), ValueError, "the gradient of query holds nan at [0, 0]; expected products that fit float64"),
    ],
)  # fmt: skip
def test_error_states_argument_expectation_and_value(grad_output, error, message):
    with pytest.raises(error) as caught:
        attention_backward(grad_output, np.ones((3, 2)), np.ones((4, 2)), np.ones((4, 5)))
    assert str(caught.value) == message
