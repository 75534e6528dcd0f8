"""Read by rule from and until when a document holds."""

import re
from collections.abc import Iterator

from kgrag.ingestion.statements.finding import SELF, Finding
from kgrag.ingestion.statements.unwrapped import Unwrapped
from kgrag.qualifiers import Qualifiers
from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL
from kgrag.text.quantities import dates, quantities
from kgrag.text.vocabulary import DOCUMENT_KINDS

BEGINS, UNTIL, LASTS = "施行日期", "有效期至", "有效期"
CONFIDENCE = 0.98  # precision that was measured
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
        yield _finding(flat.span(start, end), *told)


def _stated(text: str) -> Iterator[tuple[int, int, str, str, str]]:
    """Yield (start, end, subject, predicate, object)."""
    for match in _BEGINS.finditer(text):
        subject, start = _subject(text, match.start())
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


def _subject(text: str, end: int) -> tuple[str, int]:
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


def _finding(span: tuple[int, int], subject: str, predicate: str, told: str) -> Finding:
    date = next(iter(dates(told)), None)
    lasts = next(iter(quantities(told)), None) if _SPAN.fullmatch(told) else None
    qualifiers = Qualifiers(
        "condition",
        year=str(date.year) if date and date.year else "",
        value=str(max(lasts.values)) if lasts else "",
        unit=lasts.unit if lasts else "",
    )
    return Finding(subject, predicate, told, *span, qualifiers, confidence=CONFIDENCE)
