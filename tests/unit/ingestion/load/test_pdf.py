"""PDF files: text layers, and lines put together into paragraphs."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import IngestionError
from kgrag.ingestion.load import Source, load
from kgrag.ingestion.load.context import ocr_is
from kgrag.ingestion.load.legible import Legibility
from kgrag.ingestion.load.ocr import Recognised
from kgrag.ingestion.load.page_tables import Line
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.pdf import read_pdf
from kgrag.ingestion.load.reflow import reflow
from scripts.pdf_writer import Block, Stroke, Words, write_drawn, write_pdf

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
    assert warning.startswith("pages with little or no text: 2; ")
    assert [s.number for s in parsed.segments][:2] == [1, 3]


def test_read_pdf_when_many_pages_have_no_text():
    """One warning names them all."""
    data = pdf(*[PARAGRAPH * 3] * 60)
    n_pages = data.count(b"/Type /Page ")

    parsed = read(without_text(data, *range(2, n_pages + 1)))

    (warning,) = parsed.warnings
    assert warning.startswith(f"pages with little or no text: 2-{n_pages}; ")


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


def test_load_when_a_wrong_map_exchanges_characters(tmp_path):
    """The page is named with the remedy, and stays as its text layer has it."""
    (tmp_path / "a.pdf").write_bytes(pdf((PARAGRAPH * 6).translate(EXCHANGED)))
    with ocr_is("off"):
        document = load(Source(tmp_path / "a.pdf"))

    assert PARAGRAPH.translate(EXCHANGED) in document.text
    (warning,) = document.warnings
    assert warning.startswith("text not readable on pages 1: only ")
    assert warning.endswith("; recognition of pictures is off (ingest.ocr)")


def test_read_pdf_when_the_page_of_a_wrong_map_is_recognised(monkeypatch):
    """What is seen on the page is its text."""
    seen = Recognised([Line(PARAGRAPH, 80, 515, 16)], ["page 1: 1 line in doubt"], [])
    monkeypatch.setattr(
        "kgrag.ingestion.load.pdf.recognised", lambda _, numbers: [(n, seen) for n in numbers]
    )

    parsed = read(pdf((PARAGRAPH * 6).translate(EXCHANGED)))

    assert parsed.text == PARAGRAPH
    assert parsed.warnings == (
        "pages without readable text read as pictures: 1", "page 1: 1 line in doubt",
    )  # fmt: skip


PROSE = (
    "到2025年，全省单位地区生产总值能源消耗比2020年下降14%，可再生能源装机达到一半以上，"
    "重点行业能效明显提升。各地要加强组织领导，落实主体责任，完善财政支持政策，鼓励金融机构加大"
    "对节能改造项目的支持力度，推动产业园区循环化改造，建立统一规范的碳排放统计核算体系。"
    "有关部门按照职责分工负责，定期开展监督检查，确保各项任务按时完成。"
)
USED = "".join(sorted({c for c in PROSE if c.isalpha()}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("".join(chr(0xE000 + i % 70) for i in range(300)), True),
        ("推进" + "".join(chr(0xE000 + i % 70) for i in range(300)), True),
        ("第一章 总则" + "\U001001ba" * 60 + "（3）" + "加快推进节能降碳" * 6, False),
        ("加快推进重点领域节能降碳。" * 20, False),
        ("| 甲 | 12 | 3.5% |\n" * 30, False),
        ("\ue001" * 40, False),
        ("".join(chr(ord(c) + 1) if c.isalpha() else c for c in PROSE), True),
        (PROSE.translate(dict(zip(map(ord, USED), USED[7:] + USED[:7], strict=True))), True),
        (PROSE, False),
        ("王建国\n李秀英\n陈海燕\n" * 40, False),
        ("張先生說，學校應當繼續實現環境與經濟協調發展，這樣對國家對後代都負責任。" * 5, False),
    ],
    ids=["private use", "mixed", "contents", "prose", "figures", "short",
         "shifted", "exchanged", "as it is", "names", "traditional"],
)  # fmt: skip
def test_is_garbage(text, expected):
    """Private-use characters and ordinary ones that make no words are no text.

    One leader, figures, prose and lists of names are.
    """
    assert Legibility.of(text).is_garbage is expected


SIZE = 10.0
LEFT, RIGHT = 100.0, 300.0


def full(text: str, left: float = LEFT) -> Line:
    """Return a line that reaches the right edge."""
    return Line(text, left, RIGHT, SIZE)


def indented(text: str, right: float = RIGHT) -> Line:
    """Return the first line of a paragraph."""
    return Line(text, LEFT + 2 * SIZE, right, SIZE)


def short(text: str, left: float = LEFT) -> Line:
    """Return a line that ends early."""
    return Line(text, left, left + len(text) * SIZE, SIZE)


def text_of(*pages: list[Line]) -> str:
    """Return the text of pages."""
    return reflow(pages)[0]


BODY = [
    indented("一、总体要求", 180.0),
    indented("为贯彻落实"),
    full("决策部署，加强"),
    short("节能。"),
]


def test_reflow_when_paragraphs_are_indented():
    """Lines of a paragraph are joined, a heading and the next paragraph stand on their own."""
    assert text_of([*BODY, indented("到2025年"), short("下降。")]) == (
        "一、总体要求\n为贯彻落实决策部署，加强节能。\n到2025年下降。"
    )


def test_reflow_when_a_full_line_ends_a_sentence():
    """With indents the edge decides: a sentence may end in the middle of a paragraph."""
    page = [*BODY, indented("第一句刚好排满。"), full("第二句仍在本段"), short("之内。"), *BODY]

    assert "第一句刚好排满。第二句仍在本段之内。" in text_of(page)


def test_reflow_when_a_paragraph_ends_at_the_edge():
    """With indents a new paragraph is seen even after a full line."""
    page = [*BODY, indented("本段刚好排满。"), indented("另起一段"), short("正文。")]

    assert "本段刚好排满。\n另起一段正文。" in text_of(page)


def test_reflow_when_nothing_is_indented():
    """Without indents a sentence end or the number of a heading begins a new line."""
    page = [
        full("为贯彻落实决策部署推动"),
        full("节能工作制定本方案如下。"),
        full("一、总体要求和主要目标是"),
        short("绿色发展"),
        full("到二〇二五年实现目标任务"),
        full("（一）优化产业结构布局使"),
        short("能耗下降"),
    ]

    assert text_of(page) == (
        "为贯彻落实决策部署推动节能工作制定本方案如下。\n一、总体要求和主要目标是绿色发展\n"
        "到二〇二五年实现目标任务\n（一）优化产业结构布局使能耗下降"
    )


def test_reflow_when_a_paragraph_goes_over_the_page():
    """A paragraph is joined over a page break; each page keeps the place of its own text."""
    pages = [[*BODY, indented("跨页的段落")], [full("继续在下一页"), short("结束。"), *BODY]]

    text, segments = reflow(pages)

    assert "跨页的段落继续在下一页结束。" in text
    assert [s.number for s in segments] == [1, 2]
    assert text[segments[0].start : segments[0].end].endswith("跨页的段落")
    assert text[segments[1].start : segments[1].end].startswith("继续在下一页")


@pytest.mark.parametrize(
    "number",
    ["3", "- 3 -", "—17—", "— 17 —", "第3页", "第 3 页 共 10 页", "3/10", "３", "iv", "·3·"],
)
def test_reflow_when_a_page_number_stands_alone(number):
    """Page numbers at the top or the bottom are dropped."""
    line = Line(number, 200.0, 220.0, SIZE)

    assert text_of([*BODY, line]) == text_of(BODY)
    assert text_of([line, *BODY]) == text_of(BODY)


def test_reflow_when_a_number_stands_inside_a_page():
    """A number alone between other lines is a value of a table, not a page number."""
    assert "\n2025\n" in text_of([*BODY, short("2025"), *BODY])


def test_reflow_when_pages_repeat_a_head():
    """A line that most pages have at the same end is dropped, whatever page number is in it."""
    head = "云岭省政府公报 {} 第五期"
    pages = [[short(head.format(i)), *BODY] for i in range(1, 5)]

    text, segments = reflow(pages)

    assert "公报" not in text
    assert len(segments) == 4


def test_reflow_when_only_two_pages_begin_alike():
    """Two pages that begin alike are no running head."""
    assert text_of([short("附件"), *BODY], [short("附件"), *BODY]).count("附件") == 2


def test_reflow_when_a_signature_stands_at_the_right():
    """Issuer and date at the right edge are lines of their own."""
    page = [*BODY, full("云岭省政府", 250.0), full("2022年3月", 255.0), *BODY]

    assert "\n云岭省政府\n2022年3月\n一、总体要求" in text_of(page)


def test_reflow_when_the_type_changes():
    """A line in another size is not joined: a title over text, a note under it."""
    big = Line("云岭省碳达峰实施方案", LEFT, RIGHT, 16.0)

    assert text_of([big, *BODY]).startswith("云岭省碳达峰实施方案\n一、")


def test_reflow_when_a_line_begins_with_a_closing_mark():
    """Such a line belongs to the one before, wherever that ended."""
    assert "加强节能。”并落实。" in text_of([*BODY, short("”并落实。"), *BODY])


def test_reflow_when_words_are_latin():
    """Latin words are joined with a blank, a hyphen without."""
    page = [
        full("the law on"),
        full("energy con-"),
        short("servation"),
    ]

    assert text_of(page) == "the law on energy con-servation"


def test_reflow_when_gaps_stand_around_digits():
    """The gap between Chinese and digits goes, the blank between Chinese words stays."""
    assert text_of([short("到 2025 年 PUE 降至 1.3 以下，财政厅 能源局 2 号")]) == (
        "到2025年PUE降至1.3以下，财政厅 能源局2号"
    )


def test_reflow_when_pages_are_empty():
    """Empty pages give no segment and do not shift the numbers."""
    text, segments = reflow([[], BODY, []])

    assert [s.number for s in segments] == [2]
    assert reflow([]) == ("", ())
    assert text[segments[0].start : segments[0].end] == text


LINES = st.builds(
    Line,
    st.text(alphabet="甲乙，。a1一、", min_size=1, max_size=6),
    st.floats(50, 150),
    st.floats(160, 310),
    st.sampled_from([10.0, 10.5, 16.0]),
)


@given(st.lists(st.lists(LINES, max_size=5), max_size=4))
def test_reflow_for_any_lines(pages):
    """Segments are in order and apart, inside the text, and no character is made up."""
    text, segments = reflow(pages)

    assert all(0 <= s.start < s.end <= len(text) for s in segments)
    assert all(a.end <= b.start and a.number < b.number for a, b in pairwise(segments))
    source = "".join(line.text for page in pages for line in page)
    left_over = iter(source)
    assert all(char in left_over for char in text if char not in "\n ")


def test_labels_with_colons_in_shaded_rows_are_a_table():
    """Not names with values side by side, which nothing is drawn around."""
    rows = [
        ("事项", "材料", "时限"),
        ("事项一：开业", "身份证明", "即办"),
        ("事项二：变更", "变更申请", "五个工作日"),
        ("事项三：注销", "清算报告", "十个工作日"),
    ]
    words = [
        Words(80 + 150 * j, 700 - 30 * i, cell)
        for i, row in enumerate(rows)
        for j, cell in enumerate(row)
    ]
    bands = [Stroke(70, 690 - 60 * i, 500, 715 - 60 * i, is_box=True) for i in range(2)]

    def lines(*marks: Words | Stroke) -> list[str]:
        text = read_pdf(write_drawn([marks]), name="a.pdf", stem="x").text
        return [line for line in text.splitlines() if line.startswith("|")]

    assert lines(*bands, *words)[2] == "| 事项一：开业 | 身份证明 | 即办 |"
    assert not lines(*words)
