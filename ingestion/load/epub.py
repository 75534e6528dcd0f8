"""Electronic books (`.epub`): their chapters in order, each read as a page."""

import posixpath
from dataclasses import replace
from urllib.parse import unquote

from kgrag.errors import IngestionError
from kgrag.ingestion.load.html import read_html
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.ingestion.load.word.package import DAMAGED, NotWordError, WordPackage, open_package
from kgrag.text.messages import message
from kgrag.types import Segment

_CONTAINER = "META-INF/container.xml"
_RIGHTS = "meta-inf/rights.xml"


def read_epub(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return the chapters of a book (EPUB 3.3, sections 4 and 5), a paragraph a line.

    Title and author are those that the book states; pictures are left out.

    Raises:
        IngestionError: It is damaged, locked for other readers, too large, or no book.
    """
    try:
        package = open_package(data, name, _CONTAINER)
        if _RIGHTS in package.entries:
            raise NotWordError(message("its text is locked for one reader's program"))
        told, paths = _book(package)
        pages = [package.content(path) for path in paths]
    except DAMAGED as exc:
        raise IngestionError(
            "{name}: is damaged or no book ({error}); save it again as .epub, or as .html",
            name=name,
            error=exc,
        ) from exc
    texts: list[str] = []
    segments: list[Segment] = []
    start = 0
    for page in filter(bytes.strip, pages):
        chapter = read_html(page, name=name, stem=stem, is_article=True)
        if chapter.text:
            moved = (replace(s, start=s.start + start, end=s.end + start) for s in chapter.segments)
            segments += (replace(s, number=len(segments) + i) for i, s in enumerate(moved, 1))
            texts.append(chapter.text)
            start += len(chapter.text) + 1
    return Parsed(
        text="\n".join(texts),
        title=told.get("title") or stem,
        segments=tuple(segments),
        properties={"author": told["creator"]} if "creator" in told else {},
    )


def _book(package: WordPackage) -> tuple[dict[str, str], list[str]]:
    """Return title and creator of a book, and the paths of its chapters in order."""
    container = package.tree(package.main)
    place = None if container is None else container.find(".//{*}rootfile")
    path = "" if place is None else unquote(place.get("full-path", ""))
    root = package.tree(path)
    if root is None:
        raise NotWordError(message("no part holds a text"))
    found = {key: root.findtext(f".//{{*}}metadata/{{*}}{key}") for key in ("title", "creator")}
    told = {k: " ".join(replace_unusable(text)[0].split()) for k, text in found.items() if text}
    files = {item.get("id"): item.get("href", "") for item in root.iterfind("{*}manifest/{*}item")}
    chapters = (files.get(item.get("idref")) for item in root.iterfind("{*}spine/{*}itemref"))
    folder = posixpath.dirname(path)
    return told, [
        posixpath.normpath(posixpath.join(folder, unquote(href))) for href in chapters if href
    ]
