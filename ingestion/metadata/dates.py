"""Extraction of dates: signed, issued, in force from and until; inferred years."""

import re
from calendar import monthrange
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from kgrag.ingestion.metadata.lines import HEAD, DocumentLines
from kgrag.ingestion.metadata.numbers import numbers_in, own_number
from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL, han_digits, whole_number
from kgrag.text.title_keys import title_key, title_keys
from kgrag.text.vocabulary import DOCUMENT_KINDS, ISSUER_ENDS

_SMALL = rf"(?:[一二三]?十[{HAN_DIGITS[1:]}]?|[{HAN_DIGITS[1:]}]|\d{{1,2}})"
_YEAR = rf"(?:(?:19|20)\d\d|[一二][〇○零九OＯ\d][{HAN_DIGITS}〇○OＯ\d]{{2}})"
DAY = rf"(?P<y>{_YEAR})[年.\-/](?P<m>{_SMALL})[月.\-/](?P<d>{_SMALL})日?+"
_DAY = re.compile(DAY)
MONTH = rf"(?P<y>{_YEAR})年(?P<m>{_SMALL})月"
_MONTH = re.compile(MONTH)
_AFTER = r"(?:\d{1,2}[:：时]\d{1,2}(?:[:：分]\d{1,2}秒?)?|分)?"
# 发布日期：2022-03-05, labels of the box above a page's text.
_LABELS = (
    ("written", re.compile(rf"(?:成文|签发|成稿)(?:日期|时间)[】\]]?[:：]?{DAY}")),
    ("sent", re.compile(rf"(?:发文|生成)(?:日期|时间)[】\]]?[:：]?{DAY}")),
    ("issued", re.compile(rf"(?:印发|发布|公布|颁布|公开|发稿)(?:日期|时间)[】\]]?[:：]?{DAY}")),
    ("effective", re.compile(rf"(?:施行|实施|生效)(?:日期|时间)[】\]]?[:：]?{DAY}")),
    ("expires", re.compile(rf"(?:失效|废止|终止|截止执行)(?:日期|时间)[】\]]?[:：]?{DAY}")),
    ("month", re.compile(rf"(?:成文|印发|发布|公布|颁布)(?:日期|时间)[】\]]?[:：]?{MONTH}(?!\d)")),
    ("page", re.compile(rf"^(?:[^，。]{{0,12}}[^印]时间|更新日期|日期|时间)[】\]]?[:：]?{DAY}")),
)
_ADOPTED = re.compile(
    rf"^(?:【题注】|[—―-]+)?(?P<bracket>[（(][^）)]{{0,8}}?)?{DAY}"
    r"(?P<how>.{0,120}?(?:大会|会议|通过|发布|公布|批准|修订|修正))"
)
_FURTHER = re.compile(rf"{DAY}(?=(?:(?!{_YEAR}年).){{0,120}}?(?:通过|批准|修订|修正))")
_IN_FORCE = re.compile(rf"^[（(]?(?:自)?{DAY}起?施行[）)]?$")
_ALONE = re.compile(
    rf"[（(]?{DAY}[）)。]?(?:[（(]?(?:此件|本文|联系人|公开方式|主动公开|抄送|附件).{{0,60}}|{_AFTER}(?:来源.{{0,40}})?)$"
)
_AGENCY = re.compile(
    rf"新华社[^，。]{{1,8}}?(?:(?P<y>{_YEAR})年)?(?P<m>{_SMALL})月(?P<d>{_SMALL})日电"
)
# 云岭省人民政府2022年3月5日, run into what follows or not.
_SIGNED = re.compile(
    rf"(?:{ISSUER_ENDS}|代章[）)]){DAY}"
    rf"(?=$|[（(]|抄送|附件|[一-鿿《“])(?!印发|[发公颁]布|[第起前至以召在审会])"
)
# A date of signature, run into the title of what is issued.
_RUN_INTO_TITLE = re.compile(
    rf"{DAY}(?!\d|[，、。；：:]|印发|[发公颁]布|[第起前至以召审来])[^，。；：]{{4,80}}?"
    rf"(?:{DOCUMENT_KINDS}|附件)"
)
# Beside the number or before the organ, as collections of laws and pages of one line have it.
_NUMBER = r"[〔\[](?:19|20)\d\d[〕\]]\d{1,5}号"
_PRINTED = re.compile(rf"{DAY}印发(?:[）)。]?$|(?=[一-鿿]{{2,12}}{_NUMBER}$))")
_AHEAD_OF_NUMBER = re.compile(
    rf"{DAY}[，,]?(?:[一-鿿]{{2,12}}{_NUMBER}|(?<=[，,])[一-鿿]{{2,30}}(?:{ISSUER_ENDS}))$"
)
_BEHIND_NUMBER = re.compile(
    rf"[^，。《》]{{2,100}}{_NUMBER}{DAY}(?![第起前至以召在审会]|印发|[发公颁]布)"
)
_MONTH_ALONE = re.compile(
    rf"(?:[（(]?|[（(]?[^，。；：《》（(]{{2,60}}?(?:{ISSUER_ENDS}))"
    rf"{MONTH}[）)]?"
)
_SUBJECT = r"(?:本[^，。；：]{1,16}?|现予(?:公布|发布|印发)，?|通知|上述[^，。；]{1,8})，?"
_BEGINS = re.compile(r"[（(]?自|[（(]?(?:19|20)\d\d年")
_NAMED = re.compile(
    rf"(?:第[{HAN_SMALL}]+条)?(?:[{HAN_SMALL}\d]{{1,3}}[、.．])?《(?P<title>[^《》]+)》自"
)
_FROM_DAY = re.compile(
    rf"自?{DAY}(?:零时)?(?:起|之日起|开始)[^，。；]{{0,6}}?(?:施行|实施|执行|生效|试行)(?!的)"
)
_FROM_BARE_DAY = re.compile(rf"自{DAY}(?:正式)?(?:施行|实施|执行|生效|试行)(?!的)")
_FROM_ISSUE = re.compile(
    rf"自?(?:发布|印发|公布|颁布|下发|发文|通过)之?日(?:起|后)?(?P<days>\d{{1,3}}|[{HAN_DIGITS[1:]}]?十)?(?:个?日|天)?(?:后|起)*"
    r"[^，。；]{0,4}?(?:施行|实施|执行|生效|试行)"
)
_FROM_NOW = re.compile(r"自(?:即日|今)起?[^，。；]{0,4}?(?:施行|实施|执行|生效)")
_UNTIL = re.compile(
    rf"(?:有效期(?:限)?(?:为|至|到|截至)*|执行(?:至|到)|施行(?:至|到)|实施(?:至|到)|有效(?:至|到)|(?:试行|执行|实施)期(?:限)?(?:为|至|到)*"
    rf"|截至|起至){DAY}"
)
_UNTIL_MONTH = re.compile(
    rf"(?:有效期?|试行|执行|施行|实施)(?:期限?)?(?:延长)?(?:至|到)(?P<when>{_YEAR}年(?:{_SMALL}月)?)(?!{_SMALL}[月日])"
)
_FIRST_DAY = re.sub(r"<(.)>", r"<\1_1>", DAY)
_SPAN = re.compile(rf"{_FIRST_DAY}起?(?:至|—|-|到){DAY}")
_YEARS = re.compile(
    r"(?:(?:有效|试行|实施|执行)期限?(?:暂定)?(?:为|是|：)?|暂定(?:为|试行|施行|执行)?|试行)"
    rf"(?P<n>\d{{1,2}}|[{HAN_SMALL}两]{{1,2}})(?P<unit>年|个月)"
)
# What speaks of the document itself: 本办法自…起施行, 本措施有效期至….
_ITSELF = re.compile(
    rf"本[^，。；：]{{0,8}}?(?:{DOCUMENT_KINDS}|文件)"
    r"(?=自|从|于|有效|试行|暂定|(?:执行|施行|实施)(?:期|至|到))"
    r"|^(?:[（(]?自|(?:19|20)\d\d年)[^，]{1,16}(?:施行|实施|执行|生效|试行)(?=，)"
)
_FOR_HOW_LONG = re.compile(r"有效|试行|暂定|[执施]行|实施|期限|[截至到]")
_PERIOD = re.compile(r"期限|有效期|执行期|试行期|实施期")
_NEAR, _PUT_UP_AGAIN = 60, 366  # days
_BOX = 300  # characters of a line that may be of a page's box
_CLOCK = re.compile(r"\d{1,2}[:：]\d\d")
_LATE = "04"  # a month; numbers of a year are published up to it in the next

