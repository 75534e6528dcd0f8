"""Text of a PDF page that is not read with it: what nobody sees, and watermarks."""

import ctypes
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from kgrag.ingestion.load.page_tables.find import bounds, page_objects
from kgrag.ingestion.load.page_tables.shapes import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pypdfium2 import PdfMatrix, PdfPage, PdfTextPage

Place = tuple[str, int, int]
Colour = tuple[int, ...]

# Even large text with less contrast to its paper is hard to read: WCAG 2.2, 1.4.3.
_LEAST_CONTRAST = 3.0
_SAME = 12  # of 255: colours that differ by less cannot be told apart
_SMALLEST = 1.0  # point; nobody reads smaller letters
_LARGER = 1.5  # than the page's other text
_OBLIQUE = math.radians(5)  # from upright or a quarter turn; a scan lies less awry
_OFTEN = 3
_LONGEST = 2000  # pixels of a page's longer side: a poster is looked at from farther away
_LAYER = "OC\0".encode("utf-16-le")
_INVISIBLE = (3, 7)  # modes of PDF 32000-1, 9.3.6: neither filled nor stroked


@dataclass(slots=True)
class _Text:
    """A text object: where it is, and how it is shown.

    Attributes:
        size: Of its letters, in points.
        angle: To the page, in radians.
        colour: Of its letters, blended with white paper.
        in_layer: Whether it is in optional content, which may be off.
    """

    item: Any
    box: Box
    size: float
    angle: float
    colour: Colour
    mode: int
    in_layer: bool

    @property
    def address(self) -> int:
        """What tells it from other objects, as long as the page is open."""
        return address(self.item)

    @property
    def is_pale(self) -> bool:
        """Whether it hardly stands out from white paper."""
        return _contrast(self.colour) < _LEAST_CONTRAST

    def follows(self, other: "_Text") -> bool:
        """Return whether it continues another text of its kind, on the same line."""
        gap = self.box[0] - other.box[2]
        return (
            (self.colour, self.size, self.angle) == (other.colour, other.size, other.angle)
            and abs(self.box[1] - other.box[1]) < self.size / 2
            and abs(gap) < self.size / 2
        )


class _Usual(NamedTuple):
    """The size, colour and angle of most of a page's text."""

    size: float
    colour: Colour
    angle: float

    @classmethod
    def of(cls, texts: Sequence[_Text]) -> "_Usual":
        """Weigh texts by their length."""
        sizes: dict[float, float] = defaultdict(float)
        colours: dict[Colour, float] = defaultdict(float)
        angles: dict[float, float] = defaultdict(float)
        for text in texts:
            n = max(text.box[2] - text.box[0], text.box[3] - text.box[1]) / max(text.size, 1.0)
            sizes[round(text.size, 1)] += n
            colours[text.colour] += n
            angles[round(text.angle, 2)] += n
        upright = [angle for angle in angles if not _is_oblique(angle)]
        # Marks may have more letters than a short page.
        is_awry = sum(angles[angle] for angle in upright) * 10 < sum(angles.values())
        return cls(
            max(sizes, key=sizes.__getitem__),
            max(colours, key=colours.__getitem__),
            max(angles if is_awry else upright, key=angles.__getitem__),
        )

    def is_large(self, text: _Text) -> bool:
        """Return whether a text is larger than most."""
        return text.size > _LARGER * self.size

    def is_turned(self, text: _Text) -> bool:
        """Return whether a text is not level with most."""
        return abs(text.angle - self.angle) > _OBLIQUE

    def is_odd(self, text: _Text) -> bool:
        """Return whether a text may be a mark."""
        return (
            text.is_pale
            or text.colour != self.colour
            or self.is_large(text)
            or self.is_turned(text)
        )

    def is_turned_mark(self, text: _Text, n_copies: int) -> bool:
        """Return whether a text is turned, and pale, large or repeated."""
        is_repeated = n_copies >= _OFTEN and _is_oblique(text.angle)
        return self.is_turned(text) and (text.is_pale or self.is_large(text) or is_repeated)


@dataclass(slots=True)
class _Phrase:
    """Text objects that are read as one, and how many other characters are at their place."""

    parts: list[_Text]
    words: str
    n_over: int

    @property
    def place(self) -> Place:
        """Its text and, to some points, where it begins."""
        left, bottom, _, _ = self.parts[0].box
        return self.words, round(left / 5), round(bottom / 5)

    def is_over(self, usual: _Usual) -> bool:
        """Return whether it is pale or large, and over other text."""
        is_pale, is_large = self.parts[0].is_pale, usual.is_large(self.parts[0])
        return (is_pale or is_large) and self.n_over > is_large


