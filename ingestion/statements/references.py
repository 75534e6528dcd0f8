"""Read references between documents by rule: every 《…》 and 文号, and what is done with it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain

from kgrag.ingestion.metadata.numbers import clean_number
from kgrag.ingestion.statements.citation_roles import (
    OWN,
    TITLE,
    governs,
    role,
    without_attributes,
)
from kgrag.ingestion.statements.cited_titles import (
    SAID_SHORT,
    CitedTitle,
    cited_titles,
    clean_title,
)
from kgrag.ingestion.statements.finding import SELF, Finding
from kgrag.qualifiers import Qualifiers
from kgrag.text.leading_region import leading_region
from kgrag.text.numbering import DIVISIONS, RANK, numbering_at
from kgrag.text.numerals import HAN_SMALL, HAN_WHOLE
from kgrag.text.title_keys import issuer_ahead, issuer_before, same_organ, title_key, title_keys
from kgrag.text.titles import document_kinds
from kgrag.text.vocabulary import DOCUMENT_KINDS

_YEARS = re.compile(r"[（(]\d{4}\s*[-—–―－~至]+\s*\d{4}\s*年?[）)]$")
_ALIKE = 0.75

_REACH = 240  # characters behind a title in which its short name is given
_GIVEN = re.compile(
    r"[^。；;\n（(《]{0,12}(?:[（(][^（）()《》]{0,60}[）)]\s*){0,2}"
    rf"[（(](?P<ahead>[^（）()《》]{{0,60}}?){SAID_SHORT}"
    r"(?P<names>[^（）()]{1,60}?)[）)]"
)
_NAME = re.compile(
    r"《([^《》]{1,40})》|[“\"]([^“”\"]{1,30})[”\"]([一-鿿]{0,6})|([一-鿿A-Za-z\d]{2,20})"
)
_BARE_KIND = re.compile(
    rf"(?:实施|指导|若干|工作|行动|总体|专项|管理|暂行|规划){{0,2}}(?:{DOCUMENT_KINDS}|建议)"
)
_KIND_AT_END = re.compile(f"(?:{DOCUMENT_KINDS}|建议|法)$")
_SHORTEST = 4  # characters of a short name that is recognised without marks

_FAMILIES = DIVISIONS | {"chinese", "bracketed chinese", "digit", "bracketed digit"}
_SECTION_NAME = re.compile(r"[ \t]*([^\n。；;]{2,40})。?$")
_ACHIEVED = re.compile(
    "成效|回顾|成就|成果|现状|进展|全面完成|圆满完成|取得"
    "|(?:现实|工作|发展|规划)基础(?!设施)|基础(?:和|与|及)(?:面临)?形势|形势与"
)
_TO_DO = re.compile(
    "[，,]|^(?:夯实|加强|强化|推进|推动|提升|完善|健全|持续)|巩固|扩大|见成效|考核|评估"
)
_BASES = re.compile("(?:编制|规划|设定|制定|政策|工作|法律|主要|有关|相关|文件|的){1,4}依据$")

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
_ISSUING = {
    "印发": "印发", "下发": "印发", "颁发": "印发", "发布": "印发", "公布": "印发", "颁布": "印发",
    "转发": "转发", "批转": "转发", "修改": "修订", "修订": "修订", "修正": "修订", "废止": "废止",
}  # fmt: skip
_HEADLINE = re.compile(rf"[^，。；：、]{{0,60}}?关于[^，。；]{{0,12}}?({'|'.join(_ISSUING)})$")
_HEADLINE_ENDS = re.compile("(?:等[^，。；]{0,12})?的?(?:通知|公告|通告|决定|函|命令|令)")

# Forms, papers of one person or firm, and works are no documents that others issue.
_NO_DOCUMENT = re.compile(
    r"(?:表|表格|申报书|申请书|任务书|承诺书|通知书|确认书|决定书|说明书|协议书|委托书|责任书|合同|执照|许可证|证书"
    r"|登记证|资格证|资质证|证明|(?:核查|检测|检验|审计|排放|信息|自查|验收)报告|结论|之歌|栏目|日报|杂志|样表|模板|回执|台账)(?:[（(][^（）()]*[）)])?$"
    rf"|^(?:附件|附表|附录)|^[表图][\d{HAN_SMALL}]"
)
_PROGRAMME = re.compile(
    r"[”\"]?[^，。；《》\n]{0,12}(?:栏目|节目|频道|丛书|一书|课题|项目(?:荣?获|入选|被评))"
)
_MONTH = re.compile(r"(?<=[一-鿿])(?<![于在至度])(?:19|20)\d\d年\d{1,2}月(?=[一-鿿])")
_WITH_COMMA = re.compile('关于|[以为“”"]')
_OF_AN_ORGAN = re.compile("关于|印发|转发|发布|中共|实施[《〈<]")
_WORD = re.compile(r"[一-鿿A-Za-z]{2}")
_ENDED = re.compile(
    r"\s*+(?:[（(][^（）()]{0,60}[）)])?\s*+(?:同时|即行|自行|相应|予以)?(?:废止|失效)"
)
_MENTIONED = "提及"
_SURE, _WITHOUT_KIND, _WITHOUT_MARKS = 0.98, 0.9, 0.9


def own_names(title: str, *, notice: str = "", number: str = "") -> list[str]:
    """Return the names of a document for `references`: what is told of title, notice and number.

    >>> own_names("节能规划", number="云政发〔2021〕3号")
    ['节能规划', '云政发〔2021〕3号']
    """
    return [name for name in (title, notice, number) if name]


class _OwnNames:
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


@dataclass(frozen=True, slots=True)
class _Abbreviation:
    """A short name, and the title that it stands for.

    Attributes:
        name: As it is given, marks left out.
        title: What it stands for.
        start: Where the bracket that gives it begins.
        end: Offset after it.
    """

    name: str
    title: CitedTitle
    start: int
    end: int


def _is_bare_kind(title: str) -> bool:
    """Return whether a title is only a kind of document: 《规划》, 《实施方案》."""
    return _BARE_KIND.fullmatch(title) is not None


class _ShortNames:
    """The short names that a text gives."""

    def __init__(self, given: Sequence[_Abbreviation]) -> None:
        self._given = sorted(given, key=lambda s: (s.start, s.end))
        self._starts = [s.start for s in self._given]
        self._by_key: dict[str, list[_Abbreviation]] = {}
        for short in sorted(given, key=lambda s: s.end):
            self._by_key.setdefault(title_key(short.name), []).append(short)

    @classmethod
    def given_in(cls, text: str, titles: Sequence[CitedTitle]) -> "_ShortNames":
        """Return the short names in brackets behind titles.

        （以下分别简称《意见》《通知》） gives as many titles before it one each, in their order.

        Args:
            text: The document.
            titles: By place, those within others left out.
        """
        return cls([short for i in range(len(titles)) for short in _given(text, titles, i)])

    def defined_at(self, at: int) -> bool:
        """Return whether a place lies in a bracket that gives a short name."""
        i = bisect_right(self._starts, at) - 1
        return i >= 0 and at < self._given[i].end

    def meaning(self, title: CitedTitle) -> CitedTitle | None:
        """Return what a title stands for where it is a short name given before; None otherwise."""
        given = self._by_key.get(title_key(title.title), [])
        i = bisect_right(given, title.start, key=lambda s: s.end) - 1
        return given[i].title if i >= 0 and given[i].title is not title else None

    def places(self, text: str) -> Iterator[tuple[int, int, CitedTitle]]:
        """Yield where a short name that needs no marks is used after it was given.

        Only names that end in a kind of document and are no bare kind: “双碳”意见, not 方案.
        """
        sure = {s.name: s for s in self._given if _needs_no_marks(s.name)}
        if not sure:
            return
        names = sorted(sure, key=len, reverse=True)
        for match in re.finditer("|".join(map(re.escape, names)), text):
            short = sure[match.group()]
            if match.start() >= short.end:
                yield match.start(), match.end(), short.title


def _given(text: str, titles: Sequence[CitedTitle], i: int) -> list[_Abbreviation]:
    told = titles[i]
    match = _GIVEN.match(text, told.end, min(len(text), told.end + _REACH))
    if not match:
        return []
    names = [_written(m) for m in _NAME.finditer(match["names"])]
    several = "分别" in text[match.start() : match.start("names")]
    names = names if several else names[:1]
    meant = titles[max(0, i + 1 - len(names)) : i + 1] if several else [told]
    at = match.start("ahead")
    return [
        _Abbreviation(name, title, at, match.end())
        for name, title in zip(names, meant, strict=False)
        if name
    ]


def _needs_no_marks(name: str) -> bool:
    is_long = len(title_key(name)) >= _SHORTEST
    return is_long and _KIND_AT_END.search(name) is not None and not _is_bare_kind(name)


def _written(match: re.Match[str]) -> str:
    marked, quoted, behind, plain = match.groups()
    if quoted and behind:  # “双碳”意见: the quotation marks are part of it
        return match.group()
    return clean_title(marked or quoted or plain)


def references(text: str, *, own_names: Sequence[str]) -> list[Finding]:
    """Return what a document says of others: one finding for each place of a title or number.

    The object is the title as written; its place includes the marks. A later 《方案》 that was
    given as a short name has the title as its object, and what stands there in
    `qualifiers.object`. Where a number stands alone, it is the object. Forms (《申请表》), papers
    of one firm (《营业执照》) and bare kinds that nothing explains (《通知》) are left out.

    Args:
        text: The document.
        own_names: Its titles, that of its notice, its number: these are no citations.

    >>> found = references("为落实《节能规划》，制定本方案。", own_names=[])
    >>> [(f.predicate, f.object) for f in found]
    [('落实', '节能规划')]
    """
    read = _Reading.of(text, _OwnNames(own_names))
    found = (_cited(text, read), _cited_inside(text, read), _short_names_without_marks(text, read))
    return sorted(chain(*found), key=lambda f: (f.start, -f.end))


@dataclass(frozen=True, slots=True)
class _Reading:
    """What one pass over a text told: its titles, which are its own, the role of each.

    Attributes:
        own: The document's names.
        inner: Titles within others.
        outer: The others, by place.
        starts: Where these start.
        short: Short names that the text gives.
        is_own: Whether the outer title at a place is the document's own.
        roles: What is done with it.
    """

    own: _OwnNames
    inner: list[CitedTitle]
    outer: list[CitedTitle]
    starts: list[int]
    short: _ShortNames
    is_own: dict[int, bool]
    roles: dict[int, str]

    @classmethod
    def of(cls, text: str, own: _OwnNames) -> "_Reading":
        told = cited_titles(text)
        short = _ShortNames.given_in(text, [t for t in told if t.inner is None])
        told = [t for t in told if not short.defined_at(t.start)]
        outer = [t for t in told if t.inner is None]
        is_own = {t.start: _is_own(t, text, own, short) for t in outer}
        roles = roles_of(text, outer, lambda t: is_own[t.start])
        starts = [t.start for t in outer]
        inner = [t for t in told if t.inner is not None]
        return cls(own, inner, outer, starts, short, is_own, dict(zip(starts, roles, strict=True)))

    def around(self, at: int) -> CitedTitle:
        return self.outer[max(0, bisect_right(self.starts, at) - 1)]


def _cited(text: str, read: _Reading) -> Iterator[Finding]:
    others = [t for t in read.outer if not read.is_own[t.start]]
    issued = sum(read.roles[t.start] == "印发" for t in others)
    for title in others:
        if not _is_document(title, text):
            continue
        full = read.short.meaning(title) or title
        role = read.roles[title.start]
        if _is_bare_kind(full.title) or read.is_own.get(full.start, False):
            continue
        if role == "印发" and issued == 1 and read.own.resembles(title.title):
            continue  # its body, under a title in other words
        written = "" if full is title else title.title
        yield _finding(full, role, title.start, title.end, written=written)


def _cited_inside(text: str, read: _Reading) -> Iterator[Finding]:
    """Yield the titles within others."""
    for title in read.inner:
        is_named = _is_document(title, text) and not _is_bare_kind(title.title)
        if is_named and not read.own.holds(title.title):
            yield _inside(title, read)


def _inside(title: CitedTitle, read: _Reading) -> Finding:
    """Return what stands within a title: what a notice issues shares the notice's role."""
    around = read.around(title.start)
    act = next((_ISSUING[verb] for verb in _ISSUING if title.inner and verb in title.inner), "")
    role, number = _MENTIONED, ""
    if read.is_own.get(around.start, False):
        role = act or _MENTIONED
    elif act in ("印发", "转发") or issuer_before(f"{title.inner}关于"):
        role, number = read.roles.get(around.start, _MENTIONED), around.number
    return _finding(title, role, title.start, title.end, number=number)


