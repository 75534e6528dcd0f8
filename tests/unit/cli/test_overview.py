"""`kgrag overview`: what is held and what is missing, on screen, as JSON, workbook and page."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from lxml import html

from kgrag.api import KnowledgeBase
from kgrag.cli.chinese import width
from tests.fixtures.kit import ingested, run

HOSTILE = "=1+1<img src=x onerror=alert(1)>节水方案"


def plan(place, year, subject="绿色建筑发展", *, cites="《节能行动方案》和《民用建筑节能条例》"):
    """Return a plan of a province, by its government."""
    title = f"{place}“十四五”{subject}规划"
    return (
        f"{place}人民政府关于印发{title}的通知\n〔{year}〕3号\n\n各市人民政府：\n"
        f"现将《{title}》印发给你们，请认真贯彻执行。\n{place}人民政府\n{year}年3月5日\n"
        f"{title}\n一、总则\n为落实{cites}，制定本规划。\n"
    )


TEXTS = {
    "nation": "国务院关于印发节能行动方案的通知\n国发〔2021〕9号\n各省、自治区、直辖市人民政府：\n"
    "现将《节能行动方案》印发给你们。\n国务院\n2021年9月1日\n节能行动方案\n一、目标\n到2025年创建工厂。\n",
    "sichuan": plan("四川省", 2021),
    "yunnan": plan("云南省", 2022),
    "fujian": plan("福建省", 2022),
    "hunan": plan("湖南省", 2022, "绿色建筑产业发展", cites="国家要求"),
    "hubei": plan("湖北省", 2022, "林业", cites="国家要求"),
    "chengdu": plan("四川省成都市", 2022, cites="国家要求"),
    "old": "云南省节能补贴管理办法\n云政发〔2015〕3号\n第一条 为节能，制定本办法。\n"
    "云南省人民政府\n2015年3月1日\n",
    "new": "云南省节能奖励管理规定\n云政发〔2023〕8号\n第一条 为节能，制定本规定。\n第二条 "
    "《云南省节能补贴管理办法》（云政发〔2015〕3号）同时废止。\n云南省人民政府\n2023年5月6日\n",
    "notice": "云南省人民政府关于做好节能补贴工作的通知\n云政发〔2022〕18号\n"
    "依据《云南省节能补贴管理办法》，现通知如下。\n一、做好工作。\n云南省人民政府\n2022年5月6日\n",
    "draft": "云南省节能补助办法（征求意见稿）\n依据《云南省节能补贴管理办法》，制定本办法。\n"
    "云南省人民政府\n2022年6月6日\n",
    "hostile": f"{HOSTILE}\n为节水，依据《节水<b>办法》，推进工作。\n",
}  # fmt: skip
NAMES = ["status", "year", "region", "level", "kind", "issuer",
         "missing", "gaps", "cited", "lacking", "outdated"]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = ingested(tmp_path_factory.mktemp("overview"), TEXTS)
    (made / "bad.docx").write_bytes(b"not a zip")
    run(made, "ingest", made / "bad.docx", code=1)
    return made


@pytest.fixture(scope="module")
def told(folder):
    """The tables of `--json`, by name, as lists of rows."""
    tables = json.loads(run(folder, "overview", "--json", code=0).stdout)["tables"]
    assert [table["name"] for table in tables] == NAMES
    return {table["name"]: table["rows"] for table in tables}


@pytest.fixture(scope="module")
def cards(folder):
    with KnowledgeBase.open(folder / "kb", create=False) as base:
        statuses = base.statuses()
        return [
            card.card_dict() | {"status": statuses[card.doc_id].to_dict()}
            for card in base.documents()
        ]


def counts(rows, name):
    return {row[name]: row["n"] for row in rows}


def test_counts_are_those_of_the_cards(told, cards):
    """Counted again from what `kgrag documents` lists."""
    assert len(cards) == len(TEXTS)
    metadata = [card["metadata"] for card in cards]
    years = Counter(
        int(m.get("issued", m.get("written"))[:4])
        for m in metadata
        if "issued" in m or "written" in m
    )
    assert counts(told["year"], "year") == years
    assert list(counts(told["year"], "year")) == sorted(years)
    issuers = Counter(issuer for m in metadata for issuer in m.get("issuers", ()))
    assert counts(told["issuer"], "issuer") == issuers
    levels = Counter(m["level"] for m in metadata if m.get("level"))
    assert counts(told["level"], "level") == levels
    places = Counter((m.get("regions") or ["全国"])[0].removesuffix("省") for m in metadata)
    assert counts(told["region"], "region") == places
    kinds = Counter(card["status"]["kind"] for card in cards)
    words = {
        "in_force": "现行有效",
        "repealed": "已废止",
        "draft": "草案",
        "unknown": "日期不明",
        "over": "规划期已过",
    }
    assert counts(told["status"], "status") == {words[kind]: n for kind, n in kinds.items()}


def test_words_of_the_system_are_in_the_language_asked_for_and_codes_are_not_printed(folder):
    printed = run(folder, "overview", "--english").stdout
    assert "not held" in printed
    assert "in force" in printed
    assert not re.search("现行有效|不在库|已废止", printed)
    assert "in_force" not in run(folder, "documents").stdout
    rows = json.loads(run(folder, "documents", "--json").stdout)["rows"]
    assert "in_force" in {row["status"] for row in rows}


def test_provinces_without_what_others_have_are_named(told):
    """By the subject of titles, in any order of their words; cities do not stand for provinces."""
    (gap,) = told["gaps"]
    assert (gap["subject"], gap["n"], gap["places"]) == ("绿色建筑发展规划", 3, 5)
    assert set(gap["have"].split("、")) == {"四川", "云南", "福建"}
    assert (gap["similar"], gap["lack"]) == ("湖南", "湖北")
    assert {Path(s["file"]).stem for s in gap["sources"]} == {"sichuan", "yunnan", "fujian"}


def test_what_is_cited_most_and_not_held_is_named_with_its_clauses(told):
    cited = {row["title"]: row for row in told["cited"]}
    assert [(r["title"], r["n"]) for r in told["lacking"]] == [("《民用建筑节能条例》", 3)]
    assert cited["《民用建筑节能条例》"]["held"] == "不在库"
    action = cited["《节能行动方案》"]
    assert (action["n"], action["held"], action["status"]) == (3, "在库", "现行有效")
    assert len(action["sources"]) == 3
    assert all("节能行动方案" in source["quote"] for source in action["sources"])


def test_documents_that_rest_on_what_was_repealed_are_named(told):
    """Not the one that repeals it, nor a draft."""
    (row,) = told["outdated"]
    assert row["title"] == "《云南省人民政府关于做好节能补贴工作的通知》"
    assert row["status"] == "已废止，自2023-05-06起，由《云南省节能奖励管理规定》废止"
    assert row["sources"][0]["quote"].startswith("依据《云南省节能补贴管理办法》")


def test_a_screen_has_the_first_rows_of_each_table(folder):
    """And what to do next; nothing of a document is markup."""
    lines = run(folder, "overview", code=0).stdout.splitlines()
    assert max(map(width, lines)) <= 330
    assert {"效力", "印发年份", "地区"} <= set(lines)
    assert any("湖南" in line and "绿色建筑发展规划" in line for line in lines)
    assert "kgrag problems" in lines[-3]
    assert "status" not in run(folder, "overview", "--english", code=0).stdout[:3]


@pytest.mark.parametrize(
    ("flag", "title"), [((), "资料库概览"), (("--english",), "What the archive")]
)
def test_a_page_stands_alone_and_holds_no_markup_of_documents(folder, tmp_path, flag, title):
    """Nothing is fetched, nothing runs."""
    file = tmp_path / "o.html"
    run(folder, "overview", "--html", file, *flag, code=0)
    text = file.read_text("utf-8")
    page = html.fromstring(text)
    assert page.xpath("//h1")[0].text_content().startswith(title)
    assert page.xpath("//img | //script | //link | //b | //iframe") == []
    assert not re.findall(r"https?://|url\(", text)
    assert "onerror" in page.text_content()
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    assert {section.get("id") for section in page.xpath("//section")} == set(NAMES)
