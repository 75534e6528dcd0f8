"""Questions for a figure of several places or documents, answered from all statements."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain

from kgrag.answer.notes import note
from kgrag.answering.listed import Place
from kgrag.answering.rows import Complete, Stated, place_of
from kgrag.answering.search_context import SearchContext
from kgrag.qualifiers import Qualifiers
from kgrag.question.question import (
    ANYWHERE,
    CITIES,
    EVERYWHERE,
    PROVINCES,
    Question,
    grammar,
    pieces,
    question_of,
)
from kgrag.retrieval.search import Search
from kgrag.statements.choose import about, stated_place
from kgrag.statements.figures import decimal_of
from kgrag.statements.sources import object_of
from kgrag.statements.targets import similar
from kgrag.store.decisions import DecidedNames
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.facets import NATIONAL, called, place_rank
from kgrag.text.indicators import (
    indicator_name,
    indicator_names,
    is_indicator,
    share_of,
    split_sources,
)
from kgrag.text.numerals import han_numeral
from kgrag.text.places import with_places_inside
from kgrag.text.plan_periods import plan_ending, plan_years
from kgrag.text.quantities import agree, quantities
from kgrag.text.regions import level_of, regions_named
from kgrag.text.words import normalize_name, words
from kgrag.types import Document, Language

_SHORTEST, _LONGEST = 2, 20  # characters of a name that is looked for in a text
_LEAST_PART = 3  # characters of what may be a part of an indicator's name
_MOST_LIKE_HERE = 5  # figures of a place with a longer name than the one asked for
_MOST_LIKE = 300  # names of entities that contain a part

_OF_ALL = {PROVINCES: "各省", CITIES: "各市", ANYWHERE: "各地"}
# Places of a level below which a table is one only where the question clearly asks for a figure.
_FEWEST, _MOST = 2, 60  # places, rows
_PER = re.compile("/[一-鿿a-z]{1,4}")
_MOST_NAMES = 8  # of an indicator that are looked for in texts
_MOST_INDICATORS = 4  # that a question names beside each other
_MOST_PIECES = 4  # that an indicator's name has, where words of asking are in it


@dataclass(frozen=True, slots=True)
class Asked:
    """The figures that a question asks for.

    Attributes:
        question: As parsed.
        indicator: As the question names it.
        subjects: Names of the indicators that match.
    """

    question: Question
    indicator: str
    subjects: frozenset[str]


def asked_figures(question: Question, names: Mapping[str, Collection[str]]) -> Asked | None:
    """Return the figures of several places or documents that a question clearly asks for.

    It does if nothing is left of it besides an indicator, places, years and question words.

    Args:
        question: As parsed.
        names: Names of the stated indicators by spelling, normalised by `normalize_name`.
    """
    if not _may_ask(question):
        return None
    indicator, subjects = _indicator(question, names)
    behind = question.topic.partition(indicator)[2] if indicator else ""
    is_title = grammar().pattern("of_title").match(behind)  # 碳达峰实施方案
    return Asked(question, indicator, subjects) if indicator and not is_title else None


def _may_ask(question: Question) -> bool:
    """Return whether a question has little besides an indicator, places, and times."""
    told = question.pieces
    is_short = len(told) <= _MOST_PIECES and sum(map(len, told)) <= _LONGEST
    return is_short and not question.query.titles


def _indicator(
    question: Question, names: Mapping[str, Collection[str]]
) -> tuple[str, frozenset[str]]:
    """Return the indicator that is the rest of a question, and the names that match."""
    text, left = question.topic, list(question.pieces)
    bare = normalize_name(text)
    known = max(
        (name for name in names if name in bare),
        key=lambda name: (is_indicator(name), len(name)),  # 能耗 of 能耗降, which has a verb's part
        default="",
    )
    at = bare.find(known)
    if known and not pieces(f"{bare[:at]} {bare[at + len(known) :]}"):
        at = text.casefold().find(known)
        as_asked = [text[at : at + len(known)]] if at >= 0 else left
        shown = next((piece for piece in as_asked if normalize_name(piece) == known), known)
        if is_indicator(known):
            return shown, frozenset(names[known])
        left = [shown]  # PM2.5, 绿色工厂: what is measured of it has longer names
    if len(left) != 1:
        return "", frozenset()
    if own := indicator_names(left[0]) & frozenset().union(*names.values()):
        return left[0], own  # no document writes it so
    if len(left[0]) < _LEAST_PART:
        return "", frozenset()
    like = [names[name] for name in names if _is_like(normalize_name(left[0]), name)]
    return left[0] if like else "", frozenset().union(*like)


def figures(search: Search, knowledge: SearchContext) -> Complete | None:
    """Return the figures of several places or documents that a question asks for, or None.

    Of several indicators (森林覆盖率和森林蓄积量) each has its rows.

    Args:
        search: For the question.
        knowledge: Documents to list.
    """
    query, question = search.query, question_of(search.query)
    if query.titles:
        return None
    other = query.places or question.asks & {"a list", "definition"}
    if not (question.level or question.places or other):
        question = replace(question, level=EVERYWHERE)
    if not (question.level or question.places):
        return None
    question, bound = _bounded(question)
    return _of_one(question, knowledge, bound=bound) or _of_several(question, knowledge)


@dataclass(frozen=True, slots=True)
class _Bound:
    """Values that are asked for: 超过30%, 40%.

    Attributes:
        words: As the question says it.
        value: The value.
        unit: Its unit.
        above: Whether greater values are asked for.
        below: Whether less ones are.
        strict: Whether the value itself is none of them, unless stated as a bound (14%以上).
    """

    words: str
    value: Decimal
    unit: str
    above: bool
    below: bool
    strict: bool

    def holds(self, statement: Statement) -> bool:
        """Return whether a figure is one of those asked for."""
        q = statement.qualifiers
        told = decimal_of(q.value)
        if told is None or not agree(self.unit, q.unit):
            return False
        if told == self.value:
            signs = {">", ">="} if self.above else {"<", "<="}
            return not self.strict or bool(signs & {q.comparator, q.bound})
        return self.above if told > self.value else self.below


def _bounded(question: Question) -> tuple[Question, _Bound | None]:
    """Return a question without the value that it sets as a bound, and the bound, if any."""
    text = question.topic
    found = [q for q in quantities(text) if q.unit and not q.is_word and len(q.values) == 1]
    if len(found) != 1 or not question.level:
        return question, None
    start, end = found[0].start, found[0].end
    per = _PER.match(text, end)  # 微克/立方米
    end = per.end() if per else end
    above, below = (
        grammar().pattern(name).search(text[:start]) or grammar().pattern(name).match(text[end:])
        for name in ("above", "below")
    )
    said = [match for match in (above, below) if match]
    first = min([match.start() for match in said if match.string == text[:start]], default=start)
    last = max([end + m.end() for m in said if m.string != text[:start]], default=end)
    bound = _Bound(
        words=text[first:last].strip(),
        value=next(iter(found[0].values)),
        unit=found[0].unit + (per[0] if per else ""),
        above=above is not None,
        below=below is not None,
        strict=any(match["strict"] for match in said),
    )
    topic = f"{text[:first]} {text[last:]}"
    return replace(question, topic=topic, pieces=tuple(pieces(topic))), bound


def _of_several(question: Question, knowledge: SearchContext) -> Complete | None:
    """Return the figures of several indicators that a question names beside each other, or None.

    A name may go on as the last one does: 风电、光伏装机容量 asks for 风电装机容量, too.
    """
    told = question.pieces if len(question.pieces) > 1 else split_sources("".join(question.pieces))
    *first, last = told or ("",)
    if not 1 <= len(first) < _MOST_INDICATORS:
        return None
    parts: list[Complete] = []
    for piece in (*first, last):
        names = [piece, *(piece + last[n:] for n in range(1, len(last) - 1) if piece != last)]
        of_piece = (_of_one(replace(question, topic=n, pieces=(n,)), knowledge) for n in names)
        parts += list(filter(None, of_piece))[:1]
    if len(parts) < _FEWEST:
        return None
    rows = (replace(row, lead=f"{part.about}，{row.lead}") for part in parts for row in part.rows)
    return replace(parts[0], rows=tuple(rows), parts=tuple(parts))


def _of_one(
    question: Question, knowledge: SearchContext, *, bound: _Bound | None = None
) -> Complete | None:
    """Return the figures of the indicator that a question asks for; None if none is stated."""
    query = question.query
    if not _may_ask(question):
        return None
    cards = knowledge.cards()
    named = named_figures(knowledge.store, question.topic, question.pieces)
    held = [s for s in named if s.doc_id in cards]
    asked = asked_figures(question, _names(held))
    if asked is None:
        return None
    named_so = [s for s in held if asked.subjects & {s.fact.subject.name, _of_scope(s)}]
    of_it = [s for s in named_so if _stands(s, asked)]
    dated = [s for s in of_it if _is_dated(s.qualifiers, asked)]
    dated = dated if "change" in question.asks else _levels(dated, cards)
    by_place = _by_place(dated, cards, asked)
    enough = len(by_place) >= (_FEWEST if question.level else 1)
    if not enough and (question.level == EVERYWHERE or not _is_clear(asked)):
        return None
    if question.level and not _is_clear(asked):  # 各省对垃圾分类有什么要求
        return None
    parts = _of_parts(dated, cards, asked, by_place)
    shown, chosen = _chosen(by_place, question, bound)
    rows = _rows(shown, question) + [row for found in parts.values() for row in found]
    silent = _silent((*by_place, *parts), cards, asked)
    if rows and not chosen:
        set_above = _set_above(silent, named_so, asked, knowledge)
        rows += [row for place in silent for row in set_above.get(place, ())]
        silent = tuple(place for place in silent if place not in set_above)
    if not rows:
        return None
    told = [_count(asked, len(cards), of_it, by_place, query.language), *chosen]
    if len(rows) > _MOST:
        told.append(note("shortened", query.language, shown=_MOST, n=len(rows)))
    told += _like_here(knowledge.store, asked, cards, shown)
    ids, is_asked = {s.fact.subject.entity_id for s in named_so}, asked.subjects.__contains__
    told += similar(knowledge.store, asked.indicator, cards, ids, is_asked, query.language)
    told += _of_what(parts, shown if any(map(_is_level, of_it)) else {}, question)
    return Complete(
        rows=tuple(rows[:_MOST]),
        counted=tuple(told),
        kind="targets",
        silent=silent,
        about=asked.indicator,
        least="least" in question.asks,
    )


def _times(question: Question) -> tuple[str, ...]:
    return tuple(name for year in question.due for name in (str(year), plan_ending(year)) if name)


def _set_above(
    silent: Collection[str], named: Iterable[Statement], asked: Asked, knowledge: SearchContext
) -> Mapping[str, Sequence[Stated]]:
    """Return, by place without a figure, where its documents take over that of a plan above.

    Many plans say of an indicator only that it is to meet what is set for the place: 单位GDP能耗
    降低完成国家下达目标.

    Args:
        silent: Short names of places.
        named: Figures of the indicator, for the names that documents give it.
        asked: The figures that a question asks for.
        knowledge: Documents to list.
    """
    of = {}
    for doc_id, card in knowledge.cards().items():
        place = asked.question.row_of(card.metadata.regions or (NATIONAL,))
        if called(place) in silent:
            of[doc_id] = place
    names = Counter(s.qualifiers.subject or s.fact.subject.name for s in named)
    as_set, times = grammar().pattern("as_set").pattern, _times(asked.question) or ("",)
    found: defaultdict[str, dict[str, Stated]] = defaultdict(dict)
    for name, _ in names.most_common(_MOST_NAMES) if of else ():
        said = re.compile(f"{re.escape(name)}[^，。；\\n]{{0,24}}?(?P<set>{as_set})")
        for hit in knowledge.with_phrase(name, list(of), _MOST_LIKE):
            chunk, place = hit.chunk, of[hit.chunk.doc_id]
            match = said.search(chunk.text)
            if match is None:
                continue
            told = "".join((hit.title, *chunk.heading_path, chunk.text[: match.end()]))
            if any(time in told for time in times):
                spans = (chunk.start + match.start(), chunk.start + match.end())
                row = Stated(Place(chunk.doc_id, *spans, chunk.chunk_id), place)
                row = replace(row, lead=f"{place}：{match['set']}")
                found[called(place)].setdefault(chunk.doc_id, row)
    return {place: list(rows.values()) for place, rows in found.items()}


def _chosen(
    shown: dict[str, list[Statement]], question: Question, bound: _Bound | None
) -> tuple[dict[str, list[Statement]], list[str]]:
    """Return the places within a bound, or the first of a ranking, and a note on the others."""
    language, n = question.query.language, len(shown)
    if bound:
        held = {place: [s for s in some if bound.holds(s)] for place, some in shown.items()}
        shown = {place: some for place, some in held.items() if some}
        told = note("bounded", language, bound=bound.words, n=len(shown), others=n - len(shown))
        return shown, [told]
    first = grammar().pattern("first").search(question.query.text)
    few = int(han_numeral(first["few"]) or 0) if first else 0
    if not 0 < few < n or not {"most", "least"} & question.asks:
        return shown, []
    ordered = _ordered(shown, question)
    last = shown[ordered[few - 1]][0].qualifiers
    kept = [p for i, p in enumerate(ordered) if i < few or _same(shown[p][0].qualifiers, last)]
    told = note("ranked", language, shown=len(kept), n=n)
    return {place: shown[place] for place in kept}, [told]


def _same(told: Qualifiers, other: Qualifiers) -> bool:
    return (told.value, told.unit) == (other.value, other.unit)


def _like_here(
    store: Store, asked: Asked, cards: Mapping[str, Document], shown: Collection[str]
) -> Iterator[str]:
    """Yield a note for each asked place that is not shown, on its figures with longer names.

    Args:
        store: The knowledge base.
        asked: The figures that a question asks for, of places that it names.
        cards: Documents that are looked at, by id.
        shown: Places of which the figure itself is stated.
    """
    wanted, places = set(words(indicator_name(asked.indicator))), asked.question.places
    stating = set(map(called, shown))
    lacking = [p for p in places if p not in stating] if not asked.question.level else []
    here = [d for d, c in cards.items() if {*lacking} & {called(r) for r in c.metadata.regions}]
    found = [
        s
        for s in (store.statements("target", here) if here else [])
        if s.fact.subject.name not in asked.subjects
        and wanted <= set(words(s.fact.subject.name))
        and _stands(s, asked)
        and _is_dated(s.qualifiers, asked)
    ]
    for place, some in _by_place(found, cards, asked).items():
        told = (f"{s.fact.subject.name}（{object_of(s)}）" for s in some[:_MOST_LIKE_HERE])
        names = "、".join(dict.fromkeys(told))
        yield note("similar-here", asked.question.query.language, place=called(place), names=names)


def _names(statements: Iterable[Statement]) -> Mapping[str, Collection[str]]:
    """Return the names of indicators by spelling."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for s in statements:
        for name in filter(None, (s.fact.subject.name, s.qualifiers.subject)):
            names[normalize_name(name)].add(s.fact.subject.name)
        if s.qualifiers.scope:
            names[normalize_name(_of_scope(s))].add(_of_scope(s))
    return names


