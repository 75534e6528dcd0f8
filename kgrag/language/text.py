"""Text as this field needs it: normal forms, words, character pairs, sentences, quoted titles."""

import functools
import re
import unicodedata
from collections.abc import Iterator
from importlib import resources
from operator import add

from kgrag.language.segmenter import Segmenter
from kgrag.types import Language

_TITLE = re.compile(r"《([^《》]{2,120}(?:《[^《》]{1,80}》[^《》]{0,60})*)》")
_NOT_WORD = re.compile(r"[\W_]+")
_WORD = re.compile(r"[\w.%％℃°]+")
# Signs without which a number is another one.
_RANGE = re.compile(r"(?<=[\d%])[-—–~～]+(?=\d)")
_SIGNED_NUMBER = re.compile(r"\d(?:[.%‰]|[-—–~～]+\d)|[<>≤≥±]=?\d")
_NOT_KEPT = re.compile(r"(?:(?!(?<=\d)\.(?=\d)|(?<=\d)[%‰]|(?<=[\d%])-(?=\d)|[<>≤≥±]=?\d)[\W_])+")
_SENTENCE_END = re.compile(r"[。！？!?；;]+[”’」』）)》\"]*|\.(?=\s|$)|\n")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[a-z]+(?:'s)?$")
_LONGEST_CLAUSE = 64  # characters; longer ones are rare, and not remembered


def normalize(text: str) -> str:
    """Return text with full-width forms narrowed and letters in lower case (NFKC, casefold).

    The length may change: never use it where offsets matter.

    >>> normalize("２０２５年ＰＵＥ")
    '2025年pue'
    """
    return unicodedata.normalize("NFKC", text).casefold()


def normalize_name(text: str) -> str:
    """Return the bare letters and digits of a name or title: no blanks, marks or width.

    A name that has neither letter nor digit keeps its marks, so that it stays a name.

    >>> normalize_name("《“十四五” 规划》（试行）")
    '十四五规划试行'
    """
    bare = _NOT_WORD.sub("", normalize(text))
    return bare or normalize(text).strip()


def identity_key(text: str) -> str:
    """Return what two names share that name one thing: as `normalize_name`, but numbers stay apart.

    Decimal points, percent signs, comparators and the dash of a range are kept beside digits:
    without them 13.5% and 135 would be one.

    >>> identity_key("下降 13.5％"), identity_key("5～10万元"), identity_key("《“十四五”规划》")
    ('下降13.5%', '5-10万元', '十四五规划')
    """
    narrow = "".join(normalize(text).split())
    if not _SIGNED_NUMBER.search(narrow):
        return normalize_name(text)
    return _NOT_KEPT.sub("", _RANGE.sub("-", narrow))


def character_pairs(text: str) -> list[str]:
    """Return the overlapping character pairs of the normalised name of `text`.

    They make a phrase match blind to line breaks, quotation marks and width.

    >>> character_pairs("碳 达峰")
    ['碳达', '达峰']
    """
    bare = normalize_name(text)
    return list(map(add, bare, bare[1:])) or ([bare] if bare else [])


@functools.cache
def _segmenter() -> Segmenter:
    return Segmenter.from_jieba(read_word_list("domain_words.txt"))


def read_word_list(name: str) -> list[str]:
    """Return the words in a list that ships with the package; # begins a comment line.

    Args:
        name: File name, e.g. `stop_words.txt`.
    """
    text = resources.files("kgrag.language").joinpath(name).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [word for line in lines for word in line.split()]


@functools.cache
def stop_words() -> frozenset[str]:
    """Return function words and question words."""
    return frozenset(read_word_list("stop_words.txt"))


def words(text: str) -> list[str]:
    """Return the words of a text in order: jieba's search mode, normalised.

    Search mode gives a long word and the short ones inside it, so both match. Stop words are
    left out; English words lose a plural s and a possessive.

    >>> words("建设绿色工厂的目标")
    ['建设', '绿色', '工厂', '绿色工厂', '目标']
    """
    found: list[str] = []
    for piece, is_run in _segmenter().runs(normalize(text)):
        if not is_run:
            found.extend(_search_forms(piece))
        elif len(piece) <= _LONGEST_CLAUSE:
            found.extend(_words_of_clause(piece))
        else:
            found.extend(_search_forms(*_segmenter().segment(piece)))
    return found


def word_boundaries(text: str) -> frozenset[int]:
    """Return the offsets of a text at which no word is cut, as `words` reads it.

    >>> sorted(word_boundaries("科技部门"))
    [0, 2, 4]
    """
    return frozenset(
        at
        for at in _segmenter().boundaries(text)
        if not (
            0 < at < len(text)
            and text[at - 1 : at + 1].isascii()
            and text[at - 1 : at + 1].isalnum()
        )
    )


# Chunks of several sizes hold the same clauses: those of a dozen documents are remembered.
@functools.lru_cache(maxsize=1 << 13)
def _words_of_clause(clause: str) -> tuple[str, ...]:
    return tuple(_search_forms(*_segmenter().segment(clause)))


def _search_forms(*tokens: str) -> Iterator[str]:
    """Yield the tokens that are words to search for, as they are searched."""
    stop = stop_words()
    return (
        _stem(token)
        for token in tokens
        if token not in stop and (token.isalnum() or _WORD.fullmatch(token))
    )


def _stem(token: str) -> str:
    if not token.isascii() or not _LATIN.match(token):
        return token
    token = token.removesuffix("'s")
    if len(token) > 4 and token.endswith("ies"):
        return token[:-3] + "y"
    if len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is")):
        return token[:-1]
    return token


def is_latin(text: str) -> bool:
    """Return whether a text is written in Latin letters rather than Chinese characters.

    >>> is_latin("Who founded it?"), is_latin("PUE要降到多少？")
    (True, False)
    """
    return not has_han(text) and any("a" <= c <= "z" for c in text.casefold())


def question_language(question: str) -> Language:
    """Return the language that a question is answered in: Chinese where no letters tell.

    >>> question_language("Who founded it?"), question_language("2025?")
    ('en', 'zh')
    """
    return "en" if is_latin(question) else "zh"


def has_han(text: str) -> bool:
    """Return whether there are Chinese characters in a text.

    >>> has_han("PUE要降到多少？"), has_han("2025")
    (True, False)
    """
    return _HAN.search(text) is not None


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the sentences of a text, marks included; together they cover it.

    A line break ends a sentence, too: headings and list items stand on lines of their own.

    >>> sentence_spans("甲。乙")
    [(0, 2), (2, 3)]
    """
    spans, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        spans.append((start, match.end()))
        start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def sentence_around(text: str, start: int, end: int, *, longest: int) -> tuple[int, int]:
    """Return (start, end) of the sentences in which a place lies, without blanks at their ends.

    Args:
        text: Any.
        start: First character of the place.
        end: Offset after it.
        longest: Characters; where the sentences have more, the place itself is returned.

    >>> sentence_around("甲。 乙丙丁。戊", 4, 5, longest=9)
    (3, 7)
    """
    low = max(start - longest, 0)
    spans = sentence_spans(text[low : end + longest])
    within = [(low + a, low + b) for a, b in spans if low + a < end and start < low + b]
    first, last = (within[0][0], within[-1][1]) if within else (start, end)
    if last - first > longest:
        return start, end
    found = text[first:last]
    return first + len(found) - len(found.lstrip()), last - len(found) + len(found.rstrip())


def quoted_titles(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, title) of every 《title》; the offsets leave the outer marks out.

    >>> quoted_titles("落实《节能法》")
    [(3, 6, '节能法')]
    """
    return [(m.start(1), m.end(1), m.group(1)) for m in _TITLE.finditer(text)]
