"""Whether a document's title is that of a notice, which covers the document that it issues."""

import re
from collections.abc import Sequence

from kgrag.ingestion.load.title import find_title
from kgrag.text.words import normalize_name

_LINES = 400  # in which the title of the body stands again
_MOST_LINES = 5  # that a title fills
_TRAILER = r"(?:[（(][^（）()]{1,24}[）)])?"
_QUOTED = re.compile(
    rf"(?:印发|发布|公布|颁布|颁发|下发)(?:施行|实施)?[《«〈](?P<body>.{{4,160}})[》»〉]{_TRAILER}?的(?:通知|公告|通告|函)"
)
_PLAIN = re.compile(
    r"(?:印发|发布|公布|颁布|颁发|下发)(?![《〈])(?P<body>.{4,160}?)的(?:通知|公告|通告|函)$"
)
_SEVERAL = re.compile(r"[》»〉](?:[、和及与]|以及)?[《«〈]")
_NUMBER = re.compile(r"[（(]?[一-鿿]{1,16}[〔\[【［(（]\d{4}[〕\]】］)）]\d+号[）)]?$")


def split_title(text: str, title: str) -> tuple[str, str]:
    r"""Return the title of a document's body, and that of the notice that covers it.

    Where the notice is 关于印发《A》的通知 and A follows below with its own title, A is the body.
    What a notice only passes on (转发) was issued by others and is no body.

    Args:
        text: The document.
        title: As `guess_title` or the file gives it: of either.

    Returns:
        (title, notice): the title as given and "" where no notice covers it.

    >>> split_title("关于印发《节能方案》的通知\n现印发给你们。\n节能方案\n一、要求",
    ...             "关于印发《节能方案》的通知")
    ('节能方案', '关于印发《节能方案》的通知')
    >>> split_title("关于节能的通知\n各市：", "关于节能的通知")
    ('关于节能的通知', '')
    """
    body = _issued_by(title)
    if body:
        return (body, title) if _stands_again(text, body) else (title, "")
    notice = find_title(text) or ""
    issued = _issued_by(notice)
    same = issued and normalize_name(issued) in (normalize_name(title), _bare(title))
    return (title, notice) if same else (title, "")


def _issued_by(title: str) -> str:
    """Return the title that a notice's title says it issues; empty for none, and for several."""
    bare = _NUMBER.sub("", title.strip())
    match = _QUOTED.search(bare) or _PLAIN.search(bare)
    body = match["body"].strip("《》«»〈〉 ") if match else ""
    return "" if _SEVERAL.search(body) else body


def _bare(title: str) -> str:
    return normalize_name(re.sub(r"[（(][^（）()]*[）)]$", "", title))


def _stands_again(text: str, body: str) -> bool:
    """Tell whether a title stands as one below: on lines of its own, or run into a signature."""
    lines = [line.strip() for line in text.splitlines()[:_LINES] if line.strip()]
    wanted = {normalize_name(body), _bare(body)} - {""}
    return any(_reads(lines, i, wanted) for i in range(1, len(lines)))


def _reads(lines: Sequence[str], first: int, wanted: set[str]) -> bool:
    joined = ""
    longest = max(map(len, wanted))
    for line in lines[first : first + _MOST_LINES]:
        if len(line) > longest + 200:
            return False
        joined += normalize_name(line)
        if any(joined == name or joined.endswith(f"日{name}") for name in wanted):
            return True
        if len(joined) > longest + 60:
            return False
    return False
