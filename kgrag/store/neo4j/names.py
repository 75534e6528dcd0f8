"""Documents and entities by what their name contains or resembles."""

from kgrag.store.likeness import most_alike
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.lexical import any_of
from kgrag.text import character_pairs, normalize_name
from kgrag.vectors.vector import Hit

_LEAST_TITLE = 2  # a single character is part of too many titles to name one
_LEAST_PIECE = 3  # characters of a text that is compared piece by piece
_CANDIDATES = 10  # names compared for each one wanted


def find_documents(database: Database, name: str, top_k: int) -> list[str]:
    """Return documents whose title contains a name of two characters or more, shortest first."""
    wanted = normalize_name(name)
    if len(wanted) < _LEAST_TITLE:
        return []
    rows = database.read("find_documents", name=wanted)
    ordered = sorted((len(row["title_key"]), row["id"]) for row in rows)
    return [doc_id for _, doc_id in ordered[: max(top_k, 0)]]


def search_entities(database: Database, text: str, top_k: int) -> list[Hit]:
    """Return (entity_id, likeness in (0, 1]) of names that contain or resemble a text.

    Likeness is as in `kgrag.store.likeness`; best first, ties by entity id.
    """
    wanted = normalize_name(text)
    if not wanted or top_k < 1:
        return []
    names: dict[str, str] = {}
    if len(wanted) < _LEAST_PIECE:
        names = _found(database, "entities_beginning", wanted, top_k)
    if len(names) < top_k:
        names |= _found(database, "entities_containing", wanted, top_k)
    if len(wanted) >= _LEAST_PIECE and len(names) < top_k:
        query = any_of(sorted(set(character_pairs(wanted))))
        rows = database.read("entities_like", query=query, limit=top_k * _CANDIDATES)
        names |= {row["id"]: row["normalized"] for row in rows}
    return most_alike(wanted, names, top_k)


def _found(database: Database, statement: str, wanted: str, limit: int) -> dict[str, str]:
    rows = database.read(statement, name=wanted, limit=limit)
    return {row["id"]: row["normalized"] for row in rows}
