"""Recognise a page picture: the order of the steps, and a cache of what was read."""

import hashlib
import logging
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kgrag.errors import ModelError
from kgrag.files.cache_folder import cache_folder
from kgrag.files.whole_file import write_whole
from kgrag.ingestion.load.context import Number
from kgrag.ingestion.load.grid import areas
from kgrag.ingestion.load.ocr.engine import Engine, Read, engine_version, loaded
from kgrag.ingestion.load.ocr.image import (
    find_rulings,
    lies_on_its_side,
    skew_of,
    straightened,
    without_seals,
)
from kgrag.ingestion.load.ocr.lines import as_printed, doubts, placed
from kgrag.ingestion.load.ocr.page_text import DOUBT, NUMBER_DOUBT, Box, PageText, Piece, Quad
from kgrag.ingestion.load.page_tables import Item, Table
from kgrag.ingestion.load.page_tables.ruled import Grid, grids, ruled_tables
from kgrag.ingestion.load.page_tables.shapes import Char, Ruling
from kgrag.ingestion.load.reflow import PAGE_NUMBER
from kgrag.ingestion.load.seen import numbers_in

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Picture

_log = logging.getLogger(__name__)
_STEPS = "3"  # raise it when these steps come out differently: kept pages are read again
_NUMBER = re.compile(r"\d+(?:[.,．，]\d+)*[％%]?")
_UNREADABLE = 0.3  # mean confidence below which marks are no text
_OVER_SEAL = 0.9  # a piece over a seal must be read so surely, or is the seal's own
_TRIED = 4  # lines, the longest, that tell whether a page stands on its head
_SURE = 0.8  # mean confidence of lines that do not
_POINTS = 12.0  # height of a usual line: rulings as near as in a PDF of such text are one


def read_page(picture: "Picture", *, engine: Engine | None = None) -> PageText:
    """Return a page picture's text in reading order.

    The page is straightened (up to 5 degrees), turned upright by quarters, red seals are removed,
    and ruled tables rebuilt as in PDFs. Results are cached by the picture and the models' version.

    Args:
        picture: 8 bits a channel: grey, shape (height, width), or red, green and blue, shape
            (height, width, 3). Body text should be 20 to 60 pixels high, as at 150 to 400 dpi.
        engine: The models; None for the process's own, whose results are cached.

    Raises:
        MissingDependencyError: If the extra `ocr` is not installed.
    """
    if engine is not None:
        return _read(picture, engine)
    # A JSON file a page in `ocr` of the user's cache folder; without such a folder there is none.
    hashed = hashlib.sha256(f"{engine_version()}, {_STEPS}\n{picture.shape}\n".encode())
    hashed.update(picture.tobytes())
    name = hashed.hexdigest()
    try:
        file = cache_folder() / "ocr" / name[:2] / f"{name}.json"
    except ModelError:
        return _read(picture, loaded())
    with suppress(OSError, ValueError):  # missing, or not ours
        return PageText.from_json(file.read_bytes())
    page = _read(picture, loaded())
    try:
        # Only its owner may read it: it holds the text of documents.
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(file, [page.to_json()])
    except OSError as exc:
        _log.warning("what was read of a page cannot be kept in %s: %s", file.parent, exc)
    return page


class Recognised(NamedTuple):
    """A page picture's lines and tables, warnings about doubtful lines, and sure numbers."""

    items: Sequence[Item]
    warnings: list[str]
    numbers: list[Number]


def read_lines(picture: "Picture", number: int, *, scale: float) -> Recognised:
    """Return what is read of a page picture.

    Args:
        picture: As for `read_page`.
        number: Of the page, from 1.
        scale: Points per pixel.
    """
    page = read_page(picture)
    found = placed(page, scale=scale)
    numbers = sure_numbers([row for _, row in found])
    return Recognised([item for item, _ in found], doubts(page, number), numbers)


def sure_numbers(rows: Sequence[Sequence[Piece]]) -> list[Number]:
    """Return the numbers of a page's rows that are read without doubt, but for that of the page."""
    rows = list(rows)
    for end in (0, -1):
        if rows and PAGE_NUMBER.fullmatch("".join(piece.text for piece in rows[end])):
            del rows[end]
    sure: list[Number] = []
    for piece in (piece for row in rows for piece in row if piece.confidence >= DOUBT):
        doubtful = Counter(numbers_in("\n".join(piece.doubtful)))
        for number in numbers_in(piece.text):
            if doubtful[number] <= 0:
                sure.append(Number(number, piece.box))
            doubtful[number] -= 1
    return sure


def _read(picture: "Picture", engine: Engine) -> PageText:
    upright, quads, skew, turned = _upright(picture, engine)
    page, seals = without_seals(upright)
    size = statistics.median([quad.box.height for quad in quads] or [30.0])
    rulings, mask = find_rulings(page, size)
    unit = size / _POINTS
    rulings = [replace(r, at=r.at / unit, start=r.start / unit, end=r.end / unit) for r in rulings]
    cells = _cells(grids(rulings), unit)
    page = _without_rules(page, mask, cells)
    if seals or cells:  # beside rules a detector overlooks single digits
        quads = engine.lines(page)
    boxes = [part for quad in quads for part in _cut_at_rules(quad.box, cells)]
    empty = (cell for cell in cells if not any(cell.holds(box.middle) for box in boxes))
    boxes += filter(None, (_ink(page, cell) for cell in empty))
    pieces = [p for p in _recognised(page, boxes, engine) if not _of_a_seal(p, seals)]
    tables = _tables(pieces, rulings, unit)
    return PageText(tuple(pieces), tuple(tables), turned, skew, len(seals))


