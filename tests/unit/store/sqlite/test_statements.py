"""The SQL statements: each is one that SQLite takes, and that somebody runs."""

import re
import sqlite3
from contextlib import closing
from importlib import resources
from pathlib import Path

import pytest

from kgrag.store.sqlite.connection import connect, make_schema
from kgrag.store.sqlite.statements import _bound, json_list, run
from kgrag.store.sqlite.statements import statements as all_statements
from kgrag.store.sqlite.verify import _CHECKS
from tests.fixtures.kit import each

ROOT = Path(__file__).parents[4]
FILES = (
    *("decisions", "documents", "graph", "repair", "seals", "search", "staged", "verify"),
    *("whole", "write", "form"),
)
# Only where a switch of encoders has taken the table away whose name they use.
IN_THE_MIDDLE_OF_A_SWITCH = {"rename_staged_embeddings": "DROP TABLE embeddings"}


@pytest.fixture
def empty():
    """A database with our tables."""
    with closing(connect(":memory:")) as connection:
        make_schema(connection)
        yield connection


def statements():
    """Return the statements without the fragments of forms."""
    is_part = re.compile(r"form_|table_form_").match
    return {name: text for name, text in all_statements().items() if not is_part(name)}


def n_parameters(text):
    numbered = [int(number) for number in re.findall(r"\?(\d)", text)]
    return max(numbered) if numbered else text.count("?")


def test_each_statement_fits_the_schema(empty):
    """A slip of the pen, a table or column that is not there, or two statements in one."""

    def check(name, text):
        if name in IN_THE_MIDDLE_OF_A_SWITCH:
            empty.execute(IN_THE_MIDDLE_OF_A_SWITCH[name])
        values = _bound(text, [None] * n_parameters(text))
        assert empty.execute(f"EXPLAIN {text}", values).fetchall()
        assert ";" not in text

    last = sorted(statements().items(), key=lambda told: told[0] in IN_THE_MIDDLE_OF_A_SWITCH)
    each(check, last)


def test_all_files_are_there():
    """They are data of the package."""
    folder = resources.files("kgrag.store.sqlite").joinpath("sql")
    assert sorted(file.name for file in folder.iterdir()) == sorted(f"{name}.sql" for name in FILES)


def test_each_statement_is_run_by_name():
    """One that nobody names is left over."""
    sources = [p.read_text("utf-8") for p in (ROOT / "kgrag" / "store" / "sqlite").glob("*.py")]
    named = set(re.findall(r'"(\w+)"', "\n".join(sources))) | {c.statement for c in _CHECKS}
    assert statements().keys() <= named


def test_lists_of_ids_are_one_parameter(empty):
    """Whatever they hold, and however many they are."""
    ids = ["'; DROP TABLE documents; --", '"', *map(str, range(50_000))]
    assert run(empty, "documents", json_list(ids)).fetchall() == []
    assert run(empty, "doc_ids").fetchall() == []
    with pytest.raises(sqlite3.ProgrammingError):
        run(empty, "documents")
