"""Remove unsupported facts, entities and vectors; show names in their most frequent wording."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field

from kgrag.store.sqlite.statements import json_list, run, run_each
from kgrag.text.words import normalize_name


@dataclass(slots=True)
class Affected:
    """What a transaction may have left unsupported, or with another most frequent wording.

    Attributes:
        entities: Ids of entities that lost or gained a name.
        facts: Ids of facts that lost or gained evidence.
        keys: Keys of vectors that lost a node, or may have found none.
    """

    entities: set[str] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)

    def note_document(self, connection: sqlite3.Connection, doc_id: str) -> None:
        """Add what a document supports; call it before the document is removed."""
        for name, ids in (
            ("affected_entities", self.entities),
            ("affected_facts", self.facts),
            ("affected_keys", self.keys),
        ):
            ids.update(row[0] for row in run(connection, name, doc_id))


# Statements of `sql/write.sql`.
_RECONCILE_FACTS = ("delete_unstated_facts", "word_facts")
_RECONCILE_ENTITIES = ("delete_unnamed_entities", "name_entities")
_RECONCILE_KEYS = ("delete_unused_embeddings", "delete_unused_dimension")


def reconcile(connection: sqlite3.Connection, affected: Affected) -> None:
    """Update facts, entities and vectors whose support changed."""
    # Facts first: they support entities.
    for ids, names in (
        (affected.facts, _RECONCILE_FACTS),
        (affected.entities, _RECONCILE_ENTITIES),
        (affected.keys, _RECONCILE_KEYS),
    ):
        if ids:
            for name in names:
                run(connection, name, id_list(ids))
    _key_entities(connection, affected.entities)


def _key_entities(connection: sqlite3.Connection, entity_ids: Iterable[str]) -> None:
    """Index entities by the name that they are shown with."""
    shown = run(connection, "entities_shown", id_list(entity_ids)).fetchall()
    keys = [(normalize_name(name), before, entity_id) for name, before, entity_id in shown]
    changed = [(key, entity_id) for key, before, entity_id in keys if key != before]
    run_each(connection, "key_entity", changed)


def id_list(ids: Iterable[str]) -> str:
    """Return sorted ids as JSON for `json_each(?)`."""
    return json_list(sorted(ids))
