"""Completing English follow-up questions by rules."""

import functools
import re
from collections.abc import Sequence

from kgrag.question.query import analyse
from kgrag.question.question import question_of
from kgrag.text.in_chinese import place_spans
from kgrag.text.words import read_word_list

_SAID = r"(?:[^?.!\s]|[?.!\s]++(?=[^?.!\s]))++"  # up to the marks and blanks at the end
_SWITCH = re.compile(
    rf"(?:and\s+)?(?:what|how)\s+about\s+(?P<asked>{_SAID})[?.!\s]*+"
    r"|and\s+(?:(?:for|in|by|of)\s+)?(?P<named>(?!(?:what|who|when|where|how|which|why|is|are|was"
    r"|were|does|do|did|can|will)\b)[^\s?]+(?:\s+[^\s?]+){0,3})[?.!\s]*"
    rf"|(?:please\s+)?(?:switch|change)(?:\s+(?:it|that))?\s+to\s+(?P<changed>{_SAID})[?.!\s]*+"
    r"|(?P<instead>[^\s?]+(?:\s+[^\s?]+){0,2})\s+instead[?.!\s]*",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"“《]([^\"“”《》]{3,120})[\"”》]")
# Capitalised words that do not begin the question: Jilin Province, Ministry of Finance.
_NAME = re.compile(r"(?<!^)\b[A-Z][\w-]*(?:\s+(?:(?:of|the|and|for)\s+){0,2}[A-Z][\w-]*)*")
_YEAR = re.compile(r"\b(?:19|20)\d{2}\b")
_ARTICLE = re.compile(r"\b(?:article|section|chapter)\s+\d+\b", re.IGNORECASE)
_NOUN = (
    r"(?:plan|policy|document|measure|notice|law|regulation|scheme|program(?:me)?|project|fund"
    r"|standard|rule|agency|province|city)s?"
)
_PRONOUN = re.compile(
    r"\b(?:(its|their)|it|they|them|(?:this|that|the same)\s+"
    r"(?P<document>plan|policy|document|measure|notice|law|regulation|scheme)"
    rf"|(?:this|that|these|those|the same)\s+{_NOUN})\b",
    re.IGNORECASE,
)
_EXPLETIVE = re.compile(
    r"\b(?:does|do|did|will|would)\s+it\s+(?:take|cost|matter)\b"
    r"|\b(?:is|was)\s+it\s+(?:possible|necessary|allowed|required|true|permitted)\b"
    r"|\bit\s+(?:is|was|takes|took)\s+\w+\s+(?:to|that)\b",
    re.IGNORECASE,
)


@functools.cache
def _general() -> frozenset[str]:
    return frozenset(read_word_list("general_words.txt"))


def complete(question: str, before: str, answer: str, cited: Sequence[str] = ()) -> str:
    """Return a question completed from the one before it; unchanged if no rule applies.

    In order: another name, year or article (What about Zhejiang?), a pronoun without an
    antecedent in the question (What is its target?), a question of general words only (Who is
    responsible?). The subject is the only title or name in the question before, else the only
    title in the answer, else all of the question before; of what is said of documents (this plan,
    who issued it), the first one cited, unless the question before quotes one.

    Args:
        question: The follow-up.
        before: The question before it, complete.
        answer: The answer to that.
        cited: Titles of the documents that the last answer with citations cites.
    """
    switch = _SWITCH.fullmatch(question.strip())
    if switch:
        other = next(filter(None, switch.groups()))
        return _switched(re.sub(r"^(?:in|for|by|of)\s+", "", other), before, answer)
    if _QUOTED.search(question) or _NAME.search(question):
        return question
    subject = _subject(before, answer)
    pronoun = _PRONOUN.search(question)
    if cited and not _QUOTED.search(before) and _of_document(question):
        subject = f"《{cited[0]}》"
    if pronoun and _is_general(question[: pronoun.start()]) and not _EXPLETIVE.search(question):
        if not subject:
            return _beside(question, before)
        said = f"{subject}'s" if pronoun.group(1) else subject
        return question[: pronoun.start()] + said + question[pronoun.end() :]
    if _is_general(question):
        return _beside(question, subject or before)
    return question


def is_sure(question: str, before: str, cited: Sequence[str] = ()) -> bool:
    """Return whether a follow-up asks for another place or year, and the question before has one.

    Those on the document that was cited are sure, too.

    Args:
        question: The follow-up.
        before: The question before it, complete.
        cited: Titles of the documents that the last answer with citations cites.
    """
    if cited and not _QUOTED.search(question) and _of_document(question):
        return True
    switch = _SWITCH.fullmatch(question.strip())
    if not switch or _QUOTED.search(before):
        return False
    other = re.sub(r"^(?:in|for|by|of)\s+", "", next(filter(None, switch.groups())))
    if place_spans(other) == [(0, len(other))]:
        return len(place_spans(before)) == 1
    return _YEAR.fullmatch(other) is not None and len(_YEAR.findall(before)) == 1


def _of_document(question: str) -> bool:
    """Return whether a question is about a document that it does not name."""
    pronoun = _PRONOUN.search(question)
    asks = question_of(analyse(question)).asks
    return bool(pronoun and (pronoun["document"] or asks & {"who issued", "validity"}))


def _switched(other: str, before: str, answer: str) -> str:
    """Return the question before with something else of the same kind."""
    for kind in (_YEAR, _ARTICLE):
        named = kind.search(other)
        if named and kind.search(before):
            return kind.sub(named.group(), before, count=1)
    places = place_spans(before)
    if len(places) == 1 and place_spans(other) == [(0, len(other))]:
        return before[: places[0][0]] + other + before[places[0][1] :]
    names = list(_NAME.finditer(before))
    if len(names) == 1 and other[:1].isupper() and not _ARTICLE.search(other):
        return before[: names[0].start()] + other + before[names[0].end() :]
    return _beside(f"What about {other}?", _subject(before, answer) or before)


def _subject(before: str, answer: str) -> str:
    """Return the title or name that a question is about; empty if there are several."""
    for pattern, text in ((_QUOTED, before), (_NAME, before), (_QUOTED, answer)):
        found = list(dict.fromkeys(match.group() for match in pattern.finditer(text)))
        if found:
            return found[0] if len(found) == 1 else ""
    return ""


def _is_general(text: str) -> bool:
    """Return whether a text has no names."""
    return set(re.findall(r"[a-z]+", text.lower())) <= _general()


def _beside(question: str, subject: str) -> str:
    return f"{question.rstrip('?. ')} (regarding: {subject.rstrip('?. ')})?"
