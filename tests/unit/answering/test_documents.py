"""Which documents an answer rests on: copies, dates, what is in force."""

import json
import subprocess
import sys
from dataclasses import replace
from datetime import date

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Claim, Missing, Quote, Row, Run
from kgrag.answer.citation import Citation
from kgrag.answering.dated import (
    AsOf,
    as_of_asked,
    in_force_first,
    what_a_day_leaves_out,
    with_status,
    years_first,
)
from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import NotFoundError
from kgrag.metadata import Metadata
from kgrag.question.question import analyse
from kgrag.results import ScoredChunk
from kgrag.retrieval.filter import Filter
from kgrag.statements.in_force import InForce
from kgrag.statements.table import worded
from kgrag.status import Status
from kgrag.types import Chunk, Document
from tests.fixtures.kit import knowledge_base, run, shared_base, shared_folder

THINGS = ("钢铁", "建材", "石化", "轻工", "纺织", "医药", "食品", "电子")
MEASURES = [
    f"（{number}）{thing}行业。对{thing}企业开展节能诊断，推广先进适用的{thing}节能技术和装备，"
    f"建设{thing}行业能源管理中心，提高{thing}企业余热余压和再生资源的利用水平，"
    f"每年组织{thing}企业交流经验，支持{thing}企业参加国内外展览。"
    for number, thing in zip("一二三四五六七八", THINGS, strict=True)
]
BODY = [
    "云岭省绿色工厂建设实施方案",
    "一、总体目标",
    "到2025年，云岭省创建绿色工厂500家，绿色园区建设取得明显成效。",
    "二、重点任务",
    *MEASURES,
    "三、责任分工",
    "绿色工厂的评价工作由省工业和信息化厅牵头，省财政厅配合落实补助资金，各市按职责做好推荐工作，"
    "评价结果每年向社会公布，接受监督，连续两年不合格的退出名单，三年内不得再次申报。",
    "四、保障措施",
    "各地要把绿色工厂建设纳入年度工作计划，定期报送进展情况，加强宣传引导，总结推广典型经验做法，"
    "对工作推进不力的予以通报，对成效明显的给予表扬，并在项目安排上予以优先支持。",
]
COVER = ["关于转发绿色工厂文件的函", "各有关单位：现将文件转发给你们，请结合实际认真贯彻落实。"]
CITY = [line.replace("云岭省", "青川市").replace("省", "市").replace("500", "50") for line in BODY]
FILES = {
    "e.txt": "\n".join(BODY),
    "b.txt": "\n".join(BODY),
    "f.txt": "\r\n".join(BODY),
    "x.txt": "\n\n".join(["", *BODY]),
    "letter.txt": "\n".join([*COVER, *BODY]),
    "city.txt": "\n".join(CITY),
}
SAME = ("b.txt", "e.txt", "f.txt", "x.txt")
ASKED = "绿色工厂的评价工作由谁牵头"


# A text under five names, and a city's, which is another one.
folder, kb = shared_folder(FILES), shared_base(FILES)


def names(files):
    return {file.rpartition("/")[2] for file in files}


@pytest.mark.parametrize("system", ["grim", "hybrid", "bm25", "vector"])
@pytest.mark.parametrize("top_k", [3, 10])
def test_a_place_is_found_once_and_names_all_files_that_hold_it(kb, system, top_k):
    """By every system; the letter holds it, too, the city's plan says something else."""
    hits = kb.search(ASKED, system=system, top_k=top_k)
    same = [hit for hit in hits if not hit.file.endswith("city.txt")]
    texts = ["".join(hit.chunk.text.split()) for hit in same]
    assert len(set(texts)) == len(texts) > 0
    for hit in same:
        # a letter of another name is compared where both are found
        alone = {"letter.txt"} if len(hits) == 3 else set()
        assert names([hit.file, *hit.also_in]) in (alone, {*SAME}, {*SAME, "letter.txt"})
        assert list(hit.also_in) == hit.to_dict()["also_in"]
    assert all(hit.also_in == () for hit in hits if hit not in same)


