"""Markdown files: as plain text; the title is its head's, or the first heading of level 1."""

import re
from dataclasses import replace

from kgrag.ingestion.load.front_matter import front_matter
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.plain import read_plain

_HEADING = re.compile(r"^ {0,3}#[ \t]+(?P<title>[^\r\n]*)$", re.MULTILINE)
_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_MARKS = re.compile(r"[*_`]+|<!--.{0,500}?-->|!?\[([^\[\]]*)\]\([^)]{0,500}\)")


def read_markdown(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a Markdown file's content; the marks stay in the text, offsets are the file's.

    Args:
        data: The whole file.
        name: The file, for messages.
        stem: The title where the text names none.

    Raises:
        IngestionError: It is not text.
    """
    parsed = read_plain(data, name=name, stem=stem)
    if front_matter(parsed.text).get("title"):
        return parsed
    # Same length, so that a `# comment` inside a code block is no title.
    outside = _FENCED.sub(lambda m: " " * len(m[0]), parsed.text)
    outside = outside.replace("\r\n", " \n").replace("\r", "\n")
    for match in _HEADING.finditer(outside):
        bare = match["title"].rstrip(" \t").rstrip("#")
        title = _MARKS.sub(lambda m: m[1] or "", bare).strip()
        if title:
            return replace(parsed, title=title)
    return parsed
