"""The files of documents: as they are, and pages of PDF files as pictures with the quote marked."""

import io
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from kgrag.answer.address import Address
from kgrag.answer.excerpt import Excerpt
from kgrag.errors import NotFoundError
from kgrag.serve.desk import Desk
from kgrag.serve.rendering import page
from kgrag.store.folders import FOLDERS, originals
from kgrag.text.messages import message
from kgrag.text.visible import visible
from kgrag.tools.arguments import Arguments
from kgrag.types import Document

_LOCK = threading.Lock()  # PDFium works for one thread at a time
_SCALE = 1.6  # pixels of the picture for a point of the page
_MOST_PIXELS = 25_000_000
_PAD = 1.0  # points around characters


def file_of(desk: Desk, document: Document) -> Path | None:
    """Return the file of a document, if it is still on this machine."""
    store = desk.base.store
    return next(originals(document, store.sources(), store.get_meta(FOLDERS)), None)


def original(desk: Desk, request: Request, given: Arguments) -> Response:
    """Return the file of a document: a PDF to be shown, others to be saved."""
    document = desk.base.document(str(request.path_params["doc_id"]))
    file = file_of(desk, document)
    if file is None:
        raise NotFoundError("{file} is not on this machine, or was moved", file=document.file)
    is_pdf = file.suffix.lower() == ".pdf"
    return FileResponse(
        file,
        media_type="application/pdf" if is_pdf else "application/octet-stream",
        filename=visible(file.name),
        content_disposition_type="inline" if is_pdf else "attachment",
        headers={"content-security-policy": "default-src 'none'; sandbox"} if not is_pdf else {},
    )


def picture(desk: Desk, request: Request, given: Arguments) -> Response:
    """Return the page of a PDF with a place as a picture."""
    file, number, _ = _page_of(desk, request)
    return Response(page_png(file, number), media_type="image/png")


def _page_of(desk: Desk, request: Request) -> tuple[Path, int, str]:
    """Return PDF, page and quote of a place."""
    at = Address.parse(str(request.path_params["address"]))
    document = desk.base.document(at.document)
    file = file_of(desk, document)
    found = Excerpt.of(document, [], (at.start, at.end), paragraphs=0).citation
    if file is None or file.suffix.lower() != ".pdf" or found.page is None:
        raise NotFoundError("{file} has no pages here", file=document.file)
    return file, found.page, found.quote


def page_view(desk: Desk, request: Request, given: Arguments) -> Response:
    """Return the page of a PDF with rectangles around the quote."""
    file, number, text = _page_of(desk, request)
    size, boxes = rectangles(file, number, text)
    address = str(request.path_params["address"])
    return page(desk, request, "picture.html", size=size, boxes=boxes, n=number, address=address)


class Rectangle(NamedTuple):
    """A part of a page, in points from its left upper corner."""

    x: float
    y: float
    width: float
    height: float


def page_png(file: Path, number: int) -> bytes:
    """Return a page of a PDF as PNG.

    Args:
        file: The PDF.
        number: Of the page, from 1.

    Raises:
        NotFoundError: If it is no PDF that can be read, or has no such page.
    """
    with _opened(file, number) as page:
        width, height = page.get_size()
        scale = min(_SCALE, (_MOST_PIXELS / max(width * height, 1)) ** 0.5)
        picture = io.BytesIO()
        page.render(scale=scale).to_pil().save(picture, "PNG")
        return picture.getvalue()


def rectangles(file: Path, number: int, quote: str) -> tuple[tuple[float, float], list[Rectangle]]:
    """Return the size of a page in points, and the rectangles that hold a quote.

    Blanks and forms of characters do not count. There are none where the text layer does not have
    the quote, as on a scanned page; of a quote over two pages those of its part on this one.

    Args:
        file: The PDF.
        number: Of the page, from 1.
        quote: As in the document's text.

    Raises:
        NotFoundError: As for `page_png`.
    """
    with _opened(file, number) as page:
        size = page.get_size()
        with closing(page.get_textpage()) as layer:
            held, places = _bare(layer.get_text_range())
            wanted, _ = _bare(quote)
            at, length = _found(held, wanted)
            ends = (places[at], places[at + length - 1] + 1) if length else (0, 0)
            n = layer.count_rects(ends[0], ends[1] - ends[0]) if length else 0
            boxes = [layer.get_rect(i) for i in range(n)]
    return size, [_padded(box, size[1]) for box in boxes]


@contextmanager
def _opened(file: Path, number: int) -> Iterator[Any]:
    """Open a page of a PDF, for one thread at a time."""
    import pypdfium2 as pdfium

    with _LOCK:
        try:
            pdf = pdfium.PdfDocument(file)
        except (pdfium.PdfiumError, OSError) as exc:
            raise NotFoundError(
                message("{name} cannot be opened as a PDF", name=file.name)
            ) from exc
        with closing(pdf):
            if not 1 <= number <= len(pdf):
                said = message("{name} has no page {number}", name=file.name, number=number)
                raise NotFoundError(said)
            with closing(pdf[number - 1]) as page:
                yield page


def _bare(text: str) -> tuple[str, list[int]]:
    """Return a text without blanks, in the forms of NFKC, and where each character was."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for form in unicodedata.normalize("NFKC", character):
            if not form.isspace() and unicodedata.category(form) not in ("Cc", "Cf", "Cn", "Co"):
                characters.append(form)
                places.append(place)
    return "".join(characters), places


def _found(held: str, wanted: str) -> tuple[int, int]:
    """Return place and length of a text in another, or of the half that stands there."""
    half = len(wanted) // 2
    for part in (wanted, wanted[:half], wanted[half:]):
        at = held.find(part) if part else -1
        if at >= 0:
            return at, len(part)
    return 0, 0


def _padded(box: tuple[float, float, float, float], height: float) -> Rectangle:
    """Return what is around a box of left, bottom, right and top on a page of such a height."""
    left, bottom, right, top = box
    return Rectangle(
        left - _PAD, height - top - _PAD, right - left + 2 * _PAD, top - bottom + 2 * _PAD
    )
