"""Why a passage was found, in words."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgrag.results import Reason, ScoredChunk
from kgrag.text.messages import catalogue
from kgrag.text.words import words
from kgrag.types import Language

_MOST = 6  # words of the question that are shown
_SIDE = "asked for: {what}"
_TEXT, _PATH = "words in the text{words}{numbers}", "words in title and headings{words}{numbers}"
# How the reasons of `kgrag.results.REASONS` are shown.
SHOWN: Mapping[str, str] = {
    "reranked": "cross-encoder{numbers}",
    "coverage": "share of the question covered{numbers}",
    "vector": "meaning{numbers}",
    "text": _TEXT,
    "path": _PATH,
    "fact": "fact {what} ({score})",
    "summary": "summary {what} ({score})",
    "place": "place {what}",
    "national": "national document, as asked",
    "title": "title {what}",
    "mention": "names {what}",
    "section": "section {what}",
    "cited": "cited by the document named: {what}",
    "query": "query to the graph",
    "merged": "merged from {n} of {of} parts",
    "filled": "stands between two results",
    "side": _SIDE,
    "wording": "also found by {what}",
    "part": "one of {n} parts asked for",
    "official": "{word} read as {what}",
    "outdated": "behind what is in force",
    "edition": "behind another edition: {what}",
}


@dataclass(frozen=True, slots=True)
class _Line:
    """One reason of a result.

    Attributes:
        form: How it is shown.
        side: Side of a comparison that it belongs to: scores compare within one only.
        values: Fields of the form.
    """

    form: str
    side: str
    values: Mapping[str, str]


def explained(question: str, results: Sequence[ScoredChunk], language: Language) -> list[str]:
    """Return for each result of a question a line of reasons, the strongest first.

    Ranks are among the results with the same reason.
    """
    reasons = [_reasons(result.via) for result in results]
    scores: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for one in (one for of_result in reasons for one in of_result if "score" in one.values):
        scores[one.form, one.side].append(float(one.values["score"]))
    return [
        _said("found by: ", language)
        + _said("; ", language).join(
            _told(one, scores[one.form, one.side], question, result, language) for one in of_result
        )
        for result, of_result in zip(results, reasons, strict=True)
    ]


def _reasons(via: Iterable[str]) -> list[_Line]:
    """Return the reasons of a chunk; of those that differ only in their scores the first.

    A fact is found by its words, its vector and as a figure.
    """
    lines: dict[tuple[str, ...], _Line] = {}
    side = ""
    for reason in via:
        form, values = _form(reason)
        side = values["what"] if form == _SIDE else side
        if not form:
            continue
        shown = (v for name, v in values.items() if name != "score" and f"{{{name}}}" in form)
        lines.setdefault((form, side, *shown), _Line(form, side, values))
    return list(lines.values())


def _form(reason: str) -> tuple[str, Mapping[str, str]]:
    """Return how a reason is shown, empty if it is not, and its values."""
    if not isinstance(reason, Reason):  # a plugin's own words
        return "{what}", {"what": reason}
    values = reason.values
    if reason.kind == "merged" and values["n"] == values["of"]:
        return "" if values["n"] == "1" else "merged from {n} parts", values
    return SHOWN[reason.kind], values


def _told(
    one: _Line,
    scores: Sequence[float],
    question: str,
    result: ScoredChunk,
    language: Language,
) -> str:
    """Return a reason in words."""
    details = {name: _said(value, language) for name, value in one.values.items()}
    score, n = details.get("score", ""), len(scores)
    rank = 1 + sum(other > float(score) for other in scores) if score else 0
    numbers = " (no. {rank} of {n}; {score})" if n > 1 else " ({score})"
    details["numbers"] = _said(numbers, language).format(rank=rank, n=n, score=score)
    chunk = result.chunk
    if one.form == _TEXT:
        details["words"] = _matched(question, chunk.text)
    elif one.form == _PATH:
        details["words"] = _matched(question, " ".join((result.title, *chunk.heading_path)))
    return _said(one.form, language).format(**details)


def _matched(question: str, text: str) -> str:
    """Return the longest words of a question in a text, after a space; or nothing."""
    own = set(words(text))
    both = [word for word in dict.fromkeys(words(question)) if word in own]
    longest = [w for w in both if not any(w in other for other in both if other != w)]
    return " " + " ".join(longest[:_MOST]) if longest else ""


def _said(text: str, language: Language) -> str:
    chinese = catalogue("kgrag.answer", "reasons.toml")
    return str(chinese.get(text, text)) if language == "zh" else text
