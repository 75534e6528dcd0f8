"""Extraction of all metadata: issuers, number, dates, kind, level, region, status."""

import re
from collections.abc import Mapping
from dataclasses import replace

from kgrag.ingestion.load.statement import with_stated
from kgrag.ingestion.load.title import split_title
from kgrag.ingestion.metadata.dates import DAY, Dates, english_dates, iso_date, read_dates
from kgrag.ingestion.metadata.issuers import Issuers, read_issuers
from kgrag.ingestion.metadata.issuing_organs import split_organs
from kgrag.ingestion.metadata.lines import HEAD, DocumentLines, narrowed, read_lines
from kgrag.ingestion.metadata.numbers import numbers_in, own_number
from kgrag.ingestion.metadata.regions import Governed, read_region
from kgrag.metadata import Metadata
from kgrag.text.leading_region import leading_region
from kgrag.text.organs import full_organ_name, is_bare_organ
from kgrag.text.regions import region_at
from kgrag.text.titles import document_kinds, titles_within

_DAY_AHEAD = re.compile(rf"^[（(]?{DAY}[）)]?[-_、，:：]?(?=[一-鿿《“])")
_BEHIND = re.compile(r"[（(](?P<told>[^（）()]{6,80})[）)]$")

_DASH = r"[—－−‐‑–~～至到-]"
_TITLE_YEAR = re.compile(rf"(?<!\d)((?:19|20)\d\d)(?:年度?(?!前|底|远景)|年?(?={_DASH}))")
# From when on a text can speak of these.
_SINCE = {
    "党的十八大": 2012, "十三五": 2016, "党的十九大": 2017, "十九届四中全会": 2019,
    "十九届五中全会": 2020, "十四五": 2021, "十九届六中全会": 2021, "党的二十大": 2022,
    "二十届三中全会": 2024, "二十届四中全会": 2025,
}  # fmt: skip
# Plans are made in the first year of five: 到2025年 was said from 2021 on.
_TARGET = re.compile(r"到(20\d[05])年")
_EDITION = re.compile(r"[（(]((?:19|20)\d\d)(?:年版|年修订|年本|版|年第)")
# What is told with a month or as of a year's end has happened, unless it is a time limit.
_PAST = re.compile(
    r"截[至止]((?:19|20)\d\d)年|(?<![到至自前于])((?:19|20)\d\d)年(?:\d{1,2}月(?!底|末|中|上|下|前|起)(?:\d{1,2}日)?(?!前|起|底|之前|以前|后)"
    r"|[^，。；]{0,16}?已)"
)

_STATUS = ("征求意见稿", "送审稿", "试行", "暂行", "草案")
_IN_BRACKETS = re.compile(r"[（(][^（）()]*(征求意见稿|送审稿|草案|试行|暂行)[^（）()]*[）)]")
_ENDED = re.compile(
    r"(?:时效性|有效性|效力状态|文件状态)[】\]]?[:：]?(?:已)?(失效|废止)|^[（(【\[](?:已)?(失效|废止)[）)】\]]"
)
_NO_LONGER = re.compile(r"(?:已|全文)*(失效|废止)")
# Ends of titles that `document_kinds` does not list.
_KIND = re.compile(
    r"(决议|指导原则|通报|公报|公示|请示|答复|会议纪要|纪要|倡议书|大纲|工程|政策|安排|通则|技术要求|实施意见|体系|名录|预案|指引|手册|解读|规程|标准|细则|条例|法)$"
)
# What a text says that it is: 现将有关事项通告如下, 特此批复.
_SAID_KIND = re.compile(
    r"(?:特此|(?:^|[，。])现(?:将[^，。；：]{0,30})?)(通告|公告|通知|通报|批复)(?:如下)?[：:。！]?(?=$|[一-鿿（(])"
)
_TRAILER = re.compile(r"(?:[（(][^（）()]*[）)]|[》」”\"、—\-\s]){1,20}$")
_CLAUSES = re.compile(r"[，,；;]")
_TITLE_LINES, _SHORT = 12, 60  # lines around a title, characters of a line that is no sentence
_MARKS = re.compile(r"[、，,；;|]\s*")
# Keys of a page's box or of a record, by what they say; `stated.` before them wins over the text.
_KEYS: Mapping[str, tuple[str, ...]] = {
    "issuer": ("issuer", "issuers", "发布机构", "发文机关", "发布单位", "发文单位"),
    "number": ("number", "文号", "发文字号"),
    "issued": ("date", "issued", "发布日期", "印发日期", "pubdate", "year"),
    "written": ("written", "成文日期"),
    "effective": ("effective", "施行日期", "实施日期"),
    "expires": ("expires", "失效日期", "废止日期"),
    "kind": ("kind", "doc_type", "文件类型", "文种"),
    "region": ("region", "regions", "地区"),
    "status": ("status", "时效性"),
    "source": ("source", "来源"),
    "title": ("title",),
    "site": ("site",),
}


