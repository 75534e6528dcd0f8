"""Characters and rulings of a PDF page, out of PDFium."""

import ctypes
import math
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from kgrag.ingestion.load.page_tables.shapes import Char, Ruling

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

Matrix = tuple[float, float, float, float, float, float]
Point = tuple[float, float]

_IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)
# Filled shapes thinner than this, in points, are lines.
_THIN = 2.5
# Strokes of letters and ticks are shorter.
_SHORTEST = 4.0
_STRAIGHT = 0.7
_MOST_OBJECTS = 20_000
_MOST_NESTED = 4
_HYPHENS = {0x02, 0xFFFE}


def characters(text_page: "PdfTextPage", codes: list[int], turns: int) -> list[Char]:
    """Return the characters that are shown, turned so that most of the text is upright.

    Args:
        text_page: Of PDFium.
        codes: Its characters, as UTF-16 or code points.
        turns: Of a quarter each, against the clock, that the text is set at.
    """
    found = []
    for index, code in enumerate(codes):
        if code <= 0x20 and code not in _HYPHENS:
            continue
        if 0xDC00 <= code < 0xE000 or chr(code).isspace():
            continue  # the second half of a pair is taken with the first
        text = chr(code)
        if code in _HYPHENS:
            text = "-"
        elif 0xD800 <= code < 0xDC00:
            low = codes[index + 1] if index + 1 < len(codes) else 0
            if not 0xDC00 <= low < 0xE000:
                continue
            text = chr(0x10000 + ((code - 0xD800) << 10) + low - 0xDC00)
        box = text_page.get_charbox(index, loose=True)
        left, bottom, right, top = _turned_box(box, turns)
        found.append(Char(index, text, left, bottom, right, top))
    return found


