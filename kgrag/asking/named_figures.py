"""The figures of indicators that a text may name: read by their names, not out of all figures."""

from collections.abc import Iterable, Iterator, Sequence

from kgrag.language.indicators import indicator_name, indicator_names, is_indicator
from kgrag.language.text import normalize_name
from kgrag.store.decisions import DecidedNames
from kgrag.store.graph import Statement
from kgrag.store.store import Store

_SHORTEST, _LONGEST = 2, 20  # characters of a name that is looked for in a text
_LEAST_PART = 3  # characters of what may be a part of an indicator's name
_MOST_LIKE = 300  # names of entities that contain a part


def named_figures(store: Store, text: str, pieces: Sequence[str]) -> list[Statement]:
    """Return the figures whose indicator a text may name, ordered by document and place.

    Indicators are found by every stretch of the text, by its other names and those that a person
    merged it into, and by a piece that their names contain.

    Args:
        store: The knowledge base.
        text: What a question says besides places and years.
        pieces: Its parts between words of asking.
    """
    names = set(_names(text, pieces, DecidedNames.of(store.decisions())))
    found = store.find_entities(sorted(names))
    ids = {entity.entity_id for entity in found}
    parts = {normalize_name(piece) for piece in pieces if len(pieces) == 1}
    longest = max((normalize_name(entity.name) for entity in found), key=len, default="")
    if not is_indicator(longest):
        parts.add(longest)  # 国有林场, which has a word of asking in it
    for part in parts:
        if len(part) >= _LEAST_PART:
            like = [e for e, _ in store.search_entities(part, top_k=_MOST_LIKE)]
            ids |= {e.entity_id for e in store.entities(like) if part in normalize_name(e.name)}
    return store.statements("target", around=ids) if ids else []


def _names(text: str, pieces: Sequence[str], decided: DecidedNames) -> Iterator[str]:
    """Yield what an indicator that a text names may be called."""
    bare = normalize_name(text)
    stretches = set(_stretches(bare))
    yield from stretches
    for stretch in stretches:
        if is_indicator(stretch):
            yield decided.called(indicator_name(stretch), written=stretch)
        if stretch in decided.merged:
            yield decided.called(stretch, written=stretch)
    for piece in (*pieces, bare):
        for name in indicator_names(piece):
            yield decided.called(name, written=piece)


def _stretches(text: str) -> Iterable[str]:
    n = len(text)
    return (
        text[start:end]
        for start in range(n)
        for end in range(start + _SHORTEST, min(n, start + _LONGEST) + 1)
    )
