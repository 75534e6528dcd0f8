"""Dates: signed, sent out, in force from and until."""

import pytest

from kgrag.ingestion.metadata.dates import Dates, iso_date, issue_year, read_dates
from kgrag.ingestion.metadata.lines import read_lines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("节能通知\n正文。\n云岭省人民政府\n2022年3月5日", Dates(written="2022-03-05")),
        ("节能通知\n云岭省人民政府二〇二二年三月五日", Dates(written="2022-03-05")),
        ("节能通知\n云岭省能源局\n二○二二年十二月三十一日", Dates(written="2022-12-31")),
        ("通知\n云岭省能源局2022年3月5日云岭省节能方案\n一、", Dates(written="2022-03-05")),
        ("部长某某\n2022年3月5日节能管理办法\n第一条", Dates(written="2022-03-05")),
        ("节能意见\n（2022年3月5日）\n正文", Dates(written="2022-03-05")),
        ("通知\n2022年3月5日（此件公开发布）", Dates(written="2022-03-05")),
        ("节能规划\n二〇二二年三月\n目录", Dates(written="2022-03")),
        ("成文日期：2022-03-05\n发布日期：2022.03.09", Dates("2022-03-05", "2022-03-09")),
        # beside the number or the organ, as collections of laws have it
        ("节能规定\n1999年3月5日云能字〔1999〕7号\n各市能源局：", Dates(written="1999-03-05")),
        ("节能规定\n1999年3月5日，云岭省能源办公室\n一、", Dates(written="1999-03-05")),
        ("云岭省节能的意见 云政发[2009]6号 2009-11-03 为了节能。", Dates(written="2009-11-03")),
        # the clock of a page, of a text that is older or not
        ("时间:2024-05-22 19:54:20 来源:某网\n节能规定\n1999年3月5日，云岭省能源局\n一、",
         Dates(written="1999-03-05")),
        ("节能规定\n时间:2024-05-22 19:54:20\n一、", Dates(issued="2024-05-22", of_page=True)),
        ("节能意见\n发布时间:2024-05-22 19:54:20\n云政发〔2024〕3号", Dates(issued="2024-05-22")),
        ("节能意见\n发布时间:2025-02-22 19:54:20\n云政发〔2024〕3号", Dates(issued="2025-02-22")),
        ("节能意见\n发布时间:2024-05-22 19:54:20\n云政发〔2020〕3号", Dates()),
        ("节能意见\n时间:2024-05-22 19:54:20\n云政发〔2020〕3号", Dates()),
        ("意见\n（新华社北京2021年10月24日电）", Dates(issued="2021-10-24")),
        ("节能意见\n2022-03-09 10:00来源：云岭省能源局", Dates(issued="2022-03-09")),
        (
            "通知\n云岭省能源局\n2022年3月5日\n云岭省能源局办公室2022年3月7日印发",
            Dates("2022-03-05", "2022-03-07"),
        ),
        (
            "节能法\n2008年8月29日通过\n2018年10月26日第六次会议修正\n2009年1月1日施行",
            Dates(written="2018-10-26", effective="2009-01-01"),
        ),
        ("（2019年3月1日云岭省人民代表大会\n第四次会议通过）", Dates(written="2019-03-01")),
        ("节能通知\n于2022年3月5日前报送。请在2022年4月1日起执行检查。", Dates()),
        ("根据《办法》（2018年3月5日发布），", Dates()),
        ("2022年13月45日", Dates()),
    ],
)  # fmt: skip
def test_dates_of_issue(text, expected):
    """A signature, a label, an adoption, a month below the title; none of a sentence."""
    assert read_dates(read_lines(text)) == expected


