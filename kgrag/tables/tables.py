"""The tables of a knowledge base, asked by the names that people use."""

import re
from collections import defaultdict
from datetime import date

from kgrag.errors import NotFoundError, OutOfRangeError
from kgrag.ingestion.self_names import DOCUMENT_TYPE
from kgrag.limits import MOST_HOPS, check_whole, checked_count, checked_text
from kgrag.qualifiers import Standing
from kgrag.retrieval.filter import Filter, document_called
from kgrag.store.store import Store
from kgrag.tables import compare, conflicts, digest, references, targets, timeline
from kgrag.tables.choose import choose, names_all
from kgrag.tables.compare import By
from kgrag.tables.digest import Part
from kgrag.tables.naming import called_so, document_meant
from kgrag.tables.sources import Spot, quoted, sources_of, spot_of
from kgrag.tables.table import Cell, Column, Row, Table
from kgrag.tables.targets import WantedTargets
from kgrag.tables.timeline import Event, WantedTimes
from kgrag.text.words import normalize_name
from kgrag.types import Entity

_ROLES = ("牵头", "负责", "配合")
_COLUMNS = (
    Column("organ", "部门", "organ"),
    Column("role", "角色", "role"),
    Column("task", "任务", "task"),
    Column("deadline", "时限", "deadline"),
    Column("as_written", "原称", "as written"),
)

_CANDIDATES = 50  # titles that are looked at where nothing is called so
_SHOWN = 5  # of them, in an error
_DAY = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")


