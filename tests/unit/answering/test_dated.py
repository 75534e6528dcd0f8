"""What a day makes of results and answers."""

from dataclasses import replace
from datetime import date

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Missing, Quote
from kgrag.answer.citation import Citation
from kgrag.answering.dated import (
    AsOf,
    as_of_asked,
    in_force_first,
    what_a_day_leaves_out,
    with_status,
)
from kgrag.errors import NotFoundError
from kgrag.metadata import Metadata
from kgrag.results import ScoredChunk
from kgrag.status import Status
from kgrag.tables.in_force import InForce
from kgrag.types import Chunk, Document

DAY = AsOf("2022-12-31", preferred=True)
CARDS = [
    Document("d-ended", "旧办法", "", "a", "txt", "a",
             metadata=Metadata(written="2019", expires="2021")),
    Document("d-held", "新办法", "", "b", "txt", "b", metadata=Metadata(written="2022-01-01")),
    Document("d-late", "后办法", "", "c", "txt", "c", metadata=Metadata(written="2024-01-01")),
    Document("d-silent", "无日期", "", "d", "txt", "d"),
]  # fmt: skip
IN_FORCE = InForce.of(CARDS, ())


def hit(doc_id, score):
    return ScoredChunk(Chunk(f"{doc_id}:8:0", doc_id, 8, 0, 0, 1, "文"), score, ("words",))


FOUND = [hit("d-ended", 5.0), hit("d-late", 4.0), hit("d-held", 3.0), hit("d-silent", 2.0)]


def ranked(as_of, *, titled=(), top_k=4):
    asked = []

    def retrieve(n):
        asked.append(n)
        return FOUND[:n]

    found = in_force_first(retrieve, as_of, IN_FORCE, titled=titled, top_k=top_k)
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

    english = with_status(replace(answer, question="How much?"), DAY, IN_FORCE)
    assert english.notes[1:] == ("《旧办法》, which is cited: expired, in force until 2021",)


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
    assert what_a_day_leaves_out(DAY, IN_FORCE, "zh") == ""
    held = replace(DAY, held=True)
    assert what_a_day_leaves_out(held, IN_FORCE, "zh") == (
        "按2022-12-31查找：之后印发的1份文件不在其内，1份未写明日期的仍在其内"
    )
    assert "1 documents that were issued later are left out" in what_a_day_leaves_out(
        held, IN_FORCE, "en"
    )


def test_a_day_before_all_documents_leaves_nothing_to_search(kb):
    """In words, with a remedy."""
    knowledge = kb._knowledge
    assert knowledge.at("", "1950").doc_ids is None  # documents here do not say when
    cards = [replace(card, metadata=Metadata(written="2020")) for card in CARDS]
    dated = replace(
        knowledge,
        in_force=lambda: InForce.of(cards, ()),
        doc_ids=frozenset(card.doc_id for card in cards),
    )
    with pytest.raises(NotFoundError, match="issued after 2019-12-31; give a later date"):
        dated.at("", "2019")
    assert dated.at("", "2020").doc_ids == dated.doc_ids
