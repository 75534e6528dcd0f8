"""Pages with tables: rulings, columns, captions, notes, and what is no table."""

import io

import pypdfium2
import pytest
from pypdfium2 import raw

from kgrag.ingestion.load.page_tables.find import upright
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.pdf import read_pdf
from scripts.pdf_writer import Stroke, Words, ruled, write_drawn

PROSE = "为贯彻落实决策部署，加快推进重点领域节能降碳，提升能源利用效率，制定本方案"
HEADER = ["指标", "单位", "2020年", "2025年"]
ROWS = [
    HEADER,
    ["森林覆盖率", "%", "", "24.1"],
    ["能耗强度", "万吨", "0.52", ""],
    ["水耗", "立方米", "31", "28"],
]
WIDTHS = [150, 80, 80, 80]


def read(*pages: list[Words | Stroke]) -> Parsed:
    """Read a PDF of pages that are drawn."""
    return read_pdf(write_drawn(pages), name="a.pdf", stem="stem")


def lines(*pages: list[Words | Stroke]) -> list[str]:
    """Return the lines of such a PDF."""
    return read(*pages).text.split("\n")


def table(rows: list[list[str]] = ROWS, y: float = 640, height: float = 20):
    """Return a table with rulings."""
    return ruled(rows, x=80, y=y, widths=WIDTHS[: len(rows[0])], height=height)


def columns(rows: list[list[str]], y: float = 640, step: float = 130):
    """Return a table without rulings."""
    return [
        Words(80 + step * j, y - 18 * i, cell)
        for i, row in enumerate(rows)
        for j, cell in enumerate(row)
        if cell
    ]


def test_read_pdf_when_a_ruled_table_has_empty_cells():
    """An empty cell keeps its place; caption and unit stand before the rows, notes after them."""
    found = lines(
        [
            Words(80, 760, PROSE + "。"),
            Words(200, 680, "表1 主要指标"),
            Words(400, 660, "单位：见表"),
            *table(),
            Words(80, 540, "注：数据为预期值，"),
            Words(80, 525, "不含离岛。"),
            Words(80, 510, "资料来源：云岭省统计局。"),
        ]
    )

    assert found == [
        PROSE + "。",
        "表1主要指标",
        "单位：见表",
        "| 指标 | 单位 | 2020年 | 2025年 |",
        "| --- | --- | --- | --- |",
        "| 森林覆盖率 | % |  | 24.1 |",
        "| 能耗强度 | 万吨 | 0.52 |  |",
        "| 水耗 | 立方米 | 31 | 28 |",
        "注：数据为预期值，不含离岛。",
        "资料来源：云岭省统计局。",
    ]


def test_read_pdf_when_cells_are_merged_over_rows():
    """A label whose cell has no ruling inside stands in every row that the cell covers."""
    rows = [["类别", "指标", "目标"], ["", "产值", "12"], ["经济", "税收", "7"], ["", "增速", "5%"]]
    drawn = [m for m in table(rows) if not isinstance(m, Stroke) or m.y != m.to_y]
    drawn += [Stroke(80, y, 390, y) for y in (640, 620, 560)]
    drawn += [Stroke(230, y, 310, y) for y in (600, 580)]
    drawn += [Stroke(230, y, 390, y) for y in (600, 580)]

    assert lines(drawn)[2:] == [
        "| 经济 | 产值 | 12 |",
        "| 经济 | 税收 | 7 |",
        "| 经济 | 增速 | 5% |",
    ]


def test_read_pdf_when_outer_sides_are_not_drawn():
    """A table without lines at its left, right and top is read as with them."""
    drawn = [
        m
        for m in table()
        if not isinstance(m, Stroke) or not (m.x == m.to_x in (80, 470) or m.y == m.to_y == 640)
    ]

    assert lines(drawn) == lines(table())


def test_read_pdf_when_cells_wrap():
    """Lines of a cell are one text."""
    rows = [["任务", "单位"], ["推进重点用能单位\n节能改造", "省财政厅、省\n水利厅"]]

    assert lines(table(rows, height=30))[-1] == "| 推进重点用能单位节能改造 | 省财政厅、省水利厅 |"


def test_read_pdf_when_only_columns_are_ruled():
    """Rows that no ruling parts are told by their figures, line by line."""
    rows = [["地区", "产量"], ["甲市\n乙市\n丙市", "120\n340\n560"]]

    assert lines(table(rows, height=50))[2:] == [
        "| 甲市 | 120 |",
        "| 乙市 | 340 |",
        "| 丙市 | 560 |",
    ]


