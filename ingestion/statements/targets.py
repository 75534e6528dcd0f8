"""Targets by rule: which indicator is to have, or has, which value, until when."""

import bisect
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kgrag.ingestion.statements.finding import Finding
from kgrag.ingestion.statements.prose import Passage, passages
from kgrag.ingestion.statements.target_grammar import (
    AFTER_LOW,
    MONEY_FOR,
    Time,
    bound_of,
    bound_of_cell,
    comparator_of,
    comparator_of_cell,
    last_before,
    says,
    standing_of,
    stated,
    times,
    words,
    written_in,
)
from kgrag.ingestion.statements.target_sentences import Statement, statements
from kgrag.ingestion.statements.target_tables import Cell, table_cells
from kgrag.ingestion.structure import structure
from kgrag.qualifiers import Qualifiers, Standing
from kgrag.text.leading_region import leading_area, leading_region
from kgrag.text.numbering import without_numbering
from kgrag.text.places import names_place
from kgrag.text.quantities import COUNTS
from kgrag.text.regions import regions_named
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.types import Heading

_PLACE = re.compile(
    r"(?![占全本我各沿环跨外]|设区|地级|县级|改造|新建|建设|完善|扩建)[一-鿿]{2,4}?"
    r"(?:自治[区州县]|[省市州](?![考控级属管界际内外域]))(?<!级市)"
)
_TIME = (
    r"(?:[到至在]?\d{4}年[底末]?前?"
    rf"|[“\"]?{FIVE_YEAR_PLAN}[”\"]?(?:时期|期间|期?末)?)"
)
_WHOLE = r"全国|我国|[我本全](?:自治区|[省市县区州盟旗])"
# The time may stand between: 全国2025年…比重.
_RIGHT_BEFORE = re.compile(rf"({_WHOLE})的?{_TIME}?的?$")
# The country's figures as a local document recalls them: 我国…, 国家…提出, 总书记宣布, 随后又宣布.
_OF_NATION = re.compile(
    rf"(?:^|[,，;；:：])(?:其中,?)?(?:{_TIME},?)?(?:[我全]国(?![平前第首各])|中国(?!式)"
    r"|国家(?:层面)?[^级。]{0,90}?(?:提出|宣布|明确提出|承诺)"
    r"|(?:习近平)?总书记[^。]{0,120}?(?:宣布|提出|承诺)|(?:随后|又|还|并|进一步){1,4}宣布)"
)
_OWN = re.compile(r"[我本全](?:自治区|[省市县区州盟旗])|自治区")
# Where a clause, or a heading behind its number, begins to say of which place it is.
_BEGINS = re.compile(
    rf"(?:^|[,，;；:：])(?:其中,?)?(?:{_TIME},?)?"
    r"(?:在|(?:大力|积极|全力|加快)?(?:推动|支持|推进|指导|鼓励|建设|打造|提升))?"
)
_ITEM_HEAD = re.compile(r"[^,，。;；:：]{4,40}(?=。)")  # 打造大兴国际机场临空经济区绿色样板。
_TITLE = re.compile(
    r"(?:^(?:关于)?(?:印发)?《?|印发《?|《)(?=[^。，,\n]{0,100}(?:[》\n]|$))", re.MULTILINE
)
_HEAD = 100  # characters that hold a title
_REACH = 400  # characters of a sentence before an indicator
_OTHERS = re.compile("[、和与及等]")
_SEVERAL = "、"  # in place of the name of a place
# 临港新片区管委会, 临港新片区以外: no place.
_GOES_ON = re.compile(
    r"[至以—-]|[级域内外属际]|[^,，;；:：]{0,8}?(?:局|委|政府|公司|集团|办公室|中心|[大中小]学|协会)"
)

_ALONE = re.compile(rf"$|[,，;；:：的]|{_TIME}|力争|争取|确保|实现|要|将|率先")

PLANNED = "目标为"
ACHIEVED = "已达到"
CONFIDENCE = 0.85

