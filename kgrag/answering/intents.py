"""Kinds of questions that are answered completely from all statements of the documents."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from kgrag.answer.notes import note
from kgrag.answering.figures import figures
from kgrag.answering.library import (
    absent,
    chunk_at,
    document_meant,
    documents,
    is_of,
    lacking,
    record,
    titled_documents,
    validity,
)
from kgrag.answering.listed import Place
from kgrag.answering.rows import Complete, Stated, place_of
from kgrag.answering.search_context import SearchContext
from kgrag.errors import NotFoundError
from kgrag.question.question import grammar, pieces, question_of
from kgrag.question.sides import Side
from kgrag.retrieval.search import Search
from kgrag.statements.choose import names_organ
from kgrag.statements.references import BASIS, by_node, citation_chain
from kgrag.statements.sources import object_of, role_of, subject_of
from kgrag.statements.table import Cell, Row, Source
from kgrag.statements.timeline import EVENTS
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL
from kgrag.text.numbering import ARTICLE, numbering_at
from kgrag.text.numerals import HAN_SMALL, whole_number
from kgrag.text.plan_periods import plan_ending
from kgrag.text.quantities import narrow
from kgrag.text.words import normalize_name, words
from kgrag.types import Document, Heading, Query

_MOST = 60  # rows
_CERTAINTY, _INFERRED = 5, "推断"  # column of the timeline; in it, a day that no text tells
_TARGET = EVENTS["target"]
# What a document has a part of, by what the question asks for and tags of headings.
_PARTS = ("tasks", "projects", "safeguards", "principles", "fields")
_LINES = re.compile(r"\S(?:[^\n]*\S)?")
_MOST_HEADINGS = 40  # headings


def times(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the dates of a document in the question; None for other questions.

    Dates of one sentence are one row; inferred ones are left out.

    Args:
        search: For the question.
        knowledge: Documents to choose from.
    """
    query = search.query
    asked = "time points" in question_of(query).asks
    meant = document_meant(search, knowledge) if asked else None
    if meant is None:
        return None
    doc_id = meant.card.doc_id
    from kgrag.statements.engine import rows as table_of
    from kgrag.statements.selection import Selection

    found = table_of(knowledge.store, Selection(kind="timeline", document=doc_id))
    told = [row for row in found.rows if row.sources and row.cells[_CERTAINTY] != _INFERRED]
    by_sentence: defaultdict[tuple[Cell, Cell, str], list[Row]] = defaultdict(list)
    for row in told:
        by_sentence[row.cells[0], row.cells[1], row.sources[0].quote].append(row)
    chunks = knowledge.store.chunks_of([doc_id], size=knowledge.settings().leaf)
    rows = [
        Stated(
            Place(doc_id, at.start, at.end, chunk_at(chunks, at.start)),
            lead=_lead(several, at.quote),
        )
        for several in by_sentence.values()
        for at in several[0].sources[:1]
    ]
    if not rows:
        return None
    notes = [note("times", query.language, title=meant.card.title, n=len(told))]
    if len(rows) > _MOST:
        notes.append(note("first-times", query.language, shown=_MOST))
    return Complete(tuple(rows[:_MOST]), (*notes, *meant.notes), "times")


def _lead(rows: Sequence[Row], quote: str) -> str:
    """Return date and event of the rows of one sentence, and what they add to the sentence."""
    date, event = str(rows[0].cells[0]), rows[0].cells[1]
    pieces = zip(date.split("-"), "年月日", strict=False)
    day = "".join(f"{int(number)}{name}" for number, name in pieces)
    if date not in narrow(quote):  # at the end of a plan's five years
        plan = plan_ending(int(date[:4]))
        day = f"“{plan}”" if len(date) == 4 and plan and plan in quote else day
    said = [str(row.cells[2]) for row in rows]
    beyond = [what for what in said if normalize_name(what) not in normalize_name(quote)]
    return f"{day}（{event}）" + (f"：{'、'.join(beyond)}" if beyond and event == _TARGET else "")