def test_read_pdf_when_a_table_has_three_rulings():
    """Lines above the header, below it and below the last row are enough for one."""
    drawn = [Stroke(80, y, 540, y) for y in (655, 636, 580)]

    assert lines(columns(ROWS) + drawn) == [
        "| 指标 | 单位 | 2020年 | 2025年 |",
        "| --- | --- | --- | --- |",
        "| 森林覆盖率 | % |  | 24.1 |",
        "| 能耗强度 | 万吨 | 0.52 |  |",
        "| 水耗 | 立方米 | 31 | 28 |",
    ]


def test_read_pdf_when_a_table_has_no_rulings():
    """Figures in columns below a header are a table; one that is empty keeps its place."""
    found = lines([Words(80, 760, PROSE + "。"), *columns(ROWS), Words(80, 540, PROSE + "。")])

    assert found[0] == found[-1] == PROSE + "。"
    assert found[1:-1] == lines(table())


def test_read_pdf_when_cells_wrap_in_a_table_that_counts_its_rows():
    """A line without a number in the first column is part of the row above it."""
    rows = [
        ["序号", "指标", "2020年", "2025年"],
        ["1", "地表水达到或好于三", "83.4", "85"],
        ["", "类水体比例", "", ""],
        ["2", "森林覆盖率", "23", "24.1"],
        ["3", "湿地保护率", "50", "55"],
    ]

    drawn = [Stroke(80, y, 580, y) for y in (655, 636, 550)]

    assert lines(columns(rows) + drawn) == [
        "| 序号 | 指标 | 2020年 | 2025年 |",
        "| --- | --- | --- | --- |",
        "| 1 | 地表水达到或好于三类水体比例 | 83.4 | 85 |",
        "| 2 | 森林覆盖率 | 23 | 24.1 |",
        "| 3 | 湿地保护率 | 50 | 55 |",
    ]


DUTIES = [
    [["任务"], ["牵头单位"], ["配合单位"], ["备注"]],
    [["甲项"], ["省财政厅会", "同税务部门"], [], ["长期"]],
    [["乙项", "和丙项"], ["省教育厅"], ["省科技厅会", "同商务部门"], []],
    [["丁项"], ["省水利厅"], ["省司法厅"], ["按季"]],
    [["戊项"], [], ["省民政厅"], ["按年"]],
]
READ = [
    "| 任务 | 牵头单位 | 配合单位 | 备注 |",
    "| --- | --- | --- | --- |",
    "| 甲项 | 省财政厅会同税务部门 |  | 长期 |",
    "| 乙项和丙项 | 省教育厅 | 省科技厅会同商务部门 |  |",
    "| 丁项 | 省水利厅 | 省司法厅 | 按季 |",
    "| 戊项 |  | 省民政厅 | 按年 |",
]


def cell_by_cell(rows: list[list[list[str]]], y: float = 640) -> list[Words | Stroke]:
    """Return a table as programs write it: all lines of a cell before the next cell."""
    marks: list[Words | Stroke] = []
    for row in rows:
        marks += [
            Words(80 + 60 * j, y - 14 * i, text)
            for j, cell in enumerate(row)
            for i, text in enumerate(cell)
        ]
        y -= 14 * max(map(len, row))
    return marks


def test_read_pdf_when_cells_of_words_wrap_without_rulings():
    """The order of cells tells the rows; that only the places of words do is a warning."""
    read_one = read([Words(80, 760, PROSE + "。"), *cell_by_cell(DUTIES)])

    assert read_one.text.split("\n")[1:] == READ
    assert read_one.warnings == (
        "tables without rulings, shading or figures, read by the places of words: 1",
    )


def test_read_pdf_when_a_row_is_shaded():
    """Shading behind the header shows that words in columns are a table; white does not."""
    header = Stroke(78, 637, 310, 652, is_box=True)
    read_one = read([header, *cell_by_cell(DUTIES[:3])])

    assert read_one.text.split("\n") == READ[:4]
    assert read_one.warnings == ()
    assert "|" not in read(cell_by_cell(DUTIES[:3])).text


