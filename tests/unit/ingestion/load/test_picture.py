"""Picture files and scanned PDF pages, with text recognition and without."""

import io
import re
from pathlib import Path

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.context import ocr_is
from kgrag.ingestion.load.formats import media_type_of
from kgrag.ingestion.load.ocr import engine as ocr_engine
from kgrag.ingestion.load.ocr.engine import is_installed
from kgrag.ingestion.load.picture import read_picture_file
from kgrag.ingestion.load.source import unsupported_reason

_FONT = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")
TITLE, LINE = "绿色园区管理办法", "到2025年，建成绿色园区32个。"

needs_ocr = pytest.mark.skipif(
    not is_installed() or not _FONT.exists(), reason="kgrag[ocr] or a Chinese font is missing"
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))


def saved(form, n=1):
    from PIL import Image, ImageDraw, ImageFont

    pages = []
    for number in range(n):
        page = Image.new("RGB", (620, 300), "white")
        draw = ImageDraw.Draw(page)
        draw.text((120, 40), TITLE, "black", ImageFont.truetype(str(_FONT), 36))
        draw.text((60, 130 + 20 * number), LINE, "black", ImageFont.truetype(str(_FONT), 28))
        pages.append(page)
    held = io.BytesIO()
    pages[0].save(held, form, **({"save_all": True, "append_images": pages[1:]} if n > 1 else {}))
    return held.getvalue()


def bare(text):
    return re.sub(r"\s", "", text)


@needs_ocr
def test_a_tiff_of_two_pages_is_a_document_of_two():
    """Each page is a segment."""
    parsed = read_picture_file(saved("TIFF", 2), name="a.tif", stem="a")
    assert [segment.number for segment in parsed.segments] == [1, 2]
    assert bare(parsed.text).count(bare(LINE)) == 2


@needs_ocr
def test_a_scanned_pdf_is_read():
    """A page without a text layer is read as a picture, and said to be."""
    from kgrag.ingestion.load.pdf import read_pdf

    parsed = read_pdf(saved("PDF"), name="a.pdf", stem="a")
    assert bare(LINE) in bare(parsed.text)
    assert "without readable text" in parsed.warnings[0]


@needs_ocr
def test_a_picture_without_text_says_so():
    """An empty page is no document."""
    from PIL import Image

    held = io.BytesIO()
    Image.new("RGB", (300, 300), "white").save(held, "PNG")
    with pytest.raises(IngestionError, match=r"a\.png: no text is found"):
        read_picture_file(held.getvalue(), name="a.png", stem="a")


def test_pictures_are_left_alone_where_that_is_set():
    """The setting is named."""
    with ocr_is("off"), pytest.raises(IngestionError, match=r"a\.png: .*ingest\.ocr"):
        read_picture_file(b"x", name="a.png", stem="a")


def test_without_the_extra_the_way_to_it_is_named(monkeypatch):
    """Pictures in folders are passed over as they were."""
    monkeypatch.setattr(ocr_engine, "find_spec", lambda _name: None)
    assert media_type_of(".png") is None
    assert "pip install 'kgrag[ocr]'" in unsupported_reason(Path("a.png"))