def test_of_one_file_the_others_are_neither_searched_nor_named(kb):
    """What a filter leaves out is not told."""
    from kgrag.retrieval.filter import Filter

    hits = kb.search(ASKED, within=Filter(documents=("f.txt",)))
    assert hits
    assert {names([hit.file, *hit.also_in]) == {"f.txt"} for hit in hits} == {True}


@pytest.mark.parametrize(
    "question", [ASKED, "云岭省2025年绿色工厂目标是多少家", "云岭省绿色工厂怎样保障"]
)
def test_an_answer_cites_a_place_once_and_names_the_others(folder, question):
    """Rows of tables as quotes; as JSON and as text."""
    words = ("ask", question, "--writer", "quotes")
    told = json.loads(run(folder, *words, "--json").stdout)
    quotes = ["".join(c["quote"].split()) for c in told["citations"]]
    assert quotes
    assert len(set(quotes)) == len(quotes)
    same = [c for c in told["citations"] if not c["file"].endswith("city.txt")]
    assert same
    for cited in same:
        assert names([cited["file"], *cited["also_in"]]) >= {*SAME, "letter.txt"}
    shown = run(folder, *words).stdout
    assert shown.count("同一文字另见：") == sum(bool(c["also_in"]) for c in told["citations"])


QUESTION = "创建绿色工厂多少家？"
CHANGE = """
import sys
from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder

with KnowledgeBase.open(sys.argv[1], create=False, embedder=HashEmbedder(32)) as base:
    assert base.reembed().changed
"""


@pytest.fixture
def place(tmp_path):
    """A knowledge base of two documents with vectors of 64."""
    numbers = {"甲方案": 500, "乙方案": 300}
    texts = {n: f"{n}\n一、目标\n到2025年，创建绿色工厂{numbers[n]}家。\n" for n in numbers}
    with knowledge_base(tmp_path, texts, embedder=HashEmbedder(64)):
        return tmp_path / "kb"


def found(base, system="vector"):
    return [(r.chunk.chunk_id, r.score) for r in base.search(QUESTION, system=system)]


def test_an_open_knowledge_base_sees_the_encoder_that_another_process_chose(place):
    """The next question is encoded by it, and finds what one opened afterwards finds."""
    with KnowledgeBase.open(place, create=False) as base:
        answer = base.ask(QUESTION)
        assert base.embedder.name == "hash-64"
        subprocess.run([sys.executable, "-c", CHANGE, str(place)], check=True)

        after, answer_after = found(base), base.ask(QUESTION)
        assert base.embedder.name == "hash-32"
        with KnowledgeBase.open(place, create=False) as later:
            assert after == found(later)
            assert answer_after.text == later.ask(QUESTION).text
    assert answer_after.found is answer.found is True


def test_an_open_knowledge_base_sees_documents_come_and_go(place, tmp_path):
    """Through another connection; words, vectors and cards."""
    with KnowledgeBase.open(place, create=False) as base, KnowledgeBase.open(place) as other:
        assert len(found(base)) == len(found(base, "bm25")) == 2
        other.delete("乙方案")
        assert len(found(base)) == len(found(base, "bm25")) == len(base.documents()) == 1
        with pytest.raises(NotFoundError):
            base.search(QUESTION, within=Filter(documents=("乙方案",)))
        other.ingest([tmp_path / "乙方案.txt"])
        assert len(found(base)) == len(found(base, "bm25")) == len(base.documents()) == 2
        assert len(base.search(QUESTION, within=Filter(documents=("乙方案",)))) == 1


def test_the_encoder_is_kept_while_the_knowledge_base_stays(place):
    """It is loaded once."""
    with KnowledgeBase.open(place, create=False) as base:
        assert base.embedder is base.embedder


DAY = AsOf("2022-12-31", preferred=True)
CARDS = [
    Document("d-ended", "旧办法", "", "a", "txt", "a",
             metadata=Metadata(written="2019", expires="2021")),
    Document("d-held", "新办法", "", "b", "txt", "b", metadata=Metadata(written="2022-01-01")),
    Document("d-late", "后办法", "", "c", "txt", "c", metadata=Metadata(written="2024-01-01")),
    Document("d-silent", "无日期", "", "d", "txt", "d"),
]  # fmt: skip
IN_FORCE = InForce(CARDS, ())


