"""Documents, words and sentences that a question names."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kgrag.embedding.hashing import HashEmbedder
from kgrag.ids import document_of
from kgrag.metadata import Metadata
from kgrag.question.question import analyse, question_of, titles_in
from kgrag.retrieval.lexical import words_in_path, words_in_path_above_cut
from kgrag.retrieval.named import TitleIndex
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings
from kgrag.types import Document, Query
from tests.fixtures.double import Double
from tests.fixtures.kit import shared_base

FILLER = "".join(f"第{n}条 加强管理，{'落实责任。' * 60}\n" for n in "一二三四五六")
TEXTS = {
    "numbered": "云岭省人民政府办公厅关于印发云岭省节水行动方案的通知\n云政办发〔2021〕3号\n"
    + FILLER,
    "forests": "四川林草碳汇行动方案\n根据《云岭节能促进管理暂行办法》，制定本方案。\n" + FILLER,
    "vehicles": "四川省人民政府关于印发四川省“十四五”新能源汽车产业发展规划的通知\n" + FILLER,
    "seas": "福建省“十四五”海洋生态环境保护规划\n" + FILLER,
    "air": "福建省应对气候变化规划\n" + FILLER,
    "nation": "氢能产业发展中长期规划（2021-2035年）\n国家发展改革委\n全国推进。\n" + FILLER,
    "green": "关于加快推进废旧纺织品循环利用的实施意见\n国家发展改革委\n" + FILLER,
    "sichuan-green": "四川省关于推进废旧纺织品循环利用工作的实施意见\n" + FILLER,
} | {  # what titles begin with is common
    f"filler-{n}": f"{title}\n{FILLER}"
    for n, title in enumerate(
        (
            "湖南省应对干旱规划", "湖北省应对洪水规划", "湖南省关于推进河湖治理的实施意见",
            "关于加快推进节水的实施意见", "湖南省关于加快推进湿地保护的实施意见",
            "湖北省关于加快推进垃圾分类的实施意见",
        )
    )
}  # fmt: skip


base = shared_base(TEXTS)


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
    query = read(base, "福建海洋生态环境保护规划和福建应对气候变化规划各有什么要求")
    assert [side.label for side in question_of(query).sides] == list(query.titles)
    files = [Path(r.file).stem for r in base.search(query.text, top_k=4)]
    assert set(files[:2]) == {"seas", "air"}


def test_each_side_of_a_comparison_of_places_names_its_own(base):
    """四川和福建的规划 are two documents, of which the whole question names neither."""
    question = "四川新能源汽车规划和福建气候变化规划分别怎么要求"
    assert read(base, question).named == ()
    results = base.search(question, top_k=6)
    assert {Path(r.file).stem for r in results} == {"vehicles", "air"}


def test_a_document_that_is_only_cited_is_named_by_its_whole_title(base):
    """It is held by none; who cites it is asked as with 《》."""
    question = "哪些文件引用了云岭节能促进管理暂行办法？"
    assert named(base, question) == {"云岭节能促进管理暂行办法": []}
    answer = base.ask(question)
    assert [c.title for c in answer.citations] == ["四川林草碳汇行动方案"]
    assert named(base, "哪些文件引用了节能促进管理暂行办法？") == {}  # a part may be another one's


@pytest.mark.parametrize(
    "number",
    [
        "云政办发〔2021〕3号",
        "云政办发[2021]3号",
        "《云政办发【2021】3号》",
        "（云政办发(2021) 3号）",
    ],
)
def test_a_number_is_read_as_the_quoted_title_of_its_document(base, number):
    """In any brackets; the answer says how the question was read."""
    query = read(base, f"请问{number}的主要措施")
    title = "云岭省人民政府办公厅关于印发云岭省节水行动方案的通知"
    assert query.text == f"请问《{title}》的主要措施"
    assert named(base, f"按照{number}，谁牵头") == {title: ["numbered"]}
    notes = base.ask(f"{number}的主要措施有哪些").notes
    assert f"按此理解：《{title}》的主要措施有哪些" in notes


def test_a_number_beside_its_quoted_title_names_nothing_else(base):
    query = read(base, "《云岭省节水行动方案》（云政办发〔2021〕3号）的措施")
    assert query.titles == ("云岭省节水行动方案",)
    assert query.text == "《云岭省节水行动方案》的措施"


@pytest.mark.parametrize(
    "number", ["云政办发〔2021〕13号", "云政发〔2021〕3号", "南云政办发〔2021〕3号"]
)
def test_a_number_that_no_document_has_is_told(base, number):
    assert named(base, f"请问{number}的主要措施") == {number: []}
    answer = base.ask(f"请问{number}的渔船补贴标准")
    assert f"找到的文件中没有题为《{number}》的" in answer.notes
    assert not any("按此理解" in told for told in answer.notes)


def test_what_a_named_document_cites_is_asked_without_marks(base):
    answer = base.ask("四川林草碳汇方案的依据是什么？")
    assert "云岭节能促进管理暂行办法" in answer.text
    assert "共1项依据" in answer.notes


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
    found = TitleIndex(cards, places).named("云岭节水产业规划", places={"云岭"}, national=False)
    assert found == {"云岭节水产业规划": ("a", "b")}


def test_names_keep_their_place_in_the_text():
    question = "甲办法和乙办法"
    query = analyse(question, named={"乙办法": ["b"], "丙办法": ["c"], "甲办法": ["a"]})
    assert query.titles == ("甲办法", "乙办法")
    assert query.remainder == "和"
    assert titles_in("《甲办法》", ["甲办法"]) == [(0, 5, "甲办法")]


BASIS = "关于加强节水工作的意见\n国务院\n2021年3月1日\n一、要求\n各地加强节水。\n"
CLAUSES = "".join(
    f"第{n}条 推进节水工作，按照关于节水的要求落实第{n}项措施，{'加强管理。' * 60}\n"
    for n in "一二三四五六七八九"
)
MEASURES = {
    "basis": BASIS,
    "fujian": "福建省人民政府印发关于做好节水工作的十项措施\n"
    f"为落实《关于加强节水工作的意见》，制定本措施。\n{CLAUSES}",
    "henan": f"河南省人民政府印发关于做好节水工作的十项措施\n{CLAUSES}",
}
CHAIN = "《福建省关于做好节水工作的十项措施》所依据的上位政策是由哪个机构发布的？"


# Two provinces' measures of the same name, and what one of them is based on.
measures = shared_base(MEASURES)


def files_of(measures, question, **options):
    """Return the files of results in their order, each once."""
    files = {d.doc_id: Path(d.file).stem for d in measures.documents()}
    found = measures.search(question, **options)
    return list(dict.fromkeys(files[r.chunk.doc_id] for r in found))


def searched(measures, question):
    knowledge = measures._current.knowledge()
    return knowledge.search(knowledge.query(question))


def test_a_quoted_title_may_have_its_place_before_it(measures):
    """It is the document of that place, though two bear the rest of the title."""
    files = {d.doc_id: Path(d.file).stem for d in measures.documents()}
    titled = searched(measures, "《福建省关于做好节水工作的十项措施》有什么要求").titled
    assert [files[doc_id] for doc_id in titled] == ["fujian"]
    assert searched(measures, "《云南省关于做好节水工作的十项措施》有什么要求").titled == {}
    assert searched(measures, "《福建省措施》有什么要求").titled == {}  # too little is left


def test_its_node_is_what_the_question_is_about(measures):
    """Though the node has another name, its facts are followed."""
    search = searched(measures, CHAIN)
    nodes = search.settings.nodes
    assert [nodes.get(anchor.entity.entity_id) for anchor in search.anchors] == list(search.titled)
    assert search.anchors[0].at == 1


def test_what_a_quoted_document_is_based_on_stands_second(measures):
    """Else its own clauses would fill the context."""
    assert files_of(measures, CHAIN, top_k=2) == ["fujian", "basis"]
    unplanned = measures.search(CHAIN, top_k=2, system="grim-no-plan")
    assert not [r for r in unplanned if "asked for cited" in r.via]
    reasons = measures.search(CHAIN, top_k=2)[1].via
    assert reasons[0] == "asked for cited"
    assert reasons[1].startswith("cited: ")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (CHAIN, True),
        ("《甲办法》依据的文件是什么时候印发的", True),
        ("《甲办法》的上位文件文号是什么", True),
        ("Who issued what 《甲办法》 is based on?", True),
        ("When was what 《甲办法》 is based on issued, and who issued it?", True),
        ("《甲办法》依据哪些文件", False),
        ("《甲办法》由哪个部门印发", False),
    ],
)
def test_questions_that_go_on_from_a_document(question, expected):
    """To who issued what it cites, or when; not to what that is."""
    assert question_of(analyse(question)).asks_on is expected


QUESTION = "云岭的旧件翻新主抓哪几类"
EVERYDAY = {
    "a": "云岭省循环经济方案\n一、任务\n再制造以工程机械、机床为重点，建设两个基地。\n",
    "b": "云岭省文化方案\n一、任务\n图书馆旧书架由各馆翻修，读者可以预约座位。\n",
}


# Two plans of one province.
everyday = shared_base(EVERYDAY)


def first(everyday, question, system):
    """Return the title of the first result's document."""
    return everyday.search(question, top_k=2, system=system)[0].title


