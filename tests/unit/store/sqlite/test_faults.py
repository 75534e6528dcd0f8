import json
import sqlite3
from pathlib import Path

import pytest

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.store.sqlite.faults import mapped

FILE = Path("kb/kgrag.db")


@pytest.mark.parametrize(
    ("name", "kind", "remedy"),
    [
        ("SQLITE_BUSY", StoreUnavailableError, "another process"),
        ("SQLITE_BUSY_SNAPSHOT", StoreUnavailableError, "another process"),
        ("SQLITE_CANTOPEN", StoreUnavailableError, "folder exists"),
        ("SQLITE_READONLY_DIRECTORY", StoreUnavailableError, "may write"),
        ("SQLITE_NOTADB", StoreUnavailableError, "not a knowledge base.*run `kgrag repair`"),
        ("SQLITE_FULL", StoreError, "free space"),
        ("SQLITE_IOERR_WRITE", StoreError, "disk"),
        ("SQLITE_CORRUPT", StoreError, "run `kgrag repair`.*backup"),
        ("SQLITE_CONSTRAINT_FOREIGNKEY", StoreError, "nothing was stored"),
        ("SQLITE_ERROR", StoreError, "verify"),
    ],
)
def test_each_error_of_sqlite_gets_our_class_and_a_remedy(name, kind, remedy):
    """File, what SQLite said, and what to do stand in the text; the cause is kept."""
    error = sqlite3.OperationalError("what it said")
    error.sqlite_errorname = name

    with pytest.raises(kind, match=remedy) as caught, mapped(FILE):
        raise error
    assert "kb" in str(caught.value)
    assert "what it said" in str(caught.value)
    assert caught.value.__cause__ is error


def test_a_damaged_list_in_a_row_is_told_with_the_remedy():
    """Lists are kept as JSON; a flipped bit may leave none."""
    with pytest.raises(StoreError, match=r"damaged.*kgrag repair") as caught, mapped(FILE):
        json.loads('["a",')
    assert "kgrag.db" in str(caught.value)
    assert isinstance(caught.value.__cause__, json.JSONDecodeError)


def test_half_a_character_is_told_with_the_remedy():
    """SQLite keeps UTF-8, which has no lone surrogates."""
    with pytest.raises(StoreError, match="UTF-8"), mapped(FILE):
        "\ud800".encode()
