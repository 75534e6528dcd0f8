"""The first look at Cypher that others wrote: only what is known to read, within bounds, passes.

It allows rather than forbids. A statement is read by a grammar of the clauses that only read
(`clauses`, `patterns`, `expressions`) and written anew from what was understood (`cursor`); what
the server gets therefore holds no word that could write, load a file or show a setting. In doubt it
is refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kgrag.store.neo4j.gate.clauses import Clauses
from kgrag.store.neo4j.gate.tokens import UNICODE_ESCAPE, tokens

_MOST_CHARACTERS = 4000
_MOST_TOKENS = 1200


@dataclass(frozen=True, slots=True)
class Admitted:
    """A statement that may be sent.

    Attributes:
        text: As it is sent: names in backticks, no comments.
        columns: What unnamed columns were called, by what the server calls them.
        names: Of variables, labels, types, properties.
    """

    text: str
    columns: Mapping[str, str] = field(default_factory=dict)
    names: frozenset[str] = frozenset()


def admit(text: str) -> Admitted:
    """Return a statement as it may be sent.

    Raises:
        ValueError: If it is refused; says why, where, and the remedy.

    >>> admit("match (n) return n.end // all").text
    'MATCH ( `n` ) RETURN `n` . `end`'
    """
    if len(text) > _MOST_CHARACTERS:
        raise ValueError(f"it has {len(text)} characters: at most {_MOST_CHARACTERS} are allowed")
    found = tokens(text)
    if len(found) > _MOST_TOKENS:
        raise ValueError(f"it has {len(found)} words and signs: at most {_MOST_TOKENS} are allowed")
    reader = Clauses(text, found)
    reader.statement()
    written = " ".join(reader.out)
    if UNICODE_ESCAPE.search(written):
        raise ValueError("it holds a backslash before a u: leave it out")
    return Admitted(written, reader.columns, frozenset(reader.names))
