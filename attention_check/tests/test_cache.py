"""A layer with a cache: its rows must not depend on how the input is split into calls."""

import numpy as np
import pytest

from attention_check import check_cache
from bugs import hide, scaled
from functions import softmax

N = 9
INPUTS = np.random.RandomState(0).normal(size=(2, N, 4))
WINDOW = 4


def layer_with(is_visible):
    """Return a layer with a list as its cache; `is_visible` masks by distances of positions."""

    def layer(x, cache):
        keys = np.concatenate([*cache, x], axis=1)
        cache[:] = [keys]
        m, n = x.shape[1], keys.shape[1]
        distance = np.arange(n) - np.arange(n - m, n)[:, None]
        return softmax(hide(scaled(x, keys), is_visible(distance, m, n))) @ keys

    return layer


def causal(distance, m, n):
    return distance <= 0


def causal_window(distance, m, n):
    return (distance <= 0) & (distance > -WINDOW)


@pytest.mark.parametrize("is_visible", [causal, causal_window])
def test_correct_cache_passes(is_visible):
    check_cache(layer_with(is_visible), list, INPUTS)


def no_mask_beside_cached_keys(distance, m, n):  # Mikyx-1/TinyLLM#17
    return causal(distance, m, n) | (m != n)


def no_window_for_one_query(distance, m, n):  # karpathy/nanochat#452
    return causal(distance, m, n) if m == 1 else causal_window(distance, m, n)


def aligned_at_the_top_left(distance, m, n):  # pytorch/pytorch#108108
    return distance + (n - m) <= 0


@pytest.mark.parametrize(
    "is_visible", [no_mask_beside_cached_keys, no_window_for_one_query, aligned_at_the_top_left]
)
def test_wrong_mask_with_a_cache_is_reported(is_visible):
    with pytest.raises(AssertionError, match=r"position [0-9] is off by"):
        check_cache(layer_with(is_visible), list, INPUTS)
