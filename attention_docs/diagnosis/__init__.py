"""Check a reader's attention function: call it with test cases and name its mistakes.

The mathematics and the examples do not import this package. In a pytest test:

    @pytest.mark.parametrize("case", checks("my_package.attention:attend"), ids=str)
    def test_attention(case):
        case.check()
"""

import unittest
from functools import cache
from typing import Any

from attention_docs.diagnosis import checking, report
from attention_docs.diagnosis.calling import LoadError, Settings
from attention_docs.diagnosis.cases import CASES
from attention_docs.diagnosis.verdicts import NOT_SUPPORTED, WRONG, Report

__all__ = ["Check", "checks"]


class Check:
    """One case of a check, run as a test.

    Attributes:
        target: the function, as `module:function` or `path/to/file.py:function`.
        name: the name of the case.
        settings: the settings of the check, as pairs of name and value.
    """

    def __init__(self, target: str, name: str, settings: tuple[tuple[str, Any], ...]) -> None:
        self.target, self.name, self.settings = target, name, settings

    def __str__(self) -> str:
        return self.name

    def check(self) -> None:
        """Fail if the function is wrong in this case; skip a case that it does not support.

        The first case runs all of them, in one process, and caches the report.

        Raises:
            LoadError: if the function cannot be loaded or called at all.
            AssertionError: with the mistake, the line that fixes it, and where it is explained.
            unittest.SkipTest: with the reason; pytest shows it as a skipped test.
        """
        report_or_error = cached_report(self.target, self.settings)
        if isinstance(report_or_error, LoadError):
            raise report_or_error
        verdicts = {verdict.case.name: verdict for verdict in report_or_error.verdicts}
        verdict = verdicts.get(self.name)
        if verdict is None:
            raise unittest.SkipTest("the case is for functions of another kind")
        if verdict.status == NOT_SUPPORTED:
            raise unittest.SkipTest(verdict.reason)
        if verdict.status == WRONG:
            raise AssertionError(report.format_verdict(verdict))


def checks(target: str, **settings: Any) -> list[Check]:
    """Return one check for each case.

    Args:
        target: `module:function` or `path/to/file.py:function`.
        settings: `library`, `layout`, `mask` and `names`, as on the command line; those left out
            are detected.

    Examples:
        >>> [str(case) for case in checks("my_package:attend")][:3]
        ['distinct_sizes', 'other_sizes', 'square']
    """
    # As tuples, because the cache of reports needs hashable arguments.
    pairs = tuple(
        (name, tuple(value.items()) if isinstance(value, dict) else value)
        for name, value in settings.items()
    )
    return [Check(target, name, pairs) for name in CASES]


@cache
def cached_report(target: str, settings: tuple[tuple[str, Any], ...]) -> Report | LoadError:
    """Return the report of all cases, or the error that prevented it."""
    options = dict(settings)
    options["names"] = dict(options.get("names", ()))
    try:
        return checking.check(target, Settings(**options))
    except LoadError as error:
        return error
