"""Read by rule what a text defines: the meaning of its terms, and short for what it says X."""

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from kgrag.ingestion.statements.cited_titles import SAID_SHORT
from kgrag.ingestion.statements.finding import Finding
from kgrag.ingestion.statements.unwrapped import Unwrapped, unwrapped
from kgrag.qualifiers import Qualifiers
from kgrag.text.grammar import Grammar
from kgrag.text.numbering import numbering_at, without_numbering
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.tagged import Tagged

_LONGEST_FULL = 80  # characters
_LONGEST_SHORT = 24
_NAME_REACH = 120  # characters before the bracket in which the full name begins
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
_ABBREVIATION = re.compile(r"[A-Za-z0-9\-+]+")

MEANS, SHORT_FOR = "是指", "简称"
TERM_CONFIDENCE, SHORT_CONFIDENCE = 0.97, 0.94  # precision that was measured
_LONGEST_TERM = 30  # characters
_LONGEST_MEANING = 400
_REACH = 90  # characters before 是指 in which the term stands
_MEANS = re.compile(
    r"(?<!不)(?:主要|特)?是指(?!导|标|定|挥|数|南|示|引|向)|(?<=[，：:])(?:系|特)?指(?=[^导标定挥数南示引向明出派])"
)
_CALLED = re.compile(
    r"(?:本[^，。；：\s]{1,8}?|前款|其中|上述|以下|这里|文中)?(?:中)?所(?:称|指|说|谓)的?(?:：|:)?"
)
_NOTE = re.compile(r"^(?:注\d?[：:]|[a-z][)）])")
_ASIDE = re.compile(r"[（(][^（）()]{0,60}[）)]")
_NO_TERM = re.compile(
    r"^(?:其|这|那|该|此|它|前者|后者|前款|本|以上|以下|其中|主要|也就|就|即|指标解释|解释|定义|含义|所|注|说明"
    r"|目的|一|对|在|由|按|根据|如|若|当|并|但|而|及|和|与)"
)
_NOT_NAME = re.compile(r"[。；？！?!=|“”\"]|^.$|\d{4}年")
_QUOTES = "“”\"'‘’《》「」『』"
_MEANING_END = re.compile(r"[。\n]|；(?=[^；。\n]{0,40}是指)")
_TERMS = re.compile(r"术语|用语|名词解释|名词(?:术语)?说明|定义$")
_OF_ITEMS = frozenset(("bracketed chinese", "bracketed digit", "half bracket", "circle"))
_LONGEST_SECTION = 34  # characters of a line that begins a section
_ITEM = re.compile(r"^(?P<term>[^：:，。；]{2,40})[：:](?P<meaning>[^\n]{6,})$")
_NUMBERED = re.compile(r"^\d{1,2}(?:\.\d{1,2}){1,3}(?P<term>[^，。；：:\d][^，。；：:]{1,50})$")
_SAID = re.compile(r"^(?:是指|特指|系指|指|是|：|:)(?=.)")
_LATIN = re.compile(r"[A-Za-z][A-Za-z\s,\-()（）]{0,99}$")


def definitions(text: str) -> list[Finding]:
    """Return (term, 是指, meaning) and (abbreviation, 简称, full name), in text order.

    Terms of 本办法所称X，是指…, of X是指…, of items and numbered lines under a heading that
    tells of terms; abbreviations of （以下简称X） and （以下统称X）. Quotation and title marks are
    left out.
    The span is the sentence of a meaning, the full name with the bracket of an abbreviation.

    >>> [(f.subject, f.predicate, f.object) for f in definitions(
    ...     "本办法所称碳汇，是指森林吸收的二氧化碳。市水利和湖泊局（以下简称市水利局）负责。")]
    [('碳汇', '是指', '森林吸收的二氧化碳'), ('市水利局', '简称', '市水利和湖泊局')]
    """
    flat = unwrapped(text)
    found = [
        _finding(flat, short.start, short.end, short.short, SHORT_FOR, short.full)
        for short in _shortened_names(flat.text)
    ]
    for start, end, term, meaning in (*_stated(flat.text), *_listed(flat.text)):
        found.append(_finding(flat, start, end, term, MEANS, meaning))
    unique = {(f.subject, f.predicate, f.object): f for f in reversed(found)}
    return sorted(unique.values(), key=lambda f: (f.start, f.end, f.subject))


def abbreviations(text: str) -> dict[str, str]:
    """Return what the short names of a text stand for, as the text first says it.

    >>> abbreviations("《节能方案》（以下简称《方案》）由市水利和湖泊局（以下简称水利局）起草。")
    {'方案': '节能方案', '水利局': '市水利和湖泊局'}
    """
    names: dict[str, str] = {}
    for abbreviation in _shortened_names(unwrapped(text).text):
        names.setdefault(abbreviation.short, abbreviation.full)
    return names


def _finding(
    flat: Unwrapped, start: int, end: int, subject: str, predicate: str, told: str
) -> Finding:
    confidence = TERM_CONFIDENCE if predicate == MEANS else SHORT_CONFIDENCE
    return Finding(
        subject,
        predicate,
        told,
        *flat.span(start, end),
        Qualifiers("definition"),
        confidence=confidence,
    )


