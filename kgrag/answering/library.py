"""Questions about documents as such: which is meant, in force, held, lacking; what one is."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kgrag.answer.notes import Note, note
from kgrag.answering.listed import Place
from kgrag.answering.rows import Complete, Stated, place_of
from kgrag.answering.search_context import SearchContext
from kgrag.errors import NotFoundError
from kgrag.question.question import PROVINCES, grammar, pieces, question_of, tagged
from kgrag.retrieval.filter import Filter
from kgrag.retrieval.search import Search
from kgrag.statements import overview
from kgrag.statements.naming import day_of_issue
from kgrag.statements.references import BASIS, by_node, citation_chain
from kgrag.statements.sources import Spot, object_of, role_of
from kgrag.statements.timeline import EVENTS
from kgrag.status import Status, StatusKind, kind_in_words
from kgrag.store.graph import Statement
from kgrag.store.likeness import LEAST_LIKE, likeness
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_name
from kgrag.text.facets import NATIONAL, document_facets
from kgrag.text.leading_region import leading_region
from kgrag.text.official_terms import in_official_terms, official_terms
from kgrag.text.organs import full_organ_name, is_central_organ
from kgrag.text.places import places_in, question_places, with_places_inside
from kgrag.text.tagged import Tagged
from kgrag.text.title_keys import title_key, title_keys
from kgrag.text.titles import document_kinds
from kgrag.text.words import character_pairs, normalize_name, words
from kgrag.types import Chunk, Document, Language, Query

_MOST_OTHERS = 3
_MOST_ROWS = 60
_MOST_ISSUERS = 3
_NEAR = 0.2  # onto the likeness of a title, for a document of the place that is named
_OFFICES = ("", "办公厅", "办公室")  # of an organ, whose documents are its own
_EVER = (0, 9999)  # years
_LONGEST_ORGAN = 30  # characters of its name
_SHORTEST_WHOLE = 3  # characters of a word whose parts may stand apart in a title
_ABBREVIATED, _GAP = range(2, 5), 5  # characters of a short form, and between two of them
_KINDS = frozenset(["paper", "document", "kind_word"])
_ANY_KIND = frozenset(grammar().lexicon.words("paper")) | {"政策", "规定"}
_NO_TOPIC = frozenset(
    [
        "title",
        "time",
        "place",
        "nation",
        "archive",
        "issue",
        "since",
        "later",
        "until",
        "paper",
        "holds",
    ]
)
_JOINTS = re.compile("有关|相关|涉及|关于|方面|层面|领域|过|共|联合|发的?$")


@dataclass(frozen=True, slots=True)
class _Meant:
    """The document that a question is about.

    Attributes:
        card: Without its text.
        notes: If that is not certain: which one was chosen, and which others may be meant.
    """

    card: Document
    notes: tuple[str, ...] = ()


def document_meant(search: Search, knowledge: SearchContext) -> _Meant | None:
    """Return the document in a question; None for none, or several titles.

    Args:
        search: For the question.
        knowledge: Documents to choose from.
    """
    query = search.query
    if len(query.titles) > 1:
        return None
    cards = knowledge.cards()
    if query.titles and (sure := titled_documents(search, cards)):
        return _Meant(cards[sure[0]]) if len(sure) == 1 else None
    asked = query.titles[0] if query.titles else query.text
    likely = search.settings.titles.likely(asked, places=_places(search))
    held = [cards[doc_id] for doc_id in likely if doc_id in cards]
    if not held:
        return None
    taken: str = note("taken-for", query.language, title=held[0].title)
    if held[1:]:
        joint = ", " if query.language == "en" else "、"
        titles = joint.join(f"《{card.title}》" for card in held[1 : 1 + _MOST_OTHERS])
        taken += note("others-meant", query.language, others=titles)
    return _Meant(held[0], (taken,))


def titled_documents(search: Search, cards: Mapping[str, Document]) -> list[str]:
    """Return the documents of a quoted title; those with exactly that title, if there are any."""
    found = [doc_id for doc_id in search.titled if doc_id in cards]
    wanted = normalize_name(search.query.titles[0])
    return [d for d in found if normalize_name(cards[d].title) == wanted] or found


def _places(search: Search) -> frozenset[str]:
    """Return the places in a question, also in its quoted title."""
    query = search.query
    known = frozenset[str]().union(*search.settings.places.values())
    return query.places | {
        place for title in query.titles for place in known if len(place) > 1 and place in title
    }


def chunk_at(chunks: list[Chunk], start: int) -> str:
    """Return the id of the chunk at a place; the first for none."""
    holding = (chunk.chunk_id for chunk in chunks if chunk.start <= start < chunk.end)
    return next(holding, chunks[0].chunk_id if chunks else "")


_ENDED: tuple[StatusKind, ...] = ("repealed", "superseded", "expired")
_ACTS: Mapping[StatusKind, str] = {"repealed": "废止", "amended": "修订"}


def validity(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return whether a document is in force, or which ones are not; None for other questions.

    Args:
        search: For the question; it names one title, or asks which documents.
        knowledge: Documents to list.
    """
    query, question = search.query, question_of(search.query)
    asks_else = question.sides or "what is cited" in question.asks  # 《甲办法》取代了什么
    if not question.asks & {"validity", "over"} or asks_else or len(query.titles) > 1:
        return None
    if query.titles:
        return _standing_of(query.titles[0], search, knowledge)
    is_list = question.asks & {"a list", "documents"} and "in force" not in question.asks
    if not (is_list and _OF_DOCUMENTS.search(query.text)):
        return None
    years = _end_years(query, knowledge.as_of.day) if "ends" in question.asks else None
    if years and "over" not in question.asks:
        return _ending(years, query, knowledge)
    day, in_force, language = knowledge.as_of.day, knowledge.in_force(), query.language
    about = set(words(_OF_VALIDITY.sub(" ", " ".join(question.pieces))))
    cards = {d: card for d, card in knowledge.cards().items() if is_of(card, query.places)}
    told = {card.doc_id: in_force.status(card.doc_id, day) for card in cards.values()}
    if "over" in question.asks:
        chosen = _chosen(query, knowledge)
        over = [card for card in cards.values() if told[card.doc_id].kind == "over"]
        what = (*chosen.shown, kind_in_words("over", language))
        return _listing(
            [*filter(chosen.fits, over)], what, len(knowledge.cards()), query, knowledge
        )
    ended = {d: status for d, status in told.items() if status.kind in _ENDED}
    rows = _standings(ended, cards, knowledge, language)
    if "repeals" in question.asks:
        rows = (*rows, *_repeals(knowledge, cards, {row.place for row in rows}))
    if about:
        rows = tuple(row for row in rows if _says(cards[row.place.doc_id], row, about))
        if not rows:
            return None
    counted = _counted(told.values(), language)
    return Complete(rows, (note("validity", language, day=day, told=counted),), "validity")


