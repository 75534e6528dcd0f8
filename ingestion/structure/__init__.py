"""The heading tree of an official document."""

from kgrag.ingestion.structure.contents import is_contents_line
from kgrag.ingestion.structure.find import structure
from kgrag.ingestion.structure.markers import opens_attachment

__all__ = ["is_contents_line", "opens_attachment", "structure"]
