"""The reference date ("as of") of a question, from an option or its text."""

import re
from calendar import monthrange
from datetime import date

from kgrag.errors import OutOfRangeError

_GIVEN = re.compile(
    r"(?P<y>\d{4})年?(?:底|末)?"
    r"|(?P<ym>\d{4})[-./年](?P<m>\d{1,2})月?(?:底|末)?"
    r"|(?P<ymd>\d{4})[-./年](?P<md>\d{1,2})[-./月](?P<d>\d{1,2})日?"
)
_DATE = (
    r"(?P<date>(?:19|20)\d\d"
    r"(?:年(?:\d{1,2}月(?:\d{1,2}日)?)?|-\d{1,2}(?:-\d{1,2})?|(?![\d年-])))"
)
# Without such a word a date is one of figures: 到2025年达到多少, 截至2020年底装机多少.
_HOLDS = r"[，,]?(?:仍然?|还|依然|尚)?[在已]?(?:有效|现行|适用|生效|施行|执行|管用)[中着]?的"
_SAID = (
    re.compile(rf"(?:截至|截止[到至]?)\s*{_DATE}(?:底|末|时|为止)?{_HOLDS}"),
    re.compile(rf"{_DATE}(?:时|的时候|那时|当时|当年|底|末){_HOLDS}"),
    re.compile(rf"\bin force (?:on|at|in|as of)\s+{_DATE}", re.IGNORECASE),
)
_NOW = re.compile(
    r"现行(?:有效)?的?[^，。？《》]{0,12}?(?:政策|文件|规定|办法|法规|法律|条例|版本|制度|规章|细则)"
    r"|(?:目前|现在|当前|现今|如今|今天)(?:仍然?|还|依然)?(?:有效(?!率)|在有效期内)"
    r"|(?:仍然?|还|依然)有效(?!率)|\b(?:currently|still) in force\b",
    re.IGNORECASE,
)


def parse_as_of(text: str) -> str:
    """Parse a reference date to ISO 8601; of a year or a month its last day.

    Args:
        text: 2022, 2022-03, 2022-03-05, 2022年3月, 2022年3月5日.

    Raises:
        OutOfRangeError: If it is no such date.

    >>> parse_as_of("2022"), parse_as_of("2022年2月"), parse_as_of("2022-03-05")
    ('2022-12-31', '2022-02-28', '2022-03-05')
    """
    match = _GIVEN.fullmatch("".join(text.split()))
    if match:
        year, month, day = _parts(match)
        if 1 <= month <= 12 and 1900 <= year <= 2999:
            last = monthrange(year, month)[1]
            if day == 0 or 1 <= day <= last:
                return date(year, month, day or last).isoformat()
    raise OutOfRangeError(
        "a date is given as 2022, 2022-03, 2022-03-05 or 2022年3月, got {text!r}", text=text
    )


def _parts(match: re.Match[str]) -> tuple[int, int, int]:
    if match["y"]:
        return int(match["y"]), 12, 31
    if match["ym"]:
        return int(match["ym"]), int(match["m"]), 0
    return int(match["ymd"]), int(match["md"]), int(match["d"]) or -1


def said_as_of(question: str, *, today: str) -> str:
    """Return the reference date in a question, ISO 8601; empty without a certain one.

    Args:
        question: Any text.
        today: Date for 现行 and 目前有效, ISO 8601; later years mean a plan, not a reference date.

    >>> said_as_of("截至2022年6月仍有效的节能办法有哪些", today="2026-01-01")
    '2022-06-30'
    >>> said_as_of("现行的补贴政策", today="2026-01-01")
    '2026-01-01'
    >>> said_as_of("截至2020年底，装机容量是多少", today="2026-01-01")
    ''
    """
    for pattern in _SAID:
        match = pattern.search(question)
        if match:
            try:
                day = parse_as_of(match["date"])
            except OutOfRangeError:  # 2022年13月
                return ""
            return day if day[:4] <= today[:4] else ""
    return today if _NOW.search(question) else ""
