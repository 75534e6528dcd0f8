"""Kinds of questions that are answered completely from all statements of the documents."""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from kgrag.answer.notes import note
from kgrag.answering.figures import figures
from kgrag.answering.listed import Place
from kgrag.answering.of_document import chunk_at, sections, times
from kgrag.answering.rows import Complete, Stated, place_of
from kgrag.answering.search_context import SearchContext
from kgrag.errors import NotFoundError
from kgrag.question.question import question_of
from kgrag.retrieval.search import Search
from kgrag.store.graph import Statement
from kgrag.tables.references import BASIS
from kgrag.tables.table import Source
from kgrag.tables.tables import Tables
from kgrag.text.document_nodes import node_id
from kgrag.text.facets import document_facets
from kgrag.text.organs import canonical_organ
from kgrag.text.words import normalize_name, words
from kgrag.types import Document

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
_DOES, _WHO_DOES = "{}（{}）", "{}：{}"
_MOST_ROWS = 60  # rows
# What a question may ask for of what is cited: the first that it asks for counts.
_ROLES: Mapping[str, Sequence[str]] = {
    "repeals": ("废止",), "amends": ("修订",), "forwards": ("转发",), "bases": BASIS,
}  # fmt: skip
_MOST_HOPS = 3
_PUNISHED = 0.75  # share of a question's words that a provision says
_OF_PENALTIES = re.compile(
    r"(?:会|要|将|可能)?(?:被|受到|面临|承担|有)?(?:什么样?|哪些|多少|怎么|如何)的?"
    r"(?:处罚|罚款|法律责任|后果|罚)|违反(?:本|该|上述)?(?:法律?|办法|条例|规定)*"
    r"|(?:什么|哪些)(?:情形|情况|行为)|处罚|罚款|会|被|的|有"
)


