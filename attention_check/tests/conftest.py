"""A fixture that skips tests where PyTorch is missing."""

import pytest


@pytest.fixture
def torch():
    return pytest.importorskip("torch")
