"""The check names the faults of PyTorch functions and lets correct but unusual ones pass."""

import pytest

from attention_check import checking
from attention_check.report import ON_PURPOSE, WRONG
from faults import assert_faults_are_reported, functions_of
from functions import faulty_torch, unusual_torch

pytestmark = pytest.mark.thorough

FAULTY, UNUSUAL = functions_of(faulty_torch), functions_of(unusual_torch)


@pytest.mark.parametrize("function", FAULTY.values(), ids=FAULTY.keys())
def test_fault_is_reported(function):
    assert_faults_are_reported(function)


@pytest.mark.parametrize("function", UNUSUAL.values(), ids=UNUSUAL.keys())
def test_unusual_function_passes(function):
    assert checking.check(function).is_correct


def test_changed_float64_input_is_wrong():
    report = checking.check(faulty_torch.scaled_in_place)
    assert report.interface.dtype == "float64"
    statuses = {verdict.case.name: verdict.status for verdict in report.verdicts}
    assert statuses["distinct_sizes"] == WRONG


def test_overflow_of_unscaled_products_in_float16_is_on_purpose():
    report = checking.check(unusual_torch.late_scale)
    statuses = {verdict.case.name: verdict.status for verdict in report.verdicts}
    assert statuses["float16_range"] == ON_PURPOSE
