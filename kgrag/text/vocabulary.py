"""Shared word lists (`vocabulary.toml`) as parts of regular expressions."""

import re

from kgrag.text.messages import catalogue


def either(name: str) -> str:
    """Return a word list as alternatives of a pattern, the longest first.

    Raises:
        ValueError: If there is no such list.
    """
    told = catalogue("kgrag.text", "vocabulary.toml")
    if name not in told:
        raise ValueError(f"vocabulary.toml has no list {name[:40]!r}")
    return "|".join(map(re.escape, sorted(told[name].split(), key=lambda w: (-len(w), w))))


DOCUMENT_KINDS = either("document_kinds")  # 通知|意见|…
ISSUER_ENDS = either("issuer_ends")  # 委员会|厅|…
CITING = either("citing")  # 引用|依据|…
FIVE_YEAR_PLAN = f"(?:{either('five_year_plans')})"
ABROAD = frozenset(either("abroad").split("|"))  # 美国, 日本, …
