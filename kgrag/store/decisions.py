"""What a person decided: corrections of what is read of documents, and which names are one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, Self, TypeVar

from kgrag.json_ready import JsonReady
from kgrag.text.words import normalize_name

DecisionKind = Literal["merge", "split"]
Correction = tuple[str, str, str | None]  # document, field, value
T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class Decision(JsonReady):
    """What a person decided on two names of entities.

    Attributes:
        kind: `merge`: what is called `name` is called `into` from now on; `split`: `name` is to
            stay apart from `into`, however similar they are.
        name: As documents write it.
        into: Another name.
    """

    kind: DecisionKind
    name: str
    into: str


@dataclass(frozen=True, slots=True)
class DecidedNames:
    """Which names are one and which are not; overrides the rules.

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
        """Return whether a person decided that a name as written does not mean an entity."""
        return (normalize_name(written), normalize_name(name)) in self.apart


class DecisionStore(Protocol):
    """Corrections and decisions; the documents and entities that they name need not be stored.

    So they survive a deletion, and apply again when the document comes back.
    """

    def corrections(self) -> dict[str, dict[str, str]]:
        """Return what a person corrected: by document id the value of each field, in order."""
        ...

    def decisions(self) -> list[Decision]:
        """Return all decisions, ordered by kind and names."""
        ...

    def decide(
        self,
        *,
        corrections: Iterable[Correction] = (),
        decisions: Iterable[Decision] = (),
        taken_back: Iterable[Decision] = (),
    ) -> bool:
        """Record what a person decides, all of it or nothing; return whether that changed anything.

        No document is changed by it: those that it concerns are to be made anew, in the same
        transaction (`in_one`).

        Args:
            corrections: Values that fields of documents have; None takes a correction back.
            decisions: On names; one that is there already stays.
            taken_back: Revoked decisions.

        Raises:
            ValueError: If the id or field of a correction is empty, a decision is of an unknown
                kind, or a name in one is empty.
        """
        ...

    def in_one(self, work: Callable[[], T], *, alone: bool = True) -> T:
        """Return what `work` returns; all that it stores is stored in one transaction, or nothing.

        Args:
            work: It reads what it wrote, in its own thread alone, and may be called again.
            alone: Whether other writers wait from the beginning, so that nobody changes what it
                reads.
        """
        ...


def check_decided(corrections: Iterable[Correction], decisions: Iterable[Decision]) -> None:
    """Raise ValueError for a decision without effect."""
    for doc_id, field_name, _ in corrections:
        if not doc_id or not field_name:
            told = f"got {field_name!r} of {doc_id!r}"
            raise ValueError(f"a correction is of a field of a document, {told}")
    for d in decisions:
        if d.kind not in ("merge", "split"):
            raise ValueError(f"a decision is to merge or to split, not to {d.kind!r}")
        if not d.name or not d.into:
            raise ValueError(f"a decision is on two names, got {d.name!r} and {d.into!r}")
