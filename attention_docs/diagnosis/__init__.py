"""Check the attention of others: call it case by case, and name what is wrong.

Mathematics and examples know nothing of it. In a test of pytest:

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
from attention_docs.diagnosis.findings import NOT_SUPPORTED, WRONG, Report

__all__ = ["Check", "checks"]


class Check:
    """One case of a check, to be run as a test.

    Attributes:
        name: the name of the case.
    """

    def __init__(self, target: str, name: str, settings: tuple[tuple[str, Any], ...]) -> None:
        self.target, self.name, self.settings = target, name, settings

    def __str__(self) -> str:
        return self.name

    def check(self) -> None:
        """Fail if the function is wrong in this case; skip a case that it does not support.

        The first case runs them all, in one process, and the others wait for nothing.

        Raises:
            LoadError: if there is no such function, or it cannot be called at all.
            AssertionError: with the mistake, the line that fixes it, and where it is explained.
            unittest.SkipTest: with the reason; pytest shows it as a skipped test.
        """
        found = checked(self.target, self.settings)
        if isinstance(found, LoadError):
            raise found
        finding = next((f for f in found.findings if f.case.name == self.name), None)
        if finding is None:
            raise unittest.SkipTest("the case is for functions of another kind")
        if finding.status == NOT_SUPPORTED:
            raise unittest.SkipTest(finding.words)
        if finding.status == WRONG:
            raise AssertionError(report.of_finding(finding))


def checks(target: str, **settings: Any) -> list[Check]:
    """Return one check for each case.

    Args:
        target: `module:function` or `path/to/file.py:function`.
        settings: `library`, `layout`, `mask` and `names`, as the command line has them; what is
            left out is found out.

    Examples:
        >>> [str(case) for case in checks("my_package:attend")][:3]
        ['distinct_sizes', 'other_sizes', 'square']
    """
    known = tuple((name, frozen(value)) for name, value in settings.items())
    return [Check(target, name, known) for name in CASES]


def frozen(value: Any) -> Any:
    return tuple(value.items()) if isinstance(value, dict) else value


@cache
def checked(target: str, settings: tuple[tuple[str, Any], ...]) -> Report | LoadError:
    """Return the report, or why there is none: both are found out once for all cases."""
    given = dict(settings)
    try:
        return checking.check(target, Settings(**given | {"names": dict(given.get("names", ()))}))
    except LoadError as error:
        return error
