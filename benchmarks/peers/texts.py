"""Where a passage stands in its document, for systems that only give its text."""

from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.peers.peer import Found


@dataclass(frozen=True, slots=True)
class Squeezed:
    """A text without its whitespace.

    Attributes:
        text: What is left.
        offsets: Of each character in the text as it was.
    """

    text: str
    offsets: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "Squeezed":
        """Return a text without its whitespace."""
        kept = tuple(i for i, char in enumerate(text) if not char.isspace())
        return cls("".join(text[i] for i in kept), kept)


def locate(document: Squeezed, passage: str) -> tuple[int, int] | None:
    r"""Return where a passage stands first, whatever its whitespace; None where it does not.

    >>> locate(Squeezed.of("第一条\n 节能。"), "条 节能")
    (2, 7)
    """
    wanted = "".join(passage.split())
    at = document.text.find(wanted) if wanted else -1
    if at < 0:
        return None
    return document.offsets[at], document.offsets[at + len(wanted) - 1] + 1


def located(found: Found, texts: Mapping[str, str], squeezed: Mapping[str, Squeezed]) -> Found:
    """Return a passage with its place and the document's text there.

    The place that the system gave is kept where the passage does stand there. A passage that is
    not in the document has no place.
    """
    text = texts[found.doc_id]
    if found.start is not None and text[found.start : found.end] == found.text:
        return found
    place = locate(squeezed[found.doc_id], found.text)
    if place is None:
        return Found(found.doc_id, found.text)
    return Found(found.doc_id, text[slice(*place)], *place)
