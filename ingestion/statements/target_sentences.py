"""Extract indicators and their values from sentences, with what a bare head noun is of."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kgrag.ingestion.statements import target_names as names
from kgrag.ingestion.statements.prose import Passage
from kgrag.ingestion.statements.target_grammar import (
    SHARES,
    Time,
    Value,
    countable,
    ends,
    pattern,
    tagged,
    words,
)
from kgrag.text.quantities import COUNTS
from kgrag.text.tagged import Tagged


@dataclass(frozen=True, slots=True)
class Statement:
    """An indicator and its value in a passage.

    Attributes:
        indicator: As worded.
        value: The number.
        phrase: What is said of it: verb, number, unit.
        chain: The words between indicator and number.
        verb: A verb of building; empty.
        clause: (start, end) in the passage.
        time: When it holds, as far as its sentence says.
        base: What it is compared with.
        base_value: The value then.
        lead: The clause up to the number.
        carried: When the sentences before say that it holds; None where its own tells.
        before: What the sentence says ahead of the clause.
        is_bare: Whether nothing says that the indicator has the value: 公交车辆300台.
    """

    indicator: str
    value: Value
    phrase: str
    chain: str
    verb: str
    clause: tuple[int, int]
    time: Time | None = None
    base: str = ""
    base_value: Value | None = None
    lead: str = ""
    carried: Time | None = None
    before: str = ""
    is_bare: bool = False


_KIND = (
    r"(?:总占地|占地|建筑|建设|用地|种植|覆盖|综合|资源化|平均|年均|设计|规划|处理|生产|新增|新建"
    r"|年|总|其)"
)
_HEAD = (
    r"(?:利用率|处理率|覆盖率|达标率|完成率|普及率|收集率|回收率|合格率|面积|规模|装机容量|装机|容量"
    r"|库容|产能|能力|产量|产值|收入|投资额?|长度|里程|总量|数量|占比|比例|增速|增长率|平均浓度)"
)
_BARE = re.compile(rf"{_KIND}{{0,2}}{_HEAD}")
"""An indicator that does not say of what: 总面积, 利用率."""
_OWN_HEAD = re.compile(
    rf"(?:累计|下达|完成|到位|合计){{0,4}}(?:{_KIND}{{0,2}}{_HEAD}|投资(?:完成率|到位率))$"
)
_NO_PART = re.compile(r"^(?:累计|下达|已|[一二三四五六七八九十两]+[处座个条家]|(?:建成)?运行的?)+")
"""What opens the words before and is no part of what an indicator is of."""
_WHOLE_VALUE = re.compile(r"(?:总值|产值|增加值|经济)$")
_OF_A_VALUE = frozenset(("总规模", "规模", "总量", "年均增速", "增速", "增长率"))
_FOR_ALL = frozenset(("投资", "总投资", "投资额"))  # told of a whole work, in clauses of their own
_LEADS_IN = re.compile(
    r"^(?:[一-鿿]{1,4}(?:区|市|县|省))?(?:积极|大力|深入|全面|加快|有序|持续|稳步|扎实|逐步|继续|进一步)*"
    r"(?:推进|推动|加强|开展|实施|建设|新建|强化|促进|推行|提高|提升|发展|恢复|修复|改造|建成|建立|创建|健全|完善|打造){1,2}(?:了)?"
    r"(?P<of>[^,、;:\d()“”]{3,20}?)(?:建设|工作|工程|项目)?$"
)
_NUMBERED = re.compile(r"^(?:[(]?[\d一二三四五六七八九十]{1,3}[).、])+")
_ENTRY = re.compile(r"^[^,;。:]{2,30}(?:项目|工程)$")
_CLAUSE_MARKS = ",;:"
_NEAR = 120  # characters within which a work's investments are told
_KINDS = re.compile(r"^(?:主要|各级|各类)+(?=[一-鿿]{2})")
_SHORTEST = 2  # characters of what an indicator is of
_LONGEST_OF = 30


def whole(name: str, text: str, clause: tuple[int, int], found: Sequence[Statement]) -> str:
    """Return an indicator with what it is of, if it is a bare head noun; else as it is.

    What is counted right before lends itself (苗圃5个,面积…), another indicator what it is of
    (灌区总投资…,完成投资…), and a clause without a number its object (建设某湿地,湿地面积…).

    Args:
        name: The indicator.
        text: The passage.
        clause: (start, end) in the passage.
        found: What the sentence states before.
    """
    head = name.removeprefix("其")
    near = found[-1] if found and _is_next(text, found[-1], clause) else None
    if _BARE.fullmatch(head):
        of = _lent_by(near, head) if near else ""
        if not of and head in _FOR_ALL:
            of = _work(found, clause)
        if of := _NO_PART.sub("", of):
            return of + head
    if near is None and (object_ := _NO_PART.sub("", _object_before(text, clause))):
        return _joined(object_, head) or (object_ + head if _BARE.fullmatch(head) else name)
    if _BARE.fullmatch(head) and (entry := _entry(text, clause)):
        return entry + head
    return name


def _is_next(text: str, before: Statement, clause: tuple[int, int]) -> bool:
    """Return whether a statement is of the same clause, or of the one right before."""
    if before.clause == clause:
        return True
    return before.clause[1] + 1 == clause[0] and text[before.clause[1]] == ","


def _lent_by(before: Statement, head: str) -> str:
    """Return what the statement before is of; empty where it does not tell."""
    name = before.indicator
    if head in _OF_A_VALUE and _WHOLE_VALUE.search(name):
        return name
    if before.value.unit in COUNTS and not ends(name, "heads"):
        return _KINDS.sub("", name) if len(name) <= _LONGEST_OF else ""
    if not (own := _OWN_HEAD.search(name)):
        return ""
    of = name[: own.start()]
    return of if _SHORTEST <= len(of) <= _LONGEST_OF else ""


def _work(found: Sequence[Statement], clause: tuple[int, int]) -> str:
    """Return the work whose investment a sentence told before."""
    for before in reversed(found):
        if clause[0] - before.clause[1] > _NEAR:
            break
        if "投资" in before.indicator and (of := _lent_by(before, "投资")):
            return of
    return ""


def _object_before(text: str, clause: tuple[int, int]) -> str:
    """Return what the clause before does something to; or counts; empty for neither."""
    if not clause[0] or text[clause[0] - 1] != ",":
        return ""
    end = clause[0] - 1
    start = max(text.rfind(mark, 0, end) for mark in (*_CLAUSE_MARKS, "。")) + 1
    said = _LEADS_IN.match(text[start:end])
    return said["of"] if said else ""


def _entry(text: str, clause: tuple[int, int]) -> str:
    """Return the project that an entry of a list tells of: 东山光伏项目:…,总投资…."""
    start = text.rfind("。", 0, clause[0]) + 1
    mark = text.find(":", start, clause[0])
    name = text[start : max(mark, start)]
    name = _NUMBERED.sub("", name)
    return name if _ENTRY.match(name) else ""


def _joined(of: str, name: str) -> str:
    """Return both put together at the words that they share; empty where they share none.

    >>> _joined("东湖湿地", "湿地面积"), _joined("秸秆综合利用", "利用率")
    ('东湖湿地面积', '秸秆综合利用率')
    """
    for n in range(min(len(of), len(name) - 1), 1, -1):
        if of.endswith(name[:n]) and len(of) > n:
            return of + name[n:]
    return ""


_LOOK_BACK = 60
_LONGEST_SENTENCE = 800
_OPENING = 12  # characters within which a passage says when all that it says holds
_REACH = 600  # characters for which a time holds
_LONGEST = 60  # characters of an indicator
_NO_THRESHOLD = 10**5  # 完成50万平方米以上的改造, but 2万平方米以上的建筑
_SENTENCE_END = re.compile(r"[。!?]|(?<=[^\x00-\x7f%])\.(?=[^\x00-\x7f\d%]|$)")
_CLAUSE_END = re.compile("[,;:]")
_REFERS = re.compile(
    r"(?:该|此|这一|这个|上述)项?(?:比例|比重|占比|指标|数值|数字|数据|比率|率|数|值|面积|规模|总量|数量|水平)"
)
_LEVEL = re.compile(r"^(?:国家级?|(?:省|市|县|区|镇|乡)级)(?:以上)?|(?:国家|[省市县区镇乡村])级$")
_AT = ("在", "对", "将", "把", "组织对", "已对", "累计对", "共对")
_MEASURED = re.compile(r"(?:及?以[上下]|左右)?的")
_REACHING = ("惠及", "带动", "吸纳")  # 惠及居民 is what is counted


@dataclass(slots=True)
class _Said:
    """What the clauses before say, within a sentence.

    Attributes:
        indicator: The last whose value was stated.
        referred: The same, also of the sentences before: 该比例.
        carried: When the sentences before say that all holds.
        time: When it holds, as far as this one says.
        names: The indicators of the last list that had a value each.
        counted_to: Where the last noun that a number counts ends.
        verb: The last verb of building, for the items that follow it.
        base: A year that values are compared with.
        from_value: Where the next value began: 由30%.
        from_year: The year then.
        whole: The indicator of which a list behind 其中 gives the parts; empty outside of one.
        found: What was read.
    """

    indicator: str = ""
    referred: str = ""
    carried: Time | None = None
    time: Time | None = None
    names: Sequence[str] = ()
    counted_to: int = -1
    verb: str = ""
    base: str = ""
    from_value: Value | None = None
    from_year: str = ""
    whole: str = ""
    found: list[Statement] = field(default_factory=list)


def statements(
    passage: Passage, indicator: str = "", time: Time | None = None
) -> Iterator[Statement]:
    """Yield what a passage says of indicators, in order.

    Args:
        passage: From `prose.passages`.
        indicator: What was spoken of before, for a passage in brackets: （2021年达到60%）.
        time: When what is said around a passage in brackets holds.
    """
    read = tagged(passage.text)
    if not any(isinstance(span.value, Value) for span in read.spans.values()):
        return
    carried, referred = time, indicator
    for start, end in _sentences(read.code):
        said = _Said(indicator, referred, carried)
        yield from _Sentence(read, start, end, said).read()
        referred = said.referred
        carried = _carried_on(read, said.time, carried, start, end)


def _sentences(code: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the sentences, without marks; what is too long is cut."""
    start = 0
    for mark in (*_SENTENCE_END.finditer(code), None):
        end = mark.start() if mark else len(code)
        while end - start > _LONGEST_SENTENCE:
            cut = code.rfind(",", start + 1, start + _LONGEST_SENTENCE) + 1
            yield start, cut or start + _LONGEST_SENTENCE
            start = cut or start + _LONGEST_SENTENCE
        yield start, end
        start = mark.end() if mark else end


