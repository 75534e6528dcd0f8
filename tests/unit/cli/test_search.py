"""Commands that search: with a reranker, explanations, and queries."""

import json
import re

import pytest

from kgrag.api import KnowledgeBase
from kgrag.cli.printing import table
from kgrag.embedding.hashing import HashEmbedder
from kgrag.testing.reply import Reply
from kgrag.testing.server import FakeServer
from tests.fixtures.kit import kgrag, run, shared_folder
from tests.fixtures.rerankers import answering

QUESTION = "绿色工厂创建目标是多少家？"
PLACES = {
    name: f"{name}省绿色工厂实施方案\n一、目标\n到2025年，{name}省创建绿色工厂{n}00家。\n"
    for n, name in enumerate(("福建", "河南", "四川"), 2)
}


def prefers(*names):
    """Return a score that is the better the earlier a passage's place is named."""
    return lambda question, passage: next(
        (1.0 / (2 + n) for n, name in enumerate(names) if passage.startswith(name)), 0.0
    )


of_places = shared_folder(PLACES)


@pytest.fixture
def reranked(of_places):
    """Give a function that runs commands on three documents, with settings of `[rerank]`."""

    def with_settings(rerank, *words):
        settings = f'[embedding]\nmodel = "hash"\n{rerank}'
        (of_places / "kgrag.toml").write_text(settings, "utf-8")
        return run(of_places, *words)

    return with_settings


def at(server, more=""):
    return f'[rerank]\nbase_url = "{server.base_url}"\nmodel = "m"\n{more}'


def order(done):
    """Return the places of what was found, each once."""
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["results"]
    return list(dict.fromkeys(result["text"][:2] for result in found))


@pytest.mark.parametrize("system", ["grim", "bm25"])
@pytest.mark.parametrize("names", [("四川", "福建", "河南"), ("河南", "四川", "福建")])
def test_search_gives_the_order_of_the_endpoint(reranked, system, names):
    with FakeServer(answering(prefers(*names))) as server:
        done = reranked(at(server), "search", QUESTION, "--system", system, "--json")
    assert order(done) == list(names)
    assert len(server.requests) == 1
    assert server.requests[0].body["query"] == QUESTION
    assert "reranked: 0.50" in json.loads(done.stdout)["results"][0]["via"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply("no", status=401),
        Reply("oops", status=500, headers={"retry-after-ms": "1"}),
        Reply(raw='{"results": []}'),
        Reply(raw="<html>"),
    ],
)
def test_a_reranker_that_fails_leaves_the_order_and_is_told(reranked, caplog, reply):
    """Search and ask answer as they do without it."""
    plain = json.loads(reranked("", "search", QUESTION, "--json").stdout)
    answer = json.loads(reranked("", "ask", QUESTION, "--json").stdout)
    with FakeServer(lambda body: reply) as server:
        done = reranked(at(server), "search", QUESTION, "--json")
        assert caplog.text.count("results are in the order that they have without [rerank]") == 1
        caplog.clear()
        asked = reranked(at(server), "ask", QUESTION, "--json")
        assert caplog.text.count("results are in the order that they have without [rerank]") == 1
    assert done.exit_code == asked.exit_code == 0
    assert json.loads(done.stdout)["results"] == plain["results"]
    assert json.loads(asked.stdout)["text"] == answer["text"]


FORESTS = {
    "a": "甲方案\n一、目标\n根据《乙规划》，到2025年创建绿色工厂500家，森林覆盖率达到24%。\n",
    "b": "乙规划\n到2030年森林覆盖率达到26%。\n",
}
forests = shared_folder(FORESTS, "hash-32")


