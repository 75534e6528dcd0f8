"""What is said of an English question on Chinese documents."""

from kgrag.language.text import has_han
from kgrag.retrieval.bilingual import is_foreign
from kgrag.retrieval.settings import Settings
from kgrag.types import Query

_READ = "the documents are Chinese, the question was read in Chinese: {}"
_UNREAD = (
    "the documents are Chinese, and no word of the question is in the word list: ask in Chinese"
)


def read_in_chinese(query: Query, settings: Settings) -> tuple[str, ...]:
    """Return a note on how an English question was read; none for another.

    Args:
        query: The question.
        settings: Of the knowledge base.
    """
    if query.asked and has_han(query.text):
        return (_READ.format(query.text),)
    return (_UNREAD,) if is_foreign(query, settings.chinese) else ()
