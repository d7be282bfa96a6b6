"""Verdicts on single cases, and the report of a whole check."""

from dataclasses import dataclass, field

from attention_docs.diagnosis.calling import Settings
from attention_docs.diagnosis.cases import Case
from attention_docs.diagnosis.comparing import Mistakes

OK, NOT_SUPPORTED, ON_PURPOSE, WRONG = "ok", "not supported", "on purpose", "wrong"


@dataclass(frozen=True)
class Verdict:
    """The verdict on one case.

    Attributes:
        case: the case.
        status: `ok`, `not supported`, `on purpose` or `wrong`.
        reason: why it is not `ok`.
        mistakes: the mistakes of the catalogue that explain a wrong result.
        notes: side effects of the call: prints, warnings, changed inputs, a returned tuple.
    """

    case: Case
    status: str
    reason: str = ""
    mistakes: Mistakes = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """The result of a check.

    Attributes:
        target: the function, as the user wrote it.
        settings: how it was called.
        verdicts: one for each case.
    """

    target: str
    settings: Settings
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def is_correct(self) -> bool:
        """Whether no case is wrong."""
        return all(verdict.status != WRONG for verdict in self.verdicts)
