"""What a text file says of itself ahead of its text: `title: …`, fenced by --- or not."""

import re
from collections.abc import Iterator

from kgrag.ingestion.load.parsed import numbered_lines

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


def front_matter(text: str) -> dict[str, str]:
    r"""Return what the head of a text file says, by the keys that metadata is read from.

    Args:
        text: The whole file. Only plain values are read; lists and what is nested are left out.

    >>> front_matter("---\ntitle: '节能办法'\ndate: 2022-03-05\ntags: [甲]\n---\n第一条")
    {'title': '节能办法', 'date': '2022-03-05'}
    >>> front_matter("title: 节能办法\nurl: http://a\n第一条")
    {'title': '节能办法', 'url': 'http://a'}
    >>> front_matter("Note: 第一条")
    {}
    """
    found: dict[str, str] = {}
    for match in _head(text):
        key = _KEYS.get(match["key"].casefold(), "")
        value = match["value"].strip("\"'").strip()
        if key and value and len(value) <= _LONGEST and key not in found:
            found[key] = value
    return found


def _head(text: str) -> Iterator[re.Match[str]]:
    """Yield the lines of a fenced head, or the first lines of which each has a known key."""
    matches: list[re.Match[str]] = []
    fenced = False
    for count, (_, start, end) in enumerate(numbered_lines(text)):
        line = text[start:end].strip("\ufeff ")
        if _FENCE.fullmatch(line):
            if fenced or count:
                break
            fenced = True
            continue
        match = _LINE.fullmatch(line)
        if match and (fenced or match["key"].casefold() in _KEYS):
            matches.append(match)
        elif not fenced:
            break
        if count > _MOST_LINES:
            matches = []
            break
    yield from matches if fenced or len(matches) >= _LEAST else ()