def hit(doc_id, score):
    return ScoredChunk(Chunk(f"{doc_id}:8:0", doc_id, 8, 0, 0, 1, "文"), score, ("words",))


FOUND = [hit("d-ended", 5.0), hit("d-late", 4.0), hit("d-held", 3.0), hit("d-silent", 2.0)]


def ranked(as_of, question="节能补贴多少？", *, titled=(), top_k=4):
    asked = []

    def retrieve(n):
        asked.append(n)
        return FOUND[:n]

    query = analyse(question)
    found = in_force_first(retrieve, query, as_of, IN_FORCE, titled=titled, top_k=top_k)
    return [(h.chunk.doc_id, h.score) for h in found], asked, found


def test_without_a_day_nothing_moves():
    """Marks cost no result its place."""
    found, asked, _ = ranked(AsOf("2022-12-31"), top_k=3)
    assert found == [("d-ended", 5.0), ("d-late", 4.0), ("d-held", 3.0)]
    assert asked == [3]


def test_what_was_not_in_force_comes_last_and_says_why():
    """Scores never rise along a ranking; what is not dated is not held against."""
    found, _, hits = ranked(DAY)
    assert found == [("d-held", 3.0), ("d-silent", 2.0), ("d-ended", 2.0), ("d-late", 2.0)]
    assert hits[2].via == ("words", "behind what is in force: expired, in force until 2021")
    assert hits[0].via == ("words",)


def test_what_is_in_force_is_sought_among_twice_as_many():
    found, asked, _ = ranked(DAY, top_k=2)
    assert (found, asked) == ([("d-held", 3.0), ("d-silent", 2.0)], [4])


def test_a_document_whose_title_is_quoted_keeps_its_place():
    found, _, _ = ranked(DAY, titled=["d-ended"])
    assert found[:2] == [("d-ended", 5.0), ("d-held", 3.0)]


EDITIONS = [
    Document(f"e-{n}", title, "", n, "txt", n, metadata=Metadata(written=day, status=status))
    for n, title, day, status in (
        ("draft", "云岭市绿色补贴申报管理办法（征求意见稿）", "2022-03-01", ("征求意见稿",)),
        ("final", "云岭市绿色补贴申报管理办法", "2022-02-01", ()),
        ("2021", "云岭市2021年绿色补贴项目申报通知", "2021-05-01", ()),
        ("2022", "关于云岭市2022年度绿色补贴项目申报的通知", "2022-05-01", ()),
        ("2023", "云岭市2023年绿色补贴项目申报通知", "2022-12-30", ()),
        ("other", "南渡市2024年绿色补贴项目申报通知", "2024-05-01", ()),
    )
]


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("绿色补贴怎么申报", ["final", "2023", "other", "draft", "2021", "2022"]),
        ("2022年绿色补贴什么时候截止", ["final", "2022", "other", "draft", "2021", "2023"]),
        ("2021年和2023年绿色补贴各多少", ["final", "2021", "2023", "other", "draft", "2022"]),
        (
            "《云岭市绿色补贴申报管理办法（征求意见稿）》怎么规定",
            ["draft", "final", "2023", "other", "2021", "2022"],
        ),
    ],
)
def test_of_editions_that_asked_for_leads_else_the_newest_in_force(question, order):
    """Of one place and name; what is behind says what it is behind of."""
    hits = [hit(f"e-{n}", 1.0) for n in ("draft", "final", "2021", "2022", "2023", "other")]
    found = in_force_first(
        lambda n: hits[:n], analyse(question), AsOf("2024-12-31"), InForce(EDITIONS, ()),
        titled=(), top_k=6,
    )  # fmt: skip
    assert [h.chunk.doc_id.removeprefix("e-") for h in found] == order
    assert [h.via for h in found if len(h.via) > 1][-1][-1].startswith("behind another edition: ")


def of_years(question, *cards, quote="项目申报截止时间为10月8日。", as_of=None, block=Quote):
    """Return the answer to a question that quotes documents."""
    cited = [
        Citation(n, c.doc_id, c.title, "a.txt", (), None, 0, len(quote), quote, "c")
        for n, c in enumerate(cards, 1)
    ]
    given = Answer(question, tuple(map(block, cited)), "m")
    day = as_of or AsOf("2024-12-31")
    return years_first(given, analyse(question), day, lambda _: cards)