def _is_level(statement: Statement) -> bool:
    """Return whether a figure is a value, not a change."""
    return statement.qualifiers.comparator not in ("+", "-")


def _levels(statements: Sequence[Statement], cards: Mapping[str, Document]) -> list[Statement]:
    """Return statements without changes of what is stated as a value, too, for that time."""

    def what(s: Statement) -> tuple[object, ...]:
        told = s.qualifiers
        place = stated_place(told, cards[s.doc_id])
        return s.fact.subject.entity_id, place, told.scope, told.year or told.period

    levels = {what(s) for s in statements if _is_level(s)}
    return [s for s in statements if _is_level(s) or what(s) not in levels]


def _of_what(
    parts: Collection[str], shown: Mapping[str, Sequence[Statement]], question: Question
) -> Iterator[str]:
    """Yield notes if rows are of parts of places, or changes where a value is asked for.

    Args:
        parts: The places with rows of parts of them.
        shown: Rows by place; empty if no value of the figure is stated at all.
        question: As parsed.
    """
    changed = [p for p, some in shown.items() if not any(map(_is_level, some))]
    changed = [] if "change" in question.asks else changed
    for kind, places in (("parts", parts), ("changes", changed)):
        if places:
            names = "、".join(map(called, places))
            yield note(kind, question.query.language, names=names)


