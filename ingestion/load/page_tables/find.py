"""The tables of one page, from those of its characters and rulings that PDFium gives."""

from typing import TYPE_CHECKING

from kgrag.ingestion.load.page_tables.aligned import aligned_tables, level_runs
from kgrag.ingestion.load.page_tables.extract import characters, quarter_turns, rulings
from kgrag.ingestion.load.page_tables.ruled import ruled_tables
from kgrag.ingestion.load.page_tables.shapes import Table

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage


def find_tables(
    page: "PdfPage", text_page: "PdfTextPage", codes: list[int], *, in_columns: bool
) -> list[Table]:
    """Return the tables of a page; no character stands in two of them.

    A page that has neither rulings in both directions nor lines in columns costs next to nothing.

    Args:
        page: Of PDFium.
        text_page: Of the page.
        codes: Its characters, as UTF-16 or code points.
        in_columns: Whether some of its lines stand beside each other or have wide gaps.
    """
    turns = quarter_turns(text_page, len(codes))
    drawn = rulings(page, turns)
    n_flat = sum(r.across for r in drawn)
    crossed = n_flat > 1 and len(drawn) - n_flat > 0
    in_columns = in_columns or any(len(run) > 2 for run in level_runs(drawn))
    if not crossed and not in_columns:
        return []
    chars = characters(text_page, codes, turns)
    found = ruled_tables(chars, drawn) if crossed else []
    if in_columns:
        taken = frozenset(i for table in found for i in table.members)
        found += aligned_tables([c for c in chars if c.index not in taken], drawn)
    return found