def _stated(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield (start, end, term, meaning) of the sentences with 是指."""
    for verb in _MEANS.finditer(text):
        reach = max(0, verb.start() - _REACH)
        start = max(reach, *(text.rfind(mark, reach, verb.start()) + 1 for mark in "。；\n"))
        term = _term(text[start : verb.start()])
        meaning, end = _meaning(text, verb.end())
        if term and meaning:
            yield start, end, term, meaning


def _term(words: str) -> str:
    """Return the term that stands before 是指; empty where it is none."""
    words = _ASIDE.sub("", _unmarked(words)).rstrip("，,：: ")
    called = list(_CALLED.finditer(words))
    if called and called[-1].end() < len(words):
        words = words[called[-1].end() :]
    elif "，" in words or "：" in words:
        words = re.split("[，：:]", words)[-1] if len(words) > _LONGEST_TERM else words
    term = words.strip(_QUOTES + "，,、：: ")
    fits = 2 <= len(term) <= _LONGEST_TERM and "，" not in term and "：" not in term
    return "" if not fits or _NO_TERM.match(term) or _NOT_NAME.search(term) else term


def _unmarked(line: str) -> str:
    return without_numbering(_NOTE.sub("", line))


def _begins_section(line: str) -> bool:
    mark = numbering_at(line)
    return mark is not None and mark.family not in _OF_ITEMS and len(line) <= _LONGEST_SECTION


def _meaning(text: str, start: int) -> tuple[str, int]:
    """Return what stands behind 是指, up to the end of its sentence, and where that is."""
    stop = _MEANING_END.search(text, start, start + _LONGEST_MEANING)
    end = stop.start() if stop else min(len(text), start + _LONGEST_MEANING)
    meaning = text[start:end].strip("，,：:；; ")
    listed = text[start:end].endswith(("：", ":"))
    is_whole = stop is not None or end == len(text)
    return (meaning if is_whole and len(meaning) >= 4 and not listed else ""), end


def _listed(text: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield (start, end, term, meaning) of the items under a heading that tells of terms."""
    within = False
    waiting: tuple[int, str] | None = None
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end][: 2 * _LONGEST_MEANING]
        numbered = _NUMBERED.match(line)
        if len(line) <= 40 and _TERMS.search(line.rstrip("：:。")):
            within, waiting = True, None
        elif within and numbered:
            waiting = (start, _bare(numbered["term"]))
        elif within and _begins_section(line):
            within, waiting = False, None
        elif within and waiting:
            if 8 <= len(line) <= _LONGEST_MEANING and not _MEANS.search(line):
                yield waiting[0], end, waiting[1], _SAID.sub("", line).rstrip("。")
            waiting = None
        elif within and (item := _ITEM.match(_unmarked(line))):
            yield from _item(item, start, end)
        start = end + 1


def _item(item: re.Match[str], start: int, end: int) -> Iterator[tuple[int, int, str, str]]:
    term = _term(item["term"])
    meaning = _SAID.sub("", item["meaning"].split("。")[0].strip("，,：: "))
    if term and len(meaning) >= 4:
        yield start, end, term, meaning


def _bare(term: str) -> str:
    """Return a term without the same in Latin letters behind it."""
    short = _LATIN.sub("", _ASIDE.sub("", term)).strip(_QUOTES)
    return short or term


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
class _FullName:
    """A short name and the full one, without quotation and title marks, and where both stand.

    Attributes:
        short: 市发改委.
        full: 市发展和改革委员会.
        start: First character of the full name.
        end: Offset after the bracket.
    """

    short: str
    full: str
    start: int
    end: int


def _shortened_names(text: str) -> Iterator[_FullName]:
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
            before = text[max(0, match.start() - _NAME_REACH) : match.start()]
            if full := _full(before, short):
                start = match.start() - len(before) + before.rfind(full)
                yield _FullName(short, full, start, match.end())


def _full(before: str, short: str) -> str:
    """Return the full name; empty where it cannot be told."""
    title = _TITLE.search(before)
    if title:
        return title["title"] if title["title"] != short else ""
    bare = _WITHIN.sub(lambda m: "口" * len(m[0]), before)  # 中国（云岭）自由贸易试验区
    at = max([0, *(m.end() for m in _STRONG.finditer(bare))])
    words = before[at:]
    first = _first_of(words, short)
    if first is None:
        return ""
    begins = [end for _, end in _leads_in(words) if end <= first]
    begin = begins[-1] if begins else 0
    if not _NUMERAL.match(short):
        begin = max([begin, *(m.end() for m in _SOFT.finditer(words) if _cuts(words, m, first))])
    full = _LED.sub("", words[_with_equals(words, begin) :])
    full = full[1:-1] if full[:1] in _OPEN and full[-1:] in _CLOSE else full
    return full if len(short) < len(full) <= _LONGEST_FULL else ""


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
    core = _NUMERAL.sub("", _ABBREVIATION.sub("", short))
    if not core:
        at = words.rfind("、") + 1
        return next((end for start, end in _leads_in(words) if start == at), at)
    at = len(words)
    for c in reversed(core):
        at = words.rfind(c, 0, at)
        if at < 0:
            return None
    return at