def _rows(shown: Mapping[str, Sequence[Statement]], question: Question) -> list[Stated]:
    """Return a row for each figure, with its side if a comparison is asked for."""
    compares = not question.level and "difference" in question.asks
    by_year = len(shown) == 1 and len(question.due) > 1
    several = len({s.fact.subject.name for some in shown.values() for s in some}) > 1
    return [
        Stated(
            place_of(s),
            label=place,
            lead=_label(s, place, named=several),
            side=(f"{s.qualifiers.year}年" if by_year else called(place)) if compares else "",
            statement=s,
        )
        for place in _ordered(shown, question)
        for s in shown[place]
    ]


def _is_clear(asked: Asked) -> bool:
    """Return whether a question asks for a figure, and not for other statements."""
    asks = asked.question.asks & {"figure", "most", "least"}
    return is_indicator(asked.indicator) or bool(asks or asked.question.due)


def _of_scope(statement: Statement) -> str:
    """Return an indicator after its scope: 公共机构人均综合能耗."""
    return f"{statement.qualifiers.scope}{statement.fact.subject.name}"


def _stands(statement: Statement, asked: Asked) -> bool:
    standing = statement.qualifiers.standing
    return not asked.question.standing or standing in ("", asked.question.standing)


def _is_dated(told: Qualifiers, asked: Asked) -> bool:
    """Return whether a figure is of a requested year, or of any if none is requested."""
    due = asked.question.due
    if not due or (told.year.isdigit() and int(told.year) in due):
        return True
    last = plan_years(told.period)[1] or told.period[-4:]
    return not told.year and str(last) in map(str, due)


