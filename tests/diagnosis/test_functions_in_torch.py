"""The check names faulty PyTorch functions and lets correct but unusual ones pass."""

import inspect

import pytest

from attention_docs.diagnosis import checking
from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.report import ON_PURPOSE, WRONG, format_verdict
from attention_docs.diagnosis.worker import InProcessWorker
from tests.diagnosis.functions import faulty_torch, unusual_torch
from tests.diagnosis.functions.faulty_torch import nn

pytestmark = pytest.mark.thorough

# Correct functions scale after the product, too, so an overflow in float16 is a convention.
CONVENTIONS = {"late_scale"}


def described(module):
    """Return the attention functions and layers that a module defines, by name."""
    return {
        name: function
        for name, function in vars(module).items()
        if isinstance(function, nn.Module)
        or (
            inspect.isfunction(function)
            and function.__doc__
            and function.__module__ == module.__name__
        )
    }


FAULTY, UNUSUAL = described(faulty_torch), described(unusual_torch)


def check(function):
    return checking.check_with(InProcessWorker(function), Settings())


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_function_is_named(name):
    report = check(FAULTY[name])
    assert report.is_correct is (name in CONVENTIONS)
    status = ON_PURPOSE if name in CONVENTIONS else WRONG
    verdicts = [verdict for verdict in report.verdicts if verdict.status == status]
    named = {mistake.name for verdict in verdicts for mistake in verdict.mistakes}
    in_brackets = FAULTY[name].__doc__.partition("[")[2].partition("]")[0]
    is_in_text = any(in_brackets in format_verdict(verdict) for verdict in verdicts)
    assert in_brackets in named or is_in_text


@pytest.mark.parametrize("name", UNUSUAL)
def test_unusual_function_passes(name):
    assert check(UNUSUAL[name]).is_correct
