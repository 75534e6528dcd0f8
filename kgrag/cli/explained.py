"""How results of a search came, in words of the user's language."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgrag.cli.chinese import said
from kgrag.results import ScoredChunk

_MOST = 6  # words of the question that are shown
_SCORE = r"(?P<score>-?\d+\.\d+)"
_ASKED = "asked for: {what}"
_TEXT, _PATH = "words in the text{words}{numbers}", "words in title and headings{words}{numbers}"
# What retrieval says of a chunk (`ScoredChunk.via`), and how people are told.
_KINDS = tuple(
    (re.compile(form.replace("SCORE", _SCORE), re.DOTALL), told)
    for form, told in (
        (r"reranked: SCORE", "cross-encoder{numbers}"),
        (r"covers SCORE", "share of the question covered{numbers}"),
        (r"vector SCORE", "meaning{numbers}"),
        (r"words SCORE", _TEXT),
        (r"path SCORE", _PATH),
        (r"fact SCORE: (?P<what>.+)", "fact {what} ({score})"),
        (r"summary SCORE: (?P<what>.+)", "summary {what} ({score})"),
        (r"place (?P<what>.+)", "place {what}"),
        (r"national", "national document, as asked"),
        (r"title (?P<what>.+)", "title {what}"),
        (r"holds (?P<what>.+)", "names {what}"),
        (r"section (?P<what>.+)", "section {what}"),
        (r"cited: (?P<what>.+)", "cited by the document named: {what}"),
        (r"graph query", "query to the graph"),
        (r"merged from 1 of 1 .+", ""),  # it is whole
        (r"merged from (?P<n>\d+) of (?P=n) chunks of \d+", "merged from {n} parts"),
        (r"merged from (?P<n>\d+) of (?P<of>\d+) chunks of \d+", "merged from {n} of {of} parts"),
        (r"filled between .+", "stands between two results"),
        (r"asked for (?P<what>.+)", _ASKED),
        (r"also found by (?P<what>.+)", "also found by {what}"),
        (r"one of (?P<n>\d+) parts(?: of .+)?", "one of {n} parts asked for"),
        (r"(?P<word>.+) read as (?P<what>.+)", "{word} read as {what}"),
        (r"behind what is in force: .+", "behind what is in force"),
        (r"(?P<what>.*)", "{what}"),  # a plugin's own words
    )
)


@dataclass(frozen=True, slots=True)
class _Reason:
    """One way by which a result came.

    Attributes:
        kind: Of `_KINDS`: how people are told.
        side: Of a question that was asked in parts: scores compare within one only.
        details: Of this result, as retrieval says them; a `score` where there is one.
    """

    kind: str
    side: str
    details: Mapping[str, str]


def explained(question: str, results: Sequence[ScoredChunk]) -> list[str]:
    """Return how each result of a question came: a line of reasons, the strongest first.

    Ranks are among those of these results that came by the same way.
    """
    reasons = [_reasons(result.via) for result in results]
    scores: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for one in (one for of_result in reasons for one in of_result if "score" in one.details):
        scores[one.kind, one.side].append(float(one.details["score"]))
    return [
        said("reasons", "found by: ")
        + said("reasons", "; ").join(
            _told(one, scores[one.kind, one.side], question, result) for one in of_result
        )
        for result, of_result in zip(results, reasons, strict=True)
    ]


def _reasons(via: Iterable[str]) -> list[_Reason]:
    """Return what retrieval says of a chunk; what is said of one side twice, with two scores, once.

    A fact is found by its words, by its vector and as a figure.
    """
    read: dict[tuple[object, ...], _Reason] = {}
    side = ""
    for reason in via:
        kind, form = next((k, m) for f, k in _KINDS if (m := f.fullmatch(reason)))
        details = form.groupdict()
        side = details["what"] if kind == _ASKED else side
        if not kind:
            continue
        rest = (value for name, value in details.items() if name != "score")
        read.setdefault((kind, side, *rest), _Reason(kind, side, details))
    return list(read.values())


def _told(one: _Reason, scores: Sequence[float], question: str, result: ScoredChunk) -> str:
    """Return a reason in words."""
    details = {name: said("reasons", value) for name, value in one.details.items()}
    score, n = details.get("score", ""), len(scores)
    rank = 1 + sum(other > float(score) for other in scores) if score else 0
    numbers = " (no. {rank} of {n}; {score})" if n > 1 else " ({score})"
    details["numbers"] = said("reasons", numbers).format(rank=rank, n=n, score=score)
    chunk = result.chunk
    if one.kind == _TEXT:
        details["words"] = _matched(question, chunk.text)
    elif one.kind == _PATH:
        details["words"] = _matched(question, " ".join((result.title, *chunk.heading_path)))
    return said("reasons", one.kind).format(**details)


def _matched(question: str, text: str) -> str:
    """Return the longest words of a question that stand in a text, after a space; or nothing."""
    from kgrag.text.words import words

    own = set(words(text))
    both = [word for word in dict.fromkeys(words(question)) if word in own]
    longest = [w for w in both if not any(w in other for other in both if other != w)]
    return " " + " ".join(longest[:_MOST]) if longest else ""
