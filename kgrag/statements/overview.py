"""What an archive holds, and what it lacks: counts, gaps between places, citations."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from kgrag.answer.notes import note
from kgrag.json_ready import JsonReady
from kgrag.metadata import Level
from kgrag.statements.in_force import InForce
from kgrag.statements.naming import day_of_issue
from kgrag.statements.references import BASIS, by_node
from kgrag.statements.sources import Spot, role_of, sourced, spot_of
from kgrag.statements.table import Cell, Column, Row, Table
from kgrag.status import Status, StatusKind, kind_in_words
from kgrag.store.graph import Statement
from kgrag.store.likeness import likeness
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL, called, place_rank
from kgrag.text.regions import level_of
from kgrag.text.title_keys import same_work, title_keys, without_edition
from kgrag.text.titles import document_kinds, kind_endings, title_subject
from kgrag.types import Document, Language

Facet = Literal["status", "year", "region", "level", "kind", "issuer"]

_N = Column("n", "份数", "documents")
FACETS: Mapping[Facet, Column] = {
    "status": Column("status", "效力", "status"),
    "year": Column("year", "印发年份", "year of issue"),
    "region": Column("region", "地区", "region"),
    "level": Column("level", "层级", "level"),
    "kind": Column("kind", "文种", "kind"),
    "issuer": Column("issuer", "发文机关", "issuer"),
}
_GAPS = (
    Column("subject", "主题", "subject"),
    Column("n", "有的地区数", "places that have one"),
    Column("places", "地区总数", "places in all"),
    Column("have", "有", "have"),
    Column("similar", "有近似的", "have one like it"),
    Column("lack", "本库未见", "none here"),
)
_CITED_COLUMNS = (
    Column("title", "被引文件", "cited document"),
    Column("n", "引用它的文件数", "documents that cite it"),
    Column("held", "是否在库", "held"),
    Column("status", "效力", "status"),
    Column("doc_id", "文件编号", "id"),
)
_OUTDATED = (
    Column("title", "文件", "document"),
    Column("issued", "发文日期", "issued"),
    Column("role", "关系", "role"),
    Column("cited", "所引文件", "cites"),
    Column("status", "所引文件的效力", "status of that"),
    Column("doc_id", "文件编号", "id"),
)
_SHARED = Column("gaps", "多地都有的文件，哪些地区未见", "shared, and who lacks it")
_MOST_CITED = Column("cited", "引用最多的文件", "most cited")
_MOST_LACKING = Column("lacking", "引用最多而不在库的文件", "most cited, not held")
_REST_ON_ENDED = Column("outdated", "所引文件已不再有效", "cite what is no longer in force")
_LEAST_PLACES = 3  # that have a document of a subject, before others are said to lack one
_LIKE = 0.6  # of subjects that may be one, by `likeness`
_MOST_SOURCES = 5  # of a row
_MOST_ROWS = 50  # of cited documents
_LEAST_CITING = 2
_ENDED: Collection[StatusKind] = ("repealed", "expired", "superseded")
# Whether it is held itself, only another edition, neither.
_HELD: Mapping[Language, tuple[str, str, str]] = {
    "zh": ("在库", "同名在库", "不在库"),
    "en": ("held", "another edition", "not held"),
}


@dataclass(frozen=True, slots=True)
class FacetValue(JsonReady):
    """A value of a facet, and how many documents have it.

    Attributes:
        value: As `facets` tells.
        n: Number of documents.
    """

    value: str
    n: int


def _values(card: Document, status: Status) -> dict[Facet, tuple[str, ...]]:
    """Return a document's values of each facet; none where it is not known."""
    told = card.metadata
    provinces = [called(name) for name in told.regions if level_of(name) == "省"]
    kinds = (end for kind in document_kinds(card.title) for end in kind_endings(kind))
    return {
        "status": (status.kind,),
        "year": (str(told.year),) if told.year else (),
        "region": tuple(provinces or map(called, told.regions[:1])) or (NATIONAL,),
        "level": (told.level,) if told.level else (),
        "kind": tuple(dict.fromkeys(kinds)),
        "issuer": tuple(dict.fromkeys(told.issuers)),
    }


def facets(
    cards: Sequence[Document], statuses: Mapping[str, Status]
) -> dict[Facet, list[FacetValue]]:
    """Return the values of each facet that some documents have, with counts.

    Years, levels and statuses are in their order, the others by count. A document with several
    values of a facet counts once for each.

    `Filter` takes those of `region`, `kind`, `issuer` and `year` (as a number), and leaves exactly
    the documents that have one; for `year` also those whose year is only inferred. `region` is
    provinces, 全国 for none; for a document of unlisted places the outermost. `kind` is all in
    which a title ends, 实施方案 and 方案.

    Args:
        cards: The documents; texts are not needed.
        statuses: Of each document, by id.
    """
    counts: dict[Facet, Counter[str]] = {facet: Counter() for facet in FACETS}
    for card in cards:
        for facet, values in _values(card, statuses[card.doc_id]).items():
            counts[facet].update(values)
    order: dict[Facet, Sequence[str]] = {
        facet: sorted(sorted(found), key=found.__getitem__, reverse=True)
        for facet, found in counts.items()
    }
    order |= {"year": sorted(counts["year"]), "level": get_args(Level)}
    order["status"] = get_args(StatusKind)
    return {
        facet: [FacetValue(v, found[v]) for v in order[facet] if v in found]
        for facet, found in counts.items()
    }


