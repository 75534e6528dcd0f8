"""Provisions: who may apply, what is granted and punished (`provisions.toml`), validity dates."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgrag.ingestion.statements.finding import SELF, Finding
from kgrag.ingestion.statements.unwrapped import Unwrapped, unwrapped
from kgrag.qualifiers import Comparator, Qualifiers
from kgrag.text.grammar import Grammar
from kgrag.text.numbering import ANNEX, ARTICLE, ATTACHMENT, DIVISIONS, item_end, numbering_at
from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL
from kgrag.text.quantities import Quantity, dates, quantities
from kgrag.text.tagged import Span, Tagged
from kgrag.text.vocabulary import DOCUMENT_KINDS

# Ranks of marks, outermost first.
_RANKS = {
    **dict.fromkeys((ATTACHMENT, ANNEX), 0), **dict.fromkeys(DIVISIONS, 1), ARTICLE: 2,
    "chinese": 3, "bracketed chinese": 4, "digit": 5, "bracketed digit": 6, "half bracket": 6,
    "circle": 7,
}  # fmt: skip
_NO_RANK = 8
INNER = range(4, _NO_RANK)  # （一） and inner ones
_MARKS = "，,、。；;：: "
_MOST_BELOW = 60
_LEAD_END = re.compile("[。：:，；】]")
_LEAD = range(4, 31)  # characters
_NAMES = re.compile(
    r"(?:项目|企业|单位|机构|工厂|园区|平台|产品|活动|奖励|补助|补贴|资助|扶持|建设|改造|创建|认证|示范|服务)$"
)
_FORMAL = re.compile(
    r"标准|方式|内容|条件|程序|对象|范围|依据|要求|数量|管理|^[到至和及对]|^(?:返还|奖励|补助|补贴|扶持|资助|[、和及])+$"
)

LONGEST = 120  # characters of a subject, an object or a condition
_LONGEST_SENTENCE = 1200
_AMOUNTS = {"元": "money", "%": "share", "倍": "fold"}
_RANGE = re.compile(r"以上至?|[-—–~～至到]{1,2}")
_PER_BEHIND = re.compile(r"(?:[/／]|每)((?:(?![的给予补奖建按])[一-鿿A-Za-z₂]){1,8})")
_PER_BEFORE = re.compile(
    r"每([一-鿿]{1,6}?)(?:最高|不超过|最多|按|给予|一次性|奖励|补助|补贴|可)*$"
)

_NEVER = re.compile("(?!)")

ASKS = "申请条件"
CONFIDENCE = 0.93  # precision that was measured
_LONGEST_ITEM = 400
_MOST_ITEMS = 40
_GROUP = 30  # characters of a line that only names a group of items
_HEADING = re.compile(
    r"^[^，。；]{0,14}?(?:申报|申请|推荐|认定|参评|参选|揭榜|遴选|创建|准入|入库|入选|评选|资助|支持|奖励|补助|扶持)[^，。；]{0,8}?条件"
    r"(?:（[^）]{0,20}）)?[：:。]?$"
)
_SENTENCE = re.compile(
    r"(?:^|[。；])(?:凡|其中|本办法所称)?(?P<who>[^，。；：\n]{2,50}?)(?:还?应当?|应该|须|需|必须)?(?:同时|还|均|当){0,3}(?:具备|符合|满足|达到)"
    r"(?:以下|下列|如下)[^，。；：\n]{0,8}?(?P<what>条件|要求)(?:之一)?(?:的)?[^，。；：\n]{0,12}[：:]$"
)
_APPLIES = re.compile(
    r"申[请报]|单位|企业|机构|个人|人员?$|项目|产品|技术|园区|主体|者|工厂|社区|城市|地区|公司|协会|组织|员$|法人|平台|基地|资金"
)
_ASKS = re.compile(r"申[请报]|机构$|单位$|主体$")


def marked(line: str) -> tuple[int, str]:
    """Return (rank, rest) of a line; the rank is that of its marker, _NO_RANK for none.

    >>> marked("（一）依法注册"), marked("依法注册")
    ((4, '依法注册'), (8, '依法注册'))
    """
    mark = numbering_at(line)
    if mark and mark.family in _RANKS:
        return _RANKS[mark.family], line[mark.end :]
    return _NO_RANK, line


def unmarked(text: str) -> str:
    """Return a text without the markers that it begins with, and marks at its ends."""
    rank, rest = marked(text.strip(_MARKS))
    while rank < _NO_RANK:
        rank, rest = marked(rest)
    return rest.strip(_MARKS)


def _items_below(text: str, end: int) -> Iterator[str]:
    """Yield the items on the lines below one; they end with the first line of another rank.

    Args:
        text: Paragraphs, each on a line.
        end: Where the line above ends.
    """
    first = None
    for line in text[end + 1 :].split("\n", _MOST_BELOW)[:_MOST_BELOW]:
        rank, rest = marked(line)
        first = rank if first is None else first
        if rank != first or rank not in INNER:
            return
        yield rest.strip(_MARKS).removesuffix("的")


class Heads:
    """The leads of the items around a line, as lines are entered in order."""

    def __init__(self) -> None:
        self._leads: list[tuple[int, str]] = []

    def enter(self, line: str) -> None:
        """Take note of a line: it ends the items of its rank and of inner ones."""
        rank, _ = marked(line)
        if rank < _NO_RANK:
            self._leads = [(r, lead) for r, lead in self._leads if r < rank]
            self._leads.append((rank, _LEAD_END.split(unmarked(line).lstrip("【"), maxsplit=1)[0]))

    def nearest(self) -> str:
        """Return the innermost lead that names a kind of project or who; empty for none."""
        return next(
            (
                lead
                for _, lead in reversed(self._leads)
                if len(lead) in _LEAD and _NAMES.search(lead) and not _FORMAL.search(lead)
            ),
            "",
        )


def conditions(text: str) -> list[Finding]:
    """Return the conditions, amounts and periods that a text states, in text order.

    (`SELF` or who applies, 申请条件, item), (beneficiary, 奖励 / 补助, amount), (conduct, 处罚,
    fine), (`SELF` or title, 施行日期 / 有效期至 / 有效期, date or span). The span is the sentence
    or the item.

    >>> [(f.subject, f.predicate, f.object) for f in conditions(
    ...     "对绿色工厂，给予20万元奖励。本办法自2022年3月1日起施行。")]
    [('绿色工厂', '奖励', '20万元奖励'), ('本文件', '施行日期', '2022年3月1日')]
    """
    flat = unwrapped(text)
    found = [*applicants(flat), *provisions(flat), *validity(flat)]
    named = {(f.object, f.start) for f in found if f.subject != SELF}
    told = [f for f in found if f.subject != SELF or (f.object, f.start) not in named]
    return sorted(dict.fromkeys(told), key=lambda f: (f.start, f.end))


def applicants(flat: Unwrapped) -> Iterator[Finding]:
    """Yield (who or what applies, 申请条件, the item), one for each item, in text order.

    The subject is what the sentence ahead of the list names, `SELF` under a heading alone. An item
    that only names a group of items is their `condition`.

    Args:
        flat: The document, its lines put together.
    """
    lines = flat.text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for i, line in enumerate(lines):
        if "条件" not in line[:200] and "要求" not in line[:200]:
            continue
        rank, rest = marked(line[:200])
        subject = SELF if len(rest) <= _GROUP and _HEADING.match(unmarked(rest)) else _who(rest)
        outer = rank if rank < _NO_RANK else 0
        for at, group, item in _items(lines, i, outer) if subject else ():
            span = flat.span(starts[at], starts[at] + len(lines[at]))
            qualifiers = Qualifiers("condition", condition=group)
            yield Finding(subject, ASKS, item, *span, qualifiers, confidence=CONFIDENCE)


def _who(line: str) -> str:
    """Return of whom a line says that they must meet what is listed below; empty for none."""
    told = _SENTENCE.search(line)
    who = unmarked(told["who"]) if told else ""
    applies = told and _APPLIES.search(who) and (told["what"] == "条件" or _ASKS.search(who))
    return who if applies else ""


def _items(lines: list[str], head: int, outer: int) -> Iterator[tuple[int, str, str]]:
    """Yield (line, group, item) below a line, as far as their markers are of an inner rank."""
    inner = range(max(INNER.start, outer + 1), _NO_RANK)
    first = _NO_RANK
    group = ""
    for at in range(head + 1, min(head + 1 + _MOST_ITEMS, len(lines))):
        rank, rest = marked(lines[at][:_LONGEST_ITEM])
        if rank == _NO_RANK:
            if rest.endswith(("：", ":")) or (at == head + 1 and "条件" in rest):
                continue
            return
        if rank not in inner or rank < first < _NO_RANK:
            return
        first = min(first, rank)
        following, _ = marked("".join(lines[at + 1 : at + 2])[:8])
        item = unmarked(rest)
        names_group = len(item) <= _GROUP // 2 and item.endswith(("要求", "条件"))
        if names_group or (rank < following < _NO_RANK and len(item) <= _GROUP):
            group = item
            continue
        if following <= rank == first:
            group = ""
        if len(item) >= 4 and not group.startswith("其他"):
            yield at, group, item


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the grammar; what each field says stands at the head of the file."""

    id: str
    predicates: Mapping[str, str]
    confidence: float
    headed_confidence: float
    is_headed: bool
    when: tuple[str, ...]
    sentence: re.Pattern[str]
    object: re.Pattern[str]
    subject: tuple[re.Pattern[str], ...]
    is_each: bool
    unless: re.Pattern[str] = _NEVER
    elsewhere: re.Pattern[str] = _NEVER
    items: re.Pattern[str] = _NEVER
    carries: re.Pattern[str] = _NEVER
    condition: re.Pattern[str] = _NEVER

    @classmethod
    def of(cls, told: Mapping[str, Any], grammar: Grammar) -> "Row":
        """Return a row as the file tells it."""
        predicate = told["predicate"]
        optional = ("unless", "elsewhere", "items", "carries", "condition")
        return cls(
            told["id"],
            predicate if isinstance(predicate, dict) else {"": predicate},
            told["confidence"],
            told.get("headed_confidence", 0.0),
            told.get("is_headed", False),
            tuple(told["when"].split()),
            re.compile(f"[^\n{told['ends']}]+"),
            grammar.compile(told["object"]),
            tuple(map(grammar.compile, told["subject"])),
            told.get("values") == "each",
            **{name: grammar.compile(told[name]) for name in optional if name in told},
        )


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of provisions."""
    return Grammar.load("kgrag.ingestion.statements", "provisions.toml", tags=_AMOUNTS.values())


@functools.cache
def _rows() -> tuple[Row, ...]:
    return tuple(Row.of(told, grammar()) for told in grammar().told["rows"])


def tagged(text: str) -> Tagged:
    """Return a sentence with its amounts and words as spans."""
    amounts = (
        Span(q.start, q.end, frozenset([_AMOUNTS[q.unit]]), q)
        for q in quantities(text)
        if q.unit in _AMOUNTS
    )
    return grammar().tagged(text, amounts)


def provisions(flat: Unwrapped) -> Iterator[Finding]:
    """Yield (who or what, 奖励 / 补助, amount) and (conduct, 处罚, fine), row by row.

    `value` and `value_to` are in yuan, percent or 倍, `unit` may say of what (元/千瓦),
    `comparator` is <= for 最高 and 以下; `condition` is what else is asked (经认定, 情节严重).

    Args:
        flat: The document, its lines put together.
    """
    for row in _rows():
        if any(word in flat.text for word in row.when):
            yield from _of_row(row, flat)


def _of_row(row: Row, flat: Unwrapped) -> Iterator[Finding]:
    heads = Heads()
    start = 0
    for line in flat.text.split("\n"):
        heads.enter(line[:LONGEST])
        if any(word in line for word in row.when):
            carried = ""
            for sentence in row.sentence.finditer(flat.text, start, start + len(line)):
                for finding in _of_sentence(row, flat, sentence, carried, heads):
                    carried = finding.subject
                    yield finding
        start += len(line) + 1


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A sentence of a document, from `start` to `end`, with its amounts and words as spans."""

    flat: Unwrapped
    start: int
    end: int
    read: Tagged

    def said(self, start: int, end: int) -> str:
        """Return the words of a piece as the document has them, marks at its ends out."""
        first, last = self.read.at[start], self.read.at[end]
        words = unmarked(self.flat.text[self.start + first : self.start + last])
        return words.removesuffix("的")[:LONGEST]


