"""What a document says of itself: all fields together, what wins, what stays empty."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ingestion.load.statement import statement
from kgrag.ingestion.metadata.read import document_kind, read_metadata
from kgrag.metadata import Metadata

NOTICE = """云岭省人民政府办公厅关于印发云岭省节能管理办法（试行）的通知
云政办发〔２０２２〕３号
各市（州）人民政府，省直各部门：
《云岭省节能管理办法（试行）》已经省政府同意，现印发给你们。
云岭省人民政府办公厅
２０２２年３月５日
（此件公开发布）
云岭省节能管理办法（试行）
第一条 为了节能，根据《节能办法》（国发〔2018〕33号），制定本办法。
第十条 本办法自2022年5月1日起施行，有效期五年。
"""


def test_all_fields_of_a_notice_and_what_it_issues():
    """The title is the body's; dates, number and issuer are those of the notice."""
    found = read_metadata(NOTICE, title="云岭省节能管理办法（试行）", properties={})
    assert found == Metadata(
        issuers=("云岭省人民政府办公厅",),
        number="云政办发〔2022〕3号",
        written="2022-03-05",
        effective="2022-05-01",
        expires="2027-04-30",
        kind="管理办法",
        level="省",
        regions=("云岭省",),
        recipients=("各市（州）人民政府", "省直各部门"),
        status=("试行",),
        notice="云岭省人民政府办公厅关于印发云岭省节能管理办法（试行）的通知",
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("青石乡人民政府：\n你乡的请示收悉，经研究，现批复如下：\n一、同意。", "批复"),
        ("你们的请示收悉。经研究，同意该规划。\n特此批复。\n云岭省人民政府", "批复"),
        ("为保障节日安全，现将有关事项通告如下：\n一、时间", "通告"),
        ("根据上级通知，我们开展检查。要发布公告。", ""),
    ],
)
def test_a_text_without_a_title_says_what_it_is(text, kind):
    """现批复如下 and 特此通告 count where no title ends in a kind."""
    assert read_metadata(text, title="a12", properties={}).kind == kind
    assert read_metadata(text, title="节能办法", properties={}).kind == "办法"


def test_the_clock_of_a_page_alone_is_no_statement():
    """It is given as the day of issue, but as inferred; a day that the text states is not."""
    page = "节能规定\n时间:2024-05-22 19:54:20\n"
    alone = read_metadata(page + "一、范围", title="节能规定", properties={})
    assert (alone.issued, "issued" in alone.inferred) == ("2024-05-22", True)
    told = read_metadata(page, title="节能规定", properties={"date": "2003-04-05"})
    assert (told.issued, told.inferred) == ("2003-04-05", ())
    signed = read_metadata(page + "云岭省能源局\n1999年3月5日", title="节能规定", properties={})
    assert (signed.written, signed.issued, signed.inferred) == ("1999-03-05", "", ())
    older = read_metadata(page + "云能发〔2009〕3号", title="节能规定", properties={})
    assert (older.written, older.issued) == ("2009", "")


def test_the_notices_title_gives_the_same():
    """It makes no difference which of the two titles was found."""
    by_notice = read_metadata(NOTICE, title=NOTICE.split("\n")[0], properties={})
    assert by_notice == read_metadata(NOTICE, title="云岭省节能管理办法（试行）", properties={})


def test_what_a_person_states_wins_over_the_text():
    """stated.* counts before anything that is read."""
    stated = {
        "stated.issuer": "云岭省能源局、云岭省财政厅",
        "stated.date": "2021年1月2日",
        "stated.region": "四川省成都市",
        "stated.number": "云能〔2021〕1号",
        "stated.kind": "办法",
        "stated.status": "废止",
    }
    found = read_metadata(NOTICE, title="云岭省节能管理办法（试行）", properties=stated)
    assert found.issuers == ("云岭省能源局", "云岭省财政厅")
    assert (found.issued, found.number, found.kind) == ("2021-01-02", "云能〔2021〕1号", "办法")
    assert (found.regions, found.level) == (("四川省", "成都市"), "市")
    assert found.status == ("废止",)
    assert found.inferred == ()


def test_a_pages_box_helps_where_the_text_is_silent_only():
    """A date of a page is when it was put up: the signature counts before it."""
    page = {"date": "2023-01-01 10:00", "issuer": "云岭省能源局", "number": "云能〔2023〕1号"}
    silent = read_metadata("节能方案\n一、要求", title="节能方案", properties=page)
    assert silent.issued == "2023-01-01"
    assert silent.issuers == ("云岭省能源局",)
    assert silent.number == "云能〔2023〕1号"
    told = read_metadata(NOTICE, title="云岭省节能管理办法（试行）", properties=page)
    assert (told.issued, told.written) == ("", "2022-03-05")
    assert told.number == "云政办发〔2022〕3号"


def test_every_field_that_a_table_beside_the_file_states_wins():
    """As the row says it, whatever the text does; months and levels, too."""
    row = {
        "issuer": "云岭省能源局；云岭省财政厅", "number": "云能[2020]1号", "date": "2020-01-02",
        "written": "2019-12", "effective": "2020-02", "expires": "2030", "region": "四川省成都市",
        "level": "部门", "kind": "规划", "status": "暂行", "recipients": "各县；各区",
        "notice": "关于甲的通知",
    }  # fmt: skip
    properties, problems = statement(row.items())
    found = read_metadata(NOTICE, title="云岭省节能管理办法（试行）", properties=properties)

    assert not problems
    assert found == Metadata(
        issuers=("云岭省能源局", "云岭省财政厅"), number="云能〔2020〕1号", issued="2020-01-02",
        written="2019-12", effective="2020-02", expires="2030", regions=("四川省", "成都市"),
        level="部门", kind="规划", status=("暂行",), recipients=("各县", "各区"),
        notice="关于甲的通知",
    )  # fmt: skip