# Of English documents.
_ENGLISH_MONTHS = re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec")
_ENGLISH_MONTH = rf"(?P<m>{'|'.join(_ENGLISH_MONTHS)})[a-z]{{0,6}}\.?"
_ENGLISH_DAY = (
    rf"(?:(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:day\s+of\s+)?{_ENGLISH_MONTH},?\s+(?P<y>\d{{4}})"
    rf"|{_ENGLISH_MONTH.replace('<m>', '<m2>')}\s+(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?,?"
    r"\s+(?P<y2>\d{4})"
    r"|(?P<y3>\d{4})-(?P<m3>\d{2})-(?P<d3>\d{2}))\b"
)
# Another document's dates have its name before the verb, its own have This, It or a label.
_OF_ITSELF = r"\b(?:this|it|these)\b[^.;\n]{0,80}?\b"
_FORCE = r"(?:into\s+(?:force|effect|operation)|effect(?:ive)?|commences?|commence)\b"
_ENGLISH = {
    "written": rf"(?:^|\n)[ \t*_]*(?:done|made|signed|dated|given|adopted|assented)\b"
    rf"[^.;:\d]{{0,60}}?{_ENGLISH_DAY}",
    "issued": rf"(?:^|\n)[ \t*_]*(?:date\s+of\s+(?:issue|publication)|issued|published|promulgated)"
    rf"(?:\s+on)?\s*:?[ \t*_]*{_ENGLISH_DAY}",
    "effective": rf"(?:{_OF_ITSELF}{_FORCE}[^.;]{{0,60}}?|(?:^|\n)[ \t*_]*(?:(?:date\s+of\s+)?"
    rf"(?:commencement|entry\s+into\s+force)|(?:effective|commencement)\s+date|effective(?:\s+from)?)"
    rf"[ \t*_]*:[ \t*_]*){_ENGLISH_DAY}",
    "expires": rf"(?:{_OF_ITSELF}(?:expires?|cease|lapses?|in\s+force\s+until)\b[^.;]{{0,60}}?"
    rf"|(?:^|\n)[ \t*_]*(?:date\s+of\s+expiry|expiry\s+date|expires)[ \t*_]*:[ \t*_]*)"
    rf"{_ENGLISH_DAY}",
}
_ENGLISH_DATES = {field: re.compile(pattern, re.IGNORECASE) for field, pattern in _ENGLISH.items()}
_ENGLISH_GROUPS = (("y", "y2", "y3"), ("d", "d2", "d3"))


