"""How questions are worded: templates, and everyday words in place of official terms."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from random import Random

from kgrag.text.official_terms import everyday_wordings

_OFTEN = 0.5  # of the questions that may be said in everyday words, so many are


def worded(template: str, draw: Random, **fields: str) -> str:
    """Return a question by one of the templates of a name.

    Args:
        template: Name in `templates.toml`.
        draw: Draws the template.
        fields: What it is filled with.
    """
    return draw.choice(_templates()[template]).format(**fields)


def everyday(text: str, draw: Random) -> str:
    """Return a name with one official term in everyday words, half of the times where one has some.

    Table 1 of GRIM asks for questions of a passage; one that repeats its terms is found by them,
    so that a search by words looks better than it is for people who do not know them.
    """
    found = everyday_wordings(text)
    if not found or draw.random() >= _OFTEN:
        return text
    start, end, words = draw.choice(found)
    return text[:start] + draw.choice(words) + text[end:]


def quoted(name: str, draw: Random) -> str:
    """Return a document's name, with the marks of a title or without."""
    return f"《{name}》" if draw.random() < _OFTEN else name


@functools.cache
def _templates() -> Mapping[str, Sequence[str]]:
    text = resources.files("kgrag.dataset").joinpath("templates.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
