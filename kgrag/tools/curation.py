"""Tools for those who keep a knowledge base: entities, corrections, mergers, deletion."""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from kgrag.errors import OutOfRangeError
from kgrag.tools.arguments import Arguments, argument, names
from kgrag.tools.tool import listing, tool

if TYPE_CHECKING:
    from kgrag.plain_knowledge_base import PlainKnowledgeBase
    from kgrag.statements.table import Cell, Table
    from kgrag.types import Document

_ALL = "all"


@dataclass(frozen=True, kw_only=True)
class OfType(Arguments):
    """Which entities are listed."""

    type: str = argument(
        "Only of this type: agency, region, target.",
        "只列该类型：单位（agency）、地区（region）、指标（target）。",
        default="",
    )
    limit: int = argument("Rows at most.", "最多几行。", default=40, ge=1, le=1_000)


@dataclass(frozen=True, kw_only=True)
class Named(Arguments):
    """Which document is changed."""

    document: str = argument("Id, file, number or title.", "文件的编号、路径、文号或标题。")


def _corrected(english: str, chinese: str) -> Any:
    return argument(english, chinese, default=None)


@dataclass(frozen=True, kw_only=True)
class Corrected(Named):
    """What is corrected of a document; an empty text says that there is none."""

    title: str | None = _corrected("Title of the body.", "正文标题。")
    issuer: str | None = _corrected("Organs that issued it, by 、.", "发文机关，用、分隔。")
    number: str | None = _corrected("Its number: 川府发〔2022〕3号.", "文号：川府发〔2022〕3号。")
    date: str | None = _corrected("Date of issue: 2022-03-05.", "发文日期：2022-03-05。")
    written: str | None = _corrected("When it was signed.", "成文日期。")
    effective: str | None = _corrected("From when it is in force.", "施行日期。")
    expires: str | None = _corrected("Until when it is in force.", "有效期截止日期。")
    region: str | None = _corrected(
        "That it governs: 四川省、成都市; 全国.", "适用地区：四川省、成都市；全国。"
    )
    level: str | None = _corrected("国家, 部门, 省, 市, 县.", "层级：国家、部门、省、市、县。")
    kind: str | None = _corrected("文种: 通知, 实施方案.", "文种：通知、实施方案。")
    status: str | None = _corrected("试行, 征求意见稿, 废止.", "效力状态：试行、征求意见稿、废止。")
    recipients: str | None = _corrected("To whom it is addressed, by ；.", "主送机关，用；分隔。")
    reset: tuple[str, ...] = names(
        "Fields whose correction is taken back; `all` for every one.",
        "撤销更正的项目；all 为全部。",
        listed=True,
    )


CORRECTABLE = {f.name: f.metadata for f in fields(Corrected)[2:-1]}  # without lang, document, reset


@dataclass(frozen=True, kw_only=True)
class Merged(Arguments):
    """Entities that are one."""

    into: str = argument("What they are called from now on.", "合并后的名称。")
    names: tuple[str, ...] = argument(
        "What they are called.", "各名称。", min_length=1, max_length=200
    )


@dataclass(frozen=True, kw_only=True)
class Split(Arguments):
    """A name that is no longer an entity's."""

    name: str = argument("As documents write it, or as it was merged.", "要拆出的名称。")
    entity: str = argument("What it is part of now.", "该名称目前所属的实体。")


@tool("列出实体，事实最多的在前，附各文件中的其他写法。")
def entities(base: "PlainKnowledgeBase", given: OfType) -> "Table":
    """List the entities, those with most facts first, with how documents write them otherwise."""
    headings = {
        "name": "名称", "type": "类型", "facts": "事实", "documents": "文件", "written": "其他写法",
    }  # fmt: skip
    found = base.entities(limit=given.limit, type_=given.type or None)
    rows: list[tuple[Cell, ...]] = [
        (e.name, e.type, e.facts, e.documents, "、".join(f"{w} ×{n}" for w, n in e.written.items()))
        for e in found
    ]
    return listing("entities", headings, rows)