def _carried_on(
    read: Tagged, said: Time | None, before: Time | None, start: int, end: int
) -> Time | None:
    """Return the time that holds for the sentences behind one: 到2025年, or what opens it.

    Args:
        read: The passage.
        said: What the sentence says.
        before: What holds for it.
        start: Of the sentence in the tagged passage.
        end: Of it.
    """
    if said is not None:
        is_plan = said.period and "-" not in said.period
        if said.is_due or said.is_until or is_plan or said.start < _OPENING:
            return said
        at = bisect_left(read.at, said.start)
        if start <= at and names.behind_lead(read, start, at) == at:
            return said
    return before if before and read.at[end] - before.start < _REACH else None


@dataclass(frozen=True, slots=True)
class _Number:
    """A number of a clause, and what stands around it.

    Attributes:
        read: The passage.
        value: The number.
        clause: (start, end) of its clause.
        left: Where the words before that may be said of it begin.
        start: Where those between its indicator and it begin.
        at: Where it stands.
        right: Where the words behind that may be said of it end.
    """

    read: Tagged
    value: Value
    clause: tuple[int, int]
    left: int
    start: int
    at: int
    right: int

    @property
    def chain(self) -> str:
        """The words between its indicator and it."""
        return self.read.words(self.start, self.at)

    @property
    def behind(self) -> str:
        """The words behind it."""
        return self.read.words(self.at + 1, self.right)


