"""Why a passage was found, in words."""

from collections.abc import Iterator, Sequence

from kgrag.results import Reason, ScoredChunk
from kgrag.text.messages import catalogue
from kgrag.text.words import words
from kgrag.types import Language

_MOST = 6  # words of the question that are shown


def explained(question: str, results: Sequence[ScoredChunk], language: Language) -> list[str]:
    """Return for each result of a question a line of reasons, the strongest first.

    Args:
        question: As asked.
        results: Its results.
        language: Of the words; those of a plugin stay as they are.
    """
    begin, joint = ("由来：", "；") if language == "zh" else ("found by: ", "; ")
    return [begin + joint.join(_reasons(question, result, language)) for result in results]


def _reasons(question: str, result: ScoredChunk, language: Language) -> Iterator[str]:
    """Yield the reasons of a result; of those that differ only in their scores the first.

    A fact is found by its words, its vector and as a figure.
    """
    said = catalogue("kgrag.answer", "reasons.toml")
    told = set()
    side = ""  # of a comparison that the reasons are of
    for reason in result.via:
        if not isinstance(reason, Reason):  # a plugin's own words
            yield reason
            continue
        side = reason.values["what"] if reason.kind == "side" else side
        values = {name: value for name, value in reason.values.items() if name != "score"}
        key = (reason.kind, side, *values.values())
        if key in told or (reason.kind == "merged" and values["of"] == "1"):
            continue
        told.add(key)
        labels = said["labels"] if language == "zh" else {}
        shown = {name: labels.get(value, value) for name, value in values.items()}
        if reason.kind in ("text", "path"):
            path = " ".join((result.title, *result.chunk.heading_path))
            shown["words"] = _matched(
                question, path if reason.kind == "path" else result.chunk.text
            )
        score = reason.values.get("score", "")
        yield said[reason.kind][language].format(**shown, score=score)


def _matched(question: str, text: str) -> str:
    """Return the longest words of a question in a text, after a space; or nothing."""
    own = set(words(text))
    both = [word for word in dict.fromkeys(words(question)) if word in own]
    longest = [w for w in both if not any(w in other for other in both if other != w)]
    return " " + " ".join(longest[:_MOST]) if longest else ""
