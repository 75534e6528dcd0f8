"""What every store refuses: what it is to write, what it finds in itself, and settings."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from kgrag.errors import ModelMismatchError, StoreError
from kgrag.store.contents import DocumentBundle, Problem
from kgrag.types import Chunk, Document, Fact, Heading, Mention, Summary
from kgrag.vectors.vector import Vector, check_vector, other_dimension

_REINGEST = "ingest the document again"


def check_places(document: Document, headings: Sequence[Heading]) -> Iterator[Problem]:
    """Check that a document's pages and headings lie in its text."""
    places = [(s.start, s.end) for s in document.segments]
    places += [(h.start, h.end) for h in headings]
    for start, end in places:
        if not 0 <= start <= end <= len(document.text):
            detail = f"a heading or page at {start}..{end} is outside the text: {_REINGEST}"
            yield Problem("document-places", document.doc_id, detail)


def check_chunks(document: Document, chunks: Sequence[Chunk]) -> Iterator[Problem]:
    """Check that chunks are pieces of their document, and that each group loses nothing.

    Args:
        document: With its text.
        chunks: All of its chunks, parents first and each group in reading order.
    """
    groups: defaultdict[int, list[Chunk]] = defaultdict(list)
    for c in chunks:
        groups[c.size].append(c)
        if c.text != document.text[c.start : c.end] or not 0 <= c.start <= c.end:
            detail = f"its text is not that of {c.start}..{c.end} in {c.doc_id}: {_REINGEST}"
            yield Problem("chunk-text", c.chunk_id, detail)
    for size, group in groups.items():
        if [c.position for c in group] != list(range(len(group))):
            detail = f"positions of group {size} are not 0 to {len(group) - 1}: {_REINGEST}"
            yield Problem("chunk-positions", document.doc_id, detail)
    parents = {c.chunk_id: c for c in chunks if c.parent_id is None}
    if not _covers(list(parents.values()), 0, len(document.text)):
        detail = f"its parents leave a gap, overlap or do not end at {len(document.text)}"
        yield Problem("parents-cover-document", document.doc_id, f"{detail}: {_REINGEST}")
    yield from _check_children(parents, chunks)


def _check_children(parents: dict[str, Chunk], chunks: Sequence[Chunk]) -> Iterator[Problem]:
    children: defaultdict[tuple[str, int], list[Chunk]] = defaultdict(list)
    for c in chunks:
        if c.parent_id is None:
            continue
        parent = parents.get(c.parent_id)
        if parent is None:
            detail = f"its parent {c.parent_id} is missing or a child itself: {_REINGEST}"
            yield Problem("child-has-parent", c.chunk_id, detail)
        elif not parent.start <= c.start <= c.end <= parent.end:
            detail = f"{c.start}..{c.end} is not inside its parent {c.parent_id}: {_REINGEST}"
            yield Problem("child-inside-parent", c.chunk_id, detail)
        else:
            children[c.parent_id, c.size].append(c)
    sizes = sorted({c.size for c in chunks if c.parent_id is not None}, reverse=True)
    for parent in parents.values():
        for size in sizes:
            if not _covers(children[parent.chunk_id, size], parent.start, parent.end):
                detail = f"its children of {size} leave a gap or overlap: {_REINGEST}"
                yield Problem("children-cover-parent", parent.chunk_id, detail)


def _covers(chunks: Sequence[Chunk], start: int, end: int) -> bool:
    """Return whether chunks in reading order cover a span without gap or overlap."""
    for c in chunks:
        if c.start != start or c.end < c.start:
            return False
        start = c.end
    return start == end


_SIZES = "chunk_sizes"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")
_SHOWN = 60  # characters of a value that a message shows
_REMEDY = "run `kgrag repair`, or restore the knowledge base from a backup"


def check_bundle(bundle: DocumentBundle) -> None:
    """Refuse a bundle with parts of another document.

    Raises:
        ValueError: If there is one, or a fact lacks evidence.
    """
    doc_id = bundle.document.doc_id
    for chunk in bundle.chunks:
        if chunk.doc_id != doc_id:
            raise ValueError(f"chunk {chunk.chunk_id} is of {chunk.doc_id}, not of {doc_id}")
    check_knowledge(doc_id, bundle.facts, bundle.mentions, bundle.summaries)


