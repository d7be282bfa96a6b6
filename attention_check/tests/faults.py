"""Functions to check, and the faults that their docstrings name."""

import inspect
import re

from attention_check import checking
from attention_check.report import WRONG, format_verdict


def functions_of(module):
    """Return a module's own functions with a docstring, and objects with `__call__`, by name."""
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
