"""Remove what lost its support, and show each name as most documents write it."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Touched:
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
        for sql, ids in (
            ("SELECT entity_id FROM entity_names WHERE doc_id = ?", self.entities),
            ("SELECT fact_id FROM evidence WHERE doc_id = ?", self.facts),
            ("SELECT key FROM node_vectors WHERE doc_id = ?", self.keys),
        ):
            ids.update(row[0] for row in connection.execute(sql, (doc_id,)))


# Ties go to the smallest text, so the outcome does not depend on the order of ingestion.
# Rows that show what all documents write stay untouched: most do, and writing is what costs.
_SETTLE_FACTS = (
    "DELETE FROM facts WHERE fact_id IN (SELECT value FROM json_each(?1))"
    " AND NOT EXISTS (SELECT 1 FROM evidence e WHERE e.fact_id = facts.fact_id)",
    """
    UPDATE facts SET predicate = (
        SELECT predicate FROM evidence e WHERE e.fact_id = facts.fact_id
        GROUP BY predicate ORDER BY count(DISTINCT doc_id) DESC, predicate LIMIT 1)
    WHERE fact_id IN (SELECT value FROM json_each(?1)) AND EXISTS (
        SELECT 1 FROM evidence e
        WHERE e.fact_id = facts.fact_id AND e.predicate <> facts.predicate)
    """,
)
_SETTLE_ENTITIES = (
    "DELETE FROM entities WHERE entity_id IN (SELECT value FROM json_each(?1))"
    " AND NOT EXISTS (SELECT 1 FROM entity_names n WHERE n.entity_id = entities.entity_id)",
    """
    UPDATE entities SET
        name = (
            SELECT name FROM entity_names n WHERE n.entity_id = entities.entity_id
            GROUP BY name ORDER BY count(DISTINCT doc_id) DESC, name LIMIT 1),
        type = coalesce((
            SELECT type FROM entity_names n
            WHERE n.entity_id = entities.entity_id AND type <> 'entity'
            GROUP BY type ORDER BY count(DISTINCT doc_id) DESC, type LIMIT 1), 'entity')
    WHERE entity_id IN (SELECT value FROM json_each(?1)) AND EXISTS (
        SELECT 1 FROM entity_names n
        WHERE n.entity_id = entities.entity_id
        AND (n.name <> entities.name OR n.type <> entities.type))
    """,
)
_SETTLE_KEYS = (
    "DELETE FROM embeddings WHERE key IN (SELECT value FROM json_each(?1))"
    " AND NOT EXISTS (SELECT 1 FROM node_vectors v WHERE v.key = embeddings.key)",
    # With the last vector goes its dimension: the next may have another.
    "DELETE FROM state WHERE key = 'dimension' AND json_array_length(?1) > 0"
    " AND NOT EXISTS (SELECT 1 FROM embeddings)",
)


def settle(connection: sqlite3.Connection, touched: Touched) -> None:
    """Bring facts, entities and embeddings in line with what supports them."""
    # Facts first: they hold on to their entities.
    for ids, statements in (
        (touched.facts, _SETTLE_FACTS),
        (touched.entities, _SETTLE_ENTITIES),
        (touched.keys, _SETTLE_KEYS),
    ):
        if ids:
            for statement in statements:
                connection.execute(statement, (id_list(ids),))


def id_list(ids: Iterable[str]) -> str:
    """Return ids as the JSON that `json_each(?)` reads: any number in one parameter."""
    return json.dumps(sorted(ids))
