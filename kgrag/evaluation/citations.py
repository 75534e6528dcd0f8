"""Rule-based measures of citations: coverage of the gold and support of the answer."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation
from kgrag.answer.support import NUMBER_MARK, Features, Numbers
from kgrag.evaluation.measures import GoldSpans, coverage
from kgrag.evaluation.runs import RunResult
from kgrag.evaluation.scores import document_key
from kgrag.text.answer_text import Statement, statements

# As `quoted_scores` gives them, in the order of tables.
QUOTED = ("any-gold", "gold-quoted", "gold-docs", "cite-P", "cite-R")

_Place = tuple[str, int, int]

# Of an item, whose line break a quote by rule has lost: …以下要求：1.符合…
_ITEM = re.compile(r"(?<![\d.．])\d{1,2}[.．、](?=[^\d\s])")
_LEADS = re.compile(r"[^，,。；;:：\n]{0,6}[:：]")  # behind a count: 八项：, 七类行动：
_BACKS = 0.5  # share of a sentence's words and numbers that what it cites must hold
_ADDS = 0.02  # share that a citation must hold beyond the others of its sentence


def plain_text(answer: Answer) -> str:
    """Return the text of an answer without [n] and without check remarks."""
    return answer.written(lambda _: "")


def backing_scores(answer: Answer) -> dict[str, float]:
    """Return `back-P` and `back-R`: citation precision and recall by support, in [0, 1].

    As in ALCE (Gao et al. 2023, section 3), with a rule in place of a model. A sentence is
    supported if its quotes, with titles and headings, contain all its numbers, in any notation, and
    half of its character pairs (words, in English). `back-R` is the share of supported sentences
    among those that need a citation; `back-P` the share of citations, per sentence, in supported
    sentences that support it alone or contribute something that the others lack. Both are 0 without
    citations.
    """
    sources = {c.number: Features.of(_text(c)) for c in answer.citations}
    if not answer.found or not sources:
        return {"back-P": 0.0, "back-R": 0.0}
    told = [s for s in statements(answer.written()) if s.form == "claim"]
    read = [_Sentence(s, sources) for s in told]
    backed = [sentence.is_backed() for sentence in read]
    useful = [sentence.is_useful(number) for sentence in read for number in sentence.cited]
    return {"back-P": _share(useful), "back-R": _share(backed)}


def number_scores(
    answer: Answer, *, references: Sequence[str], spans: Sequence[str]
) -> dict[str, float]:
    """Return scores of the numbers of an answer, each in [0, 1], with normalised units.

    `num-cited` is the share of its numbers and dates in the cited texts (1 without numbers). If a
    reference has numbers besides those of the question and counts of its own items (八项：…), also
    `num-P`, the share of its numbers that occur in references, gold spans or the question, and
    `num-R`, the share of those reference numbers that it has. An answer that found nothing has 0.

    Args:
        answer: The answer.
        references: Reference answers.
        spans: Texts of the gold spans.
    """
    asked = Numbers.of(answer.question)
    wanted = _besides(_without_counts("\n".join(references)), asked)
    said = Numbers.of(_ITEM.sub("", plain_text(answer))) if answer.found else Numbers((), ())
    cited = Numbers.of("\n".join(map(_text, answer.citations)))
    scores = {"num-cited": _held(said, cited, asked) if answer.found else 0.0}
    if _count(wanted):
        gold = Numbers.of("\n".join((*references, *spans)))
        scores["num-P"] = _held(said, gold, asked) if _count(_besides(said, asked)) else 0.0
        scores["num-R"] = len(wanted.held_by(said)) / _count(wanted)
    return scores


class _Sentence:
    """A sentence of an answer with what its sources contain of it."""

    def __init__(self, statement: Statement, sources: Mapping[int, Features]) -> None:
        said = Features.of(_ITEM.sub("", statement.text))
        self._features = said.all()
        self.cited = [n for n in dict.fromkeys(statement.rests_on) if n in sources]
        self._held = {n: said.held_by(sources[n]) for n in self.cited}

    def is_backed(self) -> bool:
        return self._backs(self.cited)

    def is_useful(self, number: int) -> bool:
        others = [n for n in self.cited if n != number]
        more = self._share(self.cited) - self._share(others)
        return self.is_backed() and (self._backs([number]) or more >= _ADDS)

    def _backs(self, numbers: Sequence[int]) -> bool:
        held = self._of(numbers)
        figures = {f for f in self._features if f.startswith(NUMBER_MARK)}
        return bool(numbers) and figures <= held and self._share(numbers) >= _BACKS

    def _share(self, numbers: Sequence[int]) -> float:
        return len(self._of(numbers)) / len(self._features) if self._features else 1.0

    def _of(self, numbers: Sequence[int]) -> frozenset[str]:
        return frozenset[str]().union(*(self._held[n] for n in numbers)) & self._features


def _text(citation: Citation) -> str:
    return "\n".join((citation.title, *citation.heading_path, citation.quote))


def _besides(numbers: Numbers, asked: Numbers) -> Numbers:
    """Return the numbers that are not in the question."""
    held = numbers.held_by(asked)
    return Numbers(
        tuple(q for i, q in enumerate(numbers.quantities) if f"{NUMBER_MARK}{i}" not in held),
        tuple(d for i, d in enumerate(numbers.dates) if f"{NUMBER_MARK}d{i}" not in held),
    )


def _without_counts(text: str) -> Numbers:
    """Return the numbers of a text except counts in words of the items after a colon."""
    found = Numbers.of(text)
    kept = (q for q in found.quantities if not (q.is_word and _LEADS.match(text, q.end)))
    return Numbers(tuple(kept), found.dates)


def _held(said: Numbers, text: Numbers, asked: Numbers) -> float:
    """Return the share of numbers that occur in a text or the question; 1 for none."""
    n = _count(said)
    return len(said.held_by(text) | said.held_by(asked)) / n if n else 1.0


def _count(numbers: Numbers) -> int:
    return len(numbers.quantities) + len(numbers.dates)


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


@dataclass(frozen=True, slots=True)
class Quoted:
    """Quotes of an answer against the gold.

    Attributes:
        gold: Share of the gold characters covered, in [0, 1]; 0 without gold spans.
        documents: Share of the gold documents cited.
        characters: Total quoted characters; overlaps count twice.
    """

    gold: float
    documents: float
    characters: int


def quoted(
    citations: Sequence[Citation], gold_spans: GoldSpans, gold_docs: Collection[str]
) -> Quoted:
    """Compare the citations of an answer with the gold.

    Args:
        citations: Of one answer.
        gold_spans: Offsets by gold document.
        gold_docs: Ids or file names without suffix, as for `document_key`.
    """
    places = _places(citations, {*gold_docs, *gold_spans})
    held = coverage(places, gold_spans, max(1, sum(end - start for _, start, end in places)))
    cited = {doc for doc, _, _ in places}
    documents = sum(doc in cited for doc in gold_docs) / len(gold_docs) if gold_docs else 0.0
    return Quoted(held.span_recall, documents, held.used)


def quoted_scores(
    citations: Sequence[Citation], gold_spans: GoldSpans, gold_docs: Collection[str]
) -> dict[str, float]:
    """Return the measures of `QUOTED`, each in [0, 1]; only `gold-docs` without gold spans.

    `any-gold` is 1 if some gold character is cited, `gold-quoted` the share of those cited.
    `cite-P` is the share of citations that overlap a gold span, `cite-R` the share of gold spans
    that a citation overlaps: citation precision and recall as in ALCE (Gao et al. 2023, section 3),
    with labelled spans in place of a model. All are 0 without citations.

    Args:
        citations: Of one answer.
        gold_spans: Offsets by gold document.
        gold_docs: As for `quoted`.
    """
    found = quoted(citations, gold_spans, gold_docs)
    if not any(gold_spans.values()):
        return {"gold-docs": found.documents}
    places = _places(citations, {*gold_docs, *gold_spans})
    spans = [(doc, start, end) for doc, several in gold_spans.items() for start, end in several]
    return {
        "any-gold": float(found.gold > 0),
        "gold-quoted": found.gold,
        "gold-docs": found.documents,
        "cite-P": _share_touching(places, spans),
        "cite-R": _share_touching(spans, places),
    }


def _places(citations: Sequence[Citation], gold: Collection[str]) -> list[_Place]:
    return [
        (document_key(RunResult(c.doc_id, file=c.file), gold), c.start, c.end) for c in citations
    ]


def _share_touching(places: Sequence[_Place], others: Sequence[_Place]) -> float:
    """Return the share of spans that overlap one of the others; 0 for none."""
    touching = [
        any(
            doc == other and start < its_end and its_start < end
            for other, its_start, its_end in others
        )
        for doc, start, end in places
    ]
    return _share(touching)
