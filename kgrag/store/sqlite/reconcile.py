"""Remove what lost its support, and show each name as most documents write it."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field

from kgrag.store.sqlite.statements import json_list, run, run_each
from kgrag.text.words import normalize_name


@dataclass(slots=True)
class Affected:
    """What a transaction may have left without support, or with another best wording.

    Attributes:
        entities: Ids of entities that lost or gained a name.
        facts: Ids of facts that lost or gained evidence.
        keys: Embeddings that lost a node, or may have found none.
    """

    entities: set[str] = field(default_factory=set)
    facts: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)

    def note_document(self, connection: sqlite3.Connection, doc_id: str) -> None:
        """Add what a document supports; call it before the document goes."""
        for name, ids in (
            ("affected_entities", self.entities),
            ("affected_facts", self.facts),
            ("affected_keys", self.keys),
        ):
            ids.update(row[0] for row in run(connection, name, doc_id))


# By kind of what lost or gained support; see `sql/write.sql`.
_RECONCILE_FACTS = ("delete_unstated_facts", "word_facts")
_RECONCILE_ENTITIES = ("delete_unnamed_entities", "name_entities")
_RECONCILE_KEYS = ("delete_unused_embeddings", "delete_unused_dimension")


def reconcile(connection: sqlite3.Connection, affected: Affected) -> None:
    """Bring facts, entities and embeddings in line with what supports them."""
    # Facts first: they hold on to their entities.
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
    """Keep entities for searching under the name that they are shown by: aliases differ."""
    shown = run(connection, "entities_shown", id_list(entity_ids)).fetchall()
    keys = [(normalize_name(name), before, entity_id) for name, before, entity_id in shown]
    changed = [(key, entity_id) for key, before, entity_id in keys if key != before]
    run_each(connection, "key_entity", changed)


def id_list(ids: Iterable[str]) -> str:
    """Return ids in order as the JSON that `json_each(?)` reads."""
    return json_list(sorted(ids))
