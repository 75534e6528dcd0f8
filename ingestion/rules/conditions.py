"""Read by rule who may apply, what is granted and punished, from and until when."""

from kgrag.ingestion.rules.condition_parts import Stated
from kgrag.ingestion.rules.eligibility import eligibility
from kgrag.ingestion.rules.finding import SELF, Finding
from kgrag.ingestion.rules.grants import grants
from kgrag.ingestion.rules.penalties import penalties
from kgrag.ingestion.rules.unwrapped import Unwrapped, unwrapped
from kgrag.ingestion.rules.validity import validity

_RULES = (eligibility, grants, penalties, validity)


def conditions(text: str) -> list[Finding]:
    """Return the conditions, amounts and periods that a text states, in text order.

    (`SELF` or who applies, 申请条件, item), (beneficiary, 奖励 / 补助, amount), (conduct, 处罚,
    fine), (`SELF` or title, 施行日期 / 有效期至 / 有效期, date or span). The span is the sentence
    or the item.

    >>> [(f.subject, f.predicate, f.object) for f in conditions(
    ...     "对绿色工厂，给予20万元奖励。本办法自2022年3月1日起施行。")]
    [('绿色工厂', '奖励', '20万元奖励'), ('本文件', '施行日期', '2022年3月1日')]
    """
    flat = unwrapped(text)
    found = [_finding(flat, stated) for rule in _RULES for stated in rule(flat.text)]
    named = {(f.object, f.start) for f in found if f.subject != SELF}
    told = [f for f in found if f.subject != SELF or (f.object, f.start) not in named]
    return sorted(dict.fromkeys(told), key=lambda f: (f.start, f.end))


def _finding(flat: Unwrapped, stated: Stated) -> Finding:
    start, end = flat.span(stated.start, stated.end)
    return Finding(
        stated.subject,
        stated.predicate,
        stated.object,
        start,
        end,
        stated.qualifiers,
        confidence=stated.confidence,
    )
