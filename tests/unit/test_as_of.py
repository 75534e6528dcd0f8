"""A day or a filter limits an answer; the status of documents at a day."""

import json
from datetime import date
from pathlib import Path
from typing import get_args

import pytest

from kgrag.api import KnowledgeBase
from kgrag.errors import NotFoundError
from kgrag.ids import document_node_id, fact_id
from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.retrieval.filter import Filter
from kgrag.statements.in_force import InForce
from kgrag.status import Status, StatusKind
from kgrag.store.graph import Statement, Triple
from kgrag.types import Document, Entity
from tests.fixtures.kit import knowledge_base, run, shared_folder

OLD, NEW, DRAFT = "old.txt", "new.txt", "draft.txt"
TEXTS = {
    OLD: "云岭省公共机构节能补贴管理办法\n云政发〔2015〕3号\n第一条 为节能，制定本办法。\n"
    "第二条 公共机构节能改造每家补贴五万元。\n云岭省人民政府\n2015年3月1日\n",
    NEW: "云岭省公共机构节能奖励管理规定\n云政发〔2021〕8号\n第一条 为节能，制定本规定。\n"
    "第二条 节能改造做得好的，每家奖励八万元。\n"
    "第三条 本规定自2021年7月1日起施行，有效期至2099年6月30日。《云岭省公共机构节能补贴管理办法》"
    "（云政发〔2015〕3号）同时废止。\n云岭省人民政府\n2021年5月6日\n",
    DRAFT: "云岭省公共机构节能条例（征求意见稿）\n第一条 为节能，制定本条例。\n"
    "第二条 公共机构应当设节能岗位。\n云岭省人民政府\n2022年5月6日\n",
}  # fmt: skip
QUESTION = "公共机构节能改造每家补贴多少万元？"  # which the old document answers best
REPEALED = "已废止，自2021-07-01起，由《云岭省公共机构节能奖励管理规定》废止"


# A repealed document, the one that repeals it, and a draft.
folder = shared_folder(TEXTS)


@pytest.fixture(scope="module")
def base(folder):
    with KnowledgeBase.open(folder / "kb", create=False) as opened:
        yield opened


def test_of_a_day_it_is_said_which_cited_documents_have_no_date(tmp_path):
    """They are kept, and may be later."""
    texts = {"plan": "云岭省绿色发展方案\n一、目标\n到2025年，森林覆盖率达到41%。\n"}
    with knowledge_base(tmp_path, texts) as undated:
        asked = "到2025年森林覆盖率达到多少？"
        told = "所引《云岭省绿色发展方案》未写明日期，可能在该日之后印发"
        assert told in undated.ask(asked, as_of="2021").notes
        assert told not in undated.ask(asked).notes


def files(results):
    """Return the documents of results, each once."""
    return list(dict.fromkeys(Path(hit.file).name for hit in results))


def test_without_a_day_results_are_only_marked(base):
    """The best clause comes first, whatever its document is by now."""
    found = base.search(QUESTION)
    assert files(found)[0] == OLD
    kinds = {Path(hit.file).name: hit.status.kind for hit in found}
    assert kinds == {OLD: "repealed", NEW: "in_force", DRAFT: "draft"}


@pytest.mark.parametrize("as_of", ["2022-12", date(2022, 12, 31), "2022年12月31日"])
def test_what_is_in_force_at_the_day_comes_first(base, as_of):
    found = base.search(QUESTION, as_of=as_of)
    assert files(found)[0] == NEW
    assert set(files(found)[1:]) == {OLD, DRAFT}


def test_what_was_issued_later_is_not_searched(base):
    """Of a year its last day counts."""
    assert files(base.search(QUESTION, as_of="2020")) == [OLD]
    assert files(base.search(QUESTION, as_of="2021-06-30")) == [OLD, NEW]  # not in force yet
    with pytest.raises(NotFoundError, match="issued after 2014-12-31"):
        base.search(QUESTION, as_of="2014")
    with pytest.raises(ValueError, match="a date is given as"):
        base.search(QUESTION, as_of="2014-15")


def test_a_day_in_the_question_leaves_nothing_out(base):
    found = base.search("2020年时有效的公共机构节能改造补贴多少万元？")
    assert files(found)[0] == OLD
    assert set(files(found)) == set(TEXTS)
    assert {Path(hit.file).name: hit.status.day for hit in found}[OLD] == "2020-12-31"
    assert files(base.search("现行有效的办法：公共机构节能改造每家补贴多少万元？"))[0] == NEW