def _of_sentence(
    row: Row, flat: Unwrapped, match: re.Match[str], carried: str, heads: Heads
) -> Iterator[Finding]:
    start, end = item_end(flat.text, match.start()), match.end()
    if end - start > _LONGEST_SENTENCE:
        return
    read = tagged(flat.narrowed[start:end])
    if row.unless.search(read.code):
        return
    sentence = _Sentence(flat, start, end, read)
    if flat.text[start - 1 : start] == "。" and not row.carries.match(read.code):
        carried = ""
    for found in row.object.finditer(read.code):
        before = read.code[: found.start()]
        if row.elsewhere.search(before):
            continue
        slot = _last(row.subject, before)
        subjects, confidence = _subjects(row, sentence, before, slot), row.confidence
        if subjects is None and carried:
            subjects = [carried]
        elif subjects is None:
            subjects = [heads.nearest()] if row.is_headed else []
            confidence = row.headed_confidence
        asks = _conditions(row, sentence, slot, found.start())
        for subject in filter(None, subjects):
            told = "，".join(ask for ask in asks if ask not in subject)[:LONGEST]
            for qualifiers in _amounts(row, read, found, told):
                yield Finding(
                    subject,
                    _predicate(row, read, found),
                    sentence.said(*found.span()).removeprefix("给予"),
                    *flat.span(*match.span()),
                    qualifiers,
                    confidence=confidence,
                )


