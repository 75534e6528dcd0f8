"""Find the heading tree of an official document."""

from collections.abc import Sequence

from kgrag.ingestion.structure.contents import contents_lines
from kgrag.ingestion.structure.lines import Line, Lines, bare, marked_lines
from kgrag.ingestion.structure.markers import read_marker
from kgrag.ingestion.structure.nesting import nested
from kgrag.ingestion.structure.runs import headings_among
from kgrag.types import Heading, Segment


def structure(text: str, segments: Sequence[Segment] = ()) -> list[Heading]:
    r"""Return the headings of a document in text order.

    A heading is a line, or the first sentence of a paragraph, that begins with a mark of the
    nesting (章/节/条, 一、 （一） 1. （1） 1.1, Chapter, 专栏, 附件), or that its format states to
    be one (Markdown's #, a style of Word). A mark alone on its line has its title on the next.
    Tables of contents, lists of attachments and items of running lists are left out, and so is the
    document's own title. Levels count from 1 by what holds what in this document.

    Args:
        text: The document's text.
        segments: Of the document: a paragraph with a level is a heading, as its format states.
            A numbered one keeps the place that its number gives it.

    >>> [(h.level, h.text) for h in structure("一、总体要求\n（一）目标。到2025年。")]
    [(1, '一、总体要求'), (2, '（一）目标')]
    """
    stated = {segment.start: segment.level for segment in segments if segment.level}
    parts = text.splitlines(keepends=True)
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + len(part))
    marked = [read_marker(bare(part)) is not None for part in parts]
    filled = [i for i, part in enumerate(parts) if part.strip()]
    lines = Lines(text, starts, parts, frozenset(contents_lines(parts, marked)), filled)
    found = headings_among(list(marked_lines(lines, stated)), lines)
    found = _without_title(found)
    return [
        Heading(line.start, line.end, level, line.title)
        for line, level in zip(found, nested(found), strict=True)
    ]


def _without_title(found: Sequence[Line]) -> list[Line]:
    """Leave out the document's own title: the first heading, alone in its stated level."""
    if not found or found[0].marker is not None or len(found) < 2:
        return list(found)
    first, *others = found
    stated = [line.stated for line in others if line.stated]
    alone = first.stated < min(stated) if stated else True
    return others if alone else list(found)