def _end_years(query: Query, day: str) -> tuple[int, int] | None:
    """Return first and last year that a question names, also as 今年; None for none."""
    counted = grammar().told["years_from_now"].items()
    year = next((int(day[:4]) + n for word, n in counted if word in query.text), None)
    return _issue_years(tagged(query))[0] if year is None else (year, year)


def _chosen(query: Query, knowledge: SearchContext) -> "_Wanted":
    """Return which documents are asked for, but for the words and years of their titles."""
    wanted = _wanted(tagged(query), query, knowledge.cards().values())
    return replace(wanted, topic=(), years=None, in_force=False)


def _ending(years: tuple[int, int], query: Query, knowledge: SearchContext) -> Complete:
    """Return the documents that hold until a day within some years, by that day."""
    first, last = years
    chosen = _chosen(query, knowledge)
    cards = {d: c for d, c in knowledge.cards().items() if chosen.fits(c)}
    ends = {d: c.metadata.expires for d, c in cards.items() if c.metadata.expires}
    within = sorted((day, d) for d, day in ends.items() if first <= int(day[:4]) <= last)
    rows = []
    for day, doc_id in within:
        status = Status("expired", knowledge.as_of.day, day)
        if spot := _dates(knowledge.store, doc_id, status):
            known = kind_in_words(knowledge.in_force().status(doc_id, status.day).kind)
            rows.append(Stated(_place(*spot, knowledge), known=f"{day}；{known}"))
    shown = "—".join(str(y) if y not in _EVER else "" for y in dict.fromkeys(years))
    told = {"n": len(rows), "total": len(knowledge.cards()), "years": shown}
    return _first(rows, [note("document-ends", query.language, **told)], len(rows), query)


