"""What a title, or the name of a file in its place, tells beside the title: a day, a number."""

import re

from kgrag.ingestion.rules.document_dates import DAY, iso_date
from kgrag.ingestion.rules.document_numbers import numbers_in

_DAY_AHEAD = re.compile(rf"^[（(]?{DAY}[）)]?[-_、，:：]?(?=[一-鿿《“])")
_BEHIND = re.compile(r"[（(](?P<told>[^（）()]{6,80})[）)]$")


def title_particulars(title: str) -> tuple[str, str, str]:
    """Return a title without what stands ahead of it or behind it, and the day and number there.

    Args:
        title: Narrowed.

    >>> title_particulars("2021-03-05云岭省能源局关于节能的通知")
    ('云岭省能源局关于节能的通知', '2021-03-05', '')
    >>> title_particulars("节能办法（云政发〔2021〕3号）")
    ('节能办法', '', '云政发〔2021〕3号')
    >>> title_particulars("节能办法（2021年3月5日云岭省人民政府令第3号公布）")
    ('节能办法', '2021-03-05', '')
    """
    ahead = _DAY_AHEAD.match(title)
    bare = title[ahead.end() :] if ahead else title
    day = iso_date(ahead[0]) if ahead else ""
    behind = _BEHIND.search(bare)
    if not behind:
        return bare, day, ""
    told = behind["told"]
    number = next((number for number, _ in numbers_in(told)), "")
    later = re.search(DAY, told)
    if not number and not later:
        return bare, day, ""
    return bare[: behind.start()], day or (iso_date(later[0]) if later else ""), number
