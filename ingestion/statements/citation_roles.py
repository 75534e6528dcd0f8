"""Say what a document does with others that it names: rests on, carries out, amends, repeals.

A role is the document's own act. What others are to do (修订《…》 as a task), what was done before
(印发了《…》) and what merely stands near a title is 提及.
"""

import functools
import re

from kgrag.text.grammar import Grammar
from kgrag.text.tagged import Tagged

TITLE, OWN = "《》", "〖〗"  # stand for a title of another document, and for its own name
_CLAUSE = re.compile("[，,：:。；;]")
_AS_WELL = re.compile("[，,](?=以及)")
_REACH = 60  # characters between a verb and the titles that it governs


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of citations."""
    return Grammar.load("kgrag.ingestion.statements", "references.toml")


def tagged(text: str) -> Tagged:
    """Return the words around titles with those of the grammar as spans."""
    return grammar().tagged(text)


def without_attributes(text: str) -> str:
    """Return words without what says whose a title is, not what is done with it: 联合印发的."""
    read = tagged(text)
    kept, at = [], 0
    for match in grammar().pattern("attribute").finditer(read.code):
        kept.append(read.words(at, match.start()))
        at = match.end()
    return "".join([*kept, read.words(at, len(read.code))])


def governs(text: str) -> bool:
    """Return whether a verb in some words would govern a title behind them."""
    return grammar().pattern("governor").search(tagged(text).code) is not None


def role(before: str, after: str, *, opening: bool) -> str:
    """Return what the document does with titles at one place.

    Args:
        before: The sentence up to the first of them; `TITLE` and `OWN` stand for other titles.
        after: What follows the last of them in the sentence.
        opening: Whether the place is in the document's opening, where it says why it is made.

    >>> role("为贯彻落实", "精神，制定本方案", opening=True)
    '落实'
    >>> role("到2025年，修订", "和地方标准", opening=False)
    '提及'
    """
    led, behind = tagged(before).code, tagged(after).code
    governor = _governor(before)
    makes_itself = _has("own_act_opening" if opening else "own_act", behind)
    if governor in ("", "making"):
        if act := _own_act(led, behind):
            return act
        if makes_itself and _begins("basis", behind):
            return "依据"
    if governor == "resting" and (
        _has("own_basis", led)
        or _begins("made_by_it", behind)
        or (_has("own_act", behind) if _has("of_others", led) else makes_itself)
    ):
        return "依据"
    if governor == "carrying" and _carries_out(before, led, behind):
        return "落实"
    return "参照" if governor == "consulting" else "提及"


def _has(name: str, code: str) -> bool:
    return grammar().pattern(name).search(code) is not None


def _begins(name: str, code: str) -> bool:
    return grammar().pattern(name).match(code) is not None


def _governor(before: str) -> str:
    """Return the class of the verb that the titles depend on; empty for none."""
    clause = _CLAUSE.split(_AS_WELL.sub("", before))[-1]
    code = tagged(without_attributes(clause)).code
    found = list(grammar().pattern("governor").finditer(code))
    if not found or len(code) - found[-1].end() > _REACH:
        return ""
    last = found[-1]
    if _has("by_the_way", code[last.end() :]):
        return "aside"
    if last.lastgroup == "resting" and _has("others", code[: last.start()]):
        return "others"
    return "negated" if _has("not", code[: last.start()]) else last.lastgroup or ""


# What the document does itself: patterns of the words before a title that all must be there, and
# of those behind it that must follow at once.
_ACTS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("废止", (), ("repealed",)),
    ("废止", ("repealing",), ()),
    ("废止", ("replacing",), ("ended",)),
    ("修订", ("amending",), ("amended",)),
    ("修订", ("amending", "to_amend"), ()),
    ("修订", ("decided",), ("amended",)),
    ("转发", (), ("passed_on",)),
    ("转发", ("now_passed",), ()),
    ("印发", ("now",), ("issued",)),
    ("印发", (), ("then_now", "issued")),
    ("印发", ("now_sent",), ()),
)


def _own_act(led: str, behind: str) -> str:
    """Return 废止, 修订, 转发 or 印发 where the document itself does it here; else nothing."""
    if _has("not", led) or _has("not_allowed", led):
        return ""
    for act, ahead, following in _ACTS:
        if all(_has(name, led) for name in ahead) and all(
            _begins(name, behind) for name in following
        ):
            return act
    return ""


def _carries_out(before: str, led: str, behind: str) -> bool:
    if _has("for", led):
        return True
    if _begins("reported_behind", behind):
        return False
    return not _has("past", tagged(before[-_REACH:]).code)
