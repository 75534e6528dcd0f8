"""Red seals and stamps on a page: found by colour and shape, and taken out of the picture."""

from typing import TYPE_CHECKING

from kgrag.ingestion.load.ocr.page_text import Box

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Picture

# An organ's seal is a ring of 38 to 50 mm, a signature stamp a square of about 20 mm, on a page
# 210 mm wide. The characters of a red letterhead are smaller, and stand in a row.
_LEAST, _MOST = 0.085, 0.4  # of the page's shorter side
_LARGE = 0.15  # a seal of this size is none of a line's characters
_JOINED = 0.012  # strokes of a seal lie closer than this, of the page's shorter side
_ASPECT = 1.6
_REDDER = 45  # by which red exceeds green and blue, of 255: also where the ink is pale
_EDGE_SHARE = 0.55  # of a ring's or frame's way round there is ink at least


def without_seals(colour: "Picture") -> tuple["Picture", list[Box]]:
    """Return a page in grey, without the ink of red seals, and where they stood.

    Black under a seal stays. Other red text, such as a letterhead's, becomes dark grey.

    Args:
        colour: The page in red, green and blue, shape (height, width, 3); or in grey, of which
            no seal can be told.
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
    size = max(3, round(_JOINED * side) | 1)
    joined = cv2.morphologyEx(red, cv2.MORPH_CLOSE, np.ones((size, size), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined)
    found = []
    boxes = [Box(x, y, x + w, y + h) for x, y, w, h, _ in stats[1:count].tolist()]
    for box in boxes:
        left, top, width, height = int(box.left), int(box.top), int(box.width), int(box.height)
        short, long = sorted((width, height))
        if _LEAST * side <= long <= _MOST * side and long <= _ASPECT * short:
            part = red[top : top + height, left : left + width]
            if _has_rim(part) and not (long < _LARGE * side and _in_a_row(box, boxes)):
                found.append(box)
    return found


def _in_a_row(box: Box, boxes: list[Box]) -> bool:
    """Return whether at least two others of about its height stand beside it, as in a line."""
    beside = [
        other
        for other in boxes
        if abs(other.middle[1] - box.middle[1]) < 0.3 * box.height
        and abs(other.height - box.height) < 0.4 * box.height
    ]
    return len(beside) > 2


def _has_rim(part: "Picture") -> bool:
    """Return whether there is ink around the edge, seen from the middle: a ring, oval or frame."""
    import numpy as np

    height, width = part.shape
    ys, xs = np.nonzero(part)
    x, y = (xs - width / 2) / (width / 2), (ys - height / 2) / (height / 2)
    oval, frame = np.hypot(x, y), np.maximum(abs(x), abs(y))
    directions = (np.degrees(np.arctan2(y, x)) // 10).astype(int)
    return any(
        len(np.unique(directions[reach > 0.86])) >= _EDGE_SHARE * 36
        and (reach > 0.86).sum() > 0.1 * len(reach)
        for reach in (np.where(oval < 1.15, oval, 0.0), frame)
    )