def test_an_answer_names_what_replaces_a_repealed_document(base):
    """In its citations and its notes; the day decides."""
    answer = base.ask(QUESTION)
    (first, *_) = answer.citations
    assert (first.status.kind, first.status.title) == ("repealed", "云岭省公共机构节能奖励管理规定")
    assert f"所引《云岭省公共机构节能补贴管理办法》：{REPEALED}" in answer.notes

    then = base.ask(QUESTION, as_of="2020")
    assert {c.status.kind for c in then.citations} == {"in_force"}
    assert "按2020-12-31查找：之后印发的2份文件不在其内，0份未写明日期的仍在其内" in then.notes


def test_the_commands_take_the_day(folder):
    """`search`, `ask`, `chat` and `docs`; as text and as JSON."""
    shown = run(folder, "search", QUESTION, "--as-of", "2022", code=0).stdout
    assert f"云岭省公共机构节能补贴管理办法【{REPEALED}】" in shown
    assert shown.startswith("1. 云岭省公共机构节能奖励管理规定\n")
    told = json.loads(run(folder, "search", QUESTION, "--as-of", "2022", "--json", code=0).stdout)[
        "results"
    ]
    assert {hit["status"]["day"] for hit in told} == {"2022-12-31"}
    later = "as of 2020-12-31: 2 documents that were issued later are left out"
    assert later in run(folder, "search", QUESTION, "--as-of", "2020", code=0).stderr

    done = run(folder, "ask", QUESTION, code=0)
    assert f"[1] 云岭省公共机构节能补贴管理办法【{REPEALED}】" in done.stdout
    answer = json.loads(run(folder, "ask", QUESTION, "--as-of", "2020年", "--json", code=0).stdout)
    assert {c["status"]["kind"] for c in answer["citations"]} == {"in_force"}
    talked = run(folder, "chat", "--as-of", "2020", typed=f"{QUESTION}\n", code=0)
    assert "五万元" in talked.stdout
    assert "已废止" not in talked.stdout
    english = run(folder, "search", "How much was paid in 2015?", code=0).stdout
    assert " [repealed from 2021-07-01 by 《云岭省公共机构节能奖励管理规定》]" in english


def test_only_what_is_in_force_is_searched_where_that_is_asked(folder):
    """As of the question's day, and as of today for tables; drafts and what is repealed are out."""

    def found(*words, question=QUESTION):
        done = run(folder, "search", question, "--in-force", "--json", *words, code=0)
        return set(files_of(json.loads(done.stdout)["results"]))

    assert found() == {NEW}
    assert found("--as-of", "2020") == {OLD}
    assert found(question="截至2020年底有效的公共机构节能改造补贴办法") == {OLD}
    asked = run(folder, "ask", QUESTION, "--in-force", "--issuer", "云岭省人民政府", code=0)
    assert "八万元" in asked.stdout
    assert "五万元" not in asked.stdout
    none = run(folder, "search", QUESTION, "--in-force", "--document", DRAFT, code=1)
    assert "document draft.txt: 1; in force: 1" in none.stderr
    later = run(folder, "search", QUESTION, "--document", NEW, "--as-of", "2020", code=1)
    assert "all documents were issued after 2020-12-31; give a later date" in later.stderr
    times = json.loads(run(folder, "timeline", "--in-force", "--json", code=0).stdout)["rows"]
    assert {Path(s["file"]).name for row in times for s in row["sources"]} == {NEW}


def files_of(rows):
    """Return the files that rows of JSON name, each once."""
    return dict.fromkeys(Path(row["file"]).name for row in rows)


def test_documents_are_listed_with_their_status(folder, base):
    """As of today, or of a day."""
    listed = json.loads(run(folder, "documents", "--json", code=0).stdout)["rows"]
    assert any(REPEALED in row["standing"] for row in listed)
    assert "征求意见稿，不是正式文件" in [row["standing"] for row in listed]
    done = run(folder, "documents", "--as-of", "2020", "--json", code=0)
    rows = json.loads(done.stdout)["rows"]
    kinds = {Path(row["file"]).name: row["status"] for row in rows}
    assert kinds == {OLD: "in_force", NEW: "not_yet", DRAFT: "not_yet"}
    assert {s.kind for s in base.statuses("2020").values()} == {"in_force", "not_yet"}


