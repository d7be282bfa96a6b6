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
        notes: side effects of the call: prints, warnings.
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
        required: the features that must have been checked.
        example: the smallest failing call, as code.
        traceback: where it raised, if it did.
    """

    target: str
    settings: Settings
    verdicts: list[Verdict] = field(default_factory=list)
    required: tuple[str, ...] = ()
    example: str = ""
    traceback: str = ""

    def features(self, *statuses: str) -> list[str]:
        """Return the features with a case of one of these statuses, in order."""
        verdicts = (verdict for verdict in self.verdicts if verdict.status in statuses)
        return list(dict.fromkeys(verdict.case.feature for verdict in verdicts))

    @property
    def missing(self) -> list[str]:
        """The required features that no case checked."""
        return [name for name in self.required if name not in self.features(OK, ON_PURPOSE)]

    @property
    def is_correct(self) -> bool:
        """Whether no case is wrong, at least one is right, and all that is required was checked."""
        return not self.features(WRONG) and bool(self.features(OK)) and not self.missing