def _counted(told: Collection[Status], language: Language) -> str:
    """Return a note on how many documents have ended."""
    n = sum(status.kind in _ENDED for status in told)
    over = sum(status.kind == "over" for status in told)
    return note("validity-counted", language, n=n, total=len(told), over=over)


# 2010年的某某办法, 某某办法（59号令）: an edition.
_EDITION = re.compile(r"(?P<year>(?:19|20)\d\d)年?[度版]?(?:[公颁发]布|印发|出台|制定)?的?《?")
_ORDER = re.compile(r"(?<!\d)(\d{1,4})号")


def _standing_of(title: str, search: Search, knowledge: SearchContext) -> Complete:
    """Return whether one document is in force.

    What a repeal calls exactly so is that one, though another's title contains its name, or is the
    same one of another year; both are told.
    """
    day, in_force, language = knowledge.as_of.day, knowledge.in_force(), search.query.language
    cards, text = knowledge.cards(), search.query.text
    name = _EDITION.sub("", title, count=1) if _EDITION.match(title) else title
    edition = re.search(f"{_EDITION.pattern}{re.escape(name)}", text)
    meant = document_meant(search, knowledge) if search.titled else None
    card = meant.card if meant else None
    exact = card is not None and title_key(name) in _keys(card)
    of_year = edition is None or card is None or card.metadata.year in (None, int(edition["year"]))
    ended = in_force.status_of_title(name, day, edition=True)
    act = _act(knowledge.store, ended, name) if ended else None
    number, order = act.qualifiers.number if act else "", _ORDER.search(text)
    if exact and of_year and not (order and number.endswith(f"第{order[1]}号")):
        ended = None
    if card is None and ended is None:
        like = {d: in_force.status(d, day) for d in search.titled if d in cards}
        if like:
            all_of = _counted(like.values(), language)
            rows = _standings(like, cards, knowledge, language)
            return Complete(rows, (note("validity", language, day=day, told=all_of),), "validity")
        rows = tuple(_said_to_end(name, knowledge))
        unheld = note("said-ended" if rows else "not-held", language, title=title)
        return Complete(rows, (unheld,), "validity", about=title)
    rows, counted, notes = tuple[Stated, ...](), list[str](), meant.notes if meant else ()
    if ended:
        named = object_of(act) if act else name
        if exact:  # tell it from the one that is held
            named += f"（{number or title}）"
        rows = _standings({"": ended}, cards, knowledge, language, title=name)
        counted.append(note("ended", language, title=named, status=ended.told(language)))
    if card:
        status = in_force.status(card.doc_id, day)
        rows = (*rows, *_standings({card.doc_id: status}, cards, knowledge, language))
        kind = "in-force" if status.kind in ("in_force", "unknown") else "ended"
        counted.append(note(kind, language, title=card.title, status=status.told(language)))
        if not (exact or ended or notes):
            notes = (note("taken-for", language, title=card.title),)
    joint = "; " if language == "en" else "；"
    told = note("validity", language, day=day, told=joint.join(counted))
    return Complete(rows, (told, *notes), "validity", about=title)


def _keys(card: Document) -> set[str]:
    """Return what a document is called in full, also without its issuer."""
    return {key for title in (card.title, card.metadata.notice) for key in title_keys(title)}


# What follows a title that is said to have ended, wherever that stands.
_SAID_TO_END = re.compile(
    r"[》）)]?(?:[（(][^（）()]{0,80}[）)])?(?:[、和及与]{1,2}《[^《》]+》(?:[（(][^（）()]{0,80}[）)])?){0,9}"
    r"[^。；;，,《》\n]{0,16}(?<![未不])(?:废止|失效|作废|[停终]止执行|不再执行)(?![的前])"
)


