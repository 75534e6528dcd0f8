"""Group adjacent parent chunks into passages, each read by a model in one call."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.ingestion.chunk import ChunkSizes
from kgrag.text.words import sentence_spans
from kgrag.types import Chunk, Evidence

_LEAST_CUT = 600  # characters; shorter passages are not split


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of one document that is read in one call.

    Attributes:
        start: First character offset in the document's text.
        end: Offset after the last character.
        text: `document.text[start:end]`; not blank.
        parents: Completely inside, in reading order.
        children: Of the largest group, completely inside.
        heading_path: Around `start`, outermost first; may be empty.
        position: 0-based reading order within the document.
    """

    doc_id: str
    start: int
    end: int
    text: str
    parents: tuple[Chunk, ...]
    children: tuple[Chunk, ...]
    heading_path: tuple[str, ...]
    position: int

    def halves(self) -> "tuple[Passage, Passage] | None":
        """Split it near the middle; return None where it is too short or cannot be split.

        It is split between parents, else between children, else between sentences; a chunk on both
        sides of the cut belongs to neither half.
        """
        if len(self.text) < _LEAST_CUT:
            return None
        sentences = (self.start + end for _, end in sentence_spans(self.text))
        for places in (
            (p.start for p in self.parents),
            (c.start for c in self.children),
            sentences,
        ):
            inside = [at for at in places if self.start < at < self.end]
            if inside:
                middle = (self.start + self.end) // 2
                at = min(inside, key=lambda place: abs(place - middle))
                return self._part(self.start, at), self._part(at, self.end)
        return None

    def behind(self, span: Evidence) -> "Passage | None":
        """Return what stands from the sentence of a span on, or behind it where that is all.

        None for nothing.
        """
        starts = [self.start + start for start, _ in sentence_spans(self.text)]
        at = max((start for start in starts if self.start < start <= span.start), default=span.end)
        rest = self._part(at, self.end)
        return rest if rest.text.strip() else None

    def _part(self, start: int, end: int) -> "Passage":
        children = _within(self.children, start, end)
        at_start = [c for c in (*self.children, *self.parents) if c.start <= start < c.end]
        return Passage(
            doc_id=self.doc_id,
            start=start,
            end=end,
            text=self.text[start - self.start : end - self.start],
            parents=_within(self.parents, start, end),
            children=children,
            heading_path=at_start[0].heading_path if at_start else self.heading_path,
            position=self.position,
        )


def passages(chunks: Sequence[Chunk], *, sizes: ChunkSizes, most_chars: int) -> list[Passage]:
    """Return the passages of one document, in reading order; together they cover all its words.

    Adjacent parents are joined up to `most_chars` characters (at least 1); a longer parent is a
    passage by itself. Two adjacent passages together always exceed `most_chars`, so a document of
    n characters has at most 2 * n / most_chars + 1 of them.

    They are filled from the end: a plan is reissued behind another covering letter more often than
    before another annex, and equal endings then give the same passages as far back as the parents
    are equal (benchmarks/decisions.md).
    """
    parents = sorted((c for c in chunks if c.size == sizes.parent), key=lambda c: c.start)
    child_size = sizes.children[0] if sizes.children else 0
    children = sorted((c for c in chunks if c.size == child_size), key=lambda c: c.start)
    groups: list[list[Chunk]] = []  # last first
    for parent in reversed(parents):
        if groups and groups[-1][0].end - parent.start <= most_chars:
            groups[-1].append(parent)
        else:
            groups.append([parent])
    worded = [group[::-1] for group in reversed(groups) if any(p.text.strip() for p in group)]
    return [_passage(group, children, position) for position, group in enumerate(worded)]


def _passage(parents: Sequence[Chunk], children: Sequence[Chunk], position: int) -> Passage:
    start, end = parents[0].start, parents[-1].end
    return Passage(
        doc_id=parents[0].doc_id,
        start=start,
        end=end,
        text="".join(parent.text for parent in parents),
        parents=tuple(parents),
        children=_within(children, start, end),
        heading_path=parents[0].heading_path,
        position=position,
    )


def _within(chunks: Sequence[Chunk], start: int, end: int) -> tuple[Chunk, ...]:
    return tuple(c for c in chunks if start <= c.start and c.end <= end)
