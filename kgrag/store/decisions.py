"""What a person decided: corrections of what is read of documents, and which names are one."""

from dataclasses import dataclass
from typing import Literal, Protocol

from kgrag.json_ready import JsonReady

DecisionKind = Literal["merge", "split"]


@dataclass(frozen=True, slots=True, order=True)
class Decision(JsonReady):
    """What a person decided on two names of entities.

    Attributes:
        kind: `merge`: what is called `name` is called `into` from now on; `split`: `name` is to
            stay apart from `into`, whatever is alike in them.
        name: As documents write it.
        into: Another name.
    """

    kind: DecisionKind
    name: str
    into: str


class DecisionStore(Protocol):
    """Corrections and decisions: they name documents and entities that need not be held.

    So they outlive a deletion, and hold again when the document comes back.
    """

    def corrections(self) -> dict[str, dict[str, str]]:
        """Return what a person corrected: by document id the value of each field, in order."""
        ...

    def set_correction(self, doc_id: str, field: str, value: str | None) -> None:
        """Record the value that a field of a document has; None takes a correction back.

        The document is not changed by it: ingestion reads corrections.

        Raises:
            ValueError: If the id or the field's name is empty.
        """
        ...

    def decisions(self) -> list[Decision]:
        """Return all decisions, ordered by kind and names."""
        ...

    def put_decision(self, decision: Decision) -> None:
        """Record a decision; one that is there already stays.

        Raises:
            ValueError: If it is of an unknown kind, or a name is empty.
        """
        ...

    def remove_decision(self, decision: Decision) -> bool:
        """Take a decision back; return whether it was there."""
        ...


def check_correction(doc_id: str, field: str) -> None:
    """Refuse a correction of nothing; ValueError says what is missing."""
    if not doc_id or not field:
        raise ValueError(f"a correction is of a field of a document, got {field!r} of {doc_id!r}")


def check_decision(decision: Decision) -> None:
    """Refuse a decision that says nothing; ValueError says why."""
    if decision.kind not in ("merge", "split"):
        raise ValueError(f"a decision is to merge or to split, not to {decision.kind!r}")
    if not decision.name or not decision.into:
        raise ValueError(f"a decision is on two names, got {decision.name!r} and {decision.into!r}")
