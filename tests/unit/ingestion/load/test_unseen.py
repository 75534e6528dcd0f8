"""Text that nobody sees on a page, and watermarks, are not read; what is filled in is."""

from collections.abc import Iterable

import pytest

from kgrag import KnowledgeBase
from kgrag.ingestion.load.pdf import read_pdf
from scripts.pdf_writer import Stroke, Words, write_drawn

CLAUSES = (
    "第一条　为了规范养老服务机构的管理，保障老年人的合法权益，制定本办法。",
    "第二条　新设床位不少于32张，社区食堂的覆盖率不低于80%，由民政部门核定。",
    "第三条　申请设立的，自受理之日起5个工作日内提交材料，逾期视为放弃申请。",
)
BODY = [Words(80, 700 - 24 * i, CLAUSES[i % 3], 12) for i in range(18)]
TEXT = "\n".join("".join(words.text.split()) for words in BODY)
PALE = "0.85 g"
HIDDEN = "第九条补贴标准为每人每月九千元。"


def text_of(*pages: Iterable[Words | Stroke]) -> str:
    """Return what is read of pages, without blanks in lines."""
    text = read_pdf(write_drawn([list(page) for page in pages]), name="a.pdf", stem="x").text
    return "\n".join("".join(line.split()) for line in text.split("\n"))


def tiled(text: str, paint: str, *, angle: int = 0, size: int = 12) -> list[Words]:
    """Return a text all over a page."""
    return [
        Words(20 + 180 * i, 53 + 97 * j, text, size, paint, angle)
        for i in range(3)
        for j in range(8)
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        Words(80, 100, HIDDEN, 12, "3 Tr"),
        Words(80, 100, HIDDEN, 12, "1 g"),
        Words(80, 100, HIDDEN, 12, "0.98 g"),
        Words(900, 100, HIDDEN, 12),
        Words(80, -90, HIDDEN, 12),
        Words(80, 100, HIDDEN, 12, "0.01 0 0 0.01 80 100 cm"),
    ],
    ids=["invisible", "white", "nearly white", "to the right", "below", "tiny"],
)
def test_text_that_nobody_sees_is_not_read(hidden):
    """However it is hidden, and the rest of the page is read as without it."""
    assert text_of([*BODY, hidden]) == TEXT


def test_white_text_on_a_dark_ground_is_read():
    """A heading in a coloured bar is seen."""
    bar = Stroke(70, 746, 400, 746, "0 0 0.6 RG 30 w")

    assert (
        text_of([bar, Words(80, 740, "养老服务办法", 12, "1 g"), *BODY]) == f"养老服务办法\n{TEXT}"
    )


@pytest.mark.parametrize(
    "marks",
    [
        [Words(150, 250, "征求意见稿", 80, PALE, 45)],
        [Words(150, 250, "DRAFT", 120, "", 55)],
        [Words(575, 300, "云岭市档案馆", 30, PALE, 90)],
        [Words(100, 420, "样本", 150, PALE)],
        tiled("仅供内部使用", PALE),
        tiled("仅供内部使用", "0.7 g", angle=30),
        tiled("禁止转载", "1 0 0 rg", size=14),
        [
            Words(20 + 12 * i, y, c, 12, PALE)
            for y in (650, 400, 90)
            for i, c in enumerate("机密件")
        ],
    ],
    ids=["turned", "dark", "side", "large", "tiled", "small", "red", "letters"],
)
@pytest.mark.parametrize("behind", [True, False])
def test_watermarks_are_not_read(marks, behind):
    """Turned, pale or repeated over the text, drawn before or after it."""
    if len(marks) == 9:  # letter by letter, in several columns
        marks = [*marks, *(Words(w.x + 300, w.y, w.text, 12, PALE) for w in marks)]

    assert text_of([*marks, *BODY] if behind else [*BODY, *marks]) == TEXT


def test_a_pale_text_at_one_place_of_most_pages_is_a_mark():
    """On one page it is read: a note in grey is text."""
    note = Words(200, 60, "下载于云岭文库", 10, "0.7 g")

    pages = text_of(*[[Words(80, 730, f"第{n}章", 12), *BODY, note] for n in "一二三四"])

    assert "云岭文库" not in pages
    assert text_of([*BODY, note]) == f"{TEXT}\n下载于云岭文库"


def form(value: bytes) -> bytes:
    """Return a page with a label and a field that is filled in, without a drawn appearance."""
    data = write_drawn([[Words(80, 700, "Applicant:", 12), Words(80, 660, "Reason:", 12)]])
    field = (
        b"/AcroForm << /NeedAppearances true /DA (/Helv 12 Tf 0 g) /Fields [%s] >> /Type /Catalog"
    )
    widget = (
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (%s) /DA (/Helv 12 Tf 0 g) "
        b"/Rect [200 695 400 715] >>" % value
    )
    return (
        data.replace(b"/Type /Catalog", field % b"99 0 R")
        .replace(b"/MediaBox", b"/Annots [99 0 R] /MediaBox")
        .replace(b"xref\n", b"99 0 obj\n%s\nendobj\nxref\n" % widget, 1)
    )


def test_what_is_filled_in_is_read_beside_its_label():
    """The value of a form's field is text of the page, as in print."""
    text = read_pdf(form(b"Zhang San 42"), name="a.pdf", stem="x").text

    assert " ".join(text.split()) == "Applicant: Zhang San 42 Reason:"


def test_search_when_a_page_has_hidden_text_and_marks(tmp_path):
    """Neither is quoted, nor the title."""
    marks = [*tiled("仅供内部使用", PALE), Words(80, 100, HIDDEN, 12, "1 g")]
    (tmp_path / "a.pdf").write_bytes(write_drawn([[*marks, *BODY]]))

    with KnowledgeBase.open(tmp_path / "kb") as kb:
        kb.ingest([tmp_path / "a.pdf"])
        found = kb.search("补贴标准 床位不少于多少张")

    quoted = "".join(hit.chunk.text for hit in found)
    assert "不少于32张" in quoted
    assert "九千" not in quoted
    assert "仅供" not in quoted
