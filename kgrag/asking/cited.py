"""What a document cites: its bases, what it carries out, amends or repeals, and their own bases."""

import re
from collections.abc import Collection, Iterator, Mapping

from kgrag.asking.rows import Complete, Stated, place_of
from kgrag.asking.search_context import SearchContext
from kgrag.language.document_nodes import node_id
from kgrag.language.text import normalize_name
from kgrag.retrieval.search import Search
from kgrag.store.graph import Statement
from kgrag.tables.references import BASIS
from kgrag.types import Document, Language

_ROLES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile("废止|repeal"), ("废止",)),
    (re.compile("修订|修改|amend"), ("修订",)),
    (re.compile("转发|forward"), ("转发",)),
    (re.compile("依据|根据|上位|basis|based on"), BASIS),
    (re.compile("落实|贯彻|carr(?:y|ies) out|implement"), BASIS),
    (re.compile("引用|援引|提到|提及|参照|cite|mention|refer"), ()),
)
# 《A》引用了哪些文件, 《A》的依据是什么, 哪些文件是《A》的依据; the title stands before the word.
_SAID = (
    r"(?:引用|援引|依据|根据|落实|贯彻|修订|修改|废止|转发|提到|提及|参照|上位"
    r"|cite|mention|refer|amend|repeal|rest|based? on|basis)"
)
_WHAT = re.compile(
    rf"》(?!.*《).{{0,16}}?{_SAID}.{{0,14}}?(?:哪些|哪几|哪个|什么|哪里|链|来源|[?？]|$)"
    rf"|哪些.{{0,10}}是《.*》.{{0,6}}依据|(?:what|which).{{0,30}}》.{{0,12}}{_SAID}|basis of 《",
    re.IGNORECASE,
)
_CHAIN = re.compile(r"依据链|的依据又|上位依据|层层|追溯|一直到|再往上|chain")
_NOTES: Mapping[Language, str] = {
    "zh": "从《{title}》读出{what}{n}项，其中{held}项在库",
    "en": "{n} {what} were read from 《{title}》, {held} of them held",
}
_WHATS: Mapping[Language, tuple[str, str]] = {
    "zh": ("引用的文件", "依据（含依据的依据）"),
    "en": ("citations", "bases, with theirs"),
}
_MOST_HOPS = 3


def cited(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return what a document that the question names cites; None for another question.

    Args:
        search: For the question.
        knowledge: Whose documents are listed.
    """
    query = search.query
    if not _WHAT.search(query.quoting) or len(query.titles) != 1:
        return None
    cards = {card.doc_id: card for card in knowledge.settings().cards}
    own = _own(search, query.titles[0], cards, knowledge.doc_ids)
    if own is None:
        return None
    remainder = query.remainder
    roles = next((roles for pattern, roles in _ROLES if pattern.search(remainder)), ())
    hops = _MOST_HOPS if _CHAIN.search(remainder) else 1
    held: dict[str, list[str]] = {}
    for card in cards.values():
        held.setdefault(node_id(card.title, card.metadata), []).append(card.doc_id)
    found = list(_followed(own, knowledge, held, roles if hops == 1 else BASIS, hops, {own}))
    if not found:
        return None
    n_held = sum(s.fact.object.entity_id in held for s in found)
    note = _NOTES[query.language].format(
        title=cards[own].title, what=_WHATS[query.language][hops > 1], n=len(found), held=n_held
    )
    rows = tuple(Stated(place_of(s), aside=_aside(s)) for s in found)
    return Complete(rows, (note,), "references")


def _own(
    search: Search, title: str, cards: Mapping[str, Document], within: Collection[str] | None
) -> str | None:
    """Return the one document that bears a title; the exact one where several hold it."""
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
    """Yield the first place where each cited document is cited, then theirs, depth first."""
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