@dataclass(frozen=True, slots=True)
class Dates:
    """Dates of a document, ISO 8601; empty if unknown.

    `of_page`: `issued` is only the page's own time stamp.
    """

    written: str = ""
    issued: str = ""
    effective: str = ""
    expires: str = ""
    of_page: bool = False


def read_dates(document: DocumentLines, *, known: str = "", title: str = "") -> Dates:
    r"""Return the dates that a document says of itself.

    Args:
        document: Its lines.
        known: When it was issued, where a person or its file says so: counts where the text is
            silent for what begins with the day of issue.
        title: Of the document: 《节能目录》自2021年7月1日起施行 is of it where it is called so.

    >>> from kgrag.ingestion.metadata.lines import read_lines
    >>> found = read_dates(read_lines("节能办法\n云岭省人民政府\n二〇二一年三月五日\n"
    ...                               "本办法自发布之日起施行，有效期五年。"))
    >>> found.written, found.effective, found.expires
    ('2021-03-05', '2021-03-05', '2026-03-04')
    """
    told = _labelled(document.head)
    written, issued, of_page = _begin(document, told)
    begin = issued or written or known
    effective = told.get("effective") or _effective(document.lines, begin, title_keys(title))
    expires = told.get("expires") or _expires(document.lines, effective or begin)
    return Dates(written, issued, effective, expires, of_page)


def issue_year(document: DocumentLines) -> str:
    r"""Return the year in which a document was signed or sent out; empty where it does not say.

    That of its own number counts where it has no date.

    >>> from kgrag.ingestion.metadata.lines import read_lines
    >>> issue_year(read_lines("节能规划（2023—2025年）\n云政发〔2022〕3号\n根据《节能办法》"))
    '2022'
    """
    written, issued, _ = _begin(document, _labelled(document.head))
    if date := written or issued:
        return date[:4]
    return next((str(year) for _, year in numbers_in(own_number(document))), "")


def _begin(document: DocumentLines, told: Mapping[str, str]) -> tuple[str, str, bool]:
    """Return the dates of signature and issue, and whether the latter is only the page's."""
    signed = _adopted(document.head) or _signed(document.lines)
    written = told.get("written") or _of_two(signed, told.get("sent", ""))
    issued = _printed(document.lines) or told.get("issued", "")
    shown = told.get("put up") or _published(document.head)
    if not issued and not _is_older(document, shown):
        issued = shown
    if _days_between(written, issued) > _PUT_UP_AGAIN:
        issued = ""  # of a page that holds the document since then
    page = told.get("page", "")
    of_page = False
    if not written and not issued:
        of_page = bool(page) and not _is_older(document, page)
        issued = page if of_page else told.get("month", "")
    written = written or ("" if issued else _month(document.head))
    return written, issued, of_page


