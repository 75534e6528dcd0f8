"""Characters, rulings and tables of a PDF page, read through PDFium."""

import ctypes
import math
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from kgrag.ingestion.load.page_tables.aligned import aligned_tables, level_runs
from kgrag.ingestion.load.page_tables.ruled import ruled_tables
from kgrag.ingestion.load.page_tables.shapes import Box, Char, Ruling, Table
from kgrag.ingestion.load.page_tables.tagged import table_tags, tagged_tables

if TYPE_CHECKING:
    from pypdfium2 import PdfMatrix, PdfPage, PdfTextPage

Point = tuple[float, float]

# Filled shapes thinner than this, in points, are lines.
_THIN = 2.5
# Strokes of letters and ticks are shorter.
_SHORTEST = 4.0
_STRAIGHT = 0.7
# Shaded boxes taller than this, in points, are no rows.
_TALLEST = 250.0
_WHITE = 253
_DESCENT = 0.12  # the share of a Chinese character that is below its line
_MOST_OBJECTS = 20_000
_MOST_NESTED = 4
_AS_IT_IS = (1, 0, 0, 1, 0, 0)
_WIDE_BLANK = 0x3000
HYPHENS = {0x02, 0xFFFE}  # PDFium's marks for one at a line's end


def characters(text_page: "PdfTextPage", codes: list[int]) -> list[Char]:
    """Return the visible characters.

    Args:
        text_page: Of PDFium.
        codes: Its characters, as UTF-16 or code points.
    """
    found: list[Char] = []
    for index, code in enumerate(codes):
        if code <= 0x20 and code not in HYPHENS:
            continue
        if code == _WIDE_BLANK and found:  # set by the writer: no gap between cells
            _, bottom, right, _ = text_page.get_charbox(index, loose=True)
            last = found[-1]
            if abs(bottom - last.bottom) < 0.5 * last.size and right > last.right:
                found[-1] = last._replace(right=right)
        if 0xDC00 <= code < 0xE000 or chr(code).isspace():
            continue  # the second half of a pair is taken with the first
        text = chr(code)
        if code in HYPHENS:
            text = "-"
        elif 0xD800 <= code < 0xDC00:
            low = codes[index + 1] if index + 1 < len(codes) else 0
            if not 0xDC00 <= low < 0xE000:
                continue
            text = chr(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00)
        found.append(Char(index, text, *_box(text_page, index, ord(text))))
    return found


def _box(text_page: "PdfTextPage", index: int, code: int) -> Box:
    """Return a character's box; by its advance where PDFium gives that of its ink alone."""
    from pypdfium2 import raw

    box: Box = text_page.get_charbox(index, loose=True)
    if box != text_page.get_charbox(index):
        return box
    x, y, width = ctypes.c_double(), ctypes.c_double(), ctypes.c_float()
    matrix = raw.FS_MATRIX()
    font = raw.FPDFTextObj_GetFont(raw.FPDFText_GetTextObject(text_page, index))
    raw.FPDFText_GetCharOrigin(text_page, index, x, y)
    raw.FPDFText_GetMatrix(text_page, index, matrix)
    size = raw.FPDFText_GetFontSize(text_page, index) * abs(matrix.a)
    if not raw.FPDFFont_GetGlyphWidth(font, code, size, width) or width.value < box[2] - box[0]:
        return box
    bottom = y.value - _DESCENT * size
    return x.value, bottom, x.value + width.value, bottom + size


def upright(page: "PdfPage") -> "PdfTextPage":
    """Turn what a page shows until most of its text is upright, and return that text.

    PDFium reads lines in the order in which they are shown, and leaves out turned text in a font
    that it lacks. The file is not changed: opened again, the page is as it was.
    """
    from pypdfium2 import PdfMatrix

    shown = page.get_rotation()
    page.set_rotation(0)
    text_page = page.get_textpage()
    turns = _quarter_turns(text_page)
    if turns:
        text_page.close()
        turned = PdfMatrix().rotate(90 * turns, ccw=True)
        left, bottom, _, _ = turned.on_rect(*page.get_mediabox())
        for item in page.get_objects(max_depth=1):
            item.transform(turned.translate(-left, -bottom))
        text_page = page.get_textpage()
    page.set_rotation(shown)  # a page that is recognised as a picture is read as it is shown
    return text_page


