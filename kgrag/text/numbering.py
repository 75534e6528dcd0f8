"""Parse numbering: 第三章, 一、, （一）, 1., ①, 附件2, 专栏4, Article 5."""

import re
from dataclasses import dataclass

from kgrag.text.numerals import HAN_SMALL, HAN_WHOLE, whole_number

ATTACHMENT, ANNEX, BOX, ARTICLE, OPENING = "attachment", "annex", "box", "article", "opening"
BARE = "bare digit"
# From the outermost: the order that most official documents share.
FAMILIES = (
    "part", "chapter", OPENING, "section", ARTICLE, "roman", "chinese", BARE,
    "bracketed chinese", "decimal 2", "decimal 3", "decimal 4", "digit", "bracketed digit",
    "half bracket", "circle",
)  # fmt: skip
RANK = {family: rank for rank, family in enumerate(FAMILIES)}
DIVISIONS = frozenset(("part", "chapter", "section"))

_HAN = rf"(?P<n>[{HAN_WHOLE}\d]{{1,5}})"
_SMALL = rf"(?P<n>[{HAN_SMALL}]{{1,3}})"
_OWN = rf"(?P<n>[{HAN_SMALL}\d]{{0,3}})(?:[-－—]\d{{1,2}})?"  # 专栏4-3
_ROMAN = r"(?=[IVX])X{0,2}(?:IX|IV|V?I{0,3})|[Ⅰ-Ⅻ]"
_DECIMAL = r"(?!(?:19|20)\d\d\b)\d{1,4}(?:\.\d{1,3}){0,3}"  # Regulation 2022 is of a year
_LATIN = rf"(?P<n>{_ROMAN}|{_DECIMAL}|One|Two|Three|Four|Five)[A-Z]?\b"
_ENDS = r"(?=[\s：:、．.】\]一-鿿“《]|$)"
# What follows a mark where the text speaks of the part instead of beginning it.
_SPOKEN = (
    r"(?![例款的和与及或之]|项(?!目)|第(?!三方)|关于|以及|要求|\s*(?:规定|所[称列述规指]|[、，）》]"
    rf"|[至到和与及或]\s*(?:第|[{HAN_WHOLE}\d]{{1,5}}\s*[条章节])))"  # 至第八条; not 到2027年
)
_SPOKEN_LATIN = r"(?!\s*(?:[,;)(]|(?:of|and|or|to)\b))"  # Article 5(2)
_NO_VALUE = r"(?=[^\d\s%％．、)）~～≤≥+×])"
_COUNTED = "年月日号时分秒个家万亿项户吨元米倍名人次座种类条级期周%％"

# (family, what it looks like), tried in order.
_MARKS: tuple[tuple[str, str], ...] = (
    (ATTACHMENT, rf"附\s*件\s*{_OWN}\s*{_ENDS}"),
    (ANNEX, rf"附\s*[录表]\s*(?P<n>[\dA-Z{HAN_SMALL}]{{0,3}})(?:[-－—]\d{{1,2}})?\s*{_ENDS}"),
    (BOX, rf"[【\[]?\s*专\s*栏\s*{_OWN}{_ENDS}(?!目|家)"),
    ("part", rf"第\s*{_HAN}\s*(?:编|部分|篇)(?=[\s：:、]|[^\W\d]|$)"),
    ("chapter", rf"第\s*{_HAN}\s*章{_SPOKEN}"),
    ("section", rf"第\s*{_HAN}\s*节{_SPOKEN}"),
    (ARTICLE, rf"第\s*{_HAN}\s*条{_SPOKEN}"),
    *((family, rf"(?i:{names})\s+{_LATIN}{_SPOKEN_LATIN}")
      for family, names in (("part", "part|title"), ("chapter", "chapter"), ("section", "section"),
                            (ARTICLE, "article|rule|regulation|clause|guideline|principle"))),
    (ANNEX, r"(?i:schedule|appendix|annex)(?:\s+(?P<n>[A-Z]|\d{1,3}|[IVX]{1,4})(?![\w.])"
            rf"{_SPOKEN_LATIN}|\s*$)"),
    ("chinese", rf"{_SMALL}\s*(?:[、．]|\.(?!\d))"),
    ("bracketed chinese", rf"[（(]\s*{_SMALL}\s*[）)]"),
    ("roman", rf"(?P<n>{_ROMAN})\s*(?:[、．]|\.(?=\s|[一-鿿]))"),
    *((f"decimal {n}", rf"(?P<n>\d{{1,2}}(?:\.\d{{1,2}}){{{n - 1}}})\.?(?![\d.])\s*{after}")
      for n, after in ((4, ""), (3, ""), (2, _NO_VALUE))),
    ("digit", r"(?P<n>\d{1,2})\s*(?:[、．]|\.(?!\d))"),
    ("bracketed digit", r"[（(]\s*(?P<n>\d{1,2})\s*[）)]"),
    ("half bracket", r"(?P<n>\d{1,2})[）)]"),
    ("circle", r"(?P<n>[①-⑳])"),
    (BARE, rf"(?P<n>\d{{1,2}})\s*(?=[A-Z]?[一-鿿])(?![{_COUNTED}])"),
    (OPENING, r"(?:[前序引导]\s*言|结\s*语|结\s*束\s*语)(?P<n>)$"),
)  # fmt: skip
_PATTERNS = tuple((family, re.compile(pattern)) for family, pattern in _MARKS)
_BEGINS = re.compile(rf"[附第专【\[（(前序引导结①-⑳Ⅰ-ⅫIVX\dPpCcSsAaRrGgTt{HAN_SMALL}]")
# What else begins an item without counting further than its paragraph: 一是, ——, •, #.
_ITEM = re.compile(rf"[{HAN_SMALL}]是(?:要)?|[—\-]{{2,}}|[•●■·◆]|#+")


@dataclass(frozen=True, slots=True)
class Numbering:
    """A numbering mark in a text.

    Attributes:
        family: Kind of mark.
        number: Its value, 0 for none; the parts of a decimal mark.
        start: Offset of its first character.
        end: Offset after its last.
    """

    family: str
    number: tuple[int, ...]
    start: int
    end: int


def numbering_at(text: str, start: int = 0) -> Numbering | None:
    """Return the numbering at an offset of a line; None for none.

    >>> numbering_at("（十二）目标").number, numbering_at("2025年目标")
    ((12,), None)
    """
    if _BEGINS.match(text, start):
        for family, pattern in _PATTERNS:
            if match := pattern.match(text, start):
                return Numbering(family, _number(match["n"] or ""), start, match.end())
    return None


def item_end(text: str, start: int = 0) -> int:
    """Return the end of the mark of an item or a heading; `start` for none.

    Unlike `numbering_at`, it accepts marks without a number, and no bare digits.

    >>> item_end("一是坚持节约"), item_end("1．工业"), item_end("3 家企业")
    (2, 2, 0)
    """
    mark = numbering_at(text, start)
    is_value = mark and mark.family == "decimal 2" and text[mark.end : mark.end + 1] in _COUNTED
    if mark and mark.family not in (BARE, OPENING) and not is_value:
        return mark.end
    match = _ITEM.match(text, start)
    return match.end() if match else start


def without_numbering(text: str, trim: str = " \t\u3000") -> str:
    """Return a text without its leading numbering.

    >>> without_numbering("第三节 （一）主要目标")
    '主要目标'
    """
    text = text.lstrip(trim)
    while end := item_end(text):
        text = text[end:].lstrip(trim)
    return text


def _number(text: str) -> tuple[int, ...]:
    return tuple(whole_number(part) or 0 for part in text.split("."))
