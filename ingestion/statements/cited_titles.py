"""Find the titles that a text tells: in 《》 or other marks, or sure without any; numbers alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from kgrag.ingestion.metadata.numbers import (
    BRACKETED,
    clean_number,
    number_after,
    numbers_for_documents,
)
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.titles import document_kinds
from kgrag.text.vocabulary import DOCUMENT_KINDS, ISSUER_ENDS

# What stands before the short name in the bracket, marks behind it included.
SAID_SHORT = (
    r"(?:以下|下文|后文|下)?(?:分别|均统一|统一|统|均|合)?(?:[简统合]称|(?<=[下文])称(?!号|重|量|职))"
    r"(?:为|作)?[:：，]?\s*"
)

_OPEN, _CLOSE = "《«", "》»"
_MARK = re.compile(f"[{_OPEN}{_CLOSE}]")
_LONGEST = 160  # characters of a title, line breaks included
# A title inside a title begins it, or follows one of these; another 《 means a lost 》.
_NESTING = re.compile(
    r"(?:关于|[印颁]发|[发公颁]布|转发|批转|修[改订正]|废止|贯彻|落实|实施|执行|履行|宣传|学习"
    r"|制定|做好|对|国务院|委员会|人民政府|[部委厅局办会])\s*$"
)
_INNER = re.compile(r"[《«〈<＜]([^《》«»〈〉<>＜＞]{2,120})[》»〉>＞]")
# Other marks, where what stands in them is plainly a title: 关于…的通知.
_OTHER_MARKS = re.compile(
    r"(?:(?<![《«])[〈<＜](?P<angle>[^《》«»〈〉<>＜＞。；;\n]{8,120})[〉>＞]"
    r"|[“\"](?P<quoted>(?:[^《》“”\"。；;，,\n]{0,40})关于[^《》“”\"。；;\n]{6,90})[”\"]"
    r"|『(?P<corner>[^『』。；;]{4,120})』)"
)
_PAGE = re.compile(r"\n\s{0,20}[-—–―－]{1,3}\s{0,9}\d{1,4}\s{0,9}[-—–―－]{1,3}\s{0,20}(?=\n)")

_KIND = f"{DOCUMENT_KINDS}|函|建议"
_BETWEEN = r"[^，。；：！？《》«»（）()“”\"、]"
_UNMARKED = re.compile(
    rf"关于(?:[^，。；：！？《》«»（）()]|《[^《》]{{2,60}}》|[（(][^（）()]{{1,20}}[）)]){{3,90}}?(?:{_KIND})\s*$"
)
_CALLED_ON = r"(?<=根据|依据|依照|按照|遵照|落实|贯彻|执行)"
_SURE = (
    # 根据国务院关于加快节能工作的意见精神
    re.compile(
        rf"{_CALLED_ON}(?:中共中央[、\s]*|国务院(?:办公厅)?|[一-鿿]{{2,12}}人民政府(?:办公厅)?){{1,3}}"
        rf"关于{_BETWEEN}{{4,60}}?(?:意见|通知|决定)(?=精神|要求|部署|规定|等|，|。|、|（)"
    ),
    re.compile(
        rf"{_CALLED_ON}中华人民共和国[一-鿿]{{2,24}}?(?:法(?![律规制治院人定庭官])|条例)(?:实施条例)?"
    ),
)
_NO_FURTHER_BACK = re.compile(rf"号\s*[）)]|[。；;：:]|(?:{_KIND})\s{{0,9}}[》）)]?\s{{0,9}}\n")
_LEADING_WORD = re.compile(
    "[，》）)\n]|根据|依据|依照|按照|遵照|落实|贯彻|执行|参照|[印颁]发的|[发公]布的|以及|为|[和及与、](?=国)"
)
_ISSUER = re.compile(
    rf"[一-鿿、\s]{{0,60}}(?:{ISSUER_ENDS}|[省市县州])(?:办公[厅室])?"
    rf"(?:等[\d{HAN_SMALL}]*个?(?:部门|单位))?[、\s]*|中共中央[、\s]*国务院"
)


@dataclass(frozen=True, slots=True)
class CitedTitle:
    """A title at its place.

    Attributes:
        start: First character, the opening mark included.
        end: Offset after the closing mark.
        title: As written, blanks, line breaks and page marks within left out; empty where the
            text gives a number alone.
        number: 文号 that belongs to it, brackets as 〔〕; empty where none is told.
        tail: Offset after the brackets that belong to it: （国发〔2021〕4号）.
        marked: Whether it stands in marks.
        inner: Where it stands inside another title: what that title does with it (印发, 修改);
            None otherwise.
    """

    start: int
    end: int
    title: str
    number: str = ""
    tail: int = 0
    marked: bool = True
    inner: str | None = None


def cited_titles(text: str) -> list[CitedTitle]:
    r"""Return the titles and numbers that a text tells, by place, an outer title before its inner.

    >>> [(t.title, t.number) for t in cited_titles("根据《节能\n办法》（云政发[2021]3号）")]
    [('节能办法', '云政发〔2021〕3号')]
    """
    found = [*_marked(text)]
    found += _clear_of(found, _in_other_marks(text))
    found += _clear_of(found, _unmarked(text, found))
    found += _clear_of(found, _numbers(text))
    return _nested(text, sorted(set(found), key=lambda told: (told.start, -told.end)))


def _nested(text: str, found: list[CitedTitle]) -> list[CitedTitle]:
    """Return titles of which those inside another say so."""
    nested: list[CitedTitle] = []
    end, start = 0, 0
    for told in found:
        if told.inner is None and told.start < end:
            verb = _NESTING.search(text, start, told.start)
            told = replace(told, inner=verb.group().strip() if verb else "")
        if told.inner is None:
            start, end = told.start, told.end
        nested.append(told)
    return nested


def clean_title(title: str) -> str:
    r"""Return a title without line breaks, blanks and page marks; English keeps single blanks.

    >>> clean_title("节能\n—12—\n办法"), clean_title("Energy\nAct")
    ('节能办法', 'Energy Act')
    """
    bare = _PAGE.sub("", title)
    return (" " if bare.isascii() else "").join(bare.split())


def _marked(text: str) -> Iterator[CitedTitle]:
    opened: list[int] = []
    for mark in _MARK.finditer(text):
        at = mark.start()
        if mark.group() in _OPEN:
            kept = opened and at - opened[-1] <= _LONGEST
            nests = kept and (_NESTING.search(text, opened[-1] + 1, at) or at == opened[-1] + 1)
            if not nests:
                opened = []
            opened.append(at)
        elif opened:
            start = opened.pop()
            if not opened:
                yield from _told(text, start, at + 1)


def _told(text: str, start: int, end: int) -> Iterator[CitedTitle]:
    title = text[start + 1 : end - 1]
    if not 2 <= len(title) <= _LONGEST:
        return
    number, tail = number_after(text, end)
    yield CitedTitle(start, end, clean_title(title), number, tail)
    yield from _inside(title, start + 1)


def _inside(title: str, at: int) -> Iterator[CitedTitle]:
    """Yield what stands in marks within a title: 关于印发〈节能办法〉的通知."""
    for match in _INNER.finditer(title):
        verb = _NESTING.search(title, 0, match.start())
        whose = verb.group().strip() if verb else ""
        yield CitedTitle(
            at + match.start(),
            at + match.end(),
            clean_title(match.group(1)),
            tail=at + match.end(),
            inner=whose,
        )


def _in_other_marks(text: str) -> Iterator[CitedTitle]:
    for match in _OTHER_MARKS.finditer(text):
        title = clean_title(match.group(match.lastgroup or 0))
        if not document_kinds(title):
            continue
        number, tail = number_after(text, match.end())
        yield CitedTitle(match.start(), match.end(), title, number, tail)


def _unmarked(text: str, found: list[CitedTitle]) -> Iterator[CitedTitle]:
    """Yield titles without marks: those before a number in brackets, laws and acts by name."""
    known = {told.start for told in found}
    for match in BRACKETED.finditer(text):
        begin = _beginning(text, match.start())
        if begin is None:
            continue
        title = text[begin : match.start()].rstrip()
        number, tail = number_after(text, match.start())
        end = begin + len(title)
        yield CitedTitle(begin, end, clean_title(title), number, tail, marked=False)
        yield from (told for told in _inside(title, begin) if told.start not in known)
    for pattern in _SURE:
        for match in pattern.finditer(text):
            title = clean_title(match.group())
            number, tail = number_after(text, match.end())
            yield CitedTitle(match.start(), match.end(), title, number, tail, marked=False)


def _beginning(text: str, end: int) -> int | None:
    """Return where an unmarked title that ends at `end` begins, its issuer included."""
    start = max(0, end - _LONGEST)
    cuts = [m.end() for m in _NO_FURTHER_BACK.finditer(text, start, end)]
    start = next((cut for cut in reversed(cuts) if text[cut:end].strip()), start)
    body = _UNMARKED.search(text, start, end)
    if body is None:
        return None
    before = text[start : body.start()]
    leads = list(_LEADING_WORD.finditer(before))
    begin = start + (leads[-1].end() if leads else 0)
    return begin if _ISSUER.fullmatch(text[begin : body.start()].strip()) else body.start()


def _numbers(text: str) -> Iterator[CitedTitle]:
    for start, end in numbers_for_documents(text):
        yield CitedTitle(start, end, "", clean_number(text[start:end]), end, marked=False)


def _clear_of(found: list[CitedTitle], further: Iterator[CitedTitle]) -> list[CitedTitle]:
    """Return those of the further titles that lie in no title, nor in what belongs to one."""
    taken = sorted((f.start, max(f.end, f.tail)) for f in found)
    clear, at = [], 0
    for told in sorted(further, key=lambda t: t.start):
        while at < len(taken) and taken[at][1] <= told.start:
            at += 1
        if at == len(taken) or taken[at][0] >= told.end or (not told.marked and told.title):
            clear.append(told)
    return clear
