"""PDF files: the text layer page by page, lines put together again into paragraphs."""

import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.ingestion.load.reflow import Line, reflow
from kgrag.ingestion.load.scanned import Recognised, recognised, why_unread
from kgrag.ingestion.load.title import find_title, guess_title

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfTextPage

# PDFium keeps state of its own between calls and may not be entered by two threads at once.
_PDFIUM = threading.Lock()
# PDFium's marks for a hyphen at a line's end.
_HYPHENS = {0x02, 0xFFFE}
# Between the columns of a table there is more room than between words, in characters.
_COLUMN_GAP = 1.5
_MAX_LISTED = 8


def read_pdf(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a PDF's text layer: a paragraph a line, with a segment for every page.

    Line breaks inside paragraphs, page numbers that stand alone and the gaps that PDFium puts
    between Chinese and digits are taken out. Pages without a text layer are named in a warning.

    Args:
        data: The whole file.
        name: The file, for messages.
        stem: The title where the text names none.

    Raises:
        IngestionError: It is damaged, locked with a password, or has no text layer at all.
    """
    import pypdfium2

    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
            try:
                pages = [list(_lines(document, i)) for i in range(len(document))]
                unread = [i for i, lines in enumerate(pages, 1) if not lines]
                pictures = dict(recognised(document, unread))
            finally:
                document.close()
        except pypdfium2.PdfiumError as exc:
            raise IngestionError(f"{name}: {_remedy(str(exc))}") from exc
    for number, found in pictures.items():
        pages[number - 1] = found.lines
    empty = [i for i, lines in enumerate(pages, 1) if not lines]
    if len(empty) == len(pages):
        raise IngestionError(
            f"{name}: none of its {len(pages)} pages has a text layer, and they cannot be read as "
            f"pictures: {why_unread() or 'no text is found in them; scan them at 200 to 300 dpi'}"
        )
    text, segments = reflow(pages)
    text, warnings = replace_unusable(text)
    return Parsed(
        text=text,
        title=find_title(text) or guess_title(text, stem),
        segments=segments,
        warnings=(*warnings, *_recognised(pictures), *_no_layer(empty)),
    )


def _remedy(message: str) -> str:
    if "password" in message.lower():
        return "is locked with a password; open it, print it to a new PDF without one"
    return f"is damaged or no PDF ({message}); open it and save it again"


def _recognised(pictures: Mapping[int, Recognised]) -> list[str]:
    """Return what has to be said of pages that were read as pictures."""
    if not pictures:
        return []
    n = len(pictures)
    which = f"page {next(iter(pictures))}" if n == 1 else f"{n} pages"
    said = f"{which} without a text layer read as {'a picture' if n == 1 else 'pictures'}"
    return [said, *(warning for found in pictures.values() for warning in found.warnings)]


def _no_layer(empty: list[int]) -> list[str]:
    why = why_unread() or "no text is found in its picture"
    found = [f"page {n} has no text layer; {why}" for n in empty[:_MAX_LISTED]]
    if len(empty) > _MAX_LISTED:
        found.append(f"{len(empty) - _MAX_LISTED} more pages have no text layer")
    return found


def _lines(document: "PdfDocument", index: int) -> Iterator[Line]:
    """Yield the lines of a page that are not blank, with where they begin and end across it."""
    page = document[index]
    text_page = page.get_textpage()
    try:
        start = 0
        codes = _codes(text_page)
        for i, code in enumerate([*codes, 0x0A]):
            if code in (0x0A, 0x0D):
                line = _line(text_page, codes, start, i)
                if line:
                    yield line
                start = i + 1
    finally:
        text_page.close()
        page.close()


def _codes(text_page: "PdfTextPage") -> list[int]:
    from pypdfium2 import raw

    return [raw.FPDFText_GetUnicode(text_page, i) for i in range(text_page.count_chars())]


def _line(text_page: "PdfTextPage", codes: list[int], start: int, end: int) -> Line | None:
    shown = [i for i in range(start, end) if codes[i] > 0x20 and not chr(codes[i]).isspace()]
    if not shown:
        return None
    text = _text(text_page, codes, shown)
    left, bottom, _, top = text_page.get_charbox(shown[0], loose=True)
    _, _, right, _ = text_page.get_charbox(shown[-1], loose=True)
    return Line(text, left, right, max(top - bottom, 1.0))


def _text(text_page: "PdfTextPage", codes: list[int], shown: list[int]) -> str:
    """Return the characters that are shown, with one blank, or a tab between columns, in gaps."""
    out = bytearray()
    for i, (before, at) in enumerate(zip([shown[0], *shown], shown, strict=False)):
        if i and at > before + 1:
            _, bottom, end, top = text_page.get_charbox(before, loose=True)
            start, _, _, _ = text_page.get_charbox(at, loose=True)
            out += ("\t" if start - end > _COLUMN_GAP * (top - bottom) > 0 else " ").encode(
                "utf-16-le"
            )
        # Beyond the basic plane a character may come whole or as two surrogates.
        code = ord("-") if codes[at] in _HYPHENS else codes[at]
        out += chr(code).encode("utf-16-le", "surrogatepass")
    return out.decode("utf-16-le", "replace")