def _short_names_without_marks(text: str, read: _Reading) -> Iterator[Finding]:
    """Yield later places of a short name that is sure without marks: “双碳”意见."""
    for start, end, title in read.short.places(text):
        around = read.around(start) if read.outer else title
        if around.start <= start < max(around.end, around.tail):
            continue
        if not read.is_own.get(title.start, False):
            yield _finding(title, _MENTIONED, start, end, written=text[start:end])


def _is_own(title: CitedTitle, text: str, own: _OwnNames, short: _ShortNames) -> bool:
    if _is_bare_kind(title.title) and short.meaning(title) is None:
        return own.is_short_for_it(title.title)
    if _ENDED.match(text, title.tail or title.end):  # an earlier edition
        return False
    ahead = issuer_ahead(text[max(0, title.start - 60) : title.start])
    return own.holds(title.title, number=title.number, issuer=ahead)


def _is_document(title: CitedTitle, text: str) -> bool:
    name = title.title
    if not name:
        return bool(title.number)
    if _NO_DOCUMENT.search(name):
        return False
    if not document_kinds(name) and _PROGRAMME.match(text, title.end):
        return False
    broken = "\n" in text[title.start : title.end]
    return _WORD.search(name) is not None and not _holds_two_cells(name, broken=broken)


def _holds_two_cells(name: str, *, broken: bool) -> bool:
    """Return whether columns of a table run together in a title: 云岭省标2021年3月准."""
    if _MONTH.search(name) or (broken and "，" in name and not _WITH_COMMA.search(name)):
        return True
    place = name[: leading_region(name)[1]] or name[:5]
    again = name.find(place, 5) if len(name) > 12 else -1
    if again < 0 or _OF_AN_ORGAN.search(name):
        return False
    return not document_kinds(name[:again].rstrip("-—－、和及与"))


