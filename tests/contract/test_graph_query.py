"""Questions of analysts as forms: the rows that each gives, the same from every store."""

import json
from contextlib import closing
from typing import Any

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import OutOfRangeError
from kgrag.store.graph_query import GraphQuery
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.tools import TOOLS
from kgrag.tools.arguments import checked
from kgrag.tools.graph_query import Graphed

PLAN = "云岭省碳达峰实施方案"
LAW = "云岭省节约能源条例"
FUNDS = "云岭省节能降碳专项资金管理办法"
SAVING = "云岭省“十四五”节能减排工作方案"
ENERGY = "云岭省新能源发展规划（2022—2025年）"
BUILDINGS = "南渡市绿色建筑发展专项规划（2022—2025年）"
LED = "assigned_to.role = 牵头"
QUESTIONS: list[tuple[str, dict[str, Any], list[tuple[Any, ...]], int]]
# A question, its form, its first rows, and how many there are.
QUESTIONS = [
    (
        "哪些省级文件以《节约能源条例》为依据？",
        {
            "start": "document",
            "step": ["based_on"],
            "where": ["document2.title contains 节约能源条例", "document.level = 省"],
            "returns": ["document.title"],
        },
        [(SAVING,), (PLAN,), (FUNDS,)],
        3,
    ),
    (
        "以碳达峰实施方案为依据、2022年以后印发的省级文件有哪些？",
        {
            "start": "document",
            "step": ["based_on"],
            "where": ["document2.title = " + PLAN, "document.year >= 2022", "level = 省"],
            "returns": ["title", "year"],
        },
        [(FUNDS, 2022)],
        1,
    ),
    (
        "专项资金管理办法直接或间接依据哪些文件？",
        {
            "start": "document",
            "name": FUNDS,
            "step": ["based_on 2"],
            "returns": ["document2.title"],
        },
        [(PLAN,), (LAW,)],
        2,
    ),
    (
        "专项资金管理办法依据的依据是什么？",
        {
            "start": "document",
            "name": FUNDS,
            "step": ["based_on", "based_on"],
            "returns": ["document2.title", "document3.title"],
        },
        [(PLAN, LAW)],
        1,
    ),
    (
        "2025年百分比最高的目标是哪三个？",
        {
            "start": "target",
            "where": ["year = 2025", "unit = %", "standing = planned", "comparator in =、>="],
            "returns": ["indicator", "value", "region"],
            "order": "value",
            "descending": True,
        },
        [
            ("乡镇充电设施覆盖率", "=", 100, "%", "云岭省"),
            ("公交车新能源化比例", "=", 100, "%", "青川市"),
            ("城镇绿色建筑占新建建筑比重", "=", 100, "%", "南渡市"),
        ],
        42,
    ),
    (
        "非化石能源消费比重的目标，由低到高？",
        {
            "start": "target",
            "where": ["indicator = 非化石能源消费比重", "year in 2025、2030", "unit = %"],
            "returns": ["value", "year", "region"],
            "order": "value",
        },
        [("=", 30, "%", 2025, "青川市"), ("=", 38, "%", 2025, "云岭省"),
         ("~", 45, "%", 2030, "云岭省")],
        3,
    ),
    (
        "省能源局牵头的任务有几项？",
        {
            "start": "organ",
            "where": ["name = 云岭省能源局", LED],
            "step": ["in assigned_to"],
            "aggregate": "count",
        },
        [(8,)],
        1,
    ),
    (
        "牵头任务最多的部门是哪些？",
        {
            "start": "duty",
            "step": ["assigned_to"],
            "where": [LED],
            "aggregate": "count",
            "by": ["organ.name"],
        },
        [("云岭省能源局", 8), ("云岭省住房和城乡建设厅", 5), ("云岭省发展和改革委员会", 5)],
        26,
    ),
    (
        "废止了哪些文件，在库吗？",
        {
            "start": "document",
            "step": ["repeals"],
            "returns": ["document.title", "document2.title", "document2.held"],
        },
        [(SAVING, "云岭省“十三五”节能减排工作方案", "no"),
         ("云岭省绿色工厂培育管理办法", "云岭省绿色工厂评定暂行办法", "no"),
         (LAW, "云岭省节能管理规定", "no"), (FUNDS, "云岭省节能专项资金管理暂行办法", "no")],
        4,
    ),
    (
        "被引用最多的文件是哪些？",
        {
            "start": "document",
            "step": ["in cites"],
            "aggregate": "count",
            "of": "document2",
            "by": ["document.title"],
        },
        [(PLAN, 8), (LAW, 4)],
        7,
    ),
    (
        "省能源局与哪些部门共同承担任务？",
        {
            "start": "organ",
            "step": ["in assigned_to", "assigned_to"],
            "where": ["organ.name = 云岭省能源局", "organ2.name != 云岭省能源局"],
            "aggregate": "count",
            "of": "duty",
            "by": ["organ2.name"],
        },
        [("云岭电力公司", 3), ("云岭省住房和城乡建设厅", 3)],
        17,
    ),
    (
        "没有写明时限的任务有几项？",
        {"start": "duty", "where": ["deadline unstated"], "aggregate": "count"},
        [(38,)],
        1,
    ),
    (
        "青川市2025年的投资和产值目标有哪些？",
        {
            "start": "document",
            "step": ["states"],
            "where": ["target.region contains 青川", "target.year = 2025", "unit = 元"],
            "returns": ["target.indicator", "target.value"],
        },
        [("产业园年产值", "=", 35_000_000_000, "元")],
        1,
    ),
    (
        "约束性目标有哪些？",
        {
            "start": "target",
            "where": ["binding = 约束性", "standing = planned"],
            "returns": ["indicator", "value", "year"],
        },
        [("城镇绿色建筑占新建建筑比重", "=", 100, "%", 2025),
         ("装配式建筑占新建建筑比重", "=", 35, "%", 2025)],
        2,
    ),
    (
        "各文种的文件有几份？",
        {"start": "document", "aggregate": "count", "by": ["kind"]},
        [("管理办法", 2), ("专项规划", 1)],
        9,
    ),
    (
        "哪份文件提出的目标最多？",
        {"start": "document", "step": ["states"], "aggregate": "count", "by": ["document.title"]},
        [(PLAN, 37), (BUILDINGS, 36), (ENERGY, 33)],
        8,
    ),
    (
        "各部门的任务分布在几份文件里？",
        {
            "start": "document",
            "step": ["assigns", "assigned_to"],
            "aggregate": "count",
            "of": "document",
            "by": ["organ.name"],
        },
        [("云岭省住房和城乡建设厅", 4), ("云岭省发展和改革委员会", 4)],
        81,
    ),
    (
        "专项资金管理办法所依据的文件提出了哪些2030年目标？",
        {
            "start": "document",
            "name": "专项资金",
            "step": ["based_on", "states"],
            "where": ["target.year = 2030", "target.unit = %"],
            "returns": ["target.indicator", "target.value"],
        },
        [("单位GDP二氧化碳排放", "-", 68, "%")],
        3,
    ),
    (
        "千瓦计的指标各最大是多少？",
        {
            "start": "target",
            "where": ["unit = 千瓦"],
            "aggregate": "max",
            "of": "value",
            "by": ["indicator"],
        },
        [("新能源装机容量", "千瓦", 30_000_000), ("组件产能", "千瓦", 20_000_000)],
        15,
    ),
    (
        "省、市、县的指标各有几项？",
        {"start": "target", "aggregate": "count", "by": ["target.level"]},
        [("省", 134), ("市", 68), ("县", 29)],
        3,
    ),
    (
        "绿色工厂是什么？",
        {
            "start": "entity",
            "where": ["entity.name = 绿色工厂", "predicate = 是指"],
            "step": ["related"],
            "returns": ["entity2.name"],
        },
        [("实现用地集约化、原料无害化、生产洁净化、废物资源化、能源低碳化的工厂",)],
        1,
    ),
    (
        "哪些文件说到光伏，各有几个有关的名称？",
        {
            "start": "document",
            "step": ["names"],
            "where": ["entity.name contains 光伏"],
            "aggregate": "count",
            "by": ["document.title"],
        },
        [(ENERGY, 7), (BUILDINGS, 3)],
        4,
    ),
    (
        "省人民政府印发、尚未写明失效日期的文件？",
        {
            "start": "document",
            "where": ["issuers = 云岭省人民政府", "expires unstated"],
            "returns": ["title"],
        },
        [(PLAN,)],
        1,
    ),
]  # fmt: skip


