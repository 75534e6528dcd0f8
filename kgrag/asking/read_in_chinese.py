"""What is said of an English question on Chinese documents."""

from collections.abc import Sequence

from kgrag.retrieval.bilingual import is_foreign, read
from kgrag.retrieval.settings import chinese_share
from kgrag.text.words import has_han
from kgrag.types import Document, Query

_READ = "the documents are Chinese, the question was read in Chinese: {}"
_HALF_READ = (
    "the documents are Chinese, and half of the question's words or more are not in the word list"
    " ({}): it was searched by the encoder alone, read as {}, and what was found may be about"
    " something else; ask in Chinese"
)
_UNREAD = (
    "the documents are Chinese, and no word of the question is in the word list: ask in Chinese"
)


def how_it_was_read(question: str, cards: Sequence[Document]) -> tuple[str, ...]:
    """Return a note on an English question, of documents that are looked at for nothing else.

    Args:
        question: As asked.
        cards: All documents.
    """
    chinese = chinese_share(cards)
    return read_in_chinese(read(question, chinese=chinese), chinese)


def read_in_chinese(query: Query, chinese: float) -> tuple[str, ...]:
    """Return a note on how an English question was read; none for another.

    Args:
        query: The question.
        chinese: Share of the documents that are Chinese, in [0, 1].
    """
    if query.unread:
        return (_HALF_READ.format(", ".join(dict.fromkeys(query.unread)), query.text),)
    if query.asked and has_han(query.text):
        return (_READ.format(query.text),)
    return (_UNREAD,) if is_foreign(query, chinese) else ()
