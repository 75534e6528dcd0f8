"""Terms of the lexical index: words and character pairs of a chunk."""

import functools
from collections.abc import Sequence

from kgrag.ids import digest
from kgrag.text.words import character_pairs, words

# Words hold no angle brackets, and pairs no more than two characters.
_PADDING = "<pad>"
END = "<end>"  # stands between texts that a phrase must not run across
# Of `kgrag.text`: what words and pairs are made with.
_DEFINING_FILES = ("words.py", "domain_words.txt", "stop_words.txt")


def word_terms(text: str) -> list[str]:
    """Return the words to index, padded."""
    return padded(words(text))


def pair_terms(text: str) -> list[str]:
    """Return the character pairs to index, padded."""
    return padded(character_pairs(text))


def padded(terms: Sequence[str]) -> list[str]:
    """Return terms with padding up to the next length that an index stores exactly.

    tantivy and Lucene keep lengths in one byte (4 significant bits above 24, SmallFloat), and
    when tantivy merges segments it sums the total length up from these bytes. With exact lengths
    the sum stays right, so that scores after many updates are those of a fresh index, and both
    libraries score alike.

    >>> len(padded(["a"] * 30)), len(padded(["a"] * 100))
    (30, 104)
    """
    above = len(terms) - 24
    shift = max(above.bit_length() - 4, 0) if above > 0 else 0
    missing = (-above) % (1 << shift)
    return [*terms, *[_PADDING] * missing]


@functools.cache
def terms_version() -> str:
    """Return what changes when a text would be indexed under other terms."""
    from importlib import metadata, resources

    package = resources.files("kgrag.text")
    own = [package.joinpath(name).read_text(encoding="utf-8") for name in _DEFINING_FILES]
    return digest(*own, metadata.version("jieba"))