def overview(store: Store, *, day: str, language: Language = "zh") -> list[Table]:
    """Return what an archive holds and lacks, the most important first.

    Counts by status, year, region, level, kind and issuer (`facets`); `gaps`: subjects on which
    many places have a document, and the places without one; `cited` and `lacking`: what is cited
    most, and of that what is not held; `outdated`: documents that cite what is no longer in force.

    Args:
        store: The knowledge base.
        day: At which documents are in force, ISO 8601.
        language: Of words in cells: status, whether it is held.
    """
    cards = sorted(store.document_cards(), key=lambda card: (card.metadata.issue_date, card.title))
    in_force = InForce.read(store, cards)
    statuses = {card.doc_id: in_force.status(card.doc_id, day) for card in cards}
    found = _cited(store, cards, in_force, day)
    return [
        *_counts(cards, statuses, day, language),
        _gaps(store, cards),
        *_most_cited(store, found, language),
        _outdated(store, found, cards, statuses, language),
    ]


def _counts(
    cards: Sequence[Document], statuses: Mapping[str, Status], day: str, language: Language
) -> Iterator[Table]:
    years = [card.metadata.year for card in cards if card.metadata.year]
    span = {"first": min(years, default="?"), "last": max(years, default="?")}
    counted = note("overview-documents", "zh", n=len(cards), day=day, **span)
    words: dict[str, Cell] = {kind: kind_in_words(kind, language) for kind in get_args(StatusKind)}
    words |= {str(year): year for year in years}
    for facet, values in facets(cards, statuses).items():
        column, notes = FACETS[facet], (counted,) if facet == "status" else ()
        rows = (Row((words.get(one.value, one.value), one.n)) for one in values)
        yield Table(facet, (column, _N), tuple(rows), notes, column)


def _gaps(store: Store, cards: Sequence[Document]) -> Table:
    """Return subjects on which several places of one level have a document, and who lacks one."""
    own = _peers(cards)
    having: defaultdict[str, dict[str, Document]] = defaultdict(dict)  # first of each place
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for place, card in ((place, card) for place, held in own.items() for card in held):
        subject, kind = title_subject(card.title, card.metadata.regions)
        if subject:
            having[subject].setdefault(place, card)
            kinds[subject][kind] += 1
    shared = [s for s, places in having.items() if _LEAST_PLACES <= len(places) < len(own)]
    shared.sort(key=lambda subject: (-len(having[subject]), subject))
    rows = [_gap(subject, having, kinds[subject], own) for subject in shared[:_MOST_ROWS]]
    notes = [note("overview-gaps", "zh", n=len(own), least=_LEAST_PLACES, most=_MOST_SOURCES)]
    if len(shared) > _MOST_ROWS:
        notes.append(note("first-rows", "zh", shown=_MOST_ROWS))
    return Table("gaps", _GAPS, sourced(store, rows), tuple(notes), _SHARED)


def _gap(
    subject: str,
    having: Mapping[str, Mapping[str, Document]],
    kinds: Counter[str],
    places: Collection[str],
) -> tuple[tuple[Cell, ...], list[Spot]]:
    """Return who has a document of a subject, who has one like it, and who lacks one."""
    own = having[subject]
    like = {p for s, of in having.items() if likeness(subject, s) >= _LIKE for p in of}
    similar = [place for place in places if place in like and place not in own]
    lack = [place for place in places if place not in like]
    told = ("、".join(map(called, names)) or None for names in (own, similar, lack))
    spots = [(card.doc_id, 0, 1) for card in own.values()]
    name = subject + kinds.most_common(1)[0][0]
    return (name, len(own), len(places), *told), spots[:_MOST_SOURCES]


def _peers(cards: Sequence[Document]) -> dict[str, list[Document]]:
    """Return documents by place, of the outermost level of which several places have some."""
    levels: dict[str, dict[str, list[Document]]] = {"省": {}, "市": {}, "县": {}}
    for card in cards:
        regions = card.metadata.regions
        within = [level_of(name) for name in regions]
        if regions and len(set(within)) == len(within):  # else of several places
            levels[within[-1]].setdefault(regions[-1], []).append(card)
    own = next((own for own in levels.values() if len(own) >= _LEAST_PLACES), {})
    return {name: own[name] for name in sorted(own, key=place_rank)}


