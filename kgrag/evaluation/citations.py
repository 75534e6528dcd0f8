"""Measures of citations: how much of the gold they cover."""

from collections.abc import Collection, Sequence

from kgrag.answer.answer import Answer
from kgrag.answer.citation import Citation
from kgrag.evaluation.measures import GoldSpans, coverage
from kgrag.evaluation.runs import RunResult
from kgrag.evaluation.scores import document_key

# As `quoted_scores` gives them, in the order of tables.
QUOTED = ("any-gold", "gold-quoted", "gold-docs", "cite-P", "cite-R")

_Place = tuple[str, int, int]


def plain_text(answer: Answer) -> str:
    """Return the text of an answer without [n] and without check remarks."""
    return answer.written(lambda _: "")


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
        gold_docs: Ids or file names without suffix, as for `document_key`.
    """
    places = _places(citations, {*gold_docs, *gold_spans})
    cited = {doc for doc, _, _ in places}
    documents = sum(doc in cited for doc in gold_docs) / len(gold_docs) if gold_docs else 0.0
    if not any(gold_spans.values()):
        return {"gold-docs": documents}
    held = coverage(places, gold_spans, max(1, sum(end - start for _, start, end in places)))
    spans = [(doc, start, end) for doc, several in gold_spans.items() for start, end in several]
    return {
        "any-gold": float(held.hit > 0),
        "gold-quoted": held.span_recall,
        "gold-docs": documents,
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
    return sum(touching) / len(touching) if touching else 0.0
