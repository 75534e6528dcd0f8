"""The parts of a document that a question asks to list head the results."""

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig

NAMES = ("节水灌溉", "管网改造", "再生水利用", "水价改革", "全民宣传")
FILLER = "推进有关工作，落实责任单位，按季度调度进展，年底开展评估。" * 8


def plan_text(place, names, ending):
    """Return an invented plan whose second section has a part for each name."""
    parts = "\n".join(
        f"（{n}）{name}{ending}\n{name}要持续抓好。{FILLER}"
        for n, name in zip("一二三四五六", names, strict=False)
    )
    return (
        f"{place}省用水总体方案\n一、总体要求\n坚持节水优先。{FILLER}\n"
        f"二、主要任务\n{parts}\n三、保障措施\n加强组织领导。{FILLER}\n"
    )


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A plan of five 行动, and one whose parts have no word in common."""
    folder = tmp_path_factory.mktemp("parts")
    (folder / "a.txt").write_text(plan_text("云岭", NAMES, "行动"), "utf-8")
    (folder / "b.txt").write_text(plan_text("南渡", NAMES[:4], ""), "utf-8")
    config = Config(embedding=EmbeddingConfig(model="hash"))
    with KnowledgeBase.open(folder / "kb", config=config) as made:
        made.ingest([folder / "a.txt", folder / "b.txt"])
        yield made


def parts(base, question, system="grim"):
    """Return the headings of the results that came as parts, in order, and where they stand."""
    results = base.search(question, top_k=12, system=system)
    places = [i for i, r in enumerate(results) if r.via and r.via[0].startswith("one of ")]
    return [results[i].chunk.heading_path[-1] for i in places], places


@pytest.mark.parametrize(
    "question",
    [
        "云岭省用水总体方案部署了哪几大行动？",
        "云岭省节约用水有哪五项重点行动",
        "云岭省用水抓哪些行动",
    ],
)
def test_headings_that_end_in_the_word_asked_for_come_first_and_in_order(base, question):
    """All five, though the text under them is alike and the words of the question are few."""
    names, places = parts(base, question)
    assert names == [f"（{n}）{name}行动" for n, name in zip("一二三四五", NAMES, strict=True)]
    assert places == list(range(5))


def test_as_many_headings_as_are_counted_come_where_they_have_no_word_in_common(base):
    """哪四大方面: the section with four parts."""
    question = "南渡省用水工作主要抓哪四大方面？"
    found = [r for r in base.search(question, top_k=12) if r.via[0].startswith("one of ")]
    assert len(found) == 4
    for name, result in zip(NAMES[:4], found, strict=True):
        assert f"）{name}\n" in result.chunk.text


@pytest.mark.parametrize(
    "question",
    [
        "云岭省用水总体方案的水价改革怎么做？",  # asks for none
        "南渡省用水工作主要抓哪六大方面？",  # as many stand nowhere
        "云岭省的节水三年行动由哪些单位负责？",  # 行动 is not what is listed
    ],
)
def test_other_questions_have_no_parts(base, question):
    """Results are those of the system without this step."""
    assert parts(base, question) == ([], [])
    same = base.search(question, top_k=12, system="grim-no-parts")
    found = base.search(question, top_k=12)
    assert [r.chunk.chunk_id for r in found] == [r.chunk.chunk_id for r in same]


def test_no_part_comes_twice_nor_inside_another_result(base):
    """What merging made of them gives way."""
    results = base.search("云岭省用水总体方案部署了哪几大行动？", top_k=30)
    spans = [(r.chunk.doc_id, r.chunk.start, r.chunk.end) for r in results]
    assert len({r.chunk.chunk_id for r in results}) == len(results)
    for doc_id, start, end in spans[:5]:
        assert not [s for s in spans if s[0] == doc_id and s[1] < end and start < s[2]][1:]


def test_the_step_can_be_left_out(base):
    """The ablation finds the parts' text, not their headings first."""
    assert parts(base, "云岭省用水总体方案部署了哪几大行动？", "grim-no-parts") == ([], [])
