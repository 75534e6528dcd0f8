"""Pages that the tests draw are read by the models of the extra `ocr`."""

import io
import socket

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.ocr.lines import placed
from kgrag.ingestion.load.ocr.page import read_page
from kgrag.ingestion.load.picture import open_pictures
from kgrag.ingestion.load.reflow import reflow

pytest.importorskip("rapidocr", reason="kgrag[ocr] is not installed")

LINES = (
    "第一条 到2025年，培育绿色工厂320家，",
    "单位能耗下降13.5%，森林覆盖率达到24.1%。",
    "第二条 对验收合格的企业给予50万元补助。",
    "第三条 本办法自印发之日起施行，有效期5年。",
)


def text_of(page):
    return reflow([[item for item, _ in placed(page, scale=0.36)]])[0]


def bare(text):
    return "".join(text.split())


@pytest.fixture
def prose(sheet):
    page = sheet()
    for i, line in enumerate(LINES):
        page.text(60, 60 + i * 60, line)
    return page


@pytest.mark.parametrize("turned", [0.0, 3.0, -4.2, 90.0, 180.0, 272.0])
def test_a_page_is_read_whichever_way_it_lies(prose, engine, turned):
    """Straightened and turned upright, it says the same."""
    page = read_page(prose.array(turned=turned), engine=engine)
    assert bare(text_of(page)) == bare("".join(LINES))
    assert page.turned == round(turned / 90) % 4


def test_nothing_is_fetched(prose, engine, monkeypatch):
    """The models are those of the package: no connection is opened, not even to load them."""

    def refuse(*_args, **_more):
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    again = type(engine).load()
    assert "320家" in text_of(read_page(prose.array(), engine=again))


def test_a_ruled_table_becomes_rows(sheet, engine):
    """Merged labels are repeated, an empty cell stays empty, a digit by itself is not lost."""
    page = sheet()
    page.text(60, 30, "表1 主要指标")
    rows = [
        [("指标", 1), ("目标值", 2)],
        [("名称", 1), ("2025年", 1), ("2030年", 1)],
        [("森林覆盖率", 1), ("24.1", 1), ("25.6", 1)],
        [("绿色园区", 1), ("", 1), ("8", 1)],
    ]
    page.table(60, 100, (260, 200, 200), rows)
    page.text(60, 340, "注：2030年为预期值。")
    lines = text_of(read_page(page.array(turned=1.2), engine=engine)).split("\n")
    assert bare(lines[0]) == "表1主要指标"
    assert lines[1:3] == ["| 指标 | 目标值 | 目标值 |", "| --- | --- | --- |"]
    assert lines[3] == "| 名称 | 2025年 | 2030年 |"
    assert lines[4:6] == ["| 森林覆盖率 | 24.1 | 25.6 |", "| 绿色园区 |  | 8 |"]
    assert bare(lines[6]) == "注：2030年为预期值。"


def test_a_frame_around_text_is_no_table(sheet, engine):
    """A box drawn around prose has one column: its lines are lines."""
    page = sheet()
    page.draw.rectangle((40, 40, 860, 360), outline="black", width=2)
    for i, line in enumerate(LINES):
        page.text(60, 60 + i * 60, line)
    text = text_of(read_page(page.array(), engine=engine))
    assert "|" not in text
    assert bare(text) == bare("".join(LINES))


def test_a_seal_is_no_text_and_what_it_covers_is_read(sheet, engine):
    """The signature and date under a red seal stay, the seal's own words are left out."""
    page = sheet()
    page.text(60, 60, LINES[2])
    page.text(520, 280, "某某市工业和信息化局")
    page.text(560, 340, "2024年3月18日")
    page.seal(650, 320, radius=95, words="甲乙丙丁市财政局印章")
    read = read_page(page.array(), engine=engine)
    assert read.n_seals == 1
    assert bare(text_of(read)) == bare(LINES[2]) + "某某市工业和信息化局2024年3月18日"


def test_a_red_letterhead_is_text(sheet, engine):
    """What is red and stands in a row is read."""
    page = sheet()
    page.text(200, 60, "某某市人民政府文件", size=56, fill=(220, 20, 30))
    page.draw.line((60, 150, 840, 150), fill=(220, 20, 30), width=4)
    page.text(300, 180, "某政发〔2024〕16号")
    read = read_page(page.array(), engine=engine)
    assert read.n_seals == 0
    assert bare(text_of(read)) == "某某市人民政府文件某政发〔2024〕16号"


def test_two_columns_are_read_one_after_the_other(sheet, engine):
    """The left column whole, then the right one; the heading above both comes first."""
    page = sheet(size=(1100, 500))
    page.text(380, 20, "某市绿色发展简报", size=36)
    left = [
        "全市新增绿色工厂十二家，",
        "比上年增加三家，其中钢铁",
        "两家，建材一家。园区循环",
        "化改造全部完成，余热利用",
        "项目投产。",
    ]
    right = [
        "下一步将推进节能诊断服务",
        "覆盖规模以上工业企业二百",
        "家，组织碳核算培训六期，",
        "培训一千二百人次，建成智",
        "慧管理平台。",
    ]
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        page.text(60, 110 + i * 56, a)
        page.text(620, 110 + i * 56, b)
    text = bare(text_of(read_page(page.array(), engine=engine)))
    assert text == "某市绿色发展简报" + "".join(left) + "".join(right)


def test_a_page_is_read_once(prose, monkeypatch, tmp_path):
    """What was read is kept by content: the second time no model is asked."""
    from kgrag.ingestion.load.ocr import page as steps

    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    first = read_page(prose.array())
    monkeypatch.setattr(steps, "loaded", lambda: pytest.fail("it is read again"))
    assert read_page(prose.array()) == first
    with pytest.raises(pytest.fail.Exception):
        read_page(prose.array(turned=1.0))


def test_a_file_that_was_cut_is_read_again(prose, monkeypatch, tmp_path):
    """Half a file, as a full disk leaves, is no result."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path))
    first = read_page(prose.array())
    (kept,) = tmp_path.rglob("*.json")
    kept.write_text(kept.read_text("utf-8")[:200], "utf-8")
    assert read_page(prose.array()) == first


def saved(image, form, **more):
    held = io.BytesIO()
    image.save(held, form, **more)
    return held.getvalue()


@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "LA", "CMYK"])
def test_pictures_of_every_kind_are_opened(sheet, mode):
    """Palettes, alpha and print colours become what is seen on white paper."""
    page = sheet(size=(120, 60))
    page.draw.rectangle((10, 10, 50, 50), fill="black")
    image = page.image.convert(mode)
    form = "TIFF" if mode == "CMYK" else "PNG"
    (picture,) = open_pictures(saved(image, form))
    assert picture.shape == (60, 120, 3)
    assert picture[30, 30].max() < 60
    assert picture[30, 100].min() > 200


def test_a_tiff_has_pages(sheet):
    """Each is one picture."""
    pages = [sheet(size=(50 + i, 40)).image for i in range(3)]
    data = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    assert [picture.shape[1] for picture in open_pictures(data)] == [50, 51, 52]


def test_what_is_no_picture_is_an_error_that_says_so(sheet):
    """Nothing of Pillow's own errors comes through."""
    whole = saved(sheet().image, "PNG")
    for data in (b"no picture", whole[: len(whole) // 2]):
        with pytest.raises(IngestionError, match="damaged or no picture"):
            list(open_pictures(data))
