"""Documents that a question names without 《》."""

from dataclasses import replace
from pathlib import Path

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.metadata import Metadata
from kgrag.question.query import analyse, titles_in
from kgrag.question.question import question_of
from kgrag.retrieval.named import HeldTitles
from kgrag.types import Document

FILLER = "".join(f"第{n}条 加强管理，{'落实责任。' * 60}\n" for n in "一二三四五六")
TEXTS = {
    "forests": "四川林草碳汇行动方案\n根据《云岭节能促进管理暂行办法》，制定本方案。\n" + FILLER,
    "vehicles": "四川省人民政府关于印发四川省“十四五”新能源汽车产业发展规划的通知\n" + FILLER,
    "seas": "福建省“十四五”海洋生态环境保护规划\n" + FILLER,
    "air": "福建省应对气候变化规划\n" + FILLER,
    "nation": "氢能产业发展中长期规划（2021-2035年）\n国家发展改革委\n全国推进。\n" + FILLER,
    "green": "关于加快推进废旧纺织品循环利用的实施意见\n国家发展改革委\n" + FILLER,
    "sichuan-green": "四川省关于推进废旧纺织品循环利用工作的实施意见\n" + FILLER,
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    folder = tmp_path_factory.mktemp("named")
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(folder / "kb", config=config) as made:
        made.ingest(sorted(folder.glob("*.txt")))
        yield made


def read(base, question):
    return base._current.knowledge().query(question)


def named(base, question):
    """Return {name as worded: files}."""
    files = {d.doc_id: Path(d.file).stem for d in base.documents()}
    return {name: [files[d] for d in ids] for name, ids in read(base, question).named}


@pytest.mark.parametrize(
    ("question", "name", "file"),
    [
        ("四川林草碳汇行动方案有哪些措施", "四川林草碳汇行动方案", "forests"),
        ("按四川的林草碳汇方案，谁牵头", "四川的林草碳汇方案", "forests"),
        ("请问四川新能源汽车规划的目标", "四川新能源汽车规划", "vehicles"),
        ("福建省海洋生态环保规划怎么说", "福建省海洋生态环保规划", "seas"),
        ("福建“十四五”海洋生态环境保护规划怎么说", "福建“十四五”海洋生态环境保护规划", "seas"),
        ("福建气候变化规划怎么说", "福建气候变化规划", "air"),
        ("国家的氢能中长期规划说了什么", "氢能中长期规划", "nation"),
        ("废旧纺织品循环利用的意见由谁出的", "废旧纺织品循环利用的意见", "green"),
        ("四川废旧纺织品循环利用意见", "四川废旧纺织品循环利用意见", "sichuan-green"),
    ],
)
def test_a_document_is_named_in_full_or_in_part(base, question, name, file):
    assert named(base, question) == {name: [file]}
    query = read(base, question)
    assert query.titles == (name,)
    assert name not in query.remainder
    assert f"《{name}》" in query.quoting
    assert query.text == question
    results = base.search(question)
    assert Path(results[0].file).stem == file
    assert any(reason.startswith("title 《") for reason in results[0].via)


@pytest.mark.parametrize(
    "question",
    [
        "河南林草碳汇行动方案有哪些措施",  # of another place
        "福建能源规划怎么说",  # no such title
        "福建生态环境保护规划怎么说",  # 海洋 is what that title is about
        "四川规划里怎么说",  # says too little
        "四川“十三五”新能源汽车产业规划的目标",  # of another time
        "四川森林碳汇和新能源汽车产业的规模",  # names no kind of document
        "《四川林草碳汇行动方案》和福建气候变化规划有什么不同",  # what is quoted is sure
        "",
    ],
)
def test_what_is_not_sure_names_none(base, question):
    assert named(base, question) == {}


def test_two_names_are_two_sides(base):
    """As two quoted titles are."""
    query = read(base, "福建海洋生态环境保护规划和福建应对气候变化规划各有什么要求")
    assert [side.label for side in question_of(query).sides] == list(query.titles)
    files = [Path(r.file).stem for r in base.search(query.text, top_k=4)]
    assert set(files[:2]) == {"seas", "air"}


def test_each_side_of_a_comparison_of_places_names_its_own(base):
    """四川和福建的规划 are two documents, of which the whole question names neither."""
    question = "四川新能源汽车规划和福建气候变化规划分别怎么要求"
    assert read(base, question).named == ()
    results = base.search(question, top_k=6)
    titled = {Path(r.file).stem for r in results if any(v.startswith("title 《") for v in r.via)}
    assert titled == {"vehicles", "air"}


def test_a_document_that_is_only_cited_is_named_by_its_whole_title(base):
    """It is held by none; who cites it is asked as with 《》."""
    question = "哪些文件引用了云岭节能促进管理暂行办法？"
    assert named(base, question) == {"云岭节能促进管理暂行办法": []}
    answer = base.ask(question)
    assert [c.title for c in answer.citations] == ["四川林草碳汇行动方案"]
    assert named(base, "哪些文件引用了节能促进管理暂行办法？") == {}  # a part may be another one's


def test_what_a_named_document_cites_is_asked_without_marks(base):
    answer = base.ask("四川林草碳汇方案的依据是什么？")
    assert "云岭节能促进管理暂行办法" in answer.text
    assert "从《四川林草碳汇行动方案》读出引用的文件1项" in answer.notes[0]


def test_a_search_in_some_documents_names_no_other(base):
    knowledge = base._current.knowledge()
    query = knowledge.query("四川林草碳汇行动方案有哪些措施")
    held = {Path(d.file).stem: d.doc_id for d in base.documents()}
    within = knowledge.search(query)
    assert list(within.titled) == [held["forests"]]
    other = replace(knowledge, doc_ids=frozenset([held["seas"]])).search(query)
    assert other.titled == {}


def test_editions_of_one_title_are_named_together():
    cards = [
        Document(d, "云岭省节水产业发展规划", "", f"{d}.txt", "txt", "0", metadata=Metadata())
        for d in ("a", "b")
    ]
    places = dict.fromkeys("ab", frozenset({"云岭"}))
    found = HeldTitles(cards, places).named("云岭节水产业规划", places={"云岭"}, national=False)
    assert found == {"云岭节水产业规划": ("a", "b")}


def test_names_keep_their_place_in_the_text():
    question = "甲办法和乙办法"
    query = analyse(question, named={"乙办法": ["b"], "丙办法": ["c"], "甲办法": ["a"]})
    assert query.titles == ("甲办法", "乙办法")
    assert query.remainder == "和"
    assert titles_in("《甲办法》", ["甲办法"]) == [(0, 5, "甲办法")]
