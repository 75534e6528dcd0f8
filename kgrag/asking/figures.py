"""Questions for a figure of several places or documents, answered from all that was read of it."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from kgrag.asking.compared_figures import asks_to_compare
from kgrag.asking.named_figures import named_figures
from kgrag.asking.rows import Complete, Stated, place_of
from kgrag.asking.search_context import SearchContext
from kgrag.language.facets import NATIONAL, called
from kgrag.language.indicators import is_indicator
from kgrag.language.regions import level_of, listed_regions
from kgrag.language.text import normalize_name
from kgrag.qualifiers import Qualifiers, Standing
from kgrag.retrieval.plan import plan
from kgrag.retrieval.search import Search
from kgrag.store.graph import Statement
from kgrag.tables.choose import stated_place
from kgrag.types import Document, Language, Query

_ANYWHERE, _ALL = "地", "文件"
_EACH = r"(?:各个?|哪[些几]个?|所有|全部)"
_WHICH = r"(?i:\b(?:which|what|how many|all|each|every) "
_LEVELS = (  # what a question wants of all places of a level, and their levels
    (re.compile(rf"{_EACH}省(?:[（(]?[区市]|份|级)?|{_WHICH}provinces?\b)"), "省"),
    (re.compile(rf"{_EACH}(?:地级?)?城?市|{_WHICH}(?:cities|city)\b)"), "市"),
    (re.compile(rf"各地区?|哪里|{_EACH}地[方区]|{_WHICH}(?:places?|regions?)\b)"), _ANYWHERE),
    (
        re.compile(
            rf"(?:各|哪[些几]|所有|全部)[个份的]*(?:文件|政策|规划|方案)|{_WHICH}documents?\b)"
        ),
        _ALL,
    ),
)
_YEARS = re.compile(r"(?<!\d)(20[1-6]\d)(?=\s*年|\D|$)")
PERIODS: Mapping[str, tuple[int, str]] = {
    "十三五": (2020, "2016-2020"),
    "十四五": (2025, "2021-2025"),
}
_PLANNED = re.compile(r"目标|力争|要(?:达|降|提高|控制|实现)|规划(?:到|要)|target")
_ACHIEVED = re.compile(r"已经?|实际|现状|目前|完成(?:了|情况|值)|实现了|达到了|现有")
_AIMS = re.compile("[达至到≥≤<>升]|[以之]上|[以之]下|不[低高超少大小]|控制|左右")
# What a question says besides an indicator, places and years.
_FILLERS = re.compile(
    r"请问|请|帮我|我想知道|列出|列举|列一下|查一下|看看|比较一下|比较|对比一下|对比|比一比|相比|汇总|统计|整理"
    r"|分别|各自|各是|各为|各|都|均|所有|全部|一共|目前|现在|当前|已经|实际|现状"
    r"|目标值?|指标|数值|数据(?!中心)|值|要求|任务|约束性|预期性|规定|情况|水平|规划|计划"
    r"|[多高低]?(?:几|多少)个?百分点|是多少|为多少|多少|多大|多高|是几|怎么样|怎样|如何|是什么|什么|有哪些|哪些|哪几个|哪个|哪里|谁"
    r"|提出了?|提到了?|提及|涉及|设定了?|规定了?|写明|载明|制定了?|明确了?|确定了?|定了|定为|定|写了|给出了?|有没有|有|要"
    r"|提高到?|提升到?|下降(?:率|幅度|到)?|降低|降到|增长|达到了?|达|实现了?|实现|完成了?|控制在|力争|做到|到"
    r"|省份|省区|省市|省级?|城市|地级市|市级?|地方|地区|文件|政策|方案|里面|里|中(?!心)"
    r"|最高|最低|更高|更低|更大|更小|更多|更少|最多|最少|从高到低|从低到高|高低|排序|排名|排列|排|高|低|不同|差异|差别|差距|相差|差多少|[高低多少]出|一样"
    r"|(?<!占)比(?![重例率值])"
    r"|十[三四五]五|期间|时期|年度|年底?|末|前|以前|底|至|在|对|和|与|及|跟|的|是|为|于|了|吗|呢|把|将|按|个|份"
    r"|\b(?:what|which|are|is|do|does|have|has|set|state|by|for|in|of|the|a|an|their|its)\b"
    r"|\b(?:how much|how high|how many|targets?|goals?|figures?|share|value)\b"
    r"|(?<!\d)\.|\.(?!\d)|[\s,，、。？?！!：:；;“”\"'‘’（）()《》]+",
    re.IGNORECASE,
)
_CHANGE_ASKED = re.compile(
    r"百分点|(?:提高|提升|下降|降低|增长|增加|减少)(?![到至为])|新增|[增降][幅速]|幅度|变化|改善"
    r"|\b(?:rise|grow|increase|reduc|decrease|drop|cut|fall|add)",
    re.IGNORECASE,
)
_DESCENDS = re.compile(r"从高到低|最高|最大|更高|谁高|排[序名]|最多")
_ASCENDS = re.compile(r"从低到高|最低|最严|更低|谁低|最少|最小")
_NOTES: Mapping[Language, Mapping[str, str]] = {
    "zh": {
        "all": "共{total}份文件，其中读出{what}的有{n}份",
        "some": "，{where}的有{n}份",
        "unread": "未读出{where}{what}",
        "more": "列出前{shown}条，共{n}条",
        "undated": "{names}读出的数字未写明年份",
        "undated more": "另有{n}份文件读出的数字未写明年份，未列入",
        "parts": "{names}：未读出全域的数字，所列为其中一部分的",
        "changes": "{names}：所列为增减的幅度，未读出数值本身",
    },
    "en": {
        "all": "{n} of {total} documents were found to state {what}",
        "some": ", {n} of them for {where}",
        "unread": "no {what} was found for {where}",
        "more": "the first {shown} of {n} rows",
        "undated": "{names}: the figures that were read name no year",
        "undated more": "figures of {n} more documents name no year and are left out",
        "parts": "{names}: no figure of the whole was found, the rows are of a part of it",
        "changes": "{names}: the rows tell a change, the value itself was not found",
    },
}
_OF_ALL = {"省": "各省", "市": "各市", "地": "各地", "文件": ""}
_FIGURE = re.compile(
    r"目标|指标|数值|数据|多[少高大]|比[例重率]"
    r"|\b(?:targets?|goals?|figures?|how (?:much|high|many))\b",
    re.IGNORECASE,
)
# Places of a level below which a table is one only where the question clearly asks for a figure.
_FEWEST, _MOST = 2, 60  # places, rows
_MOST_PIECES = 4  # that an indicator's name has, where words of asking are in it
_MOST_SIDES = 6  # of a plan; more places are named in a list
_LONGEST_NAME = 20  # characters of an indicator's name, without words of asking in it
_LEAST_NAME = 3  # characters of what may be a part of an indicator's name


@dataclass(frozen=True, slots=True)
class Asked:
    """Which figures a question asks for.

    Attributes:
        indicator: As it is called in the question.
        subjects: Names of the indicators that are called so.
        places: Short names in the order asked; of a level, those that it is asked of, if any.
        level: 省, 市 for all places of it; 地 for all places, 文件 for all documents; empty for
            the places named alone.
        national: Whether the nation is asked for besides a level.
        years: In which figures hold or are due; empty for any.
        standing: Planned or achieved; empty for both.
    """

    indicator: str
    subjects: frozenset[str]
    places: tuple[str, ...]
    level: str
    national: bool
    years: frozenset[int]
    standing: Standing


def asked_figures(query: Query, names: Mapping[str, Collection[str]]) -> Asked | None:
    """Return which figures of several places or documents a question asks for, where it is sure.

    It is where nothing is left of the question besides an indicator, places, years and words of
    asking.

    Args:
        query: As read.
        names: Of the indicators that documents state, by each way to write them, as
            `normalize_name` gives it.
    """
    scope = _scope(query)
    if scope is None:
        return None
    text, places, level = scope
    indicator, subjects = _indicator(text, names)
    if not indicator:
        return None
    planned, achieved = _PLANNED.search(query.text), _ACHIEVED.search(query.text)
    standing: Standing = ""
    if bool(planned) != bool(achieved):
        standing = "planned" if planned else "achieved"
    years = {int(year) for year in _YEARS.findall(query.text)}
    years |= {year for period, (year, _) in PERIODS.items() if period in query.text and not years}
    return Asked(indicator, subjects, places, level, query.national, frozenset(years), standing)


def _scope(query: Query) -> tuple[str, tuple[str, ...], str] | None:
    """Return what a question says besides places and years, the places, their level; or None.

    It is None for a question that names no place or level, and one that says too much for an
    indicator and words of asking.
    """
    if query.titles:
        return None
    places = tuple(side.label for side in plan(query))
    text = query.text
    level, pattern = next(((of, p) for p, of in _LEVELS if p.search(text)), ("", None))
    if pattern:
        text = pattern.sub(" ", text)
    if not places and (level or len(query.places) == 1 or len(query.places) > _MOST_SIDES):
        places = tuple(sorted(query.places, key=text.find))
    if not places and not level and query.national:
        places = (NATIONAL,)
    if not (level or places):
        return None
    for place in sorted(places, key=len, reverse=True):
        text = re.sub(rf"{re.escape(place)}(?:省|市|自治区|自治州|州|县|区)?", " ", text)
    text = re.sub("全国|国家|我国|中央", " ", text) if query.national else text
    text = _YEARS.sub(" ", text)
    pieces = _pieces(text)
    is_short = len(pieces) <= _MOST_PIECES and sum(map(len, pieces)) <= _LONGEST_NAME
    return (text, places, level) if is_short else None


def _pieces(text: str) -> list[str]:
    """Return what a text says between places, years and words of asking."""
    return [piece for piece in _FILLERS.split(text) if piece.strip()]


def _indicator(text: str, names: Mapping[str, Collection[str]]) -> tuple[str, frozenset[str]]:
    """Return the indicator that is all that a text says, and the names of those called so."""
    left = _pieces(text)
    bare = normalize_name(text)
    known = max((name for name in names if name in bare), key=len, default="")
    at = bare.find(known)
    if known and not _FILLERS.sub("", f"{bare[:at]} {bare[at + len(known) :]}"):
        at = text.casefold().find(known)
        as_asked = [text[at : at + len(known)]] if at >= 0 else left
        shown = next((piece for piece in as_asked if normalize_name(piece) == known), known)
        if is_indicator(known):
            return shown, frozenset(names[known])
        left = [shown]  # PM2.5, 绿色工厂: what is measured of it has longer names
    if len(left) != 1 or len(left[0]) < _LEAST_NAME:
        return "", frozenset()
    like = [names[name] for name in names if normalize_name(left[0]) in name]
    return left[0] if like else "", frozenset().union(*like)


def figures(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the figures that a question asks for of several places or documents; None for none.

    There may be no rows: where a question clearly asks for a figure that documents state of other
    places or years, the notes say that none is stated of these.

    Args:
        search: For the question.
        knowledge: Whose documents are listed.
    """
    query = search.query
    scope = _scope(query)
    if scope is None:
        return None
    settings = knowledge.settings()
    searched = knowledge.doc_ids
    cards = {c.doc_id: c for c in settings.cards if searched is None or c.doc_id in searched}
    named = named_figures(knowledge.store, scope[0], _pieces(scope[0]))
    held = [s for s in named if s.doc_id in cards]
    asked = asked_figures(query, _names(held))
    if asked is None:
        return None
    named_so = [s for s in held if asked.subjects & {s.fact.subject.name, _of_scope(s)}]
    of_it = [s for s in named_so if _stands(s, asked)]
    dated = [s for s in of_it if _is_dated(s.qualifiers, asked)]
    dated = dated if _CHANGE_ASKED.search(query.text) else _levels(dated, cards)
    by_place = _by_place(dated, cards, asked)
    undated = _by_place([s for s in of_it if _is_undated(s)], cards, asked)
    undated = {p: found for p, found in undated.items() if asked.years and p not in by_place}
    shown = by_place | ({} if asked.level else undated)
    if len(shown) < (_FEWEST if asked.level else 1) and not _is_clear(asked, query.text):
        return None
    parts = _of_parts(dated, cards, asked, shown)
    rows = _rows(shown, query.text, asked) + [row for found in parts.values() for row in found]
    silent = _silent((*shown, *parts), cards, asked)
    counts = tuple(
        len({s.doc_id for s in some}) for some in (named_so, of_it, chain(*by_place.values()))
    )
    told, unread = _notes(asked, len(cards), counts, query.language)
    told += _further(asked, undated, len(rows), query.language)
    told += _of_what(parts, shown if any(map(_is_level, of_it)) else {}, query)
    return Complete(
        rows=tuple(rows[:_MOST]),
        counted=tuple(told),
        kind="targets",
        silent=silent,
        about=asked.indicator,
        unread=unread if silent or not rows else "",
        times=tuple(_times(asked.years)),
    )


