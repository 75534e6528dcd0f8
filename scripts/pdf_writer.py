"""A small PDF writer for Chinese text: the font's name stands in the file, not the font."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

PAGE_WIDTH, PAGE_HEIGHT = 595, 842
LEFT, RIGHT, TOP, BOTTOM = 80, 515, 760, 90
_LEADING = 1.75
# No line begins with one of these.
_CLOSING = "，。；：、！？）》”’】％%"

# STSong-Light and the encoding UniGB-UCS2-H are among those that every PDF reader knows, so that
# text is plain UCS-2 and can be extracted again. ASCII (CID 1 to 95) is half as wide.
_FONT = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H "
    b"/DescendantFonts [4 0 R] >>",
    b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /FontDescriptor 5 0 R "
    b"/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> "
    b"/DW 1000 /W [1 95 500] >>",
    b"<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [-25 -254 1000 880] "
    b"/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >>",
)


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph to be set.

    Attributes:
        cells: One text, or the cells of a table row, set in columns of equal width.
        size: In points.
        align: `left` (first line indented by two characters), `center` or `right`.
    """

    cells: tuple[str, ...]
    size: int = 16
    align: str = "left"


@dataclass(frozen=True, slots=True)
class _Placed:
    x: float
    y: float
    size: int
    text: str


def width(text: str) -> float:
    """Return the width of a text in characters; ASCII counts half.

    >>> width("到2025年")
    4.0
    """
    return sum(0.5 if c.isascii() else 1.0 for c in text)


def break_lines(text: str, first: float, rest: float) -> list[str]:
    """Return a text broken into lines of at most `first`, then `rest` characters.

    A closing mark stays with the character before it; numbers are not torn apart.

    >>> break_lines("一二三四，五", 4, 4)
    ['一二三', '四，五']
    """
    lines = [""]
    for i, char in enumerate(text):
        room = first if len(lines) == 1 else rest
        if lines[-1] and width(lines[-1] + char) > room:
            keep = len(lines[-1])
            tied = char in _CLOSING or (char.isascii() and lines[-1][-1].isascii())
            while tied and keep > 1:
                keep -= 1
                before = lines[-1][keep - 1 : keep + 1]
                tied = before[1] in _CLOSING or before.isascii()
            lines[-1:] = [lines[-1][:keep], lines[-1][keep:]]
        lines[-1] += text[i]
    return lines


@dataclass(frozen=True, slots=True)
class Words:
    """Text at a place of a page.

    Attributes:
        x: Where it begins, in points from the left.
        y: Its base line, in points from below.
        text: Of one line.
        size: In points.
        paint: Operators before it, such as `1 0 0 rg` for red or `3 Tr` for invisible text.
        angle: In degrees, counter-clockwise.
    """

    x: float
    y: float
    text: str
    size: int = 10
    paint: str = ""
    angle: int = 0


@dataclass(frozen=True, slots=True)
class Stroke:
    """A straight line between two points, or the grey box; `paint` as for `Words`."""

    x: float
    y: float
    to_x: float
    to_y: float
    paint: str = ""
    is_box: bool = False


def write_drawn(
    pages: Sequence[Sequence[Words | Stroke]], *, turns: int = 0, rotate: int = 0
) -> bytes:
    """Return a PDF whose pages have text and lines where they are told.

    Args:
        pages: What stands on each, in the order in which it is written.
        turns: By how many quarters, counter-clockwise, pages are drawn turned.
        rotate: By how many degrees, clockwise, they are to be shown turned.
    """
    wide, high = PAGE_WIDTH, PAGE_HEIGHT
    matrix = (
        "1 0 0 1 0 0",
        f"0 1 -1 0 {high} 0",
        f"-1 0 0 -1 {wide} {high}",
        f"0 -1 1 0 0 {wide}",
    )[turns]
    streams = [matrix.encode() + b" cm\n" + _drawn(page) for page in pages]
    media = f"0 0 {high} {wide}" if turns % 2 else f"0 0 {wide} {high}"
    return _document(streams, title="drawn", media=media, rotate=rotate)


