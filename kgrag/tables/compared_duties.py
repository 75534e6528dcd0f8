"""What became of the duties of a document in another: tasks, and the organs that have them."""

import bisect
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kgrag.language.text import character_pairs, normalize_name
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.clauses import Aligned, Clause, share_of_pairs
from kgrag.tables.paired import ADDED, CHANGED, KEPT, REMOVED, Change, pairs_alike
from kgrag.tables.sources import Spot, spot_of
from kgrag.types import Document

_ONE_TASK = 0.75  # share of character pairs from which two tasks are one
_OF_ONE_CLAUSE = 0.96  # how alike two tasks count that are each the only one of a clause
_ELSEWHERE = 0.95  # the share where their clauses have other counterparts
_BODY = re.compile("[厅局委部办]$")
_WHOSE = re.compile("（[^）]*）$")
_ROLES = ("牵头", "负责", "配合")


@dataclass
class _Task:
    """A task of a document.

    Attributes:
        name: As written.
        spot: Where it is stated first.
        pairs: Character pairs of the name.
        clause: The clause of the new document that its own is aligned with, or is; None for none.
        is_alone: Whether its clause has no other task.
        organs: Names by role.
    """

    name: str
    spot: Spot
    pairs: Mapping[str, int]
    clause: Clause | None = None
    is_alone: bool = False
    organs: dict[str, list[str]] = field(default_factory=dict)

    def told(self) -> str:
        """Return who does it, by role."""
        roles = sorted(self.organs, key=lambda r: _ROLES.index(r) if r in _ROLES else len(_ROLES))
        return "；".join(f"{role}：{'、'.join(sorted(self.organs[role]))}" for role in roles)


def duty_changes(
    store: Store, old: Document, new: Document, aligned: Sequence[Aligned]
) -> Iterator[Change]:
    """Yield the tasks of two documents; one are those worded alike, and those of one clause.

    Between documents of two places an organ is the same where its name is but for the place and
    its level: 四川省林业局 and 成都市林业局, 生态环境厅 and 生态环境局.

    Args:
        store: The knowledge base.
        old: A document that is held.
        new: The one that it is compared with.
        aligned: Their clauses.
    """
    ours = _tasks(store, old, [(pair.old, pair.new) for pair in aligned])
    theirs = _tasks(store, new, [(pair.new, pair.new) for pair in aligned])
    across = old.metadata.regions != new.metadata.regions
    for a, b in pairs_alike(ours, theirs, _alike, at_least=_ONE_TASK):
        if a and b:
            same = _keys(a, old, across) == _keys(b, new, across)
            item = b.name if a.name == b.name else f"{b.name}（旧：{a.name}）"
            kind = KEPT if same else CHANGED
            yield Change(kind, item, a.told(), b.told(), (a.spot, b.spot))
        elif b:
            yield Change(ADDED, b.name, "", b.told(), (b.spot,))
        elif a:
            yield Change(REMOVED, a.name, a.told(), "", (a.spot,))


def _tasks(
    store: Store, document: Document, counterparts: Sequence[tuple[Clause | None, Clause | None]]
) -> list[_Task]:
    found: dict[tuple[str, int], _Task] = {}
    starts = sorted(own.start for own, _ in counterparts if own)
    for statement in store.statements("duty", [document.doc_id]):
        name = statement.qualifiers.object or statement.fact.object.name
        clause = bisect.bisect_right(starts, statement.start)
        task = found.setdefault(
            (normalize_name(name), clause),
            _Task(name, spot_of(statement), Counter(character_pairs(name))),
        )
        organs = task.organs.setdefault(_role(statement), [])
        if statement.fact.subject.name not in organs:
            organs.append(statement.fact.subject.name)
    for own, other in counterparts:
        inside = [t for t in found.values() if own and own.start <= t.spot[1] < own.end]
        for task in inside:
            task.clause, task.is_alone = other, len(inside) == 1
    return list(found.values())


def _role(statement: Statement) -> str:
    return statement.qualifiers.role or statement.fact.predicate


def _alike(one: _Task, other: _Task) -> float:
    share = share_of_pairs(one.pairs, other.pairs)
    if one.clause is not other.clause:
        apart = one.clause is not None and other.clause is not None
        return share if share >= (_ELSEWHERE if apart else _ONE_TASK) else 0.0
    if one.clause is not None and one.is_alone and other.is_alone:
        return max(share, _OF_ONE_CLAUSE)
    return share if share >= _ONE_TASK else 0.0


def _keys(task: _Task, document: Document, across: bool) -> set[tuple[str, str]]:
    return {
        (role, _plain(organ, document) if across else organ)
        for role, organs in task.organs.items()
        for organ in organs
    }


def _plain(organ: str, document: Document) -> str:
    """Return an organ's name without its place and its level."""
    bare = _WHOSE.sub("", organ)
    for region in reversed(document.metadata.regions):
        bare = bare.removeprefix(region)
    return _BODY.sub("", bare)
