"""Duplicate documents: one is searched, all are named."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kgrag.results import ScoredChunk
from kgrag.retrieval.settings import Twins
from kgrag.store.store import Store
from kgrag.text.words import normalize, sentence_spans
from kgrag.types import Document, Language

ALSO_IN: Mapping[Language, str] = {"zh": "同一文字另见：", "en": "the same text in: "}
_SHARED = 0.9  # of the shorter text, by the sentences that both have
_LEAST = 20  # letters of a passage, or a sentence, that tell one text from another
_OVERLAP = 0.5  # of a passage that stands in another one's place
_ROUNDS = 4  # searches at most, each for twice as many results


@dataclass(frozen=True)
class Text:
    """A document prepared for comparison.

    Attributes:
        document: With its text.
    """

    document: Document

    @cached_property
    def letters(self) -> str:
        """Its text without whitespace, in normal width."""
        return letters_of(self.document.text)

    @cached_property
    def sentences(self) -> frozenset[str]:
        """Its sentences that are long enough to identify it."""
        return _sentences(self.document.text)

    def holds(self, passage: str) -> bool:
        """Return whether it contains a passage, or most of its sentences."""
        said = _sentences(passage)
        shared = sum(map(len, said & self.sentences))
        return letters_of(passage) in self.letters or shared > _OVERLAP * sum(map(len, said))

    def is_near(self, other: "Text") -> bool:
        """Return whether two texts differ only by a cover or a few words."""
        if self.letters == other.letters:
            return True
        one, two = (text.document.metadata.regions for text in (self, other))
        if one and two and one != two:
            return False
        shared = sum(map(len, self.sentences & other.sentences))
        shorter = min(sum(map(len, text.sentences)) for text in (self, other))
        return shared > 0 and shared >= _SHARED * shorter


def each_once(
    retrieve: Callable[[int], Sequence[ScoredChunk]],
    store: Store,
    held: Collection[str],
    twins: Twins,
    top_k: int,
) -> list[ScoredChunk]:
    """Return results without those that repeat another one, which names their files.

    A passage that is in several documents with the same, or nearly the same, text counts once. More
    is retrieved where results are lacking then.

    Args:
        retrieve: Returns so many results, best first.
        store: The knowledge base.
        held: Documents that are searched.
        twins: Which documents may be copies; see `kgrag.retrieval.settings.twins_of`.
        top_k: Maximum number of results.
    """
    for n in (top_k * 2**i for i in range(_ROUNDS)):
        found = retrieve(n)
        alike = sorted(doc_id for doc_id in _alike(found, twins) if doc_id in held)
        texts = {d.doc_id: Text(d) for d in store.documents(alike)}
        once = _once(found, texts)[:top_k]
        if len(once) == top_k or len(found) < n:
            break
    return [replace(result, also_in=_also_in(result, texts)) for result in once]


def _alike(found: Sequence[ScoredChunk], twins: Twins) -> set[str]:
    """Return documents that may have the text of one that was found, or a passage of it."""
    told: defaultdict[str, set[str]] = defaultdict(set)
    for result in found:
        told[letters_of(result.chunk.text)].add(result.chunk.doc_id)
    said_twice = (ids for ids in told.values() if len(ids) > 1)
    found_ids = {result.chunk.doc_id for result in found}
    return set[str]().union(*said_twice, *(ids for i in found_ids for ids in twins.get(i, ())))


def _once(found: Sequence[ScoredChunk], texts: Mapping[str, Text]) -> list[ScoredChunk]:
    """Return results with each passage of nearly identical documents once, at its best rank."""
    kept: list[ScoredChunk] = []
    for result in found:
        if not any(_repeats(result, one, texts) for one in kept):
            kept.append(result)
    return kept


def _repeats(result: ScoredChunk, kept: ScoredChunk, texts: Mapping[str, Text]) -> bool:
    """Return whether a result is a passage of another one in a nearly identical document."""
    one, other = texts.get(result.chunk.doc_id), texts.get(kept.chunk.doc_id)
    if one is None or other is None or one is other:
        return False
    said, there = letters_of(result.chunk.text), letters_of(kept.chunk.text)
    start, begin = other.letters.find(said), other.letters.find(there)
    told_apart = len(said) >= _LEAST or one.letters == other.letters
    if not told_apart or start < 0 or begin < 0:
        return False
    shared = min(start + len(said), begin + len(there)) - max(start, begin)
    return shared >= _OVERLAP * len(said) and one.is_near(other)


def _also_in(result: ScoredChunk, texts: Mapping[str, Text]) -> tuple[str, ...]:
    """Return the files of other documents with the same or nearly the same text around a result."""
    own = texts.get(result.chunk.doc_id)
    if own is None:
        return ()
    others = (t for t in texts.values() if t is not own and own.is_near(t))
    return tuple(sorted(t.document.file for t in others if t.holds(result.chunk.text)))


def _sentences(text: str) -> frozenset[str]:
    found = (letters_of(text[start:end]) for start, end in sentence_spans(text))
    return frozenset(sentence for sentence in found if len(sentence) >= _LEAST)


def letters_of(text: str) -> str:
    """Return a text without whitespace, in normal width."""
    return "".join(normalize(text).split())
