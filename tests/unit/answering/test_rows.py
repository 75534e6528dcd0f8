import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Quote
from kgrag.answer.citation import Citation
from kgrag.answering.rows import Complete, without_rows
from kgrag.metadata import Metadata
from kgrag.question.query import analyse
from kgrag.types import Document

UNREAD = "未读出2025年森林蓄积量目标"


@pytest.mark.parametrize(
    ("title", "quote", "is_found"),
    [
        ("丙市节能规划", "森林覆盖率达到41%。", False),
        ("丙市节能规划", "加强森林蓄积量监测。", False),  # names it, and says no figure
        ("节能规划", "森林蓄积量达到2亿立方米。", False),  # of nobody knows where
        ("丙市节能规划", "森林蓄积量达到2亿立方米。", True),
        ("节能规划", "丙市森林蓄积达到2亿立方米。", True),
    ],
)
def test_quotes_answer_for_a_figure_only_where_they_state_it(title, quote, is_found):
    """No row was read of it; nobody says that none was where a sentence is shown that has it."""
    regions = ("丙市",) if title.startswith("丙") else ()
    document = Document("d", title, quote, "d.txt", "txt", "00", metadata=Metadata(regions=regions))
    cited = Citation.of(document=document, headings=(), span=(0, len(quote)), chunk_id="d:256:0")
    told = ("读出森林蓄积量目标的有7份",)
    found = Complete((), told, "targets", ("丙市",), "森林蓄积量", UNREAD)
    query = analyse("丙市森林蓄积量目标是多少？")
    quoted = Answer(query.text, (Quote(cited),), "extractive")
    answer = without_rows(quoted, found, query, {"d": document})
    assert answer.found == bool(answer.citations) == is_found
    assert answer.notes == (told if is_found else (*told, f"{UNREAD}：丙市"))


@pytest.mark.parametrize(
    ("quote", "notes"),
    [
        ("到2025年，森林蓄积量达到2亿立方米。", ()),
        ("森林蓄积量达到2亿立方米。", (UNREAD,)),  # of no year
        ("到2025年，加强森林保护。", (UNREAD,)),
    ],
)
def test_nothing_is_said_to_be_unread_above_a_quote_of_it(quote, notes):
    """Where all documents are asked, and no place is named."""
    document = Document("d", "节能规划", quote, "d.txt", "txt", "00")
    cited = Citation.of(document=document, headings=(), span=(0, len(quote)), chunk_id="d:256:0")
    found = Complete((), (), "targets", (), "森林蓄积量", UNREAD, ("2025", "十四五"))
    query = analyse("哪些文件提出了2025年森林蓄积量目标？")
    quoted = Answer(query.text, (Quote(cited),), "extractive")
    assert without_rows(quoted, found, query, {"d": document}).notes == notes
