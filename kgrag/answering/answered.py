"""Whether the sentences found answer a question, or are only related to it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgrag.answer.notes import note
from kgrag.answer.sentences import Sentence
from kgrag.embedding.embedder import Embedder
from kgrag.question.answer_kinds import asked_kinds, states_kind
from kgrag.text.leading_region import leading_region
from kgrag.text.numerals import han_numeral
from kgrag.text.words import is_latin, normalize_name
from kgrag.types import Query

_REACH = 0.8  # of the best score, within which what is asked for must be found
# Scores below which nothing supports an answer: questions on other subjects than the documents'.
_SUPPORT = 0.55
_SUPPORT_STAND_IN = 0.3
_QUOTED = 0.5  # of that threshold, where the question quotes a title
# The four below are cosines of this encoder over Chinese text, and count there alone.
_ENCODER = "bge-small-zh"
# A figure answers where its sentence scores so much, or is so much like the question without its
# places; chosen on questions of which some have no answer (`benchmarks/decisions.md`).
_SURE = 0.8
_LIKE = 0.58
# Other subjects than the documents': the place that a question names is in their titles, and its
# sentences score by that alone.
_WEAK = 0.68
_UNLIKE = 0.5
_MOST_COMPARED = 6  # sentences
_PHYSICAL = ("energy", "power", "mass", "volume", "length", "area")
_FIGURES = frozenset(
    (*_PHYSICAL, "money", "age", "share", "duration", "day", "date", "number", "count")
)
_COUNT = re.compile(
    r"(\d{1,9}|[三四五六七八九十百]{1,6})\s*+[家个项种类条所座名位][^，。？\d]{0,20}?(?:是|有|叫|包括|分别是)?(?:哪些|哪几|什么)"
)
_LEAST_NAMED = 4  # of the things that a question counts, fewer where it counts fewer
_ALIKE = 0.7  # share of a quoted title's pairs of characters that a title that is meant has
_LONGEST = 60  # characters of what was found instead


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence with its score, comparable to a cosine."""

    sentence: Sentence
    score: float


def is_answered(scored: Sequence[Scored], query: Query, embedder: Embedder) -> bool:
    """Return whether sentences answer a question.

    The best must score enough, or one of the good ones resemble the question without its places.
    If a figure, a date or an agency is asked for, one of the good ones must contain it, in the
    requested unit, and score well or resemble the question: another figure of the same place is no
    answer. Resemblance counts only with the encoder that it was measured with, for Chinese
    questions without a quoted title.

    Args:
        scored: Best first; may be empty.
        query: The question.
        embedder: Measures the resemblance.
    """
    support = _SUPPORT_STAND_IN if embedder.is_stand_in else _SUPPORT
    if query.titles:  # the document is named: only the rest of the question is to be met
        support *= _QUOTED
    if not scored or scored[0].score < support:
        return False
    measured = embedder.name.startswith(_ENCODER) and not query.titles and not is_latin(query.text)
    near = [s for s in scored if s.score >= _REACH * scored[0].score]
    weak = measured and near[0].score <= _WEAK
    if weak and _likeness(near[:_MOST_COMPARED], query, embedder) <= _UNLIKE:
        return False
    kinds = asked_kinds(query.text)
    held = [s for s in near if any(states_kind(s.sentence.text, kind) for kind in kinds)]
    if not kinds or not held:
        return not kinds
    if not measured or kinds[0].name not in _FIGURES:
        return True
    return held[0].score > _SURE or _likeness(held[:_MOST_COMPARED], query, embedder) > _LIKE


def asks_for_figure(question: str) -> bool:
    """Return whether a question asks for a figure or a date.

    >>> asks_for_figure("每亩补多少钱"), asks_for_figure("由哪个部门负责")
    (True, False)
    """
    return any(kind.name in _FIGURES for kind in asked_kinds(question))


def names_what_is_counted(question: str, quotes: Sequence[str], *, listed: int = 0) -> bool:
    """Return whether quotes name the counted things that a question asks for; True for others.

    Args:
        question: The question.
        quotes: Candidate answer.
        listed: Items of a list among the quotes.

    >>> names_what_is_counted("剔除的38家企业是哪些", ["剔除38家企业。"])
    False
    >>> names_what_is_counted("那三个城市是哪些", ["甲市、乙市、丙市"])
    True
    >>> names_what_is_counted("那两个阶段是什么", ["第一阶段是甲。", "第二阶段是乙。"])
    True
    """
    counted = _COUNT.search(question)
    if not counted or not quotes:
        return True
    number = int(counted[1]) if counted[1].isdigit() else int(han_numeral(counted[1]) or 0)
    named = max(listed, *(1 + quote.count("、") for quote in quotes))
    return number <= len(quotes) or named >= min(number, _LEAST_NAMED)


def _likeness(held: Sequence[Scored], query: Query, embedder: Embedder) -> float:
    """Return the highest cosine of a sentence and the question without its places."""
    asked = query.text
    for place in sorted(query.places, key=len, reverse=True):
        asked = asked.replace(place, "")
    vectors = embedder.embed([s.sentence.text for s in held], "passage")
    return float((vectors @ embedder.embed([asked], "query")[0]).max())


def is_title_meant(quoted: str, title: str) -> bool:
    """Return whether a title contains the quoted one, or most of it.

    >>> is_title_meant("碳达峰方案", "甲市碳达峰实施方案"), is_title_meant("碳达峰方案", "节能条例")
    (True, False)
    """
    bare, own = normalize_name(quoted), normalize_name(title)
    if bare in own:
        return True
    (asked, _), (place, _) = leading_region(quoted), leading_region(title)
    if asked and place and asked[-1] not in place:  # 江西省实施方案 is not 青海省实施方案
        return False
    pairs = {bare[i : i + 2] for i in range(len(bare) - 1)}
    return sum(pair in own for pair in pairs) > _ALIKE * len(pairs)


def instead(scored: Sequence[Scored], query: Query, titles: Mapping[str, str]) -> tuple[str, ...]:
    """Return notes on what was found instead: a missing document, the nearest sentence.

    Args:
        scored: Best first; may be empty.
        query: The question.
        titles: By document.
    """
    notes = [
        note("title-missing", query.language, title=title)
        for title in query.titles
        if not any(is_title_meant(title, own) for own in titles.values())
    ]
    for best in scored[:1]:
        quote = " ".join(best.sentence.text.split())
        cut = quote if len(quote) <= _LONGEST else f"{quote[:_LONGEST]}…"
        title = titles[best.sentence.doc_id]
        notes.append(note("nearest", query.language, title=title, quote=cut))
    return tuple(notes)
