"""Split a document into parent chunks and, for each parent, groups of child chunks."""

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from kgrag.config import ChunkConfig
from kgrag.errors import ConfigError
from kgrag.ids import chunk_id
from kgrag.ingestion.structure import opens_attachment
from kgrag.text.headings import HeadingTree
from kgrag.text.messages import message
from kgrag.types import Chunk, Document, Heading

# Kinds of boundaries, strongest first, and how full a chunk must be (share of its size) before a
# boundary of that kind may end it.
_HEADING, _PARAGRAPH, _SENTENCE, _CLAUSE = range(4)
_LEAST_FILL = (0.3, 0.5, 0.5, 0.5)
_LEAST_REST = 0.2  # shortest last piece, as a share of the size

_PATTERNS = {
    _PARAGRAPH: re.compile(r"[\r\n]+\s*"),
    _SENTENCE: re.compile(r"[。！？；!?;]+[”’」』）)》\"]*|\.(?=\s)"),
    _CLAUSE: re.compile(r"[，、,：:]|——|\s"),
}
_AFTER_HEADING = re.compile(r"[\s。．.：:*_]*")


@dataclass(frozen=True, slots=True)
class _Boundaries:
    """Where pieces of a text may end."""

    kinds: tuple[list[int], ...]  # sorted offsets by kind, strongest first
    headings: list[tuple[int, int]]  # from headings to the text under them: no ends inside

    def before_heading(self, offset: int) -> int:
        """Return the start of headings that a piece ending here would end with, else the offset."""
        i = bisect.bisect_left(self.headings, (offset,)) - 1
        return self.headings[i][0] if i >= 0 and offset <= self.headings[i][1] else offset


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """Maximum lengths in characters.

    Attributes:
        parent: Of parents (2048 in the GRIM paper, section 3.1.1).
        children: Of each group of children, largest first; each below `parent`.
    """

    parent: int = 2048
    children: tuple[int, ...] = (1024, 512, 256)

    def __post_init__(self) -> None:
        """Validate the sizes; ValueError if one is below 2, not below its parent's, or repeated."""
        sizes = (self.parent, *self.children)
        if sorted(set(sizes), reverse=True) != list(sizes) or sizes[-1] < 2:
            raise ValueError(f"chunk sizes must fall from parent to children, 2 at least: {sizes}")

    @classmethod
    def of(cls, sizes: Sequence[int]) -> "ChunkSizes":
        """Return the sizes that a knowledge base records, parents first.

        >>> ChunkSizes.of((2048, 512))
        ChunkSizes(parent=2048, children=(512,))
        """
        parent, *children = sizes
        return cls(parent, tuple(children))

    @property
    def every(self) -> tuple[int, ...]:
        """All sizes, parents first."""
        return (self.parent, *self.children)

    @property
    def leaf(self) -> int:
        """The smallest size: chunks with vectors and evidence."""
        return self.every[-1]

    @property
    def searched(self) -> tuple[int, int]:
        """The two smallest sizes, which the lexical index covers."""
        coarse = self.children[-2] if len(self.children) > 1 else self.leaf
        return coarse, self.leaf


def configured_sizes(config: ChunkConfig) -> ChunkSizes:
    """Return the chunk sizes of a configuration; ConfigError if they are not in order."""
    try:
        return ChunkSizes(config.parent, config.children)
    except ValueError as exc:
        raise ConfigError(str(exc)) from exc


def other_sizes(config: ChunkConfig, sizes: ChunkSizes) -> str:
    """Return how stated chunk sizes differ from those of a knowledge base; empty if they do not."""
    wanted = configured_sizes(config)
    if wanted == sizes or config == ChunkConfig():
        return ""
    return message(
        "[chunks] of kgrag.toml asks for chunks of {wanted}, but this knowledge base has chunks of "
        "{there}, and keeps them: take [chunks] out, or ingest into a new one (--kb NEW)",
        wanted=", ".join(map(str, wanted.every)),
        there=", ".join(map(str, sizes.every)),
    )


def chunk(document: Document, headings: Sequence[Heading], sizes: ChunkSizes) -> list[Chunk]:
    """Return all chunks of a document: parents in reading order, then each group of children.

    Parents cover the text without overlap; so does each group within each parent (GRIM, section
    3.1.1: non-overlapping parents, three groups of children for each). Text is cut at headings,
    then paragraphs, sentences, clauses, and inside a clause where nothing else fits; text without
    any boundary is cut at the size. An attachment starts a parent; a heading stays with the text
    under it; a sentence that fits into a piece together with its headings is not cut.
    """
    boundaries = _boundaries(document.text, headings)
    tree = HeadingTree(document.text, headings)
    parents = [
        _make(document, tree, sizes.parent, i, span, None)
        for i, span in enumerate(_parents(document.text, headings, sizes.parent, boundaries))
    ]
    out = list(parents)
    pieces = [((p.start, p.end), p.chunk_id) for p in parents]
    for size in sizes.children:
        pieces = [(s, parent) for span, parent in pieces for s in _cut(*span, size, boundaries)]
        out.extend(
            _make(document, tree, size, i, span, parent_id)
            for i, (span, parent_id) in enumerate(pieces)
        )
    return out


