"""The node that stands for a document in the graph: the name that others cite, of its issuer."""

import re
from functools import lru_cache

from kgrag.ids import document_node_id
from kgrag.language.titles import document_name
from kgrag.metadata import Metadata

# 节能规划（云政发〔2021〕3号）, 云政发〔2021〕3号 节能规划: a number makes no second document.
_YEAR = r"[〔﹝\[［【（(]\s*(?:19|20)\d\d\s*[〕﹞\]］】）)]"
_NUMBER = rf"[（(]?[一-鿿A-Z]{{1,18}}{_YEAR}\s*第?\s*\d{{1,5}}\s*号[）)]?"
_NUMBERS = re.compile(rf"^\s*{_NUMBER}\s*(?=\S)|\s*{_NUMBER}\s*$")


@lru_cache(maxsize=100_000)  # after each change all titles come again
def node_name(title: str) -> str:
    """Return the name of a document's node.

    >>> node_name("云岭省人民政府关于印发《节能规划》的通知（云政发〔2021〕3号）")
    '节能规划'
    """
    return document_name(_NUMBERS.sub("", title) or title)


def node_id(title: str, metadata: Metadata) -> str:
    """Return the id of a document's node.

    Args:
        title: Of the document.
        metadata: Its issuers and regions tell documents of one name apart.
    """
    return document_node_id(node_name(title), metadata.owner)
