"""Derived properties of nodes: captions, keys, facets, indexed words, a hash."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgrag.ids import digest, entity_id
from kgrag.metadata import Metadata
from kgrag.store.neo4j.caption import document_caption
from kgrag.store.neo4j.statements import of_base
from kgrag.store.terms import END, pair_terms, word_terms
from kgrag.store.texts import metadata_text, to_json
from kgrag.text.document_nodes import node_id, node_name
from kgrag.text.facets import NATIONAL, document_facets
from kgrag.text.titles import document_kinds
from kgrag.text.words import normalize_name
from kgrag.types import Chunk

Row = dict[str, object]

# What pages and records tell of a document, by the names under which filters know it.
TOLD = ("issuer", "number", "date", "source", "author", "url", "province", "city", "industry")
# What the text tells, by the names of the fields of `Metadata`; the regions that it governs, in
# full, are `governs`: `region` and `regions` are what filters know.
TYPED = (
    *("issuers", "number", "written", "issued", "effective", "expires", "level", "recipients"),
    *("status", "notice"),
)


def described(title: str, properties: Mapping[str, str], metadata: Metadata) -> dict[str, object]:
    """Return the properties that follow from a document's metadata.

    All are named, so that one that a document has no more goes: None takes a property away.

    Args:
        title: Its title.
        properties: Of its file.
        metadata: Extracted from its text; takes precedence.
    """
    name, facets = node_name(title), document_facets(title, metadata)
    typed = {
        key: list(value) if isinstance(value, tuple) else value
        for key in TYPED
        if (value := getattr(metadata, key))
    }
    told = {key: properties.get(key) for key in TOLD}
    if metadata.issuers:
        told["issuer"] = metadata.issuers[0]
    return {
        "title": title,
        "name": name,
        "caption": document_caption(title, facets.places),
        "title_key": normalize_name(title),
        "name_key": normalize_name(name),
        "region": facets.places[0] if facets.places else NATIONAL,
        "regions": list(facets.regions),
        "year": facets.year,
        "kinds": list(facets.kinds),
        "node_id": node_id(title, metadata),
        "name_id": entity_id(node_name(title)),
        **{key: told.get(key) or None for key in TOLD},
        **{key: typed.get(key) or told.get(key) or None for key in TYPED},
        "kind": metadata.kind or next(reversed(document_kinds(title)), None),
        "governs": list(metadata.regions) or None,
    }


def stored(title: str, properties: Mapping[str, str], metadata: Metadata) -> dict[str, object]:
    """Return all properties of metadata on a document's node."""
    return {
        **described(title, properties, metadata),
        "properties": to_json(dict(properties)),
        "metadata": metadata_text(metadata),
    }


def layout_of(title: str, chunks: Sequence[Chunk]) -> str:
    """Return the hash of what chunk nodes and their terms are made from: headings and texts, too.

    Args:
        title: Of their document.
        chunks: All chunks of a document, in any order.
    """
    ordered = sorted(chunks, key=lambda c: c.chunk_id)
    parts = [
        (c.chunk_id, c.size, c.position, c.start, c.end, c.parent_id, c.heading_path)
        for c in ordered
    ]
    texts = (c.text for c in ordered if c.text)
    return digest(title, repr(parts), digest(*texts, length=64))


def terms_rows(chunks: Iterable[Chunk], title: str) -> list[Row]:
    """Return the properties of the Terms nodes of chunks of one document.

    Args:
        chunks: In any order.
        title: Of the document; with the headings it makes up the path.
    """
    paths: dict[tuple[str, ...], tuple[str, str]] = {}
    rows = []
    for chunk in chunks:
        if chunk.heading_path not in paths:
            paths[chunk.heading_path] = _path([title, *chunk.heading_path])
        path_words, path_pairs = paths[chunk.heading_path]
        row: Row = {
            "id": chunk.chunk_id,
            "doc_id": chunk.doc_id,
            "doc_key": document_key(chunk.doc_id),
            "size": chunk.size,
            "words": " ".join(word_terms(chunk.text)),
            "pairs": " ".join(pair_terms(chunk.text)),
            "path_words": path_words,
            "path_pairs": path_pairs,
        }
        rows.append(row)
    return rows


def chunk_of(row: Mapping[str, Any]) -> Chunk:
    """Return the chunk of a row."""
    return Chunk(
        row["id"], row["doc_id"], row["size"], row["index"], row["start"], row["end"],
        row["text"], row["parent_id"], tuple(row["heading_path"]),
    )  # fmt: skip


def document_key(doc_id: str) -> str:
    """Return the term that represents a document in the index, for any id."""
    return digest("document", doc_id)


def label_of(size: int, base: str) -> str:
    """Return the label of the nodes of words of a chunk size in a knowledge base."""
    return of_base(f"KgragTerms{size:d}", base)


def _path(names: Sequence[str]) -> tuple[str, str]:
    """Return the words of all names together, and the pairs of each, kept apart."""
    pairs = f" {END} ".join(" ".join(pair_terms(name)) for name in names)
    return " ".join(word_terms(" ".join(names))), pairs
