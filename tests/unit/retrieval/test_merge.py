"""From leaves to passages: parents, gaps, parts, sections."""

import pytest

from kgrag.results import ScoredChunk
from kgrag.retrieval.merge import Families, fill, merge
from kgrag.retrieval.sections import chunks_of_asked_sections
from kgrag.types import Chunk
from tests.fixtures.double import Double
from tests.fixtures.kit import knowledge_base, shared_base


def scores(results):
    return {r.chunk.chunk_id: r.score for r in results}


def test_merge_puts_the_parent_for_more_than_half_of_its_children(store, hit):
    """3 of 4: r = 0.75 > 0.5 (eq. 1); the parent's score is the mean, 2.0 (eq. 2)."""
    found = merge([hit("a:10:0", 1.0), hit("a:10:1", 2.0), hit("a:10:3", 3.0)], Families(store))
    assert scores(found) == {"a:40:0": 2.0}
    assert found[0].via[0] == "merged from 3 of 4 chunks of 10"


def test_merge_at_the_threshold_leaves_children(store, hit):
    """2 of 4: r = 0.5 is not above 0.5."""
    found = merge([hit("a:10:0", 1.0), hit("a:10:1", 2.0)], Families(store))
    assert scores(found) == {"a:10:1": 2.0, "a:10:0": 1.0}


def test_merge_counts_each_parent_for_itself(store, hit):
    """Children of two parents, or of two documents, do not add up."""
    hits = [hit("a:10:3", 1.0), hit("a:10:4", 1.0), hit("b:10:3", 1.0), hit("b:10:4", 1.0)]
    assert len(merge(hits, Families(store))) == 4


def test_merge_when_the_parent_was_found_too_keeps_the_better_score(store, hit):
    """A parent that came by itself is not made worse by its children."""
    children = [hit(f"a:10:{i}", 1.0) for i in range(4)]
    assert scores(merge([*children, hit("a:40:0", 5.0)], Families(store))) == {"a:40:0": 5.0}
    assert scores(merge([*children, hit("a:40:0", 0.5)], Families(store))) == {"a:40:0": 1.0}


def test_merge_leaves_children_that_make_up_too_little_of_the_parent(store, hit):
    """3 of 4 children of 10 are 30 of 40 characters."""
    hits = [hit("a:10:0", 1.0), hit("a:10:1", 2.0), hit("a:10:3", 3.0)]
    assert len(merge(hits, Families(store), coverage=0.75)) == 1
    assert len(merge(hits, Families(store), coverage=0.76)) == 3
    second = [hit(f"a:10:{i}", 1.0) for i in (4, 5, 6)]  # the parent's own length counts
    assert len(merge(second, Families(store), coverage=0.75)) == 1


def test_merge_of_nothing_is_nothing(store):
    """No results, no error."""
    assert merge([], Families(store)) == []


class Nested(Double):
    """A store of one document: a parent of 40, two chunks of 20 in it, four of 10, offset by 40.

    The last chunk of 20 is the last chunk of 10, too.
    """

    def __init__(self):
        self.asked = []
        ends = {40: [(40, 80)], 20: [(40, 60), (60, 70), (70, 80)]}
        ends[10] = [(40, 50), (50, 60), (60, 70), (70, 80)]
        self.by_id = {
            f"d:{size}:{i}": Chunk(
                f"d:{size}:{i}", "d", size, i, start, end, "", None if size == 40 else "d:40:0"
            )
            for size, spans in ends.items()
            for i, (start, end) in enumerate(spans)
        }

    def families(self, parent_ids):
        """Return the parent and all its chunks."""
        self.asked.append(list(parent_ids))
        return list(self.by_id.values())

    def hits(self, **scored):
        """Return chunks of 10 with scores, by position."""
        return [ScoredChunk(self.by_id[f"d:10:{i[1:]}"], s, (i,)) for i, s in scored.items()]


def test_merge_climbs_to_the_next_larger_chunk_around():
    """Two of 10 become the 20 that they make up, and what was not found stays out."""
    store = Nested()
    families = Families(store)
    found = merge(store.hits(p0=3.0, p1=1.0, p2=1.0), families)
    assert scores(found) == {"d:20:0": 2.0, "d:10:2": 1.0}
    assert found[0].via == ("merged from 2 of 2 chunks of 10", "p0")
    merge(found, families)
    assert store.asked == [["d:40:0"]]


def test_merge_passes_over_a_larger_chunk_with_the_same_text():
    """The last of 20 is the last of 10: around it is the parent."""
    store = Nested()
    found = merge(store.hits(p1=1.0, p2=1.0, p3=1.0), Families(store))
    assert scores(found) == {"d:10:1": 1.0, "d:10:2": 1.0, "d:10:3": 1.0}


