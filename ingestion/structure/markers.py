"""The marks that headings begin with, and the number that each one has."""

import re
from dataclasses import dataclass

_CN = "一二三四五六七八九十百零〇两"
_NUMBER = rf"[{_CN}\d]{{1,4}}"
_TENS = "一二三四五六七八九十"
_SECOND = r"(?:[-－—]\d{1,2})?"  # 专栏4-3
_TITLE_OR_END = r"(?=[：:．.、]|\s|$|[一-鿿《“])"
_AFTER_BOX = r"(?=[\s：:、．.】\]]|[一-鿿“《]|$)(?!目|家)"
_NO_MARK = r"(?!\s*[,;)(])"  # Article 5(2) is spoken of
_NO_VALUE = r"(?=[^\d\s%％．、)）~～≤≥+×])"
_WORDED = "One|Two|Three|Four|Five"
_DECIMAL = r"\d{1,3}(?:\.\d{1,2})?"
_COUNTED = "年月日号时分秒个家万亿项户吨元米倍名人次座种类条级期周%％"
_ROMAN = r"(?=[IVX])X{0,2}(?:IX|IV|V?I{0,3})|[Ⅰ-Ⅻ]"
# What follows 第五条 where the text speaks of an article instead of beginning one.
_SPOKEN_OF = (
    r"(?!\s*(?:例|款|第|规定|所|的|至|到|和|与|及|、|，|或|之|中[^华国央]|项|关于|以及|）|》|要求))"
)

ATTACHMENT, ANNEX, BOX, ARTICLE, OPENING = "attachment", "annex", "box", "article", "opening"

# (family, pattern with the group `n`), tried in order.
_MARKERS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (ATTACHMENT, re.compile(rf"附\s*件\s*(?P<n>[\d{_TENS}]{{0,3}}){_SECOND}\s*{_TITLE_OR_END}")),
    (ANNEX, re.compile(rf"附\s*[录表]\s*(?P<n>[\dA-Z{_TENS}]{{0,3}}){_SECOND}\s*{_TITLE_OR_END}")),
    ("part", re.compile(rf"第\s*(?P<n>{_NUMBER})\s*(?:编|部分|篇)(?=[\s：:、]|[^\W\d]|$)")),
    ("chapter", re.compile(rf"第\s*(?P<n>{_NUMBER})\s*章(?!\s*(?:所|规定|的))")),
    ("section", re.compile(rf"第\s*(?P<n>{_NUMBER})\s*节(?!\s*(?:所|规定|的))")),
    (ARTICLE, re.compile(rf"第\s*(?P<n>[{_CN}\d]{{1,5}})\s*条{_SPOKEN_OF}")),
    ("part", re.compile(rf"(?i:Part)\s+(?P<n>{_ROMAN}|\d{{1,3}}|{_WORDED})\b{_NO_MARK}")),
    ("chapter", re.compile(rf"(?i:Chapter)\s+(?P<n>{_ROMAN}|\d{{1,3}})\b{_NO_MARK}")),
    ("section", re.compile(rf"(?i:Section)\s+(?P<n>{_ROMAN}|{_DECIMAL})\b{_NO_MARK}")),
    (ARTICLE, re.compile(rf"(?i:Article)\s+(?P<n>\d{{1,3}})\b{_NO_MARK}(?!\s*(?:of|and|or|to)\b)")),
    ("chinese", re.compile(r"(?P<n>[一二三四五六七八九十]{1,3})\s*(?:[、．]|\.(?!\d))")),
    ("roman", re.compile(rf"(?P<n>{_ROMAN})\s*(?:[、．]|\.(?=\s|[一-鿿]))")),
    ("bracketed chinese", re.compile(r"[（(]\s*(?P<n>[一二三四五六七八九十]{1,3})\s*[）)]")),
    ("decimal 4", re.compile(r"(?P<n>\d{1,2}\.\d{1,2}\.\d{1,2}\.\d{1,2})\.?(?![\d.])\s*")),
    ("decimal 3", re.compile(r"(?P<n>\d{1,2}\.\d{1,2}\.\d{1,2})\.?(?![\d.])\s*")),
    ("decimal 2", re.compile(rf"(?P<n>\d{{1,2}}\.\d{{1,2}})\.?(?![\d.])\s*{_NO_VALUE}")),
    ("digit", re.compile(r"(?P<n>\d{1,2})\s*(?:[、．]|\.(?!\d))")),
    ("bracketed digit", re.compile(r"[（(]\s*(?P<n>\d{1,2})\s*[）)]")),
    ("half bracket", re.compile(r"(?P<n>\d{1,2})[）)]")),
    ("circle", re.compile(r"(?P<n>[①-⑳])")),
    (BOX, re.compile(rf"[【\[]?\s*专\s*栏\s*(?P<n>[\d{_TENS}]{{0,3}}){_SECOND}{_AFTER_BOX}")),
    ("bare digit", re.compile(rf"(?P<n>\d{{1,2}})\s*(?=[A-Z]?[一-鿿])(?![{_COUNTED}])")),
    (OPENING, re.compile(r"(?:前\s*言|序\s*言|引\s*言|导\s*言|结\s*语|结\s*束\s*语)(?P<n>)$")),
)  # fmt: skip

