"""Undo a single flipped bit by trial: with a checksum, the value that fits it is the right one."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path

from kgrag.store.sqlite.salvage import distance, reading
from kgrag.store.sqlite.seals import (
    DECIDED,
    broken_settings,
    broken_vectors,
    fits,
    seal_of_vector,
    seal_settings,
    sealed,
)
from kgrag.store.sqlite.statements import run, run_each

_LONGEST = 4096  # bytes of a text of which every bit is tried: half a second
_MOST_VECTORS = 20  # each takes a tenth of a second; where a page is gone, they are encoded anew


def mend_settings(connection: sqlite3.Connection, damaged: Path) -> list[str]:
    """Set settings right whose value, or whose key, has one flipped bit; return which.

    Args:
        connection: May write the database that is repaired.
        damaged: A copy of the damaged one, where the value stands as it is.
    """
    mended = []
    for broken in list(broken_settings(connection)):
        seal = sealed(connection, broken.subject, broken.part)
        if seal is None:
            continue
        rows = _raw(damaged, f"SELECT CAST(key AS BLOB), CAST(value AS BLOB) FROM {broken.subject}")
        for _, value in rows:
            right = _right(value, partial(_is_setting, seal, broken.part))
            if right is not None:
                connection.execute(
                    f"INSERT OR REPLACE INTO {broken.subject} VALUES (?, ?)", (broken.part, right)
                )
                mended.append(broken.part)
                break
    return mended


def mend_decided(connection: sqlite3.Connection, damaged: Path) -> list[str]:
    """Make whole what a person decided, and drop what can be known no more; return in words what.

    Args:
        connection: May write the database that is repaired.
        damaged: A copy of the damaged one.
    """
    done = []
    for broken in list(broken_settings(connection, *DECIDED)):
        if broken.only_seal:
            done.append(f"what was decided on {broken.part} was kept as it is")
            continue
        key = json.loads(broken.part)
        if broken.subject == "decisions":  # the key is all of it
            run(connection, "add_decision", *key)
            done.append(f"the decision {broken.part} was set right")
        elif (value := _corrected(connection, damaged, broken.part)) is not None:
            run(connection, "put_correction", *key, value)
            done.append(f"the correction {broken.part} was set right")
        else:
            run(connection, "delete_correction", *key)
            done.append(f"the correction {broken.part} was lost: give it again")
    if done:
        seal_settings(connection, DECIDED)
    return done


def _corrected(connection: sqlite3.Connection, damaged: Path, part: str) -> str | None:
    """Return the value of a correction, if it has one flipped bit, or its key has some."""
    seal = sealed(connection, "corrections", part)
    doc_id, field = json.loads(part)
    rows = _raw(damaged, "SELECT CAST(field AS BLOB), CAST(value AS BLOB) FROM corrections")
    for _, value in rows if seal else ():
        right = _right(value, lambda text: fits(seal or b"", [(doc_id, field, text)]))
        if right is not None:
            return right
    return None


def mend_sources(connection: sqlite3.Connection, damaged: Path, doc_id: str) -> bool:
    """Set the list of a document's files right if one bit of it has flipped; return whether."""
    seal = sealed(connection, doc_id, "sources")
    if seal is None:
        return False
    rows = _raw(damaged, "SELECT CAST(source AS BLOB), CAST(doc_id AS BLOB) FROM sources")
    held = [source for source, doc in rows if doc == doc_id.encode()]
    lost = [source for source, doc in rows if distance(doc, doc_id.encode()) == 1]
    for at, source in [*enumerate(held), *((len(held), source) for source in lost)]:
        others = [s.decode(errors="replace") for i, s in enumerate(held) if i != at]

        def is_right(name: str, others: list[str] = others) -> bool:
            return fits(seal, [[(s,) for s in sorted((*others, name), key=str.encode)]])

        right = _right(source, is_right)
        if right is not None:
            run(connection, "delete_sources", doc_id)
            run_each(connection, "put_source", [(name, doc_id) for name in (*others, right)])
            return True
    return False


def mend_vectors(connection: sqlite3.Connection) -> list[str]:
    """Set vectors right that have one flipped bit, in them or their checksum; return whose keys."""
    mended = []
    for key in broken_vectors(connection)[:_MOST_VECTORS]:
        row = run(connection, "damaged_vector", key).fetchone()
        if row is None or not isinstance(row[1], int):
            continue
        blob, seal = row
        if (seal ^ seal_of_vector(key, blob)).bit_count() == 1:  # of a negative one, too
            right: bytes | None = blob
        else:
            right = next((b for b in _flipped(blob) if seal_of_vector(key, b) == seal), None)
        if right is not None:
            run(connection, "mend_vector", right, seal_of_vector(key, right), key)
            mended.append(key)
    return mended


def _is_setting(seal: bytes, key: str, value: str) -> bool:
    return fits(seal, [(key, value)])


def _raw(damaged: Path, sql: str) -> list[tuple[bytes, bytes]]:
    with closing(reading(damaged)) as connection:
        try:
            return connection.execute(sql).fetchall()
        except sqlite3.DatabaseError:
            return []


def _right(value: bytes, is_right: Callable[[str], bool]) -> str | None:
    """Return the text that a value is, or was before one bit flipped; None where none fits.

    Longer ones are what nobody writes, and would take minutes.
    """
    flipped = _flipped(value) if len(value) <= _LONGEST else ()
    for data in chain((value,), flipped):
        try:
            text = data.decode()
        except UnicodeDecodeError:
            continue
        if is_right(text):
            return text
    return None


def _flipped(data: bytes) -> Iterator[bytes]:
    """Yield data with each of its bits flipped."""
    changed = bytearray(data)
    for at in range(len(data)):
        for bit in range(8):
            changed[at] ^= 1 << bit
            yield bytes(changed)
            changed[at] ^= 1 << bit