def _by_place(
    statements: Sequence[Statement], cards: Mapping[str, Document], asked: Asked
) -> dict[str, list[Statement]]:
    """Return statements by place, each figure of a document once.

    Prose comes before tables; a figure without a year is dropped if the document has the same one
    with a year.
    """
    found: defaultdict[str, dict[tuple[str, ...], Statement]] = defaultdict(dict)
    for s in sorted(statements, key=lambda s: (not s.qualifiers.year, bool(s.qualifiers.binding))):
        place = asked.question.row_of(stated_place(s.qualifiers, cards[s.doc_id]))
        told = s.qualifiers
        figure = (s.doc_id, told.value, told.value_to, told.scope)
        held = found[place]
        if place and (told.year or not any(key[:4] == figure for key in held)):
            held.setdefault((*figure, "" if asked.question.due else told.year), s)
    return {place: _in_text_order(held.values()) for place, held in found.items() if held}


def _of_parts(
    statements: Iterable[Statement],
    cards: Mapping[str, Document],
    asked: Asked,
    shown: Collection[str],
) -> dict[str, list[Stated]]:
    """Return rows of parts of places without a figure of their own, by the place around.

    A place's document may state a figure only for an area or a district in it.
    """
    found: defaultdict[str, list[Stated]] = defaultdict(list)
    for s in _in_text_order(statements):
        around = cards[s.doc_id].metadata.regions
        place = stated_place(s.qualifiers, cards[s.doc_id])
        is_part = len(place) > len(around) > 0 and place[: len(around)] == around
        whole = asked.question.row_of(around) if is_part else ""
        if whole and not {whole, place[-1]} & set(shown):
            found[whole].append(Stated(place_of(s), place[-1], _label(s, place[-1])))
    return found


