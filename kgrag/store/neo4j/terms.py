"""What the full-text index holds of a chunk: a node of its words and character pairs."""

from collections.abc import Iterable, Sequence

from kgrag.ids import digest
from kgrag.store.neo4j.statements import of_base
from kgrag.store.terms import END, pair_terms, word_terms
from kgrag.types import Chunk

Row = dict[str, object]


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


def document_key(doc_id: str) -> str:
    """Return what stands for a document in the index: one term, whatever its id looks like."""
    return digest("document", doc_id)


def label_of(size: int, base: str) -> str:
    """Return the label of the nodes of words of a chunk size in a knowledge base."""
    return of_base(f"KgragTerms{size:d}", base)


def _path(names: Sequence[str]) -> tuple[str, str]:
    """Return the words of all names together, and the pairs of each, kept apart."""
    pairs = f" {END} ".join(" ".join(pair_terms(name)) for name in names)
    return " ".join(word_terms(" ".join(names))), pairs