def _finding(
    title: CitedTitle, role: str, start: int, end: int, *, number: str = "", written: str = ""
) -> Finding:
    """Return the finding of one place, surer of what ends in a kind of document and has marks."""
    named = not title.title or document_kinds(title.title) or title.title.endswith("法")
    confidence = _SURE if named else _WITHOUT_KIND
    if not title.marked:
        confidence = min(confidence, _WITHOUT_MARKS)
    return Finding(
        SELF,
        "引用" if role == _MENTIONED else role,
        title.title or title.number,
        start,
        end,
        Qualifiers("reference", role=role, number=title.number or number, object=written),
        object_type="document",
        confidence=confidence,
    )


def roles_of(
    text: str, titles: Sequence[CitedTitle], is_own: Callable[[CitedTitle], bool]
) -> list[str]:
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
    text: str, titles: Sequence[CitedTitle], is_own: Callable[[CitedTitle], bool]
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

    def __init__(
        self, text: str, titles: Sequence[CitedTitle], is_own: Callable[[CitedTitle], bool]
    ) -> None:
        self._text, self._titles, self._is_own = text, titles, is_own
        self._ends = [m.end() for m in _SENTENCE_END.finditer(text)]
        self._starts = [t.start for t in titles]
        self._achieved = _achieved_sections(text)
        self._bases = _basis_sections(text)

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
        return _ISSUING[headline.group(1)] if is_heading and cited == "提及" else cited

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