@tool("列出可能是同一实体的名称，并以注列明已作的决定。", curates=True)
def duplicates(base: "PlainKnowledgeBase", given: OfType) -> "Table":
    """List pairs of entities that may be one, for you to decide; notes tell what was decided."""
    from kgrag.text.messages import message

    said = {"merge": "{name} is {into}", "split": "{name} is not {into}"}
    decided = [message(said[d.kind], name=d.name, into=d.into) for d in base.store.decisions()]
    found = base.duplicates(limit=given.limit, type_=given.type or None)
    rows: list[tuple[Cell, ...]] = [(p.name, p.into, round(p.likeness, 2)) for p in found]
    headings = {"name": "名称", "into": "另一名称", "likeness": "相似度"}
    return listing("duplicates", headings, rows, *decided)


@tool("更正读出的文件信息；即时生效，重新导入或删除后仍保留，并优先于 metadata.csv。", curates=True)
def correct(base: "PlainKnowledgeBase", given: Corrected) -> "Table":
    """Correct what was read of a document.

    Corrections hold at once, outlive a new ingest and a deletion, and win over metadata.csv.
    """
    from kgrag.ingestion.load.statement import field_of

    told = {k: v for k in CORRECTABLE if (v := getattr(given, k)) is not None}
    if not told and not given.reset:
        raise OutOfRangeError("give fields to correct, or reset to take corrections back")
    if unknown := [name for name in given.reset if name not in (*CORRECTABLE, _ALL)]:
        raise OutOfRangeError(
            "there is no field {name!r}; there are {fields}",
            name=unknown[0],
            fields=", ".join(CORRECTABLE),
        )
    curator = base.curator()
    if given.reset:
        card = curator.reset(
            given.document, () if _ALL in given.reset else map(field_of, given.reset)
        )
    if told:
        card = curator.correct(given.document, told)
    inferred = card.metadata.inferred
    rows: list[tuple[Cell, ...]] = [
        (name, value, "推断" if field_of(name) in inferred else "")
        for name, value in correctable_of(card).items()
        if value
    ]
    return listing("correct", {"field": "项目", "value": "内容", "how": "依据"}, rows)


def correctable_of(card: "Document") -> dict[str, str]:
    """Return the fields of a document that can be corrected, as they are typed."""
    from kgrag.ingestion.load.statement import field_of

    told: dict[str, Any] = {**card.metadata.to_record(), "title": card.title}
    between = {"recipients": "；"}
    return {
        name: value if isinstance(value, str) else between.get(name, "、").join(value)
        for name, value in ((name, told.get(field_of(name), "")) for name in CORRECTABLE)
    }


@tool("删除文件，以及只由该文件支持的内容。", curates=True)
def delete(base: "PlainKnowledgeBase", given: Named) -> "Table":
    """Delete a document and what only it supports; part of its title does not name it."""
    card = base.delete(given.document)
    return listing("delete", {"doc_id": "编号", "title": "标题"}, [(card.doc_id, card.title)])


@tool("把几个名称合并为一个实体，现有和今后的文件都按此处理。", curates=True)
def merge(base: "PlainKnowledgeBase", given: Merged) -> "Table":
    """Have entities be one, in what is held and in what comes."""
    n = base.curator().merge(given.names, given.into)
    return _decided("merge", "、".join(given.names), given.into, n)


@tool("把名称从某一实体中拆出：撤销合并，或使二者分开。", curates=True)
def split(base: "PlainKnowledgeBase", given: Split) -> "Table":
    """Have a name be no longer an entity's: takes a merger back, or keeps names apart."""
    return _decided(
        "split", given.name, given.entity, base.curator().split(given.name, given.entity)
    )


def _decided(name: str, one: str, other: str, n: int) -> "Table":
    headings = {"name": "名称", "entity": "实体", "documents": "已更新文件"}
    return listing(name, headings, [(one, other, n)])
