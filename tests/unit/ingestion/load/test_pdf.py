"""PDF files: text layer, pages, and files that cannot be read."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.ocr.choice import ocr_is
from kgrag.ingestion.load.page_tables import Line
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.pdf import read_pdf
from kgrag.ingestion.load.scanned import Recognised
from scripts.pdf_writer import Block, write_pdf

PARAGRAPH = (
    "为贯彻落实决策部署，到2025年，全省单位地区生产总值能耗比2020年下降14%，PUE降至1.3以下。"
)


def pdf(*texts: str) -> bytes:
    """Return a PDF with a title and paragraphs."""
    title = Block(("云岭省节能规划（2022—2025年）",), 20, "center")
    return write_pdf([title, *(Block((text,)) for text in texts)], title="x")


def read(data: bytes) -> Parsed:
    """Read a PDF as if it came from a file."""
    return read_pdf(data, name="a.pdf", stem="stem")


def test_read_pdf_when_text_is_set_in_lines():
    """Paragraphs come back whole, without page numbers and without gaps around digits."""
    parsed = read(pdf("一、总体要求", PARAGRAPH * 2, "（一）目标。" + PARAGRAPH))

    assert parsed.text.split("\n") == [
        "云岭省节能规划（2022—2025年）",
        "一、总体要求",
        PARAGRAPH * 2,
        "（一）目标。" + PARAGRAPH,
    ]
    assert parsed.title == "云岭省节能规划（2022—2025年）"
    assert parsed.warnings == ()


def test_read_pdf_when_there_are_several_pages():
    """Every page has its segment, in order, and together they hold the text."""
    parsed = read(pdf(*[f"{i}. {PARAGRAPH * 3}" for i in range(1, 25)]))

    assert len(parsed.segments) > 3
    assert [s.number for s in parsed.segments] == list(range(1, len(parsed.segments) + 1))
    assert {s.kind for s in parsed.segments} == {"page"}
    assert parsed.text.count("\n") == 24
    gaps = [parsed.text[a.end : b.start] for a, b in pairwise(parsed.segments)]
    assert set(gaps) <= {"", "\n"}


def test_read_pdf_when_there_is_a_table():
    """Columns of a row stay on one line with a tab between them."""
    rows = [Block(("指标", "2020年", "2025年"), 12), Block(("风电", "260", "700"), 12)]

    lines = read(write_pdf([Block((PARAGRAPH,)), *rows], title="x")).text.split("\n")

    assert lines[-2:] == ["指标\t2020年\t2025年", "风电\t260\t700"]


def without_text(data: bytes, *pages: int) -> bytes:
    """Turn the content of pages into nothing, keeping every offset."""
    parts = data.split(b"stream\nBT")
    for page in pages:
        content, rest = parts[page].split(b"\nET", 1)
        parts[page] = b" " * len(content) + b"\nET" + rest
    return b"stream\nBT".join(parts)


def test_read_pdf_when_a_page_has_no_text():
    """Such a page is named in a warning, and the other pages keep their numbers."""
    parsed = read(without_text(pdf(*[PARAGRAPH * 3] * 12), 2))

    (warning,) = parsed.warnings
    assert warning.startswith("page 2 has no text layer; ")
    assert [s.number for s in parsed.segments][:2] == [1, 3]


def test_read_pdf_when_many_pages_have_no_text():
    """The warnings name a few pages and count the rest."""
    data = pdf(*[PARAGRAPH * 3] * 60)
    n_pages = data.count(b"/Type /Page ")

    parsed = read(without_text(data, *range(2, n_pages + 1)))

    assert len(parsed.warnings) == 9
    assert parsed.warnings[-1] == f"{n_pages - 9} more pages have no text layer"


def test_read_pdf_when_no_page_has_text():
    """A scan is refused with the remedy."""
    with pytest.raises(IngestionError, match=r"a\.pdf: none of its 1 pages.*pictures: "):
        read(without_text(pdf("甲"), 1))


def test_read_pdf_when_the_file_is_locked():
    """A password is told apart from damage."""
    lock = (
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -44 /O <%s> /U <%s> >> /ID [<00> <00>] /Size"
        % (b"11" * 32, b"22" * 32)
    )

    with pytest.raises(IngestionError, match=r"a\.pdf: is locked with a password"):
        read(pdf("甲").replace(b"<< /Size", b"<< " + lock))


@pytest.mark.parametrize("data", [b"", b"no pdf at all", b"%PDF-1.4\n" + b"\x00" * 500])
def test_read_pdf_when_the_file_is_damaged(data):
    """Damage is an ingestion error that names the file."""
    with pytest.raises(IngestionError, match=r"a\.pdf: is damaged"):
        read(data)


def test_read_pdf_when_several_threads_read():
    """PDFium allows one thread at a time, so readers in a pool wait for each other."""
    data = pdf(*[PARAGRAPH * 3] * 20)
    alone = read(data)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, [data] * 8))

    assert all(parsed == alone for parsed in found)


EXCHANGED = str.maketrans({c: chr(ord(c) + 1) for c in PARAGRAPH if "一" <= c <= "鿿"})


def test_read_pdf_when_a_wrong_map_exchanges_characters():
    """The page is named with the remedy, and stays as its text layer has it."""
    with ocr_is("off"):
        parsed = read(pdf((PARAGRAPH * 6).translate(EXCHANGED)))

    assert PARAGRAPH.translate(EXCHANGED) in parsed.text
    (warning,) = parsed.warnings
    assert warning.startswith("page 1 has a text layer that is no readable text (a wrong character")
    assert warning.endswith("; recognition of pictures is off (ingest.ocr)")


def test_read_pdf_when_the_page_of_a_wrong_map_is_recognised(monkeypatch):
    """What is seen on the page is its text."""
    seen = Recognised([Line(PARAGRAPH, 80, 515, 16)], ["page 1: 1 line in doubt"])
    monkeypatch.setattr(
        "kgrag.ingestion.load.pdf.recognised", lambda _, numbers: [(n, seen) for n in numbers]
    )

    parsed = read(pdf((PARAGRAPH * 6).translate(EXCHANGED)))

    assert parsed.text == PARAGRAPH
    assert parsed.warnings == (
        "page 1 without readable text read as a picture", "page 1: 1 line in doubt",
    )  # fmt: skip
