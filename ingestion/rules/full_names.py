"""Find the short names that a text gives, and where the full names before them begin."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from kgrag.ingestion.rules.said_short import SAID_SHORT
from kgrag.text.grammar import Grammar
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.tagged import Tagged

_LONGEST_FULL = 80  # characters
_LONGEST_SHORT = 24
_REACH = 120  # characters before the bracket in which the full name begins
_BRACKET = re.compile(
    rf"[（(〔](?P<aside>[^（）()〔〕]{{0,30}}?[，,；;、])?{SAID_SHORT}"
    r"(?P<short>[“\"‘'《]?[^（）()〔〕，,；;。\n]{1,30})(?:[，,；;][^（）()〔〕\n]{0,80})?[）)〕]"
)
_BARE = re.compile(r"，(?:以下)?简称(?:为)?[“\"](?P<short>[^”\"\n]{2,20})[”\"]")
_OPEN, _CLOSE = '“"‘', '”"’'
_WITHIN = re.compile(rf"[（(](?![{HAN_SMALL}\d]+[）)]|以下)[^（）()。]{{1,8}}[）)]")
_SEVERAL = re.compile(
    "》.{0,2}《|”.{0,2}“"
)  # 《意见》《通知》: one each, of the titles before them
_MARKS = "“”\"'‘’《》「」『』 "
_TITLE = re.compile(
    r"《(?P<title>[^《》]{2,100}(?:《[^《》]{1,80}》[^《》]{0,60})*)》(?:(?:[（(][^（）()]{0,60}|〔[^（）()〔〕]{0,60})[）)〕])*$"
)
_STRONG = re.compile(r"[，。；：:;,！？!?\n）)〕》|]")
_SOFT = re.compile(r"、|和|与(?!封)")
_JOINT_END = re.compile(r"[及和与或、]$")
_LED = re.compile(r"^[的和与及或等、，\s]+")
_NUMERAL = re.compile(r"[一二两三四五六七八九十双多]")
_LATIN = re.compile(r"[A-Za-z0-9\-+]+")


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of short names."""
    return Grammar.load("kgrag.ingestion.statements", "definitions.toml")


def tagged(text: str) -> Tagged:
    """Return the words before a bracket with those behind which a name begins as spans."""
    return grammar().tagged(text)


def _leads_in(words: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of what a name begins behind: verbs of doing, prepositions, 所称."""
    read = tagged(words)
    for match in grammar().pattern("leads_in").finditer(read.code):
        yield read.at[match.start()], read.at[match.end()]


@dataclass(frozen=True, slots=True)
class FullName:
    """A short name and the full one, without quotation and title marks, and where both stand.

    Attributes:
        short: 市发改委.
        full: 市发展和改革委员会.
        start: First character of the full name.
        end: Offset after the bracket.
        is_title: Whether the full name is a title in 《》.
    """

    short: str
    full: str
    start: int
    end: int
    is_title: bool


def shortened_names(text: str) -> Iterator[FullName]:
    """Yield the abbreviations that a text without blanks gives, in order.

    The full name is the title before the bracket, else the words in which the characters of the
    short one stand in the same order, from the last verb or preposition before them. Where no such
    words stand there, nothing is said.
    """
    for pattern in (_BRACKET, _BARE):
        for match in pattern.finditer(text):
            short = match["short"].strip(_MARKS)
            if not 1 < len(short) <= _LONGEST_SHORT or _SEVERAL.search(short):
                continue
            before = text[max(0, match.start() - _REACH) : match.start()]
            full, is_title = _full(before, short)
            if full:
                start = match.start() - len(before) + before.rfind(full)
                yield FullName(short, full, start, match.end(), is_title)


def _full(before: str, short: str) -> tuple[str, bool]:
    """Return (full name, whether it is a title); empty where it cannot be told."""
    title = _TITLE.search(before)
    if title:
        return (title["title"], True) if title["title"] != short else ("", False)
    bare = _WITHIN.sub(lambda m: "口" * len(m[0]), before)  # 中国（云岭）自由贸易试验区
    at = max([0, *(m.end() for m in _STRONG.finditer(bare))])
    words = before[at:]
    first = _first_of(words, short)
    if first is None:
        return "", False
    begins = [end for _, end in _leads_in(words) if end <= first]
    begin = begins[-1] if begins else 0
    if not _NUMERAL.match(short):
        begin = max([begin, *(m.end() for m in _SOFT.finditer(words) if _cuts(words, m, first))])
    full = _LED.sub("", words[_with_equals(words, begin) :])
    full = full[1:-1] if full[:1] in _OPEN and full[-1:] in _CLOSE else full
    fits = len(short) < len(full) <= _LONGEST_FULL
    return (full, False) if fits else ("", False)


def _with_equals(words: str, begin: int) -> int:
    """Return where a name begins, with what a joint puts beside it: 甲企业及乙企业."""
    joint = _JOINT_END.search(words, 0, begin)
    left = words[: joint.start()] if joint else ""
    if len(left) < 4 or left[-2:] != words[-2:]:
        return begin
    return max([0, *(end for _, end in _leads_in(left))])


def _cuts(words: str, joint: re.Match[str], first: int) -> bool:
    """Return whether the name begins behind a joint: 、 before its first character does so."""
    return joint.end() <= first and (joint[0] == "、" or joint.end() == first)


def _first_of(words: str, short: str) -> int | None:
    """Return where the characters of a short name begin to stand in order, as late as possible.

    Numerals (两高) and what is written in Latin letters (CCUS) need not stand there; a name in
    Latin letters alone begins behind the last joint.
    """
    core = _NUMERAL.sub("", _LATIN.sub("", short))
    if not core:
        at = words.rfind("、") + 1
        return next((end for start, end in _leads_in(words) if start == at), at)
    at = len(words)
    for c in reversed(core):
        at = words.rfind(c, 0, at)
        if at < 0:
            return None
    return at