def test_a_bad_day_is_a_usage_error(folder):
    for command in (["search", QUESTION], ["ask", QUESTION], ["chat"], ["documents"]):
        done = run(folder, *command, "--as-of", "2022-13", code=2, typed="")
        assert "a date is given as 2022, 2022-03, 2022-03-05 or 2022年3月" in done.stderr


def test_a_model_is_told_what_is_not_in_force(base):
    """Behind the title of the passage, in the language of the question."""
    from kgrag.answering.pack import pack, passages_block
    from kgrag.answering.search_context import ResultsWithDocuments
    from kgrag.llm.tokens import estimate_tokens

    knowledge = base._knowledge.at(QUESTION, None)
    query = knowledge.query(QUESTION)
    held = ResultsWithDocuments.of(base.search(QUESTION), knowledge.store)
    context = pack(query, held.results, documents=held.documents, headings=held.headings,
                   facts=[], budget_tokens=2000, count=estimate_tokens)  # fmt: skip
    shown = passages_block(knowledge.with_marks(context, "zh"))
    assert f"《云岭省公共机构节能补贴管理办法》【{REPEALED}】" in shown
    assert (
        "《云岭省公共机构节能奖励管理规定》 >" in shown
        or "《云岭省公共机构节能奖励管理规定》\n" in shown
    )


WANTED, OTHER = "sichuan.txt", "jilin.txt"
TWO = {
    WANTED: "四川省绿色工厂实施方案\n川府发〔2021〕3号\n一、目标\n到2025年创建绿色工厂500家。\n",
    OTHER: "吉林省绿色工厂管理办法\n吉政发〔2023〕8号\n一、目标\n今后创建绿色工厂300家。\n",
}
AIM = "今后创建绿色工厂多少家？"  # which the other document answers better

FILTERS = [
    (["--document", WANTED], Filter(documents=(WANTED,))),
    (["--region", "四川"], Filter(regions=("四川",))),
    (["--kind", "实施方案"], Filter(kinds=("实施方案",))),
    (["--year", "2020-2022"], Filter(years=(2020, 2022))),
]


# Two documents that differ in place, kind and year.
two = shared_folder(TWO)


@pytest.fixture(scope="module")
def both(two):
    with KnowledgeBase.open(two / "kb", create=False) as opened:
        yield opened


def names(files):
    return [Path(file).name for file in files]


def test_without_a_filter_the_other_document_answers(both):
    """So that what follows says something."""
    assert names(c.file for c in both.ask(AIM).citations)[0] == OTHER
    assert [both.find_document(r.chunk.doc_id).title for r in both.search(AIM)] == [
        "吉林省绿色工厂管理办法",
        "四川省绿色工厂实施方案",
    ]


@pytest.mark.parametrize("within", [within for _, within in FILTERS])
def test_search_and_ask_keep_to_a_filter(both, within):
    assert {r.chunk.doc_id for r in both.search(AIM, within=within)} == {
        both.find_document(WANTED).doc_id
    }
    answer = both.ask(AIM, within=within)
    assert names(c.file for c in answer.citations) == [WANTED]
    assert "500家" in answer.text


def test_ask_says_what_a_filter_leaves_out(both):
    """A document that does not say when it was issued may have held the answer."""
    assert not [n for n in both.ask(AIM, within=FILTERS[3][1]).notes if "left out" in n]
    with pytest.raises(NotFoundError, match="no document is of 1999"):
        both.ask(AIM, within=Filter(years=(1999, 1999)))


@pytest.mark.parametrize("options", [options for options, _ in FILTERS])
def test_commands_keep_to_their_filter(two, options):
    """`search`, `ask` and `chat`."""
    assert names(
        r["file"]
        for r in json.loads(run(two, "search", AIM, "--json", *options, code=0).stdout)["results"]
    ) == [WANTED]
    answer = json.loads(run(two, "ask", AIM, "--json", *options, code=0).stdout)
    assert names(c["file"] for c in answer["citations"]) == [WANTED]
    reply = run(two, "chat", *options, typed=f"{AIM}\n", code=0).stdout
    assert "500家" in reply
    assert "300家" not in reply


ORGAN = "云岭省人民政府"
TITLE = "云岭省公共机构节能管理办法"


def card(doc_id, title=TITLE, **told):
    told.setdefault("issuers", (ORGAN,))
    return Document(doc_id, title, "", f"{doc_id}.txt", "txt", doc_id, metadata=Metadata(**told))


