"""Text recognition of pages that are pictures: lines and ruled tables in reading order.

As the notebook for documents does (document-ocr-notebook: `DocumentAI.run_ocr`,
`get_content_by_page`), page by page; its `refine` is `kgrag.ingestion.vision`.
"""

from kgrag.ingestion.load.ocr.engine import why_unread
from kgrag.ingestion.load.ocr.page import Recognised, read_lines, sure_numbers

__all__ = ["Recognised", "read_lines", "sure_numbers", "why_unread"]
