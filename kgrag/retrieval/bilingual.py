"""Read a question in the language of the documents: an English one, over Chinese documents."""

from collections.abc import Iterable
from dataclasses import replace

from kgrag.question.query import analyse
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
    """Return the query of a question, by rules; an English one over Chinese documents in Chinese.

    Where all documents are Chinese, its Chinese words take the place of its own; its language
    stays that of answer and notes. Where some are English, Chinese words are looked for besides,
    as keywords. What the word list has no word of stays as it is (`kgrag.text.in_chinese`);
    where it lacks half of the words or more, the query says which (`unread`).
    Full-width letters and digits are read as half-width ones in any language.

    Args:
        question: In any words.
        known_places: Places that the documents are about.
        chinese: Share of the documents that are Chinese, in [0, 1].

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
    """Return a text with its full-width letters, digits and signs of numbers narrowed.

    Marks stay, and the length does.

    >>> narrow_words("２０２５年ＰＵＥ（１．３％）")
    '2025年PUE（1.3%）'
    """
    return text.translate(_NARROW)


def is_foreign(query: Query, chinese: float) -> bool:
    """Return whether a question is English, the documents Chinese, and no word of it was read.

    Args:
        query: As `read` gives it.
        chinese: Share of the documents that are Chinese, in [0, 1].
    """
    return chinese >= _ALL and query.language == "en" and not query.asked and bool(query.words)
