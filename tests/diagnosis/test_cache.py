"""A layer with a cache: what it gives at once equals what it gives in parts and in steps."""

import numpy as np
import pytest

from attention_docs.diagnosis import check_cache
from tests.diagnosis.bugs import hide, scaled, softmax

INPUTS = np.random.RandomState(0).normal(size=(2, 9, 4))


def attend(x, cache, visible, keep=slice(None)):
    """Append the inputs to the cache as keys and values, and return the rows of their queries."""
    keys = np.concatenate([cache[-1], x], axis=1)[:, keep] if cache else x
    cache.append(keys)
    m, n = x.shape[1], keys.shape[1]
    distance = np.arange(n) - np.arange(n - m, n)[:, None]
    return softmax(hide(scaled(x, keys), visible(distance, m, n))) @ keys


def test_correct_cache_passes():
    check_cache(lambda x, cache: attend(x, cache, lambda d, m, n: d <= 0), list, INPUTS)
    check_cache(
        lambda x, cache: attend(x, cache, lambda d, m, n: (d <= 0) & (d > -4)), list, INPUTS
    )


@pytest.mark.parametrize(
    "visible",
    [
        pytest.param(
            lambda d, m, n: (d <= 0) | (m != n),
            id="no mask once there is a cache, Mikyx-1/TinyLLM#17",
        ),
        pytest.param(
            lambda d, m, n: (d <= 0) & ((d > -4) | (m == 1)),
            id="no window for a single query, karpathy/nanochat#452",
        ),
        pytest.param(
            lambda d, m, n: d + n - m <= 0, id="aligned at the top left, pytorch/pytorch#108108"
        ),
    ],
)
def test_wrong_mask_with_a_cache_is_reported(visible):
    with pytest.raises(AssertionError, match=r"position [0-9] is off by"):
        check_cache(lambda x, cache: attend(x, cache, visible), list, INPUTS)


def test_incomplete_cache_is_reported():
    def layer(x, cache):
        return attend(x, cache, lambda d, m, n: d <= 0, keep=slice(-5, None))

    with pytest.raises(AssertionError, match="in chunks of"):
        check_cache(layer, list, INPUTS)


@pytest.mark.parametrize("filler", [np.nan, np.inf])
def test_error_beside_a_number_that_is_not_finite_is_reported(filler):
    def layer(x, cache):
        rows = np.cumsum(x, axis=1)  # forgets the cache
        rows[..., 0] = filler
        return rows

    with pytest.raises(AssertionError, match="position 4 is off by"):
        check_cache(layer, list, INPUTS)


@pytest.mark.parametrize("filler", [np.nan, np.inf])
def test_numbers_that_are_not_finite_equal_themselves(filler):
    check_cache(lambda x, cache: np.full_like(x, filler), list, INPUTS)
