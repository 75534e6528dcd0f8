"""Name and id of a document's node in the graph."""

from functools import lru_cache

from kgrag.ids import document_node_id
from kgrag.metadata import Metadata
from kgrag.text.title_keys import without_country, without_number
from kgrag.text.titles import document_name


@lru_cache(maxsize=100_000)  # after each change all titles come again
def node_name(title: str) -> str:
    """Return the name of a document's node, without 文号 and country.

    >>> node_name("云岭省人民政府关于印发《节能规划》的通知（云政发〔2021〕3号）")
    '节能规划'
    """
    return document_name(without_country(without_number(title.strip()) or title))


def node_id(title: str, metadata: Metadata) -> str:
    """Return the id of a document's node; issuers and regions distinguish equal names."""
    return document_node_id(node_name(title), metadata.owner)
