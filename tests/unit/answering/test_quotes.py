"""Answers that quote sentences, and whether they answer the question."""

from itertools import pairwise

import numpy as np
import pytest

from kgrag.answer.sentences import Sentence
from kgrag.answering.quotes import (
    Scored,
    StatedTargets,
    is_answered,
    is_title_meant,
    names_what_is_counted,
    quoted,
)
from kgrag.embedding.catalog import find_entry
from kgrag.embedding.choose import encoder_note
from kgrag.embedding.hashing import HashEmbedder
from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.question.query import analyse
from kgrag.question.question import question_of
from kgrag.results import Reason, ScoredChunk
from kgrag.text.answer_text import NOT_FOUND
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Heading, Segment
from tests.fixtures.kit import shared_base

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
    )


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
    assert not empty.found


def test_answer_when_no_sentence_may_be_quoted_is_refused():
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
    )


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
    ).text


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
    )
    assert [c.quote for c in found.citations] == ["12.森林覆盖率（%）56.4 57.0 约束性"]


def test_what_stands_in_the_section_that_is_asked_for_comes_first():
    """A sentence elsewhere has the words of the question, the section has the answer."""
    question = "《云岭省节水规划》的主要目标"
    assert (
        ask_plan(question, via=()) == "各地把主要目标的完成情况纳入对班子和干部的综合考核评价。[1]"
    )
    assert (
        ask_plan(question, via=(Reason("section", what="二、主要目标"),))
        == "主要是控制用水总量，以此为目标。[1]"
    )


def test_the_official_term_of_an_everyday_wording_counts(monkeypatch):
    """旧件翻新 is 再制造: the sentence that says so is quoted; without the thesaurus another."""
    question = "云岭省旧件翻新由各市公布吗"
    lines = ("云岭省的再制造由各市认定，每年公布。", "云岭省的公园由各市管理，每年公布。")
    asked = [ask(question, text="\n".join(lines), max_sentences=1)]
    monkeypatch.setattr("kgrag.answering.quotes.wordings", lambda asked: [asked])
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


SOLAR = (
    "云岭省节能规划\n"
    "一、主要目标\n"
    "到2025年，全省建成光伏项目100个以上，节能20万吨标准煤。\n"
    "二、保障措施\n"
    "省财政厅牵头落实节能专项资金，遴选38家绿色工厂。"
)


@pytest.mark.parametrize(
    ("question", "is_found"),
    [
        ("云岭省到2025年建成光伏项目多少个？", True),
        ("云岭省到2025年光伏项目要装多少万千瓦？", False),
        ("云岭省到2025年节能多少吨标准煤？", True),
        ("云岭省的光伏项目一个补贴多少钱？", False),
        ("《青川市节能规划》到2025年建成光伏项目多少个？", False),
        ("《云岭省节能规划》到2025年建成光伏项目多少个？", True),
        ("云岭省遴选的38家绿色工厂是哪些？", False),
    ],
)
def test_a_question_is_answered_only_with_what_it_asks_for(question, is_found):
    """The unit, the document and the names that are asked for must be there."""
    found = ask(question, text=SOLAR)
    assert found.found == is_found
    assert bool(found.citations) == is_found
    assert (found.text == NOT_FOUND["zh"]) == (not is_found)


def test_a_note_tells_what_was_found_instead():
    """The nearest sentence with its document, and the document that is not there."""
    nearest = ask("云岭省到2025年光伏项目要装多少万千瓦？", text=SOLAR).notes[-1]
    assert nearest.startswith("最相近的是《云岭省节能规划》：“到2025年，全省建成光伏项目100个以上")
    missing, *_ = ask("《青川市节能规划》到2025年建成光伏项目多少个？", text=SOLAR).notes
    assert missing == "找到的文件中没有题为《青川市节能规划》的"


@pytest.mark.parametrize(
    ("quoted", "title", "is_meant"),
    [
        ("节能规划", "云岭省节能规划", True),
        ("云岭省节能减排综合方案", "云岭省“十四五”节能减排综合工作方案", True),
        ("江西省碳达峰实施方案", "青海省碳达峰实施方案", False),
        ("循环经济促进法", "云岭省节能规划", False),
    ],
)
def test_a_quoted_title_is_that_of_another_place_or_subject_or_not(quoted, title, is_meant):
    """A title may be shortened; a place in it says whose document is meant."""
    assert is_title_meant(quoted, title) == is_meant