_RULES_HEAD = 150  # characters in which a document names its kind
_RULES = re.compile(
    r"(?:申报|征集|推荐|遴选|揭榜|入库)[^\s。，]{0,24}(?:通知|公告)"
    r"|(?:办法|导则|细则|条例|规程|规范|标准|申报指南|申请指南)(?:》|\s|\(|（|$|的通知)"
)
_ALLOTTED = frozenset("项个家人名份")  # 每校不超过6项 limits what may be handed in
_NEAR = 12  # rows of a table that a paragraph may have been read over
_FEW = 3  # results without an aim, after which a section is taken to tell results
_OF_APPLICATION = re.compile(
    r"申报|申请(?:人|单位|条件)|应具备|须具备|应当具备|具备(?:下列|以下)|符合(?:下列|以下|条件)|有下列|之一的|不予|视为|责令|情形|逾期|有效期|营业额"
)
_ACHIEVED_SECTION = re.compile(
    r"现状|成效|成就|回顾|发展基础|工作基础|现实基础|基础条件|基础与|进展|完成情况|发展情况|取得|形势|[临与和及题]挑战|(?:主要|突出|存在|问题|差距).{0,3}短板|存在.{0,4}问题|“?十三五”?(?:时期|期间)|显著|明显(?:改善|提升|提高|增强)"
    r"|基本情况|工作总结|主要问题|执行情况|基础和|发展成果"
)
_LEAD = 12  # characters within which a paragraph says when its aims are due
_THRESHOLD = re.compile(r"\s*[)）]\s*(?:及|或|含)?以[上下]")
_DONE = re.compile(
    r"已(?!经?有序)|现有|以来|荣获|获评|名列|连续.{1,3}年|超额完成|提前完成|完成了|实现了|达到了|建成了|同比|占全球|占世界|位居|排名第|居全"
)
# What was reached recalls an aim: 提前完成到2020年比重达到15%左右的目标, 超过规划8%的目标.
_MET = re.compile(r"(?:提前|超额)(?:完成|实现)|超过了?(?!\d)")
_ITS_AIM = re.compile(r"的?[^,，。;；\d]{0,6}目标")
_NOW = re.compile(
    r"累计(?:出动|查处|立案|办[理结]|检查|排查|发放|成交|处罚|惠及|回收)|目前|当前|(?:^|,|[全我本][省市县区州])现有|现已|现共|截至|已经?(?:建成|完成|形成|实现|开展|实施|培育|创建|获批|获评|认定|累计|有(?!序))"
)
_ASKED = re.compile(
    r"(?:申报|申请|推荐|评选|准入)(?:条件|要求|对象|主体|范围|单位|资格)|基本条件|资格条件|限项"
)
_WILL = re.compile(r"力争|争取|确保|目标|力求|将达|预计|要(?:达到|提高|求)|计划")
_AIMS = re.compile(
    r"发展目标|主要目标|总体目标|工作目标|主要任务|重点任务|总体要求|总体思路|指导思想"
)
_ONLY = re.compile(r"仅[占有为达]?$|(?:只有|不足|尚不足)$")
_SCOPE = re.compile(
    r"规模以上工业|规上工业|规模以上企业|新建建筑|公共机构|公共建筑|居住建筑|城镇新建建筑|重点用能单位|中央企业"
)


@dataclass(slots=True)
class _Carry:
    """What holds for the sentences and paragraphs that follow."""

    written: int  # the year from which the document looks back and ahead; 0 for unknown
    is_rules: bool  # whether it rules who may apply, or how things are done
    titled: str  # the area that the title names
    section: tuple[str, ...] = ()
    aims_in: str = ""  # the outermost section that has come to its aims
    lead: Time | None = None  # of a line that ends in a colon, or of a heading
    n_done: int = 0  # statements of this section that say that they are results
    n_planned: int = 0  # and that they are aims


def targets(text: str, *, headings: Sequence[Heading] = ()) -> list[Finding]:
    """Return every statement that an indicator has, or is to have, a value.

    Args:
        text: The document.
        headings: Its headings; read from the text where none are given.

    >>> [(f.subject, f.predicate, f.object) for f in targets("到2025年，森林覆盖率达到39%。")]
    [('森林覆盖率', '目标为', '2025年达到39%')]
    """
    is_rules = _RULES.search(text[:_RULES_HEAD]) is not None
    carry = _Carry(written_in(text), is_rules, _titled_area(text))
    found: list[Finding] = []
    main: Passage | None = None  # that holds the brackets
    for passage in passages(text, headings or structure(text)):
        if not passage.is_aside:
            _step(carry, passage)
        if passage.is_aside and _THRESHOLD.match(text, passage.end):
            continue  # （综合能耗1万吨标准煤）及以上的企业
        spoken_of = _spoken_of(found, passage) if passage.is_aside else ""
        around = _around(main, passage) if passage.is_aside and main else None
        for statement in statements(passage, spoken_of, around):
            finding = _finding(text, passage, statement, carry)
            if finding is not None:
                found.append(finding)
                _count(carry, statement, finding)
        if not passage.is_aside:
            main = passage
            _keep(carry, passage)
    of_tables = [_of_cell(cell, carry) for cell in table_cells(text)]
    found = [*_beside(found, of_tables), *of_tables]
    return sorted(found, key=lambda finding: (finding.start, finding.end))


