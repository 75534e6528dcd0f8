"""What stands around titles in their sentences: lists, headlines, lists of bases."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from kgrag.ingestion.rules.sections import achieved_sections, basis_sections
from kgrag.ingestion.rules.titles_told import Told
from kgrag.ingestion.statements.citation_roles import (
    OWN,
    TITLE,
    governs,
    role,
    without_attributes,
)
from kgrag.text.numerals import HAN_SMALL, HAN_WHOLE

_OPENING = 1500  # characters in which a document says why it is made
_HEAD = 600  # characters in which its own headline stands
_BEFORE, _AFTER = 300, 400  # characters of a sentence that are looked at
_NUMBERING = rf"(?:[（(]?[{HAN_SMALL}\d]{{1,3}}[）)、.．])"
_NEW_ITEM = re.compile(rf"(?<!\s)[^\S\n]*+\n\s*+(?={_NUMBERING}|第[{HAN_WHOLE}\d]++[条章节]|附件)")
_SENTENCE_END = re.compile(rf"[。；;！？]|{_NEW_ITEM.pattern}")
_THEN_SENT = re.compile(r"\s*现(?:予以?|联合|正式)?(?:印发|[发公颁]布|转发|批转)")
_ASIDE = re.compile(r"[（(][^（）()]{0,80}[）)]")
# What may stand between two titles of a list: 、 和 等文件和省政府 ...
_BETWEEN = re.compile(
    r"(?:[等和及与][^，,。；;：:]{0,16}|精神|要求|规定|部署|文件|有关|的){0,4}[、，,；;]?"
    r"(?:以及|[和及与或并暨])?[^，,。；;：:]{0,40}"
)
_LISTED = re.compile(
    rf"[ \t]*{_NUMBERING}?[^\n《，。]{{0,16}}$"
)  # between a line's start and its title
# 《…》和省能源局等5部门印发《…》等文件精神: who sent the second, no verb of its own.
_SENT_BY = re.compile(
    r"^((?:以及|[和及与、]).{2,40}?(?:[厅局部委府办院]|部门|单位))(?:联合)?(?:印发|[发公颁]布)$"
)
ISSUING = {
    "印发": "印发", "下发": "印发", "颁发": "印发", "发布": "印发", "公布": "印发", "颁布": "印发",
    "转发": "转发", "批转": "转发", "修改": "修订", "修订": "修订", "修正": "修订", "废止": "废止",
}  # fmt: skip
_HEADLINE = re.compile(rf"[^，。；：、]{{0,60}}?关于[^，。；]{{0,12}}?({'|'.join(ISSUING)})$")
_HEADLINE_ENDS = re.compile("(?:等[^，。；]{0,12})?的?(?:通知|公告|通告|决定|函|命令|令)")


def roles_of(text: str, titles: Sequence[Told], is_own: Callable[[Told], bool]) -> list[str]:
    """Return the role of each title, in their order.

    Args:
        text: The document.
        titles: By place, those within others left out.
        is_own: Whether a title is the document's own name.
    """
    sentences = _Sentences(text, titles, is_own)
    roles: list[str] = []
    for first, last in _lists(text, titles, is_own):
        told = sentences.role(first, last)
        roles += [told] * (last - first + 1)
    return roles


def _lists(
    text: str, titles: Sequence[Told], is_own: Callable[[Told], bool]
) -> list[tuple[int, int]]:
    """Return (first, last) of the runs of titles that one verb governs."""
    runs: list[tuple[int, int]] = []
    for i, told in enumerate(titles):
        if runs and runs[-1][1] == i - 1 and not is_own(told) and not is_own(titles[i - 1]):
            before = titles[i - 1]
            if _is_list(text[max(before.end, before.tail) : told.start]):
                runs[-1] = (runs[-1][0], i)
                continue
        runs.append((i, i))
    return runs


def _is_list(gap: str) -> bool:
    if len(gap) > 160 or _NEW_ITEM.search(gap):
        return False
    plain = without_attributes(_ASIDE.sub("", "".join(gap.split())))
    plain = _SENT_BY.sub(r"\1", plain)
    return _BETWEEN.fullmatch(plain) is not None and not governs(plain)


class _Sentences:
    """The sentences around titles, these left out."""

    def __init__(self, text: str, titles: Sequence[Told], is_own: Callable[[Told], bool]) -> None:
        self._text, self._titles, self._is_own = text, titles, is_own
        self._ends = [m.end() for m in _SENTENCE_END.finditer(text)]
        self._starts = [t.start for t in titles]
        self._achieved = achieved_sections(text)
        self._bases = basis_sections(text)

    def role(self, first: int, last: int) -> str:
        head, tail = self._titles[first], self._titles[last]
        if self._is_among_bases(head.start):
            return "依据"
        end_of_list = max(tail.end, tail.tail)
        before = self._plain(self._sentence_start(head.start), head.start)
        after = self._plain(end_of_list, self._sentence_end(end_of_list))
        told = self._role_in_sentence(before, after, head.start)
        return "提及" if told == "落实" and _lies_in(head.start, self._achieved) else told

    def _role_in_sentence(self, before: str, after: str, at: int) -> str:
        headline = _HEADLINE.search(before)
        if not headline or not _HEADLINE_ENDS.match(after):
            return role(before, after, opening=at < _OPENING)
        before = before[: headline.start()] + headline.group().split("关于")[0]
        after = _HEADLINE_ENDS.sub("", after, count=1)
        cited = role(before, after, opening=at < _OPENING)
        is_heading = headline.start() == 0 and at < _HEAD
        return ISSUING[headline.group(1)] if is_heading and cited == "提及" else cited

    def _sentence_start(self, at: int) -> int:
        i = bisect_right(self._ends, at)
        return max(self._ends[i - 1] if i else 0, at - _BEFORE)

    def _sentence_end(self, at: int) -> int:
        i = bisect_left(self._ends, at + 1)
        if i < len(self._ends) and _THEN_SENT.match(self._text, self._ends[i]):
            i += 1  # 制定了《…》。现印发给你们
        end = self._ends[i] if i < len(self._ends) else len(self._text)
        return min(end, at + _AFTER)

    def _plain(self, start: int, end: int) -> str:
        """Return a stretch without blanks and asides, its titles each one character."""
        pieces, at = [], start
        for i in range(bisect_left(self._starts, start), bisect_left(self._starts, end)):
            told = self._titles[i]
            pieces += [self._text[at : told.start], OWN if self._is_own(told) else TITLE]
            at = max(at, told.end, told.tail)
        pieces.append(self._text[at:end])
        return _ASIDE.sub("", "".join("".join(pieces).split()))

    def _is_among_bases(self, at: int) -> bool:
        """Return whether a title stands in a list below 编制依据."""
        if not _lies_in(at, self._bases):
            return False
        line = self._text.rfind("\n", 0, at) + 1
        return at - line < _BEFORE and _LISTED.match(self._text[line:at]) is not None


def _lies_in(at: int, sections: Sequence[tuple[int, int]]) -> bool:
    i = bisect_right(sections, (at, at)) - 1
    return i >= 0 and at < sections[i][1]
