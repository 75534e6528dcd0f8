"""Corrections and decisions of a person, on nodes that nothing is linked to."""

from collections.abc import Callable, Iterable

from kgrag.store.decisions import Correction, Decision, T, check_decided
from kgrag.store.neo4j.base import Base, lock
from kgrag.store.neo4j.connection import Row, Transaction
from kgrag.store.neo4j.documents import Documents
from kgrag.store.neo4j.labels import write_despite_constraints
from kgrag.store.neo4j.typed import rewrite_issuers
from kgrag.store.neo4j.write import correction_ids, correction_rows
from kgrag.store.texts import to_json


class Decisions(Documents):
    """What a person decided; see `kgrag.store.decisions` for what each method promises."""

    def corrections(self) -> dict[str, dict[str, str]]:
        rows = self._database.read("corrections")
        found: dict[str, dict[str, str]] = {}
        for doc_id, field, value in sorted((r["doc_id"], r["field"], r["value"]) for r in rows):
            found.setdefault(doc_id, {})[field] = value
        return found

    def decisions(self) -> list[Decision]:
        return sorted(map(_decision, self._database.read("decisions")))

    def decide(
        self,
        *,
        corrections: Iterable[Correction] = (),
        decisions: Iterable[Decision] = (),
        taken_back: Iterable[Decision] = (),
    ) -> bool:
        told, put, gone = tuple(corrections), {*decisions}, {*taken_back}
        check_decided(told, (*put, *gone))

        def work(tx: Transaction) -> bool:
            base = lock(tx)
            is_corrected = _correct(tx, told)
            is_decided = _decide(tx, base, put, gone)
            if is_corrected or is_decided:
                tx.run("count_change", values={})
            # Where it was this call that did it earlier, nobody heard of it.
            return is_corrected or is_decided or any(tx.earlier)

        return self._database.write(work)

    def in_one(self, work: Callable[[], T], *, alone: bool = True) -> T:
        whole = self._database.whole(work)

        def within(tx: Transaction) -> T:
            if alone:
                lock(tx)
            return whole(tx)

        return write_despite_constraints(self._database, within)


def _correct(tx: Transaction, told: Iterable[Correction]) -> bool:
    """Record corrections; return whether any is new."""
    is_new = False
    for doc_id, field, value in told:
        known = {row["field"]: row["value"] for row in tx.run("corrections_of", id=doc_id)}
        if known.get(field) == value:
            continue
        is_new = True
        if value is None:
            tx.run("delete_corrections", ids=correction_ids(doc_id, [field]))
        else:
            tx.run_rows("put_corrections", correction_rows(doc_id, {field: value}))
    return is_new


def _decide(tx: Transaction, base: Base, put: set[Decision], gone: set[Decision]) -> bool:
    """Record decisions on names, and take others back; return whether that is new."""
    known = {*map(_decision, tx.run("decisions"))}
    lost, new = known & gone, put - (known - gone)
    for decision in sorted(lost):
        tx.run("delete_decision", id=_id(decision))
    for d in sorted(new):
        tx.run("put_decision", id=_id(d), kind=d.kind, name=d.name, into=d.into)
    if lost or new:
        rewrite_issuers(tx, base)
    return bool(lost or new)


def _decision(row: Row) -> Decision:
    return Decision(row["kind"], row["name"], row["into"])


def _id(decision: Decision) -> str:
    return to_json([decision.kind, decision.name, decision.into])
