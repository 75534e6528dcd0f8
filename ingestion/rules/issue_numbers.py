"""Numbers of documents (文号): 国发〔2021〕4号, 生态环境部令第19号; behind titles and alone."""

import re
from collections.abc import Iterator

from kgrag.text.numerals import HAN_WHOLE

_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")
_YEAR = r"[〔﹝\[（(【［〈{]\s*[12１２][09０９][0-9０-９]{2}\s*[〕﹞\]）)】］〉}]"
_COUNT = r"(?:第\s*)?[0-9０-９][0-9０-９ ]{0,5}号"
_BEFORE_YEAR = r"[一-鿿][一-鿿\s]{0,17}"
_ORDER = (
    r"[一-鿿][一-鿿\s]{0,60}?(?:令|公告)(?:\s*[12][09]\d\d\s*年)?\s*(?:第\s*)?"
    rf"(?:\d{{1,5}}|[{HAN_WHOLE}]{{1,6}})\s*号"
)
_NUMBER = re.compile(
    rf"(?:{_BEFORE_YEAR}{_YEAR}\s*{_COUNT}|{_ORDER}|[12][09]\d\d\s*年\s*第\s*\d{{1,4}}\s*号)"
)
# What may stand between a title and its number: （修订）, （试行）, an opening bracket.
_TO_NUMBER = re.compile(
    r"\s*+(?:[（(](?:\d{4}年?)?(?:试行|修订|暂行|修正|新修订|修订版|[^（）()\d《》]{1,8})[）)]\s*+)?"
    rf"[（(【\[﹝〔,，]?\s*+(?={_NUMBER.pattern})"
)
BRACKETED = re.compile(rf"[（(]\s*(?={_NUMBER.pattern})")
_BARE = re.compile(rf"([一-鿿]{{2,18}}){_YEAR}\s*{_COUNT}")
_TAIL = re.compile(r"[^（）()《》。\n]{0,40}[）)】\]]")
# A number in running text follows one of these words, or one of the next follows it.
_LEADS = re.compile("(?m:^).*(?:根据|依据|依照|按照|遵照|落实|贯彻|执行|参照|精神和|要求和|精神及)")
_CUT = re.compile(".*[和与及以据照由的见]")
_STANDS_FOR_IT = re.compile(r"\s*(?:文件?|号文|精神|要求|规定)(?![一-鿿]*请示)")


def clean_number(number: str) -> str:
    """Return a number (文号) in one form: no blanks, digits narrow, the year in 〔〕.

    >>> clean_number("云政发[２０２１] 3号"), clean_number("云岭省人民政府令第 19 号")
    ('云政发〔2021〕3号', '云岭省人民政府令第19号')
    """
    bare = "".join(number.translate(_DIGITS).split())
    return re.sub(r"[〔﹝\[（(【［〈{]((?:19|20)\d\d)[〕﹞\]）)】］〉}]第?", r"〔\1〕", bare)


def number_after(text: str, end: int) -> tuple[str, int]:
    """Return the number that stands behind a title's end, and the offset after its bracket.

    Args:
        text: The document.
        end: Offset after the title.
    """
    lead = _TO_NUMBER.match(text, end, min(len(text), end + 140))
    match = _NUMBER.match(text, lead.end()) if lead else None
    if match is None:
        return "", end
    tail = _TAIL.match(text, match.end())
    return clean_number(match.group()), tail.end() if tail else match.end()


def numbers_for_documents(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of numbers that stand for a document: 落实国发〔2021〕4号文件精神."""
    for match in _BARE.finditer(text):
        lead = _LEADS.match(match.group(1)) or _CUT.match(match.group(1))
        start = match.start() + (lead.end() if lead else 0)
        called_on = _LEADS.search(text[max(0, start - 3) : start])
        if called_on or _STANDS_FOR_IT.match(text, match.end()):
            yield start, match.end()