def _in_text_order(statements: Iterable[Statement]) -> list[Statement]:
    return sorted(statements, key=lambda s: (s.doc_id, s.start, s.end))


def _ordered(by_place: Mapping[str, Sequence[Statement]], question: Question) -> list[str]:
    """Return places in order: by value, as the question names them, or by region."""
    down = "most" in question.asks
    if down or "least" in question.asks:
        units = Counter(some[0].qualifiers.unit for some in by_place.values())
        usual = max(units, key=units.__getitem__, default="")

        def size(place: str) -> tuple[bool, float]:
            first = by_place[place][0]
            return first.qualifiers.unit != usual, (1 - 2 * down) * _value(first)

        return sorted(by_place, key=size)

    def rank(place: str) -> tuple[int, tuple[int, str]]:
        places = question.places
        named = places.index(called(place)) if called(place) in places else -1
        if question.level == EVERYWHERE:  # what does not fit is of the smallest places
            named = place != NATIONAL and level_of(place) != PROVINCES
        return named, place_rank(place)

    return sorted(by_place, key=rank)


def _value(statement: Statement) -> float:
    return float(decimal_of(statement.qualifiers.value) or 0)


def _label(statement: Statement, place: str, *, named: bool = False) -> str:
    name = f"{statement.fact.subject.name}" if named else ""
    return f"{place}：{name}{object_of(statement)}"