def unseen(
    page: "PdfPage", often: Set[Place] = frozenset(), *, layered: bool = False
) -> tuple[frozenset[int], frozenset[Place]]:
    """Return the addresses of text objects that are not read, and places of possible marks.

    Nobody sees text that is drawn invisibly (but over a picture it is what was recognised there),
    is smaller than a point, off the page, in the colour of its ground, or in a layer that is off.
    A watermark is turned, and pale, large or repeated; or pale or large, and over other text; or
    pale, and at the same place on most pages; or repeated, and over other text or pale and spread
    over the page.

    Args:
        page: Of PDFium, as it was opened.
        often: Places where most pages have the same pale text.
        layered: Whether the file has layers, any of which may be off.
    """
    texts, pictures = _objects(page)
    if not texts:
        return frozenset(), frozenset()
    hidden = _hidden(page, texts, pictures, layered=layered)
    if hidden:
        texts = [text for text in texts if text.address not in hidden]
    marks, places = _marks(page, texts, often) if texts else ([], [])
    return hidden | {mark.address for mark in marks}, frozenset(places)


def _objects(page: "PdfPage") -> tuple[list[_Text], list[Box]]:
    """Return the texts of a page, and where its pictures are."""
    from pypdfium2 import raw

    texts: list[_Text] = []
    pictures: list[Box] = []
    for item, kind, matrix in page_objects(page):
        if kind == raw.FPDF_PAGEOBJ_TEXT:
            if box := bounds(item, matrix):
                texts.append(_text(item, box, matrix))
        elif kind == raw.FPDF_PAGEOBJ_IMAGE and (box := bounds(item, matrix)):
            pictures.append(box)
    return texts, pictures


