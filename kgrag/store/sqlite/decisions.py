"""Corrections and decisions of a person, in tables that refer to no other."""

import sqlite3

from kgrag.store.decisions import Decision, check_correction, check_decision
from kgrag.store.sqlite.changes import record_change
from kgrag.store.sqlite.role import Role
from kgrag.store.sqlite.seals import Kept, refuse_damaged_settings, seal_settings
from kgrag.store.sqlite.statements import run, run_each


class Decisions(Role):
    """What a person decided; see `kgrag.store.decisions` for what each method promises."""

    def corrections(self) -> dict[str, dict[str, str]]:
        """Return corrections by document and field; StoreError if one is damaged."""
        found: dict[str, dict[str, str]] = {}
        with self._reading() as connection:
            refuse_damaged_settings(connection, "corrections")
            for doc_id, field, value in run(connection, "corrections"):
                found.setdefault(doc_id, {})[field] = value
        return found

    def set_correction(self, doc_id: str, field: str, value: str | None) -> None:
        """Record what a field of a document is; None takes it back."""
        check_correction(doc_id, field)
        with self._database.write() as connection:
            refuse_damaged_settings(connection, "corrections")
            known = dict(run(connection, "corrections_of", doc_id).fetchall())
            if known.get(field) == value:
                return
            if value is None:
                run(connection, "delete_correction", doc_id, field)
            else:
                run(connection, "put_correction", doc_id, field, value)
            _finish(connection, "corrections")

    def decisions(self) -> list[Decision]:
        """Return decisions, ordered by kind and names; StoreError if one is damaged."""
        with self._reading() as connection:
            refuse_damaged_settings(connection, "decisions")
            return [Decision(*row) for row in run(connection, "decisions")]

    def put_decision(self, decision: Decision) -> None:
        """Record a decision."""
        check_decision(decision)
        row = (decision.kind, decision.name, decision.into)
        with self._database.write() as connection:
            refuse_damaged_settings(connection, "decisions")
            if run(connection, "add_decision", *row).rowcount > 0:
                _finish(connection, "decisions")

    def remove_decision(self, decision: Decision) -> bool:
        """Take a decision back; return whether it was there."""
        row = (decision.kind, decision.name, decision.into)
        with self._database.write() as connection:
            refuse_damaged_settings(connection, "decisions")
            held = run(connection, "delete_decision", *row).rowcount > 0
            if held:
                _finish(connection, "decisions")
        return held


def carry_corrections(connection: sqlite3.Connection, source: str, doc_id: str) -> None:
    """Let a document have the corrections of the one that its source held before.

    One that has corrections of its own keeps these. Where another source still holds the other
    document, that keeps its corrections, too.
    """
    row = run(connection, "document_of", source).fetchone()
    if row is None or row[0] == doc_id:
        return
    previous = row[0]
    theirs = run(connection, "corrections_of", previous).fetchall()
    if not theirs or run(connection, "corrections_of", doc_id).fetchone():
        return
    refuse_damaged_settings(connection, "corrections")
    if run(connection, "sources_of", previous).fetchall() == [(source,)]:
        run(connection, "delete_corrections_of", previous)
    run_each(connection, "put_correction", [(doc_id, *correction) for correction in theirs])
    seal_settings(connection, ["corrections"])


def _finish(connection: sqlite3.Connection, table: Kept) -> None:
    """Count the change, and seal what has changed."""
    record_change(connection, [])
    seal_settings(connection, [table])
