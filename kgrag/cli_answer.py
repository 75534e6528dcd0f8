"""Print an answer: text, citations, what was checked, in the words of the question's language."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from kgrag.cli_print import echo, echo_text, on_terminal

if TYPE_CHECKING:
    from kgrag.types import Answer, Citation, Verdict

_UNVERIFIED = "not verified: "  # begins the reason where an answer could not be checked
_HEADING = 30  # characters of a heading that are shown: some are whole provisions
_SAYING: Mapping[str, tuple[str, str]] = MappingProxyType(
    {  # Chinese, English
        "draft": ("草稿（编号未定）：", "draft (numbers are not final):"),
        "understood": ("理解为：{}", "understood as: {}"),
        "place": ("{}{}，第 {} 至 {} 个字符", "{}{}, characters {}-{}"),
        "page": ("，第 {} 页", ", page {}"),
        "checked": ("离线检查：通过", "checked without a model: passed"),
        "unchecked": ("离线检查：未通过，请对照引文", "checked without a model: not passed"),
        "passed": ("核验（{}）：通过", "verified ({}): passed"),
        "failed": (
            "核验（{}）：未通过，请对照引文",
            "verified ({}): not passed, look at the quotes",
        ),
        "unverified": ("未能核验（{}）", "not verified ({})"),
        "rounds": ("；共作答 {} 次", "; {} answers"),
    }
)


def saying(question: str, name: str) -> str:
    """Return a phrase in the language of a question."""
    from kgrag.text import is_latin

    return _SAYING[name][is_latin(question)]


def is_done(answer: "Answer") -> bool:
    """Say whether the model that was to answer and the one that was to verify did."""
    from kgrag.asking.ask import FALL_BACK

    verified = answer.verdict is None or not answer.verdict.reason.startswith(_UNVERIFIED)
    return verified and all(step.name != FALL_BACK for step in answer.steps)


def answer_json(answer: "Answer") -> dict[str, object]:
    """Return an answer as a JSON-ready mapping."""
    from dataclasses import asdict, replace

    verdict = answer.verdict
    if verdict is not None:
        answer = replace(answer, verdict=replace(verdict, scores=dict(verdict.scores)))
    return asdict(answer)


def print_answer(answer: "Answer", *, explain: bool) -> None:
    """Print an answer, what it cites and what is known of it; notes go to stderr."""
    if on_terminal() and answer.method != "extractive":
        echo(err=True)  # behind the draft
        echo(err=True)
    if explain:
        _print_steps(answer)
    echo_text(answer.text)
    for citation in answer.citations:
        _print_citation(answer, citation)
    if answer.verdict is not None:
        echo()
        echo(f"{_verdict(answer.question, answer.verdict)}")
    for note in answer.notes:
        echo(f"note: {note}", err=True)


def _print_citation(answer: "Answer", citation: "Citation") -> None:
    echo()
    echo(f"[{citation.number}] {citation.title}")
    if citation.heading_path:
        echo(f"    {' › '.join(map(_shortened, citation.heading_path))}")
    page = saying(answer.question, "page").format(citation.page) if citation.page else ""
    place = saying(answer.question, "place")
    echo(f"    {place.format(citation.file, page, citation.start, citation.end)}")
    if answer.method != "extractive":  # there the answer is the quote
        echo(f"    “{' '.join(citation.quote.split())}”")


def _shortened(heading: str) -> str:
    return heading if len(heading) <= _HEADING else heading[: _HEADING - 1] + "…"


def _verdict(question: str, verdict: "Verdict") -> str:
    """Return what verification says; scores stand among the steps."""
    if verdict.reason.startswith(_UNVERIFIED):
        told = saying(question, "unverified").format(verdict.method)
        return f"{told}: {verdict.reason.removeprefix(_UNVERIFIED)}"
    names = ("unchecked", "checked") if verdict.method == "none" else ("failed", "passed")
    told = saying(question, names[verdict.passed]).format(verdict.method)
    if verdict.rounds > 1:
        told += saying(question, "rounds").format(verdict.rounds)
    return told if verdict.passed or not verdict.reason else f"{told}: {verdict.reason}"


def _print_steps(answer: "Answer") -> None:
    for step in answer.steps:
        calls = f" ({step.calls} calls)" if step.calls else ""
        echo(f"── {step.name}{calls}")
        for line in step.detail.splitlines():
            echo(f"   {line}")
    echo("──")