def read_metadata(text: str, *, title: str, properties: Mapping[str, str]) -> Metadata:
    r"""Return what a document says of itself; what it does not say stays empty.

    Args:
        text: The document.
        title: Its title, or that of the notice that covers it.
        properties: What its file says: of a page's box where the text is silent, under `stated.`
            (stated.title, stated.issuer, stated.date, …) before anything else.

    >>> text = ("云岭省人民政府关于印发《云岭省节能办法（试行）》的通知\n云政发〔2022〕3号\n"
    ...         "各市人民政府：\n现印发给你们。\n云岭省人民政府\n2022年3月5日\n"
    ...         "云岭省节能办法（试行）\n第一条本办法自2022年5月1日起施行，有效期五年。")
    >>> found = read_metadata(text, title="云岭省节能办法（试行）", properties={})
    >>> found.issuers, found.number, found.written, found.effective, found.expires
    (('云岭省人民政府',), '云政发〔2022〕3号', '2022-03-05', '2022-05-01', '2027-04-30')
    >>> found.kind, found.level, found.regions, found.recipients, found.status
    ('办法', '省', ('云岭省',), ('各市人民政府',), ('试行',))
    """
    document = read_lines(text)
    stated, page = _given(properties, "stated."), _given(properties, "")
    given, day, behind = title_particulars(narrowed(stated.get("title", title)))
    body, notice = split_title(text, given)
    number = stated.get("number") or own_number(document) or behind or page.get("number", "")
    issuers = _issuers(document, narrowed(notice) or body, stated, page)
    governed = _governed(document, body, issuers, number, stated, page)
    known = iso_date(stated.get("issued") or page.get("issued", "")) or day
    dates = read_dates(document, known=known, title=body)
    told = _days(text, dates, known, stated, page)
    suggested = ""
    if not told["written"] and not told["issued"]:
        suggested = suggested_year(body, number, document, effective=told["effective"])
    names = (full_organ_name(name, regions=governed.regions) for name in issuers.names)
    found = Metadata(
        issuers=tuple(dict.fromkeys(names)),
        number=number,
        written=told["written"] or suggested,
        issued=told["issued"],
        effective=told["effective"],
        expires=told["expires"],
        kind=stated.get("kind") or document_kind(body) or page.get("kind") or _said_kind(document),
        level=governed.level,
        regions=governed.regions,
        recipients=tuple(filter(None, _CLAUSES.split(document.recipients))),
        status=_status(document, body, notice, stated=stated, page=page),
        notice=notice,
        inferred=_inferred(issuers, governed, suggested, page_day=dates.of_page and not known),
    )
    # Organs that are stated have their full names already.
    return replace(with_stated(found, properties), issuers=found.issuers)


