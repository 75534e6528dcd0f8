"""Find the heading tree of an official document."""

import re
from collections.abc import Sequence

from kgrag.types import Heading, Segment

_CN = "一二三四五六七八九十百零〇两"
_MAX_HEADING = 60  # characters; a longer line is a paragraph that begins with a number

# (rank, pattern), tried in order. The rank is the place in the nesting that Chinese official
# documents share: 附件 > 编 > 章 > 节 > 条 and 一、 > （一） > 1. > （1） > 专栏.
_MARKERS: tuple[tuple[int, re.Pattern[str]], ...] = (
    (1, re.compile(r"附\s*[件录表]\s*[\d一二三四五六七八九十]{0,3}\s*(?:[：:．.、]|\s|$)")),
    (2, re.compile(rf"第\s*[{_CN}\d]{{1,4}}\s*(?:编|部分|篇)(?=[\s：:、]|[^\W\d]|$)")),
    (3, re.compile(rf"第\s*[{_CN}\d]{{1,4}}\s*章")),
    (4, re.compile(rf"第\s*[{_CN}\d]{{1,4}}\s*节")),
    (5, re.compile(rf"第\s*[{_CN}\d]{{1,5}}\s*条(?!例|款)")),
    (5, re.compile(rf"[{_CN}]{{1,4}}\s*[、．.]")),
    (6, re.compile(rf"[（(]\s*[{_CN}]{{1,4}}\s*[）)]")),
    (7, re.compile(r"\d{1,2}\s*(?:[、．]|\.(?!\d))")),
    (8, re.compile(r"[（(]\s*\d{1,2}\s*[）)]|[①-⑳]|\d{1,2}[）)]")),
    (9, re.compile(r"专\s*栏\s*[\d一二三四五六七八九十]{0,3}")),
)
_ARTICLE = re.compile(rf"第\s*[{_CN}\d]{{1,5}}\s*条(?!例|款)")
_MARKDOWN = re.compile(r"(#{1,6})\s+(\S.*)$")
_CONTENTS_LINE = re.compile(r"(?:[.．…·‥]\s*){2,}[-—\d\s]*$|[\s　]\d{1,3}\s*$")
_RUN_IN_END = re.compile(r"[。：:；;！？]")
_BLANKS = re.compile(r"\s+")


def structure(text: str, segments: Sequence[Segment] = ()) -> list[Heading]:
    r"""Return the headings of a document in text order, levels counted from 1 without gaps.

    A heading is a line, or the first sentence of a paragraph, that begins with a marker of the
    nesting (章/节/条, 一、 （一） 1. （1）, 专栏, 附件) or with Markdown's #. Lines of a table of
    contents (dot leaders, page number at the end) are left out.

    Args:
        text: The document's text.
        segments: Of the document: a paragraph with a level is a heading, as its format states.
            A numbered one keeps the place that its number gives it.

    >>> [(h.level, h.text) for h in structure("一、总体要求\n（一）目标。到2025年。")]
    [(1, '一、总体要求'), (2, '（一）目标')]
    """
    found: list[tuple[int, int, int, str]] = []
    stated = {segment.start: segment.level for segment in segments if segment.level}
    offset = 0
    for line in text.splitlines(keepends=True):
        level = stated.get(offset + len(line) - len(line.lstrip()), 0)
        heading = _stated(line, level) if level else _heading_of_line(line)
        if heading is not None:
            rank, start, end = heading
            title = _BLANKS.sub(" ", line[start:end]).strip().lstrip("#").strip()
            found.append((rank, offset + start, offset + end, title))
        offset += len(line)
    return _with_dense_levels(found)


def _stated(line: str, level: int) -> tuple[int, int, int] | None:
    """Return (rank, start, end) of a line that its format calls a heading."""
    start = len(line) - len(line.lstrip())
    marker = _rank(line.strip())
    return (marker[0] if marker else level), start, start + len(line.strip())


def _heading_of_line(line: str) -> tuple[int, int, int] | None:
    """Return (rank, start, end) of the heading in a line, offsets within the line."""
    start = len(line) - len(line.lstrip())
    body = line.strip()
    if not body:
        return None
    markdown = _MARKDOWN.match(body)
    if markdown:
        inner = _rank(markdown.group(2))
        # A numbered Markdown heading keeps the place that its number gives it.
        rank = inner[0] if inner else len(markdown.group(1))
        return rank, start, start + len(body)
    marker = _rank(body)
    if marker is None or is_contents_line(body):
        return None
    if marker[0] >= 6 and body[-1] in "；;、，":  # an item of a running list
        return None
    length = _heading_length(body, marker)
    return (marker[0], start, start + length) if length else None


def _rank(body: str) -> tuple[int, int] | None:
    """Return (rank, length of the marker) of a line that begins with one."""
    for rank, pattern in _MARKERS:
        match = pattern.match(body)
        if match:
            return rank, match.end()
    return None


def _heading_length(body: str, marker: tuple[int, int]) -> int:
    """Return how many characters of a line are its heading; 0 for none."""
    rank, marker_end = marker
    article = _ARTICLE.match(body)
    if article:  # an article's text follows its number directly
        return article.end()
    if rank == 1 and len(body) > _MAX_HEADING:
        return 0
    stop = _RUN_IN_END.search(body, marker_end)
    length = stop.start() if stop else len(body)
    if length > _MAX_HEADING or length <= marker_end:
        return len(body) if rank == 1 and len(body) <= _MAX_HEADING else 0
    return length


def _with_dense_levels(found: Sequence[tuple[int, int, int, str]]) -> list[Heading]:
    levels = {rank: i for i, rank in enumerate(sorted({f[0] for f in found}), 1)}
    return [Heading(start, end, levels[rank], title) for rank, start, end, title in found]


def is_contents_line(line: str) -> bool:
    """Return whether a line stands in a table of contents: dot leaders, or a page at its end.

    >>> is_contents_line("一、总体要求 ........ 3"), is_contents_line("一、总体要求")
    (True, False)
    """
    return _CONTENTS_LINE.search(line) is not None