def ruled(
    rows: Sequence[Sequence[str]], *, x: float, y: float, widths: Sequence[float], height: float
) -> list[Words | Stroke]:
    """Return a table with all its rulings; a line feed in a cell begins another line.

    Args:
        rows: Cells, as many in each row as there are widths.
        x: Its left side, in points.
        y: Its upper side.
        widths: Of the columns.
        height: Of every row.
    """
    xs = [x + sum(widths[:i]) for i in range(len(widths) + 1)]
    ys = [y - i * height for i in range(len(rows) + 1)]
    marks: list[Words | Stroke] = [Stroke(xs[0], at, xs[-1], at) for at in ys]
    marks += [Stroke(at, ys[-1], at, ys[0]) for at in xs]
    for row, top in zip(rows, ys, strict=False):
        for cell, left in zip(row, xs, strict=False):
            for i, line in enumerate(cell.split("\n")):
                marks.append(Words(left + 3, top - 13 - 12 * i, line))
    return marks


def _drawn(marks: Sequence[Words | Stroke]) -> bytes:
    parts = []
    for m in marks:
        if isinstance(m, Stroke) and m.is_box:
            drawn = b"0.8 g %.1f %.1f %.1f %.1f re f" % (m.x, m.y, m.to_x - m.x, m.to_y - m.y)
            drawn = b"q %s Q" % drawn
        elif isinstance(m, Stroke):
            drawn = b"%.1f %.1f m %.1f %.1f l S" % (m.x, m.y, m.to_x, m.to_y)
        else:
            cos, sin = math.cos(math.radians(m.angle)), math.sin(math.radians(m.angle))
            at = (m.size, cos, sin, -sin, cos, m.x, m.y, _hex(m.text))
            drawn = b"BT /F1 %d Tf %.3f %.3f %.3f %.3f %.1f %.1f Tm <%s> Tj ET" % at
        parts.append(b"q %s %s Q" % (m.paint.encode(), drawn) if m.paint else drawn)
    return b"\n".join(parts)


def write_pdf(blocks: list[Block], *, title: str) -> bytes:
    """Return a PDF of the blocks with numbered pages; the same blocks give the same bytes."""
    streams = [_content(page) for page in _pages(blocks)]
    return _document(streams, title=title, media=f"0 0 {PAGE_WIDTH} {PAGE_HEIGHT}")


def _document(streams: Sequence[bytes], *, title: str, media: str, rotate: int = 0) -> bytes:
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", *_FONT]
    page_ids = []
    shown = b"/Rotate %d " % rotate if rotate else b""
    for stream in streams:
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Contents %d 0 R "
            b"%s/Resources << /Font << /F1 3 0 R >> >> >>" % (media.encode(), len(objects), shown)
        )
        page_ids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(page_ids), b" ".join(page_ids))
    objects.append(b"<< /Title <feff%s> >>" % _hex(title))
    return _file(objects)


def _pages(blocks: list[Block]) -> list[list[_Placed]]:
    pages: list[list[_Placed]] = [[]]
    y = float(TOP)
    for block in blocks:
        for line in _set(block):
            if y < BOTTOM:
                pages.append([])
                y = float(TOP)
            pages[-1].extend(_Placed(x, y, block.size, text) for x, text in line)
            y -= block.size * _LEADING
    for number, page in enumerate(pages, 1):
        text = f"— {number} —"
        x = (PAGE_WIDTH - width(text) * 14) / 2
        page.append(_Placed(x, BOTTOM - 45, 14, text))
    return pages


def _set(block: Block) -> list[list[tuple[float, str]]]:
    """Return the lines of a block, each a list of (x, text)."""
    room = (RIGHT - LEFT) / block.size
    if len(block.cells) > 1:
        step = (RIGHT - LEFT) / len(block.cells)
        return [[(LEFT + i * step, cell) for i, cell in enumerate(block.cells)]]
    text = block.cells[0]
    if block.align == "left":
        lines = break_lines(text, room - 2, room)
        return [[(LEFT + (0 if i else 2 * block.size), line)] for i, line in enumerate(lines)]
    share = 0.5 if block.align == "center" else 1.0
    lines = break_lines(text, room, room)
    return [[(LEFT + (room - width(line)) * block.size * share, line)] for line in lines]


def _content(page: list[_Placed]) -> bytes:
    parts = [
        b"/F1 %d Tf 1 0 0 1 %.1f %.1f Tm <%s> Tj" % (p.size, p.x, p.y, _hex(p.text)) for p in page
    ]
    return b"BT\n" + b"\n".join(parts) + b"\nET"


def _hex(text: str) -> bytes:
    return text.encode("utf-16-be").hex().encode("ascii")


def _file(objects: list[bytes]) -> bytes:
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    n = len(objects) + 1
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R /Info %d 0 R >>\n"
        b"startxref\n%d\n%%%%EOF\n" % (n, table, n, n - 1, len(out))
    )