def _days(
    text: str, dates: Dates, known: str, stated: Mapping[str, str], page: Mapping[str, str]
) -> dict[str, str]:
    """Return dates by field: as stated, as extracted, as in the file's properties."""
    told = {
        "written": dates.written,
        "issued": dates.issued,
        "effective": dates.effective,
        "expires": dates.expires,
    }
    if not dates.written and (dates.of_page or not dates.issued):
        told["issued"] = known or dates.issued
    told |= {k: v for k in told if (v := iso_date(stated.get(k, "")))}
    told |= {
        k: v for k in told if not told[k] and k != "issued" and (v := iso_date(page.get(k, "")))
    }
    told |= _others(english_dates(text), told)
    # A page's box is kept up where a document's life is made longer or shorter.
    life = {k: iso_date(page.get(k, "")) for k in ("effective", "expires") if k not in stated}
    return told | {k: day for k, day in life.items() if day}


def _others(found: Mapping[str, str], told: Mapping[str, str]) -> dict[str, str]:
    """Return what was found of what is not told."""
    return {key: value for key, value in found.items() if not told[key]}


def document_kind(title: str) -> str:
    """Return what a title ends in (文种), what may follow it left out; empty where it is no kind.

    What a notice issues counts, not the notice.

    >>> document_kind("关于印发云岭省节能实施方案（2022—2025年）的通知"), document_kind("节能概况")
    ('实施方案', '')
    """
    bare = _TRAILER.sub("", title)
    for name in reversed(titles_within(bare)):
        other = _KIND.search(name)
        if kinds := document_kinds(name):
            return kinds[0]
        if other:
            return other[1]
    return ""


def _said_kind(document: DocumentLines) -> str:
    """Return the kind that a text without such a title calls itself; empty for none."""
    for line in (*document.head, *document.lines[HEAD:][-_TITLE_LINES:]):
        if match := _SAID_KIND.search(line):
            return match[1]
    return ""


def _given(properties: Mapping[str, str], prefix: str) -> dict[str, str]:
    """Return the properties by field."""
    found = {}
    for field, keys in _KEYS.items():
        value = next((v for key in keys if (v := properties.get(prefix + key, "").strip())), "")
        if value:
            found[field] = value
    return found


def _issuers(
    document: DocumentLines, title: str, stated: Mapping[str, str], page: Mapping[str, str]
) -> Issuers:
    if "issuer" in stated:
        return Issuers(_names(stated["issuer"]))
    found = read_issuers(document, title)
    if page.get("issuer") and (not found.names or found.inferred):
        return Issuers(_names(page["issuer"]))
    told = page.get("source", "").split() if not found.names else []
    source = [organ for piece in told for organ in split_organs(narrowed(piece))]
    return Issuers(tuple(source), inferred=True) if source else found


def _names(text: str) -> tuple[str, ...]:
    pieces = [narrowed(piece) for piece in _MARKS.split(text) if piece.strip()]
    return tuple(organ for piece in pieces for organ in (split_organs(piece) or [piece]))


def _governed(
    document: DocumentLines,
    title: str,
    issuers: Issuers,
    number: str,
    stated: Mapping[str, str],
    page: Mapping[str, str],
) -> Governed:
    if "region" in stated:
        return _place(stated["region"])
    found = read_region(document, title, issuers.names, number)
    if "region" in page and (found.inferred or not found.level):
        return _place(page["region"])
    # Whose page it is tells more than the places that the text speaks of.
    site, _ = leading_region(narrowed(page.get("site", "")))
    within = found.level not in ("国家", "部门") and site[: len(found.regions)] == found.regions
    unsure = not found.regions or any(map(is_bare_organ, issuers.names[:1]))
    region = region_at(site) if unsure and (found.inferred or not found.level) else None
    return Governed(site, region.level, inferred=True) if region and within else found


def _place(name: str) -> Governed:
    """Parse a place given by a person: 四川省成都市, 四川/成都, 全国."""
    regions, _ = leading_region(_MARKS.sub("", narrowed(name)).replace("/", ""))
    region = region_at(regions)
    return Governed(regions, region.level) if region else Governed((), "国家")