@pytest.mark.parametrize(
    ("clause", "effective", "expires"),
    [
        ("本办法自2022年5月1日起施行。", "2022-05-01", ""),
        ("本办法自2022年5月1日起施行，有效期五年。", "2022-05-01", "2027-04-30"),
        ("本通知自印发之日起执行，有效期至2025年12月31日。", "2022-03-05", "2025-12-31"),
        ("本办法自发布之日起30日后施行，有效期为2年。", "2022-04-04", "2024-04-03"),
        ("现予公布，自2022年5月1日起施行。", "2022-05-01", ""),
        ("本措施自2022年1月1日起施行，试行期三年。", "2022-01-01", "2024-12-31"),
        ("本办法实施期限为2022年1月1日至2025年12月31日。", "2022-01-01", "2025-12-31"),
        ("本办法自2022年5月1日实施，有效期5年。", "2022-05-01", "2027-04-30"),
        ("本意见自2022年5月1日正式施行。", "2022-05-01", ""),
        ("本办法自2022年5月1日以来实施的项目。", "", ""),
        ("本措施自印发之日起实施，暂定三年。", "2022-03-05", "2025-03-04"),
        ("本细则自2022年5月1日起试行两年。", "2022-05-01", "2024-04-30"),
        ("本办法自2022年5月31日起施行，有效期为6个月。", "2022-05-31", "2022-11-30"),
        ("本办法自2024年1月1日起施行，有效期至2028年12月31日。", "2024-01-01", "2028-12-31"),
        ("五、《节能办法》自2022年5月1日起施行。", "2022-05-01", ""),
        ("《节能条例》自2022年5月1日起施行。", "", ""),
        ("市里的《节能办法》自2022年5月1日起施行。", "", ""),
        ("执行期限：2022年9月1日至2025年8月31日。", "", ""),
        ("本政策执行期限为2022年9月1日至2025年8月31日。", "2022-09-01", "2025-08-31"),
        ("许可证有效期为五年。", "", ""),
        ("企业应当自2022年5月1日起执行新标准。", "", ""),
        ("本办法自2022年2月30日起施行。", "", ""),
    ],
)
def test_dates_in_force(clause, effective, expires):
    """From a day or that of issue; until a day, or so many years from then; its own only."""
    text = f"节能办法\n云岭省能源局\n2022年3月5日\n第十条 {clause}"
    found = read_dates(read_lines(text), title="节能办法")
    assert (found.effective, found.expires) == (effective, expires)


def test_a_leap_day_ends_on_a_day_that_there_is():
    """Five years from 29 February: the last day of the month."""
    text = "节能办法\n本办法自2020年2月29日起施行，有效期五年。"
    assert read_dates(read_lines(text)).expires == "2025-02-28"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2022年3月5日", "2022-03-05"),
        ("2022/3/5 10:00", "2022-03-05"),
        ("2022-03", "2022"),
        ("二〇二二年十月", "2022-10"),
        ("2022", "2022"),
        ("昨天", ""),
        ("", ""),
    ],
)
def test_iso_date(text, expected):
    """As far as it is told."""
    assert iso_date(text) == expected


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("关于节能的通知\n发布日期：2021.09.22\n云政发〔2020〕1号", "2021"),
        ("节能规划（2023—2025年）\n（云政发〔2022〕3号）\n各市：", "2022"),
        ("节能规划\n云 政 发 [２０２２] ３ 号\n各市：", "2022"),
        ("节能条例\n（2019年3月1日云岭省人民代表大会\n常务委员会第四次会议通过）", "2019"),
        ("节能通知\n各市人民政府：\n请照办。\n云岭省人民政府\n2021年8月12日\n附件", "2021"),
        ("节能通知\n请照办。\n云岭省人民政府办公厅二〇二一年八月十二日", "2021"),
        ("节能意见\n正文。\n（新华社北京2021年10月24日电）", "2021"),
        ("云岭省节能规划\n二〇二二年三月\n第一章", "2022"),
    ],
)
def test_issue_year_when_a_document_says_it(text, year):
    """A labelled date, its own number, adoption, a signature's date, a month below the title."""
    assert issue_year(read_lines(text)) == year


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2030年前碳达峰行动方案\n到2025年，比重达到20%。",
        "节能意见\n根据《节能办法》（国发〔2018〕33号），制定本意见。",
        "节能意见\n〔2020〕9号），以及有关规定，结合实际，制定本规程。",
        "节能办法\n自2022年3月1日起施行。",
        "节能规划\n" + "目标。\n" * 40 + "2022年3月",
    ],
)
def test_issue_year_when_a_document_does_not_say_it_is_empty(text):
    """Years of plans, of documents that are cited, and of what comes into force are none."""
    assert issue_year(read_lines(text)) == ""
