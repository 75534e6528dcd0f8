import pytest

from kgrag.store.named_statements import read_folder, read_named

SQL = """-- About this file.

-- name: one
-- Why it is so.
SELECT 1
  -- and here, too
FROM t;

-- name: two
SELECT '-- no comment' ;
"""


def test_statements_come_by_name_in_order(tmp_path):
    """Lines of comment are left out, and so is what ends a statement."""
    file = tmp_path / "a.sql"
    file.write_text(SQL, "utf-8")
    found = read_named(file, comment="--")
    assert list(found.items()) == [("one", "SELECT 1\nFROM t"), ("two", "SELECT '-- no comment' ")]


def test_another_language_has_another_comment(tmp_path):
    """As Cypher has; within a text it is none."""
    file = tmp_path / "a.cypher"
    file.write_text("// name: all\nMATCH (n) -- (m)\nRETURN 'http://x' AS a;\n", "utf-8")
    assert read_named(file, comment="//") == {"all": "MATCH (n) -- (m)\nRETURN 'http://x' AS a"}


@pytest.mark.parametrize("other", ["a.sql", "b.sql"])
def test_a_name_stands_once(tmp_path, other):
    """In one file, or in two."""
    for name in ("a.sql", other):
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write("-- name: same\nSELECT 1;\n")
    with pytest.raises(ValueError, match="two statements are called same"):
        read_folder(tmp_path, ".sql", comment="--")
