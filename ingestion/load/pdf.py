"""PDF files: the text layer page by page, lines put together again into paragraphs."""

import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.ingestion.load.context import Scan, page_done, seeing
from kgrag.ingestion.load.legible import Legibility, ranges
from kgrag.ingestion.load.ocr import Recognised, read_lines, sure_numbers, why_unread
from kgrag.ingestion.load.ocr.page_text import Box, Piece
from kgrag.ingestion.load.page_tables import Item, Line, Table, find_tables
from kgrag.ingestion.load.page_tables.find import HYPHENS, picture_share, upright
from kgrag.ingestion.load.page_tables.shapes import POWERS, is_raised
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.ingestion.load.picture import show
from kgrag.ingestion.load.reflow import reflow
from kgrag.ingestion.load.seen import page_items, page_text
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.text.messages import Message, message

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

    from kgrag.ingestion.load.ocr.page_text import Picture

# Between the columns of a table there is more room than between words, in characters.
_COLUMN_GAP = 1.5
_FEWEST_ROWS = 3
_FIGURES = re.compile(r"\d[%％年]? [-−]?\d")
_LITTLE_TEXT = 100

# PDFium keeps state of its own between calls and may not be entered by two threads at once.
_PDFIUM = threading.Lock()
# A file ends with this mark; a few bytes may follow it.
_END = b"%%EOF"
_AFTER_END = 2048
# A page of little text that pictures cover for this share is a picture.
_MOSTLY = 0.4
_CUT = message("the file's end is missing or damaged: pages may be missing")
_NO_TEXT = (
    "{name}: none of its {n} pages has a text layer, and they cannot be read as pictures: {why}"
)
_DPI = 200
_LONGEST = 3000  # pixels of a page's longer side: posters and screens are no larger on paper


