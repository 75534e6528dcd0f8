"""Text recognition of pages that are pictures: lines and ruled tables in reading order.

As the notebook for documents does (document-ocr-notebook: `DocumentAI.run_ocr`,
`get_content_by_page`), page by page. Its refinement by a model that sees is not built.
"""

from kgrag.ingestion.load.ocr.engine import why_unread
from kgrag.ingestion.load.ocr.page import read_lines

__all__ = ["read_lines", "why_unread"]
