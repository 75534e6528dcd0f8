"""What an organ is to do, and who does a thing in all documents, from all duties that were read."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from kgrag.asking.rows import Complete, Stated, place_of
from kgrag.asking.search_context import SearchContext
from kgrag.retrieval.search import Search
from kgrag.store.graph import Statement
from kgrag.text.organs import canonical_organ
from kgrag.text.words import normalize_name, words
from kgrag.types import Document, Language

_ALL = (
    r"(?:在)?(?:这些|各个?|所有|全部|库里?的?|不同)(?:省份?|城市|市|地区?|地方)?的?"
    r"(?:文件|政策|方案)?(?:里面|里|中|内)?"
)
# 生态环境部负责哪些工作, 四川省生态环境厅牵头哪些任务: what does an organ do.
_WHAT = re.compile(
    r"^(?:请问|列出)?(?P<organ>[一-鿿（）()]{2,24}?"
    r"(?:部|委|厅|局|署|院|办|委员会|办公室|银行|政府|公司|总局))"
    rf"(?:{_ALL})?(?:都|主要|具体|一共|共|分别|应当|应|要|需要|需)*(?:"
    r"(?P<role>牵头|负责|配合|承担|参与|做)(?:了|的)?"
    r"(?:哪些|什么|哪几|的?(?:任务|工作|事项|职责)(?:有哪些|是什么|有什么))"
    r"(?:任务|工作|事项|职责|事|内容)*"
    r"|的?(?:主要|具体)?(?:职责|任务|分工)(?:有哪些|是什么|有什么|包括什么|包括哪些)?)[?？。]?$"
)
# 各地的充电桩由哪个部门负责: who does a thing, of all documents.
_WHO = re.compile(
    r"(?:由)?(?:哪[些个几]{1,2}(?:部门|单位|机构|厅局)|谁)(?:来)?(?P<role>牵头|负责|主管|管)?"
    r"|归(?:哪[些个几]{1,2}(?:部门|单位|机构)|谁)(?:管|负责)?"
)
_SCOPE = re.compile(rf"{_ALL}|分别|各自")
_ASKING = re.compile(
    r"的?(?:牵头|责任|配合|主管)(?:单位|部门)|负责|牵头|分别|是|都|由|[，,。？?的中里在 ]|工作|建设"
)
_NOTES: Mapping[Language, tuple[str, str]] = {
    "zh": ("共{total}份文件，其中读出{what}的有{n}份，共{rows}条", "列出前{shown}条"),
    "en": ("{n} of {total} documents were found to state {what}, {rows} rows", "the first {shown}"),
}
_DOES, _WHO_DOES = "{}（{}）", "{}：{}"
_MOST = 60  # rows


def duties(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return what an organ is to do, or who does a thing in all documents; None for another.

    Args:
        search: For the question.
        knowledge: Whose documents are listed.
    """
    query = search.query
    if query.titles:
        return None
    what, who = _WHAT.match(query.text), _WHO.search(query.text)
    if not what and not (who and _SCOPE.search(query.text)):
        return None
    settings, within = knowledge.settings(), knowledge.doc_ids
    cards = {c.doc_id: c for c in settings.cards if within is None or c.doc_id in within}
    held = [s for s in knowledge.store.statements("duty") if s.doc_id in cards]
    if what:
        shown = what["organ"]
        found = _of_organ(held, shown, what["role"] or "")
    else:
        left = _SCOPE.sub(" ", _WHO.sub(" ", query.text))
        task = "".join(_ASKING.sub(" ", left).split())
        shown = task
        found = _of_task(held, task) if len(task) > 1 else []
        if len({s.doc_id for s in found}) < 2:
            return None
    if not found:
        return None
    found.sort(key=lambda s: (*_when(cards[s.doc_id]), s.start, s.end))
    rows = _rows(found, with_organ=not what)
    counted, first = _NOTES[query.language]
    n = len({row.place.doc_id for row in rows})
    about = f"{shown}职责" if what else f"{shown}由谁负责"
    notes = [counted.format(total=len(cards), what=about, n=n, rows=len(rows))]
    if len(rows) > _MOST:
        notes.append(first.format(shown=_MOST))
    return Complete(tuple(rows[:_MOST]), tuple(notes), "duties")


def _of_organ(held: Sequence[Statement], organ: str, role: str) -> list[Statement]:
    """Return the duties of an organ, by its full name or as documents write it."""
    wanted = {normalize_name(organ), normalize_name(canonical_organ(organ, regions=()))}
    return [
        s
        for s in held
        if {normalize_name(s.fact.subject.name), normalize_name(s.qualifiers.subject)} & wanted
        and (role not in ("牵头", "配合") or _role(s) == role)
    ]


def _of_task(held: Sequence[Statement], task: str) -> list[Statement]:
    """Return the duties whose task has all words of one."""
    wanted = set(words(task))
    return [s for s in held if wanted and wanted <= set(words(_task(s)))]


def _rows(found: Sequence[Statement], *, with_organ: bool) -> list[Stated]:
    """Return a row for each task of a document; for who does it, all organs are in one."""
    first: dict[tuple[str, str, int], Statement] = {}
    said: defaultdict[tuple[str, str, int], dict[str, None]] = defaultdict(dict)
    for s in found:
        key = (s.doc_id, _task(s), s.start)
        first.setdefault(key, s)
        organ = s.qualifiers.subject or s.fact.subject.name
        said[key][f"{organ}（{_role(s)}）" if with_organ else _role(s)] = None
    return [
        Stated(
            place_of(s),
            about=_task(s),
            lead=(_WHO_DOES if with_organ else _DOES).format(_task(s), "、".join(said[key])),
        )
        for key, s in first.items()
    ]


def _task(statement: Statement) -> str:
    return statement.qualifiers.object or statement.fact.object.name


def _role(statement: Statement) -> str:
    return statement.qualifiers.role or statement.fact.predicate


def _when(card: Document) -> tuple[str, str]:
    return str(card.metadata.issued or card.metadata.written or ""), card.doc_id