def _is_older(document: DocumentLines, issued: str) -> bool:
    """Return whether a document's number is of an earlier year than its page."""
    year = next((year for _, year in numbers_in(own_number(document))), 0)
    return bool(year and issued) and (int(issued[:4]), issued[5:7]) >= (year + 1, _LATE)


def _of_two(signed: str, labelled: str) -> str:
    """Return the date of signature, or the page's if they are far apart."""
    far = abs(_days_between(signed, labelled)) > _NEAR if signed and labelled else not signed
    return labelled if far else signed


def _days_between(first: str, last: str) -> int:
    """Return the days between two dates; 0 if one has no day."""
    if len(first) != 10 or len(last) != 10:
        return 0
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def iso_date(text: str) -> str:
    """Return the first date of a text as far as it is told; empty where there is none.

    >>> iso_date("2022.3.5"), iso_date("二〇二二年三月"), iso_date("2022年"), iso_date("2022-13-1")
    ('2022-03-05', '2022-03', '2022', '2022')
    """
    for pattern in (_DAY, _MONTH):
        if found := _iso(pattern.search(text)):
            return found
    year = re.search(r"(?<!\d)(?:19|20)\d\d(?!\d)", text)
    return year[0] if year else ""


def _iso(match: re.Match[str] | None) -> str:
    """Return the day or month of a match; empty for none, and where no calendar has it."""
    if match is None:
        return ""
    groups = match.groupdict()
    year = int(han_digits(groups["y"].replace("O", "0")))
    month, day = whole_number(groups["m"]) or 0, whole_number(groups.get("d") or "") or 0
    if not 1 <= month <= 12 or not 1949 <= year <= 2100:
        return ""
    if groups.get("d") is None:
        return f"{year}-{month:02}"
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _labelled(head: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in head:
        for name, pattern in _LABELS if len(line) < _BOX else ():
            match = pattern.search(line)
            if match and name == "issued" and _CLOCK.match(line, match.end()):
                name = "put up"
            if name not in found and (value := _iso(match)):
                found[name] = value
    return found


def _signed(lines: Sequence[str]) -> str:
    """Return the date below or beside a signature, or below the title."""
    for i, line in enumerate(lines):
        match = _signature(lines, i)
        if match is None or _of_a_page(line[:_BOX]):
            continue
        sure = i < HEAD or match.re is _SIGNED or _follows_signature(lines, i)
        if sure and (value := _iso(match)):
            return value
    return ""


def _signature(lines: Sequence[str], i: int) -> re.Match[str] | None:
    """Return the date of a line in one of the forms of a signature; more of them in the head."""
    line = lines[i]
    forms = [_SIGNED.search, *([_ALONE.match] if len(line) < 60 else [])]
    if 0 < i < HEAD and len(lines[i - 1]) < 40:
        forms.append(_RUN_INTO_TITLE.match)
    if i < HEAD:
        forms += [_AHEAD_OF_NUMBER.match, _BEHIND_NUMBER.match]
    return next((match for form in forms if (match := form(line))), None)


def _of_a_page(line: str) -> bool:
    """Return whether a line has a page's time stamp, not a date of signature."""
    return bool(re.search(r"\d[:：]\d|来源|时间", line))


def _follows_signature(lines: Sequence[str], i: int) -> bool:
    before = lines[i - 1]
    return len(before) < 80 and not re.search(r"[。；：]$", before)


def _adopted(head: Sequence[str]) -> str:
    """Return the last day of adoption, publication or amendment in the head."""
    found: list[str] = []
    for i, line in enumerate(head[:24]):
        joined = _closed(head, i) if line[:1] in "（(" else line
        match = _ADOPTED.match(joined)
        short = len(line) < 160 and "。" not in line
        if match and (match["bracket"] or short):
            days = (match, *(_FURTHER.finditer(joined) if match["bracket"] else ()))
            found += filter(None, map(_iso, days))
    return max(found, default="")


def _closed(head: Sequence[str], first: int) -> str:
    """Join the lines of an open bracket, at most four."""
    joined = ""
    for line in head[first : first + 4]:
        joined += line
        if line.endswith(("）", ")")):
            break
    return joined


def _printed(lines: Sequence[str]) -> str:
    for line in (*lines[:HEAD], *lines[HEAD:][-200:]):
        match = _PRINTED.search(line) or _AGENCY.search(line)
        if match and match["y"] and (value := _iso(match)):
            return value
    return ""


def _published(head: Sequence[str]) -> str:
    for line in head[:12]:
        if len(line) < 80 and _of_a_page(line) and (value := _iso(_ALONE.match(line))):
            return value
    return ""


def _month(head: Sequence[str]) -> str:
    return next(filter(None, map(_iso, map(_MONTH_ALONE.fullmatch, head))), "")


def _clauses(lines: Sequence[str]) -> Iterator[str]:
    """Yield the clauses on validity, the last first."""
    for line in reversed((*lines[:HEAD], *lines[HEAD:][-400:])):
        if "效" in line or "行" in line or "实施" in line:
            for clause in reversed(re.split(r"[。；]", line)):
                if re.search(r"施行|实施|执行|生效|有效|试行", clause):
                    yield clause


def _effective(lines: Sequence[str], begin: str, own: Collection[str]) -> str:
    for line in lines[:24]:
        if value := _iso(_IN_FORCE.match(line)):
            return value
    for clause in _clauses(lines):
        if not _is_of_itself(clause, own):
            continue
        if value := _iso(_FROM_DAY.search(clause) or _FROM_BARE_DAY.search(clause)):
            return value
        span = _SPAN.search(clause)
        if span and _PERIOD.search(clause) and (value := iso_date(span[0])):
            return value
        if now := _FROM_ISSUE.search(clause):
            return _later(begin, whole_number(now["days"] or "") or 0)
        if _FROM_NOW.search(clause):
            return begin
    return ""


def _is_of_itself(clause: str, own: Collection[str]) -> bool:
    """Return whether a clause may say from when the document itself holds; `own` are its titles."""
    if re.search(_SUBJECT, clause) or _BEGINS.match(clause):
        return True
    named = _NAMED.match(clause)
    return named is not None and title_key(named["title"]) in own


def _later(begin: str, days: int) -> str:
    if not days or len(begin) != 10:
        return begin if not days else ""
    return (date.fromisoformat(begin) + timedelta(days=days)).isoformat()


def _expires(lines: Sequence[str], begin: str) -> str:
    for clause in _clauses(lines):
        own = _ITSELF.search(clause)
        if not own:
            continue
        first, *others = re.split("[，,]", clause[own.start() :])
        told = "，".join([first, *filter(_FOR_HOW_LONG.match, others)])
        for match in (_SPAN.search(told), _UNTIL.search(told)):
            if value := _iso(match):
                return value
        until = _UNTIL_MONTH.search(told)
        if until and (value := iso_date(until["when"])):
            return value
        years = _YEARS.search(told)
        if years and begin:
            n = whole_number(years["n"]) or 0
            return _months_after(begin, n if years["unit"] == "个月" else n * 12)
    return ""


def _months_after(begin: str, months: int) -> str:
    """Return the last day of a period of months from a date that may lack its day."""
    if not months:
        return ""
    month = int(begin[5:7] or 1) + months - 1
    year, month = int(begin[:4]) + month // 12, month % 12 + 1
    if len(begin) < 7:
        return str(year)
    if len(begin) < 10:
        return f"{year}-{month:02}"
    start = date.fromisoformat(begin)
    same = date(year, month, min(start.day, monthrange(year, month)[1]))
    return (same - timedelta(days=same.day == start.day)).isoformat()


def english_dates(text: str) -> dict[str, str]:
    r"""Return the dates, ISO 8601, that an English document says of itself, by field.

    >>> english_dates("Done at Brussels, 3 March 2022.\nIt takes effect on 1 July 2023.")
    {'written': '2022-03-03', 'effective': '2023-07-01'}
    >>> english_dates("Directive 2010/31/EU entered into force on 9 July 2010.")
    {}
    """
    found = {}
    for field, pattern in _ENGLISH_DATES.items():
        match = pattern.search(text)
        if match and (day := _english_iso(match)):
            found[field] = day
    return found


def _english_iso(match: re.Match[str]) -> str:
    year, day = (next(filter(None, map(match.__getitem__, names))) for names in _ENGLISH_GROUPS)
    name = match["m"] or match["m2"]
    month = _ENGLISH_MONTHS.index(name.lower()) + 1 if name else int(match["m3"])
    try:
        return date(int(year), month, int(day)).isoformat()
    except ValueError:
        return ""
