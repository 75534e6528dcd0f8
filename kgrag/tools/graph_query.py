"""The tool that queries the graph by a form: rows with their clauses, the statement as a note."""

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgrag.errors import StatementError
from kgrag.store.graph_query import Column as Field
from kgrag.store.graph_query import GraphQuery, relaxed
from kgrag.store.graph_statement import FORM_S, GraphRows
from kgrag.tools.arguments import Rows, Within
from kgrag.tools.tool import tool

if TYPE_CHECKING:
    from kgrag.plain_knowledge_base import PlainKnowledgeBase
    from kgrag.statements.table import Column, Table

_MOST = 1000  # rows; a list of all statements of a kind has tools of its own
_MOST_SPOTS = 20  # of a row whose sources are read
_NEAREST = 5  # values named where nothing has the one that is asked for
_KINDS: Mapping[str, str] = {
    "document": "文件", "target": "指标", "duty": "任务", "organ": "部门", "entity": "实体",
    "cites": "引用", "based_on": "依据", "implements": "落实", "amends": "修订", "repeals": "废止",
    "forwards": "转发", "issues": "印发", "refers_to": "提及", "related": "关系",
    "assigned_to": "分工",
}  # fmt: skip
_FIELDS: Mapping[str, str] = {
    "title": "标题", "number": "文号", "id": "编号", "issuer": "发文机关", "issuers": "发文机关",
    "written": "成文日期", "issued": "印发日期", "effective": "施行日期", "expires": "失效日期",
    "kind": "文种", "level": "层级", "region": "地区", "regions": "地区", "status": "状态",
    "notice": "印发通知", "year": "年份", "held": "是否在库", "indicator": "名称",
    "comparator": "比较", "value": "数值", "value_to": "上限", "unit": "单位",
    "standing": "目标或完成", "predicate": "谓词", "bound": "界限", "period": "时期",
    "base_year": "基年", "base_value": "基期值", "scope": "范围", "binding": "约束性",
    "condition": "条件", "task": "内容", "deadline": "时限", "name": "名称", "type": "类型",
    "role": "角色", "count": "数量", "min": "最小", "max": "最大", "sum": "合计", "avg": "平均",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Graphed(GraphQuery, Within, Rows):
    """What is asked of the graph, and which rows of it are given."""


@tool("按填写的条件查询知识图谱：起点、关系、条件、分组和排序；逐行注明条款。")
def graph_query(base: "PlainKnowledgeBase", given: Graphed) -> "Table":
    """Query the graph by a form: start, steps along relations, conditions, groups, order.

    Which Sichuan documents are based on the 节能条例: start=document, step=based_on, where=[regions
    contains 四川, document2.title contains 节能条例]. The three highest aims: start=target,
    name=森林覆盖率, where=[year = 2025, standing = planned], order=value, descending, limit=3.
    Tasks that an organ leads: start=organ, name=…, step=in assigned_to, where=[role = 牵头],
    aggregate=count.
    """
    from kgrag.answer.notes import note
    from kgrag.statements.sources import sourced
    from kgrag.statements.table import Table

    doc_ids = base.doc_ids(given.filter)
    found = base.store.graph_rows(given, most=_MOST + 1, doc_ids=doc_ids)
    notes = [] if found.rows else [*_emptied(base, given, doc_ids)]
    if len(found.rows) > _MOST:
        notes.append(note("first-rows", given.lang, shown=_MOST))
    text = f"{found.statement.removesuffix(str(_MOST + 1))}{given.limit or _MOST}"
    language = {"sql": "SQL", "cypher": "Cypher"}[base.store.query_language]
    notes.append(note("graph-statement", given.lang, of=language, statement=text))
    if any(len(row.spots) > _MOST_SPOTS for row in found.rows):
        notes.append(note("first-sources", given.lang, n=_MOST_SPOTS))
    shown = ((row.cells, row.spots[:_MOST_SPOTS]) for row in found.rows[:_MOST])
    rows = sourced(base.store, shown)
    return Table("graph-query", _columns(found), rows, tuple(notes))


def _columns(found: GraphRows) -> "tuple[Column, ...]":
    """Return the columns of a table; those of one name are told apart by their elements."""
    from kgrag.statements.table import Column

    plain = [_FIELDS[one.field] for one in found.columns]
    return tuple(
        Column(str(one), f"{_element(one)}{name}", str(one).replace(".", " ").replace("_", " "))
        for one, name in zip(found.columns, plain, strict=True)
    )


def _element(one: Field) -> str:
    return _KINDS.get(one.kind, "") + one.element.removeprefix(one.kind).removeprefix("result")


def _emptied(
    base: "PlainKnowledgeBase", given: Graphed, doc_ids: Collection[str] | None
) -> Iterator[str]:
    """Yield notes on which condition leaves no rows, and what there is instead."""
    from kgrag.answer.notes import note

    is_bound, until = False, time.monotonic() + FORM_S
    for of, op, values, rest in relaxed(given):
        is_bound = True
        try:
            found = base.store.graph_rows(rest, most=_MOST, doc_ids=doc_ids)
        except StatementError:  # it takes too long, so nobody knows
            return
        if time.monotonic() > until:
            return
        if found.rows:
            at, n = found.columns.index(of), len(found.rows)
            known = {row.cells[at] for row in found.rows} - {None}
            near = tuple(_nearest(values[0] if values else "", known)) or ("—",)
            told = f"{of} {op} {'、'.join(map(str, values))}".strip()
            yield note("graph-emptied", given.lang, condition=told, n=n, field=str(of), values=near)
            return
    yield note("graph-empty" if is_bound else "graph-no-path", given.lang)


def _nearest(asked: str | float, known: "set[str | float | None]") -> Iterator[str]:
    """Yield the values of a field that are nearest to the one that is asked for."""
    from kgrag.store.likeness import likeness
    from kgrag.text.words import normalize_name

    def far(value: object) -> tuple[float, str]:
        if isinstance(value, int | float) and isinstance(asked, int | float):
            return abs(value - asked), str(value)
        return -likeness(normalize_name(str(asked)), normalize_name(str(value))), str(value)

    yield from map(str, sorted(known, key=far)[:_NEAREST])
