"""Parse a question: words, quoted titles, places."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from kgrag.text.places import asks_nationally, question_places
from kgrag.text.words import question_language, quoted_titles, words
from kgrag.types import Query


def analyse(
    question: str,
    *,
    known_places: Iterable[str] = (),
    named: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Query:
    """Parse a question into a query, offline, by rules.

    Args:
        question: Any text; blank gives a query without words.
        known_places: Places that the documents are about.
        named: Document ids by name without 《》, as in `kgrag.retrieval.named`; names that the
            question does not contain are ignored.
    """
    question = unicodedata.normalize("NFC", question)  # é is one character, as names have it
    told = {name: tuple(doc_ids) for name, doc_ids in named.items() if name in question}
    places = titles_in(question, told)
    remainder, end = "", 0
    for start, stop, _ in places:
        remainder += question[end:start] + " "
        end = stop
    remainder += question[end:]
    return Query(
        text=question,
        words=tuple(words(question)),
        titles=tuple(title for _, _, title in places),
        remainder=remainder.strip(),
        places=question_places(remainder, known_places),
        national=asks_nationally(remainder),
        language=question_language(question),
        named=tuple(told.items()),
    )


def like(query: Query, read: Query) -> Query:
    """Return the query of a part of a question, with the model's data of the question."""
    return replace(
        read,
        keywords=query.keywords,
        critical=query.critical,
        language=query.language,
        asked=query.asked,
    )


def titles_in(question: str, named: Iterable[str]) -> list[tuple[int, int, str]]:
    """Return (start, end, title) of quoted titles and of names without 《》, in order.

    >>> titles_in("节能办法和《水法》各有几条", ["节能办法"])
    [(0, 4, '节能办法'), (5, 9, '水法')]
    """
    return sorted(_titles_in(question, named))


def _titles_in(question: str, named: Iterable[str]) -> Iterator[tuple[int, int, str]]:
    quoted = [(start - 1, end + 1, title) for start, end, title in quoted_titles(question)]
    yield from quoted
    for name in named:
        start = question.find(name)
        end = start + len(name)
        if start >= 0 and not any(a < end and start < b for a, b, _ in quoted):
            yield start, end, name