@pytest.fixture
def filled(store, sample_kb):
    """The store with the samples."""
    with KnowledgeBase.open(sample_kb, create=False, embedder=HashEmbedder()) as base:
        for card in base.documents():
            store.upsert_document(base.store.bundle(card.doc_id), source=card.file)
    return store


def test_questions_of_analysts_have_their_rows(filled, sample_kb):
    """And each row the places that state it; both stores give the same."""
    folder = SQLiteStore.open(sample_kb, create=False)
    for question, form, first, n in QUESTIONS:
        query = checked(Graphed, form)
        found = filled.graph_rows(query, most=1001)
        assert [row.cells for row in found.rows[: len(first)]] == first, question
        assert len(found.rows) == n, question
        assert all(row.spots for row in found.rows), question
        assert found[:2] == folder.graph_rows(query, most=1001)[:2], question
    folder.close()


def test_of_some_documents_the_rows_are_those_of_a_base_that_has_only_them(filled, tmp_path):
    """What they cite may be any document, and is known as where it is held."""
    held = sorted(card.doc_id for card in filled.document_cards())
    alone = ({"start": "organ"}, {"start": "entity"}, {"start": "document", "step": ["names"]})
    forms = [form for _, form, *_ in QUESTIONS if "document2" not in json.dumps(form)]
    for n, half in enumerate((held[::2], held[1::2], held[:1])):
        with closing(SQLiteStore.open(tmp_path / f"part{n}")) as part:
            for doc_id in half:
                part.upsert_document(filled.bundle(doc_id), source=f"/{doc_id}.txt")
            for query in (checked(Graphed, form) for form in (*forms, *alone)):
                found = filled.graph_rows(query, most=1001, doc_ids=half)
                assert found[:2] == part.graph_rows(query, most=1001)[:2], query
    cited = {"start": "document", "step": ["cites"], "returns": ["document2.held"]}
    some = filled.graph_rows(checked(Graphed, cited), most=99, doc_ids=held[::2])
    assert {spot[0] for row in some.rows for spot in row.spots} <= {*held[::2]}
    assert {row.cells for row in some.rows} == {("yes",), ("no",)}


