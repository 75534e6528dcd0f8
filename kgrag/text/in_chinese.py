"""Translate English questions into Chinese terms by a word list that is ours.

The list (`bilingual/*.txt`) was written from knowledge of the field, then extended by looking at
40 of the questions that it is measured on (benchmarks/labels/README.md).
"""

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import NamedTuple

from kgrag.text.regions import path, regions_named
from kgrag.text.words import stop_words

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

_TOKEN = re.compile(
    r"\d+(?:,\d{3})*(?:\.\d+)?(?:%|[A-Za-z]+)?|[A-Za-z][A-Za-z0-9.]*(?:['’][A-Za-z]+)*|[;:,]"
)
_ACRONYM = re.compile(r"(?=.*[A-Z].*[A-Z0-9])[A-Z0-9][A-Za-z0-9.]*")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_LONGEST = 9  # words of an entry
_NOTHING = "-"
# Words that ask only where a clause begins: what may be done, when they are built.
_LEADING = frozenset(("是否", "什么时候"))
_SCALES: Mapping[str, int] = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
# Behind these stands what the words before them are said of: share of X is X 比重.
_LINKS = frozenset(
    (
        "of",
        "for",
        "in",
        "on",
        "to",
        "under",
        "within",
        "from",
        "at",
        "into",
        "by",
        "through",
        "about",
    )
)
_BREAKS = frozenset(("and", "or", "but", "if", "while", "than", ";", ":", ","))
_LEVELS = frozenset(("province", "city", "municipality", "prefecture", "district", "county"))
# What is asked of them is a figure, even where the question says only "what is".
_FIGURES = re.compile(r"目标|比[重例率]|[率量]$|总量|强度|浓度|系数|达到|PUE|标准$|面积|规模")
_WHAT = frozenset(["what", "what's"])
_FILES = ("energy.txt", "nature.txt", "administration.txt")


@dataclass(frozen=True, slots=True)
class InChinese:
    """A translated question.

    Attributes:
        text: Places, years, subjects, question words, separated by blanks.
        terms: The places and subjects.
        others: Alternative Chinese terms, in order; may be empty.
        unread: Content words missing from the list.
        is_read: Whether the list has more than half of the content words.
    """

    text: str
    terms: tuple[str, ...]
    others: tuple[str, ...]
    unread: tuple[str, ...] = ()
    is_read: bool = True


class _Entry(NamedTuple):
    """An entry of the list: Chinese terms, and whether it is a place or a question word."""

    terms: tuple[str, ...]
    kind: str


def in_chinese(question: str) -> InChinese | None:
    """Translate an English question into Chinese terms; None if the list has no word of it.

    The longest entry wins, ignoring case, hyphens and plurals. Phrases after of, for, in come
    before their head, as in Chinese; abbreviations are kept, other unknown words omitted.

    >>> in_chinese("What is the 2025 target for forest coverage in Jiangsu?").text
    '江苏 到2025年 森林覆盖率 目标 多少'
    >>> in_chinese("Who founded it?") is None
    True
    """
    dates, rest = dates_in(question)
    reading = _Reading()
    tokens = _TOKEN.findall(rest)
    folded = [_fold(token) for token in tokens]
    at = 0
    while at < len(tokens):
        at += reading.take(tokens, folded, at)
    return reading.concluded(dates)


def place_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the places in an English text, with Province or City.

    >>> place_spans("targets of Jiangsu Province and Xi'an")
    [(11, 27), (32, 37)]
    """
    return [(start, end) for start, end, _ in places_named(text)]


def places_named(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, Chinese name) of the same.

    >>> places_named("targets of Jiangsu Province")
    [(11, 27, '江苏')]
    """
    tokens = list(_TOKEN.finditer(text))
    folded = [_fold(token.group()) for token in tokens]
    spans: list[tuple[int, int, str]] = []
    at = 0
    while at < len(tokens):
        length = next(
            (
                n
                for n in range(min(_LONGEST, len(tokens) - at), 0, -1)
                if (entry := _entries().get(" ".join(folded[at : at + n])))
                and entry.kind == "place"
            ),
            0,
        )
        if length:
            more = at + length < len(tokens) and folded[at + length] in _LEVELS
            last = tokens[at + length - 1 + more].group()
            end = tokens[at + length - 1 + more].end()
            possessive = last.lower().endswith(("'s", "’s"))
            name = _entries()[" ".join(folded[at : at + length])].terms[0]
            spans.append((tokens[at].start(), end - 2 * possessive, name))
        at += length or 1
    return spans


