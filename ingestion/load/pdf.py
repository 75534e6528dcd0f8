"""PDF files: the text layer page by page, lines put together again into paragraphs."""

import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import closing
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.ingestion.load.columns import Fragment, Region, find_columns
from kgrag.ingestion.load.context import Scan, page_done, seeing
from kgrag.ingestion.load.legible import Legibility, ranges
from kgrag.ingestion.load.ocr import Recognised, read_lines, sure_numbers, why_unread
from kgrag.ingestion.load.ocr.page_text import Box, Piece
from kgrag.ingestion.load.page_tables import Item, Line, Table, find_tables
from kgrag.ingestion.load.page_tables.find import HYPHENS, picture_share, rulings, upright
from kgrag.ingestion.load.page_tables.shapes import POWERS, is_raised
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.ingestion.load.picture import as_jpeg, show
from kgrag.ingestion.load.reflow import reflow
from kgrag.ingestion.load.seen import page_items, page_text
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.ingestion.load.unseen import Place, address, unseen
from kgrag.text.messages import Message, message

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

    from kgrag.ingestion.load.ocr.page_text import Picture

# Between the columns of a table there is more room than between words, in characters.
_COLUMN_GAP = 1.5
_FEWEST_ROWS = 3
_FEWEST_PAGES = 3
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
                document.init_forms()
                found = _read_pages(document, layered=b"/OCProperties" in data)
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


def _read_pages(document: "PdfDocument", *, layered: bool) -> list[tuple[list[Item], float]]:
    """Return the lines and tables of each page, and the share of it that pictures cover."""
    found = [_page_items(document, i, layered=layered) for i in range(len(document))]
    n_pages = Counter(place for _, _, places in found for place in places)
    often = {p for p, n in n_pages.items() if n >= _FEWEST_PAGES and n * 10 >= len(found) * 6}
    for i, (_, _, places) in enumerate(found):
        if not often.isdisjoint(places):
            found[i] = _page_items(document, i, often, layered=layered)
    return [(items, share) for items, share, _ in found]


def _page_items(
    document: "PdfDocument", index: int, often: Set[Place] = frozenset(), *, layered: bool
) -> tuple[list[Item], float, Set[Place]]:
    """Return the lines and tables of a page, the share that pictures cover, and possible marks.

    In the order of the text layer, a table at its first character. The share is 0 for pages of
    `_LITTLE_TEXT` characters and more.
    """
    page = document[index]
    n_printed = _draw_fields(page)
    if n_printed is not None:
        page.close()
        page = document[index]
    left_out, places = unseen(page, often, layered=layered)
    text_page = upright(page)
    try:
        codes = _codes(text_page, left_out)
        spans = [list(range(a, b)) for a, b in _line_spans(codes)]
        items = _in_order(page, text_page, codes, _filled_in(text_page, spans, n_printed))
        little = sum(map(len, (i.text for i in items if isinstance(i, Line)))) < _LITTLE_TEXT
        return items, picture_share(page) if little else 0.0, places
    finally:
        text_page.close()
        page.close()


def _draw_fields(page: "PdfPage") -> int | None:
    """Make what is filled in and written on a page a part of it, as in print, once it is reopened.

    Returns:
        How many characters were on the page before; None where nothing is drawn.
    """
    from pypdfium2 import raw

    annotations = [raw.FPDFPage_GetAnnot(page, i) for i in range(raw.FPDFPage_GetAnnotCount(page))]
    kinds = {raw.FPDFAnnot_GetSubtype(annotation) for annotation in annotations}
    for annotation in annotations:
        raw.FPDFPage_CloseAnnot(annotation)
    if kinds.isdisjoint((raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT)):
        return None
    with closing(page.get_textpage()) as text_page:
        n_printed = text_page.count_chars()
    drawn = raw.FPDFPage_Flatten(page, raw.FLAT_NORMALDISPLAY) == raw.FLATTEN_SUCCESS
    return n_printed if drawn else None


