"""The lines of a document that may be headings, and their kinds."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kgrag.ingestion.structure.contents import is_contents_line
from kgrag.text.numbering import (
    ANNEX,
    ARTICLE,
    ATTACHMENT,
    BOX,
    DIVISIONS,
    OPENING,
    Numbering,
    numbering_at,
)
from kgrag.text.vocabulary import DOCUMENT_KINDS

# title: a title on a line of its own; lead: a title before the text of its paragraph; sentence:
# one sentence to its full stop; item: of a running list; text: a paragraph without a title.
Form = Literal["title", "lead", "sentence", "item", "text"]

CAPTIONED = frozenset((ATTACHMENT, ANNEX, BOX))
_ALONE = DIVISIONS | {"chinese", "bracketed chinese"}  # whose title may stand on the next line
_LONGEST_TITLE = 60  # characters, of a line of its own
_LONGEST_LEAD = 45  # of a title before its text
_LONGEST_BELOW = 40  # of a line of a title that stands below its mark
_MOST_TITLE_LINES = 3
_LEAST_TEXT = 12
_OPENING = re.compile(r"(?P<level>#{1,6}(?=\s))?\s*(?P<emphasis>(?:\*{1,3}|_{1,3})(?=\S))?")
# Some texts end their sentences with an ASCII stop, and begin the next at once.
_STOP = re.compile(
    r"[。；;！？!?ꎮ]|(?<=[^\W\d_])\.(?=\s+[A-Z]|$)|(?<=[一-鿿”）)])[.．](?=[一-鿿“])"
)
_COLON = re.compile(r"[：:]")
_SENTENCE_MARKS = re.compile(r"[。；;！？，]")
_WORDS = re.compile(r"[一-鿿]{2}|[A-Za-z]{3}")
_OF_A_SITE = re.compile(r"[#\s]*(?:政策|文件)?(?:全文|正文|原文|内容)(?:下载)?$")
_BLANKS = re.compile(r"\s+")
_FIGURES = re.compile(r"\s[\d.,%]+\s+[\d.,%\[\]]+|(?:约束性|预期性|导向性)$")
_NO_TITLE = re.compile(
    r"[\W\d]*$|——|目\s*[录次]$|\||[（(]?(?:单位|注)[：:]|\d{4}年\d{1,2}月|.{0,30}号[）)]?$"
)
_TITLE_KIND = re.compile(
    rf"(?:{DOCUMENT_KINDS}|表|图|要求|说明|分工|目标|体系|书|模板|格式|内容|范围|流程|名册|汇总|项目|任务|样式)"
    r"(?:[（(][^（）()]*[）)])?$"
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line with a mark, or declared as a heading.

    Attributes:
        at: Index among the non-empty lines.
        last: Index of the heading's last line.
        family: Kind of its mark; empty without one.
        number: Of the mark, (0,) for none.
        stated: Level that the format declares, 0 for none.
        form: Kind of line.
        start: Offset of the heading in the document.
        end: Offset after it.
        title: The heading on one line.
        boxed: Whether it is a box (专栏) or in one.
    """

    at: int
    last: int
    family: str
    number: tuple[int, ...]
    stated: int
    form: Form
    start: int
    end: int
    title: str
    boxed: bool = False


@dataclass(frozen=True, slots=True)
class Lines:
    """The non-empty lines of a document.

    Attributes:
        text: The document.
        starts: Offset of the first character of each.
        bodies: Stripped.
        marks: The mark of each, after Markdown's.
    """

    text: str
    starts: Sequence[int]
    bodies: Sequence[str]
    marks: Sequence[Numbering | None]

    def end(self, at: int) -> int:
        """Return the offset after a line."""
        return self.starts[at] + len(self.bodies[at])


def lines_of(text: str) -> Lines:
    """Return the non-empty lines of a text."""
    starts, bodies, marks, start = [], [], [], 0
    for part in text.splitlines(keepends=True):
        if body := part.strip():
            starts.append(start + len(part) - len(part.lstrip()))
            bodies.append(body)
            marks.append(numbering_at(body, _opening(body)[2]))
        start += len(part)
    return Lines(text, starts, bodies, marks)


def _opening(body: str) -> tuple[str, str, int]:
    """Return Markdown before a line: #, emphasis, and where both end."""
    match = _OPENING.match(body)
    return (match["level"] or "", match["emphasis"] or "", match.end()) if match else ("", "", 0)


