"""A comparison is answered side by side, and who says nothing is named."""

import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.config import Config, EmbeddingConfig
from kgrag.generation.sides import answer_by_sides
from kgrag.results import Answer, Citation
from kgrag.retrieval.query import analyse

QUERY = analyse("福建、河南和广西各要利用多少秸秆？")
SIDES = ("福建", "河南", "广西")


def cited(number, place):
    return Citation(number, f"d-{place}", place, "a.txt", (), None, 0, 2, "原文", "c")


def quote(told):
    """Return what answers a side, and what it was asked."""
    asked = []

    def answer(side, most):
        asked.append((side, most))
        n = told[side]
        text = "\n".join(f"第{i}句[{i}]" for i in range(1, n + 1))
        citations = tuple(cited(i, side) for i in range(1, n + 1))
        return Answer(QUERY.text, text, citations, n > 0, "extractive", notes=("注",) * n)

    return answer, asked


def test_sides_stand_below_each_other_and_citations_count_on():
    """Each led by its name; a side without an answer is named."""
    answer, asked = quote({"福建": 2, "河南": 0, "广西": 1})
    found = answer_by_sides(QUERY, SIDES, answer, max_sentences=5)
    assert found.found
    assert found.text == "福建：\n第1句[1]\n第2句[2]\n广西：\n第1句[3]"
    assert [(c.number, c.title) for c in found.citations] == [(1, "福建"), (2, "福建"), (3, "广西")]
    assert found.notes == ("注", "未找到河南的有关规定")
    assert asked == [("福建", 2), ("河南", 2), ("广西", 2)]


def test_where_no_side_says_anything_nothing_is_found():
    """As for any other question."""
    found = answer_by_sides(
        QUERY, SIDES, quote(dict.fromkeys(["福建", "河南", "广西"], 0))[0], max_sentences=9
    )
    assert not found.found
    assert found.citations == ()
    assert found.question == QUERY.text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two provinces with a figure each, a third that says nothing of it."""
    made = tmp_path_factory.mktemp("sides")
    clause = "第一条 到2025年，秸秆综合利用率达到{}%。\n第二条 加强组织领导，落实各项责任。\n"
    for place, share in (("福建", 93), ("河南", 94)):
        text = f"{place}省秸秆综合利用方案\n{clause.format(share)}"
        (made / f"{place}.txt").write_text(text, "utf-8")
    (made / "广西.txt").write_text("广西壮族自治区林业规划\n第一条 保护森林。\n", "utf-8")
    (made / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    with KnowledgeBase.open(
        made / "kb", config=Config(embedding=EmbeddingConfig(model="hash"))
    ) as b:
        b.ingest(sorted(made.glob("*.txt")))
    return made


def test_ask_quotes_every_side(folder):
    """From the command line; what is asked of one place is answered as before."""

    def ask(question):
        words = ["--config", folder / "kgrag.toml", "ask", question, "--kb", folder / "kb"]
        done = CliRunner().invoke(main, [str(word) for word in words])
        return done.stdout + done.stderr

    told = ask("福建、河南、广西2025年秸秆利用各要达到多大比例？")
    lines = told.splitlines()
    assert lines[0] == "福建："
    assert "93%" in lines[1]
    assert lines[1].endswith("[1]")
    at = lines.index("河南：")
    assert "94%" in lines[at + 1]
    assert "未找到广西的有关规定" in told
    assert "：" not in ask("福建秸秆利用比例要到多少？").splitlines()[0]