def cites(doc_id, role, title, *, number="", match="exact", issuer=ORGAN):
    subject = Entity("e-1", "本办法")
    object_ = Entity(document_node_id(title, issuer), title, "document")
    triple = Triple(fact_id("e-1", role, object_.entity_id), subject, role, object_)
    told = Qualifiers("reference", role=role, number=number, match=match)
    return Statement(doc_id, 0, 5, triple, told, "rules", f"{doc_id}:256:0", 0.98)


def kind(cards, day, doc_id="a", statements=()):
    return InForce(cards, statements).status(doc_id, day).kind


@pytest.mark.parametrize(
    ("told", "day", "expected"),
    [
        ({}, "2022-01-01", "unknown"),
        ({"written": "2021-05-06"}, "2021-05-05", "not_yet"),
        ({"written": "2021-05-06"}, "2021-05-06", "in_force"),
        ({"written": "2021-05"}, "2021-05-01", "in_force"),
        ({"written": "2021-05-06", "effective": "2021-07-01"}, "2021-06-30", "not_yet"),
        ({"written": "2021-05-06", "effective": "2021-07-01"}, "2021-07-01", "in_force"),
        ({"written": "2021-05-06", "expires": "2023-05-05"}, "2023-05-05", "in_force"),
        ({"written": "2021-05-06", "expires": "2023-05-05"}, "2023-05-06", "expired"),
        ({"written": "2021", "expires": "2023"}, "2023-12-31", "in_force"),
        ({"written": "2021", "expires": "2023"}, "2024-01-01", "expired"),
        ({"written": "2021-05-06", "status": ("废止",)}, "2022-01-01", "repealed"),
        ({"written": "2021-05-06", "status": ("失效",)}, "2022-01-01", "expired"),
        ({"written": "2021-05-06", "status": ("征求意见稿",)}, "2022-01-01", "draft"),
        ({"written": "2021-05-06", "status": ("试行",)}, "2022-01-01", "in_force"),
        # The text of 2018 of a law that was in force from 2009 on.
        ({"written": "2018-10-26", "effective": "2009-01-01"}, "2010-01-01", "in_force"),
        # In force from before its day of issue: nobody could know it then.
        ({"written": "2022-03-15", "effective": "2022-01-01"}, "2022-02-01", "not_yet"),
    ],
)
def test_the_dates_of_a_document_tell_its_status(told, day, expected):
    assert kind([card("a", **told)], day) == expected


@pytest.mark.parametrize(
    ("title", "told", "day", "expected"),
    [
        ("云岭省“十三五”节能规划", {"written": "2016-05-06"}, "2020-12-31", "in_force"),
        ("云岭省“十三五”节能规划", {"written": "2016-05-06"}, "2021-01-01", "over"),
        ("云岭省绿色出行三年行动计划（2018—2020年）", {}, "2022-06-30", "over"),
        ("云岭省绿色出行行动计划", {"written": "2016"}, "2022-06-30", "in_force"),
        # What it says itself goes before, and what others do to it.
        ("云岭省节能行动计划（2018—2020年）", {"expires": "2023-12-31"}, "2022-06-30", "unknown"),
        ("云岭省“十三五”节能规划", {"status": ("废止",)}, "2022-06-30", "repealed"),
        ("云岭省“十三五”节能规划", {"status": ("征求意见稿",)}, "2022-06-30", "draft"),
    ],
)
def test_a_plan_whose_years_are_over_is_marked(title, told, day, expected):
    """By its title; the last year is what it is told with."""
    found = InForce([card("a", title, **told)], []).status("a", day)
    assert found.kind == expected
    assert (found.since == "2020") == (expected == "over")
    assert found.counts == (expected in ("in_force", "unknown"))


def test_a_document_that_is_not_held_is_unknown():
    assert kind([], "2022-01-01") == "unknown"


def test_a_repealed_document_says_by_what_and_from_when():
    """From the day on which the other is in force, not before."""
    old = card("a", "云岭省节能补贴规定", written="2015-03-01")
    new = card("b", written="2021-05-06", effective="2021-07-01")
    register = InForce([old, new], [cites("b", "废止", old.title)])

    assert register.status("a", "2021-06-30").kind == "in_force"
    found = register.status("a", "2021-07-01")
    assert (found.kind, found.since, found.doc_id, found.title) == (
        "repealed", "2021-07-01", "b", TITLE,
    )  # fmt: skip
    assert register.status("b", "2021-07-01").kind == "in_force"