class _Sentence:
    """Reads one sentence; all offsets are those of the tagged text."""

    def __init__(self, read: Tagged, start: int, end: int, said: _Said) -> None:
        self.tagged = read
        self.code = read.code
        self.start, self.end = start, end
        self.said = said
        spans = [(at, read.spans[at].value) for at in range(start, end) if at in read.spans]
        self.times = {at: value for at, value in spans if isinstance(value, Time)}
        self.values = {at: value for at, value in spans if isinstance(value, Value)}

    def read(self) -> list[Statement]:
        start = self.start
        for mark in (*_CLAUSE_END.finditer(self.code, self.start, self.end), None):
            end = mark.start() if mark else self.end
            self._read_clause(start, end)
            start = end + 1
        return self.said.found

    # --- one clause ---

    def _read_clause(self, start: int, end: int) -> None:
        said = self.said
        self._note_times(start, end)
        if self._starts("其中", start):
            said.whole = said.indicator
        if start and self.code[start - 1] == ";":
            said.indicator = said.base = ""
        said.from_value, said.from_year = None, ""
        numbers = [at for at in self.values if start <= at < end and not self._is_sum(at, end)]
        if not numbers:
            self._note_subject(start, end)
        elif len(numbers) < 2 or not self._done_together((start, end), numbers):
            self._read_numbers((start, end), numbers)

    def _is_sum(self, at: int, end: int) -> bool:
        """Return whether a number says how many a list has: 甲、乙等2项排放量分别…."""
        is_count = self.values[at].unit in COUNTS and self.code[at - 1 : at] == "等"
        return is_count and "分别" in self._words(at, end)

    def _read_numbers(self, clause: tuple[int, int], numbers: list[int]) -> None:
        left, i = clause[0], 0
        while i < len(numbers):
            n = i + 1
            while n < len(numbers) and self._are_listed(numbers[n - 1], numbers[n]):
                n += 1
            right = numbers[n] if n < len(numbers) else clause[1]
            self._read_group(clause, left, right, numbers[i:n])
            if n - i > 1 or not names.is_within_name(self.tagged, left, numbers[i], right):
                left = numbers[n - 1] + 1
            i = n

    def _are_listed(self, first: int, second: int) -> bool:
        """Return whether only words like 和 stand between two numbers of a unit."""
        if self.values[first].unit != self.values[second].unit or second == first + 1:
            return False
        return pattern("between").fullmatch(self.code, first + 1, second) is not None

    def _note_times(self, start: int, end: int) -> None:
        """Keep a time that governs the clauses behind: at the beginning, or with 到."""
        for at, time in self.times.items():
            if not start <= at < end:
                continue
            if time.is_base:
                behind = self._words(names.behind_lead(self.tagged, at + 1, end), end)
                if not behind.strip("底末年相比的基础上水平"):
                    self.said.base = time.year
            elif (
                time.is_due or len(self._words(names.behind_lead(self.tagged, start, at), at)) <= 4
            ):
                self.said.time = time

    def _note_subject(self, start: int, end: int) -> None:
        """Keep an indicator that a clause without a number tells the course of."""
        rises = pattern("rises").fullmatch(self.code, *names.bare(self.tagged, start, end))
        if rises and ends(name := self._words(*rises.span("name")), "heads"):
            self.said.indicator = name

    def _read_group(self, clause: tuple[int, int], left: int, right: int, group: list[int]) -> None:
        said, at = self.said, group[0]
        left = said.counted_to if left < said.counted_to <= at else left
        window = max(left, at - _LOOK_BACK)
        if pattern("no_value").search(self.code, window, at):
            return
        if len(group) == 1 and self._began_at(left, at, right):
            return
        chain = pattern("chain").search(self.code, window, at)
        start = chain.start() if chain else at
        if len(group) > 1:
            self._distribute(clause, left, start, group)
        else:
            self._read_one(_Number(self.tagged, self.values[at], clause, left, start, at, right))

    def _began_at(self, left: int, at: int, right: int) -> bool:
        """Keep the value at which another began: 由30%提高到. Return whether it is one."""
        came = pattern("from").search(self.code, left, at)
        if not came or not pattern("goes_on_to").match(self.code, at + 1, right + 6):
            return False
        said = self.said
        said.from_value = self.values[at]
        dated = [self.times[i].year for i in range(came.start(), at) if i in self.times]
        said.from_year = dated[-1] if dated else ""
        if name := names.indicator(self.tagged, left, came.start()):
            said.indicator = names.of_before(name, said.indicator)
        return True

    def _read_one(self, number: _Number) -> None:
        """Read what a clause states with one number, by the first form that it has."""
        clause, left, at, right = number.clause, number.left, number.at, number.right
        unit = number.value.unit
        verb = self._verb(clause[0], left, at)
        noun = names.counted_noun(self.tagged, at + 1, right, is_followed=right != clause[1])
        if verb and noun[0] == noun[1] and unit not in COUNTS:
            self.said.verb = verb  # 修建20吨/日处理设施10座
        if unit in countable():
            result = pattern("result").fullmatch(self.code, at + 1, right)
            if verb and noun[0] < noun[1] and not (result and left == at):
                self._built(number, verb, noun)
                return
            if self._result(number, result):
                return
        elif unit == "%" and self._share(number):
            return
        if not unit and not ends(self._words(left, number.start), "unitless"):
            return  # only indices have no unit: PUE
        start = self._predicate_start(number)
        if start < 0:
            self._bare(number)
        else:
            self._predicate(replace(number, start=start))

    def _predicate_start(self, number: _Number) -> int:
        """Return where the predicate of a number begins; -1 where there is none."""
        if pattern("is_predicate").search(self.code, number.start, number.at):
            return number.start
        is_share = number.value.unit in SHARES
        of = pattern("of").search(self.code, number.left, number.at) if is_share else None
        if of is None:
            return -1
        return number.at if self._starts("占", of.start()) else of.start()

    # --- forms ---

    def _built(self, number: _Number, verb: str, noun: tuple[int, int]) -> None:
        """建成V X."""
        said = self.said
        said.counted_to = noun[1]
        name = self._words(*noun)
        name = name.rsplit("的", 1)[-1] if len(name) > _LONGEST else name
        if not self._is_built(number, verb, name, noun[0]):
            return
        said.verb = verb
        n = len(said.found)
        self._record(number.clause, name, number.at, verb, verb)
        if (shared := pattern("shared_work").fullmatch(self.code, *noun)) and len(said.found) > n:
            self._complete(self._words(*shared.span("done")))
        level = next(filter(name.startswith, words("levels")), "")
        for i in range(n - 1, -1, -1) if level else ():  # 2个市级、4个县级水源地保护区
            if said.found[i].indicator not in words("levels"):
                break
            said.found[i] = replace(
                said.found[i], indicator=said.found[i].indicator + name.removeprefix(level)
            )

    def _is_built(self, number: _Number, verb: str, name: str, start: int) -> bool:
        """Return whether a number counts what is built, and is not the size of one of it."""
        value = number.value
        of_one = {"千瓦": "plants", "头": "farms", "只": "farms", "羽": "farms"}.get(value.unit)
        is_size = of_one and any(word in name for word in words(of_one))
        if verb in ("有", "为") or ends(name, "parts") or is_size:
            return False
        is_small = value.unit not in COUNTS and value.number < _NO_THRESHOLD
        is_limited = verb.endswith((*words("at_least"), *words("above")))
        is_meant = bool(value.after) or start > number.at + 1
        return not (is_small and is_meant) or is_limited

    def _complete(self, work: str) -> None:
        """Give what is done to a list's last item to those before: 3个油库、5辆车的油气回收治理."""
        found = self.said.found
        for i in range(len(found) - 2, -1, -1):
            if found[i].clause != found[-1].clause or found[i].value.unit not in COUNTS:
                break
            found[i] = replace(found[i], indicator=found[i].indicator + work)

    def _result(self, number: _Number, result: re.Match[str] | None) -> bool:
        """V X did what, or was done to V X: 12家企业完成整治. Return whether it was one."""
        clause, value, at = number.clause, number.value, number.at
        left, right = number.left, number.right
        if right < clause[1] or (value.after and value.unit not in COUNTS):
            return False
        if result and pattern("result_lead").fullmatch(self.code, left, at):
            name = self._words(*result.span("noun")) + self._words(*result.span("said"))
            self._record(clause, name, at, "", "", is_dated_behind=True)
            return True
        there = pattern("there").fullmatch(self.code, at + 1, right)
        behind_time = max((i + 1 for i in self.times if left <= i < at), default=left)
        where = self._words(behind_time, at).lstrip(",")
        if there and value.unit in COUNTS and where.startswith(_AT):
            name = self._words(*there.span("noun")) + self._words(*there.span("work"))
            self._record(clause, name.removesuffix("工作"), at, "", "")
            return True
        done = pattern("object_done").fullmatch(self.code, at + 1, right)
        start, end = names.without_times(self.tagged, left, at)
        verb = self._opening_verb(start, end)
        if not done or not verb:
            return False
        name = self._words(verb.end(), end)
        if ends(name, "heads"):  # 流域面积200平方公里河流治理 says which are meant
            return False
        said = self._words(*verb.span())
        self._record(clause, name + self._words(*done.span()), at, said, said)
        return True

    def _share(self, number: _Number) -> bool:
        """V of X do: 70%以上新建建筑达到绿色建筑标准. Return whether it was one."""
        start, at, right = number.start, number.at, number.right
        does = pattern("does").fullmatch(self.code, at + 1, right)
        if not does or number.value.after not in ("", "以上") or self._starts("的目标", at + 1):
            return False
        following = pattern("chain").search(self.code, at + 1, right)
        if following and pattern("is_predicate").search(self.code, following.start(), right):
            return False
        before = names.indicator(self.tagged, number.left, start)
        if before and pattern("is_strong").search(self.code, start, at):
            return False
        if ends(before, "heads") or (
            not before and pattern("says_what").match(self.code, at + 1, right)
        ):
            return False
        noun = self._words(*does.span("noun")) if does["noun"] else ""
        self._record(number.clause, before + noun, at, number.chain, "")
        return True

    def _predicate(self, number: _Number) -> None:
        """X达到V, X比2020年下降V."""
        value, left, start, behind = number.value, number.left, number.start, number.behind
        if names.is_threshold(value, behind):
            return
        is_reached = pattern("is_reached").search(self.code, start, number.at) is not None
        is_share = value.unit in SHARES
        if behind[:1] not in "、和及与的并以其" and not is_share and not is_reached:
            return
        name = names.indicator(self.tagged, left, start)
        is_built = value.unit in COUNTS or not ends(name, "heads")
        first = names.bare(self.tagged, left, start)[0]
        if not is_reached and is_built and pattern("build_lead").match(self.code, first, start):
            self._bare(number)
            return
        before = names.without_times(self.tagged, left, start)
        if not name and len(self._words(names.behind_lead(self.tagged, *before), before[1])) > 2:
            return
        if not name and not self.said.indicator and is_share:
            name = self.said.referred
        self._each(number, names.of_before(name, self.said.indicator, is_share=is_share))

    def _each(self, number: _Number, name: str) -> None:
        """Keep one value of all that a name lists: A率、B率均达到100%, A率、B率100%."""
        is_shared = pattern("shared").search(self.code, number.start, number.at) is not None
        each = names.each_alone(name, number.value, is_shared=is_shared)
        for item in each or [name]:
            self._record(number.clause, item, number.at, number.chain, "")
        if each:
            self.said.names = each

    def _bare(self, number: _Number) -> None:
        """X V, 新建X V, and V in a list that a verb or a sum opened, or behind 到2025年."""
        said, clause, at = self.said, number.clause, number.at
        unit, behind = number.value.unit, number.behind
        if behind[:1] not in "、和及与并其以" and not behind.startswith(("的目标", "目标")):
            return
        first, end = names.bare(self.tagged, number.left, number.start)
        where = self.code, first, end
        verb = pattern("build_lead").match(*where) or pattern("build_inside").match(*where)
        name = self._words(first, end)
        if verb:
            self._newly_built(number, verb, first, end)
        elif ends(name, "heads") or name.startswith(words("starts")):
            before = said.indicator if names.of_all(name) else ""
            self._each(number, before + name)
        elif not name and any(number.left <= i < at for i in self.times):
            # 占比2023年底达到30%, 2025年底40%
            for told in said.found[-1:]:
                if told.value.unit == unit or unit not in countable():
                    self._record(clause, said.indicator, at, number.chain, "")
        elif unit in countable():
            self._counted(number, name)

    def _newly_built(self, number: _Number, verb: re.Match[str], first: int, end: int) -> None:
        """新建X V; what is built was told before where X is only a verb."""
        said, clause, at, chain = self.said, number.clause, number.at, number.chain
        name = self._words(first, end)
        made = self._words(verb.end(), end) or (name if name in words("planted") else "")
        is_sum = self._words(first - 1, first) == "累计" and first > number.left
        if made in words("general") or (number.value.unit in SHARES and not ends(name, "heads")):
            self._record(clause, name if made else "", at, chain, "")
        elif made:
            said.verb = ("累计" if is_sum else "") + self._words(*verb.span())
            self._record(clause, made, at, chain, said.verb)
        elif said.verb:
            self._record(clause, said.indicator, at, chain, self._words(*verb.span()))

    def _counted(self, number: _Number, name: str) -> None:
        """X V, where what is counted is told by a verb before, by a sum or when it is due."""
        said, clause, at, chain = self.said, number.clause, number.at, number.chain
        before = said.found[-1] if said.found else None
        time = self._time(clause[0], at)
        is_due = time is not None and time.is_due
        is_next = (
            before is not None
            and before.value.unit == number.value.unit
            and before.clause[0] == self.tagged.at[clause[0]]
            and self.code[number.left] == "、"
        )
        if said.verb or said.whole or is_next or is_due or ends(name, "work"):
            self._record(clause, name, at, chain, said.verb)
        elif 2 < len(name) <= 20:
            self._record(clause, name, at, chain, "", is_bare=True)

    def _done_together(self, clause: tuple[int, int], numbers: list[int]) -> bool:
        """Keep several that are counted and have one thing done to them: 3座油库和5辆车完成治理."""
        units = {self.values[at].unit for at in numbers}
        if not units <= countable():
            return False
        start, end = names.without_times(self.tagged, clause[0], numbers[0])
        working = pattern("working").search(self.code, start, end)
        form = "object_done" if working else "result"
        done = pattern(form).fullmatch(self.code, numbers[-1] + 1, clause[1])
        if not done or not (working or pattern("result_lead").fullmatch(self.code, start, end)):
            return False
        nouns = [
            pattern("item").fullmatch(self.code, one + 1, other) for one, other in pairwise(numbers)
        ]
        said = self._words(*done.span("said"))
        told = [self._words(*noun.span("noun")) if noun else "" for noun in (*nouns, done)]
        if not all(map(names.named, told)) or (working and any(ends(n, "work") for n in told)):
            return False
        for at, name in zip(numbers, told, strict=True):
            self._record(clause, name + said, at, "", "", is_dated_behind=True)
        return True

    def _distribute(self, clause: tuple[int, int], left: int, start: int, group: list[int]) -> None:
        """A、B分别达到V、W; 到2025年、2030年A分别达到V、W."""
        said, chain = self.said, self._words(start, group[0])
        if self.code.endswith("的", left, start) and chain[:1] != "占":
            return
        first, end = names.bare(self.tagged, left, start)
        verb = pattern("build_lead").match(self.code, first, end)
        if verb and not pattern("is_strong").search(self.code, start, group[0]):
            first = verb.end() if not ends(self._words(first, end), "heads") else first
        name = self._words(first, end)
        listed: Sequence[str] = names.items(name, len(group))
        if not listed and not names.named(name):
            listed = self._listed_before(clause[0], len(group), chain)
        if listed:
            said.names = listed
            for item, at in zip(listed, group, strict=True):
                self._record(clause, item, at, chain, "", after=self.values[group[-1]].after)
            return
        if "分别" in chain and name:
            self._dated(clause, name, group, chain)

    def _dated(self, clause: tuple[int, int], name: str, group: list[int], chain: str) -> None:
        """到2025年、2030年A分别达到V、W."""
        dated = self._times(self.start, group[0])
        dated = dated[0].each() or dated if len(dated) == 1 else dated[-len(group) :]
        if len(dated) == len(group):
            for time, at in zip(dated, group, strict=True):
                self._record(clause, name, at, chain, "", time=time)

    def _listed_before(self, start: int, n: int, chain: str) -> Sequence[str]:
        """Return the n indicators that what stands before has for a list of values."""
        if len(self.said.names) == n:
            return self.said.names
        end = max(start - 1, self.start)
        marks = list(_CLAUSE_END.finditer(self.code, self.start, end))
        since = marks[-1].end() if marks else self.start
        found = [each.indicator for each in self.said.found]
        told = found if len(found) == n == len(set(found)) and "分别" in chain else ()
        return names.items(self._words(*names.bare(self.tagged, since, end)), n) or told

    # --- pieces ---

    def _words(self, start: int, end: int) -> str:
        return self.tagged.words(start, end)

    def _starts(self, words_: str, at: int) -> bool:
        return self.tagged.text.startswith(words_, self.tagged.at[at])

    def _times(self, start: int, end: int, *, is_base: bool = False) -> list[Time]:
        """Return the times between two places: those that something is compared with, or others."""
        return [t for i, t in self.times.items() if start <= i < end and t.is_base is is_base]

    def _verb(self, start: int, left: int, at: int) -> str:
        """Return the verb that a number belongs to: 完成甲、乙等5个X, 建成3条X、5个Y."""
        run = pattern("build_run").search(self.code, max(left, at - _LOOK_BACK), at)
        if run:
            return self._words(*run.span())
        before, to = self._words(left, at), self.said.counted_to
        is_next = 0 <= to < at and pattern("link").fullmatch(self.code, to, at)
        if is_next or before in ("、", "和", "及", "以及"):
            return self.said.verb
        if _MEASURED.fullmatch(before):  # 建设总面积5万亩的3个片区
            verb = self._opening_verb(start, at)
            return self._words(*verb.span()) if verb else self.said.verb
        n = before.count("、") + 1
        is_sum = n > 1 and self.values[at].number in (n, n + before.count("和"))
        if is_sum or pattern("and_others").search(self.code, left, at):
            verb = self._opening_verb(left, at)
            return self._words(*verb.span()) if verb else ""
        return ""

    def _opening_verb(self, start: int, end: int) -> re.Match[str] | None:
        """Return the verb of building that words begin with, behind what may lead it in."""
        start += self.code.startswith(",", start)
        helps = pattern("helps").match(self.code, start, end)
        at = (start, names.behind_lead(self.tagged, start, end), helps.end() if helps else end)
        found = (pattern("build_lead").match(self.code, place, end) for place in at)
        return next(filter(None, found), None)

    def _time(self, start: int, at: int) -> Time | None:
        """Return the time that holds at a place of a clause that begins at `start`."""
        told = self._times(start, at)
        return told[-1] if told else self.said.time

    def _in_full(self, name: str, verb: str) -> str:
        """Return an indicator with what its sentence says of it before: 该比例, 县级, 惠及居民."""
        said = self.said
        if _REFERS.fullmatch(name):
            name = said.referred
        name = names.without_examples(name)
        if name in words("levels"):
            name += _LEVEL.sub("", said.indicator)
        elif said.whole and names.is_part(name):
            name += said.whole
        return verb[-2:] + name if verb.endswith(_REACHING) else name

    def _record(
        self,
        clause: tuple[int, int],
        name: str,
        at: int,
        chain: str,
        verb: str,
        *,
        time: Time | None = None,
        after: str = "",
        is_dated_behind: bool = False,
        is_bare: bool = False,
    ) -> None:
        """Keep a statement if its name can be one of an indicator."""
        said, value, where = self.said, self.values[at], self.tagged.at
        name = self._in_full(name.strip(":,;.、和及与或").removeprefix("的"), verb)
        if not names.can_be_indicator(name, value, verb, chain):
            return
        span = (where[clause[0]], where[clause[1]])
        name = whole(name, self.tagged.text, span, said.found)
        comma = self.code.rfind(",", clause[0], at) + 1 or clause[0]
        bases = self._times(clause[0], at, is_base=True)
        if is_dated_behind and time is None:
            time = next(iter(self._times(at, clause[1])), None)
        number = self._words(at, at + 1) + (after if after and not value.after else "")
        between = names.spoken(chain) if chain != verb else ""
        said.found.append(
            Statement(
                name,
                value,
                names.spoken(verb) + between + number,
                chain,
                verb,
                span,
                time or self._time(clause[0], at),
                bases[0].year if bases else said.from_year or said.base,
                said.from_value,
                self._words(comma, at),
                said.carried,
                self._words(self.start, comma),
                is_bare,
            )
        )
        said.indicator = said.referred = name
        said.from_value, said.from_year = None, ""