def test_read_pdf_when_a_labelled_row_is_cut_at_a_page_end():
    """The label over rows of both pages is the cut row's and the next one's."""
    places = (84, 134, 164, 314)

    def page(rows: list[list[str]], y: float) -> list[Words | Stroke]:
        marks: list[Words | Stroke] = [Stroke(x, y, x, y - 60) for x in (80, 130, 160, 310, 410)]
        for i, row in enumerate(rows):
            heights = zip(places, row, strict=True)
            marks += [Words(x, y - 20 * i - 15, text) for x, text in heights if text]
            marks.append(Stroke(80 if row[0] else 130, y - 20 * i, 410, y - 20 * i))
        return [*marks, Stroke(80, y - 60, 410, y - 60)]

    top = [
        ["类别", "号", "任务", "单位"],
        ["生态", "1", "造林", "甲局"],
        ["", "2", "治理主要河流的水质和沿岸的环", "乙局"],
    ]
    rest = [["", "", "境。", ""], ["", "3", "护林", "丙局"], ["民生", "4", "供水", "丁局"]]

    above = Stroke(80, 800, 410, 800)
    assert lines(page(top, 130), [above, *page(rest, 800)]) == [
        "| 类别 | 号 | 任务 | 单位 |",
        "| --- | --- | --- | --- |",
        "| 生态 | 1 | 造林 | 甲局 |",
        "| 生态 | 2 | 治理主要河流的水质和沿岸的环境。 | 乙局 |",
        "| 生态 | 3 | 护林 | 丙局 |",
        "| 民生 | 4 | 供水 | 丁局 |",
    ]


def test_read_pdf_when_text_runs_in_two_columns():
    """What is shown one column after the other is running text."""
    left = [Words(80, 700 - 16 * i, PROSE[i : i + 16]) for i in range(8)]
    right = [Words(320, 700 - 16 * i, PROSE[i + 3 : i + 19]) for i in range(8)]
    third = [Words(510, 700 - 16 * i, PROSE[i : i + 6]) for i in range(8)]

    assert "|" not in read([*left, *right, *third]).text


@pytest.mark.parametrize(
    "rows",
    [
        [["发布日期：", "2021.08.27"], ["实施日期：", "2021.09.01"], ["文号：", "12"]],
        [["第一章 总则", "1"], ["第二章 目标", "4"], ["第三章 任务", "9"], ["第四章 保障", "15"]],
        [["云岭省财政厅", "云岭省水利厅"], ["云岭省司法厅", "云岭省教育厅"], ["甲市", "乙市"]],
        [[PROSE[:18], PROSE[18:34]], [PROSE[:18], PROSE[18:34]], [PROSE[:18], "到2025年14%。"]],
    ],
    ids=["names and values", "contents", "signatures", "two columns"],
)
def test_read_pdf_when_columns_are_no_table(rows):
    """What merely stands side by side has no rows of Markdown."""
    assert not any(line.startswith("|") for line in lines(columns(rows, step=220)))


def test_read_pdf_when_a_frame_stands_around_text():
    """A box of one column is text in its place; a line below words is no table."""
    box = ruled(
        [["专栏1 重点工程"], ["1. 风电基地，到2025年建成。"]], x=80, y=640, widths=[400], height=30
    )

    found = lines([Words(80, 760, PROSE + "。"), *box, Stroke(80, 755, 200, 755)])

    assert found == [PROSE + "。", "专栏1重点工程", "1. 风电基地，到2025年建成。"]


def test_read_pdf_when_a_chart_is_drawn():
    """Lines that text runs through make no table."""
    grid = [Stroke(80, 600 + 15 * i, 480, 600 + 15 * i) for i in range(5)]
    grid += [Stroke(80 + 40 * i, 600, 80 + 40 * i, 660) for i in range(11)]
    words = [Words(85, 648 - 15 * i, PROSE[:30]) for i in range(4)]

    assert not any(line.startswith("|") for line in lines([*grid, *words]))


TURNED = [(turns, rotate) for turns in range(4) for rotate in (0, 90, 180, 270)]


@pytest.mark.parametrize(("turns", "rotate"), TURNED)
def test_read_pdf_when_a_page_is_turned(turns, rotate):
    """Lines, words and cells stand in their order however a page is drawn and shown."""
    rows = [["指标", "单位", "2023年", "2025年"], ["森林面积", "公顷", "980", "1,024.5"], ROWS[3]]
    page = [
        Words(80, 760, PROSE[:30]),
        Words(80, 740, PROSE[30:] + "。"),
        Words(200, 700, "表1 2023年主要指标"),
        *table(rows, 680),
        Words(80, 560, "二、到2025年建成980个。"),
        *columns(ROWS, y=500),
        Words(300, 400, "2021年3月5日"),
    ]

    found = read_pdf(write_drawn([page], turns=turns, rotate=rotate), name="a", stem="a")

    assert found.text.split("\n") == [
        PROSE + "。",
        "表1 2023年主要指标",
        "| 指标 | 单位 | 2023年 | 2025年 |",
        "| --- | --- | --- | --- |",
        "| 森林面积 | 公顷 | 980 | 1,024.5 |",
        "| 水耗 | 立方米 | 31 | 28 |",
        "二、到2025年建成980个。",
        "| 指标 | 单位 | 2020年 | 2025年 |",
        "| --- | --- | --- | --- |",
        "| 森林覆盖率 | % |  | 24.1 |",
        "| 能耗强度 | 万吨 | 0.52 |  |",
        "| 水耗 | 立方米 | 31 | 28 |",
        "2021年3月5日",
    ]