def _silent(
    by_place: Collection[str], cards: Mapping[str, Document], asked: Asked
) -> tuple[str, ...]:
    """Return the requested places without a row.

    Of all provinces or cities, those with documents.
    """
    stating = {called(place) for place in by_place}
    level = asked.question.level
    around = [] if level else list(asked.question.places)
    if level in (PROVINCES, CITIES):
        held = {
            name
            for card in cards.values()
            for n, name in enumerate(card.metadata.regions)
            if asked.question.row_of(card.metadata.regions[: n + 1]) == name
        }
        around = [called(name) for name in sorted(held, key=place_rank)]
    covered = about(cards.values())  # of others it is said that no document is about them
    return tuple(
        place
        for place in around
        if place not in stating
        and (not regions_named(place) or with_places_inside([place]) & covered)
    )


def _count(
    asked: Asked,
    total: int,
    of_it: Sequence[Statement],
    by_place: Mapping[str, Sequence[Statement]],
    language: Language,
) -> str:
    """Return a note on how many documents state the figure, and for the places and years asked for.

    Args:
        asked: What is asked for.
        total: Number of documents searched.
        of_it: All figures of the name, planned or achieved as asked.
        by_place: Those of the places and years asked for.
        language: Of the note.
    """
    question, is_zh = asked.question, language == "zh"
    standing = {"planned": "目标", "achieved": "完成值", "": "数字"} if is_zh else {}
    years = "、".join(f"{year}年" if is_zh else str(year) for year in sorted(question.due))
    places = "、".join(question.places) + _OF_ALL.get(question.level, "")
    where = f"{places}{years}" if is_zh else " ".join(filter(None, (places, years)))
    what = f"{asked.indicator}{standing.get(question.standing, '')}"
    n = len({s.doc_id for s in of_it})
    stated: str = note("figures", language, total=total, n=n, what=what)
    if where and by_place:
        n = len({s.doc_id for s in chain(*by_place.values())})
        stated += note("figures-where", language, where=where, n=n)
    return stated


def named_figures(store: Store, text: str, pieces: Sequence[str]) -> list[Statement]:
    """Return the figures whose indicator a text may name, ordered by document and place.

    Indicators are looked up by every substring of words, by synonyms and by mergers, and by parts
    that their names contain.

    Args:
        store: The knowledge base.
        text: The question without places and years.
        pieces: Its parts between question words.
    """
    names = set(_written_names(text, pieces, DecidedNames.of(store.decisions())))
    found = store.find_entities(sorted(names))
    ids = {entity.entity_id for entity in found}
    parts = {normalize_name(piece) for piece in pieces if len(pieces) == 1}
    longest = max((normalize_name(entity.name) for entity in found), key=len, default="")
    if not is_indicator(longest):
        parts.add(longest)  # 国有林场, which has a word of asking in it
    for part in parts:
        if len(part) >= _LEAST_PART:
            like = [e for e, _ in store.search_entities(share_of(part) or part, top_k=_MOST_LIKE)]
            ids |= {
                e.entity_id for e in store.entities(like) if _is_like(part, normalize_name(e.name))
            }
    return store.statements("target", around=ids) if ids else []


def _is_like(part: str, name: str) -> bool:
    """Return whether an indicator has a name in its own, or is a share of what that is one of.

    >>> _is_like("绿色工厂", "省级绿色工厂"), _is_like("装配式建筑占比", "装配式建筑占新建建筑比重")
    (True, True)
    """
    whole = share_of(part)
    return part in name or bool(whole and whole in share_of(name))


def _written_names(text: str, pieces: Sequence[str], decided: DecidedNames) -> Iterator[str]:
    """Yield possible names of an indicator in a text."""
    bare = normalize_name(text)
    stretches = set(_stretches(bare))
    yield from stretches
    for stretch in stretches:
        if is_indicator(stretch):
            yield decided.called(indicator_name(stretch), written=stretch)
        if stretch in decided.merged:
            yield decided.called(stretch, written=stretch)
    for piece in (*pieces, bare):
        for name in indicator_names(piece):
            yield decided.called(name, written=piece)


def _stretches(text: str) -> Iterable[str]:
    n = len(text)
    return (
        text[start:end]
        for start in range(n)
        for end in range(start + _SHORTEST, min(n, start + _LONGEST) + 1)
    )