def _filled_in(
    text_page: "PdfTextPage", spans: list[list[int]], n_printed: int | None
) -> list[list[int]]:
    """Return lines with those of fields, which come last, behind the label at their height."""
    printed: list[list[int]] = []
    for span in filter(None, spans):
        if n_printed is None or span[0] < n_printed or not printed:
            printed.append(span)
            continue
        left, bottom, _, top = text_page.get_charbox(span[0], loose=True)
        ends = [text_page.get_charbox(line[-1], loose=True) for line in printed]
        beside = [
            (left - box[2], i)
            for i, box in enumerate(ends)
            if box[2] <= left and box[1] < (bottom + top) / 2 < box[3]
        ]
        if beside:
            printed[min(beside)[1]] += span
        else:
            printed.append(span)
    return printed


def _in_order(
    page: "PdfPage", text_page: "PdfTextPage", codes: list[int], spans: Sequence[list[int]]
) -> list[Item]:
    """Return the lines and tables of a page, column by column."""
    placed = [found for span in spans for found in _line(text_page, codes, span)]
    regions = _regions(page, text_page, codes, spans) if _in_columns(placed) else []
    if not regions:
        return _items(page, text_page, codes, spans, placed)
    items: list[Item] = []
    for region in regions:
        members = {i for fragment in region.fragments for i in fragment.members}
        own = [code if i in members else 0 for i, code in enumerate(codes)]
        lines = region.lines()
        placed = [found for line in lines for found in _line(text_page, own, line)]
        items += (
            region.placed(item, regions[0].edges) if isinstance(item, Line) else item
            for item in _items(page, text_page, own, lines, placed)
        )
    return items


def _regions(
    page: "PdfPage", text_page: "PdfTextPage", codes: list[int], spans: Sequence[list[int]]
) -> list[Region]:
    fragments = [f for span in spans for f in _fragments(text_page, codes, span)]
    return find_columns(fragments, [(r.start, r.end, r.at) for r in rulings(page)[0] if r.across])


def _fragments(
    text_page: "PdfTextPage", codes: list[int], indices: Sequence[int]
) -> Iterator[Fragment]:
    """Yield the parts of a line between wide gaps."""
    parts: list[list[int]] = []
    end = height = 0.0
    for i in indices:
        box = text_page.get_charbox(i, loose=True)
        if codes[i] <= 0x20 or chr(codes[i]).isspace():
            end = max(end, box[2]) if codes[i] > 0x20 else end  # 第一条　为了…
            continue
        if not parts or not -height < box[0] - end < height:
            parts.append([])
        parts[-1].append(i)
        end, height = box[2], box[3] - box[1]
    for part in parts:
        left, bottom, _, top = text_page.get_charbox(part[0], loose=True)
        _, _, right, _ = text_page.get_charbox(part[-1], loose=True)
        yield Fragment(left, right, bottom, top, part)


def _items(
    page: "PdfPage",
    text_page: "PdfTextPage",
    codes: list[int],
    spans: Sequence[list[int]],
    placed: Sequence[tuple[Line, float]],
) -> list[Item]:
    """Return lines with the tables among them; `placed` are the lines, with their lower edges."""
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


def _codes(text_page: "PdfTextPage", left_out: Set[int]) -> list[int]:
    """Return the characters of a page, with 0 for those of text objects that are left out."""
    from pypdfium2 import raw

    codes = [raw.FPDFText_GetUnicode(text_page, i) for i in range(text_page.count_chars())]
    for i in range(len(codes)) if left_out else ():
        if codes[i] > 0x20 and address(raw.FPDFText_GetTextObject(text_page, i)) in left_out:
            codes[i] = 0
    return codes


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


def page_pictures(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (number, JPEG file) of the pages of a PDF that `read_pdf` has read; no blank ones.

    Raises:
        MissingDependencyError: If the extra `vision` is not installed.
    """
    import pypdfium2

    with _PDFIUM, closing(pypdfium2.PdfDocument(data)) as document:
        for number in range(1, len(document) + 1):
            picture, _ = _rendered(document, number)
            if picture is not None:
                yield number, as_jpeg(picture)


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
