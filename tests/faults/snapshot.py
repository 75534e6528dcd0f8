"""What a Neo4j server holds, kept to be put back: quicker than to write it by kgrag again."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neo4j import Session

Rows = list[dict[str, object]]

_SHOW = {
    "CONSTRAINT": "SHOW CONSTRAINTS YIELD name, createStatement RETURN name, createStatement",
    "INDEX": "SHOW INDEXES YIELD name, type, owningConstraint, createStatement "
    "WHERE type <> 'LOOKUP' AND owningConstraint IS NULL RETURN name, createStatement",
}


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Nodes, relationships, constraints and indexes of a small database.

    Attributes:
        nodes: By their labels, as rows of `at` (what they are called here) and `properties`.
        relationships: By their type, as rows of `start`, `end` (as `at`) and `properties`.
        schema: Statements that make the constraints, and those that make the indexes, by name.
    """

    nodes: dict[str, Rows]
    relationships: dict[str, Rows]
    schema: dict[str, dict[str, str]]

    @classmethod
    def of(cls, session: "Session") -> "Snapshot":
        """Return what a database holds."""
        nodes: defaultdict[str, Rows] = defaultdict(list)
        for at, labels, properties in session.run(
            "MATCH (n) RETURN elementId(n), labels(n), properties(n)"
        ).values():
            nodes[":".join(sorted(labels))].append({"at": at, "properties": properties})
        relationships: defaultdict[str, Rows] = defaultdict(list)
        for kind, start, end, properties in session.run(
            "MATCH (a)-[r]->(b) RETURN type(r), elementId(a), elementId(b), properties(r)"
        ).values():
            row = {"start": start, "end": end, "properties": properties}
            relationships[kind].append(row)
        return cls(dict(nodes), dict(relationships), _schema(session))

    def put_back(self, session: "Session") -> None:
        """Let a database hold this and nothing else; what its schema has already stays."""
        session.run("MATCH (n) DETACH DELETE n").consume()
        self._put_back_schema(session)
        now_at: dict[object, object] = {}
        for labels, rows in self.nodes.items():
            text = (
                f"UNWIND $rows AS row CREATE (n:{labels}) SET n = row.properties "
                "RETURN row.at, elementId(n)"
            )
            now_at |= dict(session.run(text, rows=rows).values())
        for kind, rows in self.relationships.items():
            text = (
                "UNWIND $rows AS row MATCH (a) WHERE elementId(a) = row.start "
                "MATCH (b) WHERE elementId(b) = row.end "
                f"CREATE (a)-[r:{kind}]->(b) SET r = row.properties"
            )
            moved = [
                {**row, "start": now_at[row["start"]], "end": now_at[row["end"]]} for row in rows
            ]
            session.run(text, rows=moved).consume()
        session.run("CALL db.awaitIndexes(300)").consume()

    def _put_back_schema(self, session: "Session") -> None:
        for kind, held in _schema(session).items():
            wanted = self.schema[kind]
            for name, _ in held.items() - wanted.items():
                session.run(f"DROP {kind} `{name}`").consume()
            for _, statement in wanted.items() - held.items():
                session.run(statement).consume()


def _schema(session: "Session") -> dict[str, dict[str, str]]:
    """Return what makes each constraint and index, but for the lookup by label and type."""
    return {kind: dict(session.run(text).values()) for kind, text in _SHOW.items()}
