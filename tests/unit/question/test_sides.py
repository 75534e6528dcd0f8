"""Comparisons are asked side by side; other questions as a whole."""

import pytest

from kgrag.question.question import analyse, question_of
from kgrag.results import ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.ranking import in_turn
from kgrag.retrieval.search import Ranking
from kgrag.retrieval.weighted_fusion import WeightedFusion, WeightedRetriever
from kgrag.types import Chunk
from tests.fixtures.kit import shared_base

KNOWN = ("崇川", "通州")


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        (
            "福建、河南和广西到2025年要利用多少秸秆，谁最高？",
            {
                "福建": "福建到2025年要利用多少秸秆，谁最高？",
                "河南": "河南到2025年要利用多少秸秆，谁最高？",
                "广西": "广西到2025年要利用多少秸秆，谁最高？",
            },
        ),
        ("青海天津的储能想搞多大", {"青海": "青海的储能想搞多大", "天津": "天津的储能想搞多大"}),
        (
            "江西省的碳汇和重庆市的减排量能不能抵",
            {"江西": "江西省的碳汇和的减排量能不能抵", "重庆": "的碳汇和重庆市的减排量能不能抵"},
        ),
        (
            "全国和福建2025年各要多少",
            {"全国": "全国2025年各要多少", "福建": "福建2025年各要多少"},
        ),
        (
            "屋顶光伏，北京通州和广州给钱的办法",
            {"通州": "屋顶光伏，北京通州给钱的办法", "广州": "屋顶光伏，广州给钱的办法"},
        ),
        (
            "绿建总结最晚几号交，天津、青岛、长沙、佛山",  # a county is called as its city
            {p: f"绿建总结最晚几号交，{p}" for p in ("天津", "青岛", "长沙", "佛山")},
        ),
        ("冀湘两省的蓄积量", {"河北": "冀两省的蓄积量", "湖南": "湘两省的蓄积量"}),
        ("安徽和阜阳要求的能效", {"安徽": "安徽要求的能效", "阜阳": "阜阳要求的能效"}),
        ("阜阳、安徽要求的能效", {"安徽": "安徽要求的能效", "阜阳": "阜阳要求的能效"}),
    ],
)
def test_a_comparison_has_a_question_for_each_side(question, sides):
    """It names that place alone, and asks for the documents about it."""
    found = question_of(analyse(question, known_places=KNOWN)).sides
    assert {side.label: side.query.text for side in found} == sides
    for side in found:
        is_national = side.label == "全国"
        assert side.query.places == (frozenset() if is_national else {side.label})
        assert side.query.national == is_national


@pytest.mark.parametrize(
    "question",
    [
        "福建到2025年要利用多少秸秆",
        "要利用多少秸秆",
        "北京通州的企业能补多少",  # one place, and where it lies
        "在南昌注册的公司能不能申报江西的项目",
        "福建评上国家级绿色工厂奖多少",
        "国家支持宁夏的方案里有什么",
        "《福建省节能方案》和《河南省节能方案》由谁印发",  # nothing is set against each other
        "《福建省节能方案》有什么不同",
        "福建河南广西云南贵州四川甘肃各多少",  # a question for all
        "",
    ],
)
def test_other_questions_are_asked_as_a_whole(question):
    """One place, the country beside a place, quoted titles, too many places."""
    assert question_of(analyse(question, known_places=KNOWN)).sides == ()


def test_quoted_documents_that_are_compared_are_sides():
    """Each is asked for alone; words around the titles stay."""
    asked = analyse("《福建省节能方案》和《河南省节能方案》的目标有什么不同？")
    sides = question_of(asked).sides
    assert [(s.label, s.query.titles, s.query.text) for s in sides] == [
        ("福建省节能方案", ("福建省节能方案",), "《福建省节能方案》的目标有什么不同？"),
        ("河南省节能方案", ("河南省节能方案",), "《河南省节能方案》的目标有什么不同？"),
    ]


def test_results_of_several_questions_come_in_turn():
    """All first ones first; what two find comes once, with both reasons."""

    def result(name, score):
        return ScoredChunk(Chunk(name, "d", 256, 0, 0, 1, "文"), score, (f"word {name}",))

    a, b, c = result("a", 9.0), result("b", 8.0), result("c", 0.1)
    found = in_turn({"甲": [a, b], "乙": [c, a], "丙": []})
    assert [r.chunk.chunk_id for r in found] == ["a", "c", "b"]
    assert [r.score for r in found] == [1.0, 1 / 2, 1 / 3]
    assert found[0].via == ("asked for 甲", "word a", "asked for 乙")


CLAUSES = "第一条 推动秸秆综合利用，加强管理。\n" * 60
base = shared_base({p: f"{p}省秸秆综合利用方案\n{CLAUSES}" for p in ("福建", "河南")})


def found_by(base, question, **changes):
    """Return the places of the results of a route that likes Fujian, unless asked for Henan."""

    def route(search):
        store = search.store
        first = {card.title[:2]: card.doc_id for card in search.settings.cards}
        likes = ["河南", "福建"] if search.query.places == {"河南"} else ["福建", "河南"]
        ids = [f"{first[place]}:256:{n}" for place in likes for n in range(4)]
        assert len(store.chunks(ids)) == 8
        return Ranking(tuple((c, 1.0 / n) for n, c in enumerate(ids, start=1)), {})

    fuse = WeightedFusion(place_weight=0.0)
    pipeline = Pipeline((WeightedRetriever(route),), fuse, **changes)
    search = base._knowledge.search(base._knowledge.query(question))
    titles = {card.doc_id: card.title[:2] for card in base.documents()}
    return [(titles[r.chunk.doc_id], r) for r in pipeline.retrieve(search, top_k=4)]


QUESTION = "福建和河南的秸秆利用率各是多少？"


def test_each_side_of_a_comparison_is_there(base):
    """In turn, and each result says for which side it was asked."""
    found = found_by(base, QUESTION, planned=True)
    assert [place for place, _ in found] == ["福建", "河南", "福建", "河南"]
    assert [r.via[0] for _, r in found[:2]] == ["asked for 福建", "asked for 河南"]
    assert [r.score for _, r in found] == [1.0, 1 / 2, 1 / 3, 1 / 4]


def test_without_sides_one_may_fill_all(base):
    """The ablation, and a question that is no comparison."""
    assert [place for place, _ in found_by(base, QUESTION)] == ["福建"] * 4
    for question in ("福建的秸秆利用率", "秸秆利用率各是多少"):
        assert [p for p, _ in found_by(base, question, planned=True)] == ["福建"] * 4


def test_grim_asks_by_sides(base):
    """From the system's name to the result."""
    assert [r.via[0] for r in base.search(QUESTION, top_k=2)] == [
        "asked for 福建",
        "asked for 河南",
    ]
    whole = base.search(QUESTION, top_k=2, system="grim-no-plan")
    assert not any("asked for" in reason for r in whole for reason in r.via)
