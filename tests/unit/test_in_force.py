"""What is in force at a date: periods, later editions, repeals, drafts."""

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ids import document_node_id, fact_id
from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.store.graph import Statement, Triple
from kgrag.tables.in_force import InForce
from kgrag.types import Document, Entity

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
    return InForce.of(cards, statements).status(doc_id, day).kind


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
    found = InForce.of([card("a", title, **told)], []).status("a", day)
    assert found.kind == expected
    assert (found.since == "2020") == (expected == "over")
    assert found.counts == (expected in ("in_force", "unknown"))


def test_a_document_that_is_not_held_is_unknown():
    assert kind([], "2022-01-01") == "unknown"


def test_a_repealed_document_says_by_what_and_from_when():
    """From the day on which the other is in force, not before."""
    old = card("a", "云岭省节能补贴规定", written="2015-03-01")
    new = card("b", written="2021-05-06", effective="2021-07-01")
    register = InForce.of([old, new], [cites("b", "废止", old.title)])

    assert register.status("a", "2021-06-30").kind == "in_force"
    found = register.status("a", "2021-07-01")
    assert (found.kind, found.since, found.doc_id, found.title) == (
        "repealed", "2021-07-01", "b", TITLE,
    )  # fmt: skip
    assert register.status("b", "2021-07-01").kind == "in_force"


def test_an_amended_document_stays_in_force():
    old = card("a", written="2015-03-01")
    new = card("b", f"关于修改《{TITLE}》的决定", written="2021-05-06")
    found = InForce.of([old, new], [cites("b", "修订", TITLE)]).status("a", "2022-01-01")
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
    register = InForce.of([old, new], [cites("b", "废止", TITLE, number="云政发〔2015〕3号")])
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
    register = InForce.of(cards, ())
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
    register = InForce.of([draft, final], ())
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
    register = InForce.of(cards, ())
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
    register = InForce.of([new], [cites("b", "废止", "云岭省节能补贴规定", match="")])
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
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder()) as kb:
        assert not kb.ingest([tmp_path / name for name in texts]).failed
        register = InForce.read(kb.store)
        ids = {c.file.rpartition("/")[2]: c.doc_id for c in kb.documents()}

    def kinds(day):
        return [register.status(ids[name], day).kind for name in texts]

    assert kinds("2021-06-30") == ["in_force", "not_yet", "not_yet"]
    assert kinds("2022-12-31") == ["repealed", "in_force", "draft"]
    assert kinds("2024-07-01") == ["repealed", "expired", "draft"]
    assert register.status(ids["old.txt"], "2022-12-31").doc_id == ids["new.txt"]