def sections(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the headings below a part of a document in the question; None for other questions.

    Args:
        search: For the question.
        knowledge: Documents to choose from.
    """
    query = search.query
    asks = question_of(query).asks
    name = next((name for name in _PARTS if name in asks), "")
    part = re.compile("|".join(map(re.escape, grammar().words(name)))) if name else None
    if part is None or not ("a list" in asks or _ends_with(query.text, part)):
        return None
    meant = document_meant(search, knowledge)
    if meant is None:
        return None
    card = meant.card
    found = _under(knowledge.store.headings([card.doc_id]).get(card.doc_id, ()), part)
    if found is None:
        return None
    heading, inner = found
    chunks = knowledge.store.chunks_of([card.doc_id], size=knowledge.settings().leaf)
    rows = tuple(
        Stated(Place(card.doc_id, h.start, h.end, chunk_at(chunks, h.start))) for h in inner
    )
    counted = note("sections", query.language, title=card.title, part=heading.text, n=len(inner))
    return Complete(rows, (counted, *meant.notes), "sections")


def _ends_with(text: str, part: re.Pattern[str]) -> bool:
    """Return whether a question only names the part: 某某方案的重点任务."""
    bare = text.rstrip("？?。. ")
    return any(match.end() == len(bare) for match in part.finditer(bare))


def _under(
    headings: Sequence[Heading], part: re.Pattern[str]
) -> tuple[Heading, list[Heading]] | None:
    """Return the first heading that names a part, and those directly below it; None for too few."""
    for at, heading in enumerate(headings):
        if not part.search(heading.text):
            continue
        inner: list[Heading] = []
        for following in headings[at + 1 :]:
            if following.level <= heading.level:
                break
            inner.append(following)
        top = min((h.level for h in inner), default=0)
        direct = [h for h in inner if h.level == top]
        if 2 <= len(direct) <= _MOST_HEADINGS:
            return heading, direct
    return None


_ALL = (
    r"(?:在)?(?:这些|各个?|所有|全部|库里?的?|不同)(?:省份?|城市|市|地区?|地方)?的?"
    r"(?:文件|政策|方案)?(?:里面|里|中|内)?"
)
# 在《…》中, 节能方案要求: of which document a question asks.
_IN_DOCUMENT = re.compile(
    r"^(?:请问|列出)?在?(?:《[^》]+》|(?P<document>[^，。《》]{4,60}?"
    r"(?:方案|规划|意见|计划|办法|通知|要点|规定|条例|措施|清单|分工|纲要))(?=[中里内，,由的要明]))"
    r"(?:[中里内的由，,]|里面|要求|明确)*"
)
# 何时完成, 完成时限是什么: the question asks until when, too.
_WHEN = re.compile(
    r"[，,、；;？?]?(?:以及|并且?|分别|各自|各|都|应|须|要|需|和|及|在|于|到|至){0,4}"
    r"(?:(?:何时|几时|哪一?年|多久|什么(?:时候|时间))(?:之?前)?(?:要|应|须|需|能)?(?:完成|办结|做完|落实|到期)?"
    r"|有?(?:什么|哪些)(?:时限|时间|期限)(?:要求|安排|节点)?"
    r"|的?(?:完成|办结)?(?:的)?(?:时限|期限|时间|日期|时间节点)(?:要求|安排|节点)?"
    r"(?:分别|各|又|都)?(?:是|有|为)?(?:什么|哪些|多少|多久|如何|怎样)?(?:时候|时间)?)(?=[？?。，,]|$)"
)
# 生态环境部负责哪些工作, 四川省生态环境厅牵头哪些任务: what does an organ do.
_WHAT = re.compile(
    r"^(?:请问|列出)?(?P<organ>[一-鿿（）()]{2,24}?"
    r"(?:部|委|厅|局|署|院|办|委员会|办公室|银行|政府|公司|总局))"
    rf"(?:{_ALL})?(?:都|主要|具体|一共|共|分别|应当|应|要|需要|需)*(?:"
    r"(?P<role>牵头|负责|配合|承担|参与|做)(?:了|的)?"
    r"(?:哪些|什么|哪几|的?(?:任务|工作|事项|职责)(?:有哪些|是什么|有什么))"
    r"(?:任务|工作|事项|职责|事|内容)*"
    r"|的?(?:主要|具体)?(?:职责|任务|分工)(?:有哪些|是什么|有什么|包括什么|包括哪些)?"
    r"|有(?:哪些|什么)(?:职责|任务|分工|工作))[?？。]?$"
)
# 哪些任务由市生态环境局牵头
_BY_WHOM = re.compile(
    r"^(?:请问|列出|有)?哪些(?:任务|工作|事项|职责)(?:是|都|分别)?由"
    r"(?P<organ>[一-鿿（）()]{2,24})(?P<role>牵头|负责|配合)[?？。]?$"
)
# 各地的充电桩由哪个部门负责: who does a thing, of all documents.
_WHO = re.compile(
    r"(?:由)?(?:哪[些个几]{1,2}(?:部门|单位|机构|厅局)|谁)(?:来)?(?P<role>牵头|负责|主管|管)?"
    r"|归(?:哪[些个几]{1,2}(?:部门|单位|机构)|谁)(?:管|负责)?"
)
_SCOPE = re.compile(rf"{_ALL}|分别|各自")
_ASKING = re.compile(
    r"的?(?:牵头|责任|配合|主管)(?:单位|部门)|负责|牵头|分别|是|都|由|[，,。？?的中里在 ]|工作|建设"
    r"|推进|推动|实施"
)
_DOES, _WHO_DOES = "{}（{}）", "{}：{}"
_MOST_ROWS = 60  # rows
# What a question may ask for of what is cited: the first that it asks for counts.
_ROLES: Mapping[str, Sequence[str]] = {
    "repeals": ("废止",), "amends": ("修订",), "forwards": ("转发",), "bases": BASIS,
}  # fmt: skip
_MOST_HOPS = 3
# CCER是什么: a definition, where there is one.
_IS_WHAT = re.compile(
    r"^(?:请问)?(?P<term>[^，,。？?《》]{2,20}?)(?:是|指的?是?)(?:什么|啥)[？?。]?$"
)
_LONGEST_LIST = 1500  # characters of what is punished below a provision
_PUNISHED = 0.75  # share of a question's words that a provision says, among them a rarest one
# 碳市场里: where; left out where no provision says so.
_ASIDE = re.compile(
    r"^\s*(?:在|的|我国)*[一-鿿]{0,8}?(?:市场|领域|行业|方面)(?:里面?|中|内|上|的)?(?=\s*[^\s里中上的].{2})"
)
_OF_RULE = re.compile("(?:违反|符合|达到|超过|超出)国家")  # no question for the country's
_OF_ACTS = re.compile("吊销|责令|停产|停业|关闭|没收|取消|撤销|暂扣|警告|通报")
_OF_PENALTIES = re.compile(
    r"(?:会|要|将|可能)?(?:被|受到|面临|承担|有)?(?:什么样?|哪些|多少|怎么|如何)的?"
    r"(?:处罚|罚款|法律责任|后果|罚)|违反(?:本|该|上述)?(?:法律?|办法|条例|规定)*"
    r"|(?:什么|哪些)(?:情形|情况|行为)|(?<!重)后果|处罚|罚款|罚 *[钱金]?|受到|面临|会|被|的|有|钱"
    r"|未能?|没有?|不(?=按)|按(?:时|期|规定|要求|照规定)|如期|足额"
)


def duties(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the duties of an organ or of a document, or who does a task in all documents.

    None for other questions.

    Args:
        search: For the question.
        knowledge: Documents to list.
    """
    query = search.query
    if "all duties" in question_of(query).asks:
        return _duties_of_document(search, knowledge)
    text = _WHEN.sub("", query.text)
    when, place = text != query.text, _IN_DOCUMENT.match(text)
    if place and _SCOPE.match(place["document"] or ""):
        place = None  # 各地的规划
    text = text[place.end() :] if place else text
    what, who = _WHAT.match(text) or _BY_WHOM.match(text), _WHO.search(text)
    if not what and not (who and (when or (not query.titles and _SCOPE.search(text)))):
        return None
    cards, notes = knowledge.cards(), tuple[str, ...]()
    if query.titles or place:
        meant = document_meant(search, knowledge)
        if not meant:
            return None
        cards, notes = {meant.card.doc_id: meant.card}, meant.notes
    held = [s for s in knowledge.store.statements("duty") if s.doc_id in cards]
    if what:
        shown = what["organ"]
        found = _of_organ(held, cards, shown, what["role"] or "")
    else:
        left = _SCOPE.sub(" ", _WHO.sub(" ", text))
        shown = task = "".join(_ASKING.sub(" ", left).split())
        found = _of_task(held, task) if len(task) > 1 else []
        if len({s.doc_id for s in found}) < 2 - when:
            return None
    if not found:
        return None
    rows = _rows(_by_date(found, cards), with_organ=not what, with_deadline=when)
    about = f"{shown}职责" if what else f"{shown}由谁负责"
    told = _first_rows(rows, "duties", query, total=len(cards), what=about)
    return replace(told, counted=(*notes, *told.counted))


def _duties_of_document(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the tasks of a document with their organs and deadlines; None without any."""
    meant = document_meant(search, knowledge)
    if not meant:
        return None
    found = knowledge.store.statements("duty", [meant.card.doc_id])
    rows = _rows(sorted(found, key=place_of), with_organ=True, with_deadline=True)
    told = _first_rows(rows, "duties", search.query, total=1, what="职责分工")
    return replace(told, counted=(*meant.notes, *told.counted)) if rows else None


def _by_date(found: Iterable[Statement], cards: Mapping[str, Document]) -> list[Statement]:
    return sorted(
        found, key=lambda s: (cards[s.doc_id].metadata.issue_date, s.doc_id, s.start, s.end)
    )


def _first_rows(rows: Sequence[Stated], kind: str, query: Query, **counted: object) -> Complete:
    """Return rows with a note of this kind on their number, and on those left out."""
    n = len({row.place.doc_id for row in rows})
    notes = [note(kind, query.language, n=n, rows=len(rows), **counted)]
    if len(rows) > _MOST_ROWS:
        notes.append(note("first-rows", query.language, shown=_MOST_ROWS))
    return Complete(tuple(rows[:_MOST_ROWS]), tuple(notes), kind)


def _of_organ(
    held: Sequence[Statement], cards: Mapping[str, Document], organ: str, role: str
) -> list[Statement]:
    """Return the duties of an organ, as the table of duties has them."""
    is_of = names_organ(organ)
    return [
        s
        for s in held
        if is_of(s, cards[s.doc_id]) and (role not in ("牵头", "配合") or role_of(s) == role)
    ]


def _of_task(held: Sequence[Statement], task: str) -> list[Statement]:
    """Return the duties whose task has all words of a task."""
    wanted = set(words(task))
    return [s for s in held if wanted and wanted <= set(words(object_of(s)))]


def _rows(found: Sequence[Statement], *, with_organ: bool, with_deadline: bool) -> list[Stated]:
    """Return a row for each task of a document; for who does it, one with all organs."""
    first: dict[tuple[str, str, int], Statement] = {}
    said: defaultdict[tuple[str, str, int], dict[str, None]] = defaultdict(dict)
    for s in found:
        key = (s.doc_id, object_of(s), s.start)
        first.setdefault(key, s)
        said[key][f"{subject_of(s)}（{role_of(s)}）" if with_organ else role_of(s)] = None
    return [
        Stated(
            place_of(s),
            about=object_of(s),
            lead=(_WHO_DOES if with_organ else _DOES).format(object_of(s), "、".join(said[key])),
            aside=_until(s) if with_deadline else "",
        )
        for key, s in first.items()
    ]


def _until(duty: Statement) -> str:
    return f"时限：{duty.qualifiers.deadline}" if duty.qualifiers.deadline else "未读出时限"


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
        from kgrag.statements.engine import rows as table_of
        from kgrag.statements.selection import Selection

        called = held[own[0]].title if len(own) == 1 else title
        found = table_of(store, Selection(kind="cited_by", document=called))
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
            first.items(), key=lambda item: (held[item[0]].metadata.issue_date, item[0])
        )
    )
    counted = note("cited-by", query.language, title=title, n=len(first), total=len(searched))
    return Complete(rows, (counted,), "references")


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
    cards = knowledge.cards()
    own = titled_documents(search, cards)
    if len(own) != 1:
        return None
    roles = next((roles for name, roles in _ROLES.items() if name in asks), ())
    hops = _MOST_HOPS if "chain" in asks else 1
    held, roles = by_node(knowledge.settings().cards), roles if hops == 1 else BASIS
    steps = citation_chain(knowledge.store, own[0], held=held, roles=roles, hops=hops)
    found = [step.statements[0] for step in steps]
    if not found:
        return None
    n_held = sum(s.fact.object.entity_id in held for s in found)
    kind = "bases" if hops > 1 else "cites"
    counted = note(kind, query.language, title=cards[own[0]].title, n=len(found), held=n_held)
    rows = tuple(Stated(place_of(s), aside=f"{role_of(s)}《{object_of(s)}》") for s in found)
    return Complete(rows, (counted,), "references")


def penalties(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the penalties that a question asks for; None for other questions.

    The rest of the question must be what a provision punishes, when, or how:
    未按规定清缴会受到什么处罚, 什么情形会被吊销许可证. A comparison of places has each place's own.

    Args:
        search: For the question.
        knowledge: Documents to list.
    """
    query, question = search.query, question_of(search.query)
    sides = [side for side in question.sides if not (side.alone or query.titles)]
    if "penalties" not in question.asks or len(sides) != len(question.sides):
        return None
    topic, party = _same(question.topic), grammar().pattern("party")
    who = next((found["who"] for found in party.finditer(topic) if found["who"]), "")
    topic = party.sub(" ", topic)
    asked, less = _done(topic), _done(_ASIDE.sub(" ", topic))
    if not (words(asked) or who or query.titles):
        return None
    cards = _searched(search, knowledge, sides)
    stated = knowledge.store.statements("condition", list(cards), predicates=["处罚"])
    stated = [s for s in stated if _is_by(s.fact.subject.name, who)]
    found = _punishing(stated, asked) or (_punishing(stated, less) if words(less) else [])
    places = {s.doc_id: (cards[s.doc_id].metadata.regions or (NATIONAL,))[-1] for s in found}
    national = query.national and not query.places and not _OF_RULE.search(query.text)
    if national:
        found = [s for s in found if places[s.doc_id] == NATIONAL] or found
    if not found:
        return None
    held = [cards[s.doc_id] for s in found]
    silent = [side.label for side in sides if not any(_is_side(c, side) for c in held)]
    if national and not any(places[card.doc_id] == NATIONAL for card in held):
        silent = [NATIONAL]
    several = sides or len({card.doc_id for card in held}) > 1 or (national and not query.titles)
    texts = {d.doc_id: d.text for d in knowledge.store.documents(list(places))}
    rows = [
        Stated(
            _with_items(s, found, texts[s.doc_id]),
            lead=(f"{places[s.doc_id]}：" if several else "") + _punished_who(s, texts[s.doc_id]),
            about=s.fact.subject.name,
        )
        for s in sorted(_by_date(found, cards), key=lambda s: places[s.doc_id] != NATIONAL)
    ]
    told = _first_rows(rows, "penalties", query, total=len(cards))
    return replace(told, silent=tuple(silent), about=f"{''.join(asked.split())}罚款")


def _done(topic: str) -> str:
    return _OF_PENALTIES.sub(" ", " ".join(pieces(topic)))


def _same(text: str) -> str:
    """Return a text with one word for each offence and party: 未足额履约 is 未足额清缴配额."""
    for word, others in grammar().told["same"].items():
        text = re.sub(others, word, text)
    return text


def _is_by(conduct: str, who: str) -> bool:
    """Return whether it may be a party's that is asked for: it names that one, or none."""
    party = grammar().pattern("party")
    named = [found["who"] or "企业" for found in party.finditer(_same(conduct))]
    is_any = "任何" in conduct or ("企业" in named and party.fullmatch(who[-2:]))
    return not (who and named) or who in named or bool(is_any)


def _punishing(stated: Sequence[Statement], asked: str) -> list[Statement]:
    """Return the provisions that punish what is asked for; all if nothing is.

    What the punishment is counts where the question names one: 什么情形会被吊销许可证.
    """
    wanted = set(words(asked))
    said = [_punished(s, how=bool(_OF_ACTS.search(asked))) for s in stated]
    n_saying = Counter(word for told in said for word in wanted & told)
    rarest = {word for word in wanted if n_saying[word] == min(n_saying.values(), default=0)}
    return [
        s
        for s, told in zip(stated, said, strict=True)
        if (rarest & told or not wanted) and len(wanted & told) >= _PUNISHED * len(wanted)
    ]


def _is_side(card: Document, side: Side) -> bool:
    return is_of(card, side.query.places) if side.query.places else not card.metadata.regions


def _searched(
    search: Search, knowledge: SearchContext, sides: Sequence[Side] = ()
) -> dict[str, Document]:
    """Return the documents that a question names, by titles and places; all if it names none."""
    places = search.query.places
    within = search.titled if search.query.titles else knowledge.doc_ids
    return {
        c.doc_id: c
        for c in knowledge.settings().cards
        if (within is None or c.doc_id in within)
        and (any(_is_side(c, side) for side in sides) if sides else is_of(c, places))
    }


def definitions(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return what documents say that a term means, if a question asks for that; else None.

    Args:
        search: For the question: 什么是碳排放配额.
        knowledge: Documents to list.
    """
    query, question = search.query, question_of(search.query)
    asks = "definition" in question.asks
    named = None if asks else _IS_WHAT.match(query.text)
    shown = named["term"] if named else "".join(question.pieces)
    term = normalize_name(shown)
    if not (asks or named) or not term:
        return None
    cards = _searched(search, knowledge)
    defined = knowledge.store.statements("definition", list(cards))
    found = [s for s in defined if normalize_name(s.fact.subject.name) == term]
    found = found or _short_for(shown, defined, knowledge.store)
    if not found:
        return None
    shown = shown if named else found[0].fact.subject.name
    rows = [Stated(place_of(s)) for s in _by_date(found, cards)]
    return _first_rows(rows, "definitions", query, total=len(cards), term=shown)


def _short_for(short: str, defined: Sequence[Statement], store: Store) -> list[Statement]:
    """Return the definitions of terms with a short form behind them: 核证自愿减排量（CCER）."""
    texts = {c.chunk_id: c.text.casefold() for c in store.chunks([s.chunk_id for s in defined])}
    behind = {s: f"{s.fact.subject.name}（{short}".casefold() for s in defined}
    return [s for s in defined if behind[s] in texts.get(s.chunk_id, "").replace("(", "（")]


def _punished(statement: Statement, *, how: bool) -> set[str]:
    """Return the words of what is punished and when, and how if that is asked for."""
    what = f"{statement.fact.subject.name}{statement.qualifiers.condition}"
    return set(words(f"{_same(what)}{object_of(statement) if how else ''}"))


def _punished_who(statement: Statement, text: str) -> str:
    """Return who is punished for what, when and how: of 对单位处, whom."""
    condition, fine = statement.qualifiers.condition, object_of(statement)
    aside = f"（{condition}）" if condition else ""
    whom = re.search(
        f"对[^，,；;。：对]{{1,12}}{re.escape(fine)}", text[slice(*place_of(statement)[1:3])]
    )
    return f"{statement.fact.subject.name}{aside}：{whom[0] if whom else fine}"


def _with_items(statement: Statement, found: Sequence[Statement], text: str) -> Place:
    """Return the place of a provision, with the items below it as far as they are punished."""
    place = place_of(statement)
    if text[place.end - 1] not in "：:":
        return place
    names = [s.fact.subject.name for s in found if place_of(s) == place]
    below = text[place.end : place.end + _LONGEST_LIST]
    tails = ((name[i:] for i in range(len(name) - 3)) for name in names)
    items = (next((tail for tail in of if tail in below), "") for of in tails)
    return place._replace(end=place.end + max(below.find(i) + len(i) for i in items))


_KINDS = (*grammar().lexicon.words("document"), *grammar().lexicon.words("kind_word"))
_N = rf"[{HAN_SMALL}百零〇\d]{{1,5}}"
_ARTICLES = re.compile(
    rf"第(?P<article>{_N})条(?:第(?P<paragraph>{_N})款)?(?:第?[（(]?(?P<item>{_N})[）)]?项)?"
)


def articles(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the articles that a question names of one document, whole; None for other questions.

    Args:
        search: For the question: 《节能办法》第三条第二款规定了什么.
        knowledge: Documents to choose from.
    """
    query = search.query
    asked = list(_ARTICLES.finditer(query.remainder))
    before = query.remainder[: asked[0].start()] if asked else ""
    is_named = query.titles or before.rstrip("的中里 ").endswith(_KINDS)
    meant = document_meant(search, knowledge) if asked and is_named else None
    if meant is None:
        return None
    doc_id, title = meant.card.doc_id, meant.card.title
    text = next((document.text for document in knowledge.store.documents([doc_id])), "")
    headings = knowledge.store.headings([doc_id]).get(doc_id, ())
    chunks = knowledge.store.chunks_of([doc_id], size=knowledge.settings().leaf)
    rows, notes = list[Stated](), list(meant.notes)
    for one in asked:
        span = _article(text, headings, one)
        whole = span or _article(text, headings, one, parts=())
        if whole:
            rows.append(Stated(Place(doc_id, *whole, chunk_at(chunks, whole[0]))))
        if not span:
            notes.append(note("no-article", query.language, title=title, article=one[0]))
    return Complete(tuple(rows), tuple(notes), "articles")


def _article(
    text: str,
    headings: Sequence[Heading],
    asked: re.Match[str],
    parts: Sequence[str] = ("paragraph", "item"),
) -> tuple[int, int] | None:
    """Return the span of an article, its paragraph or item; None if the document has none."""
    marks = [numbering_at(h.text) for h in headings]
    number = (whole_number(asked["article"]),)
    at = (i for i, m in enumerate(marks) if m and m.family == ARTICLE and m.number == number)
    if (first := next(at, None)) is None:
        return None
    start = headings[first].start
    outer = (h.start for h in headings[first + 1 :] if h.level <= headings[first].level)
    spans = [match.span() for match in _LINES.finditer(text, start, next(outer, len(text)))]
    for kind in filter(asked.group, parts):
        begins = [
            i
            for i, (a, b) in enumerate(spans)
            if (kind == "item") == _is_item(text[a:b])
            and (i == 0 or text[spans[i - 1][1] - 1] in "。；;：:")
        ]
        n = whole_number(asked[kind]) or 0
        if not 0 < n <= len(begins):
            return None
        spans = spans[begins[n - 1] : [*begins, len(spans)][n]]
    return spans[0][0], spans[-1][1]


def _is_item(line: str) -> bool:
    mark = numbering_at(line)
    return mark is not None and mark.family != ARTICLE


_Intent = Callable[[Search, SearchContext], Complete | None]
# Which documents cite one, what one cites, what its articles say, which are in force or lacking,
# who issued one, one that is not held, duties of an organ, a document's points in time, figures of
# several places, what is punished how, what a term means, headings under a part, which documents
# there are: the first that is sure answers. A new kind of question is a function here.
INTENTS: Sequence[_Intent] = (
    citing, cited, articles, validity, lacking, record, absent, duties, times, figures, penalties,
    definitions, sections, documents,
)  # fmt: skip


def complete(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return all statements that a question asks for; None if that is not certain.

    Args:
        search: For the question.
        knowledge: Documents to list.
    """
    return next(filter(None, (intent(search, knowledge) for intent in INTENTS)), None)
