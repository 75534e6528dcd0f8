"""What tells whether the chunks of a document are those that were stored."""

from collections.abc import Sequence

from kgrag.ids import digest
from kgrag.types import Chunk


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