def _text(item: Any, box: Box, outer: "PdfMatrix") -> _Text:
    """Return a text object with what it is drawn by; `outer` places the form that it is in."""
    from pypdfium2 import raw

    own, font_size, parts = raw.FS_MATRIX(), ctypes.c_float(), [ctypes.c_uint() for _ in "rgba"]
    raw.FPDFPageObj_GetMatrix(item, own)
    raw.FPDFTextObj_GetFontSize(item, font_size)
    mode = raw.FPDFTextObj_GetTextRenderMode(item)
    get = raw.FPDFPageObj_GetStrokeColor if mode == 1 else raw.FPDFPageObj_GetFillColor
    known = get(item, *parts)  # not where it is a pattern
    *colour, alpha = (part.value for part in parts) if known else (0, 0, 0, 255)
    along = own.a * outer.a + own.b * outer.c, own.a * outer.b + own.b * outer.d
    across = own.c * outer.a + own.d * outer.c, own.c * outer.b + own.d * outer.d
    size, angle = abs(font_size.value) * math.hypot(*across), math.atan2(along[1], along[0])
    blended = tuple(255 - (255 - part) * alpha // 255 for part in colour)
    return _Text(item, box, size, angle, blended, mode, _in_layer(item))


def _in_layer(item: Any) -> bool:
    from pypdfium2 import raw

    name, n = ctypes.create_string_buffer(8), ctypes.c_ulong()
    wide = ctypes.cast(name, ctypes.POINTER(raw.FPDF_WCHAR))
    for i in range(raw.FPDFPageObj_CountMarks(item)):
        raw.FPDFPageObjMark_GetName(raw.FPDFPageObj_GetMark(item, i), wide, len(name), n)
        if name.raw[: n.value] == _LAYER:
            return True
    return False


@lru_cache(maxsize=1024)
def _contrast(colour: Colour) -> float:
    """Return the contrast of a colour to white, from 1 to 21 (WCAG 2.2)."""
    parts = (c / 255 for c in colour)
    red, green, blue = (c / 12.92 if c <= 0.04 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def address(item: Any) -> int:
    """Return what tells an object of a page from others, as long as the page is open."""
    return ctypes.cast(item, ctypes.c_void_p).value or 0


def _hidden(
    page: "PdfPage", texts: Sequence[_Text], pictures: Sequence[Box], *, layered: bool
) -> frozenset[int]:
    left, bottom, right, top = page.get_bbox()
    found = set()
    doubtful = []
    for text in texts:
        box = text.box
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        is_off = box[2] < left or box[0] > right or box[3] < bottom or box[1] > top
        is_tiny = max(text.size, min(box[2] - box[0], box[3] - box[1])) < _SMALLEST
        if is_off or is_tiny:
            found.add(text.address)
        elif text.mode in _INVISIBLE:
            if not any(a <= x <= c and b <= y <= d for a, b, c, d in pictures):
                found.add(text.address)
        elif layered or text.is_pale or text.in_layer:
            doubtful.append(text)
    if doubtful:
        found |= set(_without_ink(page, texts, doubtful))
    return frozenset(found)


def _without_ink(
    page: "PdfPage", texts: Sequence[_Text], doubtful: Sequence[_Text]
) -> Iterator[int]:
    """Yield the addresses of texts that leave no ink where the page is drawn.

    Where a font is not in the file and no other text in it is seen to be drawn, only those in the
    colour of their ground.
    """
    scale = min(1.0, _LONGEST / max(page.get_size()))
    pixels = page.render(scale=scale, rev_byteorder=True).to_numpy()[:, :, :3]
    grounds = {text.address: _ground(page, text.box, pixels) for text in texts}
    drawn = {_font(text.item) for text in texts if grounds[text.address] is None}
    for text in doubtful:
        ground = grounds[text.address]
        if ground is None:
            continue
        name, is_held = _font(text.item)
        same = all(abs(a - b) <= _SAME for a, b in zip(text.colour, ground, strict=True))
        if same or is_held or (name, is_held) in drawn:
            yield text.address


def _ground(page: "PdfPage", box: Box, pixels: "NDArray[Any]") -> Colour | None:
    """Return the colour of a part of a page; None where it is not of one colour."""
    from pypdfium2 import raw

    xs, ys = [], []
    x, y = ctypes.c_int(), ctypes.c_int()
    high, wide = pixels.shape[:2]
    for corner in (box[:2], box[2:]):
        raw.FPDF_PageToDevice(page, 0, 0, wide, high, 0, *corner, x, y)
        xs.append(x.value)
        ys.append(y.value)
    part = pixels[max(min(ys), 0) : max(ys) + 1, max(min(xs), 0) : max(xs) + 1].reshape(-1, 3)
    if not len(part) or (part.max(axis=0).astype(int) - part.min(axis=0)).max() > _SAME:
        return None
    return tuple(map(int, part[0]))


def _font(item: Any) -> tuple[str, bool]:
    """Return the name of a text's font, and whether the font is in the file."""
    from pypdfium2 import raw

    font, buffer = raw.FPDFTextObj_GetFont(item), ctypes.create_string_buffer(128)
    raw.FPDFFont_GetBaseFontName(font, buffer, len(buffer))
    return buffer.value.decode("utf-8", "replace"), raw.FPDFFont_GetIsEmbedded(font) == 1


def _marks(
    page: "PdfPage", texts: Sequence[_Text], often: Set[Place]
) -> tuple[list[_Text], list[Place]]:
    """Return the watermarks of a page, and the places of its other pale texts."""
    usual = _Usual.of(texts)
    odd = [text for text in texts if usual.is_odd(text)]
    if not odd:
        return [], []
    with closing(page.get_textpage()) as text_page:
        phrases = _phrases(odd, text_page)
    copies: dict[tuple[str, Colour], list[_Phrase]] = {}
    for phrase in phrases:
        copies.setdefault((phrase.words, phrase.parts[0].colour), []).append(phrase)
    marks: list[_Text] = []
    places: list[Place] = []
    for phrase in phrases:
        text = phrase.parts[0]
        same = copies[phrase.words, text.colour]
        is_mark = usual.is_turned_mark(text, len(same)) or phrase.is_over(usual) or _is_tiled(same)
        if is_mark or (text.is_pale and phrase.place in often):
            marks += phrase.parts
        elif text.is_pale:
            places.append(phrase.place)
    return marks, places


def _is_tiled(same: "Sequence[_Phrase]") -> bool:
    """Return whether copies of a text are over other text, or pale and all over the page."""
    if len(same) < _OFTEN or len(same[0].words) < 2:
        return False
    rows, columns = ({each.place[side] for each in same} for side in (2, 1))
    is_spread = same[0].parts[0].is_pale and min(len(rows), len(columns)) > 1
    return is_spread or any(each.n_over > 0 for each in same)


def _phrases(texts: Iterable[_Text], text_page: "PdfTextPage") -> "list[_Phrase]":
    """Return texts, with those together that only follow each other letter by letter."""
    phrases: list[_Phrase] = []
    for text in texts:
        words = _words(text.item, text_page)
        n_over = _n_within(text_page, text.box) - len(words)
        if phrases and text.follows(phrases[-1].parts[-1]):
            phrases[-1].parts.append(text)
            phrases[-1].words += words
            phrases[-1].n_over += max(n_over, 0)
        else:
            phrases.append(_Phrase([text], words, n_over))
    return phrases


def _n_within(text_page: "PdfTextPage", box: Box) -> int:
    """Return how many characters are at a place; those that only touch its edges are not."""
    edge = min(box[2] - box[0], box[3] - box[1]) / 4
    inner = box[0] + edge, box[1] + edge, box[2] - edge, box[3] - edge
    return len("".join(text_page.get_text_bounded(*inner).split()))


def _is_oblique(angle: float) -> bool:
    quarter = math.pi / 2
    return abs(angle - quarter * round(angle / quarter)) > _OBLIQUE


def _words(item: Any, text_page: "PdfTextPage") -> str:
    from pypdfium2 import raw

    buffer = ctypes.create_string_buffer(256)
    wide = ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR))
    raw.FPDFTextObj_GetText(item, text_page, wide, 128)
    return "".join(buffer.raw.decode("utf-16-le", "replace").partition("\0")[0].split())
