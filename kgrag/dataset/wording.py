"""Wording of questions: templates, and colloquial instead of official terms."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from random import Random

from kgrag.text.official_terms import everyday_wordings

_OFTEN = 0.5  # of the questions that may be said in everyday words, so many are


def worded(template: str, draw: Random, **fields: str) -> str:
    """Fill a random template of a name in `templates.toml`."""
    return draw.choice(_templates()[template]).format(**fields)


def everyday(text: str, draw: Random) -> str:
    """Replace one official term of a name by a colloquial one, at random in half of the cases.

    Table 1 of GRIM asks for questions of a passage; one that repeats its terms favours lexical
    search more than questions of people who do not know them.
    """
    found = everyday_wordings(text)
    if not found or draw.random() >= _OFTEN:
        return text
    start, end, words = draw.choice(found)
    return text[:start] + draw.choice(words) + text[end:]


def quoted(name: str, draw: Random) -> str:
    """Return a document's name, at random with title marks or without."""
    return f"《{name}》" if draw.random() < _OFTEN else name


@functools.cache
def _templates() -> Mapping[str, Sequence[str]]:
    text = resources.files("kgrag.dataset").joinpath("templates.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
