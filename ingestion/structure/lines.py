"""The lines of a document that may be headings, and what kind of line each one is."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kgrag.ingestion.structure.contents import is_contents_line
from kgrag.ingestion.structure.markers import (
    ANNEX,
    ARTICLE,
    ATTACHMENT,
    BOX,
    DIVISIONS,
    OPENING,
    Marker,
    read_marker,
)  # fmt: skip

# title: a title on a line of its own; lead: a title before the text of its paragraph; sentence:
# one sentence to its full stop; item: of a running list; text: a paragraph without a title.
Form = Literal["title", "lead", "sentence", "item", "text"]

_ALONE = DIVISIONS | {"chinese", "bracketed chinese"}  # whose title may stand on the next line
LONGEST_TITLE = 60  # characters, of a line of its own
LONGEST_LEAD = 45  # of a title before its text
_LONGEST_ENGLISH = 120
_LONGEST_STATED = 120
_MOST_TITLE_LINES = 3
_MARKDOWN = re.compile(r"(#{1,6})\s+(?=\S)")
_EMPHASIS = re.compile(r"(?:\*{1,3}|_{1,3})(?=\S)")
# Some texts end their sentences with an ASCII stop, and begin the next at once.
_STOP = re.compile(
    r"[。；;！？!?ꎮ]|(?<=[^\W\d_])\.(?=\s+[A-Z]|$)|(?<=[一-鿿”）)])[.．](?=[一-鿿“])"
)
_COLON = re.compile(r"[：:]")
_SENTENCE_MARKS = re.compile(r"[。；;！？，]")
_ASIDE = re.compile(r"[（(][^（）()]{2,12}[）)]$")  # （资料性附录）
_WORDS = re.compile(r"[一-鿿]{2}|[A-Za-z]{3}")
_OF_A_SITE = re.compile(r"[#\s]*(?:政策|文件)?(?:全文|正文|原文|内容)(?:下载)?$")
_BLANKS = re.compile(r"\s+")
_BROKEN = re.compile(r"(?:[、，和及与的或]|[（《“][^）》”]*)$")
_FIGURES = re.compile(r"\s[\d.,%]+\s+[\d.,%\[\]]+|(?:约束性|预期性|导向性)\s*$")
_NO_TITLE = re.compile(
    r"[\W\d]*$|——|目\s*[录次]\s*$|\||[（(]?(?:单位|注)[：:]|\d{4}年\d{1,2}月|[一二〇○零]{2,}.{0,4}年|.{0,30}号[）)]?$"
)
_TITLE_KIND = re.compile(
    r"(?:通知|意见|方案|规划|计划|办法|条例|细则|要点|清单|名单|目录|表|图|标准|规范|导则|指南|指引|规定|规则"
    r"|要求|说明|分工|目标|体系|书|模板|格式|内容|范围|流程|名册|汇总|项目|任务|措施|大纲|纲要|样式)"
    r"(?:[（(][^（）()]*[）)])?$"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a document that begins with a mark or is stated to be a heading.

    Attributes:
        at: Position among the lines.
        marker: What it begins with; None for a stated heading without.
        stated: Level that the format states, 0 for none.
        form: What kind of line it is.
        start: Offset of the heading in the document.
        end: Offset after it.
        title: The heading on one line.
        last: Position of the last line that the heading fills.
        boxed: Whether it is a box (专栏) or stands in one.
    """

    at: int
    marker: Marker | None
    stated: int
    form: Form
    start: int
    end: int
    title: str
    last: int
    boxed: bool = False

    @property
    def family(self) -> str:
        """Return the kind of mark, empty for none."""
        return self.marker.family if self.marker else ""

    @property
    def number(self) -> tuple[int, ...]:
        """Return what the mark counts, (0,) for none."""
        return self.marker.number if self.marker else (0,)


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of a document.

    Attributes:
        text: The document.
        starts: Offset of each line.
        lines: With their ends.
        contents: Positions of lines of tables of contents.
        filled: Positions of lines that are not blank, in order.
    """

    text: str
    starts: Sequence[int]
    lines: Sequence[str]
    contents: frozenset[int]
    filled: Sequence[int]

    def next_filled(self, at: int) -> int | None:
        """Return the position of the next line that is not blank."""
        after = bisect_right(self.filled, at)
        return self.filled[after] if after < len(self.filled) else None

    def filled_before(self, at: int) -> int | None:
        """Return the position of the last line before that is not blank."""
        before = bisect_left(self.filled, at)
        return self.filled[before - 1] if before else None


def marked_lines(lines: Lines, stated: Mapping[int, int]) -> Iterator[Line]:
    """Yield the lines that may be headings.

    Args:
        lines: Of the document.
        stated: Levels that the format states, by offset of the paragraph's first character.
    """
    taken = -1
    for i, line in enumerate(lines.lines):
        if i <= taken or i in lines.contents or not line.strip():
            continue
        found = _read(lines, i, stated)
        if found is not None:
            taken = found.last
            yield found


def bare(line: str) -> str:
    """Return a line without the marks of Markdown around it."""
    body = line.strip()
    match = _MARKDOWN.match(body)
    body = body[match.end() :] if match else body
    match = _EMPHASIS.match(body)
    return body[match.end() :] if match else body


def _read(lines: Lines, at: int, stated: Mapping[int, int]) -> Line | None:
    line = lines.lines[at]
    blanks = len(line) - len(line.lstrip())
    level = stated.get(lines.starts[at] + blanks, 0)
    body = line.strip()
    markdown = _MARKDOWN.match(body)
    if markdown:
        level = len(markdown.group(1))
    if level and _OF_A_SITE.match(body):
        return None
    if len(body) > _LONGEST_STATED:
        level = 0
    opening = markdown.end() if markdown else 0
    emphasis = _EMPHASIS.match(body, opening)
    inner = emphasis.end() if emphasis else opening
    marker = read_marker(body[inner:])
    if marker is not None:
        marker = Marker(marker.family, marker.number, marker.end + inner)
    if marker is None and not level:
        return None
    closing = body.find(emphasis.group(), inner) if emphasis else -1
    start = lines.starts[at] + blanks
    if level or (marker and closing > marker.end):
        end = closing if closing > 0 and not level else len(body)
        return _line(lines, at, marker, level, "title", (start, start + end), at)
    assert marker is not None
    if marker.family == BOX or marker.family in (ATTACHMENT, ANNEX):
        return _captioned(lines, at, marker, start, body)
    return _numbered(lines, at, marker, start, body)


def _numbered(lines: Lines, at: int, marker: Marker, start: int, body: str) -> Line | None:
    if marker.family == ARTICLE:
        end = start + len(body[: marker.end].rstrip())
        return _line(lines, at, marker, 0, "title", (start, end), at)
    if marker.family == OPENING:
        return _line(lines, at, marker, 0, "title", (start, start + len(body)), at)
    if marker.end == len(body):
        following = _title_below(lines, at, most=1) if marker.family in _ALONE else None
        if following is None:
            return None
        end = lines.starts[following] + len(lines.lines[following].rstrip())
        return _line(lines, at, marker, 0, "title", (start, end), following)
    if _FIGURES.search(body) and marker.family not in DIVISIONS:
        return None
    if is_contents_line(body) or not _WORDS.search(body, marker.end):
        return None
    form, length = _form(body, marker)
    last = at
    end = start + length
    if form == "item" and body[-1] in "、，" and len(body) <= LONGEST_TITLE:
        joined = _joined(lines, at, marker)
        if joined is not None:
            form, end, last = joined
    return _line(lines, at, marker, 0, form, (start, end), last)


def _form(body: str, marker: Marker) -> tuple[Form, int]:
    """Return what kind of line a numbered one is, and the length of its heading."""
    stop = _STOP.search(body, marker.end)
    english = body.isascii()
    longest = _LONGEST_ENGLISH if english else LONGEST_TITLE
    if stop is None:
        if body[-1] in "、，,":
            return "item", len(body)
        colon = _COLON.search(body, marker.end)
        if colon and colon.end() == len(body):
            return ("title", colon.start()) if colon.start() <= longest else ("text", len(body))
        if colon and "，" not in body[: colon.start()]:
            lead = colon.start() - marker.end
            rest = len(body) - colon.end()
            if rest > lead and rest > 12:
                return "text", colon.start()
        return ("title" if len(body) <= longest else "text"), len(body)
    if stop.group() in ("；", ";"):
        return "item", stop.start()
    colon = _COLON.search(body, marker.end, stop.start())
    if colon and colon.start() <= LONGEST_LEAD:
        return "text", colon.start()
    if stop.end() >= len(body):
        return ("sentence" if stop.start() <= longest else "text"), stop.start()
    if stop.start() > (longest if english else LONGEST_LEAD):
        return "text", stop.start()
    return "lead", stop.start()


def _joined(lines: Lines, at: int, marker: Marker) -> tuple[Form, int, int] | None:
    """Return form, end and last line of a heading that goes on upon the next line."""
    following = lines.next_filled(at)
    if following is None or following in lines.contents:
        return None
    line = lines.lines[following]
    below = line.strip()
    if read_marker(bare(line)) is not None:
        return None
    stop = _STOP.search(below)
    length = stop.start() if stop else len(below)
    whole = len(lines.lines[at].strip()) + length
    if whole > LONGEST_TITLE or (stop and stop.group() in ";；"):
        return None
    start = lines.starts[following] + len(line) - len(line.lstrip())
    return ("lead" if stop else "title"), start + length, following


def _captioned(lines: Lines, at: int, marker: Marker, start: int, body: str) -> Line | None:
    """Return an attachment or box, with the title that stands on the lines below its mark."""
    rest = body[marker.end :].strip(" 　：:．.、】]")
    if len(body) > LONGEST_TITLE or _SENTENCE_MARKS.search(body) or rest.startswith(("）", ")")):
        return None
    last = at
    end = start + len(body)
    if not rest:
        most = _MOST_TITLE_LINES if marker.family != BOX else 1
        below = _title_below(lines, at, most=most)
        if below is not None:
            last = below
            end = lines.starts[below] + len(lines.lines[below].rstrip())
    return _line(lines, at, marker, 0, "title", (start, end), last)


def _title_below(lines: Lines, at: int, *, most: int) -> int | None:
    """Return the last line of the title that begins on the next line, if one does."""
    found = None
    i = at
    for _ in range(most):
        following = lines.next_filled(i)
        if following is None or following in lines.contents:
            break
        body = lines.lines[following].strip()
        marked = read_marker(bare(body))
        if (
            marked
            or len(body) > 40
            or _SENTENCE_MARKS.search(body)
            or _NO_TITLE.match(body)
            or body[-1] in "：:"
        ):
            break
        i = following
        if _ASIDE.match(body):
            found = following
            continue
        if found is None or _TITLE_KIND.search(body):
            found = following
        if _TITLE_KIND.search(body):
            break
    return found


def _line(
    lines: Lines,
    at: int,
    marker: Marker | None,
    stated: int,
    form: Form,
    span: tuple[int, int],
    last: int,
) -> Line:
    shown = lines.text[span[0] : span[1]]
    title = _BLANKS.sub(" ", shown).strip().lstrip("#").strip()
    title = title.strip("*_").strip() if title[:1] in "*_" else title
    return Line(at, marker, stated, form, span[0], span[1], title, last)
