"""Read a question: its words, quoted titles, places."""

import unicodedata
from collections.abc import Iterable

from kgrag.language.places import asks_nationally, question_places
from kgrag.language.text import question_language, quoted_titles, words
from kgrag.types import Query


def analyse(question: str, *, known_places: Iterable[str] = ()) -> Query:
    """Return the query of a question, offline, by rules.

    Args:
        question: Any text; blank gives a query without words.
        known_places: Places that the documents are about.
    """
    question = unicodedata.normalize("NFC", question)  # é is one character, as names have it
    quoted = quoted_titles(question)
    remainder, end = "", 0
    for start, stop, _ in quoted:
        remainder += question[end : start - 1] + " "
        end = stop + 1
    remainder += question[end:]
    return Query(
        text=question,
        words=tuple(words(question)),
        titles=tuple(title for _, _, title in quoted),
        remainder=remainder.strip(),
        places=question_places(remainder, known_places),
        national=asks_nationally(remainder),
        language=question_language(question),
    )
