"""Picture files: scans and photographs of pages, a TIFF with as many pages as it has."""

from kgrag.errors import IngestionError
from kgrag.ingestion.load.ocr import doubts, open_pictures, page_lines, read_page
from kgrag.ingestion.load.page_tables import Line
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.ingestion.load.progress import page_done
from kgrag.ingestion.load.reflow import reflow
from kgrag.ingestion.load.scanned import why_unread
from kgrag.ingestion.load.title import find_title, guess_title

_A4 = 842.0  # points of the longer side: a picture's own resolution is seldom true


def read_picture_file(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return the text of a picture file: a paragraph a line, a segment for every page.

    Args:
        data: A PNG, JPEG, TIFF, BMP or WebP.
        name: The file, for messages.
        stem: The title where the text names none.

    Raises:
        IngestionError: It is damaged, no text is found in it, or pictures are not read.
    """
    if why := why_unread():
        raise IngestionError(f"{name}: is a picture, and cannot be read: {why}")
    pages: list[list[Line]] = []
    warnings: list[str] = []
    try:
        for number, picture in enumerate(open_pictures(data), 1):
            page = read_page(picture)
            page_done()
            lines = page_lines(page, scale=_A4 / max(page.width, page.height))
            pages.append(lines)
            warnings += doubts(page, number) if lines else [f"page {number}: no text found"]
    except IngestionError as exc:
        raise IngestionError(f"{name}: {exc}") from exc
    text, segments = reflow(pages)
    if not text:
        raise IngestionError(f"{name}: no text is found in the picture; scan it at 200 to 300 dpi")
    text, unusable = replace_unusable(text)
    return Parsed(
        text=text,
        title=find_title(text) or guess_title(text, stem),
        segments=segments,
        warnings=(*warnings, *unusable),
    )
