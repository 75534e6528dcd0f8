from itertools import pairwise

import pytest

from kgrag.answering.extract import quoted
from kgrag.embedding.hashing import HashEmbedder
from kgrag.metadata import Metadata
from kgrag.question.query import analyse
from kgrag.results import ScoredChunk
from kgrag.text.answer_text import NOT_FOUND
from kgrag.types import Chunk, Document, Heading, Segment

TEXT = (
    "云岭省节能规划\n"
    "一、主要目标\n"
    "到2025年，全省创建绿色工厂500家以上。\n"
    "二、保障措施\n"
    "省财政厅牵头落实节能专项资金，每年安排3000万元。"
)
HEADINGS = [Heading(8, 14, 1, "一、主要目标"), Heading(36, 42, 1, "二、保障措施")]


def ask(question, *, text=TEXT, regions=("云岭省",), max_sentences=5):
    segments = (Segment(0, 20, "page", 1), Segment(20, len(text), "page", 2))
    document = Document(
        "d",
        "云岭省节能规划",
        text,
        "d.pdf",
        "pdf",
        "00",
        segments,
        metadata=Metadata(regions=regions),
    )
    chunk = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, len(text), text), 10.0)
    return quoted(
        analyse(question, known_places=["云岭", "青川"]),
        [chunk],
        documents={"d": document},
        headings={"d": HEADINGS},
        embedder=HashEmbedder(),
        max_sentences=max_sentences,
    ).answer


def test_answer_cites_section_page_and_span_of_a_verbatim_quote():
    """Everything that a reader needs to find the sentence."""
    found = ask("到2025年，云岭省创建多少家绿色工厂？", max_sentences=1)
    assert found.found
    assert found.text == "到2025年，全省创建绿色工厂500家以上。[1]"
    (citation,) = found.citations
    assert TEXT[citation.start : citation.end] == citation.quote
    assert citation.heading_path == ("一、主要目标",)
    assert citation.page == 1 + (citation.start >= 20)
    assert (citation.title, citation.file, citation.chunk_id) == (
        "云岭省节能规划",
        "d.pdf",
        "d:256:0",
    )


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("红烧肉怎么做好吃？", NOT_FOUND["zh"]),
        ("How do I bake bread?", NOT_FOUND["en"]),
        ("云岭省创建绿色工厂的负责人不能超过多少岁？", NOT_FOUND["zh"]),
        ("青川市创建多少家绿色工厂？", NOT_FOUND["zh"]),
    ],
)
def test_answer_when_nothing_supports_one_says_so(question, expected):
    """Another subject, another kind of thing or another place is no answer."""
    found = ask(question)
    assert not found.found
    assert found.text == expected
    assert found.citations == ()


def test_answer_never_quotes_the_title_as_an_answer():
    """The title shares all words with a question that quotes it, and says nothing."""
    found = ask("《云岭省节能规划》提出的主要目标是什么？")
    assert all("节能规划" not in c.quote for c in found.citations)


def test_answer_without_results_is_not_found():
    """Nothing retrieved, nothing said."""
    empty = quoted(analyse("目标"), [], documents={}, headings={}, embedder=HashEmbedder())
    assert not empty.answer.found
    assert empty.score == 0.0


def test_answer_when_no_sentence_may_be_quoted_is_refused():
    """At least one sentence is needed."""
    with pytest.raises(ValueError, match="max_sentences"):
        ask("目标", max_sentences=0)


def two_documents(question):
    """Ask two documents: 甲方案 cites 《节能法》, 乙办法 cites 《甲方案》."""
    texts = {
        "甲方案": "甲方案\n根据《节能法》等有关规定，制定本方案。\n稳步推进各项节能工作。",
        "乙办法": "乙办法\n为落实《甲方案》有关要求，制定本办法。\n加强监督管理工作。",
    }
    documents = {t: Document(t, t, text, f"{t}.txt", "txt", "00") for t, text in texts.items()}
    results = [
        ScoredChunk(Chunk(f"{t}:256:0", t, 256, 0, 0, len(text), text), 10.0)
        for t, text in texts.items()
    ]
    return quoted(
        analyse(question),
        results,
        documents=documents,
        headings={},
        embedder=HashEmbedder(),
        max_sentences=1,
    ).answer


@pytest.mark.parametrize(
    ("question", "doc_id", "quote"),
    [
        ("《甲方案》引用或依据了哪些文件？", "甲方案", "《节能法》"),
        ("哪些文件落实了《甲方案》？", "乙办法", "《甲方案》"),
    ],
)
def test_answer_follows_the_direction_of_a_citation(question, doc_id, quote):
    """What 甲 cites stands in 甲; who cites 甲 stands elsewhere."""
    (citation,) = two_documents(question).citations
    assert citation.doc_id == doc_id
    assert quote in citation.quote


PLAN = (
    "云岭省节水规划\n一、云岭省水资源现状与主要目标的差距\n二、主要目标\n主要是控制用水总量，以此为目标。\n"
    "三、落实水资源管理的保障措施\n各地把主要目标的完成情况纳入对班子和干部的综合考核评价。"
)