def test_the_official_term_finds_its_document(everyday):
    """Which the question's own words do not."""
    assert first(everyday, QUESTION, "grim") == "云岭省循环经济方案"
    assert first(everyday, QUESTION, "grim-no-official-terms") == "云岭省文化方案"


def test_a_result_says_which_wording_brought_it(everyday):
    """And no result whose text does not have the official term."""
    told = {
        r.title: [reason for reason in r.via if "read as" in reason]
        for r in everyday.search(QUESTION, top_k=2)
    }
    assert told == {"云岭省循环经济方案": ["旧件翻新 read as 再制造"], "云岭省文化方案": []}


def test_the_questions_own_words_weigh_more(everyday):
    """Official terms join with half the weight, and half of the vector."""
    knowledge = everyday._current.knowledge()
    plain = knowledge.search(knowledge.query(QUESTION))
    official = plain.with_official_terms()
    assert official.terms.items() >= plain.terms.items()
    assert official.terms["制造"] == 0.5
    worded = knowledge.search(knowledge.query("云岭的再制造主抓哪几类")).vector
    mean = plain.vector + worded
    assert official.vector == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


def test_a_question_without_everyday_wordings_is_searched_as_it_is(everyday):
    """The very same search, so that nothing is encoded twice."""
    knowledge = everyday._current.knowledge()
    search = knowledge.search(knowledge.query("云岭的再制造主抓哪几类"))
    assert search.with_official_terms() is search
    official = knowledge.search(knowledge.query(QUESTION)).with_official_terms()
    assert official.with_official_terms() is official
    assert official.asked(search.query).official


