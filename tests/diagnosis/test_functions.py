"""The check finds faulty functions wrong and lets correct but unusual ones pass.

These are NumPy functions; test_functions_in_torch.py has those for PyTorch.
"""

import inspect

import pytest

from attention_docs.diagnosis import checking
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.libraries import LoadError
from attention_docs.diagnosis.worker import InProcessWorker
from tests.diagnosis.functions import faulty_numpy, faulty_unseen, unusual_numpy, unusual_unseen

# In NumPy, which widens by itself, a result of another dtype is only noted.
NOTED = {"widened"}
# Takes a single query without an axis for it.
REFUSED = {"one_token"}


def described(*modules):
    """Return the functions that modules define, but for helpers, by name."""
    return {
        name: function
        for module in modules
        for name, function in inspect.getmembers(module, callable)
        if function.__doc__ and function.__module__ == module.__name__
        if not inspect.isclass(function)
    }


FAULTY = described(faulty_numpy, faulty_unseen)
UNUSUAL = described(unusual_numpy, unusual_unseen)


def check(function):
    return checking.check_with(InProcessWorker(function), Settings())


@pytest.mark.thorough
@pytest.mark.parametrize("name", FAULTY)
def test_faulty_function_fails_or_is_noted(name):
    report = check(FAULTY[name])
    if name not in NOTED:
        assert not report.is_correct
        return
    assert report.is_correct
    notes = {note for verdict in report.verdicts for note in verdict.notes}
    assert "its result has dtype float64; expected float32" in notes


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(UNUSUAL.keys() - REFUSED))
def test_unusual_function_passes(name):
    assert check(UNUSUAL[name]).is_correct


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(REFUSED))
def test_function_in_an_unknown_form_is_refused(name):
    with pytest.raises(LoadError, match="cannot be called"):
        check(UNUSUAL[name])
