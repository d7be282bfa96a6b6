"""The cases: exact inputs, independent right answers, and tolerances that are neither loose nor tight."""

import numpy as np
import pytest

from attention_docs.diagnosis.cases import CASES, ROUNDOFF, output_gradient, steps
from attention_docs.diagnosis.recipe import Call, LayerCall, attend

PLAIN = [case for case in CASES.values() if isinstance(case.call, Call) and not case.gradients]


def test_inputs_are_exact_in_every_dtype():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for case in CASES.values():
        given = (array for array in vars(case.call).values() if isinstance(array, np.ndarray))
        for array in given:
            for dtype in (np.float16, ml_dtypes.bfloat16):
                np.testing.assert_array_equal(array, array.astype(dtype).astype(float), case.name)


def test_the_sizes_of_the_case_of_heads_are_all_distinct():
    call = CASES["batch_and_heads"].call
    sizes = [*call.query.shape, call.key.shape[2], call.value.shape[3]]
    assert len(set(sizes)) == len(sizes)


@pytest.mark.parametrize("name", ["gradients", "gradients_causal"])
def test_gradients_are_finite_differences(name):
    case, step = CASES[name], 1e-6
    upstream = output_gradient(case.call)
    for role, gradient in case.right().items():
        array = getattr(case.call, role)
        for index in np.ndindex(array.shape):
            before = array[index]
            sums = []
            for moved in (before - step, before + step):
                array[index] = moved
                sums.append((steps(case.call).output * upstream).sum())
            array[index] = before
            assert (sums[1] - sums[0]) / (2 * step) == pytest.approx(gradient[index], abs=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.name)
def test_attention_that_rounds_every_step_is_within_the_tolerance(case, dtype):
    call = case.call
    found = attend(call, in_dtype(np.dtype(dtype).type))
    right = case.right()["output"]
    if dtype == "float16" and case.name == "large_scores":
        pytest.skip("half a unit of its scores is 1 in float16")
    assert np.abs(found - right).max() <= case.tolerance(dtype)
    assert (
        case.tolerance(dtype) == case.tolerance("float64") * ROUNDOFF[dtype] / ROUNDOFF["float64"]
    )


def in_dtype(kind):
    """Round the result of each step to a dtype, products one by one."""

    def product(query, key):
        found = np.zeros((*query.shape[:-1], key.shape[-2]), dtype=kind)
        for i in range(query.shape[-1]):
            found += query[..., :, None, i].astype(kind) * key[..., None, :, i].astype(kind)
        return found

    def softmax(scores):
        scores = scores.astype(kind)
        peak = scores.max(axis=-1, keepdims=True)
        powers = np.exp(scores - np.where(peak == -np.inf, kind(0), peak))
        total = powers.sum(axis=-1, keepdims=True, dtype=kind)
        return powers / np.where(total == 0, kind(1), total)

    return {
        "product": product,
        "scale": lambda call: kind(call.scale or call.key.shape[-1] ** -0.5),
        "softmax": softmax,
        "blend": lambda weights, value: product(weights, value.swapaxes(-1, -2)),
    }


def test_no_tolerance_hides_a_mistake_of_one_part_in_a_million():
    for case in CASES.values():
        if isinstance(case.call, LayerCall) or case.name != "large_scores":
            assert case.tolerance("float64") < 1e-6, case.name