class _Cited(NamedTuple):
    """A cited document.

    Attributes:
        title: With its marks.
        held: The documents of its title; in another edition if it is not held itself.
        is_held: Whether it is held itself.
        status: Of several editions the best; None if not known.
        statements: The citations.
    """

    title: str
    held: Sequence[Document]
    is_held: bool
    status: Status | None
    statements: Sequence[Statement]

    @property
    def citing(self) -> list[Statement]:
        """Return the first citation by each other document."""
        own = {card.doc_id for card in self.held}
        others = [s for s in self.statements if s.doc_id not in own]
        return list({s.doc_id: s for s in reversed(others)}.values())[::-1]

    def row(self, language: Language) -> tuple[tuple[Cell, ...], list[Spot]]:
        """Return its cells, and where the first documents cite it."""
        held = _HELD[language][0 if self.is_held else 1 if self.held else 2]
        status = kind_in_words(self.status.kind, language) if self.status else None
        ids = "、".join(card.doc_id for card in self.held) or None
        spots = [spot_of(s) for s in self.citing[:_MOST_SOURCES]]
        return (self.title, len(self.citing), held, status, ids), spots


def _cited(store: Store, cards: Sequence[Document], in_force: InForce, day: str) -> list[_Cited]:
    """Return the documents that those held cite."""
    nodes, titled = by_node(cards), _by_title(cards)
    citations: defaultdict[str, list[Statement]] = defaultdict(list)
    for s in store.statements("reference", sorted(card.doc_id for card in cards)):
        citations[s.fact.object.entity_id].append(s)
    found = []
    for node, statements in citations.items():
        name, held = statements[0].fact.object.name, nodes.get(node, [])
        near = [c for key in title_keys(without_edition(name)) for c in titled.get(key, ())]
        like = {c.doc_id: c for c in near if same_work(name, c.title)}
        status = in_force.status_of_title(name, day, edition=True)
        if several := [in_force.status(card.doc_id, day) for card in held]:
            status = next((one for one in several if one.counts), several[-1])
        title = f"《{held[-1].title if held else name}》"
        found.append(_Cited(title, held or list(like.values()), bool(held), status, statements))
    return found


def _by_title(cards: Iterable[Document]) -> dict[str, list[Document]]:
    """Return documents by the keys of their titles, and of those of what they were issued by."""
    found: defaultdict[str, list[Document]] = defaultdict(list)
    for card in cards:
        for title in filter(None, (card.title, card.metadata.notice)):
            for key in title_keys(without_edition(title)):
                found[key].append(card)
    return found


def _most_cited(store: Store, found: Sequence[_Cited], language: Language) -> Iterator[Table]:
    """Yield what is cited most, and of that what is not held."""
    ranked = [cited for cited in found if len(cited.citing) >= _LEAST_CITING]
    ranked.sort(key=lambda cited: (-len(cited.citing), cited.title))
    lacking = [cited for cited in ranked if not cited.held]
    n_held = len(ranked) - len(lacking)
    counted = note("overview-cited", "zh", n=len(ranked), held=n_held, most=_MOST_SOURCES)
    cut = note("first-rows", "zh", shown=_MOST_ROWS)
    for heading, several in ((_MOST_CITED, ranked), (_MOST_LACKING, lacking)):
        rows = (cited.row(language) for cited in several[:_MOST_ROWS])
        notes = (counted, cut) if len(several) > _MOST_ROWS else (counted,)
        yield Table(heading.key, _CITED_COLUMNS, sourced(store, rows), notes, heading)


def _outdated(
    store: Store,
    found: Sequence[_Cited],
    cards: Sequence[Document],
    statuses: Mapping[str, Status],
    language: Language,
) -> Table:
    """Return the documents in force that cite what was ended, or rest on a plan that is over."""
    by_id = {card.doc_id: card for card in cards}
    rows: list[tuple[tuple[bool, bool, str], tuple[Cell, ...], list[Spot]]] = []
    for cited, status in ((cited, cited.status) for cited in found if cited.status):
        by_document: defaultdict[str, list[Statement]] = defaultdict(list)
        is_over = status.kind == "over"
        for s in cited.statements:
            is_ended = status.kind in _ENDED and status.doc_id != s.doc_id
            if statuses[s.doc_id].counts and (is_ended or (is_over and role_of(s) in BASIS)):
                by_document[s.doc_id].append(s)
        for doc_id, several in by_document.items():
            card, roles = by_id[doc_id], dict.fromkeys(map(role_of, several))
            rank = (is_over, roles.keys().isdisjoint(BASIS), card.title)
            issued, told = day_of_issue(card), status.told(language)
            cells = (f"《{card.title}》", issued, "、".join(roles), cited.title, told, doc_id)
            rows.append((rank, cells, list(map(spot_of, several[:_MOST_SOURCES]))))
    rows.sort(key=lambda row: row[0])
    counted = note("overview-outdated", "zh", n=len({row[1][-1] for row in rows}))
    made = sourced(store, (row[1:] for row in rows))
    return Table("outdated", _OUTDATED, made, (counted,), _REST_ON_ENDED)
