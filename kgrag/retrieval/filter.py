"""Metadata filter of a search: documents by name, place, kind, year, issuer and validity."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgrag.answer.notes import note
from kgrag.errors import NotFoundError, OutOfRangeError
from kgrag.limits import check_whole
from kgrag.store.folders import ARCHIVES, absolute, archive_of, archives_in
from kgrag.store.likeness import not_called
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL, Facets, document_facets
from kgrag.text.messages import message
from kgrag.text.organs import full_organ_name
from kgrag.text.places import asks_nationally, question_places, with_places_inside
from kgrag.text.titles import document_kinds, titles_within
from kgrag.text.words import normalize_name
from kgrag.types import Document

_SHOWN = 12  # of the values that there are, in an error
_MEANT = 5  # documents that a name may mean, in an error


@dataclass(frozen=True, slots=True)
class Filter:
    """A conjunction of conditions on documents.

    Attributes:
        documents: Named as for `document_meant`, or all of an archive by its name; any of them
            matches.
        regions: Places that a document is about, such as 四川 or 四川省; any of them matches. A
            province includes its prefecture-level cities. 全国 and 国家 match documents about no
            place.
        kinds: Endings of a document's title, or of the title of what it issues: 通知, 方案,
            实施方案; any of them matches. 法 does not match 办法.
        years: First and last year of issue, inclusive; None for any. Documents without a year never
            match, those whose year is only inferred always do.
        without: Documents to exclude, named as in `documents`.
        issuers: Organs that issued it, by full name, a known short one (工信部), or words that a
            name has (四川 生态环境厅) if no document is by an organ of that very name; any of them
            matches.
        in_force: Only what may be relied on at the day of the question, today without one; see
            `Status.counts`. Documents whose date is unknown match.

    Raises:
        ValueError: If a condition is a string instead of a collection, or years are no pair.
    """

    documents: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    years: tuple[int, int] | None = None
    without: tuple[str, ...] = ()
    issuers: tuple[str, ...] = ()
    in_force: bool = False

    def __post_init__(self) -> None:
        for name in ("documents", "regions", "kinds", "without", "issuers"):
            if isinstance(value := getattr(self, name), str):  # would be taken for its letters
                raise ValueError(
                    message(
                        "{name} must be a tuple of names, got {value!r}: ({value!r},)",
                        name=name,
                        value=value,
                    )
                )
        if self.years is not None and not (isinstance(self.years, tuple) and len(self.years) == 2):
            raise ValueError(
                message("years must be (first, last), got {years!r}", years=self.years)
            )

    def __bool__(self) -> bool:
        return self != Filter()


def documents_within(
    wanted: Filter,
    cards: Sequence[Document],
    *,
    in_force: Callable[[], frozenset[str]] = frozenset[str],
    archive: Callable[[str], frozenset[str]] = lambda _: frozenset(),
) -> frozenset[str]:
    """Return the ids of the documents that match a filter with a condition; never empty.

    Args:
        wanted: The filter.
        cards: The documents to choose from.
        in_force: Returns the ids of those that may be relied on; needed only if that is wanted.
        archive: Returns the ids of those of an archive by its name; none if it is no archive's.

    Raises:
        NotFoundError: If a condition, or their conjunction, matches no document. Names it, and
            the values there are.
    """
    check_whole("filter", *wanted.regions, *wanted.kinds, *wanted.issuers)
    every = frozenset(card.doc_id for card in cards)

    def meant(name: str, cards: Sequence[Document]) -> frozenset[str]:
        return (archive(name) & every) or frozenset((document_meant(name, cards).doc_id,))

    conditions: list[tuple[str, frozenset[str]]] = []
    for name, values, matching in (
        ("document", wanted.documents, meant),
        ("region", wanted.regions, _about),
        ("kind", wanted.kinds, _of_kind),
        ("issuer", wanted.issuers, _issued_by),
    ):
        if values:
            together = frozenset[str]().union(*(matching(value, cards) for value in values))
            conditions.append((f"{name} {', '.join(values)}", together))
    if wanted.years:
        first, last = wanted.years
        conditions.append((f"year {_years(first, last)}", _issued(first, last, cards)))
    if wanted.in_force:
        conditions.append(("in force", in_force()))
    if wanted.without:
        others = every.difference(*(meant(name, cards) for name in wanted.without))
        conditions.append((f"all without {', '.join(wanted.without)}", others))
    left = every.intersection(*(ids for _, ids in conditions))
    if not left:
        said = "; ".join(f"{name}: {len(ids)}" for name, ids in conditions)
        raise NotFoundError(
            "no document fits all conditions (documents for {said}); drop one", said=said
        )
    return left


def documents_of_archive(store: Store, name: str) -> frozenset[str]:
    """Return the ids of the documents of an archive; none if no archive has the name."""
    note = store.get_meta(ARCHIVES)
    if name not in archives_in(note).values():
        return frozenset()
    return frozenset(s.doc_id for s in store.sources() if archive_of(note, s.source) == name)


def what_is_left_out(wanted: Filter, cards: Sequence[Document]) -> str:
    """Return a message about documents whose year is unknown; empty if there are none."""
    if not wanted.years:
        return ""
    silent = sum(card.metadata.year is None for card in cards)
    guessed = sum(_may_be_of(card, *wanted.years) is None for card in cards)
    if silent and guessed:
        told = {"n": silent, "total": len(cards), "inferred": guessed}
        return note("issue-unknown-or-inferred", "en", **told)
    if silent:
        return note("issue-unknown", "en", n=silent, total=len(cards))
    return note("year-inferred", "en", n=guessed) if guessed else ""


def document_called(name: str, cards: Sequence[Document]) -> Document:
    """Return the one document with this id, path (or its end), file name, title or number (文号).

    The suffix of the file, and 《》, are optional.

    Raises:
        NotFoundError: If none or several match; with the titles that are like it, or these.
        GarbledTextError: If the name has a broken encoding.
    """
    return _one_called(name, cards, _ways_to_name(name))


def document_meant(name: str, cards: Sequence[Document]) -> Document:
    """Return the document of `document_called`, else the one whose title has all words of a name.

    Raises:
        NotFoundError: As for `document_called`.
        GarbledTextError: If the name has a broken encoding.
    """
    words = [normalize_name(word) for word in _bare(name).split()]

    def has_words(card: Document) -> bool:
        return bool(words) and _has_all(words, card.title)

    return _one_called(name, cards, (*_ways_to_name(name), has_words))


def _one_called(
    name: str, cards: Sequence[Document], ways: Sequence[Callable[[Document], bool]]
) -> Document:
    check_whole("document's name", name)
    for names in ways:
        found = [card for card in cards if names(card)]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(f"{c.doc_id} 《{c.title}》 ({c.file})" for c in found[:_MEANT])
            if len(found) > _MEANT:
                shown = message("{names} and {n} more", names=shown, n=len(found) - _MEANT)
            text = message(
                "{name!r} may be any of {shown}; say more of the title, or the id",
                name=name,
                shown=shown,
            )
            titles = dict.fromkeys(c.title for c in found)
            named = titles if len(titles) == len(found) else [c.doc_id for c in found]
            raise NotFoundError(text, name=name, nearest=[*named][:_MEANT])
    is_number = _bare(name).endswith("号")
    held = [c.metadata.number if is_number else c.title for c in cards]
    raise not_called(
        message("document"), name, held, remedy=message("`kgrag documents` lists them")
    )


def _bare(name: str) -> str:
    return name.strip().removeprefix("《").removesuffix("》")


def _has_all(words: Sequence[str], name: str) -> bool:
    told = normalize_name(name)
    return all(word in told for word in words)


def parse_years(text: str) -> tuple[int, int]:
    """Parse a year or range such as 2022 or 2020-2023 to its first and last year.

    Raises:
        OutOfRangeError: If it is neither, or the last comes first.

    >>> parse_years("2022"), parse_years("2020-2023")
    ((2022, 2022), (2020, 2023))
    """
    match = re.fullmatch(r"(\d{4})(?:\s*[-—–~至]\s*(\d{4}))?", text.strip())
    if not match:
        raise OutOfRangeError("years are given as 2022 or 2020-2023, got {text!r}", text=text)
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise OutOfRangeError("the first year comes first, got {text!r}", text=text)
    return first, last


def _ways_to_name(name: str) -> tuple[Callable[[Document], bool], ...]:
    """Return predicates for a document's name, the most exact first."""
    path, title, number = absolute(name), _bare(name), normalize_name(name)
    return (
        lambda card: card.doc_id == name,
        lambda card: card.file in (name, path),
        lambda card: f"/{card.file}".endswith(f"/{name}") or path.endswith(f"/{card.file}"),
        lambda card: Path(card.file).name == name,
        lambda card: Path(card.file).stem == name,
        lambda card: card.title in (name, title),
        lambda card: bool(card.metadata.number) and normalize_name(card.metadata.number) == number,
    )


