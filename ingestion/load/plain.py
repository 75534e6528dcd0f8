"""Plain text and Markdown files: the decoded file, without characters that nobody sees.

Front matter, and comments of Markdown, are blanks of the same length: no reader sees them.
"""

import re
from dataclasses import replace
from itertools import islice, takewhile

from kgrag.files.encoding import decode
from kgrag.ingestion.load.parsed import (
    Parsed,
    line_segments,
    numbered_lines,
    replace_unusable,
    visible,
)
from kgrag.ingestion.load.title import guess_title

_HEADING = re.compile(r"^ {0,3}#[ \t]+(?P<title>[^\r\n]*)$", re.MULTILINE)
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_NOT_BREAK = re.compile(r"[^\r\n]")
_MARKS = re.compile(r"[*_`]+|!?\[([^\[\]]*)\]\([^)]{0,500}\)")
_FENCE = re.compile(r"(?:-{3,}|\+{3,})\s*")
_MOST_LINES = 40
_LEAST = 2  # lines without a fence that make a head
_LONGEST = 400  # characters of a value
_KEYS = {
    "title": "title",
    **dict.fromkeys(("date", "pubdate", "published", "publish_date", "issued"), "date"),
    **dict.fromkeys(("issuer", "issuers", "publisher", "agency"), "issuer"),
    **dict.fromkeys(("number", "doc_number", "document_number"), "number"),
    **{key: key for key in ("source", "url", "written", "effective", "expires", "region")},
    **dict.fromkeys(("doc_type", "doctype"), "doc_type"),
}
_LINE = re.compile(r"(?P<key>[A-Za-z_-]{2,20})\s*+[:=：]\s*+(?P<value>(?:\S++|\s++(?=\S))*+)\s*+")


def read_plain(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a text file's content, without byte order mark; of its front matter blanks are left.

    Raises:
        IngestionError: It is not text.
    """
    return _read(data, name=name, stem=stem)[0]


def _read(data: bytes, *, name: str, stem: str) -> tuple[Parsed, bool]:
    """Return a text file's content, and whether its front matter has the title."""
    decoded = decode(data, name=name)
    text, warnings = replace_unusable(visible(decoded.text))
    told = front_matter(text)
    head = _head(text)[1]
    text = _NOT_BREAK.sub(" ", text[:head]) + text[head:]
    title = told.pop("title", "")
    parsed = Parsed(
        text=text,
        title=title or guess_title(text, stem),
        segments=line_segments(text),
        warnings=(*decoded.warnings, *warnings),
        properties={"encoding": decoded.encoding, **told},
    )
    return parsed, bool(title)


def read_markdown(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a Markdown file's content, marks included; its first heading of level 1 is the title.

    Comments are blanks.

    Raises:
        IngestionError: It is not text.
    """
    parsed, has_title = _read(data, name=name, stem=stem)
    text = _COMMENT.sub(lambda m: _NOT_BREAK.sub(" ", m[0]), parsed.text)
    parsed = replace(parsed, text=text, segments=line_segments(text))
    if has_title:
        return parsed
    # Same length, so that a `# comment` inside a code block is no title.
    outside = _FENCED.sub(lambda m: " " * len(m[0]), parsed.text)
    outside = outside.replace("\r\n", " \n").replace("\r", "\n")
    for match in _HEADING.finditer(outside):
        bare = match["title"].rstrip(" \t").rstrip("#")
        title = _MARKS.sub(lambda m: m[1] or "", bare).strip()
        if title:
            if title.isascii() and title.isupper():
                title = guess_title(outside[match.start() :], title)
            return replace(parsed, title=title)
    return parsed


def front_matter(text: str) -> dict[str, str]:
    r"""Return the front matter of a text file (`title: …`, fenced by --- or not), by known keys.

    Lists and nested values are left out.

    >>> front_matter("---\ntitle: '节能办法'\ndate: 2022-03-05\ntags: [甲]\n---\n第一条")
    {'title': '节能办法', 'date': '2022-03-05'}
    >>> front_matter("title: 节能办法\nurl: http://a\n第一条")
    {'title': '节能办法', 'url': 'http://a'}
    >>> front_matter("Note: 第一条")
    {}
    """
    found: dict[str, str] = {}
    for match in _head(text)[0]:
        key = _KEYS.get(match["key"].casefold(), "")
        value = match["value"].strip("\"'").strip()
        if key and value and len(value) <= _LONGEST and key not in found:
            found[key] = value
    return found


def _head(text: str) -> tuple[list[re.Match[str]], int]:
    """Return the fields of a fenced head, or of first lines, and where it ends.

    Two of such lines have known keys; others have keys in small letters, as programs write them.
    """
    found = islice(numbered_lines(text), _MOST_LINES)
    lines = [(text[start:end].strip("\ufeff "), end) for _, start, end in found]
    if lines and _FENCE.fullmatch(lines[0][0]):
        inside = list(takewhile(lambda line: not _FENCE.fullmatch(line[0]), lines[1:]))
        matches = [match for line, _ in inside if (match := _LINE.fullmatch(line))]
        is_head = matches and len(inside) + 1 < len(lines)
        return (matches, lines[len(inside) + 1][1]) if is_head else ([], 0)
    matches = []
    for match in map(_LINE.fullmatch, (line for line, _ in lines)):
        if not match or not (_is_known(match) or match["key"].islower()):
            break
        matches.append(match)
    is_head = sum(map(_is_known, matches)) >= _LEAST
    return (matches, lines[len(matches) - 1][1]) if is_head else ([], 0)


def _is_known(field: re.Match[str]) -> bool:
    return field["key"].casefold() in _KEYS
