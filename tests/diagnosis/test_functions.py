"""The check names the faults of NumPy functions and lets correct but unusual ones pass."""

import inspect
import re

import numpy as np
import pytest

from attention_docs.diagnosis import checking
from attention_docs.diagnosis.libraries import LoadError
from attention_docs.diagnosis.report import WRONG, format_report, format_verdict
from tests.diagnosis.functions import faulty_numpy, softmax, unusual_numpy


def functions_of(module):
    """Return by name a module's functions for the check, and its objects with `__call__`.

    What the module imports, classes, and helpers, which have no docstring, are left out.
    """
    functions = {}
    for name, value in vars(module).items():
        is_imported = inspect.isroutine(value) and value.__module__ != module.__name__
        if callable(value) and value.__doc__ and not inspect.isclass(value) and not is_imported:
            functions[name] = value
    return functions


def assert_faults_are_reported(function):
    """Assert that the report on a function has each name or text in brackets of its docstring."""
    report = checking.check(function)
    assert not report.is_correct
    wrong = [verdict for verdict in report.verdicts if verdict.status == WRONG]
    mistakes = {mistake.name for verdict in wrong for mistake in verdict.mistakes}
    text = "\n".join(map(format_verdict, wrong))
    faults = re.findall(r"\[(.+?)\]", function.__doc__)
    assert faults
    for fault in faults:
        assert fault in mistakes or fault in text


FAULTY, UNUSUAL = functions_of(faulty_numpy), functions_of(unusual_numpy)


@pytest.mark.thorough
@pytest.mark.parametrize("function", FAULTY.values(), ids=FAULTY.keys())
def test_fault_is_reported(function):
    assert_faults_are_reported(function)


@pytest.mark.thorough
@pytest.mark.parametrize("function", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_unusual_function_passes(function):
    assert checking.check(function).is_correct


def test_wider_dtype_is_noted_and_not_wrong():
    report = checking.check(unusual_numpy.widened)
    assert "note: its result has dtype float64; expected float32" in format_report(report)


def test_query_without_an_axis_of_positions_is_refused():
    def attention_of_one_query(q, k, v):
        weights = softmax(np.einsum("bhd,bhnd->bhn", q, k) * q.shape[-1] ** -0.5)
        return np.einsum("bhn,bhnd->bhd", weights, v)

    with pytest.raises(LoadError, match="cannot be called"):
        checking.check(attention_of_one_query)
