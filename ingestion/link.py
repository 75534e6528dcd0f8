"""Match cited titles to stored documents by title, issuer, number, region, year; never guess."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kgrag.ingestion.citation_fit import Cited, Held, Named, fit, named_by
from kgrag.ingestion.metadata.numbers import clean_number
from kgrag.text.document_nodes import node_id
from kgrag.text.leading_region import leading_region
from kgrag.text.region_mentions import regions_in
from kgrag.text.regions import path
from kgrag.text.short_titles import likeness, same_kind, series_marks
from kgrag.text.title_keys import title_keys

_LIKE_ENOUGH = 0.9
_RAREST = 10  # character pairs of a title by which candidates are found
_MOST = 500  # documents considered for a pair: more common pairs do not discriminate
_SHARED = 0.5  # of these pairs that a candidate must share
_SHORTEST = 8  # characters of a title without its place
_COMPARED = 20  # candidates at most


class DocumentNames:
    """Index of the stored documents by number and title."""

    def __init__(self, documents: Iterable[Held]) -> None:
        self._held = list(documents)
        self._by_number: dict[str, list[int]] = defaultdict(list)
        self._by_title: dict[str, list[int]] = defaultdict(list)
        self._by_key: dict[str, list[int]] = defaultdict(list)
        self._by_bare_key: dict[str, list[int]] = defaultdict(list)
        self._by_pair: dict[str, list[int]] = defaultdict(list)
        self._keys: list[tuple[str, ...]] = []
        for i, held in enumerate(self._held):
            self._add(i, held)

    def _add(self, i: int, held: Held) -> None:
        if held.metadata.number:
            self._by_number[clean_number(held.metadata.number)].append(i)
        titles = [t for t in (held.title, held.metadata.notice) if t]
        for title in titles:
            self._by_title[_plain(title)].append(i)
        keys = list(dict.fromkeys(key for title in titles for key in title_keys(title)))
        self._keys.append(tuple(keys))
        for key in keys:
            self._by_key[key].append(i)
        for key in _without_place(keys):
            self._by_bare_key[key].append(i)
        for pair in {pair for key in keys for pair in _pairs(key)}:
            self._by_pair[pair].append(i)

    def resolve(self, cited: Cited) -> tuple[str, str] | None:
        """Return (doc_id, match) of the cited document; None where it is ambiguous or unknown.

        `match` is `number`, `exact`, `normalised` or such as `fuzzy 0.93`.

        >>> from kgrag.metadata import Metadata
        >>> names = DocumentNames([Held("d1", "节能规划", Metadata(number="云政发〔2021〕3号"))])
        >>> names.resolve(Cited("《节能 规划》"))
        ('d1', 'normalised')
        >>> names.resolve(Cited("", number="云政发[2021]3号"))
        ('d1', 'number')
        """
        found = self._of_number(cited)
        if found is not None:
            return self._held[found].doc_id, "number"
        if not cited.title:
            return None
        named = named_by(cited)
        for match, candidates in self._called(cited.title, named):
            one = self._one_that_fits(candidates, cited, named)
            if one is not None:
                return self._held[one].doc_id, match
        return self._fuzzy(cited, named)

    def _called(self, title: str, named: Named) -> Iterator[tuple[str, list[int]]]:
        """Yield (match, documents) for every form of a title.

        The title without its leading place is looked up only where the citation names a place:
        《节能规划》 may be the country's.
        """
        yield "exact", self._by_title.get(_plain(title), [])
        keys = title_keys(title)
        for key in keys:
            yield "normalised", self._by_key.get(key, [])
        if named.place:
            for key in _without_place(keys):
                yield "normalised", self._by_key.get(key, [])
            for key in (*keys, *_without_place(keys)):
                yield "normalised", self._by_bare_key.get(key, [])

    def _of_number(self, cited: Cited) -> int | None:
        if not cited.number:
            return None
        fits = [
            i
            for i in self._by_number.get(clean_number(cited.number), [])
            if self._held[i].doc_id != cited.doc_id and self._agrees(i, cited.title)
        ]
        return fits[0] if len(fits) == 1 else None

    def _agrees(self, i: int, title: str) -> bool:
        """Return whether at least half of a title matches a document found by number."""
        if not title:
            return True
        pairs = _pairs(title_keys(title)[-1])
        return any(len(pairs & _pairs(key)) * 2 >= len(pairs) for key in self._keys[i])

    def _one_that_fits(self, candidates: Sequence[int], cited: Cited, named: Named) -> int | None:
        scores: dict[int, float] = {}
        for i in dict.fromkeys(candidates):
            score = fit(self._held[i], cited, named)
            if score is not None:
                scores[i] = score
        best = [i for i in scores if scores[i] == max(scores.values())]
        if len(best) > 1:
            best = self._latest_before(best, cited.year)
        return best[0] if len(best) == 1 else None

    def _latest_before(self, candidates: Sequence[int], year: int | None) -> list[int]:
        """Of editions by one issuer, return the latest that the citing document could know."""
        organs = {node_id(self._held[i].title, self._held[i].metadata) for i in candidates}
        years = {i: self._held[i].metadata.year for i in candidates}
        known = {i: y for i, y in years.items() if y is not None and year and y <= year}
        if len(organs) != 1 or not known:
            return []
        return [i for i in known if known[i] == max(known.values())]

    def _fuzzy(self, cited: Cited, named: Named) -> tuple[str, str] | None:
        keys = title_keys(cited.title)
        best: dict[int, float] = {}
        for i in self._like(keys):
            score = max(
                (_alike(key, other) for key in keys for other in self._keys[i]), default=0.0
            )
            if score >= _LIKE_ENOUGH and fit(self._held[i], cited, named) is not None:
                best[i] = score
        top = [i for i in best if best[i] == max(best.values())]
        if len(top) != 1:
            return None
        return self._held[top[0]].doc_id, f"fuzzy {best[top[0]]:.2f}"

    def _like(self, keys: Sequence[str]) -> list[int]:
        """Return the documents that share most of a title's rarest character pairs."""
        pairs = {pair for key in keys for pair in _pairs(key)} & self._by_pair.keys()
        rarest = sorted(pairs, key=lambda pair: (len(self._by_pair[pair]), pair))[:_RAREST]
        shared = Counter(i for pair in rarest for i in self._by_pair[pair][:_MOST])
        return [i for i, n in shared.most_common(_COMPARED) if n >= len(rarest) * _SHARED]


def _without_place(keys: Sequence[str]) -> list[str]:
    """Return the keys that start with a place, without that place."""
    ends = [leading_region(key)[1] for key in keys]
    bare = [key[end:] for key, end in zip(keys, ends, strict=True) if end]
    return [key for key in bare if len(key) >= _SHORTEST]


def _plain(title: str) -> str:
    return "".join(title.split())


def _pairs(key: str) -> set[str]:
    return {key[i : i + 2] for i in range(len(key) - 1)} or {key}


def _alike(one: str, other: str) -> float:
    """Return the similarity of two keys of the same kind, period, edition and place; else 0."""
    if series_marks(one) != series_marks(other) or not same_kind(one, other):
        return 0.0
    score = likeness(one, other)
    if score < _LIKE_ENOUGH:
        return 0.0
    return score if _places(one) == _places(other) else 0.0


def _places(key: str) -> list[tuple[str, ...]]:
    return [path(mention.region) for mention in regions_in(key)]
