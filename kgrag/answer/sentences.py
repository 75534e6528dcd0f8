"""Sentences to quote: lines that were broken are joined, items and rows are kept apart."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise

from kgrag.text.numbering import item_end, numbering_at
from kgrag.text.quantities import broken_numbers, narrow
from kgrag.text.table_rows import is_row
from kgrag.text.vocabulary import ISSUER_ENDS
from kgrag.text.words import sentence_spans

_LEAD_IN = "：:"
_LONGEST_REMARK = 160  # characters before and behind the mark that cuts a remark in brackets
_ENDS = frozenset("。！？；!?;")
_CLOSES = _ENDS | frozenset(".）)”〕】")
_LONG = 30  # characters; a line that is longer and has no mark at its end was broken
_WRAPPED = 18  # characters; so was a shorter one with a comma
_LABEL = re.compile(r"[^，。；：:\s]{0,8}[：:]")  # 责任单位：
_SPOKEN_OF = re.compile(r"项(?!目)|[款目]")  # 依照前款（二）项
_CONTINUES = re.compile(r"[\d一-鿿“《]")
_CONTINUES_IN_ENGLISH = re.compile(r"[a-z]|\$\d")
_REMARK = re.compile(r"\s*[（(](?![一二三四五六七八九十百\d]{1,4}[）)])")
# A mark that ends sentences where a text has no 。 at all, as some scans have it: 甲.乙
_POINT = re.compile(r"(?<=[一-鿿”»)）])\.(?=[一-鿿“«])")
# The end of a row of a table that lost its cells, 承德市139.2 60.0 21.0; the next begins anew.
_FLAT_ROW = re.compile(r"\d(?:[ \t]++[-≥≤<>]?\d[\d.,%％]*+){2}$")
# A line that begins a section or an item; what stands before it is complete without a mark.
_BEGINS = re.compile(
    r"\s*(?:#{1,6}[ \t]|第[一二三四五六七八九十百\d]{1,4}[章节编][ \t\u3000]"
    r"|[一二三四五六七八九十]{1,3}、|[（(][一二三四五六七八九十]{1,3}[）)](?!项|款|目))"
)
_ROW = re.compile(r"^[ \t]*\|[^\r\n]*\|[ \t]*(?:\r?\n|$)", re.MULTILINE)
# What stands around a document and says nothing of its matter.
_LETTERHEAD = re.compile(
    r"(?:[^，。；：]{0,30}\d{4}\s*年\s*\d{1,2}\s*月\s*\d{1,2}\s*日\s*)?[（(]\s*此件[^，。）)]{0,12}公开[^，。）)]{0,6}[）)]?"
    rf"|抄送\s*[：:].*|[\u4e00-\u9fff]{{2,30}}(?:{ISSUER_ENDS})文件"
    r"|[^，。；：]{2,40}\d{4}\s*年\s*\d{1,2}\s*月\s*\d{1,2}\s*日\s*印发",
    re.DOTALL,
)


def is_letterhead(text: str) -> bool:
    """Return whether a sentence is part of the letterhead or imprint.

    >>> is_letterhead("（此件主动公开）"), is_letterhead("云岭省人民政府文件")
    (True, True)
    >>> is_letterhead("本办法自印发之日起施行（此件公开发布）")
    False
    """
    return _LETTERHEAD.fullmatch(narrow(text).strip().replace("(", "（")) is not None


def joined_spans(text: str, *, remarks: bool = True) -> list[tuple[int, int]]:
    """Return sentence spans that cover the text, with broken lines joined.

    Args:
        text: Of any length; may be empty.
        remarks: Whether a remark in brackets belongs to the sentence before it.
    """
    spans: list[tuple[int, int]] = []
    broken = list(broken_numbers(text))
    for start, end in _sentence_spans(text):
        began = spans[-1][0] if spans else 0
        before = text[began:start] if spans else ""
        lead = text[max(began - 3, 0) : began].rpartition("\n")[2].strip()
        if spans and (
            _runs_on(before, text[start:end], lead)
            or (remarks and _is_remark(before, text[start:end]))
            or _is_open(before, text[start:end])
            or _is_within(start, broken)
        ):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


_CLAUSE = re.compile("[，；,;]")


def sentence_around(text: str, start: int, end: int, *, longest: int) -> tuple[int, int]:
    """Return (start, end) of the sentences around a span, without surrounding blanks.

    If they have more than `longest` characters, the clauses around it; else those on its lines; the
    span if they have, too.

    >>> sentence_around("甲。 乙丙丁。戊", 4, 5, longest=9)
    (3, 7)
    >>> sentence_around("甲乙丙丁，戊己，庚辛，壬癸子丑。", 6, 7, longest=8)
    (5, 11)
    """
    low = max(start - longest, 0)
    window = text[low : end + longest]
    for spans in (joined_spans(window, remarks=False), sentence_spans(window)):
        within = [(low + a, low + b) for a, b in spans if low + a < end and start < low + b]
        first, last = (within[0][0], within[-1][1]) if within else (start, end)
        found = text[first:last]
        first, last = first + len(found) - len(found.lstrip()), first + len(found.rstrip())
        if last - first <= longest:
            return first, last
        marks = [first, *(first + m.end() for m in _CLAUSE.finditer(found)), last]
        begins = [m for m in marks if start - longest // 2 <= m <= start]
        ends = [m for m in marks if begins and end <= m <= begins[0] + longest]
        if ends:
            return begins[0], ends[-1]
    return start, end


def _sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield sentence spans; an ASCII period ends one only in texts without 。."""
    points = [m.end() for m in _POINT.finditer(text)] if "。" not in text else []
    rows = [m.span() for m in _ROW.finditer(text)]
    spans = sentence_spans(text)
    if rows:  # a row of a table is one sentence, whatever its cells hold
        edges = {edge for row in rows for edge in row}
        ends = {end for _, end in spans if not _is_within(end, rows)} | edges
        spans = list(pairwise(sorted(ends | {0, len(text)})))
    whole = set(rows)
    for start, end in spans:
        inside = points[bisect_right(points, start) : bisect_left(points, end)]
        inside = [] if (start, end) in whole else inside
        yield from pairwise([start, *inside, end])


