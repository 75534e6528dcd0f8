"""Shared word lists (`vocabulary.toml`) as parts of regular expressions."""

import functools
import re
import tomllib
from collections.abc import Mapping
from importlib import resources


@functools.cache
def _told() -> Mapping[str, str]:
    source = resources.files("kgrag.text").joinpath("vocabulary.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


def either(name: str) -> str:
    """Return a word list as alternatives of a pattern, the longest first.

    Raises:
        ValueError: If there is no such list.
    """
    if name not in _told():
        raise ValueError(f"vocabulary.toml has no list {name[:40]!r}")
    return "|".join(map(re.escape, sorted(_told()[name].split(), key=lambda w: (-len(w), w))))


DOCUMENT_KINDS = either("document_kinds")  # 通知|意见|…
ISSUER_ENDS = either("issuer_ends")  # 委员会|厅|…
CITING = either("citing")  # 引用|依据|…
FIVE_YEAR_PLAN = f"(?:{either('five_year_plans')})"
ABROAD = frozenset(either("abroad").split("|"))  # 美国, 日本, …