@pytest.mark.parametrize(
    ("question", "quotes", "listed", "is_named"),
    [
        ("遴选的38家企业有哪些", ["遴选38家企业。"], 0, False),
        ("遴选的38家企业有哪些", ["甲公司、乙公司、丙公司、丁公司等。"], 0, True),
        ("那三个阶段是什么", ["第一阶段是甲。", "第二阶段是乙。", "第三阶段是丙。"], 0, True),
        ("那五个项目是哪些", ["开展五个项目："], 6, True),
        ("有哪些企业入选", ["遴选一批企业。"], 0, True),
        ("遴选的38家企业有哪些", [], 0, True),
    ],
)
def test_things_that_are_counted_are_named_or_not(question, quotes, listed, is_named):
    """Their number alone is no list of them."""
    assert names_what_is_counted(question, quotes, listed=listed) == is_named


class Alike(HashEmbedder):
    """Finds every sentence as like a question as it is told, measured as bge-small-zh."""

    is_stand_in = False
    thresholds = find_entry("bge-small-zh").card.thresholds

    def __init__(self, cosine):
        super().__init__()
        self._cosine = cosine

    def embed(self, texts, task):
        """Return vectors of two dimensions."""
        one = (1.0, 0.0) if task == "query" else (self._cosine, (1 - self._cosine**2) ** 0.5)
        return np.array([one] * len(texts))


@pytest.mark.parametrize(
    ("question", "score", "cosine", "answers"),
    [
        ("云岭省的红烧肉怎么做", 0.65, 0.45, False),  # only the place is of the documents
        ("云岭省怎么推进节能", 0.65, 0.6, True),
        ("云岭省怎么推进节能", 0.9, 0.45, True),
        ("云岭省的红烧肉怎么做", 0.5, 0.9, False),
        ("云岭省建成多少个光伏项目", 0.75, 0.5, False),  # of something else, it seems
        ("云岭省建成多少个光伏项目", 0.75, 0.7, True),
        ("云岭省建成多少个光伏项目", 0.85, 0.5, True),
        ("云岭省建成多少吨光伏", 0.95, 0.9, False),
    ],
)
def test_a_sentence_answers_by_its_score_or_by_its_likeness(question, score, cosine, answers):
    """The place in a title raises the score of all its sentences."""
    text = "到2025年，全省建成光伏项目100个以上。"
    chunk = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, len(text), text), 10.0)
    scored = [Scored(Sentence("d", 0, len(text), text, chunk, 0), score)]
    query = analyse(question, known_places=["云岭"])
    assert is_answered(scored, query, Alike(cosine)) == answers


@pytest.mark.parametrize("name", ["bge-small-zh-15b717c382bc-8d14", "office"])
@pytest.mark.parametrize("limits", [Alike.thresholds, None])
def test_what_is_refused_depends_on_what_was_measured_and_on_no_name(name, limits):
    """Cosines of an encoder of which nothing is known refuse nothing."""
    text = "到2025年，全省建成光伏项目100个以上。"
    chunk = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, len(text), text), 10.0)
    scored = [Scored(Sentence("d", 0, len(text), text, chunk, 0), 0.5)]
    embedder = Alike(0.1)
    embedder.name, embedder.thresholds = name, limits
    for question in ("红烧肉怎么做", "云岭省的红烧肉怎么做", "全省建成多少个光伏项目"):
        query = analyse(question, known_places=["云岭"])
        assert is_answered(scored, query, embedder, lambda: ["红烧肉"]) == (limits is None)
    told = encoder_note(embedder)
    assert (told is None) == (limits is not None)
    assert told is None or (name in told and told.kind == "unmeasured")


class Words(Alike):
    """Sentences are like a question as far as it has one of the words."""

    def __init__(self, *words):
        super().__init__(0.0)
        self.words = words

    def embed(self, texts, task):
        """Return vectors of one dimension."""
        told = [
            [1.0 if task == "passage" else float(any(w in t for w in self.words))] for t in texts
        ]
        return np.array(told, dtype=np.float32)


@pytest.mark.parametrize(
    ("question", "absent", "score", "answers"),
    [
        ("火星基地有哪些要求", ["火星"], 0.75, False),
        ("元火星基地有哪些要求", ["火星"], 0.75, False),
        ("火星基地有哪些要求", [], 0.75, True),
        ("火星基地有哪些要求", ["火星"], 0.85, True),  # a sentence that is sure
        ("村里火星有哪些要求", ["火星"], 0.75, True),  # not what it is about
        ("节电火星有哪些要求", ["节电"], 0.75, True),  # another word for what is there
        ("有哪些要求", [], 0.6, False),
    ],
)
def test_a_question_on_what_no_document_names_is_not_answered(question, absent, score, answers):
    """If it begins with the word, and sentences are like it without the word, too."""
    text = "各基地应当节能。"
    chunk = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, len(text), text), 10.0)
    scored = [Scored(Sentence("d", 0, len(text), text, chunk, 0), score)]
    embedder = Words("节电")
    assert is_answered(scored, analyse(question), embedder, lambda: absent) == answers


