"""Made-up policy documents of any number, with facts, questions and an encoder for them.

Words and how often they stand come from jieba's own dictionary, so that posting lists have real
lengths. Each document keeps to a topic, as real ones do: three words in ten are of its topic.
Titles, sections and citations look like those of Chinese policy documents.
"""

import random
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from kgrag.embedding.embedder import Task, Vectors
from kgrag.ids import entity_id, fact_id
from kgrag.ingestion.anchor import evidence_for
from kgrag.ingestion.change_detection import PreparedDocument
from kgrag.ingestion.report import ModelReport, Outcome
from kgrag.store.contents import DocumentBundle
from kgrag.text.regions import listed_regions
from kgrag.text.words import character_pairs
from kgrag.types import Entity, Fact

CHUNKS_PER_DOCUMENT = 53  # leaf chunks, as the chunker cuts them; real policy documents have 69
_SECTIONS, _SENTENCES_OF_SECTION = 50, 6
_STATING = 9  # one sentence of so many states no fact
_WORDS = 5000  # more than such a document takes
_FACTS_PER_CHUNK = 5
_ENTITIES_PER_FACT = 0.2
_ENTITIES_OF_DOCUMENT = 100  # a document speaks of so many again and again
_TOPICS = 200
_WORDS_OF_TOPIC = 200
_OF_TOPIC = 0.3  # share of the words of a document that are its topic's
_SINGLE = 0.15  # share of one-character words; novels, which jieba counted, have more
_RELATIONS = (
    "支持", "推动", "建设", "实施", "负责", "包括", "提高", "降低", "达到", "组织", "管理", "鼓励",
    "开展", "制定", "监督", "采用", "改造", "补贴", "考核", "禁止", "试点", "示范", "评价", "限制",
)  # fmt: skip
_OWN = 0.2  # of a text's vector that it shares with no other
_KINDS = ("实施方案", "行动计划", "管理办法", "指导意见", "发展规划")

StatedFact = tuple[str, str, str, int, int]


@dataclass(frozen=True, slots=True)
class MadeUpDocument:
    """A document.

    Attributes:
        record: `id`, `title` and `text`.
        facts: Subject, relation, object, and the place of the sentence that states them.
    """

    record: Mapping[str, str]
    facts: tuple[StatedFact, ...]


