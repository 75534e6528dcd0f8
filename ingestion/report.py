"""What became of every file of a batch."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

Status = Literal["added", "replaced", "unchanged", "duplicate", "skipped", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file or record.

    Attributes:
        source: The file as shown to the user.
        status: `duplicate` is a copy of a document that another file holds.
        doc_id: The document; empty where there is none.
        detail: Why it was skipped or failed, with the remedy.
        warnings: What the loader had to guess or leave out.
    """

    source: str
    status: Status
    doc_id: str = ""
    detail: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Outcomes in the order in which files were met; every file has one.

    Attributes:
        outcomes: One for each file or record.
        seconds: Wall-clock time.
    """

    outcomes: tuple[Outcome, ...]
    seconds: float

    @property
    def counts(self) -> dict[Status, int]:
        """Return how many files came out each way, zeros left out."""
        return dict(Counter(outcome.status for outcome in self.outcomes))

    @property
    def failed(self) -> list[Outcome]:
        """Return the outcomes that a user must look at."""
        return [outcome for outcome in self.outcomes if outcome.status == "failed"]