def _names(statements: Iterable[Statement]) -> Mapping[str, Collection[str]]:
    """Return the names of indicators by each way to write them."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for s in statements:
        for name in filter(None, (s.fact.subject.name, s.qualifiers.subject)):
            names[normalize_name(name)].add(s.fact.subject.name)
        if s.qualifiers.scope:
            names[normalize_name(_of_scope(s))].add(_of_scope(s))
    return names


def _is_level(statement: Statement) -> bool:
    """Return whether a figure is a value, and not by how much it grows or falls."""
    return statement.qualifiers.comparator not in ("+", "-")


def _levels(statements: Sequence[Statement], cards: Mapping[str, Document]) -> list[Statement]:
    """Return statements without the changes of what is stated as a level, too, for that time."""

    def what(s: Statement) -> tuple[object, ...]:
        told = s.qualifiers
        place = stated_place(told, cards[s.doc_id])
        return s.fact.subject.entity_id, place, told.scope, told.year or told.period

    levels = {what(s) for s in statements if _is_level(s)}
    return [s for s in statements if _is_level(s) or what(s) not in levels]


def _of_what(
    parts: Collection[str], shown: Mapping[str, Sequence[Statement]], query: Query
) -> Iterator[str]:
    """Yield notes where rows are of parts of places, or tell changes where a level is asked for.

    Args:
        parts: The places with rows of parts of them.
        shown: Rows by place; none where no level of the figure is stated at all.
        query: The question.
    """
    changed = [p for p, some in shown.items() if not any(map(_is_level, some))]
    changed = [] if _CHANGE_ASKED.search(query.text) else changed
    for note, places in (("parts", parts), ("changes", changed)):
        if places:
            yield _NOTES[query.language][note].format(names="、".join(map(called, places)))


def _rows(shown: Mapping[str, Sequence[Statement]], question: str, asked: Asked) -> list[Stated]:
    """Return a row for each figure, with the side that it is of where a comparison is asked."""
    compares = not asked.level and asks_to_compare(question)
    by_year = len(shown) == 1 and len(asked.years) > 1
    return [
        Stated(
            place_of(s),
            lead=_label(s, place),
            side=(f"{s.qualifiers.year}年" if by_year else called(place)) if compares else "",
            statement=s,
        )
        for place in _ordered(shown, question, asked)
        for s in shown[place]
    ]


def _is_clear(asked: Asked, question: str) -> bool:
    """Return whether a question asks for a figure, and not for what is said of a thing."""
    return is_indicator(asked.indicator) or _FIGURE.search(question) is not None


def _of_scope(statement: Statement) -> str:
    """Return an indicator behind whom it is measured of: 公共机构人均综合能耗."""
    return f"{statement.qualifiers.scope}{statement.fact.subject.name}"


def _stands(statement: Statement, asked: Asked) -> bool:
    standing = statement.qualifiers.standing
    return not asked.standing or standing in ("", asked.standing)


def _is_dated(told: Qualifiers, asked: Asked) -> bool:
    """Return whether a figure is of a year that is asked for, or of any where none is."""
    if not asked.years or (told.year.isdigit() and int(told.year) in asked.years):
        return True
    return not told.year and any(
        year in asked.years and told.period in (name, period)
        for name, (year, period) in PERIODS.items()
    )


def _times(years: Collection[int]) -> Iterator[str]:
    """Yield what a text calls years: 2025, 十四五."""
    yield from map(str, sorted(years))
    yield from (name for name, (year, _) in PERIODS.items() if year in years)


def _is_undated(statement: Statement) -> bool:
    """Return whether a figure is surely an aim, and no year is told of it."""
    told = statement.qualifiers
    is_aim = told.standing == "planned" and not (told.year or told.period)
    return is_aim and _AIMS.search(told.object or statement.fact.object.name) is not None


def _by_place(
    statements: Sequence[Statement], cards: Mapping[str, Document], asked: Asked
) -> dict[str, list[Statement]]:
    """Return statements by the place that they are about, each figure of a document once.

    Prose goes before tables; a figure without a year is none of its own where the document has
    the same for a year.
    """
    found: defaultdict[str, dict[tuple[str, ...], Statement]] = defaultdict(dict)
    for s in sorted(statements, key=lambda s: (not s.qualifiers.year, bool(s.qualifiers.binding))):
        place = _row_place(stated_place(s.qualifiers, cards[s.doc_id]), asked)
        told = s.qualifiers
        figure = (s.doc_id, told.value, told.value_to, told.scope)
        held = found[place]
        if place and (told.year or not any(key[:4] == figure for key in held)):
            held.setdefault((*figure, "" if asked.years else told.year), s)
    return {place: _in_text_order(held.values()) for place, held in found.items() if held}


def _of_parts(
    statements: Iterable[Statement],
    cards: Mapping[str, Document],
    asked: Asked,
    shown: Collection[str],
) -> dict[str, list[Stated]]:
    """Return rows of parts of places without a figure of their own, by the place around.

    What the document of a place says only of an area or a district in it is told as that one's.
    """
    found: defaultdict[str, list[Stated]] = defaultdict(list)
    for s in _in_text_order(statements):
        around = cards[s.doc_id].metadata.regions
        place = stated_place(s.qualifiers, cards[s.doc_id])
        is_part = len(place) > len(around) > 0 and place[: len(around)] == around
        whole = _row_place(around, asked) if is_part else ""
        if whole and not {whole, place[-1]} & set(shown):
            found[whole].append(Stated(place_of(s), lead=_label(s, place[-1])))
    return found


def _in_text_order(statements: Iterable[Statement]) -> list[Statement]:
    return sorted(statements, key=lambda s: (s.doc_id, s.start, s.end))


def _row_place(around: Sequence[str], asked: Asked) -> str:
    """Return the full name of the place whose row a figure belongs to; empty for none."""
    region = around[-1]
    if not asked.level:
        return region if called(region) in asked.places else ""
    if region == NATIONAL and asked.national:
        return region
    if asked.places and not any(called(name) in asked.places for name in around):
        return ""
    if asked.level == _ALL or (asked.level == _ANYWHERE and region != NATIONAL):
        return region
    if asked.level == "市":
        return region if level_of(region) == "市" or region.endswith("市") else ""
    return region if region != NATIONAL and level_of(region) == asked.level else ""


def _ordered(by_place: Mapping[str, Sequence[Statement]], question: str, asked: Asked) -> list[str]:
    """Return places as a question orders them: by value, as it names them, or as lists do."""
    down = _DESCENDS.search(question)
    if down or _ASCENDS.search(question):
        return sorted(by_place, key=lambda p: (1 - 2 * bool(down)) * _value(by_place[p]))
    order = {region.name: n for n, region in enumerate(listed_regions())}

    def rank(place: str) -> tuple[int, int, str]:
        named = asked.places.index(called(place)) if called(place) in asked.places else -1
        return named, order.get(place, len(order) if place != NATIONAL else -1), place

    return sorted(by_place, key=rank)


def _value(statements: Sequence[Statement]) -> float:
    try:
        return float(statements[0].qualifiers.value)
    except ValueError:
        return 0.0


def _label(statement: Statement, place: str) -> str:
    return f"{place}：{statement.qualifiers.object or statement.fact.object.name}"


def _silent(
    by_place: Collection[str], cards: Mapping[str, Document], asked: Asked
) -> tuple[str, ...]:
    """Return the places that are asked for and have no row.

    Of all provinces or cities, those of which there are documents.
    """
    stating = {called(place) for place in by_place}
    around = [] if asked.level else list(asked.places)
    if asked.level in ("省", "市"):
        held = {
            name
            for card in cards.values()
            for n, name in enumerate(card.metadata.regions)
            if _row_place(card.metadata.regions[: n + 1], asked) == name
        }
        order = {region.name: n for n, region in enumerate(listed_regions())}
        around = [called(name) for name in sorted(held, key=lambda n: (order.get(n, -1), n))]
    return tuple(place for place in around if place not in stating)


def _notes(
    asked: Asked, total: int, counts: tuple[int, ...], language: Language
) -> tuple[list[str], str]:
    """Return of how many documents rows are, and what is said of places without any.

    The first number is of all documents that state the figure, whatever places or years are asked
    for, or any figure of the name where none is planned or achieved: a note never says that none
    does.

    Args:
        asked: What is asked for.
        total: Documents asked.
        counts: Of them, those with a figure of the name, those with a planned or achieved one as
            is asked for, and those of the rows.
        language: Of the notes.
    """
    n_named, n_any, n_rows = counts
    is_zh, told = language == "zh", _NOTES[language]
    standing = {"planned": "目标", "achieved": "完成值", "": "数字"} if is_zh else {}
    aim = standing.get(asked.standing, "")
    counted = aim if n_any else standing.get("", "")
    years = "、".join(f"{year}年" if is_zh else str(year) for year in sorted(asked.years))
    places = "、".join(asked.places) + _OF_ALL.get(asked.level, "")
    where = f"{places}{years}" if is_zh else " ".join(filter(None, (places, years)))
    n = n_any or n_named
    note = told["all"].format(total=total, n=n, what=f"{asked.indicator}{counted}")
    if where and n_rows:
        note += told["some"].format(where=where, n=n_rows)
    only_years = years or ("any year" if not is_zh else "")
    return [note], told["unread"].format(where=only_years, what=f"{asked.indicator}{aim}")


def _further(
    asked: Asked, undated: Mapping[str, Sequence[Statement]], n_rows: int, language: Language
) -> list[str]:
    """Return notes of figures without a year, and of rows that are left out."""
    told, notes = _NOTES[language], []
    if undated and asked.level:
        n = len({s.doc_id for found in undated.values() for s in found})
        notes.append(told["undated more"].format(n=n))
    elif undated:
        notes.append(told["undated"].format(names="、".join(map(called, undated))))
    if n_rows > _MOST:
        notes.append(told["more"].format(shown=_MOST, n=n_rows))
    return notes