def duties(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the duties of an organ, or who does a task in all documents; None for others.

    Args:
        search: For the question.
        knowledge: Documents to list.
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
    n = len({row.place.doc_id for row in rows})
    about = f"{shown}职责" if what else f"{shown}由谁负责"
    language = query.language
    notes = [note("duties", language, total=len(cards), what=about, n=n, rows=len(rows))]
    if len(rows) > _MOST_ROWS:
        notes.append(note("first-rows", language, shown=_MOST_ROWS))
    return Complete(tuple(rows[:_MOST_ROWS]), tuple(notes), "duties")


def _of_organ(held: Sequence[Statement], organ: str, role: str) -> list[Statement]:
    """Return the duties of an organ, by its full name or as documents write it."""
    wanted = {normalize_name(organ), normalize_name(canonical_organ(organ, regions=()))}
    return [
        s
        for s in held
        if {normalize_name(s.fact.subject.name), normalize_name(s.qualifiers.subject)} & wanted
        and (role not in ("牵头", "配合") or _role_of_duty(s) == role)
    ]


def _of_task(held: Sequence[Statement], task: str) -> list[Statement]:
    """Return the duties whose task has all words of a task."""
    wanted = set(words(task))
    return [s for s in held if wanted and wanted <= set(words(_task(s)))]


def _rows(found: Sequence[Statement], *, with_organ: bool) -> list[Stated]:
    """Return a row for each task of a document; for who does it, one with all organs."""
    first: dict[tuple[str, str, int], Statement] = {}
    said: defaultdict[tuple[str, str, int], dict[str, None]] = defaultdict(dict)
    for s in found:
        key = (s.doc_id, _task(s), s.start)
        first.setdefault(key, s)
        organ = s.qualifiers.subject or s.fact.subject.name
        said[key][f"{organ}（{_role_of_duty(s)}）" if with_organ else _role_of_duty(s)] = None
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


def _role_of_duty(statement: Statement) -> str:
    return statement.qualifiers.role or statement.fact.predicate


def _when(card: Document) -> tuple[str, str]:
    return str(card.metadata.issued or card.metadata.written or ""), card.doc_id


def citing(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return all documents that cite a title, if a question asks for them.

    By references of rules, models or imports, in order of issue, each with its first place,
    without the title's own document.

    Args:
        search: For the question, which quotes one title.
        knowledge: Documents to list.
    """
    query = search.query
    if len(query.titles) != 1 or "who cites" not in question_of(query).asks:
        return None
    title, store = query.titles[0], knowledge.store
    settings = knowledge.settings()
    held = {card.doc_id: card for card in settings.cards}
    own = [doc_id for doc_id in search.titled if doc_id in held]
    searched = knowledge.doc_ids if knowledge.doc_ids is not None else held.keys()
    try:
        found = Tables(store).cited_by(held[own[0]].title if len(own) == 1 else title)
    except NotFoundError:
        return None
    first: dict[str, tuple[str, Source]] = {}
    for row in found.rows:
        for source in row.sources[:1]:
            if source.doc_id in searched and source.doc_id not in own:
                first.setdefault(source.doc_id, (str(row.cells[0]), source))
    if not first:
        return None
    chunks = {d: store.chunks_of([d], size=settings.leaf) for d in first}
    rows = tuple(
        Stated(Place(d, at.start, at.end, chunk_at(chunks[d], at.start)), aside=role)
        for d, (role, at) in sorted(
            first.items(), key=lambda item: (_issued(held[item[0]]), item[0])
        )
    )
    counted = note("cited-by", query.language, title=title, n=len(first), total=len(searched))
    return Complete(rows, (counted,), "references")


def _issued(card: Document) -> str:
    return str(card.metadata.issued or card.metadata.written or "")


def cited(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return what a document in the question cites; None for other questions.

    Args:
        search: For the question.
        knowledge: Documents to list.
    """
    query = search.query
    asks = question_of(query).asks
    if "what is cited" not in asks or len(query.titles) != 1:
        return None
    cards = {card.doc_id: card for card in knowledge.settings().cards}
    own = _own(search, query.titles[0], cards, knowledge.doc_ids)
    if own is None:
        return None
    roles = next((roles for name, roles in _ROLES.items() if name in asks), ())
    hops = _MOST_HOPS if "chain" in asks else 1
    held: dict[str, list[str]] = {}
    for card in cards.values():
        held.setdefault(node_id(card.title, card.metadata), []).append(card.doc_id)
    found = list(_followed(own, knowledge, held, roles if hops == 1 else BASIS, hops, {own}))
    if not found:
        return None
    n_held = sum(s.fact.object.entity_id in held for s in found)
    kind = "bases" if hops > 1 else "cites"
    counted = note(kind, query.language, title=cards[own].title, n=len(found), held=n_held)
    rows = tuple(Stated(place_of(s), aside=_aside(s)) for s in found)
    return Complete(rows, (counted,), "references")


def _own(
    search: Search, title: str, cards: Mapping[str, Document], within: Collection[str] | None
) -> str | None:
    """Return the one document with a title; if there are several, the exact one."""
    found = [d for d in search.titled if d in cards and (within is None or d in within)]
    exact = [d for d in found if normalize_name(cards[d].title) == normalize_name(title)]
    several = exact or found
    return several[0] if len(several) == 1 else None


def _followed(
    doc_id: str,
    knowledge: SearchContext,
    held: Mapping[str, list[str]],
    roles: Collection[str],
    hops: int,
    met: set[str],
) -> Iterator[Statement]:
    """Yield the first place of each cited document, then of theirs, depth first."""
    first: dict[str, Statement] = {}
    for statement in knowledge.store.statements("reference", [doc_id]):
        if not roles or _role(statement) in roles:
            first.setdefault(statement.fact.object.entity_id, statement)
    for node, statement in first.items():
        yield statement
        for further in held.get(node, ()):
            if hops > 1 and further not in met:
                met.add(further)
                yield from _followed(further, knowledge, held, roles, hops - 1, met)


def _role(statement: Statement) -> str:
    return statement.qualifiers.role or statement.fact.predicate


def _aside(statement: Statement) -> str:
    name = statement.qualifiers.object or statement.fact.object.name
    return f"{_role(statement)}《{name}》"


def penalties(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the penalties that a question asks for; None for other questions.

    The rest of the question must be what a provision punishes, when, or how:
    未按规定清缴会受到什么处罚, 什么情形会被吊销许可证.

    Args:
        search: For the question.
        knowledge: Documents to list.
    """
    query, question = search.query, question_of(search.query)
    if "penalties" not in question.asks or question.sides:
        return None
    wanted = set(words(_OF_PENALTIES.sub(" ", " ".join(question.pieces))))
    if not wanted and not query.titles:
        return None
    within = search.titled if query.titles else knowledge.doc_ids
    cards = {
        c.doc_id: c
        for c in knowledge.settings().cards
        if (within is None or c.doc_id in within)
        and (not query.places or query.places & set(document_facets(c.title, c.metadata).places))
    }
    found = [
        s
        for s in knowledge.store.statements("condition", list(cards), predicates=["处罚"])
        if len(wanted & set(words(_punished(s)))) >= _PUNISHED * len(wanted)
    ]
    if not found:
        return None
    found.sort(key=lambda s: (*_when(cards[s.doc_id]), s.start, s.end))
    rows = [Stated(place_of(s), lead=_punished_who(s), about=s.fact.subject.name) for s in found]
    n, language = len({s.doc_id for s in found}), query.language
    notes = [note("penalties", language, total=len(cards), n=n, rows=len(rows))]
    if len(rows) > _MOST_ROWS:
        notes.append(note("first-rows", language, shown=_MOST_ROWS))
    return Complete(tuple(rows[:_MOST_ROWS]), tuple(notes), "penalties")


def _punished(statement: Statement) -> str:
    q, fact = statement.qualifiers, statement.fact
    return f"{fact.subject.name}{q.condition}{q.object or fact.object.name}"


def _punished_who(statement: Statement) -> str:
    q, fact = statement.qualifiers, statement.fact
    condition = f"（{q.condition}）" if q.condition else ""
    return f"{fact.subject.name}{condition}：{q.object or fact.object.name}"


_Intent = Callable[[Search, SearchContext], Complete | None]
# Which documents cite one, what one cites, its points in time, figures of several places, duties of
# an organ, what is punished how, headings under a part: the first that is sure answers. A new kind
# of question that statements answer is a function here.
INTENTS: Sequence[_Intent] = (citing, cited, times, figures, duties, penalties, sections)


def complete(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return all statements that a question asks for; None if that is not certain.

    Args:
        search: For the question.
        knowledge: Documents to list.
    """
    return next(filter(None, (intent(search, knowledge) for intent in INTENTS)), None)
