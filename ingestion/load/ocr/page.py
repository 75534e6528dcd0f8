"""Recognise a page picture: the order of the steps, and a cache of what was read."""

import hashlib
import logging
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from kgrag.errors import ModelError
from kgrag.files.cache_folder import cache_folder
from kgrag.files.whole_file import write_whole
from kgrag.ingestion.load.context import Number
from kgrag.ingestion.load.ocr.engine import Engine, Read, engine_version, loaded
from kgrag.ingestion.load.ocr.image import (
    RuledGrid,
    find_grids,
    lies_on_its_side,
    skew_of,
    straightened,
    without_seals,
)
from kgrag.ingestion.load.ocr.lines import as_printed, doubts, in_reading_order, page_items
from kgrag.ingestion.load.ocr.page_text import (
    DOUBT,
    NUMBER_DOUBT,
    Box,
    PageText,
    Piece,
    Quad,
    RuledCell,
    RuledTable,
)
from kgrag.ingestion.load.page_tables import Item
from kgrag.ingestion.load.reflow import PAGE_NUMBER
from kgrag.ingestion.load.seen import numbers_in

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Picture

_log = logging.getLogger(__name__)
_STEPS = "2"  # raise it when these steps come out differently: kept pages are read again
_NUMBER = re.compile(r"\d+(?:[.,．，]\d+)*[％%]?")
_UNREADABLE = 0.3  # mean confidence below which marks are no text
_OVER_SEAL = 0.9  # a piece over a seal must be read so surely, or is the seal's own
_NO_LINE = Quad((0, 0), (30, 0), (30, 30), (0, 30))  # of a page without text
_TRIED = 4  # of these are read both ways where a classifier has them upside down
_LOOKED_AT = 12  # lines, the longest, that tell whether a page stands on its head


def read_page(picture: "Picture", *, engine: Engine | None = None) -> PageText:
    """Return a page picture's text in reading order.

    The page is straightened (up to 5 degrees), turned upright by quarters, red seals are removed,
    and ruled tables rebuilt. Results are cached by the picture and the models' version.

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
    items, rows = page_items(page, scale=scale), list(page.rows())
    return Recognised(items, doubts(page, number) if items else [], sure_numbers(rows))


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
    grey, seals = without_seals(picture)
    quads = engine.lines(grey)
    if skew := skew_of(quads):
        grey = straightened(grey, skew)
        quads = engine.lines(grey)
    upright, quads, turned = _upright(grey, quads, engine)
    grids, page = find_grids(upright, statistics.median(q.box.height for q in quads or [_NO_LINE]))
    if grids:  # beside rules a detector overlooks single digits
        quads = engine.lines(page)
    if seals and (turned or skew):  # seals are few: looked up again rather than reckoned
        _, seals = without_seals(_quarters(straightened(picture, skew), turned))
    pieces = _recognised(page, _split(quads, grids), engine)
    pieces = [piece for piece in pieces if not _of_a_seal(piece, seals)]
    tables, rest = _tables(page, grids, pieces, engine)
    height, width = page.shape
    blocks = in_reading_order(rest, tables, width=width)
    return PageText(tuple(blocks), width, height, turned, skew, len(seals))


def _upright(
    grey: "Picture", quads: list[Quad], engine: Engine
) -> tuple["Picture", list[Quad], int]:
    """Return a page turned upright, its lines of text, and the quarter turns."""

    def looked_at(turned: int) -> tuple["Picture", list[Quad], int]:
        page = _quarters(grey, turned)
        return page, engine.lines(page), turned

    found = grey, quads, 0
    if lies_on_its_side(quads):
        found = looked_at(1)
    page, quads, turned = found
    longest = sorted(quads, key=lambda quad: -quad.box.width)[:_LOOKED_AT]
    pieces = [_cut(page, quad.box) for quad in longest]
    return looked_at(turned + 2) if _on_its_head(pieces, engine) else found


def _on_its_head(pieces: Sequence["Picture"], engine: Engine) -> bool:
    """Return whether lines are upside down by the classifier, and by reading them both ways."""
    if engine.upside_down(pieces) <= 0.5:
        return False

    def sure(pieces: Sequence["Picture"]) -> float:
        return sum(read.confidence for read in engine.read(pieces))

    few = pieces[:_TRIED]
    return sure([_quarters(piece, 2) for piece in few]) > sure(few)


def _quarters(picture: "Picture", turned: int) -> "Picture":
    """Return a picture turned clockwise by quarters."""
    import numpy as np

    return np.ascontiguousarray(np.rot90(picture, -turned))


def _split(quads: Sequence[Quad], grids: Sequence[RuledGrid]) -> list[Box]:
    """Return the boxes of lines, cut at rulings."""
    boxes: list[Box] = []
    for quad in quads:
        box = quad.box
        grid = next((grid for grid in grids if grid.box.holds(box.middle)), None)
        boxes += _cut_at_rules(box, grid) if grid else [box]
    return boxes


def _cut_at_rules(box: Box, grid: RuledGrid) -> Iterator[Box]:
    _, y = box.middle
    for cell in grid.cells:
        place = grid.cell_box(cell)
        part = Box(max(box.left, place.left), box.top, min(box.right, place.right), box.bottom)
        if place.top <= y < place.bottom and part.width > 0.25 * box.height:
            yield part


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


def _tables(
    page: "Picture", grids: Sequence[RuledGrid], pieces: Sequence[Piece], engine: Engine
) -> tuple[list[RuledTable], list[Piece]]:
    """Return tables with their text, and the pieces outside them."""
    tables: list[RuledTable] = []
    rest = list(pieces)
    for grid in grids:
        inside = [piece for piece in rest if grid.box.holds(piece.box.middle)]
        cells = tuple(_filled(page, grid, cell, inside, engine) for cell in grid.cells)
        if sum(bool(cell.pieces) for cell in cells) >= 2:
            tables.append(RuledTable(grid.box, cells))
            rest = [piece for piece in rest if piece not in inside]
    return tables, rest


def _filled(
    page: "Picture", grid: RuledGrid, cell: RuledCell, pieces: Sequence[Piece], engine: Engine
) -> RuledCell:
    place = grid.cell_box(cell)
    own = [piece for piece in pieces if place.holds(piece.box.middle)]
    if not own:  # a digit by itself is easily overlooked
        ink = _ink(page, place)
        own = _recognised(page, [ink], engine) if ink else []
    rows = in_reading_order(own, (), width=page.shape[1])
    flat = (piece for row in rows if not isinstance(row, RuledTable) for piece in row)
    return replace(cell, pieces=tuple(flat))


def _ink(page: "Picture", place: Box) -> Box | None:
    """Return the box of marks the size of a character inside a cell, if any."""
    import numpy as np

    inner = Box(place.left + 4, place.top + 4, place.right - 4, place.bottom - 4)
    if min(inner.width, inner.height) < 8:
        return None
    part = _cut(page, inner)
    paper = int(np.percentile(part, 90))
    ys, xs = np.nonzero(part < paper - 80)
    if len(ys) < 12:
        return None
    left, right, top, bottom = (int(v) for v in (xs.min(), xs.max(), ys.min(), ys.max()))
    if bottom - top < 8:
        return None
    return Box(
        inner.left + left - 5, inner.top + top - 4, inner.left + right + 6, inner.top + bottom + 5
    )


def _cut(page: "Picture", box: Box) -> "Picture":
    height, width = page.shape[:2]
    left, top = max(0, int(box.left)), max(0, int(box.top))
    right, bottom = min(width, round(box.right) + 1), min(height, round(box.bottom) + 1)
    return page[top:bottom, left:right]
