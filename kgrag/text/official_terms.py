"""Expand colloquial terms by official ones: 旧件翻新 is 再制造.

The thesaurus is ours (`thesaurus/*.txt`): it was written from knowledge of the field, without
any of the questions that it is measured on.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import NamedTuple

from kgrag.text.words import quoted_titles, word_boundaries

_LONGEST_TERM = 16  # characters of an official term that is said in everyday words
# What is said of a term and is no name for it: a question, a part, something else.
_NO_NAME = re.compile("[谁哪几怎吗么少多]|^[不没](?!烧)|[^一-鿿]")
_SHORT = 3  # characters of a wording that must be words of the text: 科技部 is not in 科技部门


class OfficialTerms(NamedTuple):
    """A colloquial term in a text, and its official terms.

    Attributes:
        start: Offset of its first character.
        end: Offset after its last.
        terms: Official terms, most usual first; at least one.
    """

    start: int
    end: int
    terms: tuple[str, ...]


def official_terms(text: str) -> list[OfficialTerms]:
    """Return the colloquial terms in a text with their official terms, in order.

    Of overlapping terms the longest wins, then the first. Terms inside quoted titles, or whose
    official term is in the text already, are skipped.

    >>> [terms.terms[0] for terms in official_terms("旧件翻新主抓哪几类产品")]
    ['再制造']
    >>> official_terms("再制造，也就是旧件翻新，主抓哪几类产品")
    []
    """
    lay, longest = _lay_terms()
    bounds: frozenset[int] | None = None
    taken = bytearray(len(text))
    for start, end, _ in quoted_titles(text):
        taken[start - 1 : end + 1] = b"\1" * (end - start + 2)
    is_said = functools.cache(text.__contains__)
    found: list[OfficialTerms] = []
    folded = text.lower() if len(text.lower()) == len(text) else text
    for length in range(min(longest, len(text)), 1, -1):
        for start in range(len(text) - length + 1):
            end = start + length
            terms = lay.get(folded[start:end])
            if terms is None or any(taken[start:end]):
                continue
            if length <= _SHORT or folded[start:end].isascii():
                bounds = word_boundaries(text) if bounds is None else bounds
                if not {start, end} <= bounds:
                    continue
            if not any(map(is_said, terms)):
                found.append(OfficialTerms(start, end, terms))
                taken[start:end] = b"\1" * length
    return sorted(found)


def in_official_terms(text: str, found: Sequence[OfficialTerms]) -> str:
    """Replace each colloquial term by its first official one.

    >>> in_official_terms("旧件翻新抓什么", official_terms("旧件翻新抓什么"))
    '再制造抓什么'
    """
    pieces: list[str] = []
    at = 0
    for start, end, terms in found:
        pieces += text[at:start], terms[0]
        at = end
    return "".join([*pieces, text[at:]])


def wordings(text: str) -> list[str]:
    """Return a text, and its variant in official terms if it differs.

    >>> wordings("旧件翻新抓什么"), wordings("再制造抓什么")
    (['旧件翻新抓什么', '再制造抓什么'], ['再制造抓什么'])
    """
    found = official_terms(text)
    return [text, in_official_terms(text, found)] if found else [text]


@functools.cache
def _lay_terms() -> tuple[Mapping[str, tuple[str, ...]], int]:
    """Return official terms by colloquial one, and the length of the longest colloquial one."""
    found: dict[str, tuple[str, ...]] = {}
    folder = resources.files("kgrag.text").joinpath("thesaurus")
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        for line in file.read_text(encoding="utf-8").splitlines():
            official, is_group, lay = line.partition(" = ")
            if is_group and not line.startswith("#"):
                terms = official.split("、")
                for word in lay.lower().split("、"):
                    found[word] = tuple(dict.fromkeys((*found.get(word, ()), *terms)))
    return found, max(map(len, found))


def everyday_wordings(text: str) -> list[OfficialTerms]:
    """Return the official terms in a text with their colloquial synonyms, in order.

    Only noun phrases that map back to the term: no questions (谁说了算), nothing broader or
    narrower (少打农药), nothing without a character of the term.

    >>> [(found.start, found.end) for found in everyday_wordings("全省非化石能源消费比重")]
    [(2, 7)]
    >>> "不烧煤的能源" in everyday_wordings("全省非化石能源消费比重")[0].terms
    True
    """
    names = _everyday_names()
    found: list[OfficialTerms] = []
    at = 0
    while at < len(text):
        ends = range(min(len(text), at + _LONGEST_TERM), at + _SHORT, -1)
        end = next((end for end in ends if text[at:end] in names), 0)
        if end:
            found.append(OfficialTerms(at, end, names[text[at:end]]))
        at = end or at + 1
    return found


@functools.cache
def _everyday_names() -> Mapping[str, tuple[str, ...]]:
    lay, _ = _lay_terms()
    found: dict[str, list[str]] = {}
    for word, (term, *others) in lay.items():
        alike = len({*word} & {*term})
        is_name = alike > 1 and word[-1] == term[-1] and not _NO_NAME.search(word)
        if is_name and not others and term not in word and word not in term:
            found.setdefault(term, []).append(word)
    return {term: tuple(words) for term, words in found.items()}
