"""Put neighbouring parents together into the passages that a model reads in one call."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.ingestion.chunk import ChunkSizes
from kgrag.text.words import sentence_spans
from kgrag.types import Chunk

_LEAST_CUT = 600  # characters of a passage that is still cut


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one document that is read in one call.

    Attributes:
        doc_id: The document.
        start: First character offset in the document's text.
        end: Offset after the last character.
        text: `document.text[start:end]`; not blank.
        parents: The parent chunks that it holds whole, in reading order.
        children: The chunks of the largest group of children that it holds whole.
        heading_path: Sections around `start`, outermost first; may be empty.
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
        """Return it cut in two near the middle; None where it is too short, or cannot be cut.

        The cut is made between parents, else between children, else between sentences; what
        lies on both sides of it belongs to neither half.
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
    """Return the passages of one document, in reading order; together they hold all its words.

    Neighbouring parents are put together while they have at most `most_chars` characters; a
    longer parent stands alone. Two neighbouring passages always have more than `most_chars`
    together, so a document of n characters has at most 2 * n / most_chars + 1 of them.

    They are filled from the end: a plan is printed again behind another letter more often than
    before another annex, and what is the same at the end then makes the same passages as far
    back as its parents are the same (benchmarks/decisions.md).

    Args:
        chunks: All chunks of one document, in any order.
        sizes: Their sizes.
        most_chars: Most characters of a passage, 1 at least.
    """
    parents = sorted((c for c in chunks if c.size == sizes.parent), key=lambda c: c.start)
    child_size = sizes.children[0] if sizes.children else 0
    children = sorted((c for c in chunks if c.size == child_size), key=lambda c: c.start)
    groups: list[list[Chunk]] = []  # both from the end
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