CALL = Document(
    "call", "云岭市2022年补贴申报通知", "", "c", "txt", "c", metadata=Metadata(written="2021-12-06")
)
RULE = Document(
    "rule",
    "云岭市补贴办法",
    "",
    "r",
    "txt",
    "r",
    metadata=Metadata(written="2020-03-01", expires="2024-03-01"),
)
PLAN = Document("plan", "云岭市“十四五”节能规划", "", "p", "txt", "p",
                metadata=Metadata(written="2022-01-01"))  # fmt: skip


@pytest.mark.parametrize(
    ("question", "cards", "first"),
    [
        ("2023年补贴什么时候截止", [CALL], "引文中没有2023年的；以下是2022年的。"),
        ("2021年补贴什么时候截止", [CALL], "引文中没有2021年的；以下是2022年的。"),
        ("2021年的补贴申报通知什么时候截止", [CALL], ""),  # issued then
        ("2022年补贴什么时候截止", [CALL], ""),
        ("2021和2025年补贴多少", [CALL, RULE], "引文中没有2025年的；以下是2020年、2022年的。"),
        ("2022年补贴多少", [RULE], ""),  # in force then
        ("2019年补贴多少", [RULE], "引文中没有2019年的；以下是2020年的。"),
        ("到2025年能耗降多少", [PLAN], ""),
        ("2023年能耗降多少", [PLAN], ""),
        ("十三五期间能耗降多少", [PLAN], "引文中没有2016—2020年的；以下是2021—2025年的。"),
        ("能耗降多少", [PLAN], ""),
        ("2023年以来补贴多少", [CALL], ""),  # a bound
        (
            "When is the deadline for subsidies in 2023?",
            [CALL],
            "Nothing quoted is of 2023; what follows is of 2022.",
        ),
    ],
)
@pytest.mark.parametrize("block", [Quote, Row])
def test_years_that_nothing_cited_is_of_are_said_first(question, cards, first, block):
    """In quotes, rows, and what a model wrote."""
    answer = of_years(question, *cards, block=block)
    told = [b.text("zh", str) for b in answer.blocks if isinstance(b, Claim)]
    assert told == [first] * bool(first)
    assert isinstance(answer.blocks[-1], block)
    assert answer.text.startswith(first)


@pytest.mark.parametrize(
    ("quote", "borne"),
    [
        ("2023年截止时间为10月8日。", True),
        ("根据《补贴办法》（云政发〔2023〕8号）申报。", False),
        ("按照“十四五”规划申报。", False),
    ],
)
def test_a_quote_is_of_the_years_that_it_tells(quote, borne):
    """Not of those of other documents."""
    assert (len(of_years("2023年补贴怎么申报", CALL, quote=quote).blocks) == 1) is borne


def test_a_quote_is_of_the_year_that_is_told_last_before_it():
    text = "元旦：2021年12月31日至2022年1月3日放假。国庆：10月1日至7日放假。"
    at = text.index("国庆")
    spans = {"国庆": (at, len(text)), "元旦": (0, at)}
    told = replace(CALL, text=text)

    def absent(question, *days):
        cited = (
            Citation(1, "call", CALL.title, "a.txt", (), None, a, b, text[a:b], "c")
            for a, b in (spans[day] for day in days)
        )
        given = Answer(question, tuple(map(Quote, cited)), "m")
        first, *_ = years_first(
            given, analyse(question), AsOf("2024-12-31"), lambda _: [told]
        ).blocks
        return isinstance(first, Claim)

    asked = [f"{year}年国庆放几天" for year in (2021, 2022, 2023)]
    assert [absent(question, "国庆") for question in asked] == [True, False, True]


@pytest.mark.parametrize("told", [Metadata(), Metadata(written="2021", inferred=("written",))])
def test_of_a_document_without_a_date_no_year_is_said(told):
    """What is only inferred is no date."""
    card = Document("x", "云岭市补贴办法", "", "x", "txt", "x", metadata=told)
    assert len(of_years("2022年补贴多少", card).blocks) == 1


