"""Corrections and decisions of a person, in tables that refer to no other."""

import sqlite3
from collections.abc import Callable, Iterable

from kgrag.store.decisions import (
    UNSETTLED_NOTE,
    Correction,
    Decision,
    check_decided,
    unsettled_from,
)
from kgrag.store.sqlite.changes import record_change
from kgrag.store.sqlite.role import Role
from kgrag.store.sqlite.seals import DECIDED, refuse_damaged_settings, seal_settings
from kgrag.store.sqlite.statements import json_list, run, run_each


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

    def decisions(self) -> list[Decision]:
        """Return decisions, ordered by kind and names; StoreError if one is damaged."""
        with self._reading() as connection:
            refuse_damaged_settings(connection, "decisions")
            return [Decision(*row) for row in run(connection, "decisions")]

    def decide(
        self,
        *,
        corrections: Iterable[Correction] = (),
        decisions: Iterable[Decision] = (),
        taken_back: Iterable[Decision] = (),
        concerns: Iterable[str] = (),
    ) -> bool:
        """Record what a person decides, all of it or nothing; return whether it is new."""
        told, put, gone = tuple(corrections), tuple(decisions), tuple(taken_back)
        check_decided(told, (*put, *gone))
        cleared = [(doc_id, field) for doc_id, field, value in told if value is None]
        with self._database.write() as connection:
            refuse_damaged_settings(connection, *DECIDED)
            before = connection.total_changes
            run_each(connection, "put_correction", [row for row in told if row[2] is not None])
            run_each(connection, "delete_correction", cleared)
            run_each(connection, "delete_decision", [(d.kind, d.name, d.into) for d in gone])
            run_each(connection, "add_decision", [(d.kind, d.name, d.into) for d in put])
            is_new = connection.total_changes > before
            if is_new:
                record_change(connection, [])
                seal_settings(connection, DECIDED)
            _note(connection, lambda known: known | {*concerns})
        return is_new

    def unsettled(self) -> list[str]:
        """Return the documents that are to be made anew; StoreError if the note is damaged."""
        with self._reading() as connection:
            refuse_damaged_settings(connection, "meta")
            return sorted(_unsettled(connection))

    def settle(self, doc_ids: Iterable[str]) -> None:
        """Record that documents say what was decided."""
        with self._database.write() as connection:
            _note(connection, lambda known: known - {*doc_ids})


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


def _unsettled(connection: sqlite3.Connection) -> set[str]:
    row = run(connection, "setting", UNSETTLED_NOTE).fetchone()
    return {*unsettled_from(row and row[0])}


def _note(connection: sqlite3.Connection, change: Callable[[set[str]], set[str]]) -> None:
    """Note which documents are unsettled, where that changes."""
    known = _unsettled(connection)
    if (now := change(known)) != known:
        refuse_damaged_settings(connection, "meta")
        run(connection, "put_setting", UNSETTLED_NOTE, json_list(sorted(now)))
        seal_settings(connection)