def marked_lines(
    lines: Lines, contents: Collection[int], stated: Mapping[int, int]
) -> Iterator[Line]:
    """Yield the lines that may be headings.

    Args:
        lines: Of the document.
        contents: Indexes of tables of contents.
        stated: Declared levels by offset of the paragraph.
    """
    taken = -1
    for at, body in enumerate(lines.bodies):
        if at <= taken or at in contents:
            continue
        markdown, emphasis, _ = _opening(body)
        level = len(markdown) if markdown else stated.get(lines.starts[at], 0)
        mark = lines.marks[at]
        if not (mark or level) or (level and _OF_A_SITE.match(body)):
            continue
        form: Form | None = "title"
        length, last = len(body), at
        if mark and not level:
            form, length, last = _read(lines, at, mark, contents, emphasis)
        if form is None:
            continue
        taken = last
        start, end = lines.starts[at], lines.starts[at] + length if last == at else lines.end(last)
        title = _bare_title(lines.text[start:end])
        family, number = (mark.family, mark.number) if mark else ("", (0,))
        yield Line(at, last, family, number, level, form, start, end, title)


def _bare_title(text: str) -> str:
    """Return a heading on one line, without the Markdown around it."""
    title = _BLANKS.sub(" ", text.lstrip("#")).strip()
    return title.strip("*_").strip() if title[:1] in "*_" else title


def _read(
    lines: Lines, at: int, mark: Numbering, contents: Collection[int], emphasis: str
) -> tuple[Form | None, int, int]:
    """Return the kind of a line, the length of its heading and its last line."""
    body = lines.bodies[at]
    closing = body.find(emphasis, mark.end) if emphasis else -1
    if closing > mark.end:
        return "title", closing, at
    if mark.family == OPENING:
        return "title", len(body), at
    if mark.family == ARTICLE:
        # an English article has its title on its line
        is_title = body.isascii() and _form(body, mark.end)[0] == "title"
        return "title", len(body) if is_title else len(body[: mark.end].rstrip()), at
    return _read_rest(lines, at, mark, contents)


def _read_rest(
    lines: Lines, at: int, mark: Numbering, contents: Collection[int]
) -> tuple[Form | None, int, int]:
    """Return the same of a caption, or of a line with the number of an item."""
    body = lines.bodies[at]
    rest = body[mark.end :].strip(" 　：:．.、】]")
    if mark.family in CAPTIONED:
        is_text = len(body) > _LONGEST_TITLE or _SENTENCE_MARKS.search(body) is not None
        most = 0 if rest or is_text else 1 if mark.family == BOX else _MOST_TITLE_LINES
        last = _title_below(lines, at, contents, most=most)
        return (None if is_text else "title"), len(body), last
    if not rest:
        last = _title_below(lines, at, contents, most=1) if mark.family in _ALONE else at
        return ("title" if last > at else None), len(body), last
    is_none = _FIGURES.search(body) or is_contents_line(body) or not _WORDS.search(body, mark.end)
    return (None, 0, at) if is_none else (*_form(body, mark.end), at)


def _form(body: str, begin: int) -> tuple[Form, int]:
    """Return the kind of a numbered line, and the length of its heading."""
    # a Latin word takes twice the characters of a Chinese one
    longest, longest_lead = _LONGEST_TITLE, _LONGEST_LEAD
    if body.isascii():
        longest = longest_lead = 2 * _LONGEST_TITLE
    stop = _STOP.search(body, begin)
    if stop is None:
        return _form_of_line(body, begin, longest)
    end = stop.start()
    if stop.group() in "；;":
        return "item", end
    colon = _COLON.search(body, begin, end)
    if colon and colon.start() <= longest_lead:
        return "text", colon.start()
    if stop.end() >= len(body):
        return ("sentence" if end <= longest else "text"), end
    return ("lead" if end <= longest_lead else "text"), end


def _form_of_line(body: str, begin: int, longest: int) -> tuple[Form, int]:
    """Return the same of a line without the mark of a sentence's end."""
    colon = _COLON.search(body, begin)
    at, behind = (colon.start(), len(body) - colon.end()) if colon else (len(body), 0)
    if behind > max(at - begin, _LEAST_TEXT):
        return "text", at
    return ("title" if len(body) <= longest else "text"), len(body) if behind else at


def _title_below(lines: Lines, at: int, contents: Collection[int], *, most: int) -> int:
    """Return the last line of the title that begins on the next line; `at` for none."""
    found = at
    for i in range(at + 1, min(at + 1 + most, len(lines.bodies))):
        body = lines.bodies[i]
        if (
            i in contents
            or lines.marks[i]
            or len(body) > _LONGEST_BELOW
            or _SENTENCE_MARKS.search(body)
            or _NO_TITLE.match(body)
        ):
            break
        is_whole = _TITLE_KIND.search(body)
        if found == at or is_whole:
            found = i
        if is_whole:
            break
    return found
