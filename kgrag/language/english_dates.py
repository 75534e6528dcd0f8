"""Years, months and planning periods of an English text, as Chinese policies write them."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_ORDINALS = (
    ("十一五", "11th|eleventh"),
    ("十二五", "12th|twelfth"),
    ("十三五", "13th|thirteenth"),
    ("十四五", "14th|fourteenth"),
    ("十五五", "15th|fifteenth"),
)
_PERIODS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        name: re.compile(
            rf"\b(?:the\s+)?(?:{said})\s+five[-\s]year(?:\s+plan)?(?:\s+period)?\b", re.IGNORECASE
        )
        for name, said in _ORDINALS
    }
)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS)
_DAY = r"(?:\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?)?"
_DATE = re.compile(
    rf"\b(?P<month>{_MONTH})\b\.?{_DAY},?\s+(?P<year>(?:19|20)\d\d)\b", re.IGNORECASE
)
_YEAR = re.compile(
    r"\b(?:(?P<by>by|until|before|to)\s+)?(?:the\s+)?(?:end\s+of\s+|year\s+)?(?P<year>(?:19|20)\d\d)"
    r"(?P<target>\s+(?:target|goal|objective)s?)?\b",
    re.IGNORECASE,
)


def dates_in(text: str) -> tuple[list[str], str]:
    """Return the dates and planning periods that a text names, in Chinese, and the text without.

    >>> dates_in("the share by the end of 2025")[0]
    ['到2025年']
    >>> dates_in("issued in March 2022 for the 14th Five-Year Plan period")[0]
    ['“十四五”', '2022年3月']
    """
    found: list[str] = []
    for name, pattern in _PERIODS.items():
        if pattern.search(text):
            found.append(f"“{name}”")
            text = pattern.sub(" ", text)

    def dated(match: re.Match[str]) -> str:
        month = next(n for n, m in enumerate(_MONTHS, 1) if m[:3] == match["month"][:3].lower())
        day = f"{match['day']}日" if match["day"] else ""
        found.append(f"{match['year']}年{month}月{day}")
        return " "

    def year(match: re.Match[str]) -> str:
        to = "到" if match["by"] or match["target"] else ""
        found.append(f"{to}{match['year']}年")
        return f" {match['target'] or ''} "

    text = _DATE.sub(dated, text)
    text = _YEAR.sub(year, text)
    return list(dict.fromkeys(found)), text