def _status(
    document: DocumentLines,
    title: str,
    notice: str,
    *,
    stated: Mapping[str, str],
    page: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the limiting words of a document: in its title, the lines around it, the page."""
    if "status" in stated:
        return tuple(piece for piece in _MARKS.split(stated["status"]) if piece)
    found = [word for word in _STATUS if word in title or (word != "草案" and word in notice)]
    for line in document.lines[:_TITLE_LINES]:
        if len(line) < _SHORT:
            found += [match[1] for match in _IN_BRACKETS.finditer(line)]
            found += [match[1] or match[2] for match in _ENDED.finditer(line)]
    if match := _NO_LONGER.fullmatch(page.get("status", "")):
        found.append(match[1])
    return tuple(dict.fromkeys(found))


def _inferred(
    issuers: Issuers, governed: Governed, suggested: str, *, page_day: bool
) -> tuple[str, ...]:
    region = "regions" if governed.regions else "level" if governed.level else ""
    fields = (
        "issuers" if issuers.inferred and issuers.names else "",
        region if governed.inferred else "",
        suggested and "written",
        "issued" if page_day else "",
    )
    return tuple(filter(None, fields))


def suggested_year(title: str, number: str, document: DocumentLines, *, effective: str) -> str:
    r"""Return the year in which a document that has no date was probably issued.

    That of its number or of the day from which it is in force; else the latest of the first year
    in its title (2022年工作要点, 2021—2025年), those in the numbers of documents that it cites, of
    plans and congresses that it speaks of, and of what has happened. Empty where there is none.

    Args:
        title: Of the document.
        number: Its own.
        document: Its lines.
        effective: From when it is in force; may be empty.

    >>> from kgrag.ingestion.metadata.lines import read_lines
    >>> lines = read_lines("根据《办法》（云政发〔2020〕1号）")
    >>> suggested_year("2022年节能工作要点", "", lines, effective="")
    '2022'
    """
    own = [year for _, year in numbers_in(number)]
    if own or effective:
        return str(own[0]) if own else effective[:4]
    named = [int(year) for year in _TITLE_YEAR.findall(title)]
    text = "\n".join(document.lines)
    whole = f"{title}\n{text}"
    since = [year for words, year in _SINCE.items() if words in whole]
    targets = [int(year) - 4 for year in _TARGET.findall(text)]
    since += sorted(targets)[:1]
    cited = [*(year for _, year in numbers_in(text)), *map(int, _EDITION.findall(text))]
    past = [int(a or b) for a, b in _PAST.findall(text)]
    # A year that nothing else comes near is a target.
    latest = max([*cited, *named[:1], *since], default=0)
    done = [year for year in past if not latest or year <= latest + 1]
    return str(max([*named[:1], *since, *cited, *done], default=""))


def title_particulars(title: str) -> tuple[str, str, str]:
    """Return a title without what stands ahead of it or behind it, and the day and number there.

    Args:
        title: Narrowed.

    >>> title_particulars("2021-03-05云岭省能源局关于节能的通知")
    ('云岭省能源局关于节能的通知', '2021-03-05', '')
    >>> title_particulars("节能办法（云政发〔2021〕3号）")
    ('节能办法', '', '云政发〔2021〕3号')
    >>> title_particulars("节能办法（2021年3月5日云岭省人民政府令第3号公布）")
    ('节能办法', '2021-03-05', '')
    """
    ahead = _DAY_AHEAD.match(title)
    bare = title[ahead.end() :] if ahead else title
    day = iso_date(ahead[0]) if ahead else ""
    behind = _BEHIND.search(bare)
    if not behind:
        return bare, day, ""
    told = behind["told"]
    number = next((number for number, _ in numbers_in(told)), "")
    later = re.search(DAY, told)
    if not number and not later:
        return bare, day, ""
    return bare[: behind.start()], day or (iso_date(later[0]) if later else ""), number