def _subjects(
    row: Row, sentence: _Sentence, before: str, slot: tuple[int, int] | None
) -> list[str] | None:
    """Return of whom or what the words before an amount are; None where they do not tell."""
    if listed := row.items.search(before):
        who = sentence.said(*listed.span("slot"))
        items = _items_below(sentence.flat.text, sentence.end)
        return [item if who in item else f"{who}{item}"[:LONGEST] for item in items]
    return [sentence.said(*slot)] if slot else None


def _conditions(
    row: Row, sentence: _Sentence, slot: tuple[int, int] | None, until: int
) -> list[str]:
    """Return what else is asked between a subject, if there is one, and its amount."""
    since = slot[1] if slot else 0
    spans = (m.span("slot") for m in row.condition.finditer(sentence.read.code[since:until]))
    asks = (sentence.said(since + start, since + end).lstrip("并或且") for start, end in spans)
    return list(filter(None, dict.fromkeys(asks)))


def _last(patterns: Sequence[re.Pattern[str]], code: str) -> tuple[int, int] | None:
    """Return the slot of the last match of the first pattern that has one."""
    for pattern in patterns:
        if found := list(pattern.finditer(code)):
            return found[-1].span("slot")
    return None


def _predicate(row: Row, read: Tagged, found: re.Match[str]) -> str:
    """Return the predicate of the word nearest behind the amount, else before it."""
    if "" in row.predicates:
        return row.predicates[""]
    told = [
        (at, row.predicates[tag])
        for at, span in read.spans.items()
        for tag in row.predicates
        if tag in span.tags
    ]
    amount = next(at for at in read.spans if at >= found.start() and read.spans[at].value)
    behind = [name for at, name in told if amount < at < found.end()]
    before = [name for at, name in told if at < amount]
    return (behind + before[::-1] + [name for _, name in told] + [*row.predicates.values()][-1:])[0]


