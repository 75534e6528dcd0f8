"""Give a document its title and metadata: what a person stated, else what rules read."""

from dataclasses import replace

from kgrag.ingestion.load.covering_notice import split_title
from kgrag.ingestion.load.statement import stated_title, with_stated
from kgrag.ingestion.rules.metadata import read_metadata
from kgrag.types import Document

LOADED_TITLE = "loaded_title"  # property: the title as the loader gave it


def described(document: Document) -> Document:
    """Return a document with the title of its body, and its metadata.

    The loader's title stays among the properties, so that this can be done again.

    Args:
        document: As loaded, or as stored.
    """
    loaded = document.properties.get(LOADED_TITLE, document.title)
    title, notice = split_title(document.text, loaded)
    metadata = read_metadata(document.text, title=loaded, properties=document.properties)
    return replace(
        document,
        title=stated_title(document.properties) or title,
        properties={**document.properties, LOADED_TITLE: loaded},
        metadata=with_stated(replace(metadata, notice=notice), document.properties),
    )