@pytest.mark.parametrize("turns", [1, 3])
def test_read_pdf_when_a_turned_page_is_a_picture_of_a_page(turns):
    """What stands in a form, as where pages are put on sheets, is turned with it."""
    with pypdfium2.PdfDocument(write_drawn([table()], turns=turns)) as page:
        sheet = raw.FPDF_ImportNPagesToOne(page, 842, 595, 1, 1)
        held = io.BytesIO()
        with pypdfium2.PdfDocument(sheet) as whole:
            whole.save(held)

    assert read_pdf(held.getvalue(), name="a", stem="a").text == read(table()).text


def test_read_pdf_when_one_page_of_a_table_is_turned():
    """It goes on over pages that are drawn turned, either way."""
    more = [HEADER, ["耕地", "万亩", "70", "71"]]
    held = io.BytesIO()
    with pypdfium2.PdfDocument.new() as whole:
        for turns, rows in ((0, ROWS), (1, more), (3, more)):
            data = write_drawn([[*table(rows), Words(300, 40, "12")]], turns=turns)
            whole.import_pages(pypdfium2.PdfDocument(data))
        whole.save(held)

    found = read_pdf(held.getvalue(), name="a", stem="a").text.split("\n")

    assert found[-2:] == ["| 耕地 | 万亩 | 70 | 71 |"] * 2
    assert len(found) == len(ROWS) + 3


def test_upright_leaves_a_page_shown_as_it_is():
    """So a page that is recognised as a picture afterwards is not turned back."""
    with pypdfium2.PdfDocument(write_drawn([table()], turns=1, rotate=90)) as held:
        upright(held[0]).close()

        assert held[0].get_rotation() == 90
        assert held[0].get_size() == (595, 842)


def test_read_pdf_when_a_table_goes_on_over_pages():
    """Parts of one table are one: the header comes once, every row is on its page."""
    more = [HEADER, ["耕地", "万亩", "70", "71"]]
    parsed = read(
        [Words(80, 760, PROSE), *table()], [*table(more, 760), Words(80, 600, "二、任务")]
    )

    assert parsed.text.split("\n")[-3:] == [
        "| 水耗 | 立方米 | 31 | 28 |",
        "| 耕地 | 万亩 | 70 | 71 |",
        "二、任务",
    ]
    assert parsed.text.count("指标") == 1
    second = parsed.segments[1]
    assert parsed.text[second.start : second.end] == "| 耕地 | 万亩 | 70 | 71 |\n二、任务"


def test_read_pdf_when_a_row_is_cut_by_a_page_end():
    """Its halves are put together on the page where it begins."""
    first = [["序号", "任务"], ["1", "完成普查。"], ["2", "推进重点用能单位节能改造，建"]]
    rest = [["", "立清单。"], ["3", "加强监测。"]]

    def narrow(rows: list[list[str]], y: float) -> list[Words | Stroke]:
        return ruled(rows, x=80, y=y, widths=[60, 155], height=20)

    assert lines(narrow(first, 640), narrow(rest, 760))[2:] == [
        "| 1 | 完成普查。 |",
        "| 2 | 推进重点用能单位节能改造，建立清单。 |",
        "| 3 | 加强监测。 |",
    ]


def test_read_pdf_when_another_table_begins_the_next_page():
    """Tables of other columns stay apart, each with its header."""
    found = lines(table(), table([["序号", "任务"], ["1", "普查"]], 760))

    assert found[-3:] == ["| 序号 | 任务 |", "| --- | --- |", "| 1 | 普查 |"]


def test_read_pdf_when_a_power_is_raised():
    """A small raised figure after 10 and m is a power; elsewhere it stays a figure."""
    found = lines([Words(80, 700, "3.5×10"), Words(112, 705, "4", 6), Words(116, 700, "吨煤")])

    assert found == ["3.5×10⁴吨煤"]
