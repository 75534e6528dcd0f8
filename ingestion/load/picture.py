"""Picture files: scans and photographs of pages, a TIFF with as many pages as it has."""

import io
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError, needs_extra
from kgrag.ingestion.load.context import Scan, page_done, seeing
from kgrag.ingestion.load.ocr import Recognised, read_lines, why_unread
from kgrag.ingestion.load.page_tables import Item
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.ingestion.load.reflow import reflow
from kgrag.ingestion.load.seen import page_items, page_text
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.text.messages import message

if TYPE_CHECKING:
    from PIL import Image

    from kgrag.ingestion.load.ocr.page_text import Picture

_MOST_PIXELS = 60_000_000  # A3 at 400 dpi has 31 million
_LARGEST_SIDE = 3600  # pixels; A4 at 300 dpi has 3508, and more adds nothing
_LONGEST_SHOWN = 1800  # pixels of a page that is shown to a vision model: A4 at 150 dpi
_A4 = 842.0  # points of the longer side: a picture's own resolution is seldom true


def read_picture_file(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return the text of a PNG, JPEG, TIFF, BMP or WebP: a paragraph a line, a segment a page.

    Raises:
        IngestionError: It is damaged, no text is found in it, or pictures are not read.
    """
    sight, why = seeing(), why_unread()
    if why and not (sight.wanted or sight.read):
        raise IngestionError("{name}: is a picture, and cannot be read: {why}", name=name, why=why)
    pages: list[list[Item]] = []
    said: list[str] = []
    try:
        for number, picture in enumerate(open_pictures(data), 1):
            if number in sight.read:
                pages.append(page_items(sight.read[number]))
                continue
            scale = _A4 / max(picture.shape[:2])
            read = Recognised([], [], []) if why else read_lines(picture, number, scale=scale)
            page_done()
            pages.append([*read.items])
            said += read.warnings if read.items else [message("page {n}: no text found", n=number)]
            if sight.wanted:
                show(Scan(number, page_text(read.items), tuple(read.numbers)), picture)
    except IngestionError as exc:
        raise IngestionError("{name}: {what}", name=name, what=exc) from exc
    text, segments = reflow(pages)
    if not text:
        raise IngestionError(
            "{name}: no text is found in the picture; scan it at 200 to 300 dpi", name=name
        )
    text, unusable = replace_unusable(text)
    return Parsed(
        text=text,
        title=find_title(text) or guess_title(text, stem),
        segments=segments,
        warnings=(*said, *unusable),
    )


def show(page: Scan, picture: "Picture") -> None:
    """Have a page shown to a vision model, with its picture."""
    seeing().scans.append(page._replace(jpeg=as_jpeg(picture)))
    page_done()


def as_jpeg(picture: "Picture") -> bytes:
    """Return a picture as a JPEG file of at most 1800 pixels a side.

    Raises:
        MissingDependencyError: If the extra `vision` is not installed.
    """
    with needs_extra("vision", "pictures of pages"):
        import PIL.Image
    image, data = PIL.Image.fromarray(picture), io.BytesIO()
    image.thumbnail((_LONGEST_SHOWN, _LONGEST_SHOWN))
    image.save(data, "JPEG", quality=85)
    return data.getvalue()


def open_pictures(data: bytes) -> Iterator["Picture"]:
    """Yield the pages of a picture file: one, or as many as a TIFF has.

    Args:
        data: A PNG, JPEG, TIFF, BMP or WebP.

    Raises:
        IngestionError: If it is damaged, no picture, or too large.
        MissingDependencyError: If the extra `ocr` is not installed.
    """
    with needs_extra("ocr", "reading pictures"):
        import PIL.Image
        from PIL import ImageOps, ImageSequence
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what Pillow thinks large is bounded below
            with PIL.Image.open(io.BytesIO(data)) as file:
                for frame in ImageSequence.Iterator(file):
                    if frame.width * frame.height > _MOST_PIXELS:
                        raise IngestionError(
                            "has {width} x {height} pixels, more than {most_pixels:,}; scan "
                            "it at 300 dpi, or cut it into pages",
                            width=frame.width,
                            height=frame.height,
                            most_pixels=_MOST_PIXELS,
                        )
                    yield _as_array(ImageOps.exif_transpose(frame))
    except (OSError, ValueError, SyntaxError, EOFError, PIL.Image.DecompressionBombError) as exc:
        raise IngestionError(
            "is damaged or no picture ({error}); open it and save it again", error=exc
        ) from exc


def _as_array(image: "Image.Image") -> "Picture":
    """Return a picture of Pillow's on white, with three channels, not needlessly large."""
    import numpy as np
    import PIL.Image

    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        values = np.asarray(image, dtype=float)
        span = max(float(values.max() - values.min()), 1.0)
        image = PIL.Image.fromarray(((values - values.min()) * (255 / span)).astype(np.uint8))
    if "A" in image.getbands() or "transparency" in image.info:
        image = image.convert("RGBA")
        paper = PIL.Image.new("RGBA", image.size, "white")
        image = PIL.Image.alpha_composite(paper, image)
    image = image.convert("RGB")
    longest = max(image.size)
    if longest > _LARGEST_SIDE:
        image.thumbnail((_LARGEST_SIDE, _LARGEST_SIDE))
    return np.asarray(image, dtype=np.uint8)
