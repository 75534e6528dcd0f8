"""Tools that find and read what documents say, and list what is held."""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kgrag.tools.arguments import Arguments, Dated, Rows, Within, argument
from kgrag.tools.tool import listing, tool

if TYPE_CHECKING:
    from kgrag.plain_knowledge_base import PlainKnowledgeBase
    from kgrag.statements.table import Cell, Table
    from kgrag.tools.results import Found, Overview, Reading
    from kgrag.types import Document

_TEXTS = {"id": "string", "title": "string", "text": "string", "next": "string"}
_FOUND = {
    "type": "object",
    "required": ["results", "notes"],
    "properties": {
        "results": {"type": "array", "items": {"type": "object", "required": ["id", "title"]}},
        "notes": {"type": "array"},
    },
}
_READING = {
    "type": "object",
    "required": [*_TEXTS, "document", "outline"],
    "properties": {name: {"type": kind} for name, kind in _TEXTS.items()},
}
_TABLES = {"type": "object", "required": ["tables"], "properties": {"tables": {"type": "array"}}}
_AROUND = 1_000  # facts around an entity, 50 of each where more steps are taken
_SOURCES = 3  # of a fact
_MOST_PLACES = 1_000  # that are listed of a text
_LINE = 60  # characters of text on each side of it
_BATCH = 64  # documents whose texts are held at once
_SECONDS = 5.0  # for one look through all texts
# Full-width forms and capitals as what they are forms of; offsets stay.
_NARROW = str.maketrans(
    {0xFF01 + n: chr(0x21 + n).lower() for n in range(94)}
    | {0x3000: " "}
    | {chr(n): chr(n + 32) for n in range(ord("A"), ord("Z") + 1)}
)


@dataclass(frozen=True, kw_only=True)
class Searched(Dated):
    """What is searched."""

    question: str = argument("Words, or a title in 《》.", "问题或词语；标题加《》。")
    top_k: int = argument("Passages at most.", "最多几个片段。", default=10, ge=1, le=1000)
    system: str = argument(
        "Retrieval preset; grim by default.", "检索方案；默认为 grim。", default=""
    )


@tool("检索最能回答问题的片段，附标题、章节和位置。", gives=_FOUND, is_kept=False)
def search(base: "PlainKnowledgeBase", given: Searched) -> "Found":
    """Find the passages that a question is best answered from, best first."""
    from kgrag.answer.reasons import explained
    from kgrag.answering.notes import search_notes
    from kgrag.text.words import question_language
    from kgrag.tools.results import Found

    question, within = given.question, given.filter
    hits = base.search(
        question,
        system=given.system or None,
        top_k=given.top_k,
        within=within,
        as_of=given.day,
    )
    about = base.store, base.config, base.sizes
    numbers = {card.doc_id: card.metadata.number for card in base.store.document_cards()}
    return Found(
        hits,
        explained(question, hits, given.lang),
        [numbers.get(hit.chunk.doc_id, "") for hit in hits],
        search_notes(*about, within, given.day, question),
        question_language(question),
    )


@dataclass(frozen=True, kw_only=True)
class Read(Arguments):
    """What is read."""

    document: str = argument(
        "Id, file, number or title of a document, or a place: DOCUMENT:START-END (characters).",
        "文件的编号、路径、文号或标题，或其中一处：文件:起-止（字符）。",
    )
    paragraphs: int = argument(
        "Paragraphs before and behind.", "前后各显示几段。", default=1, ge=0, le=100
    )
    characters: int = argument(
        "Characters at most; `next` is the place of the rest.",
        "最多几个字符；其余从 next 所指处续读。",
        default=6_000,
        ge=1,
        le=1_000_000,
    )


@tool("读文件：其信息、标题层级和正文；或其中一处原文及其上下文。", gives=_READING)
def read(base: "PlainKnowledgeBase", given: Read) -> "Reading":
    """Read a document with its outline, or a place in it with the text around it."""
    from kgrag.answer.address import Address
    from kgrag.answer.excerpt import Excerpt
    from kgrag.errors import NotFoundError, OutOfRangeError
    from kgrag.tools.results import Reading

    at = None
    try:
        document = base.document(given.document)
    except NotFoundError:
        try:
            at = Address.parse(given.document)
        except OutOfRangeError:
            at = None
        if at is None:
            raise
        document = base.document(at.document)
    start, end = (at.start, at.end) if at else (0, len(document.text))
    headings = base.store.headings([document.doc_id]).get(document.doc_id, [])
    status = base.statuses()[document.doc_id]
    span = start, min(end, start + given.characters)
    excerpt = None
    if at or document.text:
        around = given.paragraphs if at else 0
        excerpt = Excerpt.of(document, headings, span, paragraphs=around, status=status)
    return Reading(document, status, excerpt, end, headings, at is None, given.lang)


@dataclass(frozen=True, kw_only=True)
class Fetched(Arguments):
    """What is fetched."""

    id: str = argument("Of a result of `search`, or a document's.", "检索结果或文件的编号。")