def _said_to_end(title: str, knowledge: SearchContext) -> Iterator[Stated]:
    """Yield where documents say that one ended which is not held, whoever ended it."""
    store, key = knowledge.store, title_key(node_name(title))
    for s in store.statements("reference"):
        if key not in (title_key(s.qualifiers.number), title_key(s.fact.object.name)):
            continue
        text = next((document.text for document in store.documents([s.doc_id])), "")
        if _SAID_TO_END.match(text, s.end):
            yield Stated(place_of(s))


def is_of(card: Document, places: Collection[str]) -> bool:
    """Return whether a document is about one of some places, by short names; true for none."""
    return not places or bool(set(places) & set(document_facets(card.title, card.metadata).places))


def _says(card: Document, row: Stated, about: Collection[str]) -> bool:
    """Return whether a row's titles have half of some words, or more."""
    held = set(words(f"{card.title} {row.aside}"))
    return 2 * len(held.intersection(about)) >= len(about)


_OF_VALIDITY = re.compile(
    "失效|过期|到期|不能用|不再|废止|作废|取代|替代|修订|有效|现行|已经?|被|或|的|了|都|老|旧|新|(?:知识|资料|文件|政策)?库[里中内]?|本库|方面|关于|目前|现在|规章"
)
_OF_DOCUMENTS = re.compile(
    "文件|政策|法规|规定|规章|办法|方案|规划|条例|通知|意见|document|polic|rule"
)


def _standings(
    told: Mapping[str, Status],
    cards: Mapping[str, Document],
    knowledge: SearchContext,
    language: Language,
    title: str = "",
) -> tuple[Stated, ...]:
    """Return a row for each document: where it is said that it ended, or what it says of its dates.

    Args:
        told: Statuses by document; an empty id stands for a title that is not held.
        cards: Documents to search.
        knowledge: The knowledge base.
        language: Of the words in brackets.
        title: That is asked about.
    """
    store, leaf = knowledge.store, knowledge.settings().leaf
    rows = []
    for doc_id, status in told.items():
        name = cards[doc_id].title if doc_id in cards else title
        act = _act(store, status, name)
        dates = _dates(store, doc_id, status) if doc_id and not act else None
        spot = (act.doc_id, act.start, act.end) if act else dates
        name = object_of(act) if act and not doc_id else name
        if spot is not None:
            where, start, end = spot
            chunk = chunk_at(store.chunks_of([where], size=leaf), start)
            if where != doc_id and status.kind in _ACTS:
                aside = f"{_ACTS[status.kind]}《{name}》"
            else:  # the date stands in the quote, or beside the citation
                aside = replace(status, since="").told(language) or _IN_FORCE[language]
            rows.append(Stated(Place(where, start, end, chunk), aside=aside))
    return tuple(rows)


def _repeals(
    knowledge: SearchContext, cards: Mapping[str, Document], shown: Collection[Place]
) -> Iterator[Stated]:
    """Yield a row for each title that a document repeals, held or not."""
    for s in knowledge.store.statements("reference", predicates=(_ACTS["repealed"],)):
        if s.doc_id in cards and place_of(s) not in shown:
            yield Stated(place_of(s), aside=f"{role_of(s)}《{object_of(s)}》")


_IN_FORCE: Mapping[Language, str] = {"zh": "现行有效", "en": "in force"}


def _act(store: Store, status: Status, title: str) -> Statement | None:
    """Return where another document repeals or amends a title, or what has that number."""
    if not status.doc_id or status.kind not in _ACTS:
        return None
    acts = store.statements("reference", [status.doc_id], predicates=(_ACTS[status.kind],))
    wanted, key = normalize_name(node_name(title)), title_key(title)
    exact = [s for s in acts if key in (title_key(s.qualifiers.number), title_key(object_of(s)))]
    named = [s for s in acts if normalize_name(s.fact.object.name) in wanted or len(acts) == 1]
    return next(iter(exact or named), None)


