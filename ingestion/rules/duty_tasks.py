"""Name the task that a bracket or a labelled line of organs closes: the lead of its item."""

import bisect
import re
from collections.abc import Sequence

from kgrag.text.numbering import item_end, without_numbering

LONGEST_TASK = 60  # characters
_RUN_IN = 28  # characters; a first sentence up to here, without a comma, is its paragraph's title
_REACH = 6000  # characters before the bracket in which its item begins
_DOT = r"(?<=[一-鿿])\.(?=[一-鿿（(])"  # a scan has it for 。
_STOP = re.compile(rf"[。；;：:！!？?\n]|{_DOT}|[（(〔](?=牵头|责任|配合)")
_SENTENCE = re.compile(rf"[。；;！!？?\n]|{_DOT}")
_ENDS = frozenset("。！？!?）)〕】")  # of a paragraph; a line that ends otherwise goes on
_GOES_ON = frozenset("；;：")  # what ends a paragraph that a list goes on behind
_TRIM = "，,、。；;：:．. "
_WHO = re.compile(
    r"^[^，。；、]{2,24}[处局委厅部办室院](?:[（(].{1,12}[）)]处)?(?:牵头负责|负责|牵头)(?=.{4})"
)


def lead(text: str) -> str:
    """Return the words at the head of an item that name it, at most `LONGEST_TASK` characters.

    >>> lead("1．推进工业节能。实施节能改造，到2025年……")
    '推进工业节能'
    """
    text = without_numbering(text.lstrip("\n"), _TRIM)
    stop = _STOP.search(text)
    text = text[: stop.start()] if stop else text
    return shortened(_WHO.sub("", text))


def shortened(text: str) -> str:
    """Return a task cut at its last comma within `LONGEST_TASK`, or there."""
    text = text.strip(_TRIM)
    if len(text) <= LONGEST_TASK:
        return text
    cut = max(text.rfind("，", 8, LONGEST_TASK), text.rfind(",", 8, LONGEST_TASK))
    return text[: cut if cut > 0 else LONGEST_TASK].strip(_TRIM)


def task_before(text: str, start: int, since: int, headings: Sequence[tuple[int, int]]) -> str:
    """Return the task of what stands at `start`: the lead of the item that it closes.

    That is a title run into the paragraph, the beginning of the item where that goes on over
    several, else the nearest heading behind the last bracket, else the first sentence behind it.

    Args:
        text: Paragraphs, each on a line.
        start: Where the bracket or label begins.
        since: Where the last one ended, 0 for the first.
        headings: Where headings begin and end, in order.
    """
    since = max(since, start - _REACH)
    while since < start and text[since] in _TRIM + "\n）)〕】":
        since += 1
    end = start
    while end > since and text[end - 1] in _TRIM + "\n":
        end -= 1
    opens = max(text.rfind("\n", since, end) + 1, since)
    last = bisect.bisect_left(headings, (end, 0)) - 1
    under = last >= 0 and headings[last][1] >= opens - 1  # a heading right above
    is_whole = under or opens == since or text[opens - 2] in _ENDS
    run_in = _run_in_title(text[opens:end]) if is_whole else ""
    if run_in:
        return run_in
    item = opens if under else _item(text, opens, since)
    if item < opens:
        first = text[item:end].partition("\n")[0]
        return _run_in_title(first) or lead(first)
    while last >= 0 and headings[last][0] >= since:
        if named := lead(text[headings[last][0] : headings[last][1]]):
            return named
        last -= 1
    first = lead(text[opens:end])
    return first if len(first) > 3 else lead(text[since:end])


def _item(text: str, opens: int, since: int) -> int:
    """Return where the item begins that a paragraph ends: its number may stand paragraphs before.

    Points of a list go up to the line that leads them in with a colon; where none does, and where
    no paragraph has a number, it is the paragraph itself.
    """
    at, is_list = opens, False
    while at > since:
        is_marked, before = item_end(text, at) > at, text[at - 2 : at - 1]
        if is_marked and (before not in _GOES_ON or (at == opens and before == "：")):
            break  # the first point of a list has its own bracket
        is_list = before != "：" and (is_list or is_marked)
        at = max(text.rfind("\n", since, at - 1) + 1, since)
    return at if item_end(text, at) > at and not is_list else opens


def _run_in_title(paragraph: str) -> str:
    """Return the title that a paragraph begins with (加强监测。…); empty where it has none."""
    stop = _SENTENCE.search(paragraph)
    if not stop or stop.end() == len(paragraph):
        return ""
    title = lead(paragraph[: stop.end()])
    plain = len(title) <= _RUN_IN and "，" not in title and not re.search(r"\d", title)
    return title if plain and len(title) >= 4 else ""
