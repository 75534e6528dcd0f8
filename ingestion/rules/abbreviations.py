"""Short names that a document gives others: （以下简称《方案》）, and where it uses them later."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.ingestion.rules.said_short import SAID_SHORT
from kgrag.ingestion.rules.titles_told import Told, clean_title
from kgrag.language.title_keys import title_key
from kgrag.text.vocabulary import DOCUMENT_KINDS

_REACH = 240  # characters behind a title in which its short name is given
_GIVEN = re.compile(
    r"[^。；;\n（(《]{0,12}(?:[（(][^（）()《》]{0,60}[）)]\s*){0,2}"
    rf"[（(](?P<ahead>[^（）()《》]{{0,60}}?){SAID_SHORT}"
    r"(?P<names>[^（）()]{1,60}?)[）)]"
)
_NAME = re.compile(
    r"《([^《》]{1,40})》|[“\"]([^“”\"]{1,30})[”\"]([一-鿿]{0,6})|([一-鿿A-Za-z\d]{2,20})"
)
_BARE_KIND = re.compile(
    rf"(?:实施|指导|若干|工作|行动|总体|专项|管理|暂行|规划){{0,2}}(?:{DOCUMENT_KINDS}|建议)"
)
_KIND_AT_END = re.compile(f"(?:{DOCUMENT_KINDS}|建议|法)$")
_SHORTEST = 4  # characters of a short name that is recognised without marks


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """A short name, and the title that it stands for.

    Attributes:
        name: As it is given, marks left out.
        title: What it stands for.
        start: Where the bracket that gives it begins.
        end: Offset after it.
    """

    name: str
    title: Told
    start: int
    end: int


def is_bare_kind(title: str) -> bool:
    """Return whether a title is only a kind of document: 《规划》, 《实施方案》."""
    return _BARE_KIND.fullmatch(title) is not None


class ShortNames:
    """The short names that a text gives."""

    def __init__(self, given: Sequence[Abbreviation]) -> None:
        self._given = sorted(given, key=lambda s: (s.start, s.end))
        self._starts = [s.start for s in self._given]
        self._by_key: dict[str, list[Abbreviation]] = {}
        for short in sorted(given, key=lambda s: s.end):
            self._by_key.setdefault(title_key(short.name), []).append(short)

    @classmethod
    def given_in(cls, text: str, titles: Sequence[Told]) -> "ShortNames":
        """Return the short names in brackets behind titles.

        （以下分别简称《意见》《通知》） gives as many titles before it one each, in their order.

        Args:
            text: The document.
            titles: By place, those within others left out.
        """
        return cls([short for i in range(len(titles)) for short in _given(text, titles, i)])

    def defined_at(self, at: int) -> bool:
        """Return whether a place lies in a bracket that gives a short name."""
        i = bisect_right(self._starts, at) - 1
        return i >= 0 and at < self._given[i].end

    def meaning(self, title: Told) -> Told | None:
        """Return what a title stands for where it is a short name given before; None otherwise."""
        given = self._by_key.get(title_key(title.title), [])
        i = bisect_right(given, title.start, key=lambda s: s.end) - 1
        return given[i].title if i >= 0 and given[i].title is not title else None

    def places(self, text: str) -> Iterator[tuple[int, int, Told]]:
        """Yield where a short name that needs no marks is used after it was given.

        Only names that end in a kind of document and are no bare kind: “双碳”意见, not 方案.
        """
        sure = {s.name: s for s in self._given if _needs_no_marks(s.name)}
        if not sure:
            return
        names = sorted(sure, key=len, reverse=True)
        for match in re.finditer("|".join(map(re.escape, names)), text):
            short = sure[match.group()]
            if match.start() >= short.end:
                yield match.start(), match.end(), short.title


def _given(text: str, titles: Sequence[Told], i: int) -> list[Abbreviation]:
    told = titles[i]
    match = _GIVEN.match(text, told.end, min(len(text), told.end + _REACH))
    if not match:
        return []
    names = [_written(m) for m in _NAME.finditer(match["names"])]
    several = "分别" in text[match.start() : match.start("names")]
    names = names if several else names[:1]
    meant = titles[max(0, i + 1 - len(names)) : i + 1] if several else [told]
    at = match.start("ahead")
    return [
        Abbreviation(name, title, at, match.end())
        for name, title in zip(names, meant, strict=False)
        if name
    ]


def _needs_no_marks(name: str) -> bool:
    is_long = len(title_key(name)) >= _SHORTEST
    return is_long and _KIND_AT_END.search(name) is not None and not is_bare_kind(name)


def _written(match: re.Match[str]) -> str:
    marked, quoted, behind, plain = match.groups()
    if quoted and behind:  # “双碳”意见: the quotation marks are part of it
        return match.group()
    return clean_title(marked or quoted or plain)
