"""The tables of a knowledge base."""

import re
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from datetime import date

from kgrag.answer.notes import note
from kgrag.errors import NotFoundError, OutOfRangeError
from kgrag.ingestion.self_names import DOCUMENT_TYPE
from kgrag.limits import MOST_HOPS, check_whole, checked_count, checked_text
from kgrag.qualifiers import Standing
from kgrag.retrieval.filter import Filter, document_meant
from kgrag.statements import compare, conflicts, digest, references, targets, timeline
from kgrag.statements.choose import choose, names_organ
from kgrag.statements.compare import By
from kgrag.statements.digest import Part
from kgrag.statements.naming import called_so
from kgrag.statements.sources import Spot, object_of, role_of, sourced, spot_of, subject_of
from kgrag.statements.table import Cell, Column, Table
from kgrag.statements.targets import WantedTargets
from kgrag.statements.timeline import Event, WantedTimes
from kgrag.store.likeness import not_called
from kgrag.store.store import Store
from kgrag.text.messages import message
from kgrag.text.words import normalize_name

_ROLES = ("牵头", "负责", "配合")
_COLUMNS = (
    Column("organ", "部门", "organ"),
    Column("role", "角色", "role"),
    Column("task", "任务", "task"),
    Column("deadline", "时限", "deadline"),
    Column("as_written", "原称", "as written"),
)

_CANDIDATES = 50  # titles that are looked at where nothing is called so
_DAY = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")