class Writer:
    """Writes documents and questions; the same number always gives the same."""

    def __init__(self, n_chunks: int) -> None:
        """Make words, topics and entities for a knowledge base of about `n_chunks` leaves."""
        self.n_documents = max(1, n_chunks // CHUNKS_PER_DOCUMENT)
        self._dictionary, self._weights = _dictionary()
        rng = np.random.default_rng(1)
        drawn = np.searchsorted(
            self._weights, rng.random((_TOPICS, _WORDS_OF_TOPIC)) * self._weights[-1]
        )
        self._topics = [row[[len(self._dictionary[place]) > 1 for place in row]] for row in drawn]
        n_entities = max(1000, int(n_chunks * _FACTS_PER_CHUNK * _ENTITIES_PER_FACT))
        self.entities = self._names(n_entities)
        self._entity_weights = list(accumulate(1 / (rank + 10) for rank in range(n_entities)))
        self._places = [r.short for r in listed_regions() if r.level != "县"]

    def title(self, number: int) -> str:
        """Return a document's title; two of three name a place."""
        rng = random.Random(f"title {number}")
        place = f"{rng.choice(self._places)}省" if rng.random() < 0.66 else ""
        name = rng.choice(self.entities) + rng.choice(self.entities)
        return f"{place}{name}{rng.choice(_KINDS)}（{number}号）"

    def document(self, number: int) -> MadeUpDocument:
        """Return a document of about `CHUNKS_PER_DOCUMENT` leaf chunks."""
        rng = random.Random(f"document {number}")
        words = self._words(number)
        entities = rng.choices(
            self.entities, cum_weights=self._entity_weights, k=_ENTITIES_OF_DOCUMENT
        )
        cited = (self.title(rng.randrange(max(1, number))) for _ in range(3))
        parts = [f"根据《{title}》，制定本方案。\n" for title in cited]
        at = sum(map(len, parts))
        facts: list[StatedFact] = []
        for section in range(_SECTIONS):
            heading = "".join(words.pop() for _ in range(3))
            parts.append(f"（{'一二三四五六七八九十'[section % 10]}）{heading}。\n")
            at += len(parts[-1])
            for sentence in range(_SENTENCES_OF_SECTION):
                head, tail = (
                    "".join(words.pop() for _ in range(rng.randint(2, 9))) for _ in range(2)
                )
                subject, relation, object_ = (
                    rng.choice(entities), rng.choice(_RELATIONS), rng.choice(entities)
                )  # fmt: skip
                parts.append(f"{head}{subject}{relation}{object_}，{tail}。")
                if (section * _SENTENCES_OF_SECTION + sentence) % _STATING:
                    facts.append((subject, relation, object_, at, at + len(parts[-1])))
                at += len(parts[-1])
            parts.append("\n")
            at += 1
        record = {"id": f"doc{number:06d}", "title": self.title(number), "text": "".join(parts)}
        return MadeUpDocument(MappingProxyType(record), tuple(facts))

    def question(self, number: int) -> str:
        """Return a question about some document: by its topic, an entity, a place or its title."""
        rng = random.Random(f"question {number}")
        about = rng.randrange(self.n_documents)
        drawn = self._words(about, seed=number)
        words = "".join(drawn.pop() for _ in range(rng.randint(3, 6)))
        subject, relation, object_, *_ = rng.choice(self.document(about).facts)
        forms = (
            f"{subject}{relation}的{words}有哪些要求？",
            f"{subject}和{object_}对{words}有什么要求？",
            f"{words}如何{relation}{object_}？",
            f"{rng.choice(self._places)}{words}的目标是什么？",
            f"《{self.title(about)}》对{words}有哪些要求？",
            f"《{self.title(about)}》引用了哪些文件？",
        )
        return rng.choices(forms, weights=(3, 2, 3, 2, 2, 0.5))[0]

    def _names(self, n: int) -> list[str]:
        """Return names of one to three words."""
        rng = np.random.default_rng(2)
        drawn = np.searchsorted(self._weights, rng.random((n, 4)) * self._weights[-1])
        longest = rng.choice((1, 2, 2, 3), size=n)
        names = []
        for places, most in zip(drawn.tolist(), longest.tolist(), strict=True):
            words = [self._dictionary[p] for p in places if len(self._dictionary[p]) > 1]
            names.append("".join(words[:most]) or "绿色工厂")
        return names

    def _words(self, number: int, *, seed: int = 0) -> list[str]:
        """Return more words than a document takes: by frequency, some of its topic."""
        rng = np.random.default_rng((number, seed))
        places = np.searchsorted(self._weights, rng.random(_WORDS) * self._weights[-1])
        topic = self._topics[number % _TOPICS]
        of_topic = topic[rng.integers(len(topic), size=_WORDS)]
        drawn = np.where(rng.random(_WORDS) < _OF_TOPIC, of_topic, places)
        return [self._dictionary[place] for place in drawn.tolist()]


def _dictionary() -> tuple[list[str], "NDArray[np.float64]"]:
    """Return jieba's Chinese words and their frequencies, added up."""
    import jieba

    lines = Path(jieba.__file__).with_name("dict.txt").read_text("utf-8").splitlines()
    entries = [line.split(" ")[:2] for line in lines]
    counts = {word: int(count) for word, count in entries if "\u4e00" <= word[0] <= "\u9fa5"}
    single = sum(count for word, count in counts.items() if len(word) == 1)
    factor = _SINGLE / (1 - _SINGLE) * (sum(counts.values()) - single) / single
    weights = [count * (factor if len(word) == 1 else 1.0) for word, count in counts.items()]
    return list(counts), np.cumsum(weights)


class Reader:
    """Stands in for models that read documents: adds the facts that were written into them.

    Takes the place of `kgrag.ingestion.enrich.Enricher` in the pipeline, so that documents with
    facts go the way that they go for users, without the calls.
    """

    identity = "made-up"
    calls = 0

    def __init__(self, writer: Writer, *, leaf: int) -> None:
        self._writer = writer
        self._leaf = leaf

    def enrich(
        self, items: Iterator[tuple[int, PreparedDocument | Outcome]], *, waiting: object = None
    ) -> Iterator[tuple[int, PreparedDocument | Outcome]]:
        """Yield documents with their facts."""
        for number, item in items:
            if isinstance(item, PreparedDocument) and item.bundle is not None:
                yield number, replace(item, bundle=self._with_facts(item.bundle))
            else:
                yield number, item

    def report(self) -> ModelReport:
        """Return an empty report."""
        return ModelReport()

    def _with_facts(self, bundle: DocumentBundle) -> DocumentBundle:
        leaves = [c for c in bundle.chunks if c.size == self._leaf]
        made_up = self._writer.document(int(bundle.document.doc_id.removeprefix("doc")))
        facts: dict[str, Fact] = {}
        for subject_name, relation, object_name, start, end in made_up.facts:
            subject = Entity(entity_id(subject_name), subject_name, "entity")
            object_ = Entity(entity_id(object_name), object_name, "entity")
            fid = fact_id(subject.entity_id, relation, object_.entity_id)
            evidence = evidence_for(leaves, start, end, extractor="made-up")
            known = facts[fid].evidence if fid in facts else ()
            facts[fid] = Fact(fid, subject, relation, object_, (*known, *evidence))
        return replace(bundle, facts=[*bundle.facts, *facts.values()])


class MadeUpEmbedder:
    """Vectors that lie as an encoder's do, at no cost worth measuring.

    A text's vector is the sum of fixed random vectors of a third of its character pairs (always
    the same pairs), plus a direction that all texts share, plus a little of its own, without
    which thousands of short facts would be one vector. Texts of one
    document or topic are near each other for what they share, all cosines are well above zero,
    and the variance falls along the axes as the power law that encoders show (axis i: i^-0.5).
    """

    is_stand_in = False
    languages = ""
    _TABLE = 1 << 14

    def __init__(self, dimension: int = 512) -> None:
        self.name = f"made-up-{dimension}"
        self.dimension = dimension
        self.settings: Mapping[str, str] = {"model": self.name}
        spread = np.arange(1, dimension + 1, dtype=np.float32) ** -0.5
        rng = np.random.default_rng(1)
        self._pairs = rng.standard_normal((self._TABLE, dimension), dtype=np.float32) * spread
        self._shared = rng.standard_normal(dimension, dtype=np.float32) * spread

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`, rows of unit length."""
        out = np.empty((len(texts), self.dimension), np.float32)
        for row, text in zip(out, texts, strict=True):
            places = map(_place, character_pairs(text))
            pairs = [place % self._TABLE for place in places if place % 3 == 0]
            vectors = self._pairs[pairs].sum(axis=0) / np.sqrt(max(1, len(pairs)))
            row[:] = vectors + self._shared + _OWN * self._own(text)
        return out / np.linalg.norm(out, axis=1, keepdims=True)

    def _own(self, text: str) -> Vectors:
        """Return a vector that no other text has."""
        high, low = divmod(zlib.crc32(text.encode()), self._TABLE)
        own: Vectors = self._pairs[low] + self._pairs[high % self._TABLE]
        return own


@lru_cache(maxsize=1 << 18)
def _place(pair: str) -> int:
    return zlib.crc32(pair.encode())
