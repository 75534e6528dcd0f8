"""Pages that are pictures, read by text recognition: lines and ruled tables in reading order.

As the notebook for documents does (document-ocr-notebook: `DocumentAI.run_ocr`,
`get_content_by_page`), page by page. Its refinement by a model that sees is not built.
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