def _upright(picture: "Picture", engine: Engine) -> tuple["Picture", list[Quad], float, int]:
    """Return a page upright and straight, its lines of text, its skew and the quarter turns."""
    quads = engine.lines(picture)
    skew, turned = skew_of(quads), int(lies_on_its_side(quads))
    if skew or turned:
        picture = _quarters(straightened(picture, skew), turned)
        quads = engine.lines(picture)
    longest = sorted(quads, key=lambda quad: -quad.box.width)[:_TRIED]
    pieces = [_cut(picture, quad.box) for quad in longest]
    sure = _sure(pieces, engine)
    if sure < _SURE and _sure([_quarters(piece, 2) for piece in pieces], engine) > sure:
        picture, turned = _quarters(picture, 2), turned + 2
        quads = engine.lines(picture)
    return picture, quads, skew, turned


def _sure(pieces: Sequence["Picture"], engine: Engine) -> float:
    return statistics.mean([read.confidence for read in engine.read(pieces)] or [1.0])


def _quarters(picture: "Picture", turned: int) -> "Picture":
    """Return a picture turned clockwise by quarters."""
    import numpy as np

    return np.ascontiguousarray(np.rot90(picture, -turned))


def _cells(found: Sequence[Grid], unit: float) -> list[Box]:
    """Return the cells of grids of two columns or more that are in no other, in pixels."""
    outer: list[Grid] = []
    for grid in found:
        if len(grid.xs) > 2 and not any(other.holds(grid) for other in outer):
            outer.append(grid)
    return [
        Box(g.xs[left] * unit, -g.ys[top] * unit, g.xs[right + 1] * unit, -g.ys[low + 1] * unit)
        for g in outer
        for top, low, left, right in areas(g.cells).values()
    ]


def _without_rules(page: "Picture", rules: "Picture", cells: Sequence[Box]) -> "Picture":
    """Return a page without the rulings of its tables."""
    import cv2
    import numpy as np

    page = page.copy()
    drawn = cv2.dilate(rules, np.ones((5, 5), np.uint8))
    for cell in (_grown(cell, 4) for cell in cells):
        part = _cut(page, cell)
        part[_cut(drawn, cell) > 0] = int(np.percentile(part, 90))
    return page


def _cut_at_rules(box: Box, cells: Sequence[Box]) -> list[Box]:
    """Return the parts of a line that are in different cells, or all of it."""
    edge = 0.1 * box.height  # so that the parts do not touch
    parts = [
        Box(max(box.left, cell.left + edge), box.top, min(box.right, cell.right - edge), box.bottom)
        for cell in cells
        if cell.top <= box.middle[1] < cell.bottom
    ]
    parts = [part for part in parts if part.width > 0.25 * box.height]
    return parts if len(parts) > 1 else [box]


def _recognised(page: "Picture", boxes: Sequence[Box], engine: Engine) -> list[Piece]:
    reads = engine.read([_cut(page, box) for box in boxes])
    return [
        _piece(read, box)
        for read, box in zip(reads, boxes, strict=True)
        if read.text and read.confidence >= _UNREADABLE
    ]


def _piece(read: Read, box: Box) -> Piece:
    doubtful = tuple(
        found[0]
        for found in _NUMBER.finditer(read.text)
        if min(read.characters[found.start() : found.end()], default=1.0) < NUMBER_DOUBT
    )
    return Piece(as_printed(read.text), box, round(read.confidence, 4), doubtful)


def _of_a_seal(piece: Piece, seals: Sequence[Box]) -> bool:
    """Return whether a piece is left of a seal's own characters."""
    over = any(seal.holds(piece.box.middle) for seal in seals)
    return over and piece.confidence < _OVER_SEAL


def _tables(pieces: Sequence[Piece], rulings: Sequence[Ruling], unit: float) -> list[Table]:
    """Return the ruled tables of a page; of their edges only the number counts on other pages."""
    chars = [
        Char(
            i,
            p.text,
            *(side / unit for side in (p.box.left, -p.box.bottom, p.box.right, -p.box.top)),
        )
        for i, p in enumerate(pieces)
    ]
    return [
        replace(table, edges=tuple(edge * unit for edge in table.edges), ruled=None)
        for table in ruled_tables(chars, rulings)
    ]


def _ink(page: "Picture", place: Box) -> Box | None:
    """Return the box of marks the size of a character inside a cell, if any."""
    import numpy as np

    part = _cut(page, _grown(place, -4))
    if not part.size:
        return None
    ys, xs = np.nonzero(part < int(np.percentile(part, 90)) - 80)
    if len(ys) < 12 or np.ptp(ys) < 8:
        return None
    left, top = place.left + 4, place.top + 4
    found = Box(left + xs.min(), top + ys.min(), left + xs.max(), top + ys.max())
    return _grown(Box(*map(float, found)), 5)


def _grown(box: Box, by: float) -> Box:
    return Box(box.left - by, box.top - by, box.right + by, box.bottom + by)


def _cut(page: "Picture", box: Box) -> "Picture":
    height, width = page.shape[:2]
    left, top = max(0, int(box.left)), max(0, int(box.top))
    right, bottom = min(width, round(box.right) + 1), min(height, round(box.bottom) + 1)
    return page[top:bottom, left:right]
