"""Pages that are pictures, read by text recognition: lines and ruled tables in reading order.

The way is that of common notebooks for documents: recognition page by page, then, where a model
that sees is configured, what was recognised is refined beside the page's picture into Markdown.
"""

from kgrag.ingestion.load.ocr.choice import is_off, ocr_is
from kgrag.ingestion.load.ocr.engine import NOT_INSTALLED, is_installed
from kgrag.ingestion.load.ocr.lines import doubts, page_lines
from kgrag.ingestion.load.ocr.page_text import PageText
from kgrag.ingestion.load.ocr.picture import open_pictures, read_page, read_picture

__all__ = [
    "NOT_INSTALLED",
    "PageText",
    "doubts",
    "is_installed",
    "is_off",
    "ocr_is",
    "open_pictures",
    "page_lines",
    "read_page",
    "read_picture",
]
