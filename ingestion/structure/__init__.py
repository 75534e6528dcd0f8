"""The heading tree of an official document."""

from kgrag.ingestion.structure.contents import is_contents_line
from kgrag.ingestion.structure.find import opens_attachment, structure

__all__ = ["is_contents_line", "opens_attachment", "structure"]