def _parents(
    text: str, headings: Sequence[Heading], size: int, boundaries: _Boundaries
) -> list[tuple[int, int]]:
    """Return the spans of parents; a top-level attachment starts one."""
    begins = [
        _line_start(text, h.start) for h in headings if h.level == 1 and opens_attachment(h.text)
    ]
    ends = [*(at for at in begins if text[:at].strip()), len(text)]
    spans = []
    start = 0
    for end in ends:
        spans.extend(_cut(start, end, size, boundaries))
        start = end
    return spans


def _make(
    document: Document,
    tree: HeadingTree,
    size: int,
    position: int,
    span: tuple[int, int],
    parent_id: str | None,
) -> Chunk:
    start, end = span
    return Chunk(
        chunk_id=chunk_id(document.doc_id, size, position),
        doc_id=document.doc_id,
        size=size,
        position=position,
        start=start,
        end=end,
        text=document.text[start:end],
        parent_id=parent_id,
        heading_path=tree.path(start, end),
    )


def _boundaries(text: str, headings: Sequence[Heading]) -> _Boundaries:
    found = _Boundaries((), _heading_spans(text, headings))
    starts = sorted({_line_start(text, h.start) for h in headings})
    rest = ([m.end() for m in _PATTERNS[kind].finditer(text)] for kind in _PATTERNS)
    kinds = ([b for b in ends if found.before_heading(b) == b] for ends in (starts, *rest))
    return replace(found, kinds=tuple(kinds))


def _heading_spans(text: str, headings: Sequence[Heading]) -> list[tuple[int, int]]:
    """Return spans from headings to the text under them; consecutive headings share one.

    A heading followed at once by one of the same or an outer level has no text under it.
    """
    spans: list[tuple[int, int]] = []
    for heading, following in zip_longest(headings, headings[1:]):
        begin = _line_start(text, heading.start)
        match = _AFTER_HEADING.match(text, heading.end)
        end = match.end() if match else heading.end
        if following is not None and end >= (next_begin := _line_start(text, following.start)):
            end = next_begin if following.level > heading.level else next_begin - 1
        if spans and begin <= spans[-1][1]:
            begin, _ = spans.pop()
        spans.append((begin, end))
    return spans


def _line_start(text: str, offset: int) -> int:
    """Return the offset before the indentation that precedes it."""
    while offset > 0 and text[offset - 1] in " \t　":
        offset -= 1
    return offset


def _cut(start: int, end: int, size: int, boundaries: _Boundaries) -> list[tuple[int, int]]:
    spans = []
    while end - start > size:
        stop = _best_stop(start, end, size, boundaries)
        spans.append((start, stop))
        start = stop
    if end > start:
        spans.append((start, end))
    return spans


def _best_stop(start: int, end: int, size: int, boundaries: _Boundaries) -> int:
    """Return the last boundary of the strongest kind that leaves the piece full enough."""
    furthest = min(start + size, end - int(size * _LEAST_REST))
    for kind, offsets in enumerate(boundaries.kinds):
        whole = _before_sentence(start, end, size, boundaries) if kind == _CLAUSE else 0
        if whole:
            return whole
        least = start + max(1, int(size * _LEAST_FILL[kind]))
        i = bisect.bisect_right(offsets, furthest) - 1
        if i >= 0 and offsets[i] >= least:
            return offsets[i]
    for offsets in boundaries.kinds[1:]:  # less full, but not inside a clause
        i = bisect.bisect_right(offsets, furthest) - 1
        if i >= 0 and offsets[i] > start + size * _LEAST_REST:
            return offsets[i]
    whole = boundaries.before_heading(furthest)
    return whole if whole > start else furthest


def _before_sentence(start: int, end: int, size: int, boundaries: _Boundaries) -> int:
    """Return the last sentence end in reach whose next sentence fits into a piece; 0 for none.

    The piece, or the rest, may be too short: only sentences longer than a piece are cut.
    """
    reach = min(start + size, end - 1)
    last, following = start, end
    for offsets in boundaries.kinds[:_CLAUSE]:
        i = bisect.bisect_right(offsets, reach)
        if i > 0:
            last = max(last, offsets[i - 1])
        if i < len(offsets):
            following = min(following, offsets[i])
    return last if last > start and following - last <= size else 0