def _achieved_sections(text: str) -> list[tuple[int, int]]:
    r"""Return (start, end) of sections whose heading says that they report results, by place.

    What such a section names was done; the document does not order it. A section ends at the next
    heading of its depth or above.

    >>> _achieved_sections("一、工作成效\n印发了规划。\n二、目标\n")
    [(0, 14)]
    """
    return _sections(text, _ACHIEVED, but=_TO_DO)


def _basis_sections(text: str) -> list[tuple[int, int]]:
    r"""Return (start, end) of sections that list what the document rests on, by place.

    >>> _basis_sections("二、编制依据\n（1）《节能办法》\n三、目标\n")
    [(0, 17)]
    """
    return _sections(text, _BASES, but=None)


def _sections(
    text: str, heading: re.Pattern[str], *, but: re.Pattern[str] | None
) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    start, depth = -1, -1
    at = 0
    for line in text.split("\n"):
        begin = at + len(line) - len(line.lstrip(" \t"))
        at += len(line) + 1
        mark = numbering_at(text, begin)
        if mark is None or mark.family not in _FAMILIES:
            continue
        name = _SECTION_NAME.match(text, mark.end, at - 1)
        if name is None:
            continue
        if start >= 0 and RANK[mark.family] <= depth:
            found.append((start, begin))
            start = -1
        words = name[1].rstrip(" .…")
        if start < 0 and heading.search(words) and not (but and but.search(words)):
            start, depth = begin, RANK[mark.family]
    return [*found, (start, len(text))] if start >= 0 else found
