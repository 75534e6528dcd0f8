"""Corrections and decisions of a person, on nodes that nothing is linked to."""

from functools import partial

from kgrag.store.decisions import Decision, check_correction, check_decision
from kgrag.store.neo4j.base import lock
from kgrag.store.neo4j.connection import Row, Transaction
from kgrag.store.neo4j.corrections import correction_ids, correction_rows
from kgrag.store.neo4j.role import Role
from kgrag.store.neo4j.typed_write import issue_anew
from kgrag.store.texts import to_json


class Decisions(Role):
    """What a person decided; see `kgrag.store.decisions` for what each method promises."""

    def corrections(self) -> dict[str, dict[str, str]]:
        """Return corrections by document and field."""
        rows = self._database.read("corrections")
        found: dict[str, dict[str, str]] = {}
        for doc_id, field, value in sorted((r["doc_id"], r["field"], r["value"]) for r in rows):
            found.setdefault(doc_id, {})[field] = value
        return found

    def set_correction(self, doc_id: str, field: str, value: str | None) -> None:
        """Record what a field of a document is; None takes it back."""
        check_correction(doc_id, field)
        self._database.write(partial(_correct, doc_id=doc_id, field=field, value=value))

    def decisions(self) -> list[Decision]:
        """Return decisions, ordered by kind and names."""
        return sorted(map(_decision, self._database.read("decisions")))

    def put_decision(self, decision: Decision) -> None:
        """Record a decision."""
        check_decision(decision)
        self._database.write(partial(_put, decision=decision))

    def remove_decision(self, decision: Decision) -> bool:
        """Take a decision back; return whether it was there."""
        return self._database.write(partial(_remove, decision=decision))


def _correct(tx: Transaction, *, doc_id: str, field: str, value: str | None) -> None:
    lock(tx)
    known = {row["field"]: row["value"] for row in tx.run("corrections_of", id=doc_id)}
    if known.get(field) == value:
        return
    if value is None:
        tx.run("delete_corrections", ids=correction_ids(doc_id, [field]))
    else:
        tx.run_rows("put_corrections", correction_rows(doc_id, {field: value}))
    tx.run("count_change")


def _put(tx: Transaction, *, decision: Decision) -> None:
    base = lock(tx)
    if decision not in map(_decision, tx.run("decisions")):
        kind, name, into = decision.kind, decision.name, decision.into
        tx.run("put_decision", id=_id(decision), kind=kind, name=name, into=into)
        issue_anew(tx, base)
        tx.run("count_change")


def _remove(tx: Transaction, *, decision: Decision) -> bool:
    base = lock(tx)
    if decision not in map(_decision, tx.run("decisions")):
        return any(tx.earlier)  # it was this call that removed it, though nobody heard of it
    tx.run("delete_decision", id=_id(decision))
    issue_anew(tx, base)
    tx.run("count_change")
    return True


def _decision(row: Row) -> Decision:
    return Decision(row["kind"], row["name"], row["into"])


def _id(decision: Decision) -> str:
    return to_json([decision.kind, decision.name, decision.into])