@pytest.mark.parametrize(("score", "answers"), [(0.75, False), (0.85, True)])
def test_a_question_whose_rarest_words_stand_apart_is_not_answered(score, answers):
    """Unless a sentence is sure."""
    text = "各基地应当节能。"
    chunk = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, len(text), text), 10.0)
    scored = [Scored(Sentence("d", 0, len(text), text, chunk, 0), score)]
    query, apart = analyse("基地节能有哪些要求"), ("基地", "补贴")
    assert is_answered(scored, query, Words("节能"), apart=lambda: apart) is answers
    assert is_answered(scored, query, Words("节能"), apart=lambda: ())


# Return a knowledge base in which each word stands in two documents.
energies = shared_base(
    {
        "one": "甲市能源规划\n一、科技\n支持核聚变研究。光伏项目给予补贴。\n",
        "two": "乙市能源规划\n一、科技\n开展核聚变攻关。\n二、补贴\n光伏项目每瓦0.1元。\n",
        "three": "丙市能源规划\n一、科技\n风电项目另有补贴。\n二、研究\n开展汽车尾气检测。\n",
    }
)


@pytest.mark.parametrize(
    ("question", "apart"),
    [
        ("核聚变有哪些补贴", ("核聚变", "补贴")),
        ("补贴核聚变吗", ("补贴", "核聚变")),
        ("光伏有哪些补贴", ()),  # in a sentence, and under a heading
        ("核聚变有哪些研究", ()),
        ("南京市核聚变有哪些补贴", ()),  # of a place
        ("各市核聚变有哪些补贴", ()),
        ("核聚变有前途，有哪些补贴", ()),  # of two clauses
        ("火星核聚变有哪些补贴", ()),  # a word that no document has
        ("《甲市能源规划》对核聚变有哪些补贴", ()),
    ],
)
def test_the_rarest_words_of_a_question_stand_apart(energies, question, apart):
    """If no sentence, with its headings, has both."""
    knowledge = energies._knowledge
    assert knowledge.apart(knowledge.query(question)) == apart


CHUNK = ScoredChunk(Chunk("d:256:0", "d", 256, 0, 0, 100, "文" * 100), 1.0)


def asked_by(question):
    return question_of(analyse(question))


def sentence(start, end):
    return Sentence("d", start, end, "文" * (end - start), CHUNK, 0)


def stating(start, end, **told):
    place = Evidence("d", start, end, "d:256:0", qualifiers=Qualifiers("target", **told))
    return Fact("f", Entity("a", "绿色工厂"), "目标为", Entity("b", "500家"), (place,))


REACHED = stating(0, 10, value="300", year="2020", standing="achieved")
DUE_2025 = stating(10, 20, value="500", year="2025", standing="planned")
DUE_2030 = stating(20, 30, value="800", year="2030", standing="planned")
TARGETS = StatedTargets([REACHED, DUE_2025, DUE_2030])


@pytest.mark.parametrize(
    ("question", "standing", "years"),
    [
        ("到2030年绿色工厂的目标是多少", "planned", {"2030"}),
        ("绿色工厂已建成多少家", "achieved", set()),
        ("绿色工厂要建多少家", "planned", set()),
        ("绿色工厂有多少家", "", set()),
        ("十三五做到多少，十四五要到多少", "", set()),
        ("2030年的目标比2020年底多出多少", "", {"2030"}),
        ("2021年4月的计划里，目标是多少", "planned", set()),
        ("2022年工作要点要完成多少", "planned", set()),
        ("What is the target for 2025?", "planned", {"2025"}),
    ],
)
def test_a_question_asks_for_a_kind_and_years(question, standing, years):
    """The year of a document, and what a figure is compared with, are not asked for."""
    asked = asked_by(question)
    assert (asked.standing, set(map(str, asked.years))) == (standing, years)


def test_a_past_result_is_no_target():
    """十三五期间建成 answers what was reached, not what is planned."""
    planned, achieved = map(asked_by, ("目标是多少", "已建成多少"))
    assert TARGETS.fit(sentence(0, 10), planned) < 0 == TARGETS.fit(sentence(10, 20), planned)
    assert TARGETS.fit(sentence(10, 20), achieved) < 0 == TARGETS.fit(sentence(0, 10), achieved)


def test_a_figure_of_another_year_gives_way():
    """The sentence that has both, and one of which nothing is known, do not."""
    asked = asked_by("2030年多少")
    assert TARGETS.fit(sentence(10, 20), asked) < 0
    assert TARGETS.fit(sentence(20, 30), asked) == 0
    assert TARGETS.fit(sentence(10, 30), asked) == 0
    assert TARGETS.fit(sentence(50, 60), asked) == 0