def read_pdf(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return a PDF's text layer: a paragraph a line, with a segment for every page.

    Line breaks inside paragraphs, page numbers and the gaps that PDFium puts between Chinese and
    digits are removed. Tables, ruled or set in columns, become rows of Markdown, also over page
    breaks. Pages without readable text layer are recognised as pictures, or named in a warning.
    These, and pages with rows of figures that became no table, are shown to a vision model.

    Raises:
        IngestionError: It is damaged, cut short so that no page is left, locked with a password,
            or has no text at all.
    """
    import pypdfium2

    is_cut = len(data) - data.rfind(_END) > _AFTER_END if _END in data else True
    with _PDFIUM:
        try:
            with closing(pypdfium2.PdfDocument(data)) as document:
                found = [_page_items(document, i) for i in range(len(document))]
                texts = [page_text(items) for items, _ in found]
                unread = _unread(texts, [share for _, share in found])
                pictures = dict(recognised(document, list(unread)))
                _show(document, [items for items, _ in found], unread, pictures)
        except pypdfium2.PdfiumError as exc:
            what = _remedy(str(exc), is_cut=is_cut and b"%PDF-" in data[:1024])
            raise IngestionError("{name}: {what}", name=name, what=what) from exc
    better = _better(pictures, texts, unread)
    pages = _pages([items for items, _ in found], better)
    unread = {number: problem for number, problem in unread.items() if number not in better}
    if list(unread.values()) == ["empty"] * len(pages):
        why = why_unread() or message("no text is found in them; scan them at 200 to 300 dpi")
        raise IngestionError(_NO_TEXT, name=name, n=len(pages), why=why)
    text, segments = reflow(pages)
    text, warnings = replace_unusable(text)
    return Parsed(
        text=text,
        title=find_title(text) or guess_title(text, stem),
        segments=segments,
        warnings=(
            *warnings,
            *[_CUT][: int(is_cut)],
            *_recognised(better),
            *_without_text(unread),
            *_doubtful(pages),
        ),
    )


def _remedy(error: str, *, is_cut: bool) -> Message:
    if "password" in error.lower():
        return message("is locked with a password; open it, print it to a new PDF without one")
    if is_cut:
        return message("is damaged: cut short ({error}); copy or download it again", error=error)
    return message("is damaged or no PDF ({error}); open it and save it again", error=error)


def _better(
    pictures: Mapping[int, Recognised], texts: Sequence[str], unread: Mapping[int, str]
) -> dict[int, Recognised]:
    """Return the pages whose pictures tell more than their text layers."""
    return {
        number: picture
        for number, picture in pictures.items()
        if unread[number] == "garbage" or len(page_text(picture.items)) > len(texts[number - 1])
    }


def _pages(pages: Sequence[list[Item]], pictures: Mapping[int, Recognised]) -> list[list[Item]]:
    """Return pages as a vision model read them, or as pictures, or their text layers."""
    read: dict[int, list[Item]] = {n: [*picture.items] for n, picture in pictures.items()}
    read |= {number: page_items(markdown) for number, markdown in seeing().read.items()}
    return [read.get(number, items) for number, items in enumerate(pages, 1)]


def _show(
    document: "PdfDocument",
    pages: Sequence[Sequence[Item]],
    unread: Mapping[int, str],
    pictures: Mapping[int, Recognised],
) -> None:
    """Show the pages that were read badly, with the text and the numbers that were read."""
    for number, items in enumerate(pages if seeing().wanted else (), 1):
        lines = (item.text for item in items if isinstance(item, Line))
        if number not in unread and sum(map(_has_figures, lines)) < _FEWEST_ROWS:
            continue
        text = "" if unread.get(number) == "garbage" else page_text(items)
        rows = enumerate(text.split("\n"))
        numbers = sure_numbers([[Piece(row, Box(0, at, 1, at + 1), 1.0)] for at, row in rows])
        if number in pictures:
            text, numbers = page_text(pictures[number].items), pictures[number].numbers
        picture, _ = _rendered(document, number)
        if picture is not None:
            show(Scan(number, text, tuple(numbers)), picture)


def _has_figures(line: str) -> bool:
    """Return whether there are figures side by side in a line."""
    return _FIGURES.search(line) is not None


def _unread(texts: Sequence[str], shares: Sequence[float]) -> dict[int, str]:
    """Return the problems of pages by number, for those that have one."""
    problems = enumerate(map(_problem, texts, shares), 1)
    return {n: problem for n, problem in problems if problem and n not in seeing().read}


def _problem(text: str, share: float) -> str:
    """Return why a page's text layer is not enough: empty, garbage, picture; or ""."""
    if not text:
        return "empty"
    if Legibility.of(text).is_garbage:
        return "garbage"
    return "picture" if share >= _MOSTLY and len(text) < _LITTLE_TEXT else ""


def _recognised(pictures: Mapping[int, Recognised]) -> list[str]:
    """Return the warnings about pages that were read as pictures."""
    if not pictures:
        return []
    said = message("pages without readable text read as pictures: {pages}", pages=ranges(pictures))
    return [said, *(warning for picture in pictures.values() for warning in picture.warnings)]


def _doubtful(pages: Sequence[Sequence[Item]]) -> list[str]:
    """Return a warning about tables that only the places of words tell."""
    unsure = [
        number
        for number, items in enumerate(pages, 1)
        if not all(item.is_sure for item in items if isinstance(item, Table))
    ]
    said = "tables without rulings, shading or figures, read by the places of words: {pages}"
    return [message(said, pages=ranges(unsure))] if unsure else []


def _without_text(unread: Mapping[int, str]) -> list[str]:
    """Return a warning about pages that are pictures, if any is not read."""
    pages = [number for number, problem in unread.items() if problem != "garbage"]
    why = why_unread() or message("none is found in their pictures")
    said = "pages with little or no text: {pages}; {why}"
    return [message(said, pages=ranges(pages), why=why)] if pages else []


def _page_items(document: "PdfDocument", index: int) -> tuple[list[Item], float]:
    """Return the lines and tables of a page, and the share of it that pictures cover.

    In the order of the text layer, a table at its first character. The share is 0 for pages of
    `_LITTLE_TEXT` characters and more.
    """
    page = document[index]
    text_page = upright(page)
    try:
        codes = _codes(text_page)
        items = _items(page, text_page, codes)
        little = sum(map(len, (i.text for i in items if isinstance(i, Line)))) < _LITTLE_TEXT
        return items, picture_share(page) if little else 0.0
    finally:
        text_page.close()
        page.close()


def _items(page: "PdfPage", text_page: "PdfTextPage", codes: list[int]) -> list[Item]:
    spans = [list(range(a, b)) for a, b in _line_spans(codes)]
    placed = [found for span in spans for found in _line(text_page, codes, span)]
    tables = find_tables(page, text_page, codes, in_columns=_in_columns(placed)) if placed else []
    if not tables:
        return [line for line, _ in placed]
    table_of = {i: table for table in tables for i in table.members}
    items: list[Item] = []
    shown: set[int] = set()
    for span in spans:
        pending: list[int] = []
        for i in span:
            table = table_of.get(i)
            if table is None:
                pending.append(i)
            elif id(table) not in shown:
                items += (line for line, _ in _line(text_page, codes, pending))
                pending = []
                shown.add(id(table))
                items.append(table)
        items += (line for line, _ in _line(text_page, codes, pending))
    return items


def _in_columns(placed: Sequence[tuple[Line, float]]) -> bool:
    """Return whether some lines have wide gaps, or figures side by side, or are beside others."""
    gaps = sum("\t" in line.text or _has_figures(line.text) for line, _ in placed)
    heights = Counter(round(bottom / 2) for _, bottom in placed)
    return gaps >= _FEWEST_ROWS or sum(n > 1 for n in heights.values()) >= _FEWEST_ROWS


def _line_spans(codes: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for i, code in enumerate([*codes, 0x0A]):
        if code in (0x0A, 0x0D):
            yield start, i
            start = i + 1


def _codes(text_page: "PdfTextPage") -> list[int]:
    from pypdfium2 import raw

    return [raw.FPDFText_GetUnicode(text_page, i) for i in range(text_page.count_chars())]


def _line(
    text_page: "PdfTextPage", codes: list[int], indices: Sequence[int]
) -> Iterator[tuple[Line, float]]:
    """Yield the line of some characters with its lower edge; nothing if none is visible."""
    shown = [i for i in indices if codes[i] > 0x20 and not chr(codes[i]).isspace()]
    if shown:
        text = _text(text_page, codes, shown)
        left, bottom, _, top = text_page.get_charbox(shown[0], loose=True)
        _, _, right, _ = text_page.get_charbox(shown[-1], loose=True)
        yield Line(text, left, right, max(top - bottom, 1.0)), bottom


def _text(text_page: "PdfTextPage", codes: list[int], shown: list[int]) -> str:
    """Return the visible characters, with a blank, or a tab between columns, in gaps."""
    out = bytearray()
    power = False
    for i, (before, at) in enumerate(zip([shown[0], *shown], shown, strict=False)):
        # Beyond the basic plane a character may come whole or as two surrogates.
        code = ord("-") if codes[at] in HYPHENS else codes[at]
        if i and code in POWERS and (power or _takes_power(codes, shown, i)):
            power = power or is_raised(
                text_page.get_charbox(before, loose=True), text_page.get_charbox(at, loose=True)
            )
            code = POWERS[code] if power else code
        else:
            power = False
        if i and at > before + 1 and not power:
            _, bottom, end, top = text_page.get_charbox(before, loose=True)
            start, _, _, _ = text_page.get_charbox(at, loose=True)
            out += ("\t" if start - end > _COLUMN_GAP * (top - bottom) > 0 else " ").encode(
                "utf-16-le"
            )
        out += chr(code).encode("utf-16-le", "surrogatepass")
    return out.decode("utf-16-le", "replace")


def _takes_power(codes: Sequence[int], shown: Sequence[int], i: int) -> bool:
    """Return whether a power may follow: after 10, and after a unit of length."""
    last = chr(codes[shown[i - 1]])
    return last == "m" or (last == "0" and i > 1 and codes[shown[i - 2]] == ord("1"))


def recognised(document: "PdfDocument", numbers: Sequence[int]) -> Iterator[tuple[int, Recognised]]:
    """Yield (number, what is read) of pages read as pictures, if they are; lines in points.

    Args:
        document: Open; the caller sees to it that one thread at a time enters PDFium.
        numbers: Of pages, from 1; blank ones are left out.
    """
    for number in () if why_unread() else numbers:
        picture, scale = _rendered(document, number)
        if picture is not None:
            read = read_lines(picture, number, scale=1 / scale)
            page_done(number, len(document))
            if read.items:
                yield number, read


def _rendered(document: "PdfDocument", number: int) -> tuple["Picture | None", float]:
    """Return a page as a picture and its pixels per point; None for a blank page."""
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
