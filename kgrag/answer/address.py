"""The address of a place in a document: the same on the command line, in the page, API and MCP."""

import re
from dataclasses import dataclass
from typing import Self

from kgrag.errors import OutOfRangeError

_SPAN = re.compile(r"(?P<document>.+):(?P<start>\d{1,9})-(?P<end>\d{1,9})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Address:
    """A place in a document, written DOCUMENT:START-END.

    Attributes:
        document: Its id; what a person types may be its file, file name or title, too.
        start: Offset of the first character in its text.
        end: Offset after the last.
    """

    document: str
    start: int
    end: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the address that a text is.

        Raises:
            OutOfRangeError: If it is none.

        >>> Address.parse("d1:5-9")
        Address(document='d1', start=5, end=9)
        """
        found = _SPAN.fullmatch(text)
        if found is None:
            raise OutOfRangeError("a place is DOCUMENT:START-END, got {value!r}", value=text[:200])
        return cls(found["document"], int(found["start"]), int(found["end"]))

    def __str__(self) -> str:
        """Return it as written."""
        return f"{self.document}:{self.start}-{self.end}"
