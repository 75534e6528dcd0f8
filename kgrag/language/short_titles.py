"""Whether a name is a title cut short, as models and people call a document."""

from kgrag.language.leading_region import leading_region
from kgrag.language.title_keys import title_key
from kgrag.language.title_series import series_marks

_SHORTEST = 8  # characters of a name that tells one title from others
_LEAST = 0.45  # of the title's characters that it keeps


def shortens(name: str, title: str) -> bool:
    """Return whether a name leaves out words of a title, and has no others, in the same order.

    Both are of one kind, period and edition, and the name begins with no other place.

    Args:
        name: As a text, a model or a person calls a document.
        title: Of that document.

    >>> shortens("武汉市绿色低碳发展实施方案", "武汉市加快建立健全绿色低碳循环发展经济体系实施方案")
    True
    >>> shortens("武汉市绿色低碳发展实施办法", "武汉市加快建立健全绿色低碳循环发展经济体系实施方案")
    False
    """
    short, whole = title_key(name), title_key(title)
    if not _SHORTEST <= len(short) < len(whole) or len(short) < _LEAST * len(whole):
        return False
    if series_marks(short) != series_marks(whole) or short[-2:] != whole[-2:]:
        return False
    place, end = leading_region(short)
    if place and short[:end] not in whole:
        return False
    rest = iter(whole)
    return all(character in rest for character in short)