def test_values_reach_the_database_as_parameters_only(filled):
    """Whatever is in them; shown, they are literals that mean the same."""
    for hostile in (
        "' OR 1 = 1 //", "\\' OR true //", "\\u0027 OR true //", "`) DETACH DELETE n //", '"; DROP',
        "$p0", "$most", "x\\", "\n", "${p0}", "{n}", "\x00", "<n>", "\U0001f600", "\\\\u0027",
    ):  # fmt: skip
        query = GraphQuery(
            start="document", where=checked(Graphed, {"start": "document", "where": [
                {"field": "title", "op": "!=", "value": f"a{hostile}b"},
                {"field": "title", "op": "contains", "value": "云岭省碳达峰"},
            ]}).where
        )  # fmt: skip
        found = filled.graph_rows(query, most=9)
        shown = found.statement
        assert [row.cells[0] for row in found.rows] == [PLAN]
        assert "\n" not in shown or filled.query_language == "sql"
        if filled.query_language == "cypher":
            assert [
                row["document_title"] for row in filled.run_query(shown, max_rows=9, timeout_s=5.0)
            ] == [PLAN], shown
        none = filled.graph_rows(query, most=9, doc_ids=[hostile, PLAN])
        assert not none.rows
        if filled.query_language == "cypher":
            assert filled.run_query(none.statement, max_rows=9, timeout_s=5.0) == []


def test_a_shown_statement_runs_as_it_stands(filled):
    """In Neo4j Browser, with the rows that were shown."""
    if filled.query_language == "sql":
        pytest.skip("of a folder only the part of the statement that follows the form is shown")
    for question, form, _, _ in QUESTIONS:
        query = checked(Graphed, form)
        found = filled.graph_rows(query, most=1000)
        rows = filled.run_query(found.statement, max_rows=1000, timeout_s=20.0)
        assert len(rows) == len(found.rows), question


def test_a_form_that_asks_for_what_there_is_not_is_refused_with_what_there_is(filled):
    for form, error in (
        ({"start": "document", "where": ["altitude > 3"]}, "no field 'altitude'"),
        ({"start": "document", "where": ["target.value > 3"]}, "no field 'target.value'"),
        ({"start": "target", "step": ["based_on"]}, "begins at document"),
        ({"start": "document", "step": ["states 2"]}, "has one hop"),
        ({"start": "document", "step": ["cites 3", "cites 2"]}, "at most 4 hops"),
        ({"start": "target", "where": ["value > 很多"]}, "number in its stored unit"),
        ({"start": "target", "where": ["value > nan"]}, "number in its stored unit"),
        ({"start": "target", "where": ["value contains 3"]}, "is a number"),
        ({"start": "target", "where": ["indicator ="]}, "needs a value"),
        ({"start": "target", "aggregate": "sum", "of": "indicator"}, "is no number"),
        ({"start": "target", "aggregate": "count", "order": "unit"}, "one of their fields"),
    ):
        with pytest.raises(OutOfRangeError, match=error):
            filled.graph_rows(checked(Graphed, form), most=9)


def test_rows_of_a_path_come_back_to_where_it_began(filled):
    """A path may use a relation twice, in both stores: who cites what one cites, itself, too."""
    form = {
        "start": "document",
        "name": FUNDS,
        "step": ["based_on", "in based_on"],
        "returns": ["document3.title"],
    }
    found = filled.graph_rows(checked(Graphed, form), most=99)
    assert (FUNDS,) in [row.cells for row in found.rows]
    assert json.dumps(found)


def test_an_empty_result_names_what_emptied_it(sample_kb):
    with KnowledgeBase.open(sample_kb, create=False, embedder=HashEmbedder()) as base:
        for form, told in (
            ({"start": "target", "name": "森林复盖率"}, "values of target.indicator: 森林覆盖率"),
            ({"start": "target", "where": ["indicator contains 森林覆盖率", "year = 2026"]},
             "without “target.year = 2026” there are"),
            ({"start": "duty", "where": ["year = 1949", "task contains 登月"]}, "without any one"),
            ({"start": "document", "step": ["forwards", "forwards"]}, "no such path"),
        ):  # fmt: skip
            page = TOOLS["graph-query"](base, **form, lang="en")
            assert not page.rows
            assert told in page.notes[0]
