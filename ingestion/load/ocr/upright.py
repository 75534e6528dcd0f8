"""Puts a page picture upright: straightens it, and turns it by quarters."""

from typing import TYPE_CHECKING

from kgrag.ingestion.load.ocr.page_text import Quad

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Picture

MOST_SKEW = 5.0  # degrees
_LEAST_SKEW = 0.15  # degrees; a line of 160 mm rises by 0.4 mm, a seventh of a character
_COARSE, _FINE = 0.5, 0.1  # steps of the search, in degrees
_SIDE = 900  # pixels of the picture that is searched: strokes of body text are still there


def skew_of(grey: "Picture") -> float:
    """Return by how many degrees a page's lines rise to the right, from -5 to 5.

    At the right angle the ink of every row of pixels is either much or none: the differences of
    neighbouring rows, squared and summed, are greatest (Postl, US patent 4,723,297, 1988). Of a
    page on its side the same holds for columns, so both are looked at.

    Args:
        grey: The page, shape (height, width), 0 for black.
    """
    import cv2
    import numpy as np

    scale = min(1.0, _SIDE / max(grey.shape))
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    paper = cv2.medianBlur(small, 51) if min(small.shape) > 51 else np.full_like(small, 255)
    ink = cv2.subtract(paper, small)
    if int(ink.max()) < 16:
        return 0.0

    def sharpness(angle: float) -> float:
        turned = _turned(ink, angle, fill=0)
        return max(
            float(np.square(np.diff(turned.sum(axis=axis, dtype=np.float64))).sum())
            for axis in (0, 1)
        )

    coarse = max(np.arange(-MOST_SKEW, MOST_SKEW + _COARSE, _COARSE), key=sharpness)
    fine = max(np.arange(coarse - _COARSE, coarse + _COARSE + _FINE, _FINE), key=sharpness)
    found = float(np.clip(fine, -MOST_SKEW, MOST_SKEW))
    return round(found, 2) if abs(found) >= _LEAST_SKEW else 0.0


def straightened(picture: "Picture", skew: float) -> "Picture":
    """Return a picture turned clockwise by its skew, of the same size, edges filled with white.

    Args:
        picture: Grey or colour.
        skew: As `skew_of` gives it.
    """
    return _turned(picture, skew, fill=255) if skew else picture


def lies_on_its_side(lines: list[Quad]) -> bool:
    """Return whether most of the longer lines run from top to bottom."""
    boxes = [line.box for line in lines]
    longer = [box for box in boxes if max(box.width, box.height) > 3 * min(box.width, box.height)]
    n_upright = sum(box.width > box.height for box in longer)
    return len(longer) >= 2 and n_upright * 2 < len(longer)


def _turned(picture: "Picture", angle: float, *, fill: int) -> "Picture":
    import cv2

    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -angle, 1.0)
    turned: Picture = cv2.warpAffine(
        picture, matrix, (width, height), flags=cv2.INTER_CUBIC, borderValue=(fill,) * 3
    )
    return turned
