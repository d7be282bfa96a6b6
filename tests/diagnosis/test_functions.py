"""The check finds faulty functions wrong and lets correct but unusual ones pass.

These are NumPy functions; `functions/` has more for PyTorch, which a clone need not have.
"""

import inspect

import pytest

from attention_docs.diagnosis import checking
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.worker import InProcessWorker
from tests.diagnosis.functions import faulty_numpy, unusual_numpy

# A result of another dtype is reported for PyTorch only, because NumPy widens by itself.
NOT_FOUND = {"widened"}


def described(module):
    """Return the names of the functions that a module defines, but for helpers."""
    return [
        name
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__doc__ and function.__module__ == module.__name__
    ]


def is_correct(function):
    return checking.check_with(InProcessWorker(function), Settings()).is_correct


@pytest.mark.thorough
@pytest.mark.parametrize("name", described(faulty_numpy))
def test_faulty_function_is_found(name):
    assert is_correct(getattr(faulty_numpy, name)) is (name in NOT_FOUND)


@pytest.mark.thorough
@pytest.mark.parametrize("name", described(unusual_numpy))
def test_unusual_function_passes(name):
    assert is_correct(getattr(unusual_numpy, name))