class Tables:
    """Complete lists of what documents state, each row with its places.

    Rows come from what was read out of the documents: what reading missed is missing here.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    def targets(
        self,
        indicator: str = "",
        *,
        regions: tuple[str, ...] = (),
        years: tuple[int, int] | None = None,
        standing: Standing = "",
        within: Filter | None = None,
    ) -> Table:
        """Return figures; see `kgrag.tables.targets.WantedTargets` for what is asked."""
        wanted = WantedTargets(_checked(indicator), regions, years, standing, within)
        return targets.targets(self._store, wanted)

    def compare(
        self,
        indicator: str,
        *,
        by: By = "province",
        regions: tuple[str, ...] = (),
        years: tuple[int, int] | None = None,
        standing: Standing = "",
        within: Filter | None = None,
    ) -> Table:
        """Return figures of an indicator side by side; see `kgrag.tables.compare.compare`."""
        wanted = WantedTargets(
            checked_text("indicator", indicator), regions, years, standing, within
        )
        return compare.compare(self._store, wanted, by=by)

    def duties(self, organ: str, *, role: str = "", within: Filter | None = None) -> Table:
        """Return what an organ is to do; see `kgrag.tables.duties.duties`."""
        return duties(self._store, _checked(organ), role=role, within=within)

    def cites(self, document: str) -> Table:
        """Return what a document (id, file, file name or title) cites.

        Raises:
            NotFoundError: If no document, or more than one, is called so.
        """
        card = document_called(document, self._store.document_cards())
        return references.cites(self._store, card.doc_id)

    def cited_by(self, title: str) -> Table:
        """Return the documents that cite one, held or not.

        Args:
            title: Of the one that is cited; an id, file or file name where it is held.

        Raises:
            NotFoundError: If nothing that is held or cited is called so; names what is like it.
        """
        checked_text("title", title)
        bare = title.strip().removeprefix("《").removesuffix("》")
        held, nodes = called_so(self._store, bare)
        if not nodes:
            nodes = [entity.entity_id for entity in self._titled(bare)]
        return references.cited_by(self._store, held, node_ids=nodes)

    def basis(self, document: str, *, hops: int = 3) -> Table:
        """Return what a document rests on, and what that rests on.

        Raises:
            NotFoundError: If no document, or more than one, is called so.
            OutOfRangeError: If hops are not from 1 to `limits.MOST_HOPS`.
        """
        checked_count("hops", hops, most=MOST_HOPS)
        card = document_called(document, self._store.document_cards())
        return references.basis(self._store, card.doc_id, hops=hops)

    def timeline(
        self,
        indicator: str = "",
        *,
        regions: tuple[str, ...] = (),
        since: str = "",
        until: str = "",
        events: tuple[Event, ...] = (),
        within: Filter | None = None,
    ) -> Table:
        """Return what happens when; see `kgrag.tables.timeline.WantedTimes` for what is asked.

        Raises:
            OutOfRangeError: If `since` or `until` is no date.
        """
        for name, day in (("since", since), ("until", until)):
            if day and not _DAY.fullmatch(day):
                raise OutOfRangeError(f"{name} is 2022, 2022-06 or 2022-06-30, got {day!r}")
        wanted = WantedTimes(_checked(indicator), regions, since, until, events, within)
        return timeline.timeline(self._store, wanted)

    def digest(self, old: str, new: str, *, parts: tuple[Part, ...] = ()) -> Table:
        """Return what a document adds to, drops from and changes of another.

        Args:
            old: An id, file, file name, title, or part of one title.
            new: The same of the document that it is compared with.
            parts: Which; empty for all. See `kgrag.tables.digest.digest`.

        Raises:
            NotFoundError: If no document, or more than one, is called so.
            OutOfRangeError: If both are one document.
        """
        cards = self._store.document_cards()
        first, second = (document_meant(name, cards).doc_id for name in (old, new))
        if first == second:
            raise OutOfRangeError(f"{old!r} and {new!r} are one document: {first}")
        return digest.digest(self._store, first, second, parts=parts)

    def conflicts(
        self,
        indicator: str = "",
        *,
        regions: tuple[str, ...] = (),
        years: tuple[int, int] | None = None,
        within: Filter | None = None,
    ) -> Table:
        """Return figures that do not go together; see `kgrag.tables.conflicts.conflicts`."""
        wanted = WantedTargets(_checked(indicator), regions, years, within=within)
        return conflicts.conflicts(self._store, wanted, day=date.today().isoformat())

    def _titled(self, title: str) -> list[Entity]:
        """Return the cited titles that hold the one asked for."""
        like = [e for e, _ in self._store.search_entities(title, top_k=_CANDIDATES)]
        named = [e for e in self._store.entities(like) if e.type == DOCUMENT_TYPE]
        within = [e for e in named if normalize_name(title) in normalize_name(e.name)]
        if within:
            return within
        hint = f"; like it: {'、'.join(e.name for e in named[:_SHOWN])}" if named else ""
        raise NotFoundError(f"no document that is held or cited is called {title!r}{hint}")


def _checked(name: str) -> str:
    check_whole("name", name)
    return name


def duties(store: Store, organ: str, *, role: str = "", within: Filter | None = None) -> Table:
    """Return what an organ is to do, a row for each task, organ and role.

    Args:
        store: The knowledge base.
        organ: Words of its name, divided by blanks: 四川 生态环境厅. Empty for all.
        role: 牵头, 负责 or 配合; empty for all.
        within: Of which documents.

    Raises:
        NotFoundError: If the filter leaves no document.
    """
    chosen, named = choose(store, within), names_all(organ)
    rows: defaultdict[tuple[Cell, ...], list[Spot]] = defaultdict(list)
    stating = set()
    for statement in store.statements("duty", sorted(chosen.cards) if within else None):
        told, fact = statement.qualifiers, statement.fact
        written = told.subject or fact.subject.name
        said = told.role or fact.predicate
        if not (named(fact.subject.name) or named(written)) or (role and said != role):
            continue
        task = told.object or fact.object.name
        cells = (fact.subject.name, said, task, told.deadline or None, written)
        rows[cells].append(spot_of(statement))
        stating.add(statement.doc_id)
    sources = quoted(store, (spot for spots in rows.values() for spot in spots))
    return Table(
        name="duties",
        columns=_COLUMNS,
        rows=tuple(
            Row(cells, sources_of(spots, sources))
            for cells, spots in sorted(rows.items(), key=lambda item: _order(item[0], item[1][0]))
        ),
        notes=(
            chosen.note(stating, zh=f"{organ}职责", en=f"duties of {organ}" if organ else "duties"),
        ),
    )


def _order(cells: tuple[Cell, ...], spot: Spot) -> tuple[str, int, Spot]:
    role = _ROLES.index(str(cells[1])) if cells[1] in _ROLES else len(_ROLES)
    return str(cells[0]), role, spot