def ask_plan(question, *, via):
    """Ask a plan in three chunks, of which the one of section 二 came for the reason given."""
    starts = [PLAN.index(mark) for mark in ("一、", "二、", "三、")] + [len(PLAN)]
    spans = list(pairwise(starts))
    headings = [Heading(s, PLAN.index("\n", s), 1, PLAN[s : PLAN.index("\n", s)]) for s, _ in spans]
    results = [
        ScoredChunk(Chunk(f"d:256:{i}", "d", 256, i, s, e, PLAN[s:e]), 10.0, via if i == 1 else ())
        for i, (s, e) in enumerate(spans)
    ]
    document = Document("d", "云岭省节水规划", PLAN, "d.txt", "txt", "00")
    return quoted(
        analyse(question),
        results,
        documents={"d": document},
        headings={"d": headings},
        embedder=HashEmbedder(),
        max_sentences=1,
    ).answer.text


def test_a_heading_is_no_answer_but_to_a_question_for_a_list():
    """However many words of the question it has: what stands under it says something."""
    assert ask_plan("《云岭省节水规划》与主要目标的差距", via=()).startswith("各地把主要目标")
    listed = ask_plan("《云岭省节水规划》列出了水资源管理的什么", via=())
    assert "三、落实水资源管理的保障措施" in listed


def test_a_numbered_line_with_a_figure_is_an_answer():
    """As rows of tables are that lost their cells, and were taken for headings."""
    text = "云岭省生态规划\n12.森林覆盖率（%）56.4 57.0 约束性\n13.森林覆盖率的监测与考核\n"
    starts = [text.index("12."), text.index("13.")]
    headings = [Heading(s, text.index("\n", s), 1, text[s : text.index("\n", s)]) for s in starts]
    document = Document("d", "云岭省生态规划", text, "d.txt", "txt", "00")
    chunk = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, len(text), text), 10.0)
    found = quoted(
        analyse("《云岭省生态规划》的森林覆盖率"),
        [chunk],
        documents={"d": document},
        headings={"d": headings},
        embedder=HashEmbedder(),
    ).answer
    assert [c.quote for c in found.citations] == ["12.森林覆盖率（%）56.4 57.0 约束性"]


def test_what_stands_in_the_section_that_is_asked_for_comes_first():
    """A sentence elsewhere has the words of the question, the section has the answer."""
    question = "《云岭省节水规划》的主要目标"
    assert (
        ask_plan(question, via=()) == "各地把主要目标的完成情况纳入对班子和干部的综合考核评价。[1]"
    )
    assert (
        ask_plan(question, via=("section 二、主要目标",)) == "主要是控制用水总量，以此为目标。[1]"
    )


def test_the_official_term_of_an_everyday_wording_counts(monkeypatch):
    """旧件翻新 is 再制造: the sentence that says so is quoted; without the thesaurus another."""
    question = "云岭省旧件翻新由各市公布吗"
    lines = ("云岭省的再制造由各市认定，每年公布。", "云岭省的公园由各市管理，每年公布。")
    asked = [ask(question, text="\n".join(lines), max_sentences=1)]
    monkeypatch.setattr("kgrag.answering.extract.wordings", lambda asked: [asked])
    asked.append(ask(question, text="\n".join(lines), max_sentences=1))
    assert [found.citations[0].quote for found in asked] == list(lines)


@pytest.mark.parametrize(
    ("line", "asking"),
    [
        ("云岭省２０２２年１月７日", "云岭省2022年1月哪天"),
        ("云岭省绿色工厂发〔2022〕1号", "云岭省绿色工厂发的文号"),
        ("联系人：云岭省绿色工厂办公室", "云岭省绿色工厂的联系人"),
    ],
)
def test_the_imprint_of_a_document_is_no_answer_unless_it_is_asked_for(line, asking):
    """Dates of signing, numbers and contacts share words with the question, and say nothing."""
    stated = "到2025年，云岭省建成绿色工厂500家。"
    text = f"云岭省节能规划\n{stated}\n{line}\n"
    answered = ask("云岭省2022年绿色工厂", text=text)
    assert [c.quote for c in answered.citations] == [stated]
    assert line in ask(asking, text=text).text


@pytest.mark.parametrize(
    "line",
    [
        "（此件主动公开）",
        "云岭省绿色工厂局2022年1月7日（此件公开发布）",
        "云岭省绿色工厂管理局文件",
        "抄送：云岭省绿色工厂协会，各市绿色工厂办公室。",
        "云岭省绿色工厂办公室 2022年1月7日印发",
    ],
)
def test_letterhead_is_never_quoted(line):
    """It shares words with the question, whatever is asked."""
    stated = "到2025年，云岭省建成绿色工厂500家。"
    answered = ask("云岭省绿色工厂主动公开的时间", text=f"云岭省节能规划\n{stated}\n{line}\n")
    assert [c.quote for c in answered.citations] in ([stated], [])
