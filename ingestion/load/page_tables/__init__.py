"""Tables of PDF pages: rulings and aligned columns in, rows of cells out."""

from kgrag.ingestion.load.page_tables.find import find_tables
from kgrag.ingestion.load.page_tables.joined import Item, expand
from kgrag.ingestion.load.page_tables.shapes import Line, Table

__all__ = ["Item", "Line", "Table", "expand", "find_tables"]
