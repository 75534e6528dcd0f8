"""A page picture made ready for recognition: straightened, without seals, its rulings found."""

import math
import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgrag.ingestion.load.ocr.page_text import Box, Quad
from kgrag.ingestion.load.page_tables.shapes import Ruling

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Picture

_SKEW = 0.15, 5.0  # degrees; by the least a line of 160 mm rises by a seventh of a character
_LONG = 3  # times as long as high is a line that tells how the page lies
# An organ's seal is a ring of 38 to 50 mm on a page 210 mm wide; characters are smaller.
_SEAL = 0.15, 0.4  # of the page's shorter side
_REDDER = 45  # by which red exceeds green and blue, of 255: also where the ink is pale
_ACROSS, _DOWN = 2.2, 0.9  # heights of a line; what is shorter is a stroke of a character
_THICK = 0.28  # of that height: a rule is thinner, and ends so near to the next
_MOST_RULES = 800  # a hatched area has more


def skew_of(lines: Sequence[Quad]) -> float:
    """Return by how many degrees lines of text rise to the right, from -5 to 5: the median.

    Those of a page on its side run down; short ones tell nothing.
    """
    angles = []
    for (left, top), (right, at), (end, bottom), _ in lines:
        along, down = math.dist((left, top), (right, at)), math.dist((right, at), (end, bottom))
        if max(along, down) > _LONG * min(along, down):
            rise = (top - at, right - left) if along > down else (end - right, bottom - at)
            angles.append(math.degrees(math.atan2(*rise)))
    found = statistics.median(angles) if angles else 0.0
    least, most = _SKEW
    return round(min(max(found, -most), most), 2) if abs(found) >= least else 0.0


def lies_on_its_side(lines: Sequence[Quad]) -> bool:
    """Return whether most of the longer lines run from top to bottom."""
    shapes = [(line.box.width, line.box.height) for line in lines]
    longer = [w > h for w, h in shapes if max(w, h) > _LONG * min(w, h)]
    return len(longer) >= 2 and sum(longer) * 2 < len(longer)


def straightened(picture: "Picture", skew: float) -> "Picture":
    """Return a picture turned clockwise by its skew, of the same size, edges filled with white."""
    import cv2

    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -skew, 1.0)
    turned: Picture = cv2.warpAffine(
        picture, matrix, (width, height), flags=cv2.INTER_CUBIC, borderValue=(255,) * 3
    )
    return turned


def without_seals(colour: "Picture") -> tuple["Picture", list[Box]]:
    """Return a page in grey, without the ink of round red seals, and their boxes.

    Black under a seal stays. Other red text, such as a letterhead's, becomes dark grey.

    Args:
        colour: The page, shape (height, width, 3); a grey one is returned as it is.
    """
    import cv2
    import numpy as np

    if colour.ndim == 2:
        return colour, []
    channels = colour.astype(np.int16)
    red = channels[:, :, 0] - channels[:, :, 1:].max(axis=2) > _REDDER
    grey: Picture = cv2.cvtColor(colour, cv2.COLOR_RGB2GRAY)
    seals = _seals(red.astype(np.uint8))
    for seal in seals:
        part = np.s_[int(seal.top) : int(seal.bottom), int(seal.left) : int(seal.right)]
        # Red ink is as bright as paper in the red channel, black ink as dark as in any.
        faded = colour[:, :, 0][part].astype(np.int16)
        near = cv2.dilate(red[part].astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        paper = int(np.percentile(grey[part], 90))
        faded = np.where(faded > 0.55 * paper, paper, faded)
        grey[part] = np.where(near, faded, grey[part]).astype(np.uint8)
    return grey, seals


def _seals(red: "Picture") -> list[Box]:
    import cv2
    import numpy as np

    side = min(red.shape)
    least, most = (share * side for share in _SEAL)
    size = max(3, side // 80 | 1)  # strokes of a seal lie closer than this
    joined = cv2.morphologyEx(red, cv2.MORPH_CLOSE, np.ones((size, size), np.uint8))
    found = []
    for left, top, width, height in _pieces(joined)[1]:
        short, long = sorted((width, height))
        if (
            least <= long <= most
            and long < 1.6 * short
            and _is_ring(red[top : top + height, left : left + width])
        ):
            found.append(Box(left, top, left + width, top + height))
    return found


def _is_ring(part: "Picture") -> bool:
    """Return whether there is ink on more than half of the way round."""
    import numpy as np

    ys, xs = np.nonzero(part)
    y, x = (2 * at / size - 1 for at, size in zip((ys, xs), part.shape, strict=True))
    rim = abs(np.hypot(x, y) - 1) < 0.15
    directions = np.degrees(np.arctan2(y, x)[rim]) // 10
    return bool(rim.mean() > 0.1 and len(np.unique(directions)) > 18)


def find_rulings(grey: "Picture", size: float) -> tuple[list[Ruling], "Picture"]:
    """Return the rulings of a page in pixels, heights negative, and a mask of them.

    Args:
        grey: The page, upright and straight.
        size: Height of a usual line of text, in pixels.
    """
    import cv2
    import numpy as np

    ink = cv2.adaptiveThreshold(
        grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 31, 12
    )
    long, short = max(20, round(_ACROSS * size)), max(10, round(_DOWN * size))
    across, down = _drawn(ink, long), _drawn(ink.T, short).T
    near = max(3, round(_THICK * size))
    at_rule = cv2.dilate(across, np.ones((2 * near + 1, 2 * near + 1), np.uint8))
    rules = [
        Ruling(True, -top - height / 2, left, left + width)
        for left, top, width, height in _pieces(across)[1]
    ]
    labels, places = _pieces(np.ascontiguousarray(down))
    kept = np.zeros(len(places) + 1, np.uint8)
    for label, (left, top, width, height) in enumerate(places, 1):
        # As short as a line is high is a rule between two cells of a row, which ends at others.
        ends = (at_rule[at, left : left + width].any() for at in (top, top + height - 1))
        if width <= 3 * near and (height >= 2 * long or all(ends)):
            kept[label] = 1
            rules.append(Ruling(False, left + width / 2, -top - height, -top))
    mask = across | kept[labels]
    return ([], np.zeros_like(mask)) if len(rules) > _MOST_RULES else (rules, mask)


def _drawn(ink: "Picture", least: int) -> "Picture":
    """Return a mask of the strokes across that are so long."""
    import cv2
    import numpy as np

    whole = cv2.morphologyEx(np.ascontiguousarray(ink), cv2.MORPH_CLOSE, np.ones((1, 5), np.uint8))
    found: Picture = cv2.morphologyEx(whole, cv2.MORPH_OPEN, np.ones((1, least), np.uint8))
    return found // 255


def _pieces(mask: "Picture") -> tuple["Picture", list[tuple[int, int, int, int]]]:
    """Return the connected pieces of a mask, numbered from 1: left, top, width and height."""
    import cv2

    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    return labels, [tuple(stat[:4]) for stat in stats[1:count].tolist()]
