"""Bring the citations of a draft into one form: [n], those of passages that exist."""

import re
from collections.abc import Iterable

from kgrag.generation.plain import without_courtesies, without_talk_of_passages
from kgrag.results import Context
from kgrag.text.answer_text import MARK, marks

_RANGE = re.compile(r"(?<!\d)(\d++)\D{0,12}?[\-–—~～至]\D{0,12}?(\d+)")
_DIGITS = re.compile(r"\d+")
_LINK = re.compile(r"(?<=\])\((?:https?:|#)[^)\s]{0,500}\)")
_BROKEN_DECIMAL = re.compile(r"(?<![\d.])0\.[ \t]{1,2}(?=\d)")  # 0. 75, copied from a scan
REPEATED = re.compile(r"(\[\d+\])(?:\s*\1)+")
_ONE = r"(?:passages?|sources?|文段|段落|文档|资料|来源)\s*+[:：#]?\s*+\d{1,3}"
# （来源：passage 1）, (passages 1, 2), （见文段3）
_IN_WORDS = re.compile(
    r"[（(]\s*+(?:(?:资料|信息|内容)?(?:来源|出处|依据|参见|引自|source|see|见)\s*+[:：]?\s*+)?"
    rf"(?P<list>{_ONE}(?:\s*+(?:[,，、;；和及]|and)\s*+(?:{_ONE}|\d{{1,3}}))*)\s*+[)）]",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"[（(]\s*+(?:资料|信息|内容)?(?:来源|出处|依据|参见|引自|source|see|见)\s*+[:：]?\s*+((?:\[\d+\])+)\s*+[)）]",
    re.IGNORECASE,
)
# 参考文献 or References, then nothing but lines that begin with [n] until the end.
_REFERENCE_LIST = re.compile(
    r"(?:^|\n)[ \t>#*_\-—]*(?:参考(?:文献|资料|来源)|资料来源|引用(?:来源|文献)?|文献|来源|出处"
    r"|references?|sources?|citations?|bibliography)[ \t]*+[*_]*+[:：]?[*_]*+[ \t]*+"
    rf"(?:\n\s*+(?:[-*•][ \t]++)?(?:{MARK.pattern})[^\n]*+)++\s*+$",
    re.IGNORECASE,
)


def cited_passages(text: str, context: Context) -> set[int]:
    """Return the numbers of the passages that a draft cites, however it writes them."""
    known = {p.number for p in context.passages}
    return {number for _, _, number in marks(normalise(text, known)[0])}


def normalise(text: str, known: Iterable[int]) -> tuple[str, list[int]]:
    """Return (text, numbers removed): every citation as [n], those not known left out.

    Courtesies and a list of references at the end are left out, too. 根据文段[2]， before
    a sentence becomes [2] behind it.

    >>> normalise("甲【1】。乙[1-3]，丙[^2]。丁[文档9]（来源：passage 1）", [1, 2, 3])
    ('甲[1]。乙[1][2][3]，丙[2]。丁[1]', [9])
    """
    held, astray = set(known), dict[int, None]()

    def plain(match: re.Match[str]) -> str:
        numbers = _numbers(match.group(), held)
        astray.update(dict.fromkeys(n for n in numbers if n not in held))
        return "".join(f"[{n}]" for n in numbers if n in held)

    text = _BROKEN_DECIMAL.sub("0.", text)
    text = _REFERENCE_LIST.sub("", _LINK.sub("", text).strip())
    text = _IN_WORDS.sub(lambda m: "".join(f"[{n}]" for n in _DIGITS.findall(m["list"])), text)
    text = _SOURCE.sub(r"\1", MARK.sub(plain, text))
    text = without_talk_of_passages(without_courtesies(text), held)
    return REPEATED.sub(r"\1", text).strip(), list(astray)


def _numbers(mark: str, held: set[int]) -> list[int]:
    """Return the numbers in a citation; of a range, those held, and its ends."""
    numbers: dict[int, None] = {}
    bare = mark.split("†")[0]
    for match in _RANGE.finditer(bare):
        low, high = int(match.group(1)), int(match.group(2))
        numbers.update(dict.fromkeys(n for n in range(low, high + 1) if n in held))
    numbers.update(dict.fromkeys(int(d) for d in _DIGITS.findall(bare)))
    return sorted(numbers) if _RANGE.search(bare) else list(numbers)