def test_search_explains_in_the_users_language(forests):
    """One line a result, no fact twice, and where it stands; JSON is the same in both."""
    words = ("search", "2025年森林覆盖率目标", "--explain")
    english, chinese = (run(forests, *words, language=language).stdout for language in ("en", "zh"))
    told = [line for line in english.splitlines() if line.startswith("   found by: ")]
    assert [line.count("森林覆盖率 —目标为→") for line in told] == [1, 1]
    assert re.search(r"a\.txt, characters \d+-\d+\n   found by: ", english)
    assert re.search(r"a\.txt, 第 \d+ 至 \d+ 个字符\n   由来：", chinese)
    assert "found by" not in chinese
    found = json.loads(run(forests, *words, "--json", language="zh").stdout)
    for via in (result["via"] for result in found["results"]):  # JSON has each with its score
        assert len([reason for reason in via if "森林覆盖率 —目标为→" in reason]) == 2


@pytest.mark.parametrize(
    ("words", "first"),
    [
        (("targets",), "#  指标        地区"),
        (("stats",), "文件        2"),
        (("graph", "森林覆盖率"), "#  主体        关系"),
        (("correct", "a.txt", "--number", "云〔2022〕3号"), "#  项目     内容"),
    ],
)
def test_results_have_chinese_names(forests, words, first):
    said = run(forests, *words, language="zh").stdout
    assert said.startswith(first)
    assert ("云〔2022〕3号" in said) == (words[0] == "correct")


one = shared_folder({"a": "甲方案\n一、目标\n根据《乙规划》，到2025年创建绿色工厂500家。\n"})


def query(place, *words):
    return kgrag("query", "--kb", place, *words)


def test_rows_are_a_table_under_the_names_of_columns(one):
    """Chinese characters are two columns wide; nothing goes to stderr."""
    done = query(one / "kb", "SELECT title, characters FROM kg_documents")
    assert done.exit_code == 0
    names, line, row = done.stdout.splitlines()
    assert names.split() == ["title", "characters"]
    assert line == "──────  ──────────"
    assert row == "甲方案" + " " * 10 + "35"
    assert done.stderr == ""


def test_json_holds_the_rows_and_whether_they_were_cut(one):
    """One object on one line."""
    done = query(one / "kb", "SELECT title, NULL AS x, x'00' AS b FROM kg_documents", "--json")
    assert json.loads(done.stdout) == {
        "rows": [{"title": "甲方案", "x": None, "b": {"hex": "00"}}], "cut": False,
    }  # fmt: skip


def test_rows_beyond_the_limit_are_cut_and_it_is_said(one):
    """On stderr; exactly as many rows as the limit are not cut."""
    three = "SELECT value AS v FROM json_each('[1, 2, 3]')"
    done = query(one / "kb", three, "--limit", "2")
    assert (done.exit_code, done.stdout) == (0, "v\n─\n1\n2\n")
    assert done.stderr == "cut: only the first 2 rows; raise --limit, or ask for less\n"
    assert query(one / "kb", three, "--limit", "3").stderr == ""
    assert json.loads(query(one / "kb", three, "--limit", "2", "--json").stdout)["cut"] is True


def test_no_rows_are_said(one):
    """An empty table would be silence."""
    done = query(one / "kb", "SELECT * FROM kg_facts WHERE 0")
    assert (done.exit_code, done.stdout) == (0, "no rows\n")


def test_a_cell_is_one_short_line_that_moves_no_cursor():
    """Line ends and control characters of documents would break the table or the terminal."""
    text = table([{"a": "x\ny\x1b[2J", "b": "字" * 40, "c": [1, {"k": "值"}], "d": None}])
    _, line, row = text.splitlines()
    assert row == "x y\\x1b[2J  " + "字" * 29 + '…  [1, {"k": "值"}]  -'
    assert line == "──────────  " + "─" * 59 + "  ────────────────  ─"


def test_cypher_is_answered_on_neo4j(empty_neo4j):
    KnowledgeBase.open(empty_neo4j, embedder=HashEmbedder()).close()
    done = query(empty_neo4j, "MATCH (k:KgragKnowledgeBase) RETURN k.id AS id, '碳' AS c")
    assert (done.exit_code, done.stdout) == (0, "id     c\n─────  ──\nkgrag  碳\n")
    done = query(empty_neo4j, "MATCH (n) DETACH DELETE n")
    assert done.exit_code == 1
    assert "only reading is allowed" in done.stderr
