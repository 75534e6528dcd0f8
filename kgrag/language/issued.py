"""The year in which an official document was issued, read from its text."""

import re
from collections.abc import Iterator

_HEAD = 30  # lines in which a title, a number and a date of issue stand
_LONGEST = 60  # characters of a line that is no sentence

_DIGITS = str.maketrans(
    "〇○Ｏ零一二三四五六七八九０１２３４５６７８９", "0000123456789" + "0123456789"
)
_YEAR = r"((?:19|20)\d\d)"
# 青政〔2022〕3号; brackets come in many forms, and OCR loses some.
_NUMBER = re.compile(
    rf"^[（(]?[^，。；：《》〔﹝]{{2,30}}[〔﹝\[【［(（]{_YEAR}[〕﹞\]】］)）]第?\d+号[）)]?$"
)
_LABEL = re.compile(
    rf"(?:成文|发文|印发|发布|公布|颁布)\s*(?:日期|时间)\s*[】\]]?\s*[:：]?\s*{_YEAR}\s*[-.年/]"
)
_DAY = rf"{_YEAR}[年.\-/][\d十]{{1,3}}[月.\-/][\d十]{{1,3}}日?"
# （2022年6月22日云岭省人民代表大会常务委员会第四十一次会议通过）
_ADOPTED = re.compile(rf"^[（(][^）)]{{0,8}}?{_DAY}.{{0,60}}(?:大会|会议|通过|发布|公布|批准|修订)")
_DATE = re.compile(rf"^[（(]?{_DAY}(?:印发|发布|公布)?[）)。]?(?:[（(]此件.{{0,12}})?$")
# A date that is glued to the signature, or that an agency put below its report.
_SIGNED = re.compile(
    rf"(?:(?:政府|办公厅|办公室|委员会|[委厅局部])|新华社.{{1,6}}?){_DAY}电?[）)]?$"
)
_MONTH = re.compile(rf"^[（(]?{_YEAR}年[\d十]{{1,3}}月[）)]?$")


def issue_year(text: str) -> str:
    r"""Return the year in which a document was issued, in four digits; "" where it does not say.

    In order: a line of the head that says so (发布日期：…); the document's own number
    (〔2022〕3号), which stands in the head on a line of its own; when it was adopted; a line that
    is nothing but a date, or ends in one after a signature; a month below the title. Years in
    titles and sentences do not count: they say what is planned, or when something else was issued.

    How often it is right: benchmarks/decisions.md.

    Args:
        text: The document.

    >>> issue_year("云岭省节能规划（2023—2025年）\n云政发〔2022〕3号\n根据《节能办法》（2018年）")
    '2022'
    >>> issue_year("关于节能的通知\n各市人民政府：\n云岭省人民政府\n二〇二一年三月五日\n附件")
    '2021'
    >>> issue_year("云岭省2030年前碳达峰实施方案\n到2025年，达到38%。")
    ''
    """
    lines = list(_lines(text))
    head = lines[:_HEAD]
    for pattern, some in (
        (_LABEL, head),
        (_NUMBER, head),
        (_ADOPTED, head),
        (_DATE, lines),
        (_SIGNED, lines),
        (_MONTH, head),
    ):
        found = next((match for line in some if (match := pattern.search(line))), None)
        if found:
            return found.group(1)
    return ""


def _lines(text: str) -> Iterator[str]:
    """Yield lines short enough to be no sentence, years in digits, without blanks."""
    for line in text.splitlines():
        bare = "".join(line.split())
        if bare and len(bare) <= _LONGEST:
            yield bare.translate(_DIGITS)