def _dates(store: Store, doc_id: str, status: Status) -> Spot | None:
    """Return where a document says until, else from when it holds, else its beginning."""
    from kgrag.statements.engine import rows as table_of
    from kgrag.statements.selection import Selection

    within = Filter(documents=(doc_id,))
    try:
        found = table_of(
            store,
            Selection(kind="timeline", within=within, events=("expires", "effective", "issued")),
        )
    except NotFoundError:  # deleted meanwhile
        return None
    of = {row.cells[1]: row.sources[0] for row in reversed(found.rows) if row.sources}
    ends, begins = EVENTS["expires"], (EVENTS["effective"], EVENTS["issued"])
    wanted = (ends,) if status.kind == "expired" else (*begins, ends)
    source = next((of[name] for name in wanted if name in of), None)
    if source:
        return doc_id, source.start, source.end
    text = next((document.text for document in store.documents([doc_id])), "")
    end = text.find("\n", len(text) - len(text.lstrip()))
    return (doc_id, 0, end if end > 0 else len(text)) if text else None


def lacking(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return what is cited most and not held, if a question asks for that; else None.

    Args:
        search: For the question; places in it restrict the titles.
        knowledge: Documents that cite.
    """
    query = search.query
    if query.titles or "lacking" not in question_of(query).asks:
        return None
    held = knowledge.cards()
    table = overview.lacking(knowledge.store, day=knowledge.as_of.day)
    rows = [
        Stated(
            _place(source.doc_id, source.start, source.end, knowledge),
            lead=f"{row.cells[0]}，",
            known=note("cited-times", query.language, n=row.cells[1]),
        )
        for row in table.rows
        for source in [s for s in row.sources if s.doc_id in held][:1]
        if all(place in str(row.cells[0]) for place in query.places)
    ]
    counted = next(n.values for n in table.notes if isinstance(n, Note))
    n = len(rows) if query.places else int(str(counted["n"])) - int(str(counted["held"]))
    return _first(rows, [note("lacking", query.language, n=n)], n, query)


def _first(rows: Sequence[Stated], notes: Sequence[Note], n: int, query: Query) -> Complete:
    """Return the first rows; a note says if some are left out."""
    shown = tuple(rows[:_MOST_ROWS])
    cut = (note("first-rows", query.language, shown=len(shown)),) if len(shown) < n else ()
    return Complete(shown, (*notes, *cut), "documents")


def _place(doc_id: str, start: int, end: int, knowledge: SearchContext) -> Place:
    chunks = knowledge.store.chunks_of([doc_id], size=knowledge.settings().leaf)
    return Place(doc_id, start, end, chunk_at(chunks, start))


def record(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return what is known of a document, if a question asks who issued it, when or what it is.

    The first row has number, issuers, date and status; the others are where it says so; if it is
    asked what it is, also what it rests on, amends or repeals.

    Args:
        search: For the question, which names one title or number.
        knowledge: Documents to choose from.
    """
    query, cards = search.query, knowledge.cards()
    if len(query.titles) != 1 or "record" not in question_of(query).asks:
        return None
    meant = document_meant(search, knowledge)
    own = titled_documents(search, cards) or ([meant.card.doc_id] if meant else [])
    if not own:
        return _absent(query.titles[0], search, knowledge)
    rests = "what it is" in question_of(query).asks
    rows = [row for d in own for row in _record(d, knowledge, query.language, with_bases=rests)]
    told = note("document-card", query.language, title=cards[own[0]].title)
    return Complete(
        tuple(dict.fromkeys(rows)), (told, *(meant.notes if meant else ())), "documents"
    )


def _record(
    doc_id: str, knowledge: SearchContext, language: Language, *, with_bases: bool
) -> Iterator[Stated]:
    store, card = knowledge.store, knowledge.cards()[doc_id]
    text = next((document.text for document in store.documents([doc_id])), "")
    yield _listed(card, text, knowledge, language)
    if found := _number_in(text, card.metadata.number):
        yield Stated(_place(doc_id, *found, knowledge), aside=note("number", language))
    from kgrag.statements.engine import rows as table_of
    from kgrag.statements.selection import Selection

    within = Filter(documents=(doc_id,))
    asked = Selection(
        kind="timeline", within=within, events=("written", "issued", "effective", "expires")
    )
    for day in table_of(store, asked).rows:
        for source in day.sources[:1] if day.cells[-1] is None else ():
            place = _place(doc_id, source.start, source.end, knowledge)
            yield Stated(place, aside=str(day.cells[1]))
    status = knowledge.in_force().status(doc_id, knowledge.as_of.day)
    if status.kind in (*_ENDED, *_ACTS):
        yield from _standings({doc_id: status}, knowledge.cards(), knowledge, language)
    if not with_bases:
        return
    held = by_node(knowledge.settings().cards)
    for step in citation_chain(store, doc_id, held=held, roles=(*BASIS, *_ACTS.values()), hops=1):
        s = step.statements[0]
        yield Stated(place_of(s), aside=f"{role_of(s)}《{object_of(s)}》")


def _number_in(text: str, number: str) -> tuple[int, int] | None:
    """Return where a text has a 文号, with brackets of any form."""
    letters = [re.escape(c) if c.isalnum() else r"\W" for c in number if not c.isspace()]
    found = re.search(r"\s*".join(letters), text) if letters else None
    return found.span() if found else None


def _listed(card: Document, text: str, knowledge: SearchContext, language: Language) -> Stated:
    """Return the row of a document: number, issuers, date of issue, status; at its title."""
    told = card.metadata
    status = knowledge.in_force().status(card.doc_id, knowledge.as_of.day)
    names: str | Note = "、".join(told.issuers[:_MOST_ISSUERS])
    if len(told.issuers) > _MOST_ISSUERS:
        names = note("issuers", language, names=names, n=len(told.issuers))
    known = (
        told.number or note("no-number", language),
        names or note("no-issuer", language),
        day_of_issue(card) or note("no-day-of-issue", language),
        kind_in_words(status.kind, language) if status.kind != "unknown" else "",
    )
    start = max(text.find(card.title), 0)
    place = _place(card.doc_id, start, min(start + len(card.title), len(text)), knowledge)
    return Stated(place, known="；".join(filter(None, known)))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Documents that a question asks for; what is empty selects all.

    Attributes:
        topic: What their titles are to have: for each word its wordings.
        kind: Ending of their titles: 方案.
        years: First and last year of issue.
        issuer: Its full name; its own office counts, too.
        places: Short names, with those inside.
        national: Whether they are about no place.
        in_force: Whether they may be relied on.
        depth: How many regions, one in another, they are of: 1 for a province; 0 for any.
    """

    topic: tuple[str, ...]
    kind: str
    years: tuple[int, int] | None
    issuer: str
    places: tuple[str, ...]
    national: bool
    in_force: bool
    depth: int = 0

    @property
    def shown(self) -> tuple[str | Note, ...]:
        """Return the conditions for a note."""
        first, last = (str(y) if _EVER[0] < y < _EVER[1] else "" for y in self.years or _EVER)
        when = first if first == last else f"{first}—{last}"
        about = (note("title-has", "zh", word=word) for word in self.topic)
        level = next((name for name, n in grammar().told["depths"].items() if n == self.depth), "")
        others = (
            NATIONAL if self.national else "",
            _IN_FORCE["zh"] if self.in_force else "",
            level,
        )
        found = (*about, self.kind, when, self.issuer, *self.places, *others)
        return tuple(filter(None, found))

    def fits(self, card: Document) -> bool:
        """Return whether a document is one of them."""
        told, titles = card.metadata, f"{card.metadata.notice} {card.title}"
        first, last = self.years or _EVER
        in_title = first == last and str(first) in titles
        return (
            all(_has(titles, word) for word in self.topic)
            and (not self.kind or any(kind.endswith(self.kind) for kind in document_kinds(titles)))
            and (self.years is None or first <= (told.year or 0) <= last or in_title)
            and (not self.issuer or any(map(self._is_issuer, told.issuers)))
            and is_of(card, with_places_inside(self.places))
            and not (self.national and told.regions)
            and self.depth in (0, len(told.regions))
        )

    def _is_issuer(self, name: str) -> bool:
        return name.startswith(self.issuer) and name.removeprefix(self.issuer) in _OFFICES


def documents(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the documents that a question asks for, by date; None for other questions.

    They are chosen by words of the title, its kind, year of issue, issuer and place. Words such as
    方案 may ask for what a document says: they count only if titles have the rest of the question.

    Args:
        search: For the question: 广东省2021年以来印发的碳市场文件有哪些.
        knowledge: Documents to list.
    """
    query, question = search.query, question_of(search.query)
    if "documents" not in question.asks or query.titles:
        return None
    cards, read = knowledge.cards(), tagged(query)
    tags = frozenset[str]().union(*(span.tags for span in read.spans.values()))
    wanted = _wanted(read, query, cards.values())
    found = list(filter(wanted.fits, cards.values()))
    if wanted.in_force:
        counting = knowledge.in_force().in_force(knowledge.as_of.day)
        found = [card for card in found if card.doc_id in counting]
    if "obliged" in question.asks or not (found and (wanted.shown or "archive" in tags)):
        return None
    return _listing(found, wanted.shown or ("—",), len(cards), query, knowledge)


def _listing(
    cards: Collection[Document],
    what: tuple[str | Note, ...],
    total: int,
    query: Query,
    knowledge: SearchContext,
) -> Complete:
    """Return a row for each document, by date, with a note on what they have in common."""
    found, language = sorted(cards, key=_by_issue), query.language
    shown = found[:_MOST_ROWS]
    texts = {d.doc_id: d.text for d in knowledge.store.documents([c.doc_id for c in shown])}
    rows = [_listed(c, texts.get(c.doc_id, ""), knowledge, language) for c in shown]
    notes = [note("documents", language, n=len(found), total=total, what=what)]
    if inferred := sum(bool(c.metadata.year) and not c.metadata.sure_year for c in found):
        notes.append(note("documents-inferred", language, n=inferred))
    return _first(rows, notes, len(found), query)


def _by_issue(card: Document) -> tuple[str, str]:
    return card.metadata.issue_date, card.title


def _wanted(read: Tagged, query: Query, cards: Collection[Document]) -> _Wanted:
    """Return which documents a question asks for."""
    issuer, start, end = _issuer(read.text, cards)
    kinds = [at for at, span in read.spans.items() if span.tags & _KINDS]
    last = max(kinds, default=-1)
    kind = read.words(last, last + 1) if kinds else ""
    left = []
    for at in range(len(read.code)):
        tags = read.spans[at].tags if at in read.spans else frozenset[str]()
        is_out = start <= read.at[at] < end or at == last or tags & _NO_TOPIC
        left.append(" " if is_out else read.words(at, at + 1))
    years, titled = _issue_years(read)
    about = [piece for piece in pieces(_JOINTS.sub(" ", "".join(left))) if len(piece) > 1]
    places = tuple(p for p in query.places if p not in read.text[start:end])
    depths, level = grammar().told["depths"], question_of(query).level
    return _Wanted(
        topic=(*about, *titled),
        kind="" if kind in _ANY_KIND else kind,
        years=years,
        issuer=issuer,
        places=places,
        national=query.national and not issuer and not places and "全国" not in read.text,
        in_force="in force" in question_of(query).asks,
        depth=next((n for name, n in depths.items() if name in read.text), level == PROVINCES),
    )


def _issue_years(read: Tagged) -> tuple[tuple[int, int] | None, list[str]]:
    """Return first and last year of issue that a question names, and the periods of titles.

    2021年以来 and 以后 include 2021, 之后 and 以前 do not; 2021年度 and 十四五 are said in titles.
    """
    years, titled = list[tuple[int, int]](), list[str]()
    for found in grammar().pattern("issue_years").finditer(read.code):
        told = read.words(found.start(), found.start() + 1)
        if not told[:4].isdigit() or found["titled"]:
            titled.append(told.strip('“”"年'))
            continue
        year = int(told[:4])
        before = found["until"] and not told.endswith(("底", "末"))
        first, last = year + bool(found["later"]), year - bool(before)
        is_open = found["since"] or found["later"]
        years.append((_EVER[0] if found["until"] else first, _EVER[1] if is_open else last))
    span = (min(first for first, _ in years), max(last for _, last in years)) if years else None
    return span, titled


def _issuer(text: str, cards: Collection[Document]) -> tuple[str, int, int]:
    """Return the full name of the organ whose documents a question asks for, and its span."""
    known = {name for card in cards for name in card.metadata.issuers}
    best = ("", 0, 0)
    for behind in grammar().pattern("issuer").finditer(text):
        end = behind.start()
        for start in range(max(0, end - _LONGEST_ORGAN), end - 1):
            full = full_organ_name(text[start:end], regions=())
            is_one = full in known or is_central_organ(full) or leading_region(full)[1]
            if is_one and end - start > best[2] - best[1]:
                best = (full, start, end)
    return best


def _has(titles: str, word: str) -> bool:
    """Return whether titles have a word, its parts, or what it is short for: 碳市场, 双碳."""
    told, asked = title_key(titles), title_key(word)
    if asked in told:
        return True
    parts = [w for w in words(asked) if len(w) > 1]
    if len(asked) > _SHORTEST_WHOLE and parts and all(part in told for part in parts):
        return True
    return len(asked) in _ABBREVIATED and bool(
        re.search(f".{{0,{_GAP}}}?".join(map(re.escape, asked)), told)
    )


def absent(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return what mentions a document that is not held, if a question is about one; else None.

    A quoted title, or a name with which a question begins, is one if it is of a place, and none of
    this place's documents has half of what it is about: 贵州省碳达峰实施方案.

    Args:
        search: For the question.
        knowledge: Documents to choose from.
    """
    query = search.query
    if question_of(query).sides or len(query.titles) > 1 or search.titled:
        return None
    name = _unheld_name(search, knowledge.cards().values())
    return _absent(name, search, knowledge) if name else None


def _unheld_name(search: Search, cards: Collection[Document]) -> str:
    text = search.query.titles[0] if search.query.titles else search.query.text
    told = places_in(text, search.settings.known_places)
    places = frozenset(place for _, _, place in told)
    before, one = grammar().pattern("before"), grammar().pattern("title")
    reached, start = -1, 0
    for at, end, _ in told:
        start, reached = (start if at == reached else at), end  # 广东省深圳市
        named = one.match(text, end) if before.fullmatch(text, 0, start) else None
        if not named or search.settings.titles.likely(text, places=places):
            continue
        about = named["about"] + named["kind"]
        about = in_official_terms(about, official_terms(about)).removesuffix(named["kind"])
        pairs = character_pairs(title_key(about))
        own = [c for c in cards if is_of(c, with_places_inside(places))]
        titles = [title_key(f"{c.title}{c.metadata.notice}") for c in own]
        if all(2 * sum(pair in title for pair in pairs) < len(pairs) for title in titles):
            return text[start : named.end("kind")]
    return ""


def _absent(name: str, search: Search, knowledge: SearchContext) -> Complete:
    """Return the places where documents mention one that is not held, and the nearest titles."""
    query, cards = search.query, knowledge.cards()
    places = question_places(name, search.settings.known_places)
    language, wanted = query.language, title_key(name)
    rows = tuple(
        Stated(place_of(s), aside=role_of(s))
        for s in knowledge.store.statements("reference", list(cards))
        if wanted in title_key(object_of(s)) or s.qualifiers.number == name
    )
    near = {d for d, c in cards.items() if places and is_of(c, places)}
    likely = {
        c.title: max(likeness(wanted, key) for key in title_keys(c.title)) + _NEAR * (d in near)
        for d, c in cards.items()
    }
    nearest = sorted((t for t in likely if likely[t] >= LEAST_LIKE), key=lambda t: -likely[t])
    notes = [note("document-absent", language, title=name)]
    if nearest:
        titles = tuple(f"《{title}》" for title in nearest[:_MOST_OTHERS])
        notes.append(note("document-nearest", language, titles=titles))
    called = Counter(
        object_of(s)
        for s in knowledge.store.statements("reference", list(cards))
        if s.qualifiers.number == name != object_of(s)
    )
    for title, _ in called.most_common(1):
        notes.insert(1, note("number-title", language, title=title))
    if rows:
        notes.append(note("document-cited", language))
    return _first(rows, notes, len(rows), query)