def test_fill_adds_the_one_chunk_between_two_with_their_mean(store, hit):
    """Positions 1 and 3 of one document: 2 joins with (1 + 4) / 2 (eq. 3)."""
    found = fill([hit("a:10:3", 4.0), hit("a:10:1", 1.0)], store)
    assert [(r.chunk.chunk_id, r.score) for r in found] == [
        ("a:10:3", 4.0),
        ("a:10:2", 2.5),
        ("a:10:1", 1.0),
    ]
    assert found[1].via == ("filled between 1 and 3",)


def test_fill_looks_for_neighbours_in_document_order(store, hit):
    """A gap is filled though others stand between its ends in the ranking."""
    hits = [hit("a:10:1", 4.0), hit("b:10:7", 3.0), hit("b:10:2", 2.0), hit("a:10:3", 1.0)]
    assert "a:10:2" in {r.chunk.chunk_id for r in fill(hits, store)}


def test_fill_leaves_wider_gaps_and_gaps_between_groups_and_documents(store, hit):
    """Two missing chunks, two sizes or two documents are no gap."""
    hits = [hit("a:10:0", 1.0), hit("a:10:3", 1.0), hit("a:40:1", 1.0), hit("b:10:2", 1.0)]
    assert len(fill(hits, store)) == 4


def test_fill_takes_only_what_may_fill(store, hit):
    """A gap whose chunk is not among those that may stays a gap."""
    hits = [hit("a:10:1", 1.0), hit("a:10:3", 4.0)]
    assert len(fill(hits, store, among={"a:10:1", "a:10:3"})) == 2
    assert len(fill(hits, store, among={"a:10:2"})) == 3


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


# A plan of five 行动, and one whose parts have no word in common.
base = shared_base({"a": plan_text("云岭", NAMES, "行动"), "b": plan_text("南渡", NAMES[:4], "")})


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


# A plan with sections, and another one that is not asked for.
sectioned = shared_base({"a": TEXT, "b": TEXT.replace("云岭", "南渡")})


def found(sectioned, question):
    """Return the titles of the documents of hits, the sections they are of, and their scores."""
    knowledge = sectioned._current.knowledge()
    search = knowledge.search(knowledge.query(question))
    ranking = chunks_of_asked_sections(search)
    chunks = sectioned.store.chunks([chunk_id for chunk_id, _ in ranking.hits])
    titles = {d.doc_id: d.title for d in sectioned.documents()}
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
def test_a_question_asks_for_what_stands_under_a_heading(sectioned, question, heading, score):
    """Of the document that it quotes alone; a word within another section is no heading."""
    assert found(sectioned, question) == {("云岭省节水规划", f"section {heading}", score)}


def test_the_aim_of_an_indicator_is_no_section(sectioned):
    """It may stand anywhere; the section by its whole name is still asked for."""
    knowledge = sectioned._current.knowledge()
    question = "《云岭省节水规划》的用水总量目标"
    assert knowledge.search(knowledge.query(question)).indicators == ("用水总量",)
    assert knowledge.search(knowledge.query("《云岭省节水规划》的目标")).indicators == ()
    assert found(sectioned, question) == set()
    by_name = found(sectioned, "《云岭省节水规划》的主要目标里用水总量是多少")
    assert {score for _, _, score in by_name} == {1.0}


@pytest.mark.parametrize("question", ["主要目标是什么？", "《云岭省节水规划》由谁印发？", ""])
def test_without_a_quoted_title_or_the_name_of_a_section_nothing_is_found(sectioned, question):
    """The other routes find what there is."""
    assert found(sectioned, question) == set()


def test_a_word_in_which_many_headings_end_names_none(tmp_path):
    """Seven sections end in 节水: none of them is the one that is asked for."""
    kinds = ("农业", "工业", "城镇", "生态", "校园", "机关", "社区")
    lines = [
        f"{n}、{kind}节水\n推进{kind}各项工作。"
        for n, kind in zip("一二三四五六七", kinds, strict=True)
    ]
    with knowledge_base(tmp_path, {"a": "云岭省用水办法\n" + "\n".join(lines) + "\n"}) as made:
        assert found(made, "《云岭省用水办法》怎样节水？") == set()
        assert len(found(made, "《云岭省用水办法》怎样推进社区节水？")) == 1


def test_the_section_comes_first_among_results(sectioned):
    """Break the line that joins the route to `grim`, and this fails."""
    question = "《云岭省节水规划》有哪些保障措施？"
    best = sectioned.search(question, top_k=1, system="grim-no-merge")[0]
    assert any(reason == "section 三、保障措施" for reason in best.via)
    without = sectioned.search(question, top_k=1, system="grim-no-sections")[0]
    assert not any(reason.startswith("section") for reason in without.via)