def test_what_a_model_wrote_follows_the_years_in_its_own_paragraph():
    cited = Citation(1, "call", CALL.title, "a.txt", (), None, 0, 3, "十月。", "c")
    given = Answer("2023年补贴何时截止", (Claim((Run("十月", (cited,)),)),), "m")
    told = years_first(given, analyse(given.question), AsOf("2024-12-31"), lambda _: [CALL])
    assert told.text == "引文中没有2023年的；以下是2022年的。\n\n十月[1]"


def test_the_day_that_a_question_is_asked_for_is_no_year_of_the_answer():
    question = "截至2023年6月仍有效的补贴申报通知"
    day = AsOf("2023-06-30", preferred=True)
    assert len(of_years(question, CALL, as_of=day).blocks) == 1


def test_an_answer_of_nothing_tells_no_years():
    """Nor do sides that say so themselves."""
    nothing = Answer("2023年补贴多少", (Missing(),), "m")
    assert (
        years_first(nothing, analyse(nothing.question), AsOf("2024-12-31"), lambda _: []) == nothing
    )


def test_a_day_of_an_option_wins_over_that_of_the_question():
    """And holds the search to what was there."""
    question = "截至2020年有效的节能办法"
    assert as_of_asked(question, None) == AsOf("2020-12-31", preferred=True)
    assert as_of_asked(question, "2021-03") == AsOf("2021-03-31", preferred=True, held=True)
    assert as_of_asked("", date(2021, 3, 5)) == AsOf("2021-03-05", preferred=True, held=True)
    assert as_of_asked("节能办法", None) == AsOf(date.today().isoformat())
    with pytest.raises(ValueError, match="a date is given as"):
        as_of_asked(question, "去年")


def cited(number, doc_id, title):
    return Citation(number, doc_id, title, "a.txt", (), None, 0, 1, "文", f"{doc_id}:8:0")


def test_an_answer_says_which_of_its_documents_are_not_in_force():
    """Each document once, in the language of the question."""
    citations = (cited(1, "d-ended", "旧办法"), cited(2, "d-held", "新办法"))
    answer = Answer("节能补贴多少？", tuple(map(Quote, citations)), "m", notes=("先",))
    told = with_status(answer, DAY, IN_FORCE)
    assert [c.status.kind for c in told.citations if c.status] == ["expired", "in_force"]
    assert told.notes == ("先", "所引《旧办法》：已失效，有效期至2021")
    assert worded(told.notes[1:], "en") == [
        "《旧办法》, which is cited: expired, in force until 2021"
    ]


def test_an_answer_says_what_became_of_a_document_that_is_not_held(monkeypatch):
    """Where the question quotes its title."""
    repealed = Status("repealed", DAY.day, "2022-07-01", "", "d-held", "新办法")
    known = {"甲规定": repealed}
    monkeypatch.setattr(IN_FORCE, "status_of_title", lambda title, day: known.get(title))
    answer = Answer("《甲规定》和《乙规定》还有效吗？", (Missing(),), "m")
    assert with_status(answer, DAY, IN_FORCE).notes == (
        "《甲规定》不在库中：已废止，自2022-07-01起，由《新办法》废止",
    )


def test_a_day_says_what_it_leaves_out():
    """Only where an option gives it: a question's day leaves nothing out."""
    assert what_a_day_leaves_out(DAY, IN_FORCE) == ""
    held = replace(DAY, held=True)
    assert what_a_day_leaves_out(held, IN_FORCE) == (
        "按2022-12-31查找：之后印发的1份文件不在其内，1份未写明日期的仍在其内"
    )


def test_a_day_before_all_documents_leaves_nothing_to_search(kb):
    knowledge = kb._knowledge
    assert knowledge.at("", "1950").doc_ids is None  # documents here do not say when
    cards = [replace(card, metadata=Metadata(written="2020")) for card in CARDS]
    dated = replace(
        knowledge,
        in_force=lambda: InForce(cards, ()),
        doc_ids=frozenset(card.doc_id for card in cards),
    )
    with pytest.raises(NotFoundError, match="issued after 2019-12-31; give a later date"):
        dated.at("", "2019")
    assert dated.at("", "2020").doc_ids == dated.doc_ids