class Hits(Double):
    """A store that finds the same by any words."""

    def __init__(self, hits):
        self.hits = hits

    def search_words(self, terms, *, field, size, top_k, doc_ids=None):
        """Return the first of them, for paths of leaves."""
        assert (field, size) == ("path", 256)
        return [h for h in self.hits if doc_ids is None or document_of(h[0]) in doc_ids][:top_k]


@pytest.fixture
def search():
    """Return a function that makes a search over hits."""

    def make(hits, *, depth):
        return Search(
            Query("目标", ("目标",)),
            store=Hits(hits),
            embed=HashEmbedder,
            settings=Settings(depth=depth),
        )

    return make


HITS = [("a:256:0", 9.0), ("a:256:1", 7.5), ("b:256:0", 6.0), ("b:256:1", 5.0)]


def test_paths_above_the_cut_count_from_the_last_hit(search):
    """9 and 7.5 above 6; what is found, its order and its reasons are those of the path."""
    found = words_in_path_above_cut(search(HITS, depth=3))
    assert found.hits == (("a:256:0", 3.0), ("a:256:1", 1.5), ("b:256:0", 0.0))
    assert found.reasons == words_in_path(search(HITS, depth=3)).reasons


def test_paths_above_the_cut_of_a_titled_document_move_it_not(search):
    """What is read of the document beyond the cut counts nothing, and moves nothing else."""
    asked = search([*HITS, ("c:256:0", 1.0)], depth=3)
    asked.titled = {"c": "题"}
    found = words_in_path_above_cut(asked)
    assert found.hits[0] == ("a:256:0", 3.0)
    assert found.hits[-1] == ("c:256:0", 0.0)


def test_paths_above_the_cut_keep_their_scores_when_nothing_was_cut_off(search):
    """Fewer hits than might be: what was not found scores 0."""
    assert words_in_path_above_cut(search(HITS, depth=5)).hits == tuple(HITS)


def test_paths_above_the_cut_when_nothing_is_found_are_none(search):
    """No last hit, no error."""
    assert words_in_path_above_cut(search([], depth=5)).hits == ()
