"""Pages drawn by the tests themselves, and recognised with the models of the extra `ocr`."""

from pathlib import Path

import pytest

_FONTS = (
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/System/Library/Fonts/PingFang.ttc",
    "C:/Windows/Fonts/simsun.ttc",
)


@pytest.fixture(scope="session")
def font():
    """Return a function that gives a Chinese font of a size in pixels."""
    image_font = pytest.importorskip("PIL.ImageFont", reason="kgrag[ocr] is not installed")
    path = next((path for path in _FONTS if Path(path).exists()), None)
    if path is None:
        pytest.skip("no Chinese font is installed")
    return lambda size: image_font.truetype(path, size)


@pytest.fixture(scope="session")
def engine():
    """Return the models."""
    pytest.importorskip("rapidocr", reason="kgrag[ocr] is not installed")
    from kgrag.ingestion.load.ocr.engine import Engine

    return Engine.load()


class Sheet:
    """A page that is drawn on."""

    def __init__(self, font, size=(900, 600)):
        from PIL import Image, ImageDraw

        self._font = font
        self.image = Image.new("RGB", size, "white")
        self.draw = ImageDraw.Draw(self.image)

    def text(self, x, y, words, *, size=28, fill="black"):
        """Write a line."""
        self.draw.text((x, y), words, font=self._font(size), fill=fill)

    def table(self, x, y, columns, rows, *, height=50):
        """Draw rules and words: a row is a list of (words, columns that it covers)."""
        edges = [x + sum(columns[:i]) for i in range(len(columns) + 1)]
        for i, row in enumerate(rows):
            top, at = y + i * height, 0
            for words, span in row:
                left, right = edges[at], edges[at + span]
                self.draw.rectangle((left, top, right, top + height), outline="black", width=2)
                self.text(left + 12, top + 8, words)
                at += span

    def seal(self, x, y, radius=70, words="某某市人民政府专用章"):
        """Draw a red seal: a ring, characters around, a star."""
        from PIL import Image, ImageDraw

        red = (214, 30, 40)
        self.draw.ellipse((x - radius, y - radius, x + radius, y + radius), outline=red, width=6)
        for i, character in enumerate(words):
            angle = 210 - i * 240 / (len(words) - 1)
            tile = Image.new("RGBA", (30, 30), (0, 0, 0, 0))
            ImageDraw.Draw(tile).text((3, 0), character, font=self._font(22), fill=red)
            tile = tile.rotate(angle - 90, expand=False)
            from math import cos, radians, sin

            left = x + (radius - 22) * cos(radians(angle)) - 15
            top = y - (radius - 22) * sin(radians(angle)) - 15
            self.image.paste(tile, (round(left), round(top)), tile)
        self.draw.regular_polygon((x, y, 16), 5, fill=red)

    def array(self, *, turned=0.0):
        """Return the page, turned counter-clockwise by degrees."""
        import numpy as np
        from PIL import Image

        sharp = Image.Resampling.BICUBIC
        return np.asarray(self.image.rotate(turned, sharp, expand=True, fillcolor="white"))


@pytest.fixture
def sheet(font):
    """Return a function that gives an empty page."""
    return lambda **more: Sheet(font, **more)