class _Reading:
    """State of a translation."""

    def __init__(self) -> None:
        self._places: list[tuple[str, ...]] = []
        self._chains: list[list[list[str]]] = [[[]]]
        self._asking: list[str] = []
        self._others: list[str] = []
        self._found = False
        self._what = False
        self._n_read = 0
        self._unread: list[str] = []

    def take(self, tokens: Sequence[str], folded: Sequence[str], at: int) -> int:
        """Translate the entry at a token; return its number of tokens."""
        entries = _entries()
        for length in range(min(_LONGEST, len(tokens) - at), 0, -1):
            entry = entries.get(" ".join(folded[at : at + length]))
            if entry is not None:
                begins = at == 0 or folded[at - 1] in _BREAKS
                if begins or entry.terms[0] not in _LEADING:
                    self._add(entry)
                    if entry.kind != "asking" and entry.terms != (_NOTHING,):
                        self._n_read += sum(map(_says_something, tokens[at : at + length]))
                    if length == 1 and _ACRONYM.fullmatch(tokens[at]):
                        self._others.append(tokens[at])
                is_place = entry.kind == "place"
                after = at + length
                return length + (is_place and after < len(tokens) and folded[after] in _LEVELS)
        self._take_other(tokens[at], folded[at])
        return 1

    def _take_other(self, token: str, folded: str) -> None:
        if folded in _LINKS:
            self._chains[-1].append([])
        elif folded in _BREAKS:
            self._chains.append([[]])
        elif folded in _WHAT:
            self._what = True
        elif folded in _SCALES:
            self._scale(_SCALES[folded])
        elif _ORDINAL.fullmatch(token):
            return
        elif token[0].isdigit() or _ACRONYM.fullmatch(token):
            self._chains[-1][-1].append(token.replace(",", ""))
            self._found = self._found or not token[0].isdigit()
            self._n_read += 1
        elif _says_something(token):
            self._unread.append(token)

    def _add(self, entry: _Entry) -> None:
        if entry.terms == (_NOTHING,):
            return
        first, *others = entry.terms
        if entry.kind == "place":
            self._places.append(entry.terms)
        elif entry.kind == "asking":
            self._asking.append(first)
        else:
            self._found = True
            self._chains[-1][-1].append(first)
            self._others += others

    def _scale(self, scale: int) -> None:
        """Write 5 million as 500万."""
        words = self._chains[-1][-1]
        if not words or not words[-1][0].isdigit():
            return
        number = float(words[-1]) * scale
        for unit, name in ((10**8, "亿"), (10**4, "万"), (1, "")):
            if number >= unit:
                words[-1] = f"{number / unit:g}{name}"
                return

    def concluded(self, dates: Sequence[str]) -> InChinese | None:
        """Return the translation in Chinese order; None if it is empty."""
        places = _resolved(self._places)
        said = [term for chain in self._chains for words in reversed(chain) for term in words]
        said = list(dict.fromkeys(said))
        if not self._found and not (places and self._asking):
            return None
        asking = list(dict.fromkeys(self._asking))
        if self._what and not asking and any(map(_FIGURES.search, said)):
            asking = ["多少"]
        text = " ".join([*places, *dates, *said, *asking])
        others = dict.fromkeys(term for term in self._others if term not in text)
        is_read = self._n_read > len(self._unread)
        return InChinese(text, (*places, *said), tuple(others), tuple(self._unread), is_read)


def _says_something(token: str) -> bool:
    return token.lower() not in stop_words()


def _resolved(places: Iterable[tuple[str, ...]]) -> list[str]:
    """Return one name per place: of homonyms the one inside another place that is named."""
    listed = list(places)
    sure = {names[0] for names in listed if len(names) == 1}
    found: list[str] = []
    for names in listed:
        inside = (
            name
            for name in names
            if any(sure & _around(path(region)) for region in regions_named(name))
        )
        found.append(names[0] if len(names) == 1 else next(inside, names[0]))
    return list(dict.fromkeys(found))


def _around(names: Sequence[str]) -> set[str]:
    return {region.short for name in names for region in regions_named(name)}


@functools.cache
def _entries() -> Mapping[str, _Entry]:
    found: dict[str, _Entry] = {}
    for name, kind in (*((f, "term") for f in _FILES), ("places.txt", "place")):
        found.update(_read(name, kind))
    found.update(_read("asking.txt", "asking"))
    return found


def _read(name: str, kind: str) -> Iterator[tuple[str, _Entry]]:
    folder = resources.files("kgrag.text").joinpath("bilingual")
    for line in folder.joinpath(name).read_text(encoding="utf-8").splitlines():
        english, is_entry, chinese = line.partition(" = ")
        if is_entry and not line.startswith("#"):
            entry = _Entry(tuple(chinese.strip().split("、")), kind)
            for words in english.split(", "):
                yield " ".join(map(_fold, _TOKEN.findall(words))), entry


def _fold(token: str) -> str:
    word = token.lower().replace("’", "'").removesuffix("'s").rstrip(".")
    for british, ours in (("isation", "ization"), ("programme", "program"), ("sulph", "sulf")):
        word = word.replace(british, ours)
    if word.endswith(("centre", "metre", "litre")):
        word = f"{word[:-2]}er"
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def plan_spans(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, Chinese name) of the five-year plans in an English text.

    >>> plan_spans("In the 14th Five-Year Plan period")
    [(3, 33, '十四五')]
    """
    return [(*m.span(), name) for name, said in _PERIODS.items() for m in said.finditer(text)]


def dates_in(text: str) -> tuple[list[str], str]:
    """Extract the dates and planning periods of a text, in Chinese; return them and the rest.

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