def test_an_amended_document_stays_in_force():
    old = card("a", written="2015-03-01")
    new = card("b", f"关于修改《{TITLE}》的决定", written="2021-05-06")
    found = InForce([old, new], [cites("b", "修订", TITLE)]).status("a", "2022-01-01")
    assert (found.kind, found.since, found.counts) == ("amended", "2021-05-06", True)


@pytest.mark.parametrize(
    "statement",
    [
        cites("b", "依据", TITLE),
        cites("b", "废止", TITLE, match="fuzzy 0.92"),
        cites("b", "废止", TITLE, number="云政发〔2011〕1号"),
        cites("b", "废止", TITLE, issuer="青川市人民政府"),
        cites("x", "废止", TITLE),
    ],
    ids=["another role", "like it", "another number", "another organ", "not held"],
)
def test_what_is_not_sure_repeals_nothing(statement):
    old = card("a", written="2015-03-01", number="云政发〔2015〕3号")
    new = card("b", "云岭省节能条例", written="2021-05-06")
    assert kind([old, new], "2022-01-01", statements=[statement]) == "in_force"


def test_a_draft_repeals_nothing():
    old = card("a", written="2015-03-01")
    new = card("b", "云岭省节能条例", written="2021-05-06", status=("草案",))
    assert kind([old, new], "2022-01-01", statements=[cites("b", "废止", TITLE)]) == "in_force"


def test_of_editions_that_share_a_name_the_earlier_one_is_repealed():
    """A new edition says that the old one, of the same title, ends; not that itself does."""
    old = card("a", written="2015-03-01", number="云政发〔2015〕3号")
    new = card("b", written="2021-05-06", number="云政发〔2021〕8号")
    register = InForce([old, new], [cites("b", "废止", TITLE, number="云政发〔2015〕3号")])
    kinds = [register.status(d, "2022-01-01").kind for d in "ab"]
    assert kinds == ["repealed", "in_force"]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        (TITLE, TITLE),
        (f"{TITLE}（2015年版）", f"{TITLE}（2021年版）"),
        (f"{TITLE}（试行）", TITLE),
        ("云岭省公共机构节能管理暂行办法", TITLE),
        (f"{ORGAN}关于印发《{TITLE}》的通知", f"{TITLE}（修订版）"),
    ],
)
def test_a_later_edition_supersedes(earlier, later):
    """Of the same title and issuer; before its day the earlier one counts."""
    cards = [card("a", earlier, written="2015-03-01"), card("b", later, written="2021-05-06")]
    register = InForce(cards, ())
    found = register.status("a", "2022-01-01")
    assert (found.kind, found.since, found.doc_id) == ("superseded", "2021-05-06", "b")
    assert register.status("a", "2020-01-01").kind == "in_force"
    assert register.status("b", "2022-01-01").kind == "in_force"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({}, {"issuers": ("青川市人民政府",)}),
        ({"issuers": ()}, {"issuers": ()}),
        ({}, {"written": "2015-03-20"}),  # the day on which a page shows it
        ({"number": "云政发〔2015〕3号"}, {"number": "云政发〔2015〕3号"}),
        ({"inferred": ("written",), "effective": "2015-04-01"}, {}),
        ({}, {"status": ("征求意见稿",)}),
        ({"title": "云岭省节能工作要点"}, {"title": "云岭省节能工作要点"}),
        ({"title": "云岭省“十三五”节能规划"}, {"title": "云岭省“十四五”节能规划"}),
        ({"title": "2020年云岭省节能计划"}, {"title": "2021年云岭省节能计划"}),
        ({"title": "节能办法"}, {"title": "节能办法"}),
    ],
    ids=["another organ", "no organ", "one date", "one number", "a guess", "a draft", "each year",
         "another period", "another year", "too short"],
)  # fmt: skip
def test_what_is_not_surely_a_later_edition_is_none(earlier, later):
    cards = [
        card("a", **({"written": "2015-03-01"} | earlier)),
        card("b", **({"written": "2021-05-06"} | later)),
    ]
    told = kind(cards, "2022-01-01")
    assert told == ("over" if "十三五" in cards[0].title else "in_force")


def test_a_title_that_many_documents_bear_has_no_editions():
    """It is that of a form."""
    forms = [
        card(f"d-{n}", "云岭省节能监察处罚决定书", written=f"20{n:02}-03-01") for n in range(13)
    ]
    assert kind(forms, "2022-01-01", "d-0") == "in_force"
    assert kind(forms[:12], "2022-01-01", "d-0") == "superseded"


