"""What became of the planned figures of a document in another."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.choose import stated_place
from kgrag.tables.figures import figure_words, measured_of
from kgrag.tables.paired import ADDED, CHANGED, KEPT, REMOVED, Change
from kgrag.tables.sources import spot_of
from kgrag.types import Document


class _Of(NamedTuple):
    """What a figure is of, but for its year: by this the figures of two documents are one.

    Attributes:
        indicator_id: Entity of the indicator.
        unit: Of the value.
        change: `+` or `-` for a change by the value.
        scope: Of whom or what it is measured.
        counted: 新增, 年均 and the like.
        place: Where it is not the document's own place.
    """

    indicator_id: str
    unit: str
    change: str
    scope: str
    counted: tuple[str, ...]
    place: str


def target_changes(store: Store, old: Document, new: Document) -> Iterator[Change]:
    """Yield the planned figures of two documents: of one indicator, place and year as one.

    Where each has one figure left of an indicator, these are one, whatever their years.

    Args:
        store: The knowledge base.
        old: A document that is held.
        new: The one that it is compared with.
    """
    ours, theirs = _figures(store, old), _figures(store, new)
    for of in dict.fromkeys((*theirs, *ours)):
        a, b = ours.get(of, {}), theirs.get(of, {})
        left_a: list[Statement] = []
        left_b: list[Statement] = []
        for year in sorted({*a, *b}):
            one, other = a.get(year, []), b.get(year, [])
            if one and other:
                yield from _of_one_year(one, other)
            left_a += one if not other else []
            left_b += other if not one else []
        if len(left_a) == len(left_b) == 1:
            yield _changed(left_a[0], left_b[0])
        else:
            yield from (_alone(s, ADDED) for s in left_b)
            yield from (_alone(s, REMOVED) for s in left_a)


def _figures(store: Store, document: Document) -> dict[_Of, dict[str, list[Statement]]]:
    """Return the planned figures by what they are of, then by year; the same value once."""
    found: defaultdict[_Of, dict[str, list[Statement]]] = defaultdict(dict)
    own = document.metadata.regions
    for statement in store.statements("target", [document.doc_id]):
        told = statement.qualifiers
        if told.standing != "planned":
            continue
        measured, place = measured_of(statement, document), stated_place(told, document)
        of = _Of(
            measured.indicator_id,
            measured.unit,
            measured.change,
            told.scope,
            measured.counted,
            "" if not own or place == own else place[-1],
        )
        several = found[of].setdefault(told.year, [])
        if all(_value(statement) != _value(held) for held in several):
            several.append(statement)
    return found


def _of_one_year(old: Sequence[Statement], new: Sequence[Statement]) -> Iterator[Change]:
    by_value = {_value(s): s for s in old}
    left_b = [s for s in new if _value(s) not in by_value]
    kept = {_value(s): s for s in new if _value(s) in by_value}
    left_a = [s for s in old if _value(s) not in kept]
    yield from (_changed(by_value[value], s) for value, s in kept.items())
    n = min(len(left_a), len(left_b))
    yield from map(_changed, left_a[:n], left_b[:n])
    yield from (_alone(s, ADDED) for s in left_b[n:])
    yield from (_alone(s, REMOVED) for s in left_a[n:])


def _value(statement: Statement) -> tuple[str, str]:
    return statement.qualifiers.value, statement.qualifiers.value_to


def _changed(old: Statement, new: Statement) -> Change:
    same = _value(old) == _value(new) and old.qualifiers.year == new.qualifiers.year
    return Change(
        kind=KEPT if same else CHANGED,
        item=new.fact.subject.name,
        old=_words(old),
        new=_words(new),
        spots=(spot_of(old), spot_of(new)),
    )


def _alone(statement: Statement, kind: str) -> Change:
    told = _words(statement)
    return Change(
        kind=kind,
        item=statement.fact.subject.name,
        old=told if kind == REMOVED else "",
        new=told if kind == ADDED else "",
        spots=(spot_of(statement),),
    )


def _words(statement: Statement) -> str:
    told = statement.qualifiers
    year = f"{told.year}年：" if told.year else ""
    return f"{year}{figure_words(statement)}"