def _amounts(row: Row, read: Tagged, found: re.Match[str], condition: str) -> Iterator[Qualifiers]:
    """Yield the values of the amounts in an object: the first, or each; a range is one."""
    amounts = [
        span.value
        for at, span in read.spans.items()
        if found.start() <= at < found.end() and isinstance(span.value, Quantity)
    ]
    if not amounts:
        yield Qualifiers("condition", condition=condition)
    sign = _comparator(read.code[found.start() : found.end()])
    at = 0
    while at < len(amounts):
        first = last = amounts[at]
        if at + 1 < len(amounts) and amounts[at + 1].unit == first.unit:
            is_range = _RANGE.fullmatch(read.text, first.end, amounts[at + 1].start)
            last = amounts[at + 1] if is_range else first
        at += 1 + (last is not first)
        yield Qualifiers(
            "condition",
            value=_number(first),
            value_to=_number(last) if last is not first else "",
            unit=_unit(read.text, last),
            comparator="range" if last is not first else sign,
            condition=condition,
        )
        if not row.is_each:
            return


def _comparator(code: str) -> Comparator:
    if grammar().compile("{cap}").search(code):
        return "<="
    return ">=" if grammar().compile("{floor}").search(code) else "="


def _unit(text: str, amount: Quantity) -> str:
    if amount.unit != "元":
        return amount.unit
    per = _PER_BEHIND.match(text, amount.end)
    per = per or _PER_BEFORE.search(text, max(0, amount.start - 24), amount.start)
    return f"元/{per[1]}" if per else "元"


