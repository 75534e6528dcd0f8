"""What a text states as a condition: who may apply, what is granted and punished, until when."""

from kgrag.ingestion.rules.finding import SELF, Finding
from kgrag.ingestion.rules.unwrapped import unwrapped
from kgrag.ingestion.statements.applicants import applicants
from kgrag.ingestion.statements.provisions import provisions
from kgrag.ingestion.statements.validity import validity


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
    found = [*applicants(flat), *provisions(flat), *validity(flat)]
    named = {(f.object, f.start) for f in found if f.subject != SELF}
    told = [f for f in found if f.subject != SELF or (f.object, f.start) not in named]
    return sorted(dict.fromkeys(told), key=lambda f: (f.start, f.end))