@tool("按编号取检索结果或文件的正文；供只认 search 和 fetch 的助手使用。", gives=_READING)
def fetch(base: "PlainKnowledgeBase", given: Fetched) -> "Reading":
    """Return the text of a search result or document, for assistants that know this name only."""
    asked = Read(document=given.id, paragraphs=2, characters=20_000, lang=given.lang)
    found: Reading = read.run(base, asked)
    return found


@dataclass(frozen=True, kw_only=True)
class Looked(Within, Rows):
    """What is looked for, and where."""

    text: str = argument(
        "Two characters or more; no regular expression.",
        "两个字以上；不是正则表达式。",
        max_length=200,
    )


@tool("在全部文件中查找原文，全半角、大小写、空白和换行不论；最多列一千处。")
def grep(base: "PlainKnowledgeBase", given: Looked) -> "Table":
    """Find a literal text in all documents; width, capitals, blanks and line breaks do not matter.

    Use it to check that words or a number stand anywhere, or nowhere.
    """
    from kgrag.answer.notes import note
    from kgrag.statements.sources import Spot, sourced
    from kgrag.statements.table import Column, Table
    from kgrag.text.visible import shortened

    looked_for, chosen = _literal(given.text), base.doc_ids(given.filter)
    ids = [c.doc_id for c in base.documents() if chosen is None or c.doc_id in chosen]
    stop, lines, hits, seen = time.monotonic() + _SECONDS, dict[Spot, str](), 0, 0
    for document in _texts(base, ids):
        for match in looked_for.finditer(document.text.translate(_NARROW)):
            hits += 1
            if len(lines) < _MOST_PLACES:
                start, end = match.span()
                around = document.text[max(start - _LINE, 0) : end + _LINE]
                lines[document.doc_id, start, end] = shortened(around, len(around))
        seen += 1
        if time.monotonic() > stop:
            break
    found = sourced(base.store, (((line,), (spot,)) for spot, line in lines.items()))
    told = note("looked-through", given.lang, hits=hits, n=seen, all=len(ids))
    return Table("grep", (Column("line", "原文", "text"),), found, (told,))


def _literal(text: str) -> re.Pattern[str]:
    """Return a pattern for a text as it is, between whose characters blanks may stand.

    Raises:
        OutOfRangeError: If it has fewer than two characters.
    """
    from kgrag.errors import OutOfRangeError

    plain = "".join(text.translate(_NARROW).split())
    if len(plain) < 2:
        raise OutOfRangeError("{where} is of two characters or more", where="text")
    return re.compile(r"\s*".join(map(re.escape, plain)))


def _texts(base: "PlainKnowledgeBase", ids: Sequence[str]) -> "Iterator[Document]":
    for at in range(0, len(ids), _BATCH):
        yield from base.store.documents(ids[at : at + _BATCH])


@tool("列出未能读取或读取有误的文件，附处理办法。")
def problems(base: "PlainKnowledgeBase", given: Rows) -> "Table":
    """List what was read badly or not at all, with what can be done about it."""
    from kgrag.text.messages import catalogue, in_language

    said = catalogue("kgrag.serve") if given.lang == "zh" else {}
    headings = {
        "kind": "问题", "file": "文件", "detail": "说明", "remedy": "处理办法", "doc_id": "编号",
    }  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    for one in base.problems():
        detail, remedy = (in_language(text, given.lang) for text in (one.detail, one.remedy))
        kind = str(said.get(one.kind, one.kind))
        rows.append((kind, one.file, detail, remedy, one.doc_id))
    return listing("problems", headings, rows)


@tool("概览：有什么、缺什么。按年份、地区、发文机关计数，列出各地空缺、引用和效力。", gives=_TABLES)
def overview(base: "PlainKnowledgeBase", given: Arguments) -> "Overview":
    """Say what is held and what is missing: by year, region, issuer; gaps, citations, validity."""
    from kgrag.tools.results import Overview

    return Overview(base.overview(language=given.lang), given.lang)


@dataclass(frozen=True, kw_only=True)
class Around(Rows):
    """Whose surroundings are shown."""

    entity: str = argument("Organ, document or indicator.", "单位、文件或指标的名称。")
    hops: int = argument("Steps at most.", "最多几步。", default=1, ge=1, le=3)
    limit: int = argument(
        "Rows at most; 0 for all.", "最多几行；0 为全部。", default=50, ge=0, le=1_000_000
    )


@tool("列出与某一实体有关的事实，附原文。")
def graph(base: "PlainKnowledgeBase", given: Around) -> "Table":
    """List the facts around an entity, with where they are stated."""
    from kgrag.statements.sources import sourced
    from kgrag.statements.table import Column, Table

    _, facts = base.graph(given.entity, hops=given.hops, limit=_AROUND if given.hops == 1 else 50)
    stated: list[Any] = [
        (
            (fact.subject.name, fact.predicate, fact.object.name),
            [*dict.fromkeys((e.doc_id, e.start, e.end) for e in fact.evidence)][:_SOURCES],
        )
        for fact in facts
    ]
    columns = (
        Column("subject", "主体", "subject"),
        Column("predicate", "关系", "relation"),
        Column("object", "客体", "object"),
    )
    return Table("graph", columns, sourced(base.store, stated))