def _number(amount: Quantity) -> str:
    return f"{max(amount.values).normalize():f}"


BEGINS, UNTIL, LASTS = "施行日期", "有效期至", "有效期"
VALIDITY_CONFIDENCE = 0.98  # precision that was measured
_REACH = 100  # characters before the words in which their subject stands
_FAR = 120  # characters behind them in which the end is told
_DATE = (
    rf"(?:[\d{HAN_DIGITS}〇]{{4}}年\d{{1,2}}月\d{{1,2}}日"
    rf"|[{HAN_DIGITS}〇]{{4}}年[{HAN_SMALL}]{{1,3}}月[{HAN_SMALL}]{{1,3}}日)"
)
_BEGINS = re.compile(
    rf"自(?P<when>{_DATE}|(?:印发|发布|公布|颁布|签发|下发|发文|签署|通过)(?:之)?[日]?(?:后)?"
    rf"(?:满?[\d{HAN_SMALL}]{{1,3}}[个]?[日天月]后?)?)"
    rf"(?:起)?(?:，)?(?:满?[\d{HAN_SMALL}]{{1,3}}[个]?[日天月](?:后|之后))?(?:起)?(?:正式|开始|试)?"
    rf"(?P<verb>施行|实施|执行|生效|试行|行)(?:[，,至到]{{0,2}}(?P<until>{_DATE})(?:止)?)?"
)
_UNTIL = re.compile(
    rf"(?:有效期(?:限)?|施行|实施|执行|试行)?(?:截?止?至|到|截止(?:到|至)?)(?P<until>{_DATE})"
)
_LASTS = re.compile(
    r"(?:有效期(?:限)?|试行期(?:限)?|实施期(?:限)?|暂定|试行|施行期(?:限)?)(?:为|暂定)?[：:]?(?:暂定)?"
    r"(?P<span>[\d一二两三四五六七八九十]{1,2}(?:年|个月))"
)
_PERIOD = re.compile(
    r"(?:政策|本[^，。]{2,8}?)(?:的)?(?:实施|执行|施行|有效)期限?(?:为|是|：|:)(?P<span>[^，。；]{4,30}?)(?=[，。；\n]|$)"
)
_OWN = re.compile(
    rf"(?:本|该|以上|此)[^，。；《》]{{0,8}}?(?:{DOCUMENT_KINDS})(?:（[^）]{{0,80}}）)?$"
    r"|^本[^，。；]{2,12}$"
)
_SPAN = re.compile(r"[\d一二两三四五六七八九十]{1,2}(?:年|个月)")
_TITLE = re.compile(r"《(?P<title>[^《》]{2,80})》$")
_ISSUED = re.compile(r"(?:公布|发布|印发|通过|审议|修订|修正|颁布|令|号)[^，。；]{0,10}$|^[（(]?$")