def quarter_turns(text_page: "PdfTextPage", n_chars: int) -> int:
    """Return by how many quarters, against the clock, most of a page's text is turned."""
    from pypdfium2 import raw

    step = max(1, n_chars // 50)
    angles = [raw.FPDFText_GetCharAngle(text_page, i) for i in range(0, n_chars, step)]
    turns = [round(a / (math.pi / 2)) % 4 for a in angles if a >= 0]
    return max(set(turns), key=turns.count) if turns else 0


def rulings(page: "PdfPage", turns: int) -> list[Ruling]:
    """Return the straight lines of a page: strokes, thin shapes, sides of boxes.

    Args:
        page: Of PDFium.
        turns: As for `characters`.
    """
    from pypdfium2 import raw

    found: list[Ruling] = []
    for item, matrix in _objects(page):
        if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_PATH:
            for figure in _figures(item, matrix):
                found += _lines([_turned(p, turns) for p in figure])
        elif raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_IMAGE:
            box = _bounds(item, matrix)
            if box and min(box[2] - box[0], box[3] - box[1]) < _THIN:
                corners = [(box[0], box[1]), (box[2], box[1]), (box[2], box[3]), (box[0], box[3])]
                found += _lines([_turned(p, turns) for p in [*corners, corners[0]]])
    return found


def picture_share(page: "PdfPage") -> float:
    """Return which share of a page pictures cover; they may lie over each other, up to 1."""
    from pypdfium2 import raw

    width, height = page.get_size()
    area = 0.0
    for item, matrix in _objects(page):
        if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_IMAGE:
            box = _bounds(item, matrix)
            if box:
                area += (box[2] - box[0]) * (box[3] - box[1])
    return float(min(1.0, area / max(width * height, 1.0)))


def _objects(page: "PdfPage") -> Iterator[tuple[Any, Matrix]]:
    """Yield the objects of a page, those within forms as well, and how they are placed."""
    from pypdfium2 import raw

    def within(count: int, get: Any, matrix: Matrix, depth: int) -> Iterator[tuple[Any, Matrix]]:
        for i in range(min(count, _MOST_OBJECTS)):
            item = get(i)
            if raw.FPDFPageObj_GetType(item) == raw.FPDF_PAGEOBJ_FORM and depth < _MOST_NESTED:
                inner = _product(_matrix(item), matrix)
                n = raw.FPDFFormObj_CountObjects(item)
                yield from within(
                    n, lambda k, form=item: raw.FPDFFormObj_GetObject(form, k), inner, depth + 1
                )
            else:
                yield item, matrix

    count = raw.FPDFPage_CountObjects(page)
    everything = within(count, lambda k: raw.FPDFPage_GetObject(page, k), _IDENTITY, 0)
    yield from islice(everything, _MOST_OBJECTS)


def _figures(path: Any, matrix: Matrix) -> list[list[Point]]:
    """Return the straight-sided figures of a path that is drawn, as points; curves end one."""
    from pypdfium2 import raw

    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    if not (fill.value or stroke.value):
        return []
    whole = _product(_matrix(path), matrix)
    figures: list[list[Point]] = []
    x, y = ctypes.c_float(), ctypes.c_float()
    for i in range(min(raw.FPDFPath_CountSegments(path), _MOST_OBJECTS)):
        segment = raw.FPDFPath_GetPathSegment(path, i)
        kind = raw.FPDFPathSegment_GetType(segment)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        point = _moved((x.value, y.value), whole)
        if kind == raw.FPDF_SEGMENT_LINETO and figures:
            figures[-1].append(point)
        else:
            figures.append([point])
        if raw.FPDFPathSegment_GetClose(segment) and len(figures[-1]) > 2:
            figures[-1].append(figures[-1][0])
    return [_sides(figure, bool(stroke.value)) for figure in figures if len(figure) > 1]


def _sides(figure: list[Point], stroked: bool) -> list[Point]:
    """Return a figure, closed if it is filled."""
    closed = not stroked and len(figure) > 2 and figure[0] != figure[-1]
    return [*figure, figure[0]] if closed else figure


def _lines(figure: list[Point]) -> Iterable[Ruling]:
    """Yield a figure's level and upright sides; of a thin box its middle."""
    xs, ys = [x for x, _ in figure], [y for _, y in figure]
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    if high < _THIN and wide >= _SHORTEST:
        yield Ruling(True, (min(ys) + max(ys)) / 2, min(xs), max(xs))
    elif wide < _THIN and high >= _SHORTEST:
        yield Ruling(False, (min(xs) + max(xs)) / 2, min(ys), max(ys))
    else:
        for (ax, ay), (bx, by) in pairwise(figure):
            if abs(ay - by) < _STRAIGHT and abs(ax - bx) >= _SHORTEST:
                yield Ruling(True, (ay + by) / 2, min(ax, bx), max(ax, bx))
            elif abs(ax - bx) < _STRAIGHT and abs(ay - by) >= _SHORTEST:
                yield Ruling(False, (ax + bx) / 2, min(ay, by), max(ay, by))


def _bounds(item: Any, matrix: Matrix) -> tuple[float, float, float, float] | None:
    from pypdfium2 import raw

    sides = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(item, *sides):
        return None
    left, bottom, right, top = (s.value for s in sides)
    corners = [
        _moved(p, matrix) for p in ((left, bottom), (right, bottom), (right, top), (left, top))
    ]
    xs, ys = [x for x, _ in corners], [y for _, y in corners]
    return min(xs), min(ys), max(xs), max(ys)


def _matrix(item: Any) -> Matrix:
    from pypdfium2 import raw

    m = raw.FS_MATRIX()
    if not raw.FPDFPageObj_GetMatrix(item, m):
        return _IDENTITY
    return m.a, m.b, m.c, m.d, m.e, m.f


def _product(a: Matrix, b: Matrix) -> Matrix:
    """Return the matrix that does `a`, then `b`."""
    return (
        a[0] * b[0] + a[1] * b[2],
        a[0] * b[1] + a[1] * b[3],
        a[2] * b[0] + a[3] * b[2],
        a[2] * b[1] + a[3] * b[3],
        a[4] * b[0] + a[5] * b[2] + b[4],
        a[4] * b[1] + a[5] * b[3] + b[5],
    )


def _moved(point: Point, m: Matrix) -> Point:
    x, y = point
    return m[0] * x + m[2] * y + m[4], m[1] * x + m[3] * y + m[5]


def _turned(point: Point, turns: int) -> Point:
    x, y = point
    for _ in range(turns):
        x, y = y, -x  # a quarter with the clock
    return x, y


def _turned_box(
    box: tuple[float, float, float, float], turns: int
) -> tuple[float, float, float, float]:
    (ax, ay), (bx, by) = _turned((box[0], box[1]), turns), _turned((box[2], box[3]), turns)
    return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)