def test_a_draft_names_what_was_issued_in_its_place():
    draft = card("a", f"{TITLE}（征求意见稿）", written="2021-04-20", status=("征求意见稿",))
    final = card("b", written="2021-05-06")
    register = InForce([draft, final], ())
    found = register.status("a", "2022-01-01")
    assert (found.kind, found.word, found.doc_id) == ("draft", "征求意见稿", "b")
    assert register.status("a", "2021-05-01").doc_id == ""


def test_a_resolution_about_a_draft_is_none():
    about = card(
        "a", "关于《云岭省节能规划（草案）》的决议", written="2021-04-20", status=("草案",)
    )
    assert kind([about], "2022-01-01") == "in_force"


def test_only_what_was_surely_issued_later_is_said_to_be():
    """Neither by a year that the text suggests, nor by the day of a page alone."""
    cards = [
        card("late", written="2022-03-05"),
        card("early", written="2021-03-05", effective="2022-07-01"),
        card("cites 2023", written="2023", inferred=("written",)),
        card("page of 2023", issued="2023-01-01", inferred=("issued",)),
        card("law", written="2022-10-26", effective="2009-01-01"),
        card("silent"),
    ]
    register = InForce(cards, ())
    assert register.issued_after("2021-12-31") == {"late"}
    assert register.undated() == {"cites 2023", "page of 2023", "silent"}
    late, early = (register.status(d, "2021-12-31") for d in ("late", "early"))
    assert (late.kind, late.since, late.word) == ("not_yet", "2022-03-05", "印发")
    assert (early.kind, early.since, early.word) == ("not_yet", "2022-07-01", "")
    suggested = register.status("cites 2023", "2021-12-31")
    assert (suggested.kind, suggested.word) == ("not_yet", "推测")
    assert suggested.told() == "2021-12-31可能尚未印发，从内容推测为2023"
    assert register.status("cites 2023", "2023-01-01").kind == "unknown"


def test_a_title_that_is_not_held_is_known_by_what_repeals_it():
    """From the day of that; nothing is said of a title that nobody ends."""
    new = card("b", written="2021-05-06", effective="2021-07-01")
    register = InForce([new], [cites("b", "废止", "云岭省节能补贴规定", match="")])
    found = register.status_of_title("《云岭省节能补贴规定》", "2021-07-01")
    assert found is not None
    assert (found.kind, found.since, found.doc_id) == ("repealed", "2021-07-01", "b")
    assert register.status_of_title("云岭省节能补贴规定", "2021-06-30") is None
    assert register.status_of_title("云岭省节能规划", "2022-01-01") is None
    assert register.status_of_title(TITLE, "2022-01-01") is None


def test_documents_that_are_taken_in_tell_their_status(tmp_path):
    """From text to status: a repeal by number, a period of validity, a draft."""
    texts = {
        "old.txt": "云岭省节能补贴管理办法\n云政发〔2015〕3号\n第一条 为节能，制定本办法。\n"
        "云岭省人民政府\n2015年3月1日\n",
        "new.txt": "云岭省节能奖励管理规定\n云政发〔2021〕8号\n第一条 为节能，制定本规定。\n"
        "第二条 本规定自2021年7月1日起施行，有效期三年。《云岭省节能补贴管理办法》"
        "（云政发〔2015〕3号）同时废止。\n云岭省人民政府\n2021年5月6日\n",
        "draft.txt": "云岭省节能条例（征求意见稿）\n第一条 为节能，制定本条例。\n"
        "云岭省人民政府\n2022年5月6日\n",
    }  # fmt: skip
    with knowledge_base(tmp_path, texts) as kb:
        register = InForce.read(kb.store)
        ids = {c.file.rpartition("/")[2]: c.doc_id for c in kb.documents()}

    def kinds(day):
        return [register.status(ids[name], day).kind for name in texts]

    assert kinds("2021-06-30") == ["in_force", "not_yet", "not_yet"]
    assert kinds("2022-12-31") == ["repealed", "in_force", "draft"]
    assert kinds("2024-07-01") == ["repealed", "expired", "draft"]
    assert register.status(ids["old.txt"], "2022-12-31").doc_id == ids["new.txt"]


ON = "2023-06-30"


def test_only_what_nothing_speaks_against_counts():
    """An amended document is in force; an unknown one is not held against."""
    counting = [kind for kind in get_args(StatusKind) if Status(kind, ON).counts]
    assert counting == ["in_force", "amended", "unknown"]