def _quarter_turns(text_page: "PdfTextPage") -> int:
    """Return by how many quarters, clockwise as PDFium counts, most of a page's text is turned."""
    from pypdfium2 import raw

    n_chars = text_page.count_chars()
    step = max(1, n_chars // 50)
    angles = [raw.FPDFText_GetCharAngle(text_page, i) for i in range(0, n_chars, step)]
    turns = [round(a / (math.pi / 2)) % 4 for a in angles if a >= 0]
    return max(set(turns), key=turns.count) if turns else 0


def rulings(page: "PdfPage") -> tuple[list[Ruling], list[Box]]:
    """Return the straight lines of a page and its shaded boxes.

    Lines are strokes, thin shapes, and sides of boxes.
    """
    from pypdfium2 import raw

    found: list[Ruling] = []
    boxes: list[Box] = []
    for item, kind, matrix in page_objects(page):
        if kind == raw.FPDF_PAGEOBJ_PATH:
            shaded = _is_shaded(item)
            for figure, is_stroke in _figures(item, matrix):
                found += straight_lines(figure, is_drawn=is_stroke)
                xs, ys = [x for x, _ in figure], [y for _, y in figure]
                wide, high = max(xs) - min(xs), max(ys) - min(ys)
                if len(figure) > 3 and min(wide, high) >= _THIN and high < _TALLEST and shaded:
                    boxes.append((min(xs), min(ys), max(xs), max(ys)))
        elif kind == raw.FPDF_PAGEOBJ_IMAGE:
            box = bounds(item, matrix)
            if box and min(box[2] - box[0], box[3] - box[1]) < _THIN:
                found += straight_lines([box[:2], box[2:]], is_drawn=True)
    return found, boxes


def picture_share(page: "PdfPage") -> float:
    """Return the share of a page that pictures cover, from 0 to 1."""
    from pypdfium2 import raw

    width, height = page.get_size()
    area = 0.0
    for item, kind, matrix in page_objects(page):
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            box = bounds(item, matrix)
            if box:
                area += (box[2] - box[0]) * (box[3] - box[1])
    return float(min(1.0, area / max(width * height, 1.0)))


def page_objects(page: "PdfPage") -> Iterator[tuple[Any, int, "PdfMatrix"]]:
    """Yield the objects of a page and of its forms, with type and placement."""
    from pypdfium2 import PdfMatrix, raw

    def within(count: int, get: Any, matrix: "PdfMatrix", depth: int) -> Iterator[Any]:
        for i in range(min(count, _MOST_OBJECTS)):
            item = get(i)
            kind = raw.FPDFPageObj_GetType(item)
            if kind == raw.FPDF_PAGEOBJ_FORM and depth < _MOST_NESTED:
                inner = _matrix(item).multiply(matrix)
                get_inner = partial(raw.FPDFFormObj_GetObject, item)
                yield from within(raw.FPDFFormObj_CountObjects(item), get_inner, inner, depth + 1)
            else:
                yield item, kind, matrix

    get = partial(raw.FPDFPage_GetObject, page)
    everything = within(raw.FPDFPage_CountObjects(page), get, PdfMatrix(), 0)
    yield from islice(everything, _MOST_OBJECTS)


def _figures(path: Any, matrix: "PdfMatrix") -> list[tuple[list[Point], bool]]:
    """Return the straight-sided figures of a drawn path, as points; curves end one.

    With each comes whether it is stroked.
    """
    from pypdfium2 import raw

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    if not (fill.value or stroke.value):
        return []
    whole = _matrix(path).multiply(matrix)
    figures: list[list[Point]] = []
    x, y = ctypes.c_float(), ctypes.c_float()
    for i in range(min(raw.FPDFPath_CountSegments(path), _MOST_OBJECTS)):
        segment = raw.FPDFPath_GetPathSegment(path, i)
        kind = raw.FPDFPathSegment_GetType(segment)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = whole.on_point(x.value, y.value)
        if kind == raw.FPDF_SEGMENT_LINETO and figures:
            figures[-1].append(point)
        else:
            figures.append([point])
        if raw.FPDFPathSegment_GetClose(segment) and len(figures[-1]) > 2:
            figures[-1].append(figures[-1][0])
    for figure in figures if not stroke.value else ():  # what is filled is closed
        if len(figure) > 2 and figure[0] != figure[-1]:
            figure.append(figure[0])
    return [(figure, bool(stroke.value)) for figure in figures if len(figure) > 1]


def _is_shaded(path: Any) -> bool:
    """Return whether a path's colour is not white."""
    from pypdfium2 import raw

    colour = [ctypes.c_uint() for _ in range(4)]
    return bool(raw.FPDFPageObj_GetFillColor(path, *colour)) and any(
        value.value < _WHITE for value in colour[:3]
    )


def straight_lines(figure: list[Point], *, is_drawn: bool) -> Iterable[Ruling]:
    """Yield a figure's horizontal and vertical sides; of a thin box its middle."""
    xs, ys = [x for x, _ in figure], [y for _, y in figure]
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    if high < _THIN and wide >= _SHORTEST:
        yield Ruling(True, (min(ys) + max(ys)) / 2, min(xs), max(xs))
    elif wide < _THIN and high >= _SHORTEST:
        yield Ruling(False, (min(xs) + max(xs)) / 2, min(ys), max(ys))
    else:
        for (ax, ay), (bx, by) in pairwise(figure):
            if abs(ay - by) < _STRAIGHT and abs(ax - bx) >= _SHORTEST:
                yield Ruling(True, (ay + by) / 2, min(ax, bx), max(ax, bx), is_drawn)
            elif abs(ax - bx) < _STRAIGHT and abs(ay - by) >= _SHORTEST:
                yield Ruling(False, (ax + bx) / 2, min(ay, by), max(ay, by), is_drawn)


def bounds(item: Any, matrix: "PdfMatrix") -> Box | None:
    """Return the box of an object on the page; None where it has none."""
    from pypdfium2 import raw

    sides = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(item, *sides):
        return None
    box = (sides[0].value, sides[1].value, sides[2].value, sides[3].value)
    # Few objects are in a form, whose placement counts.
    return box if matrix.get() == _AS_IT_IS else matrix.on_rect(*box)


def _matrix(item: Any) -> "PdfMatrix":
    from pypdfium2 import PdfMatrix, raw

    m = raw.FS_MATRIX()
    return PdfMatrix.from_raw(m) if raw.FPDFPageObj_GetMatrix(item, m) else PdfMatrix()


def find_tables(
    page: "PdfPage", text_page: "PdfTextPage", codes: list[int], *, in_columns: bool
) -> list[Table]:
    """Return the tables of a page; no character is in two of them.

    Args:
        page: Of PDFium, its text upright.
        text_page: Of the page.
        codes: Its characters, as UTF-16 or code points.
        in_columns: Whether some of its lines are beside each other or have wide gaps.
    """
    drawn, boxes = rulings(page)
    n_flat = sum(r.across for r in drawn)
    crossed = n_flat > 1 and len(drawn) - n_flat > 0
    in_columns = in_columns or any(len(run) > 2 for run in level_runs(drawn))
    tags = table_tags(page)
    if not (crossed or in_columns or tags):
        return []
    left = characters(text_page, codes)
    found = ruled_tables(left, drawn) if crossed else []
    found += tagged_tables(tags, text_page, _without(left, found))
    if in_columns:
        rules = [ruling for ruling in drawn if ruling.drawn]
        found += aligned_tables(_without(left, found), rules, boxes)
    return found


def _without(chars: list[Char], tables: list[Table]) -> list[Char]:
    taken = frozenset(i for table in tables for i in table.members)
    return [c for c in chars if c.position not in taken]
