"""Which place a document governs: not each that it speaks of."""

import pytest

from kgrag.ingestion.metadata.lines import read_lines
from kgrag.ingestion.metadata.regions import read_region

PLACES = "四川省、成都市、绵阳市、云南省、贵州省。"


def region(title, *, issuers=(), number="", text=""):
    """Return (level, regions) of a document."""
    found = read_region(read_lines(text), title, list(issuers), number)
    return found.level, found.regions


@pytest.mark.parametrize(
    ("title", "more", "expected"),
    [
        ("关于节能的意见", {"issuers": ["国务院办公厅"]}, ("国家", ())),
        ("关于节能的意见", {"issuers": ["财政部", "商务部"]}, ("部门", ())),
        ("关于四川省节能的批复", {"issuers": ["国务院"]}, ("国家", ())),
        ("关于节能的意见", {"number": "国发〔2022〕3号", "text": PLACES}, ("国家", ())),
        ("关于节能的通知", {"text": f"通知\n各省、自治区、直辖市能源局：\n{PLACES}"}, ("国家", ())),
        ("国家节能规划", {"text": PLACES}, ("国家", ())),
        ("支持宁夏建设先行区方案", {"text": "宁夏，自治区。" * 5}, ("国家", ())),
        ("节能发展规划", {"text": "全国、我国。" + PLACES}, ("国家", ())),
    ],
)
def test_a_national_document_has_no_region(title, more, expected):
    """Its issuers, number, addressees, title or words tell; places in it do not count."""
    assert region(title, **more) == expected


@pytest.mark.parametrize(
    ("title", "more", "expected"),
    [
        ("四川省节能办法", {}, ("省", ("四川省",))),
        ("云岭省青川市节能办法", {}, ("市", ("云岭省", "青川市"))),
        ("徐汇区节能办法", {}, ("县", ("上海市", "徐汇区"))),
        ("节能办法", {"issuers": ["成都市能源局"]}, ("市", ("四川省", "成都市"))),
        ("成都市武侯区办法", {"issuers": ["成都市能源局"]}, ("县", ("四川省", "成都市", "武侯区"))),
        ("崇明生态岛规划", {"issuers": ["上海市人民政府"]}, ("省", ("上海市",))),
        (
            "关于节能的通知",
            {"issuers": ["省政府"], "number": "川府〔2022〕3号"},
            ("省", ("四川省",)),
        ),
        (
            "关于节能的通知",
            {"issuers": ["市政府"], "number": "津政〔2022〕3号"},
            ("省", ("天津市",)),
        ),
        (
            "市政府关于节能的通知",
            {"issuers": ["市政府"], "number": "青政〔2022〕3号", "text": "推进青岛发展，全市"},
            ("市", ("山东省", "青岛市")),
        ),
        (
            "省政府关于节能的通知",
            {"issuers": ["省政府"], "text": "四川省、四川，成都市。云南省。推进我省节能。"},
            ("省", ("四川省",)),
        ),
        (
            "关于节能的意见",
            {"issuers": ["省财政厅", "人民银行成都分行"]},
            ("省", ("四川省",)),
        ),
        (
            "造林的通知",
            {"issuers": ["市林业局"], "text": "全市造林，绵阳。"},
            ("市", ("四川省", "绵阳市")),
        ),
        (
            "节能",
            {"text": "成都市能源局关于\n节能的通知\n各区：\n云南。"},
            ("市", ("四川省", "成都市")),
        ),
    ],
)
def test_the_place_that_a_document_governs(title, more, expected):
    """Issuers and title name it, or its number and 全省, 我市 tell which of those named it is."""
    assert region(title, **more) == expected


def test_a_level_without_a_place_stays_without():
    """自治区 of a text that names none of them is not guessed."""
    assert region("自治区党委关于节能的通知", issuers=["自治区党委"], text="全区节能。") == (
        "省",
        (),
    )


def test_a_scans_slip_in_the_name_is_mended_by_the_text():
    """园门市 is no city where the text speaks of 厦门市."""
    text = "园门市生态环境局\n关于节能的通知\n厦门市节能，推进厦门市、厦门市发展。"
    found = region("关于节能的通知", issuers=["园门市生态环境局"], text=text)
    assert found == ("市", ("福建省", "厦门市"))


def test_nothing_is_told():
    """No level where nothing tells one."""
    assert region("你好", text="你好") == ("", ())


def test_a_body_without_its_head_is_of_the_place_that_it_speaks_of():
    """Most places lie in one province, or it speaks of 我省: national words do not count then."""
    one = "全国、国家、我国、国家。四川省内，成都、四川、绵阳，省委。"
    assert region("节能", text=one) == ("省", ("四川省",))
    own = "全国、国家、我国、国家。我省、我省、全省，四川省、云南省、四川省、贵州省。"
    assert region("节能", text=own) == ("省", ("四川省",))