def _is_within(offset: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Return whether an offset is strictly inside one of some ordered spans."""
    before = bisect_left(spans, (offset,)) - 1
    return before >= 0 and offset < spans[before][1]


def _is_open(before: str, text: str) -> bool:
    """Return whether a bracket stays open between two pieces: （牵头：甲局；配合：乙局）."""
    opened = before.rfind("（", -_LONGEST_REMARK)
    if opened < 0 or "）" in before[opened:]:
        return False
    closed = text.find("）", 0, _LONGEST_REMARK)
    return closed >= 0 and "（" not in text[:closed]


def _is_remark(before: str, text: str) -> bool:
    """Return whether a piece is a remark in brackets on the sentence before it: （责任单位：…）."""
    return not before.endswith("\n") and _REMARK.match(text) is not None


def _runs_on(text: str, following: str, lead: str) -> bool:
    """Return whether the next line belongs to the same sentence.

    Args:
        text: A piece to the end of its line.
        following: The next.
        lead: The end of what stands before the piece on its line: after a sentence is no heading.
    """
    bare = text.rstrip()
    if not bare or not text.endswith("\n") or _FLAT_ROW.search(bare):
        return False
    if is_row(bare) or is_row(following):
        return False
    if bare[-1] in _LEAD_IN + "，、,（(":
        return True
    if following.lstrip()[:1].islower() and bare[-1] not in ".!?;:":
        return True  # where letters have cases, a sentence begins with a capital
    return not _begins_anew(bare, following) and _was_broken(bare, following.lstrip(), lead)


def _begins_anew(bare: str, following: str) -> bool:
    """Return whether a line is complete, or the next one begins a section or an item."""
    next_line = following.lstrip()
    if bare[-1] in _CLOSES or _BEGINS.match(following) or _LABEL.match(next_line):
        return True
    mark = item_end(next_line)
    return bool(mark and not _SPOKEN_OF.match(next_line, mark))


def _was_broken(bare: str, next_line: str, lead: str) -> bool:
    """Return whether a line without a mark at its end was broken: it is long, and no heading."""
    in_english = bare[-1].isascii() and bare[-1].islower()
    if len(bare) > _LONG or (in_english and _CONTINUES_IN_ENGLISH.match(next_line)):
        return True
    if numbering_at(bare) or _LABEL.match(bare) or not _CONTINUES.match(next_line):
        return False
    if lead:
        return lead[-1] in _ENDS and "\n" not in bare
    return len(bare) >= _WRAPPED and "，" in bare
