"""Extraction of a document's own number (文号): 云政发〔2022〕3号, 云岭省人民政府令第12号."""

import re
from collections.abc import Iterator, Sequence

from kgrag.ingestion.metadata.issuing_organs import split_organs
from kgrag.ingestion.metadata.lines import HEAD, DocumentLines
from kgrag.text.numerals import HAN_WHOLE
from kgrag.text.vocabulary import DOCUMENT_KINDS

_DIGITS = str.maketrans("０１２３４５６７８９", "0123456789")
_YEAR = r"[〔﹝\[（(【［〈{]\s*[12１２][09０９][0-9０-９]{2}\s*[〕﹞\]）)】］〉}]"
_COUNT = r"(?:第\s*)?[0-9０-９][0-9０-９ ]{0,5}号"
_BEFORE_YEAR = r"[一-鿿][一-鿿\s]{0,17}"
_ORDER_NUMBER = (
    r"[一-鿿][一-鿿\s]{0,60}?(?:令|公告)(?:\s*[12][09]\d\d\s*年)?\s*(?:第\s*)?"
    rf"(?:\d{{1,5}}|[{HAN_WHOLE}]{{1,6}})\s*号"
)
_NUMBER = re.compile(
    rf"(?:{_BEFORE_YEAR}{_YEAR}\s*{_COUNT}|{_ORDER_NUMBER}|[12][09]\d\d\s*年\s*第\s*\d{{1,4}}\s*号)"
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
_ENDED = re.compile(r"\s*(?:同时|即行|自行|相应|予以|一并|均)?(?:废止|失效|停止执行)")

# 青政〔2022〕3号; brackets come in many forms, and OCR loses some.
_BRACKETED = re.compile(
    r"(?P<code>[一-鿿A-Za-z]{2,24}?)[〔\[【［(（﹝](?P<year>(?:19|20)\d\d)[〕\]】］)）﹞]"
    r"(?P<no>第?\d{1,5})号"
)
_ORDER = re.compile(
    rf"(?:^|(?<=[日（(:：]))(?P<who>(?:中华人民共和国)?(?:国|[一-鿿]{{2,30}}?))(?P<kind>令|公告)[（(]?(?P<no>(?:(?:19|20)\d\d年)?第[{HAN_WHOLE}\d]{{1,8}}号)"
)
# The same over two or three lines: organ, 公告, 2022年第3号 or 〔2022〕3号.
_ORDER_LINES = re.compile(
    rf"(?P<who>[一-鿿、]{{2,120}}?)(?P<kind>令|公告|通告)[（(]?(?P<no>(?:(?:19|20)\d\d年)?第?[{HAN_WHOLE}\d]{{1,8}}号"
    r"|[〔\[［（(](?P<year>(?:19|20)\d\d)[〕\]］)）]第?\d{1,5}号)[）)]?"
)
# 云岭省能源局2022年3月5日印发, ahead of the number that ends the line.
_SENT_AHEAD = re.compile(
    r"^[^，。《》\d]{0,60}(?:19|20)\d\d年\d{1,2}月\d{1,2}日(?:印发|[发公颁]布)?"
    r"(?=[一-鿿]{2,12}[〔\[【（(﹝]\d{4}[〕\]】）)﹞]第?\d{1,5}号[）)]?$)"
)
_MOST_LINES, _PRESIDENT, _LONG_CODE = 7, "主席", 8
_LABEL = re.compile(r"(?:发文字号|发文文号|文件编号|文号|字号)[】\]]?[:：]$")
_BEFORE = re.compile(rf"(?:{DOCUMENT_KINDS}|函|文件)(?:[（(][^（）()]*[）)])?[（(]?$")
_CITED = re.compile(r"《[^》]*$|根据|按照|依据|依照|贯彻|落实|有关|转发")
_RUN_INTO = re.compile(rf".*(?:的[一-鿿]{{0,4}}(?:{DOCUMENT_KINDS}|函)|文件)")


def own_number(document: DocumentLines) -> str:
    r"""Return the number of a document, with 〔〕 and narrow digits; empty where it has none.

    It stands in the head on a line of its own, behind a label, behind a title or run into it, and
    before an issuer or the addressees. Numbers in sentences are those of other documents.

    >>> from kgrag.ingestion.metadata.lines import read_lines
    >>> own_number(read_lines("关于节能的通知（云政发[2022]3号）\n根据云政发〔2020〕1号"))
    '云政发〔2022〕3号'
    >>> own_number(read_lines("云岭省人民政府令\n第12号"))
    '云岭省人民政府令第12号'
    """
    last = document.addressees + 1 if document.addressees >= 0 else HEAD
    head = document.lines[: min(last, HEAD)]
    return next(_bracketed(head), "") or next(_orders(document.head), "") or _alone(document)


def numbers_in(text: str) -> Iterator[tuple[str, int]]:
    """Yield (number, year) of every number with a year in brackets that a text has.

    >>> list(numbers_in("根据《办法》（云政发[2020]1号）"))
    [('云政发〔2020〕1号', 2020)]
    """
    for match in _BRACKETED.finditer(text):
        yield _normal(match), int(match["year"])


def _bracketed(head: Sequence[str]) -> Iterator[str]:
    for line in (_SENT_AHEAD.sub("", line) for line in head):
        for match in _BRACKETED.finditer(line):
            code = match["code"]
            title = _RUN_INTO.match(code)
            start = match.start() + (title.end() if title and title.end() < len(code) else 0)
            before = line[:start]
            sentence = "。" in line[: match.end()] or "，" in before or _CITED.match(match["code"])
            if not sentence and (
                before in ("", "（", "(", "〔") or _LABEL.search(before) or _after_title(before)
            ):
                yield _without_organs(_normal(match))


def _without_organs(number: str) -> str:
    """Return a number without organs before it: 云岭省能源局云能〔2022〕3号."""
    code = number.partition("〔")[0]
    ends = range(len(code) - 2, 3, -1) if len(code) > _LONG_CODE else ()
    cut = next((end for end in ends if split_organs(code[:end])), 0)
    return number if code[cut:] in ("公告", "通告") else number[cut:]


def _alone(document: DocumentLines) -> str:
    """Return the number on its own line after the addressees: below the body's title."""
    for title, line in zip(document.head, document.head[1:], strict=False):
        match = _BRACKETED.fullmatch(line.strip("（()）"))
        if match and _BEFORE.search(title):
            return _normal(match)
    return ""


def _after_title(before: str) -> bool:
    return bool(_BEFORE.search(before)) and not _CITED.match(before)


def _normal(match: re.Match[str]) -> str:
    code = match["code"].strip("（(）)")
    title = _RUN_INTO.match(code)
    if title and len(code) > title.end():
        code = code[title.end() :]
    return f"{code}〔{match['year']}〕{match['no']}号"


def _orders(head: Sequence[str]) -> Iterator[str]:
    for i, line in enumerate(head[:12]):
        match = _ORDER.search(line)
        if match and "《" not in line:
            yield f"{_of_whom(match['who'])}{match['kind']}{match['no']}"
        for last in range(i + 2, min(i + _MOST_LINES, len(head)) + 1):
            match = _ORDER_LINES.fullmatch("".join(head[i:last]))
            whose = _of_whom(match["who"]) if match else ""
            organs = [whose] if whose == _PRESIDENT else split_organs(whose)
            if match and organs:
                joint = "" if match["kind"] == "令" else whose
                yield f"{joint or organs[0]}{match['kind']}{_order_number(match)}"


def _order_number(match: re.Match[str]) -> str:
    number = match["no"]
    if match["year"]:
        return f"〔{match['year']}〕{re.sub(r'^.*?[^0-9]第?(?=[0-9]+号$)', '', number)}"
    return number if "第" in number else f"第{number}"


def _of_whom(name: str) -> str:
    return name.replace("中华人民共和国", "")


def clean_number(number: str) -> str:
    """Return a number (文号) in one form: no blanks, digits narrow, the year in 〔〕.

    >>> clean_number("云政发[２０２１] 3号"), clean_number("云岭省人民政府令第 19 号")
    ('云政发〔2021〕3号', '云岭省人民政府令第19号')
    """
    bare = "".join(number.translate(_DIGITS).split())
    return re.sub(r"[〔﹝\[（(【［〈{]((?:19|20)\d\d)[〕﹞\]）)】］〉}]第?", r"〔\1〕", bare)


def number_after(text: str, end: int) -> tuple[str, int]:
    """Return the number after a title's end, and the offset after its bracket.

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
    """Yield (start, end) of numbers used as names of documents: 落实国发〔2021〕4号文件精神."""
    for match in _BARE.finditer(text):
        lead = _LEADS.match(match.group(1)) or _CUT.match(match.group(1))
        start = match.start() + (lead.end() if lead else 0)
        called_on = _LEADS.search(text[max(0, start - 3) : start])
        ended = _ENDED.match(text, match.end())
        if ended and text[start] == "原" and match.end(1) - start > 3:  # 原云能发, not 原政发
            start += 1
        if called_on or ended or _STANDS_FOR_IT.match(text, match.end()):
            yield start, match.end()
