"""`kgrag query`: rows as a table or JSON, what is cut, what is refused."""

import json

import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.cli.query import table
from kgrag.embedding.hashing import HashEmbedder

ENTITIES = "SELECT type, count(*) AS n FROM kg_entities GROUP BY type ORDER BY type"


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    """A knowledge base of one document."""
    folder = tmp_path_factory.mktemp("query")
    file = folder / "a.txt"
    file.write_text("甲方案\n一、目标\n根据《乙规划》，到2025年创建绿色工厂500家。\n", "utf-8")
    with KnowledgeBase.open(folder / "kb", embedder=HashEmbedder()) as base:
        base.ingest([file])
    return folder / "kb"


def run(kb, *args):
    return CliRunner().invoke(main, ["query", "--kb", str(kb), *args])


def test_rows_are_a_table_under_the_names_of_columns(kb):
    """Chinese characters are two columns wide; nothing goes to stderr."""
    done = run(kb, "SELECT title, characters FROM kg_documents")
    assert done.exit_code == 0
    names, line, row = done.stdout.splitlines()
    assert names.split() == ["title", "characters"]
    assert line == "──────  ──────────"
    assert row == "甲方案" + " " * 10 + "35"
    assert done.stderr == ""


def test_json_holds_the_rows_and_whether_they_were_cut(kb):
    """One object on one line."""
    done = run(kb, "SELECT title, NULL AS x, x'00' AS b FROM kg_documents", "--json")
    assert json.loads(done.stdout) == {
        "rows": [{"title": "甲方案", "x": None, "b": {"hex": "00"}}], "cut": False,
    }  # fmt: skip


def test_rows_beyond_the_limit_are_cut_and_it_is_said(kb):
    """On stderr; exactly as many rows as the limit are not cut."""
    three = "SELECT value AS v FROM json_each('[1, 2, 3]')"
    done = run(kb, three, "--limit", "2")
    assert (done.exit_code, done.stdout) == (0, "v\n─\n1\n2\n")
    assert done.stderr == "cut: only the first 2 rows; raise --limit, or ask for less\n"
    assert run(kb, three, "--limit", "3").stderr == ""
    assert json.loads(run(kb, three, "--limit", "2", "--json").stdout)["cut"] is True


def test_no_rows_are_said(kb):
    """An empty table would be silence."""
    done = run(kb, "SELECT * FROM kg_facts WHERE 0")
    assert (done.exit_code, done.stdout) == (0, "no rows\n")


def test_what_writes_or_takes_too_long_is_refused(kb):
    """With exit code 1 and the reason on stderr."""
    done = run(kb, "DELETE FROM documents")
    assert done.exit_code == 1
    assert done.stderr.startswith("kgrag: DELETE FROM documents: not authorized")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n"
    done = run(kb, endless, "--timeout", "0.05")
    assert done.exit_code == 1
    assert "stopped after 0.05 s" in done.stderr


@pytest.mark.parametrize("limits", [["--limit", "0"], ["--timeout", "0"], ["--timeout", "x"]])
def test_limits_that_allow_nothing_are_usage_errors(kb, limits):
    """Exit code 2."""
    assert run(kb, ENTITIES, *limits).exit_code == 2


def test_a_cell_is_one_short_line_that_moves_no_cursor():
    """Line ends and control characters of documents would break the table or the terminal."""
    text = table([{"a": "x\ny\x1b[2J", "b": "字" * 40, "c": [1, {"k": "值"}], "d": None}])
    _, line, row = text.splitlines()
    assert row == "x y\\x1b[2J  " + "字" * 29 + '…  [1, {"k": "值"}]  -'
    assert line == "──────────  " + "─" * 59 + "  ────────────────  ─"


def test_columns_of_numbers_stand_to_the_right():
    """Mixed ones and texts to the left."""
    assert table([{"n": 10, "m": 1}, {"n": 1.5, "m": "碳"}]).splitlines() == [
        "  n  m", "───  ──", " 10  1", "1.5  碳",
    ]  # fmt: skip


def test_cypher_is_answered_on_neo4j(empty_neo4j):
    """The same command, the same table."""
    KnowledgeBase.open(empty_neo4j, embedder=HashEmbedder()).close()
    done = run(empty_neo4j, "MATCH (k:KgragKnowledgeBase) RETURN k.id AS id, '碳' AS c")
    assert (done.exit_code, done.stdout) == (0, "id     c\n─────  ──\nkgrag  碳\n")
    done = run(empty_neo4j, "MATCH (n) DETACH DELETE n")
    assert done.exit_code == 1
    assert "DETACH is refused" in done.stderr
