"""Find duplicate documents, and editions of one title, in an archive."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from kgrag.metadata import Metadata
from kgrag.text.document_nodes import node_id


@dataclass(frozen=True, slots=True)
class Candidate:
    """The data by which duplicates are found.

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
    """Two documents with the same node in the graph, or the same text.

    Attributes:
        kind: `twin`: duplicates, by text, or by title, issuer and number or date; `edition`: same
            title and issuer, another number or date.
        document: The later one, or the second by file.
        other: The earlier one.
        same_text: Whether their texts are equal.
    """

    kind: Literal["twin", "edition"]
    document: Candidate
    other: Candidate
    same_text: bool = False


def find_duplicates(documents: Iterable[Candidate]) -> list[Pair]:
    """Return duplicates and editions among all documents of an archive, by file.

    >>> old, new = Metadata(number="云政〔2018〕1号"), Metadata(number="云政〔2022〕3号")
    >>> documents = [Candidate("d-1", "a.txt", "节能办法", old, "x"),
    ...              Candidate("d-2", "b.txt", "节能办法", new, "y"),
    ...              Candidate("d-3", "c.txt", "节能办法（另存）", new, "y")]
    >>> [(pair.kind, pair.document.file, pair.other.file) for pair in find_duplicates(documents)]
    [('edition', 'b.txt', 'a.txt'), ('twin', 'c.txt', 'b.txt')]
    """
    ordered = sorted(documents, key=lambda d: (_date(d), d.file, d.doc_id))
    by_text: dict[str, Candidate] = {}
    by_node: dict[str, list[Candidate]] = defaultdict(list)
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


def _same(document: Candidate, others: Iterable[Candidate]) -> Iterator[Pair]:
    for other in others:
        numbers = {document.metadata.number, other.metadata.number}
        same = len(numbers) == 1 if "" not in numbers else _date(document) == _date(other)
        if same:
            yield Pair("twin", document, other)


def _date(document: Candidate) -> str:
    return document.metadata.written or document.metadata.issued