# From the outermost: the order that most official documents share.
FAMILIES = (
    "part", "chapter", OPENING, "section", ARTICLE, "roman", "chinese", "bare digit",
    "bracketed chinese", "decimal 2", "decimal 3", "decimal 4", "digit", "bracketed digit",
    "half bracket", "circle",
)  # fmt: skip
RANK = {family: rank for rank, family in enumerate(FAMILIES)}
DIVISIONS = frozenset(("part", "chapter", "section"))
LISTED = frozenset(
    ("bracketed chinese", "digit", "bracketed digit", "half bracket", "circle", "roman",
     "decimal 2", "decimal 3", "decimal 4")
)  # fmt: skip
_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100}
_ROMANS = {"I": 1, "V": 5, "X": 10}
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_ATTACHMENT = re.compile(r"\W*附\s*[件录表]")


@dataclass(frozen=True, slots=True)
class Marker:
    """The mark that a line begins with.

    Attributes:
        family: Which kind of mark.
        number: What it counts, 0 for none; of a decimal mark its parts.
        end: Offset after it in the line.
    """

    family: str
    number: tuple[int, ...]
    end: int


def read_marker(line: str) -> Marker | None:
    """Return the mark that a line without leading blanks begins with.

    >>> read_marker("（十二）目标").number, read_marker("2025年目标")
    ((12,), None)
    """
    for family, pattern in _MARKERS:
        match = pattern.match(line)
        if match:
            return Marker(family, _number(match["n"]), match.end())
    return None


def opens_attachment(title: str) -> bool:
    """Return whether a heading is that of an attachment.

    >>> opens_attachment("附件1 项目清单"), opens_attachment("附则")
    (True, False)
    """
    return _ATTACHMENT.match(title) is not None


def _number(text: str) -> tuple[int, ...]:
    if not text:
        return (0,)
    if all(c == "." or (c.isascii() and c.isdigit()) for c in text):
        return tuple(int(part) for part in text.split(".") if part)
    if len(text) == 1 and "①" <= text <= "⑳":
        return (ord(text) - ord("①") + 1,)
    if len(text) == 1 and "Ⅰ" <= text <= "Ⅻ":
        return (ord(text) - ord("Ⅰ") + 1,)
    if text.lower() in _WORDS:
        return (_WORDS[text.lower()],)
    if set(text) <= set(_ROMANS):
        values = [_ROMANS[c] for c in text]
        return (sum(-v if v < max(values[i:]) else v for i, v in enumerate(values)),)
    if "A" <= text[0] <= "Z":
        return (ord(text[0]) - ord("A") + 1,)
    return (_chinese(text),)


def _chinese(text: str) -> int:
    total = digit = 0
    for c in text:  # a mark may mix both ways of writing: 3二
        if c in _UNITS:
            total += (digit or 1) * _UNITS[c]
            digit = 0
        else:
            digit = digit * 10 + (int(c) if c.isdigit() else _DIGITS.get(c, 0))
    return total + digit