def _beside(found: Sequence[Finding], of_tables: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the findings of the prose that are none of a table's row read once more."""
    rows = sorted(of_tables, key=lambda row: row.start)
    starts = [row.start for row in rows]
    for finding in found:
        i = bisect.bisect_left(starts, finding.end)
        if not any(
            row.end > finding.start and row.qualifiers.value == finding.qualifiers.value
            for row in rows[max(0, i - _NEAR) : i]
        ):
            yield finding


def _spoken_of(found: Sequence[Finding], aside: Passage) -> str:
    """Return the indicator whose value stands right before a passage in brackets."""
    for finding in reversed(found[-12:]):
        if finding.start < aside.at[0] <= finding.end + 2:
            return finding.subject
    return ""


def _around(main: Passage, aside: Passage) -> Time | None:
    """Return when the sentence around a passage in brackets says that it holds."""
    at = bisect.bisect_left(main.at, aside.at[0])
    since = main.text.rfind("。", 0, at) + 1
    return last_before(times(main.text[:at]), at, since)


def _of_cell(cell: Cell, carry: _Carry) -> Finding:
    """Return what a cell of an indicator table states."""
    standing = cell.standing or standing_of(Time(0, 0, cell.year), carry.written)
    region, subject = _told_place(cell.indicator)
    return Finding(
        subject,
        ACHIEVED if standing == "achieved" else PLANNED,
        f"{cell.year}年{cell.text}",
        cell.start,
        cell.end,
        replace(
            stated(
                replace(cell.value, number_to=None),
                Time(0, 0, cell.year),
                comparator=comparator_of_cell(cell.text, cell.indicator),
                bound=bound_of_cell(cell.text),
            ),
            region=region or carry.titled,
            scope=_first(_SCOPE, cell.indicator),
            standing=standing,
            binding=cell.binding,
        ),
        confidence=CONFIDENCE,
    )


def _step(carry: _Carry, passage: Passage) -> None:
    """Forget what belonged to another section."""
    if passage.section != carry.section:
        within = passage.section[: len(carry.section)] == carry.section
        if not within:
            carry.lead = None
        carry.section = passage.section
        carry.n_done = carry.n_planned = 0
        if any(_AIMS.search(title) for title in passage.section):
            carry.aims_in = passage.section[0]
        heading = passage.section[-1] if passage.section else ""
        said = [t for t in times(heading) if not t.is_base]
        if said and re.search(r"目标|任务", heading):
            carry.lead = said[-1]


def _count(carry: _Carry, statement: Statement, finding: Finding) -> None:
    """Count what a section tells as done and as planned, where its words say so."""
    standing = _told_standing(statement, None, None, carry.written)
    carry.n_done += standing == "achieved" == finding.qualifiers.standing
    carry.n_planned += standing == "planned"


def _keep(carry: _Carry, passage: Passage) -> None:
    """Keep the time of a paragraph that leads in a list."""
    is_aim = bool(passage.section) and "目标" in passage.section[-1]
    if not is_aim and not passage.text.endswith(":"):
        return
    said = [t for t in times(passage.text) if not t.is_base]
    if said and (not is_aim or said[0].start < _LEAD):
        carry.lead = said[0] if is_aim else said[-1]


def _finding(text: str, passage: Passage, statement: Statement, carry: _Carry) -> Finding | None:
    value, (start, end) = statement.value, statement.clause
    time = statement.time or statement.carried or carry.lead
    if (statement.time is None and carry.is_rules) or _is_passed_over(passage, statement, time):
        return None
    looks_back = _looks_back(passage, carry)
    standing = _standing(passage, statement, time, looks_back, carry.written)
    if standing == "planned" and (statement.is_bare or statement.verb in words("counts")):
        return None
    region, subject = _told_place(_as_written(text, passage, statement))
    region = region or _place_around(passage, statement, carry.titled)
    if region == _SEVERAL and value.unit == "%":  # 南京、苏州等三市…达到50%: not the province's
        return None
    typed = _typed(statement, time, standing, carry.written)
    return Finding(
        subject,
        ACHIEVED if standing == "achieved" else PLANNED,
        _when(typed, statement.phrase) + statement.phrase,
        *passage.span(start, end),
        replace(
            typed,
            base_year=statement.base,
            region=region.strip(_SEVERAL),  # 南京、苏州等地新建7个: so many in the province
            scope=_first(_SCOPE, passage.text[start:end]),
            standing=standing,
        ),
        confidence=CONFIDENCE,
    )


def _typed(statement: Statement, time: Time | None, standing: Standing, written: int) -> Qualifiers:
    """Return the value of a statement, with the time where that can be."""
    value, chain = statement.value, statement.chain
    typed = stated(
        value,
        None if statement.time is None and _is_at_odds(time, standing, written) else time,
        statement.base_value,
        comparator=comparator_of(value, chain, statement.verb, statement.indicator),
        bound=bound_of(value, chain),
    )
    is_begun = time is not None and time.is_since and standing == "achieved"
    return replace(typed, year="") if is_begun else typed


def _when(typed: Qualifiers, phrase: str) -> str:
    """Return when a value holds, where its phrase does not tell."""
    if not typed.year or typed.year in phrase:
        return ""
    is_plan = typed.period and "-" not in typed.period
    return f"“{typed.period}”期间" if is_plan else f"{typed.year}年"


def _is_passed_over(passage: Passage, statement: Statement, time: Time | None) -> bool:
    """Return whether a number is granted, asked for or allotted, or says which are meant."""
    value, clause = statement.value, passage.text[slice(*statement.clause)]
    if value.unit in ("元", "%", "美元") and MONEY_FOR.search(clause + statement.indicator):
        return True
    if _OF_APPLICATION.search(clause) or any(map(_ASKED.search, passage.section[-1:])):
        return True
    if time is None and value.unit in _ALLOTTED and _is_allotted(statement):
        return True
    return passage.is_aside and statement.time is None and _is_size(passage, statement)


def _is_allotted(statement: Statement) -> bool:
    """Return whether words limit what may be handed in, or say which staff is to be had."""
    of_staff = statement.indicator.endswith("人员") and says("at_least").search(statement.chain)
    return bool(of_staff or says("at_most").search(statement.chain))


def _as_written(text: str, passage: Passage, statement: Statement) -> str:
    """Return the indicator as the document writes it, what it says in brackets included."""
    at = passage.text.find(statement.indicator, *statement.clause)
    if at < 0:
        return statement.indicator
    first, last = passage.span(at, at + len(statement.indicator))
    return "".join(text[first:last].split())


def _looks_back(passage: Passage, carry: _Carry) -> bool | None:
    """Return whether a passage's sections tell what was done; None where they tell neither."""
    of_means = False
    for i, title in reversed(list(enumerate(passage.section))):
        if _ACHIEVED_SECTION.search(title) and "目标" not in title:
            # behind the aims of a section its title says nothing of what follows
            return True if i or title != carry.aims_in else None
        if re.search(r"目标|任务|措施", title):
            return False
        of_means = of_means or "保障" in title  # 安全得到保障 may stand among results
    if of_means:
        return False
    return True if carry.n_done >= _FEW and not carry.n_planned else None


def _standing(
    passage: Passage,
    statement: Statement,
    time: Time | None,
    looks_back: bool | None,
    written: int,
) -> Standing:
    """Return whether a statement is of an aim or a result."""
    value, start = statement.value, statement.clause[0]
    if _MET.search(passage.text, start, value.start) and _ITS_AIM.match(passage.text, value.end):
        return "planned"
    told = _told_standing(statement, time, looks_back, written)
    return told or ("achieved" if looks_back else "planned")


def _told_standing(
    statement: Statement, time: Time | None, looks_back: bool | None, written: int
) -> Standing:
    """Return what the words and times of a statement tell; empty where they do not."""
    if statement.time is not None:
        if looks_back and not statement.time.is_base and int(statement.time.year) <= written:
            return "achieved"
        if _DONE.search(statement.lead) and not statement.time.is_due:
            return "achieved"
        return standing_of(statement.time, written)
    if _WILL.search(statement.lead):
        return "planned"
    if _DONE.search(statement.lead) or _is_now(statement) or _ONLY.search(statement.lead):
        return "achieved"
    if time is not None:
        return "achieved" if looks_back else standing_of(time, written)
    return ""


def _is_now(statement: Statement) -> bool:
    """Return whether the sentence tells before that it says what is: 目前,…; no aim behind that."""
    said = statement.before + statement.lead
    told = [match.end() for match in _NOW.finditer(said)]
    return bool(told) and not _WILL.search(said, told[-1])


def _is_at_odds(time: Time | None, standing: Standing, written: int) -> bool:
    """Return whether a time that a sentence before says cannot be when this holds."""
    if time is None or standing_of(time, written) == standing:
        return False
    return standing == "planned" or int(time.year) > written


def _is_size(passage: Passage, statement: Statement) -> bool:
    """Return whether brackets only say which are meant: （单体建筑面积2万平方米以上）."""
    value = statement.value
    is_limit = value.after in AFTER_LOW or says("above").search(statement.chain)
    is_all = statement.clause[1] - statement.clause[0] == len(passage.text)
    return bool(is_limit and is_all and value.unit not in ("%", "个百分点", *COUNTS))


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[0] if match else ""


def _told_place(indicator: str) -> tuple[str, str]:
    """Return (place, indicator) of an indicator that begins with the name of a place.

    >>> _told_place("云岭省森林覆盖率"), _told_place("临港新片区光伏装机容量")
    (('云岭省', '森林覆盖率'), ('临港新片区', '光伏装机容量'))
    """
    match = _PLACE.match(indicator)
    place, end = (match[0], match.end()) if match and names_place(match[0]) else ("", 0)
    if not end:
        place, end = leading_area(indicator)
    rest = indicator[end:].removeprefix("的")
    if end and len(rest) > 2 and not (_OTHERS.match(rest) or _GOES_ON.match(rest)):
        return place, rest
    return "", indicator


def _titled_area(text: str) -> str:
    """Return the area that no list holds and a document's title begins with; empty for none.

    >>> _titled_area("关于印发《上海市临港新片区节能方案》的通知")
    '临港新片区'
    """
    heads = (leading_area(text[match.end() :])[0] for match in _TITLE.finditer(text, 0, _HEAD))
    return next(filter(None, heads), "")


def _place_around(passage: Passage, statement: Statement, titled: str = "") -> str:
    """Return the place that a statement's sentence or what stands above it tells; empty for none.

    `_SEVERAL` for several. The word for a whole right before the indicator; the country where the
    sentence recalls what it aims at; the last place that the sentence or a clause of it before
    begins with; that of the innermost heading, or sentence that heads the paragraph, that begins
    with one; that of the title.
    """
    start, end = statement.clause
    at = max(passage.text.find(statement.indicator, start, end), start)
    if match := _RIGHT_BEFORE.search(passage.text[start:at]):
        return match[1]
    if _place_at(statement.indicator) is not None:
        return ""  # several places, or one that is told by the indicator's name
    said = passage.text[passage.text.rfind("。", 0, start) + 1 : at]
    recalled = list(_OF_NATION.finditer(said, max(0, len(said) - _REACH)))
    if recalled and not _OWN.search(said, recalled[-1].end()):
        return "全国"
    told: str | None = None
    for begins in _BEGINS.finditer(said, max(0, len(said) - _REACH)):
        place = _place_at(said[begins.end() :], alone=begins.start() > 0)
        told = told if place is None else place
    if told is not None:
        return told
    head = _ITEM_HEAD.match(passage.text)
    return _of_headings((*passage.section, *([head[0]] if head else []))) or titled


@functools.lru_cache(maxsize=256)  # of one section come many statements
def _of_headings(titles: tuple[str, ...]) -> str:
    """Return the place of the innermost heading that begins with one; empty for none."""
    for title in reversed(titles):
        text = without_numbering(title)
        begins = _BEGINS.match(text)
        if begins and (place := _place_at(text[begins.end() :])):
            return place
    return ""


def _place_at(text: str, *, alone: bool = False) -> str | None:
    """Return the city, district or area that a text begins with.

    Args:
        text: From where the place begins.
        alone: Whether that of a clause counts only where nothing is said of it in between.

    Returns:
        Its name; empty for a word for the whole, `_SEVERAL` for several; None where none is told.

    >>> _place_at("临港新片区到2025年"), _place_at("成都市武侯区要"), _place_at("成都、绵阳等市")
    ('临港新片区', '武侯区', '、')
    >>> _place_at("全市森林覆盖率"), _place_at("森林覆盖率")
    ('', None)
    """
    if re.match(_WHOLE, text):
        return ""
    place, end = leading_area(text)
    if not end:
        names, end = leading_region(text)
        if names and regions_named(names[-1]) and _OTHERS.match(text, end):
            return _SEVERAL
        is_part = len(names) > 1 and all(map(regions_named, names)) and names_place(text[:end])
        if not is_part or not text[:end].endswith(tuple("市区县州盟旗")):
            return None
        place = names[-1]
    if _OTHERS.match(text, end):
        return _SEVERAL
    if _GOES_ON.match(text, end) or (alone and not _ALONE.match(text, end)):
        return None
    return place
