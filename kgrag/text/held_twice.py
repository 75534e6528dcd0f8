"""Which documents of an archive are held twice, and which of them are editions of one title."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from kgrag.metadata import Metadata
from kgrag.text.document_nodes import node_id


@dataclass(frozen=True, slots=True)
class Held:
    """What tells whether a document is held twice.

    Attributes:
        doc_id: The document.
        file: As shown.
        title: Its title.
        metadata: Its issuers, number and dates.
        text_key: A hash of the letters and digits of its text.
    """

    doc_id: str
    file: str
    title: str
    metadata: Metadata
    text_key: str


@dataclass(frozen=True, slots=True)
class Pair:
    """A document and another one that it shares its node with, or its text.

    Attributes:
        kind: `twin`: one document twice, by its text, or by title, issuer and number or date;
            `edition`: another number or date, of the same title and issuer.
        document: The later one, or the one whose file comes second.
        other: The one held before.
        same_text: Whether their texts agree.
    """

    kind: Literal["twin", "edition"]
    document: Held
    other: Held
    same_text: bool = False


def held_twice(documents: Iterable[Held]) -> list[Pair]:
    """Return each document that is held already, with the one that it is held as, by file.

    Args:
        documents: All of an archive.

    >>> old, new = Metadata(number="云政〔2018〕1号"), Metadata(number="云政〔2022〕3号")
    >>> documents = [Held("d-1", "a.txt", "节能办法", old, "x"),
    ...              Held("d-2", "b.txt", "节能办法", new, "y"),
    ...              Held("d-3", "c.txt", "节能办法（另存）", new, "y")]
    >>> [(pair.kind, pair.document.file, pair.other.file) for pair in held_twice(documents)]
    [('edition', 'b.txt', 'a.txt'), ('twin', 'c.txt', 'b.txt')]
    """
    ordered = sorted(documents, key=lambda d: (_date(d), d.file, d.doc_id))
    by_text: dict[str, Held] = {}
    by_node: dict[str, list[Held]] = defaultdict(list)
    found: list[Pair] = []
    for document in ordered:
        first = by_text.setdefault(document.text_key, document)
        node = by_node[node_id(document.title, document.metadata)]
        if first is not document:
            found.append(Pair("twin", document, first, same_text=True))
        elif node:
            found.append(next(_same(document, node), Pair("edition", document, node[-1])))
        node.append(document)
    return sorted(found, key=lambda pair: (pair.document.file, pair.document.doc_id))


def _same(document: Held, others: Iterable[Held]) -> Iterator[Pair]:
    """Yield the pair with one that has the same number, or where one has none the same date."""
    for other in others:
        numbers = {document.metadata.number, other.metadata.number}
        same = len(numbers) == 1 if "" not in numbers else _date(document) == _date(other)
        if same:
            yield Pair("twin", document, other)


def _date(document: Held) -> str:
    return document.metadata.written or document.metadata.issued