def check_knowledge(
    doc_id: str, facts: Sequence[Fact], mentions: Sequence[Mention], summaries: Sequence[Summary]
) -> None:
    """Refuse knowledge of another document.

    Raises:
        ValueError: If there is some, or a fact lacks evidence.
    """
    for fact in facts:
        if not fact.evidence:
            raise ValueError(f"fact {fact.fact_id} has no evidence")
    spots = [(f.fact_id, e.doc_id) for f in facts for e in f.evidence]
    spots += [(m.entity.entity_id, m.evidence.doc_id) for m in mentions]
    spots += [(s.summary_id, s.doc_id) for s in summaries]
    for subject, other in spots:
        if other != doc_id:
            raise ValueError(f"{subject} is known from {other}, not from {doc_id}")


def check_encoder(given: str, recorded: str | None) -> None:
    """Refuse vectors of another encoder than the stored ones.

    Args:
        given: Identity of the encoder that made them; empty where it is not known.
        recorded: By the knowledge base; None in a new one.

    Raises:
        ModelMismatchError: If they differ, because `kgrag reembed` was run meanwhile.
    """
    if given and recorded and given != recorded:
        raise ModelMismatchError(
            f"vectors of the encoder {given} were made, but the knowledge base has been changed "
            f"to {recorded} meanwhile: run it again"
        )


def check_vectors(given: Mapping[str, Vector], dimension: int | None) -> int | None:
    """Return the dimension of vectors; `dimension` where there are none.

    Args:
        given: By key.
        dimension: Of those that are stored; None where none are.

    Raises:
        ValueError: If one is not finite, or neither of unit length nor zero.
        StoreError: If one is of another dimension than the others.
    """
    for key, vector in given.items():
        check_vector(vector, key)
        dimension = dimension or vector.size
        if vector.size != dimension:
            raise other_dimension(f"vector {key}", vector, dimension)
    return dimension


def check_settings(meta: Mapping[str, object]) -> dict[str, str]:
    """Return the settings that a knowledge base records; keys that are not known are not judged.

    Raises:
        StoreError: If one is missing beside others, or has a value that nothing writes.
    """
    for key, value in meta.items():
        if not isinstance(value, str) or (key in _FITS and not _FITS[key](value)):
            raise _damaged(key, f"is {_shown(value)}")
    checked = {key: str(value) for key, value in meta.items()}
    for key in ("embedder", _SIZES):
        if "embedder_settings" in checked and key not in checked:  # they are written together
            raise _damaged(key, "is missing")
    return checked


def damaged_setting(key: str, value: object) -> StoreError:
    """Return the error for a setting that is not as it was stored."""
    return _damaged(key, f"is not as it was stored, but {_shown(value)}")


def _damaged(key: str, what: str) -> StoreError:
    return StoreError(f"the setting {key} of this knowledge base {what}: {_REMEDY}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _is_falling(value: str) -> bool:
    """Return whether a value is sizes in falling order, 2 at least; none of them, too."""
    sizes = value.split(",") if value else []
    if not all(map(_NUMBER.fullmatch, sizes)):
        return False
    numbers = [*map(int, sizes), 1]
    return all(before > after for before, after in pairwise(numbers))


def _is_identity(value: str) -> bool:
    return 0 < len(value) <= 1000 and value.isprintable()


def _is_object(value: str) -> bool:
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return False
    return isinstance(read, dict) and all(isinstance(v, str) for v in read.values())


# What each setting may be; `kgrag.maintenance.intake` and `kgrag.embedding.choose` write them.
_FITS: Mapping[str, Callable[[str], bool]] = MappingProxyType(
    {
        _SIZES: lambda value: bool(value) and _is_falling(value),
        "embedder": _is_identity,
        "embedder_settings": _is_object,
        "languages": lambda value: len(value) <= 1000 and (not value or value.isprintable()),
        "stand_in": lambda value: value in ("yes", "no"),
    }
)