def validity(flat: Unwrapped) -> Iterator[Finding]:
    """Yield (document, 施行日期 / 有效期至 / 有效期, date or span), in text order.

    The subject is `SELF` where the words are of 本办法 or stand beside the issue, a title where
    they are of another document. A validity of certificates, marks and levels is left out.

    Args:
        flat: The document, its lines put together.
    """
    for start, end, *told in _stated(flat.text):
        yield _validity_finding(flat.span(start, end), *told)


def _stated(text: str) -> Iterator[tuple[int, int, str, str, str]]:
    """Yield (start, end, subject, predicate, object)."""
    for match in _BEGINS.finditer(text):
        subject, start = _subject_of_date(text, match.start())
        if not subject:
            continue
        yield start, match.end("verb"), subject, BEGINS, match["when"]
        stop = _end_of_sentence(text, match.end())
        if match["until"]:
            yield start, match.end(), subject, UNTIL, match["until"]
        elif until := _UNTIL.search(text, match.end(), stop):
            yield start, until.end(), subject, UNTIL, until["until"]
        if lasts := _LASTS.search(text, match.end(), stop):
            yield start, lasts.end(), subject, LASTS, lasts["span"]
    yield from _alone(text)


def _alone(text: str) -> Iterator[tuple[int, int, str, str, str]]:
    """Yield what sentences without a beginning say: 本办法有效期五年."""
    for match in _PERIOD.finditer(text):
        yield match.start(), match.end(), SELF, LASTS, match["span"]
    for pattern, predicate, group in ((_LASTS, LASTS, "span"), (_UNTIL, UNTIL, "until")):
        for match in pattern.finditer(text):
            before = re.split("[。；\n，,]", text[max(0, match.start() - 16) : match.start()])[-1]
            if _OWN.search(before) and before[:1] in ("本", "该"):
                yield match.start() - len(before), match.end(), SELF, predicate, match[group]


def _subject_of_date(text: str, end: int) -> tuple[str, int]:
    """Return (subject, where its clause begins) of words that begin at `end`; empty for none."""
    reach = max(0, end - _REACH)
    start = max(reach, *(text.rfind(mark, reach, end) + 1 for mark in "。；\n"))
    before = text[start:end].rstrip("，,")
    last = re.split("[，,]", before)[-1]
    if title := _TITLE.search(before):
        return title["title"], start
    if (
        _OWN.search(last)
        or _ISSUED.search(last)
        or re.search(r"(?:^|条)本[^，。]{1,12}[，,]", before)
    ):
        return SELF, start
    return "", start


def _end_of_sentence(text: str, start: int) -> int:
    ends = [i for i in (text.find(m, start, start + _FAR) for m in "。；\n") if i >= 0]
    return min(ends, default=min(len(text), start + _FAR))


def _validity_finding(span: tuple[int, int], subject: str, predicate: str, told: str) -> Finding:
    date = next(iter(dates(told)), None)
    lasts = next(iter(quantities(told)), None) if _SPAN.fullmatch(told) else None
    qualifiers = Qualifiers(
        "condition",
        year=str(date.year) if date and date.year else "",
        value=str(max(lasts.values)) if lasts else "",
        unit=lasts.unit if lasts else "",
    )
    return Finding(subject, predicate, told, *span, qualifiers, confidence=VALIDITY_CONFIDENCE)
