"""Duplicate documents: one is searched, all are named."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from kgrag.answer.answer import Answer
from kgrag.results import ScoredChunk
from kgrag.store.store import Store
from kgrag.text.document_nodes import node_name
from kgrag.text.words import normalize, sentence_spans
from kgrag.types import Document, Language

ALSO_IN: Mapping[Language, str] = {"zh": "同一文字另见：", "en": "the same text in: "}
_SHARED = 0.9  # of the shorter text, by the sentences that both have
_LEAST = 20  # letters of a passage, or a sentence, that tell one text from another
_OVERLAP = 0.5  # of a passage that stands in another one's place
_MORE = 2  # results asked for again, for each wanted, where some stood there twice
_ROUNDS = 4  # searches at most: copies under other titles are seen when they are found

Retrieve = Callable[[Collection[str], int], Sequence[ScoredChunk]]


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
    retrieve: Retrieve, *, store: Store, cards: Iterable[Document], top_k: int
) -> list[ScoredChunk]:
    """Return results without those that repeat another one, which names their files.

    Of documents with the same text, the first one found is searched. Of documents that are nearly
    the same, a passage that is in both counts once.

    Args:
        retrieve: Returns so many results, best first, without some documents.
        store: The knowledge base.
        cards: Documents that are searched.
        top_k: Maximum number of results.
    """
    held = {card.doc_id: card for card in cards}
    texts: dict[str, Text] = {}
    copies: dict[str, str] = {}
    found: Sequence[ScoredChunk] = []
    for _ in range(_ROUNDS):
        found = retrieve(copies.keys(), top_k)
        known = _copies(found, held, texts, store)
        if known.keys() <= copies.keys():
            break
        copies |= known
    once = _once(found, texts)
    if len(once) < len(found) == top_k:
        once = _once(retrieve(copies.keys(), top_k * _MORE), texts)[:top_k]
    return [replace(result, also_in=_also_in(result, texts)) for result in once]


def naming_copies(answer: Answer, results: Iterable[ScoredChunk]) -> Answer:
    """Return an answer whose citations name the other files with the same text.

    Args:
        answer: With citations.
        results: Of the answer.
    """
    also = {result.chunk.chunk_id: result.also_in for result in results if result.also_in}
    return answer.citing(lambda c: replace(c, also_in=also.get(c.chunk_id, ())))


def _copies(
    found: Sequence[ScoredChunk],
    held: Mapping[str, Document],
    texts: dict[str, Text],
    store: Store,
) -> dict[str, str]:
    """Return the documents with the same text as one that was found, and itself.

    Compared are documents with the same bytes, or name and place, and those whose results share a
    passage; their texts are cached in `texts`.
    """
    ids = [d for d in dict.fromkeys(r.chunk.doc_id for r in found) if d in held]
    groups = [group for group in _alike(found, held) if not group.isdisjoint(ids)]
    wanted = set[str]().union(*groups) - texts.keys()
    texts |= {d.doc_id: Text(d) for d in store.documents(sorted(wanted))}
    copies: dict[str, str] = {}
    for doc_id in ids:
        for other in sorted(set[str]().union(*(g for g in groups if doc_id in g)) - {doc_id}):
            if not {doc_id, other} & copies.keys() and _are_one(doc_id, other, texts):
                copies[other] = doc_id
    return copies


def _alike(found: Sequence[ScoredChunk], held: Mapping[str, Document]) -> list[set[str]]:
    """Return groups of documents that may have the same text."""
    alike: defaultdict[str, set[str]] = defaultdict(set)
    for result in found:
        alike[_key(result.chunk.text)].add(result.chunk.doc_id)
    for card in held.values():
        for mark in _marks(card):
            alike[mark].add(card.doc_id)
    return [group for group in alike.values() if len(group) > 1]


def _marks(card: Document) -> tuple[str, str]:
    return card.content_hash, "\n".join((node_name(card.title), *card.metadata.regions))


def _are_one(one: str, other: str, texts: Mapping[str, Text]) -> bool:
    if one not in texts or other not in texts:
        return False
    return texts[one].letters == texts[other].letters


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
    if len(said) < _LEAST or start < 0 or begin < 0:
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


def _key(text: str) -> str:
    return f"text {letters_of(text)}"
