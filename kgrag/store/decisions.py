"""What a person decided: corrections of what is read of documents, and which names are one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self

from kgrag.json_ready import JsonReady
from kgrag.language.text import normalize_name

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


@dataclass(frozen=True, slots=True)
class DecidedNames:
    """Which names are one, and which are not, whatever the rules say.

    Attributes:
        merged: The name that is used instead, by the normalised one; each is followed once more
            where it is replaced itself.
        apart: Pairs of normalised names that are not one.
    """

    merged: Mapping[str, str] = field(default_factory=dict)
    apart: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(cls, decisions: Iterable[Decision]) -> Self:
        """Return decisions as they are kept in a store."""
        kept = list(decisions)
        return cls(
            {normalize_name(d.name): d.into for d in kept if d.kind == "merge"},
            frozenset(
                (normalize_name(d.name), normalize_name(d.into)) for d in kept if d.kind == "split"
            ),
        )

    def called(self, name: str, *, written: str) -> str:
        """Return how a name is to be called.

        Args:
            name: As the rules resolved it.
            written: As the document writes it.

        >>> d = DecidedNames({"工业厅": "云岭省工业厅"}, frozenset({("市局", "云岭省局")}))
        >>> d.called("工业厅", written="工业厅"), d.called("云岭省局", written="市局")
        ('云岭省工业厅', '市局')
        """
        if self.keeps_apart(written, name):
            name = written
        met = set[str]()
        while (key := normalize_name(name)) in self.merged and key not in met:
            met.add(key)
            name = self.merged[key]
        return name

    def keeps_apart(self, written: str, name: str) -> bool:
        """Return whether a person said that a name as written does not mean an entity."""
        return (normalize_name(written), normalize_name(name)) in self.apart


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
