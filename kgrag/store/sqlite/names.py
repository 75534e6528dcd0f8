"""Documents and entities by what their name contains or resembles."""

import sqlite3

from kgrag.store.likeness import most_alike
from kgrag.text import normalize_name
from kgrag.vectors.vector import Hit

_LEAST_TITLE = 2  # a single character is part of too many titles to name one
_TRIGRAM = 3  # shortest key of FTS5's trigram index
_CANDIDATES = 10  # names compared for each one wanted; FTS5's ranking is coarser than Dice


def find_documents(connection: sqlite3.Connection, name: str, top_k: int) -> list[str]:
    """Return documents whose title contains a name of two characters or more, shortest first."""
    wanted = normalize_name(name)
    if len(wanted) < _LEAST_TITLE:
        return []
    rows = connection.execute(
        "SELECT doc_id FROM documents WHERE instr(normalized_title, ?) > 0"
        " ORDER BY length(normalized_title), doc_id LIMIT ?",
        (wanted, max(top_k, 0)),
    )
    return [doc_id for (doc_id,) in rows]


def search_entities(connection: sqlite3.Connection, text: str, top_k: int) -> list[Hit]:
    """Return (entity_id, likeness in (0, 1]) of names that contain or resemble a text.

    Likeness is the Dice coefficient of character pairs, or the share of the name that the text
    makes up where it is contained, whichever is more; 1 for the name itself. Best first, ties
    by entity id.
    """
    wanted = normalize_name(text)
    if not wanted or top_k < 1:
        return []
    if len(wanted) < _TRIGRAM:
        names = _short(connection, wanted, top_k)
    else:
        names = _containing(connection, wanted, top_k)
        if len(names) < top_k:
            names |= _sharing(connection, wanted, top_k * _CANDIDATES)
    return most_alike(wanted, names, top_k)


def _short(connection: sqlite3.Connection, wanted: str, top_k: int) -> dict[str, str]:
    """Return the shortest names that begin with the text; if too few, that contain it."""
    beginning = connection.execute(
        "SELECT entity_id, normalized FROM entities WHERE normalized >= ?1 AND normalized < ?2"
        " ORDER BY length(normalized), entity_id LIMIT ?3",
        (wanted, wanted + chr(0x10FFFF), top_k),
    ).fetchall()
    if len(beginning) >= top_k:
        return dict(beginning)
    # No index has keys this short: a scan of the names.
    rows = connection.execute(
        "SELECT entity_id, normalized FROM entities WHERE instr(normalized, ?) > 0"
        " ORDER BY length(normalized), entity_id LIMIT ?",
        (wanted, top_k),
    )
    return dict(beginning) | dict(rows.fetchall())


def _containing(connection: sqlite3.Connection, wanted: str, top_k: int) -> dict[str, str]:
    """Return the shortest names that contain the text."""
    rows = connection.execute(
        "SELECT e.entity_id, e.normalized FROM entity_search s"
        " JOIN entities e ON e.number = s.rowid WHERE entity_search MATCH ?"
        " ORDER BY length(e.normalized), e.entity_id LIMIT ?",
        (_quoted(wanted), top_k),
    )
    return dict(rows.fetchall())


def _sharing(connection: sqlite3.Connection, wanted: str, limit: int) -> dict[str, str]:
    """Return the names that share most with the text, by BM25 of three-character pieces."""
    pieces = sorted({wanted[i : i + _TRIGRAM] for i in range(len(wanted) - _TRIGRAM + 1)})
    rows = connection.execute(
        "SELECT e.entity_id, e.normalized FROM entity_search s"
        " JOIN entities e ON e.number = s.rowid WHERE entity_search MATCH ?"
        " ORDER BY bm25(entity_search), e.entity_id LIMIT ?",
        (" OR ".join(map(_quoted, pieces)), limit),
    )
    return dict(rows.fetchall())


def _quoted(text: str) -> str:
    """Return an FTS5 string: nothing in it is an operator."""
    return '"' + text.replace('"', '""') + '"'
