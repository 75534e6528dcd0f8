"""The names of a document itself: where they stand in its text, it cites nobody."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from kgrag.ingestion.rules.issue_numbers import clean_number
from kgrag.language.title_keys import issuer_before, same_organ, title_key, title_keys

_YEARS = re.compile(r"[（(]\d{4}\s*[-—–―－~至]+\s*\d{4}\s*年?[）)]$")
_ALIKE = 0.75


def own_names(title: str, *, notice: str = "", number: str = "") -> list[str]:
    """Return the names of a document for `references`: what is told of title, notice and number.

    >>> own_names("节能规划", number="云政发〔2021〕3号")
    ['节能规划', '云政发〔2021〕3号']
    """
    return [name for name in (title, notice, number) if name]


class OwnNames:
    """The names of a document in the forms that compare."""

    def __init__(self, names: Sequence[str]) -> None:
        spelled = [*names, *(_YEARS.sub("", name) for name in names)]
        self._keys = {key for name in spelled for key in title_keys(name)}
        self._numbers = {clean_number(name) for name in names}
        self._issuers = [issuer for name in names if (issuer := issuer_before(name))]

    def holds(self, title: str, *, number: str = "", issuer: str = "") -> bool:
        """Return whether a title or number at one place is the document's own.

        A title that names another issuer than the document's is another's, whatever its words.

        Args:
            title: As told; empty for a number alone.
            number: 文号 told with it.
            issuer: The organ that the text names right before the title; empty for none.
        """
        if number in self._numbers:
            return True
        if not title or self._keys.isdisjoint(title_keys(title)):
            return False
        told = issuer_before(title) or issuer
        return not told or not self._issuers or any(same_organ(told, i) for i in self._issuers)

    def resembles(self, title: str) -> bool:
        """Return whether a title that the document issues is its own, worded differently."""
        key = title_key(title)
        compare = SequenceMatcher(b=key, autojunk=False)
        for own in self._keys:
            compare.set_seq1(own)
            if compare.ratio() >= _ALIKE:
                return True
        return False

    def is_short_for_it(self, title: str) -> bool:
        """Return whether a bare kind (《规划》) is that of the document."""
        key = title_key(title)
        return any(own.endswith(key) for own in self._keys)
