"""Parse a question; an English one over Chinese documents is translated word by word."""

from collections.abc import Iterable
from dataclasses import replace

from kgrag.question.question import analyse
from kgrag.text.in_chinese import in_chinese
from kgrag.text.words import is_latin
from kgrag.types import Query

# Shares of Chinese documents from which an English question is read in Chinese: beside its own
# words, and in place of them.
_SOME, _ALL = 0.1, 0.9
# 0-9, A-Z, a-z, and the signs . %, each in its full width
_LETTERS = (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))
_WIDE = (*range(0xFF10, 0xFF1A), *_LETTERS, *map(ord, "．％"))
_NARROW = {c: c - 0xFEE0 for c in _WIDE}


def read(question: str, *, known_places: Iterable[str] = (), chinese: float = 0.0) -> Query:
    """Parse a question into a query, by rules.

    Where all documents are Chinese, Chinese words replace those of an English question; where some
    are English, they are added as keywords. Words missing from the word list
    (`kgrag.text.in_chinese`) are kept; if half or more are missing, `Query.unread` names them.
    Full-width letters and digits are narrowed in any language.

    >>> read("What is the forest coverage target of Fujian?", chinese=1.0).text
    '福建 森林覆盖率 目标 多少'
    >>> read("What is the forest coverage target of Fujian?", chinese=0.5).keywords
    ('福建', '森林覆盖率', '目标')
    """
    own = analyse(narrow_words(question), known_places=known_places)
    said = in_chinese(question) if chinese >= _SOME and is_latin(question) else None
    if said is None:
        return own
    if chinese < _ALL:
        return replace(own, keywords=(*said.terms, *said.others))
    query = analyse(said.text, known_places=known_places)
    if not said.is_read:
        return replace(query, language=own.language, asked=own.text, unread=said.unread)
    return replace(query, keywords=said.others, language=own.language, asked=own.text)


def narrow_words(text: str) -> str:
    """Convert full-width letters, digits and number signs to half width; the length stays.

    >>> narrow_words("２０２５年ＰＵＥ（１．３％）")
    '2025年PUE（1.3%）'
    """
    return text.translate(_NARROW)


def is_foreign(query: Query, chinese: float) -> bool:
    """Return whether an English question over Chinese documents had no word translated."""
    return chinese >= _ALL and query.language == "en" and not query.asked and bool(query.words)
