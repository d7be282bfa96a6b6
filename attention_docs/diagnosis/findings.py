"""What a check has found out, case by case."""

from dataclasses import dataclass, field

from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import Case
from attention_docs.diagnosis.comparing import Named

OK, NOT_SUPPORTED, ON_PURPOSE, WRONG = "ok", "not supported", "on purpose", "wrong"


@dataclass(frozen=True)
class Finding:
    """What came of one case.

    Attributes:
        case: what was asked.
        status: `ok`, `not supported`, `on purpose` or `wrong`.
        words: why, if it is not `ok`.
        mistakes: those that give these digits, as far as they are in the catalogue.
        notes: what the function did besides: printed, warned, changed its inputs.
    """

    case: Case
    status: str
    words: str = ""
    mistakes: Named = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """All that a check has found out.

    Attributes:
        target: the function, as it was named.
        settings: how it was called.
        findings: one for each case.
    """

    target: str
    settings: Settings
    findings: list[Finding] = field(default_factory=list)

    @property
    def right(self) -> bool:
        """Whether no case is wrong."""
        return all(finding.status != WRONG for finding in self.findings)
