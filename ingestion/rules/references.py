"""Read references between documents by rule: every 《…》 and 文号, and what is done with it."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.ingestion.rules.abbreviations import ShortNames, is_bare_kind
from kgrag.ingestion.rules.citation_context import ISSUING, roles_of
from kgrag.ingestion.rules.finding import SELF, Finding
from kgrag.ingestion.rules.own_names import OwnNames
from kgrag.ingestion.rules.titles_told import Told, told_titles
from kgrag.language.leading_region import leading_region
from kgrag.language.title_keys import issuer_ahead, issuer_before
from kgrag.language.titles import document_kinds
from kgrag.qualifiers import Qualifiers
from kgrag.text.numerals import HAN_SMALL

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
    read = _Reading.of(text, OwnNames(own_names))
    found = [*_cited(text, read), *_short_names_without_marks(text, read)]
    return sorted(found, key=lambda f: (f.start, -f.end))


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

    own: OwnNames
    inner: list[Told]
    outer: list[Told]
    starts: list[int]
    short: ShortNames
    is_own: dict[int, bool]
    roles: dict[int, str]

    @classmethod
    def of(cls, text: str, own: OwnNames) -> "_Reading":
        told = told_titles(text)
        short = ShortNames.given_in(text, [t for t in told if t.inner is None])
        told = [t for t in told if not short.defined_at(t.start)]
        outer = [t for t in told if t.inner is None]
        is_own = {t.start: _is_own(t, text, own, short) for t in outer}
        roles = roles_of(text, outer, lambda t: is_own[t.start])
        starts = [t.start for t in outer]
        inner = [t for t in told if t.inner is not None]
        return cls(own, inner, outer, starts, short, is_own, dict(zip(starts, roles, strict=True)))

    def around(self, at: int) -> Told:
        return self.outer[max(0, bisect_right(self.starts, at) - 1)]


def _cited(text: str, read: _Reading) -> Iterator[Finding]:
    others = [t for t in read.outer if not read.is_own[t.start]]
    issued = sum(read.roles[t.start] == "印发" for t in others)
    for title in others:
        if not _is_document(title, text):
            continue
        full = read.short.meaning(title) or title
        role = read.roles[title.start]
        if is_bare_kind(full.title) or read.is_own.get(full.start, False):
            continue
        if role == "印发" and issued == 1 and read.own.resembles(title.title):
            continue  # its body, under a title in other words
        written = "" if full is title else title.title
        yield _finding(full, role, title.start, title.end, written=written)
    for title in read.inner:
        if _is_document(title, text) and not (
            read.own.holds(title.title) or is_bare_kind(title.title)
        ):
            yield _cited_inside(title, read)


def _cited_inside(title: Told, read: _Reading) -> Finding:
    """Return what stands within a title: what a notice issues shares the notice's role."""
    around = read.around(title.start)
    act = next((ISSUING[verb] for verb in ISSUING if title.inner and verb in title.inner), "")
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


def _is_own(title: Told, text: str, own: OwnNames, short: ShortNames) -> bool:
    if is_bare_kind(title.title) and short.meaning(title) is None:
        return own.is_short_for_it(title.title)
    if _ENDED.match(text, title.tail or title.end):  # an earlier edition
        return False
    ahead = issuer_ahead(text[max(0, title.start - 60) : title.start])
    return own.holds(title.title, number=title.number, issuer=ahead)


def _is_document(title: Told, text: str) -> bool:
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
    title: Told, role: str, start: int, end: int, *, number: str = "", written: str = ""
) -> Finding:
    """Return the finding of one place, surer of what ends in a kind of document and has marks."""
    named = not title.title or document_kinds(title.title) or title.title.endswith("法")
    confidence = _SURE if named else _WITHOUT_KIND
    if not title.whole or not title.marked:
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
