"""Two documents paragraph by paragraph."""

import time

import pytest

from kgrag.metadata import SILENT
from kgrag.statements.beside import alike, beside
from kgrag.types import Document, Heading

OLD = """一、目标
到2025年，森林覆盖率达到40%，能耗下降13%。
加强组织领导，明确任务分工，按时报送进展。
二、保障
省财政厅负责落实资金，统筹使用各类专项。
"""
NEW = """一、主要目标
到2025年，森林覆盖率达到41%，能耗下降13%。
加强组织领导，明确任务分工，按时报送进展。
鼓励社会各方参与，定期公布实施情况报告。
二、保障
省财政厅负责落实资金，统筹使用各类专项。
"""


def document(doc_id, text, title="方案"):
    return Document(doc_id, title, text, f"{doc_id}.txt", "text/plain", "h", metadata=SILENT)


def headings(text):
    found, at = [], 0
    for line in text.splitlines(keepends=True):
        if line[1:2] == "、":
            found.append(Heading(at, at + len(line) - 1, 1, line.strip()))
        at += len(line)
    return found


def compared(old, new):
    a, b = document("a", old), document("b", new)
    return beside(a, b, {"a": headings(old), "b": headings(new)})[:2]


def shown(side):
    return "".join(f"[{text}]" if differs else text for text, differs in side.pieces)


def test_what_differs_is_marked_where_it_stands():
    sections, whole = compared(OLD, NEW)
    assert whole
    assert [(s.old, s.new, s.is_same) for s in sections] == [
        ("一、目标", "一、主要目标", False),
        ("二、保障", "二、保障", True),
    ]
    changed, same, added = sections[0].paragraphs
    assert shown(changed.old) == "到2025年，森林覆盖率达到4[0]%，能耗下降13%。"
    assert shown(changed.new) == "到2025年，森林覆盖率达到4[1]%，能耗下降13%。"
    assert same.is_same
    assert added.old is None
    assert shown(added.new) == "[鼓励社会各方参与，定期公布实施情况报告。]"
    assert NEW[added.new.start : added.new.end] == "鼓励社会各方参与，定期公布实施情况报告。"


def test_all_of_a_clause_is_there_on_each_side():
    """Nothing of a compared clause is lost, and both ways say the same."""
    for one, other in ((OLD, NEW), (NEW, OLD), (OLD, OLD)):
        sections, _ = compared(one, other)
        for text, at in ((one, 0), (other, 1)):
            sides = [p[at] for s in sections for p in s.paragraphs if p[at]]
            lines = [line for line in text.splitlines() if line[1:2] != "、"]
            assert ["".join(t for t, _ in side.pieces) for side in sides] == lines
    assert all(section.is_same for section in compared(OLD, OLD)[0])


@pytest.mark.parametrize("n", [1500])
def test_long_documents_are_compared_in_part_and_in_time(n):
    """What is left out is said."""
    texts = [
        "".join(f"{i}、第{i}项{word}任务\n{word}{i}：{'做好各项工作' * 20}。\n" for i in range(n))
        for word in ("甲", "乙")
    ]
    heads = [[Heading(m, m + 4, 1, t[m : m + 4]) for m in range(0, len(t), 130)] for t in texts]
    a, b = (document(i, t) for i, t in zip("ab", texts, strict=True))
    begun = time.process_time()
    sections, whole, _ = beside(a, b, {"a": heads[0], "b": heads[1]})
    assert not whole
    assert sections
    assert time.process_time() - begun < 30


def test_documents_alike_have_one_title_but_for_the_place():
    cards = [
        document("a", "", "江西省碳达峰实施方案"),
        document("b", "", "上海市碳达峰实施方案"),
        document("c", "", "上海市节能实施方案"),
    ]
    assert [card.doc_id for card in alike(cards[0], cards)] == ["b"]
    assert not alike(cards[2], cards)


def test_pieces_of_a_few_characters_are_counted():
    """They are page numbers; a reader is told that they are left out."""
    short = OLD + "九、附则\n第3页\n"
    a, b = document("a", short), document("b", NEW)
    assert beside(a, b, {"a": headings(short), "b": headings(NEW)})[2] == 1
