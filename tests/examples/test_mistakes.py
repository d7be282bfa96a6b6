"""The example in which all sizes differ: each classical mistake must change its digits."""

from dataclasses import replace

import numpy as np
import pytest

from attention_check import recipe
from attention_check.cases import CASES, example_call
from attention_check.comparing import typical_case
from attention_check.mistakes import MISTAKES, mistake_named
from attention_check.recipe import Call, LayerCall
from attention_docs import examples
from tests.examples.comparison import equal_on_page

STEPS = examples.steps("distinct_sizes")
Q, K, V = (STEPS[name] for name in "QKV")
M, D_MODEL = STEPS["X_q"].shape
N, D_K, D_V = len(K), K.shape[1], V.shape[1]


STEPS_OF_PAGE = examples.steps("common_mistakes")
SQUARE_Q, SQUARE_K, SQUARE_V = (
    np.array(getattr(examples.load("common_mistakes"), name), dtype=float) for name in "QKV"
)
SHOWN_IN_DISTINCT_SIZES = [
    mistake for mistake in MISTAKES if typical_case(mistake) == "distinct_sizes"
]


@pytest.mark.parametrize("mistake", SHOWN_IN_DISTINCT_SIZES, ids=lambda mistake: mistake.name)
def test_mistake_changes_every_printed_row(mistake):
    output = recipe.attend(example_call(), mistake.changes)[0, 0]
    assert not any(equal_on_page(output, STEPS["output"]))


SQUARE_CALL = Call(*(rows[None, None] for rows in (SQUARE_Q, SQUARE_K, SQUARE_V)))
# The calls of mistakes that the page does not show on the example in which all sizes differ.
CALLS_OF_PAGE = {
    "mask_flipped": CASES["causal_mask"].call,
    "mask_after_softmax": CASES["causal_mask"].call,
    "queries_and_keys_swapped": SQUARE_CALL,
    "keys_and_values_swapped": SQUARE_CALL,
    "scaled_after_mask": replace(SQUARE_CALL, is_causal=True, scale=-1.0),
}
NAMES_IN_CATALOGUE = {mistake.name for mistake in MISTAKES} & STEPS_OF_PAGE.keys()


@pytest.mark.parametrize("name", sorted(NAMES_IN_CATALOGUE - {"heads_without_transpose"}))
def test_steps_of_page_match_the_catalogue(name):
    call = CALLS_OF_PAGE.get(name, example_call())
    output = recipe.attend(call, mistake_named(name).changes)[0, 0]
    np.testing.assert_allclose(output, STEPS_OF_PAGE[name], rtol=1e-12, atol=1e-15)


def test_heads_without_transpose_on_page_match_the_catalogue():
    identity = dict.fromkeys("QKVO", np.eye(D_MODEL))
    layer = LayerCall(STEPS["X_q"][None], STEPS["X_kv"][None], heads=3, weights=identity)
    changes = mistake_named("heads_without_transpose").changes
    output = recipe.attend_in_heads(layer, changes)[0]
    expected = STEPS_OF_PAGE["heads_without_transpose"]
    np.testing.assert_allclose(output, expected, rtol=1e-12, atol=1e-15)


def attend_in_pytorch(torch, *arrays, **options):
    q, k, v = (torch.as_tensor(array)[None, None] for array in arrays)
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)[0, 0]


@pytest.mark.parametrize(
    ("queries", "step"), [(Q, "causal"), (Q[-1:], "newest_with_is_causal")], ids=["all", "newest"]
)
def test_is_causal_in_pytorch(queries, step, torch):
    output = attend_in_pytorch(torch, queries, K, V, is_causal=True)
    np.testing.assert_allclose(STEPS_OF_PAGE[step], output, rtol=1e-9)


@pytest.mark.parametrize(
    ("function", "step"),
    [("causal_upper_left", "causal"), ("causal_lower_right", "aligned_bottom_right")],
)
def test_causal_alignments_in_pytorch(function, step, torch):
    bias = pytest.importorskip("torch.nn.attention.bias")
    output = attend_in_pytorch(torch, Q, K, V, attn_mask=getattr(bias, function)(M, N))
    np.testing.assert_allclose(STEPS_OF_PAGE[step], output, rtol=1e-9)


@pytest.fixture(params=["float64", "float32"])
def square_tensors(request, torch):
    dtype = getattr(torch, request.param)
    return [torch.tensor(rows, dtype=dtype) for rows in (SQUARE_Q, SQUARE_K, SQUARE_V)]


@pytest.mark.parametrize(
    ("backend", "option"),
    [("FLASH_ATTENTION", "attn_mask"), ("MATH", "attn_mask"), ("MATH", "is_causal")],
)
def test_pytorch_scales_before_it_masks(backend, option, square_tensors, torch):
    causal = {"attn_mask": torch.ones(3, 3, dtype=torch.bool).tril(), "is_causal": True}
    with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, backend)):
        options = {option: causal[option], "scale": -1.0}
        output = attend_in_pytorch(torch, *square_tensors, **options)
    np.testing.assert_allclose(output, STEPS_OF_PAGE["negative_scale"], rtol=1e-5)


def test_fused_kernel_of_pytorch_2_13_scales_after_it_masks(square_tensors, torch):
    if torch.__version__.startswith("2.13."):  # the version that the page names
        output = attend_in_pytorch(torch, *square_tensors, is_causal=True, scale=-1.0)
        np.testing.assert_allclose(output, STEPS_OF_PAGE["scaled_after_mask"], rtol=1e-5)