def _about(region: str, cards: Sequence[Document]) -> frozenset[str]:
    places = {c.doc_id: frozenset(_facets(c).regions) - {NATIONAL} for c in cards}
    known = frozenset[str]().union(*places.values())
    named = question_places(region, known)
    asked = with_places_inside(named)
    found = {doc_id for doc_id, own in places.items() if own & asked}
    if not asked and asks_nationally(region):
        found = {doc_id for doc_id, own in places.items() if not own}
    if not found:
        raise NotFoundError(
            "no document is about {region!r}; places: {known}",
            region=region,
            known=_listed(known, like=region),
        )
    return frozenset(found)


def _of_kind(kind: str, cards: Sequence[Document]) -> frozenset[str]:
    found = frozenset(card.doc_id for card in cards if _is_of_kind(card.title, kind.strip()))
    if not kind.strip() or not found:
        raise NotFoundError(
            "no document's title ends in {kind!r}; kinds are words like 通知, 方案, 规划, 办法",
            kind=kind,
        )
    return found


def _is_of_kind(title: str, kind: str) -> bool:
    if len(kind) == 1:  # 法 is not 办法
        return kind in document_kinds(title)
    return any(name.endswith(kind) for name in titles_within(title))


def _issued_by(name: str, cards: Sequence[Document]) -> frozenset[str]:
    names = {name.strip(), full_organ_name(name.strip(), regions=())}
    found = [card for card in cards if names.intersection(card.metadata.issuers)]
    if not found:
        words = [normalize_name(word) for word in name.split()]
        found = [card for card in cards if words and _has_issuer_with(words, card)]
    if not found:
        issuers = [issuer for card in cards for issuer in card.metadata.issuers]
        remedy = message("issuers: {known}", known=_listed(issuers))
        raise not_called(message("issuer"), name, issuers, remedy=remedy)
    return frozenset(card.doc_id for card in found)


