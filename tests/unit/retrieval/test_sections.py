"""The route over headings: which section of a quoted document is asked for."""

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.retrieval.sections import chunks_of_asked_sections

TEXT = """云岭省节水规划
一、总体要求
（一）指导思想
以节水优先为方针，推动用水方式转变。
（二）主要目标
到2025年，用水总量控制在100亿立方米以内。
二、重点任务
（一）农业节水
建设高效节水灌区，目标明确、责任到人。
三、保障措施
加强组织领导，落实资金。
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A plan with sections, and another one that is not asked for."""
    folder = tmp_path_factory.mktemp("sections")
    (folder / "a.txt").write_text(TEXT, "utf-8")
    (folder / "b.txt").write_text(TEXT.replace("云岭", "南渡"), "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(folder / "kb", config=config) as made:
        made.ingest([folder / "a.txt", folder / "b.txt"])
        yield made


def found(base, question):
    """Return the titles of the documents of hits, the sections they are of, and their scores."""
    knowledge = base._current.knowledge()
    search = knowledge.search(knowledge.query(question))
    ranking = chunks_of_asked_sections(search)
    chunks = base.store.chunks([chunk_id for chunk_id, _ in ranking.hits])
    titles = {d.doc_id: d.title for d in base.documents()}
    scores = dict(ranking.hits)
    return {(titles[c.doc_id], ranking.reasons[c.chunk_id], scores[c.chunk_id]) for c in chunks}


@pytest.mark.parametrize(
    ("question", "heading", "score"),
    [
        ("《云岭省节水规划》的主要目标是什么？", "（二）主要目标", 1.0),
        ("《云岭省节水规划》定了哪些目标？", "（二）主要目标", 0.7),
        ("《云岭省节水规划》有哪些保障措施？", "三、保障措施", 1.0),
        ("《云岭省节水规划》怎样做农业节水？", "（一）农业节水", 1.0),
    ],
)
def test_a_question_asks_for_what_stands_under_a_heading(base, question, heading, score):
    """Of the document that it quotes alone; a word within another section is no heading."""
    assert found(base, question) == {("云岭省节水规划", f"section {heading}", score)}


def test_the_aim_of_an_indicator_is_no_section(base):
    """It may stand anywhere; the section by its whole name is still asked for."""
    knowledge = base._current.knowledge()
    question = "《云岭省节水规划》的用水总量目标"
    assert knowledge.search(knowledge.query(question)).indicators == ("用水总量",)
    assert knowledge.search(knowledge.query("《云岭省节水规划》的目标")).indicators == ()
    assert found(base, question) == set()
    by_name = found(base, "《云岭省节水规划》的主要目标里用水总量是多少")
    assert {score for _, _, score in by_name} == {1.0}


@pytest.mark.parametrize("question", ["主要目标是什么？", "《云岭省节水规划》由谁印发？", ""])
def test_without_a_quoted_title_or_the_name_of_a_section_nothing_is_found(base, question):
    """The other routes find what there is."""
    assert found(base, question) == set()


def test_a_word_in_which_many_headings_end_names_none(tmp_path):
    """Seven sections end in 节水: none of them is the one that is asked for."""
    kinds = ("农业", "工业", "城镇", "生态", "校园", "机关", "社区")
    lines = [
        f"{n}、{kind}节水\n推进{kind}各项工作。"
        for n, kind in zip("一二三四五六七", kinds, strict=True)
    ]
    (tmp_path / "a.txt").write_text("云岭省用水办法\n" + "\n".join(lines) + "\n", "utf-8")
    with KnowledgeBase.open(
        tmp_path / "kb", config=Config(embedding=EmbeddingConfig(model="hash"))
    ) as made:
        made.ingest([tmp_path / "a.txt"])
        assert found(made, "《云岭省用水办法》怎样节水？") == set()
        assert len(found(made, "《云岭省用水办法》怎样推进社区节水？")) == 1


def test_the_section_comes_first_among_results(base):
    """Break the line that joins the route to `grim`, and this fails."""
    question = "《云岭省节水规划》有哪些保障措施？"
    best = base.search(question, top_k=1, system="grim-no-merge")[0]
    assert any(reason == "section 三、保障措施" for reason in best.via)
    without = base.search(question, top_k=1, system="grim-no-sections")[0]
    assert not any(reason.startswith("section") for reason in without.via)
