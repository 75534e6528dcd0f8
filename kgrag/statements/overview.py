"""What an archive holds, and what it lacks: counts, gaps between places, citations."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from kgrag.answer.notes import Note, note
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
from kgrag.text.regions import level_of, listed_regions
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
_CITED = (
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
_HELD = {
    "held": ("在库", "held"),
    "like": ("同名在库", "one of its title"),
    "": ("不在库", "not held"),
}
_LEAST_PLACES = 3  # that have a document of a subject, before others are said to lack one
_LIKE = 0.6  # of subjects that may be one, by `likeness`
_MOST_SOURCES = 5  # of a row
_MOST_ROWS = 50  # of cited documents
_LEAST_CITING = 2
_LOCAL = ("省", "市", "县", "")  # levels of documents that are about some place
_ENDED: Collection[StatusKind] = ("repealed", "expired", "superseded")


@dataclass(frozen=True, slots=True)
class FacetValue(JsonReady):
    """A value of a facet, and how many documents have it.

    Attributes:
        value: As `facet_values` returns it.
        n: Number of documents.
    """

    value: str
    n: int


def facet_values(card: Document, status: Status) -> dict[Facet, tuple[str, ...]]:
    """Return a document's values of each facet; none where it is not known.

    `Filter` takes those of `region`, `kind`, `issuer` and `year` (as a number), and leaves exactly
    the documents that have one; for `year` also those whose year is only inferred.

    Args:
        card: The document; its text is not needed.
        status: Of the document, at some day.

    Returns:
        `region`: its provinces, 全国 for none; for a document of unlisted places the outermost.
        `kind`: all in which its title ends, 实施方案 and 方案. `issuer`: full names. `status`: a
        `StatusKind`.
    """
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

    Args:
        cards: The documents; texts are not needed.
        statuses: Of each document, by id.
    """
    counts: dict[Facet, Counter[str]] = {facet: Counter() for facet in FACETS}
    for card in cards:
        for facet, values in facet_values(card, statuses[card.doc_id]).items():
            counts[facet].update(values)
    order: Mapping[Facet, Sequence[str]] = {
        "year": sorted(counts["year"]),
        "level": get_args(Level),
        "status": get_args(StatusKind),
    }

    def rank(facet: Facet, value: str) -> tuple[int, str]:
        known = order.get(facet)
        return (known.index(value) if known else -counts[facet][value], value)

    return {
        facet: [FacetValue(v, found[v]) for v in sorted(found, key=lambda v: rank(facet, v))]
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
        language: Of words in cells; texts of documents stay as they are.
    """
    cards = sorted(store.document_cards(), key=lambda card: (card.metadata.issue_date, card.title))
    in_force = InForce.read(store, cards)
    statuses = {card.doc_id: in_force.status(card.doc_id, day) for card in cards}
    citations = _Citations(store.statements("reference"), cards, in_force, day, language)
    return [
        *_counts(cards, statuses, day, language),
        _gaps(store, cards),
        *citations.tables(store),
        citations.outdated(store, statuses),
    ]


def lacking(store: Store, *, day: str, language: Language = "zh") -> Table:
    """Return what is cited most and not held, of `overview`."""
    cards = store.document_cards()
    statements, in_force = store.statements("reference"), InForce.read(store, cards)
    return [*_Citations(statements, cards, in_force, day, language).tables(store)][-1]


def _counts(
    cards: Sequence[Document], statuses: Mapping[str, Status], day: str, language: Language
) -> Iterator[Table]:
    years = [card.metadata.year for card in cards if card.metadata.year]
    span = {"first": min(years, default="?"), "last": max(years, default="?")}
    for facet, values in facets(cards, statuses).items():
        having = sum(bool(facet_values(card, statuses[card.doc_id])[facet]) for card in cards)
        if facet == "status":
            notes = [note("overview-documents", "zh", n=len(cards), day=day, **span)]
        else:
            notes = [*_coverage(facet, cards, having, sum(value.n for value in values))]
        column = FACETS[facet]
        rows = (Row((_word(facet, value.value, language), value.n)) for value in values)
        yield Table(facet, (column, _N), tuple(rows), tuple(notes), column)


def _word(facet: Facet, value: str, language: Language) -> Cell:
    if facet == "status":
        return next(kind_in_words(k, language) for k in get_args(StatusKind) if k == value)
    return int(value) if facet == "year" else value


def _coverage(facet: Facet, cards: Sequence[Document], having: int, total: int) -> Iterator[Note]:
    """Yield what the counts of a facet do not add up to, and why.

    Args:
        facet: The facet.
        cards: All documents.
        having: Number of those with a value.
        total: Sum of the counts.
    """
    what = note(f"overview-{facet}", "zh")
    if silent := len(cards) - having:
        yield note("overview-silent", "zh", n=silent, what=what)
    if total > having:
        yield note("overview-several", "zh", n=having, sum=total, what=what)
    told = [card.metadata for card in cards]
    if facet == "year" and (n := sum(m.year != m.sure_year for m in told)):
        yield note("overview-guessed", "zh", n=n)
    if facet == "region" and (n := sum(not m.regions and m.level in _LOCAL for m in told)):
        yield note("overview-unplaced", "zh", n=n)


def _gaps(store: Store, cards: Sequence[Document]) -> Table:
    """Return subjects on which several places of one level have a document, and who lacks one."""
    level, own = _peers(cards)
    by_subject: defaultdict[str, defaultdict[str, list[Document]]] = defaultdict(
        lambda: defaultdict(list)
    )
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    subjects: defaultdict[str, set[str]] = defaultdict(set)
    for place, held in own.items():
        for card in held:
            subject, kind = title_subject(card.title, card.metadata.regions)
            if subject:
                by_subject[subject][place].append(card)
                kinds[subject][kind] += 1
                subjects[place].add(subject)
    shared = [s for s, having in by_subject.items() if _LEAST_PLACES <= len(having) < len(own)]
    shared.sort(key=lambda subject: (-len(by_subject[subject]), subject))
    rows = []
    for subject in shared[:_MOST_ROWS]:
        having = by_subject[subject]
        others = [place for place in own if place not in having]
        similar = [p for p in others if any(likeness(subject, s) >= _LIKE for s in subjects[p])]
        lack = [place for place in others if place not in similar]
        cells: tuple[Cell, ...] = (
            subject + kinds[subject].most_common(1)[0][0],
            len(having),
            len(own),
            *("、".join(map(called, names)) or None for names in (having, similar, lack)),
        )
        rows.append((cells, [(held[0].doc_id, 0, 1) for held in having.values()]))
    notes = [note("overview-gaps", "zh", n=len(own), least=_LEAST_PLACES, most=_MOST_SOURCES)]
    if len(shared) > _MOST_ROWS:
        notes.append(note("first-rows", "zh", shown=_MOST_ROWS))
    # The gazetteer knows no division of those that no archive of the mainland has.
    inside = dict.fromkeys(r.parent.name for r in listed_regions() if r.parent)
    absent = tuple(called(n) for n in inside if level_of(n) == "省" and n not in own)
    if level == "省" and absent and len(own) > len(absent):
        notes.append(note("overview-absent", "zh", names=absent))
    return Table("gaps", _GAPS, _sourced(store, rows), tuple(notes), _SHARED)


def _peers(cards: Sequence[Document]) -> tuple[str, dict[str, list[Document]]]:
    """Return the outermost level of which several places have documents, and those by place."""
    levels: dict[str, dict[str, list[Document]]] = {"省": {}, "市": {}, "县": {}}
    for card in cards:
        regions = card.metadata.regions
        within = [level_of(name) for name in regions]
        if regions and len(set(within)) == len(within):  # else of several places
            levels[within[-1]].setdefault(regions[-1], []).append(card)
    for level, own in levels.items():
        if len(own) >= _LEAST_PLACES:
            return level, {name: own[name] for name in sorted(own, key=place_rank)}
    return "", {}


class _Citations:
    """Citations of an archive by cited document; of itself none has any."""

    def __init__(
        self,
        statements: Sequence[Statement],
        cards: Sequence[Document],
        in_force: InForce,
        day: str,
        language: Language,
    ) -> None:
        self._cards = {card.doc_id: card for card in cards}
        self._held = by_node(cards)
        self._in_force, self._day, self._language = in_force, day, language
        self._titled: defaultdict[str, list[Document]] = defaultdict(list)
        for card in cards:
            for title in filter(None, (card.title, card.metadata.notice)):
                for key in title_keys(without_edition(title)):
                    self._titled[key].append(card)
        self._of: defaultdict[str, list[Statement]] = defaultdict(list)
        for statement in statements:
            if statement.doc_id in self._cards:
                self._of[statement.fact.object.entity_id].append(statement)
        self._meant = {node: self._called(node) for node in self._of}

    def tables(self, store: Store) -> Iterator[Table]:
        """Yield what is cited most, and of that what is not held."""
        citing = {node: self._citing(node) for node in self._of}
        ranked = sorted(
            (node for node, found in citing.items() if len(found) >= _LEAST_CITING),
            key=lambda node: (-len(citing[node]), self._title(node)),
        )
        lacking = [node for node in ranked if not self._meant[node]]
        counted = note(
            "overview-cited",
            "zh",
            n=len(ranked),
            held=len(ranked) - len(lacking),
            most=_MOST_SOURCES,
        )
        for heading, nodes in ((_MOST_CITED, ranked), (_MOST_LACKING, lacking)):
            rows = [(self._cells(n), [spot_of(s) for s in citing[n]]) for n in nodes[:_MOST_ROWS]]
            cut = note("first-rows", "zh", shown=_MOST_ROWS)
            notes = (counted, cut) if len(nodes) > _MOST_ROWS else (counted,)
            yield Table(heading.key, _CITED, _sourced(store, rows), notes, heading)

    def outdated(self, store: Store, statuses: Mapping[str, Status]) -> Table:
        """Return the documents in force that cite what no longer is."""
        found: dict[tuple[str, str], list[Statement]] = defaultdict(list)
        for node, statements in self._of.items():
            status = self._status(node)
            if status is None:
                continue
            for one in statements:
                ended = status.kind in _ENDED and status.doc_id != one.doc_id
                over = status.kind == "over" and role_of(one) in BASIS
                if (ended or over) and statuses[one.doc_id].counts:
                    found[one.doc_id, node].append(one)
        rows = []
        for (doc_id, node), statements in sorted(found.items(), key=self._urgency):
            card, status = self._cards[doc_id], self._status(node)
            roles = "、".join(dict.fromkeys(map(role_of, statements)))
            told = status.told(self._language) if status else None
            cited = self._title(node)
            cells = (f"《{card.title}》", day_of_issue(card), roles, cited, told, doc_id)
            rows.append((cells, map(spot_of, statements)))
        counted = note("overview-outdated", "zh", n=len({doc_id for doc_id, _ in found}))
        return Table("outdated", _OUTDATED, _sourced(store, rows), (counted,), _REST_ON_ENDED)

    def _urgency(self, item: tuple[tuple[str, str], list[Statement]]) -> tuple[bool, bool, str]:
        (doc_id, node), statements = item
        status = self._status(node)
        weak = not any(role_of(one) in BASIS for one in statements)
        return status is not None and status.kind == "over", weak, self._cards[doc_id].title

    def _called(self, node: str) -> list[Document]:
        """Return the documents that a cited one is, or that have its title in any edition."""
        if held := self._held.get(node):
            return held
        name = self._of[node][0].fact.object.name
        keys = title_keys(without_edition(name))
        like = {c.doc_id: c for key in keys for c in self._titled.get(key, ())}
        return [card for card in like.values() if same_work(name, card.title)]

    def _citing(self, node: str) -> list[Statement]:
        """Return the first citation by each other document."""
        own = {card.doc_id for card in self._meant[node]}
        first = {s.doc_id: s for s in reversed(self._of[node]) if s.doc_id not in own}
        return list(first.values())[::-1]

    def _title(self, node: str) -> str:
        held = self._held.get(node)
        return f"《{held[-1].title if held else self._of[node][0].fact.object.name}》"

    def _status(self, node: str) -> Status | None:
        """Return the status of a cited document; of several editions the best."""
        held = self._held.get(node)
        if not held:
            name = self._of[node][0].fact.object.name
            return self._in_force.status_of_title(name, self._day, edition=True)
        several = [self._in_force.status(card.doc_id, self._day) for card in held]
        return next((status for status in several if status.counts), several[-1])

    def _cells(self, node: str) -> tuple[Cell, ...]:
        held = self._held.get(node, [])
        kind = "held" if held else "like" if self._meant[node] else ""
        status = self._status(node)
        return (
            self._title(node),
            len(self._citing(node)),
            _HELD[kind][self._language != "zh"],
            kind_in_words(status.kind, self._language) if status else None,
            "、".join(card.doc_id for card in self._meant[node]) or None,
        )


def _sourced(
    store: Store, rows: Sequence[tuple[tuple[Cell, ...], Iterator[Spot] | Sequence[Spot]]]
) -> tuple[Row, ...]:
    """Return rows with their first sources."""
    return sourced(store, [(cells, list(spots)[:_MOST_SOURCES]) for cells, spots in rows])
