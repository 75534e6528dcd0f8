"""The Cypher statements of the package `cypher`, by name."""

import functools
import operator
import re
from collections.abc import Mapping
from importlib import resources

from kgrag.store.graph_query import FIELDS, OF_DOCUMENTS, RELATIONS
from kgrag.store.graph_statement import Dialect
from kgrag.store.named_statements import read_folder, read_named

_NUMBER = re.compile(r"<(\w+)>")
# Labels and indexes that only we write. One index is shared: kgrag__related_id, of relationships.
_OURS = re.compile(r"\b(?:Kgrag[A-Z]\w*|kgrag_(?!_)\w+)")
_BASE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,29}")


def statement(name: str, base: str = "", /, **numbers: int) -> str:
    """Return a statement by name.

    Args:
        name: As after `// name:` in one of the files.
        base: Name of the knowledge base; empty for the one without a name.
        numbers: For the places <…> of statements that define an index; whole numbers only, so
            that nothing but a number can become part of a statement.

    Raises:
        KeyError: If there is no such statement, or a number is missing.
        TypeError: If a number is none, or not a whole one.
        ValueError: If the name of the knowledge base is none.
    """
    text = _statements()[name]
    return of_base(
        _NUMBER.sub(lambda match: str(operator.index(numbers[match.group(1)])), text), base
    )


@functools.lru_cache(maxsize=1024)
def of_base(text: str, base: str) -> str:
    """Return a text with the labels and indexes of a knowledge base in place of the plain ones.

    >>> of_base("MATCH (d:KgragDocument:Document) RETURN d.id", "energy")
    'MATCH (d:KgragDocument_energy:Document) RETURN d.id'

    Args:
        text: A statement, a label or the name of an index.
        base: The knowledge base's name; nothing changes for the one without a name.

    Raises:
        ValueError: If that is no name.
    """
    if not base:
        return text
    if not is_base_name(base):
        raise ValueError(f"{base!r} is not the name of a knowledge base")
    return _OURS.sub(rf"\g<0>_{base}", text)


def is_of_base(label: str, base: str) -> bool:
    """Return whether only we write a label, and for this knowledge base.

    >>> is_of_base("KgragChunk", ""), is_of_base("KgragChunk_x", ""), is_of_base("Chunk", "")
    (True, False, False)
    """
    kind, _, name = label.partition("_")
    return kind.startswith("Kgrag") and name == base


def is_base_name(name: str) -> bool:
    """Return whether a knowledge base may be called so: it becomes part of statements.

    >>> is_base_name("energy_2025"), is_base_name("2025"), is_base_name("a`b")
    (True, False, False)
    """
    return _BASE.fullmatch(name) is not None


def statements_of(file: str) -> tuple[str, ...]:
    """Return the names of the statements of a file, in order.

    Args:
        file: Without its ending, e.g. `schema`.
    """
    found = resources.files("kgrag.cypher").joinpath(f"{file}.cypher")
    return tuple(read_named(found, comment="//"))


@functools.cache
def _statements() -> Mapping[str, str]:
    return read_folder(resources.files("kgrag.cypher"), ".cypher", comment="//")


def written_text(value: str) -> str:
    r"""Return a text as Cypher writes it.

    A backslash never stands before a u: the server takes that for an escape, whatever it is in.

    >>> print(written_text("it's \\u0027"))
    'it\'s \\' + 'u0027'
    """
    escaped = value.replace("\\", r"\\").replace("'", r"\'").replace("\n", r"\n")
    return "'" + escaped.replace("\\u", r"\' + 'u") + "'"


_LABELS = {kind: f"Kgrag{kind.title()}" for kind in FIELDS if kind not in RELATIONS}
DIALECT = Dialect(
    fragment=lambda name: _statements()[name],
    names={
        "start": _LABELS,
        "type": {**_LABELS, "document": "KgragDocument|KgragEntity"},
        "relation": {name: name.upper() for name in RELATIONS}
        | {"cites": "|".join(OF_DOCUMENTS).upper()},
    },
    quote=written_text,
)
