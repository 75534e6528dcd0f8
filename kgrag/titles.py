"""Titles of official documents, and the names by which others cite them."""

import re

# Predicates of facts by which one document cites another.
CITING_PREDICATES = frozenset(["引用", "依据", "落实", "修订", "废止", "印发"])

_ISSUED = re.compile(r"(?:印发|发布|公布|转发|颁布)《(.+)》")
_ISSUER = re.compile(r"^.{0,40}?(?=关于)")


def document_name(title: str) -> str:
    """Return the name by which other documents cite one with this title.

    It is what stands in 《》 after 印发, or the title without the issuer before 关于.

    >>> document_name("云岭省人民政府关于印发《云岭省节能规划》的通知")
    '云岭省节能规划'
    >>> document_name("云岭省人民政府关于加快节能工作的意见")
    '关于加快节能工作的意见'
    """
    issued = _ISSUED.search(title)
    if issued:
        return issued.group(1)
    bare = _ISSUER.sub("", title.strip().strip("《》"))
    return bare or title
