"""Mails and web archives: body, subject, sender and date; attachments are told."""

import struct
from email.message import EmailMessage

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.mail import read_mail, read_msg, read_page
from tests.fixtures.outlook import compound_file

_PART = b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n"
NESTED = b"".join(_PART % (i, i) for i in range(3000))
NAMES = {"name": "a.eml", "stem": "stem"}


def mail(body: str, *, subtype: str = "plain", charset: str = "utf-8") -> EmailMessage:
    """Return a mail of an office."""
    made = EmailMessage()
    made["Subject"] = "关于报送节能数据的函"
    made["From"] = "云岭省发展改革委 <fgw@example.org>"
    made["Date"] = "Sun, 12 Mar 2023 08:30:00 +0800"
    made.set_content(body, subtype=subtype, charset=charset)
    return made


@pytest.mark.parametrize("charset", ["utf-8", "gb2312"])
def test_read_mail_gives_the_body_and_who_sent_it(charset):
    """Whatever the charset; attachments are named, with what to do."""
    made = mail("各市：\n请于3月底前报送。\n", charset=charset)
    made.add_attachment(b"x", maintype="application", subtype="pdf", filename="附件1.pdf")
    parsed = read_mail(made.as_bytes(), **NAMES)
    assert parsed.title == "关于报送节能数据的函"
    assert parsed.text.split() == ["各市：", "请于3月底前报送。"]
    assert parsed.properties["author"] == "云岭省发展改革委 <fgw@example.org>"
    assert parsed.properties["date"] == "2023-03-12"
    assert parsed.warnings == ("attachments that are not read: 附件1.pdf; save them as files",)


def test_read_mail_prefers_the_page_with_its_tables():
    """A mail that is both is read as the page, in the charset of its head, not of its meta."""
    made = mail("请看表格。")
    page = (
        '<meta charset="gb2312"><p>指标如下，请各单位按时报送，逾期不再受理。</p>'
        "<table><tr><td>指标</td><td>目标</td><td>单位</td></tr><tr><td>森林覆盖率</td><td>45.2</td>"
        "<td>%</td></tr><tr><td>能耗</td><td>13.5</td><td>%</td></tr></table>"
    )
    made.add_alternative(page, subtype="html")
    assert "| 森林覆盖率 | 45.2 | % |" in read_mail(made.as_bytes(), **NAMES).text


def test_read_page_reads_a_web_archive():
    """The page of an `.mht`, as browsers save it: quoted-printable, with pictures beside it."""
    made = mail("<title>节能办法</title><p>第一条 本办法适用于全省。</p>", subtype="html")
    made.add_related(b"GIF89a", maintype="image", subtype="gif")
    parsed = read_page(made.as_bytes(), name="a.mht", stem="stem")
    assert parsed.text == "第一条 本办法适用于全省。"
    assert parsed.title == "节能办法"


def test_read_msg_gives_what_a_mail_gives():
    """Texts are UTF-16 or in a code page; the day is a time of Windows."""
    sent = struct.pack("<LLQ", 0x00390040, 6, 133_232_256_000_000_000)
    streams = {
        "__properties_version1.0": b"\0" * 32 + sent,
        "__substg1.0_0037001F": "关于报送节能数据的函".encode("utf-16-le"),
        "__substg1.0_0C1A001E": "云岭省发展改革委".encode("gbk"),
        "__substg1.0_1000001F": "请于3月底前报送。".encode("utf-16-le"),
        "__attach_version1.0_#00000000/__substg1.0_3707001F": "表.xlsx".encode("utf-16-le"),
    }
    data = compound_file(streams)
    parsed = read_msg(data, name="a.msg", stem="stem")
    assert (parsed.title, parsed.text) == ("关于报送节能数据的函", "请于3月底前报送。")
    assert parsed.properties["author"] == "云岭省发展改革委"
    assert parsed.properties["date"] == "2023-03-14"
    assert parsed.warnings == ("attachments that are not read: 表.xlsx; save them as files",)
    with pytest.raises(IngestionError, match="no mail of Outlook"):
        read_msg(data[: len(data) // 2], name="a.msg", stem="stem")
    with pytest.raises(
        IngestionError, match="no mail of Outlook"
    ):  # a compound file of another kind
        read_msg(compound_file({"WordDocument": b"x"}), name="a.msg", stem="stem")


@pytest.mark.parametrize(
    ("read", "data", "said"),
    [
        (read_mail, b"\xff\xd8\xff\xe0 no mail", "is damaged or no mail"),
        (read_mail, b"Subject: x\n\n", "has no body"),
        (read_mail, b"Subject: x\nDate: never\n\nbody", "is damaged or no mail"),
        (read_mail, NESTED, "is damaged or no mail|has no body"),
        (read_page, b"Subject: x\n\nplain", "holds no page"),
        (read_msg, b"no mail", "is damaged or no mail of Outlook"),
        (read_msg, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 2000, "no mail of Outlook"),
    ],
)  # fmt: skip
def test_what_is_no_mail_is_refused(read, data, said):
    """With the remedy."""
    with pytest.raises(IngestionError, match=said):
        read(data, name="a", stem="stem")
