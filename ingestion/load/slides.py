"""Slides: titles, texts and tables in the order of their places, and notes."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.ingestion.load.grid import Cell, table_lines
from kgrag.ingestion.load.libreoffice import OLE, as_office
from kgrag.ingestion.load.parsed import Block, Parsed, join_blocks, replace_unusable
from kgrag.ingestion.load.word.package import DAMAGED, NotWordError, open_package
from kgrag.text.messages import message

if TYPE_CHECKING:
    from pptx.presentation import Presentation
    from pptx.shapes.base import BaseShape

_MOST_BYTES = 1_000_000_000
_CENTIMETRE = 360_000  # shapes whose tops are that near stand side by side


def read_slides(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return the text of a presentation: slide by slide, from the top, and from the left.

    A title is a heading, a table is Markdown rows, notes follow their slide behind 备注：. Pictures
    and charts are left out, and slides of nothing else told; macros are ignored. The document's
    title is that of the first slide.

    Raises:
        IngestionError: It is damaged, locked with a password, no presentation, or too large.
    """
    slides = _read(data, name)
    blocks = [(n, block) for n, blocks in slides for block in blocks if block.text.strip()]
    levels = (block.level for _, block in blocks)
    text, segments = join_blocks((block.text for _, block in blocks), "slide", levels)
    text, warnings = replace_unusable(text)
    silent = [str(n) for n, found in slides if not any(block.text.strip() for block in found)]
    if silent:
        warnings.append(message("slides without a text: {numbers}", numbers=", ".join(silent)))
    return Parsed(
        text=text,
        title=next((replace_unusable(b.text)[0] for _, b in blocks if b.level), stem),
        segments=tuple(
            replace(segment, number=n) for segment, (n, _) in zip(segments, blocks, strict=True)
        ),
        warnings=tuple(warnings),
    )


def _read(data: bytes, name: str) -> list[tuple[int, list[Block]]]:
    from pptx import Presentation

    if data.startswith(OLE):
        as_office(data, suffix="pptx", name=name)  # raises what is wrong with it
    try:
        package = open_package(data, name, "ppt/presentation.xml")
        if sum(info.file_size for info in package.entries.values()) > _MOST_BYTES:
            raise NotWordError(message("it unpacks to more than {n:,} bytes", n=_MOST_BYTES))
        for path in package.entries:  # within the bounds of trees, without entities
            if path.startswith("ppt/") and path.endswith((".xml", ".rels")):
                package.tree(path)
        return list(_slides(Presentation(io.BytesIO(data))))
    except (*DAMAGED, KeyError, AttributeError) as exc:
        raise IngestionError(
            "{name}: is damaged or no presentation ({error}); open it in PowerPoint or WPS and "
            "save it again",
            name=name,
            error=exc,
        ) from exc


def _slides(presentation: "Presentation") -> Iterator[tuple[int, list[Block]]]:
    for number, slide in enumerate(presentation.slides, 1):
        title = slide.shapes.title
        blocks = [Block(_one_line(title.text_frame.text), 1)] if title is not None else []
        others = (s for s in slide.shapes if title is None or s.shape_id != title.shape_id)
        blocks += map(Block, _lines(others))
        if slide.has_notes_slide and (frame := slide.notes_slide.notes_text_frame) is not None:
            notes = [line for line in frame.text.splitlines() if line.strip()]
            blocks += [Block(f"备注：{line}" if not i else line) for i, line in enumerate(notes)]
        yield number, blocks


def _lines(shapes: "Iterable[BaseShape]") -> Iterator[str]:
    """Yield the lines of shapes by their places; those of a group together."""
    for shape in sorted(shapes, key=lambda s: ((s.top or 0) // _CENTIMETRE, s.left or 0)):
        if hasattr(shape, "shapes"):
            yield from _lines(shape.shapes)
        elif getattr(shape, "has_table", False):
            rows = shape.table.rows  # type: ignore[attr-defined]
            yield from table_lines(
                [
                    [
                        Cell(cell.text, cell.span_height, cell.span_width, column)
                        for column, cell in enumerate(row.cells)
                        if not cell.is_spanned
                    ]
                    for row in rows
                ]
            )
        elif shape.has_text_frame:
            paragraphs = shape.text_frame.paragraphs  # type: ignore[attr-defined]
            yield from (_one_line(paragraph.text) for paragraph in paragraphs)


def _one_line(text: str) -> str:
    return " ".join(text.split())
