"""Facts and keywords by simple rules: all that the stand-in for a model knows, for every system.

Terms are titles in 《》 and runs of nouns by jieba's dictionary; a fact is two neighbours among the
terms of a sentence with the verb before the second. Nobody would call them good: what a system
makes of them says what it costs, and no more than a lower bound of what its graph can do.
"""

import functools
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

import jieba  # type: ignore[import-untyped,unused-ignore]
from jieba import posseg

_SENTENCE = re.compile(r"[^。；;！？\n]{6,}")
_TITLE = re.compile(r"《([^《》\n]{2,50})》")
_NOUNS = ("n", "vn", "j", "l", "eng")
_MOST_TERMS = 4  # of a sentence
_SHORTEST_TERM, _LONGEST_TERM = 3, 16  # of a fact: shorter nouns, such as 企业, say little
_DEFAULT_VERB = "涉及"


class Fact(NamedTuple):
    """Two terms of a sentence and how they are related."""

    subject: str
    predicate: str
    object: str
    sentence: str


@functools.cache
def _tags() -> dict[str, str]:
    tokenizer = posseg.POSTokenizer(jieba.dt)
    tokenizer.initialize()
    tags: dict[str, str] = tokenizer.word_tag_tab
    return tags


def terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield (term, verb before it) in order; the verb may be empty.

    >>> list(terms("工业园区推广《节能办法》。"))
    [('工业园区', ''), ('节能办法', '推广')]
    """
    verb = ""
    for i, part in enumerate(_TITLE.split(text)):
        run = ""
        for word in [*jieba.cut(part)] if i % 2 == 0 else []:
            tag = _tags().get(word, "")
            if tag.startswith(_NOUNS) and len(run + word) <= _LONGEST_TERM:
                run += word
                continue
            if len(run) > 1:
                yield run, verb
                verb = ""
            run = ""
            if tag.startswith("v") and len(word) > 1:
                verb = verb or word
        if len(run) > 1:
            yield run, verb
            verb = ""
        if i % 2:
            yield part, verb
            verb = ""


def facts(text: str) -> list[Fact]:
    """Return the facts of a text, in its order."""
    found = []
    for sentence in _SENTENCE.findall(text):
        named = [of for of in terms(sentence) if len(of[0]) >= _SHORTEST_TERM][:_MOST_TERMS]
        for (a, _), (b, verb) in itertools.pairwise(named):
            if a != b:
                found.append(Fact(a, verb or _DEFAULT_VERB, b, sentence.strip()))
    return found


def keywords(question: str) -> list[str]:
    """Return the terms of a question, or itself where it has none."""
    return [*dict.fromkeys(term for term, _ in terms(question))] or [question]
