"""PDF pages without a text layer that can be read, recognised as pictures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgrag.ingestion.load.ocr import doubts, is_off, page_lines, read_page
from kgrag.ingestion.load.ocr.engine import NOT_INSTALLED, is_installed
from kgrag.ingestion.load.page_tables import Line
from kgrag.ingestion.load.progress import page_done

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

    from kgrag.ingestion.load.ocr.page_text import Picture

_DPI = 200
_LONGEST = 3000  # pixels of a page's longer side: posters and screens are no larger on paper


@dataclass(frozen=True, slots=True)
class Recognised:
    """A page that was read as a picture.

    Attributes:
        lines: From the top, in points.
        warnings: What was read with doubt.
    """

    lines: list[Line]
    warnings: list[str]


def why_unread() -> str:
    """Return why pictures are not read, with the remedy; empty where they are."""
    if is_off():
        return "recognition of pictures is off (ingest.ocr)"
    return "" if is_installed() else NOT_INSTALLED


def recognised(document: "PdfDocument", numbers: Sequence[int]) -> Iterator[tuple[int, Recognised]]:
    """Yield (number, what is read) of pages; nothing where pictures are not read.

    Args:
        document: It stays open meanwhile. PDFium is entered by one thread at a time: the caller
            sees to it.
        numbers: Of pages, from 1; one that shows nothing is left out.
    """
    if why_unread():
        return
    for number in numbers:
        picture, scale = _rendered(document, number)
        if picture is None:
            continue
        page = read_page(picture)
        page_done()
        lines = page_lines(page, scale=1 / scale)
        if lines:
            yield number, Recognised(lines, doubts(page, number))


def _rendered(document: "PdfDocument", number: int) -> tuple["Picture | None", float]:
    """Return a page as a picture and its pixels a point; None for a page that shows nothing."""
    page = document[number - 1]
    try:
        if next(iter(page.get_objects(max_depth=1)), None) is None:
            return None, 1.0
        longer = max(page.get_width(), page.get_height())
        scale = min(_DPI / 72, _LONGEST / longer)
        bitmap = page.render(scale=scale, rev_byteorder=True)
        picture: Picture = bitmap.to_numpy()[:, :, :3].copy()
        return picture, scale
    finally:
        page.close()
