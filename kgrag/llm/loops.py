"""Tell an answer that goes round in circles."""

import re

_TIMES = 8  # as often in a row is no list and no emphasis any more
_LONGEST = 200  # characters of what repeats at the end
_LEAST = 80  # characters that it fills: a rule of dashes is shorter
_ITEM_END = re.compile(r"[\n。；;!?！？{}\[\]]")
_NUMBER = re.compile(r'"\w+":\s*[-+.\d]+,?')  # of a list of scores, a line each
_SHORTEST_ITEM = 8  # characters; shorter ones, e.g. scores, are equal for good reasons
_ITEMS = 5  # items that repeat together


def repeats(text: str) -> bool:
    """Return whether a text runs in circles.

    That is: it ends in a unit of up to 200 characters said eight times or more, or the same item
    (a line, sentence or list element of eight characters or more), or the same few items, stand
    in it eight times in a row.

    >>> repeats("一是节能。" + "二是降碳，" * 40), repeats("一是节能。二是降碳。")
    (True, False)
    """
    return _ends_in_a_loop(text) or _has_equal_items(text)


def _ends_in_a_loop(text: str) -> bool:
    for unit in range(1, min(_LONGEST, len(text) // _TIMES) + 1):
        tail = text[-max(unit * _TIMES, _LEAST) :]
        if len(tail) >= _LEAST and tail[unit:] == tail[:-unit]:
            return True
    return False


def _has_equal_items(text: str) -> bool:
    items = [item.strip() for item in _ITEM_END.split(text)]
    items = [i for i in items if len(i) >= _SHORTEST_ITEM and not _NUMBER.fullmatch(i)]
    for together in range(1, _ITEMS + 1):
        run = 0
        for item, earlier in zip(items[together:], items, strict=False):
            run = run + 1 if item == earlier else 0
            if run >= together * (_TIMES - 1):
                return True
    return False