def test_what_begins_with_the_day_of_issue_begins_with_the_stated_one():
    """自发布之日起施行 is reckoned from what a person says."""
    text = "节能办法\n第一条 本办法自发布之日起施行，有效期2年。"
    found = read_metadata(text, title="节能办法", properties={"stated.date": "2022-03-05"})
    assert (found.effective, found.expires) == ("2022-03-05", "2024-03-04")


def test_what_is_only_suggested_is_said_to_be():
    """A year by a cited number, a region by 全省 and a place named, an issuer by who explains."""
    text = (
        "节能实施办法\n落实《节能条例》（川府发〔2021〕2号），推进我省、全省节能，四川省内照办。\n"
        "本办法由四川省能源局负责解释。"
    )
    found = read_metadata(text, title="节能实施办法", properties={})
    assert found.issuers == ("四川省能源局",)
    assert found.year == 2021
    assert set(found.inferred) == {"issuers", "written"}
    silent = read_metadata(
        "节能办法\n省内照办，我省、全省、省委，四川省。", title="节能办法", properties={}
    )
    assert silent.regions == ("四川省",)
    assert silent.inferred == ("regions",)


def test_a_text_that_says_nothing_of_itself():
    """Everything stays empty."""
    assert read_metadata("你好", title="你好", properties={}) == Metadata()
    assert read_metadata("", title="", properties={}) == Metadata()


@pytest.mark.parametrize(
    ("title", "kind"),
    [
        ("云岭省节能实施方案（2022—2025年）", "实施方案"),
        ("关于印发《节能管理办法（试行）》的通知", "管理办法"),
        ("云岭省人民政府关于节能的指导意见", "指导意见"),
        ("关于节能的通报", "通报"),
        ("云岭省节能条例", "条例"),
        ("云岭节能", ""),
    ],
)
def test_kinds(title, kind):
    """What a notice issues counts; what follows the kind does not."""
    assert document_kind(title) == kind


@pytest.mark.parametrize(
    ("title", "text", "status"),
    [
        ("节能办法（暂行）", "", ("暂行",)),
        ("节能暂行办法", "", ("暂行",)),
        ("节能办法", "节能办法\n（公开征求意见稿）\n第一条", ("征求意见稿",)),
        ("节能办法", "时效性：失效\n节能办法", ("失效",)),
        ("节能办法", "节能办法\n第一条 现行有效的试行办法同时废止。", ()),
        ("关于废止节能办法的决定", "关于废止节能办法的决定", ()),
    ],
)
def test_status(title, text, status):
    """Words of the title, of a line below it, of a page's box; not of sentences."""
    assert read_metadata(text, title=title, properties={}).status == status


_WORDS = """
云岭省 人民政府 关于印发《 》的通知 〔2022〕 3号 各市： 2022年3月5日 自 起施行 （ ） 有效期 五年
《 财政厅 本办法 99年99月99日 。
"""
PIECES = [*_WORDS.split(), "\n", "\x00"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join) | st.text(max_size=120)


@settings(deadline=None)
@given(
    TEXTS,
    st.text(max_size=20),
    st.dictionaries(
        st.sampled_from(["date", "stated.date", "stated.region", "stated.issuer", "source"]),
        st.text(max_size=12),
    ),
)
def test_no_text_is_refused(text, title, properties):
    """Whatever it is fed, it gives metadata that can be stored and read back."""
    found = read_metadata(text, title=title, properties=properties)
    assert Metadata.from_record(found.to_record()) == found


@pytest.mark.parametrize(
    "text",
    ["云岭省" * 200_000, "（" * 500_000, "2022年3月5日" * 80_000, "省财政厅省能源局" * 60_000,
     "关于印发《" * 100_000, "\n".join(["各市、县"] * 50_000), "云政发〔2022〕" * 60_000],
    ids=range(7),
)  # fmt: skip
def test_long_texts_come_to_an_end(text):
    """Half a million characters of one pattern: a rule that goes back and forth would not."""
    found = read_metadata(text, title=text[:200], properties={})
    assert Metadata.from_record(found.to_record()) == found


def test_the_year_that_a_record_tells_serves_where_the_text_is_silent():
    """A `.jsonl` record, or a plugin, may know no more than the year."""
    told = read_metadata(
        "云岭省节能规划\n到2030年达到峰值。", title="云岭省节能规划", properties={"year": "2024"}
    )
    assert told.year == 2024
    assert "issued" not in told.inferred


@pytest.mark.parametrize(
    ("text", "site", "regions"),
    [
        (
            "节能补贴怎么领\n我省居民都可以申请。我省。我省。",
            "四川省成都市人民政府网站",
            ("四川省", "成都市"),
        ),
        ("节能补贴怎么领\n居民都可以申请。", "成都市民政局网站", ("四川省", "成都市")),
        ("国家能源局关于节能的通知\n各省：", "成都市人民政府网站", ()),
        ("云岭省能源局关于节能的通知\n各市：", "成都市人民政府网站", ("云岭省",)),
    ],
)
def test_whose_page_it_is_counts_where_the_text_only_suggests_a_place(text, site, regions):
    """A document of the centre or of another place is only shown there."""
    title = text.partition("\n")[0]
    assert read_metadata(text, title=title, properties={"site": site}).regions == regions