def _has_issuer_with(words: Sequence[str], card: Document) -> bool:
    return any(_has_all(words, name) for name in card.metadata.issuers)


def _issued(first: int, last: int, cards: Sequence[Document]) -> frozenset[str]:
    found = frozenset(c.doc_id for c in cards if _may_be_of(c, first, last) is not False)
    if found:
        return found
    years = {c.doc_id: c.metadata.year for c in cards if c.metadata.year is not None}
    if not years:
        raise NotFoundError(
            message(
                "no document says when it was issued; an older kgrag did not look: `kgrag ingest` "
                "the files again"
            )
        )
    silent = len(cards) - len(years)
    raise NotFoundError(
        "no document is of {first}; years: {known}; {silent} of unknown year",
        first=_years(first, last),
        known=_listed(map(str, years.values())),
        silent=silent,
    )


def _may_be_of(card: Document, first: int, last: int) -> bool | None:
    """Return whether a document is of some years; None if its year is only inferred."""
    year = card.metadata.sure_year
    if year is None:
        return None if card.metadata.year else False
    return first <= year <= last


def _years(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _facets(card: Document) -> Facets:
    return document_facets(card.title, card.metadata)


def _listed(values: Iterable[str], like: str = "") -> str:
    """Return the first values in words; those with most characters of a name come first."""
    distinct = sorted(set(values), key=lambda value: (-len(set(value) & set(like)), value))
    names = ", ".join(distinct[:_SHOWN])
    if len(distinct) > _SHOWN:
        return message("{names} and {n} more", names=names, n=len(distinct) - _SHOWN)
    return names or message("none")