class Tables:
    """Complete lists of extracted statements, each row with its sources.

    What extraction missed is missing here.
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
        """Return figures; see `kgrag.statements.targets.WantedTargets` for the arguments."""
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
        """Return `compare.matrix` as a table; see `as_table` and `values` there."""
        wanted = WantedTargets(indicator, regions, years, standing, within)
        table = compare.as_table(compare.matrix(self._store, wanted, by=by), by)
        return replace(table, values=compare.values(self._store, wanted))

    def duties(self, organ: str, *, role: str = "", within: Filter | None = None) -> Table:
        """Return the duties of an organ; see `duties` of this module."""
        return duties(self._store, _checked(organ), role=role, within=within)

    def cites(self, document: str) -> Table:
        """Return the citations of a document; see `kgrag.retrieval.filter.document_meant`.

        Raises:
            NotFoundError: If no document has this name, or several have.
        """
        card = document_meant(document, self._store.document_cards())
        return references.cites(self._store, card.doc_id)

    def cited_by(self, title: str) -> Table:
        """Return the documents that cite one.

        Args:
            title: Title of the cited document; id, file, number or part of the title if it is
                stored.

        Raises:
            NotFoundError: If no stored or cited document has this name; lists similar ones.
        """
        checked_text("title", title)
        bare = title.strip().removeprefix("《").removesuffix("》")
        held, nodes = called_so(self._store, bare)
        if not nodes:
            held, nodes = self._titled(bare)
        return references.cited_by(self._store, held, node_ids=nodes)

    def basis(self, document: str, *, hops: int = 3) -> Table:
        """Return the legal basis of a document, recursively.

        Raises:
            NotFoundError: If no document has this name, or several have.
            OutOfRangeError: If hops are not from 1 to `limits.MOST_HOPS`.
        """
        checked_count("hops", hops, most=MOST_HOPS)
        card = document_meant(document, self._store.document_cards())
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
        """Return events by date; see `kgrag.statements.timeline.WantedTimes` for the arguments.

        Raises:
            OutOfRangeError: If `since` or `until` is no date.
        """
        for name, day in (("since", since), ("until", until)):
            if day and not _DAY.fullmatch(day):
                raise OutOfRangeError(
                    "{name} is 2022, 2022-06 or 2022-06-30, got {day!r}", name=name, day=day
                )
        wanted = WantedTimes(_checked(indicator), regions, since, until, events, within)
        return timeline.timeline(self._store, wanted)

    def digest(self, old: str, new: str, *, parts: tuple[Part, ...] = ()) -> Table:
        """Return what a document adds, removes and changes with respect to another one.

        Args:
            old: As for `kgrag.retrieval.filter.document_meant`.
            new: The same of the document to compare with it.
            parts: What to compare; empty for all. See `kgrag.statements.digest.digest`.

        Raises:
            NotFoundError: If no document has this name, or several have.
            OutOfRangeError: If both names denote one document.
        """
        cards = self._store.document_cards()
        first, second = (document_meant(name, cards).doc_id for name in (old, new))
        if first == second:
            raise OutOfRangeError(
                "{old!r} and {new!r} are one document: {first}", old=old, new=new, first=first
            )
        return digest.digest(self._store, first, second, parts=parts)

    def conflicts(
        self,
        indicator: str = "",
        *,
        regions: tuple[str, ...] = (),
        years: tuple[int, int] | None = None,
        within: Filter | None = None,
    ) -> Table:
        """Return conflicting figures; see `kgrag.statements.conflicts.conflicts`."""
        wanted = WantedTargets(_checked(indicator), regions, years, within=within)
        return conflicts.conflicts(self._store, wanted, day=date.today().isoformat())

    def _titled(self, title: str) -> tuple[list[str], list[str]]:
        """Return what `called_so` does for the cited titles, else the one held, with a text in it.

        Raises:
            NotFoundError: If there is none.
        """
        like = [e for e, _ in self._store.search_entities(title, top_k=_CANDIDATES)]
        named = [e for e in self._store.entities(like) if e.type == DOCUMENT_TYPE]
        within = [e for e in named if normalize_name(title) in normalize_name(e.name)]
        if within:
            return [], [entity.entity_id for entity in within]
        cards = self._store.document_cards()
        with suppress(NotFoundError):
            return called_so(self._store, document_meant(title, cards).doc_id)
        raise not_called(
            message("document that is held or cited"),
            title,
            [
                *(c.title for c in cards),
                *(c.metadata.number for c in cards),
                *(e.name for e in named),
            ],
        )


def _checked(name: str) -> str:
    check_whole("name", name)
    return name


def duties(store: Store, organ: str, *, role: str = "", within: Filter | None = None) -> Table:
    """Return the duties of an organ, a row for each task, organ and role.

    Args:
        store: The knowledge base.
        organ: Words of its name, separated by blanks: 四川 生态环境厅; or what documents of
            its place call it: 住建局. Empty for all.
        role: 牵头, 负责 or 配合; empty for all.
        within: Selects documents.

    Raises:
        NotFoundError: If the filter leaves no document, or no document names the organ.
    """
    chosen, is_of = choose(store, within), names_organ(organ)
    rows: defaultdict[tuple[Cell, ...], list[Spot]] = defaultdict(list)
    stating, tasks = set(), dict[Spot, str]()
    for statement in store.statements("duty", sorted(chosen.cards) if within else None):
        name, written, said = statement.fact.subject.name, subject_of(statement), role_of(statement)
        if not is_of(statement, chosen.cards[statement.doc_id]) or (role and said != role):
            continue
        deadline = statement.qualifiers.deadline or None
        spot, task = spot_of(statement), object_of(statement)
        rows[name, said, task, deadline, written].append(spot)
        tasks[spot] = task
        stating.add(statement.doc_id)
    if organ and not rows:
        cards = {card.doc_id: card for card in store.document_cards()}
        held = [s for s in store.statements("duty") if s.doc_id in cards]
        if not any(is_of(s, cards[s.doc_id]) for s in held):
            names = {s.fact.subject.name for s in held}
            raise not_called(message("organ with duties"), organ, names)
    ordered = sorted(rows.items(), key=lambda row: _order(row[0], row[1][0]))
    return Table(
        name="duties",
        columns=_COLUMNS,
        rows=sourced(store, ordered, tasks),
        notes=(
            chosen.note(stating, note("duties-of" if organ else "all-duties", "zh", organ=organ)),
        ),
    )


def _order(cells: tuple[Cell, ...], spot: Spot) -> tuple[str, int, Spot]:
    role = _ROLES.index(str(cells[1])) if cells[1] in _ROLES else len(_ROLES)
    return str(cells[0]), role, spot
