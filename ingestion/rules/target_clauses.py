"""Read the clauses of a passage: which indicator has which value."""

import re
from collections.abc import Iterator, Sequence

from kgrag.ingestion.rules import target_counts as counts
from kgrag.ingestion.rules import target_names as names
from kgrag.ingestion.rules import target_patterns as p
from kgrag.ingestion.rules import target_words as words
from kgrag.ingestion.rules.prose import Passage
from kgrag.ingestion.rules.target_recorder import LONGEST, Recorder
from kgrag.ingestion.rules.target_statement import State, Statement
from kgrag.ingestion.rules.target_times import Time, carried_on, times
from kgrag.ingestion.rules.target_values import SHARES, Value, values
from kgrag.language.quantities import COUNTS

_OF_WHAT_IS_MEANT = re.compile(r"^的(?!目标|水平|比例|速度|增速)")
_NOT_YET = re.compile(r"(?:尚未|未能|未|没有|不足|(?:目标|任务|平均水平)的)$")
_LOOK_BACK = 60
_NO_THRESHOLD = 10**5  # 完成50万平方米以上的改造, but 2万平方米以上的建筑
_LINK = re.compile(
    rf"(?:{p.AND}|,)+(?:{p.LIMIT_LOW}|{p.LIMIT_HIGH}|{p.ABOVE}|{p.ABOUT}|累计|各|共|新)?"
)
_MEASURED = re.compile(r"(?:及?以[上下]|左右)?的")  # 建设总面积5万亩的3个片区
_ANDS = frozenset(("、", "和", "及", "以及"))
_SHARED = re.compile(r"(?<![年平日月])均|都|皆|全部|各")
_LIMITED = re.compile(rf"(?:{p.LIMIT_LOW}|{p.ABOVE})$")


def statements(
    passage: Passage, indicator: str = "", time: Time | None = None
) -> Iterator[Statement]:
    """Yield what a passage says of indicators, in order.

    Args:
        passage: From `prose.passages`.
        indicator: What was spoken of before, for a passage in brackets: （2021年达到60%）.
        time: When what is said around a passage in brackets holds.
    """
    text = passage.text
    numbers = values(text)
    if not numbers:
        return
    said = times(text)
    i = 0
    carried = time
    referred = indicator
    for start, end in passage.sentences():
        while i < len(numbers) and numbers[i].start < start:
            i += 1
        j = i
        while j < len(numbers) and numbers[j].start < end:
            j += 1
        state = State(indicator, carried, referred)
        sentence = _Sentence(text, (start, end), numbers[i:j], said, state)
        yield from sentence.read()
        referred = sentence.state.referred
        carried = carried_on(sentence.state.time, carried, (start, end), text)
        i = j


class _Sentence:
    """Reads one sentence."""

    def __init__(
        self,
        text: str,
        span: tuple[int, int],
        numbers: Sequence[Value],
        said: Sequence[Time],
        state: State,
    ) -> None:
        self.text = text
        self.start, self.end = span
        self.numbers = numbers
        self.said = [t for t in said if self.start <= t.start < self.end]
        self.state = state
        self.record = Recorder(text, self.start, self.said, state)

    def read(self) -> list[Statement]:
        for start, end, inside in words.clauses(self.text, (self.start, self.end), self.numbers):
            self._note_times(start, end)
            if self.text.startswith("其中", start):
                self.state.is_part = bool(self.state.indicator)
                self.state.whole = self.state.indicator
            if start and self.text[start - 1] == ";":
                self.state.indicator = self.state.base = ""
            self.state.from_value, self.state.from_year = None, ""
            if inside:
                self._read_clause(start, end, inside)
            else:
                self._note_subject(start, end)
        return self.state.found

    def _note_times(self, start: int, end: int) -> None:
        """Keep a time that governs the clauses behind: at the beginning, or with 到."""
        for time in self.said:
            if not start <= time.start < end:
                continue
            if time.is_base:
                if not p.LEADS.sub("", self.text[time.end : end]).strip("底末年相比的基础上水平,"):
                    self.state.base = time.year
                continue
            before = words.lead_stripped(self.text[start : time.start])
            if not before or time.is_due or len(before) <= 4:
                self.state.time = time

    def _note_subject(self, start: int, end: int) -> None:
        """Keep an indicator that a clause without a number tells the course of."""
        rises = p.RISES.match(names.without_times(self.text[start:end]))
        name = words.lead_stripped(rises["name"]) if rises else ""
        if p.INDICATOR_END.search(name):
            self.state.indicator = name

    # --- one clause ---

    def _read_clause(self, start: int, end: int, inside: list[Value]) -> None:
        together = counts.done_together(self.text, (start, end), inside)
        if together := together or counts.with_amount(self.text, (start, end), inside):
            for name, value in together:
                self.record((start, end), name, value, "", "", time=self.record.behind(end, value))
            return
        inside = counts.without_sums(self.text, end, inside)
        left, i = start, 0
        while i < len(inside):
            group = [inside[i]]
            while i + len(group) < len(inside):
                following = inside[i + len(group)]
                between = self.text[group[-1].end : following.start]
                if following.unit != group[-1].unit or not words.is_between(between):
                    break
                group.append(following)
            right = inside[i + len(group)].start if i + len(group) < len(inside) else end
            self._read_group(start, end, left, right, group)
            i += len(group)
            before, behind = self.text[left : group[0].start], self.text[group[-1].end : right]
            if len(group) > 1 or not names.is_within_name(before, group[0], behind):
                left = group[-1].end

    def _read_group(self, start: int, end: int, left: int, right: int, group: list[Value]) -> None:
        first = group[0]
        counted_to = self.state.counted_to
        left = counted_to if left < counted_to <= first.start else left  # 15座站点、装机10兆瓦
        before = counts.without_kinds(self.text[left : first.start])
        window = before[-_LOOK_BACK:]
        behind = self.text[group[-1].end : right]
        if p.OTHER_NUMBER.search(window) or _NOT_YET.search(window) or p.EACH_STEP.search(window):
            return
        came_from, goes_on = p.FROM.search(window), behind or self.text[right + 1 : right + 6]
        if came_from and len(group) == 1 and words.goes_on_to(goes_on):
            self.state.from_value, self.state.from_year = first, came_from["year"] or ""
            rest = before[: len(before) - len(window) + came_from.start()]
            name = names.indicator_in(rest)
            if name:
                before = self.state.indicator if p.OF_WHAT_BEFORE.fullmatch(name) else ""
                self.state.indicator = before + name
            return
        found = p.CHAIN.search(window)
        chain = found[0] if found else ""
        rest = before[: len(before) - len(chain)]
        whole = (start, end)
        if len(group) > 1:
            self._distribute(whole, rest, chain, group)
            return
        self._read_one(whole, before, rest, chain, first, behind)

    def _read_one(
        self,
        clause: tuple[int, int],
        before: str,
        rest: str,
        chain: str,
        value: Value,
        behind: str,
    ) -> None:
        """Read what a clause states with one number, by the first form that it has."""
        verb = self._verb(before[-_LOOK_BACK:], before, value)
        is_last = value.end + len(behind) == clause[1]
        noun = names.counted_noun(behind, is_followed=not is_last)
        if verb and not noun and value.unit not in COUNTS:
            self.state.verb = verb  # 修建20吨/日处理设施10座
        acts = not before and p.RESULT.match(behind)  # 清查20家企业,5家企业完成整改
        if verb and noun and not acts and value.unit in {*COUNTS, *p.MEASURED_NOUNS}:
            self._built_noun(clause, verb, value, noun, behind)
            return
        if value.unit in p.DONE_TO and self._result(clause, before, value, behind):
            return
        if self._at_least(clause, rest, chain, value, behind):
            return
        if chain and words.is_predicate(chain):
            self._predicate(clause, rest, chain, value, behind)
        elif (of := p.OF.search(rest)) and value.unit in SHARES and not chain:
            is_part = of[0].startswith("占")
            name = rest.removesuffix("的") if is_part else rest[: of.start()]
            self._predicate(clause, name, "占" if is_part else of[0], value, behind)
        else:
            self._bare(clause, rest, chain, value, behind)

    def _predicate(
        self, clause: tuple[int, int], rest: str, chain: str, value: Value, behind: str
    ) -> None:
        """X达到V, X比2020年下降V."""
        if _OF_WHAT_IS_MEANT.match(behind) or words.is_threshold(value, behind):
            if made := counts.made_of(rest, value, chain, behind):
                self.record(clause, made, value, chain, "")
            return
        if value.unit == "" and not p.UNITLESS.search(rest):
            return
        goes_on = behind and behind[0] not in "、和及与的并以其"
        if goes_on and value.unit not in SHARES and not p.IS_REACHED.search(chain):
            return
        name = names.indicator_in(rest)
        is_built = value.unit in COUNTS or not p.INDICATOR_END.search(name)
        if not p.IS_REACHED.search(chain) and is_built and p.BUILD_LEAD.match(name):
            self._bare(clause, rest, chain, value, behind)
            return
        if not name and words.has_words(names.without_times(rest)):
            return
        if not name and not self.state.indicator and value.unit in SHARES:
            name = self.record.gone_on(value.start - len(chain))
        name = names.lent(name, self.state.indicator, value, chain, is_part=self.state.is_part)
        self._each(clause, name, value, chain)

    def _each(self, clause: tuple[int, int], name: str, value: Value, chain: str) -> None:
        """Keep one value of all that a name lists: A率、B率均达到100%, A率、B率100%."""
        each = words.all_items(name) if _SHARED.search(chain) else words.all_rates(name, value)
        for item in each or [name]:
            self.record(clause, item, value, chain, "")
        if each:
            self.state.names = each

    def _bare(
        self, clause: tuple[int, int], rest: str, chain: str, value: Value, behind: str
    ) -> None:
        """X V, 新建X V, and V of X do."""
        if value.unit == "%" and self._share(clause, rest, chain, value, behind):
            return
        is_aim = behind.startswith(("的目标", "目标"))
        if behind and behind[0] not in "、和及与并其以" and not is_aim:
            return
        if value.unit == "" and not p.UNITLESS.search(rest):
            return
        bare = words.lead_stripped(names.without_times(rest))
        said, name = words.verb_and_name(bare, rest)
        is_named = bool(p.INDICATOR_END.search(bare) or p.INDICATOR_START.match(bare))
        if said and not name and self.state.verb:
            self.record(clause, self.state.indicator, value, chain, said)
        elif said and name in p.GENERAL:
            self.record(clause, bare, value, chain, "")
        elif said and words.names_something(name) and (is_named or value.unit not in SHARES):
            self.state.verb = said
            self.record(clause, name, value, chain, said)
        elif is_named:
            before = self.state.indicator if p.SHARE_OF_BEFORE.match(bare) else ""
            self._each(clause, before + bare, value, chain)
        else:
            self._unnamed(clause, rest, bare, chain, value, is_built=bool(said))

    def _unnamed(
        self,
        clause: tuple[int, int],
        rest: str,
        name: str,
        chain: str,
        value: Value,
        *,
        is_built: bool,
    ) -> None:
        """X V in a list that a verb or a sum opened, or behind 到2025年."""
        can_be_built = value.unit in COUNTS or value.unit in p.MEASURED_NOUNS
        verb = self.state.verb if can_be_built and not is_built else ""
        if not name.strip(",") and self.record.says_when(clause[0], value.start):
            name = self.state.indicator  # 占比2023年底达到30%, 2025年底40%
            if self.state.found and self.state.found[-1].value.unit == value.unit:
                self.record(clause, name, value, chain, "")
            return
        time = self.record.time(clause[0], value.start)
        is_due = can_be_built and not is_built and time is not None and time.is_due
        if self.state.is_part and p.PLACE.fullmatch(words.lead_stripped(name)):
            name = words.lead_stripped(name) + self.state.whole
        is_work = can_be_built and not is_built and p.WORK_END.search(name)
        is_next = counts.goes_on(self.state.found, clause, rest, value)
        is_part = rest.startswith("其中") or self.state.is_part
        if verb or is_due or is_part or is_work or is_next:
            self.record(clause, name, value, chain, verb)
        elif can_be_built and not is_built and p.STATE.fullmatch(name):
            self.record(clause, name, value, chain, "", is_bare=True)

    def _share(
        self, clause: tuple[int, int], rest: str, chain: str, value: Value, behind: str
    ) -> bool:
        """V of X do: 70%以上新建建筑达到绿色建筑标准. Return whether it was one."""
        name = counts.share_of(rest, value, behind)
        if name is not None:
            self.record(clause, name, value, chain, "")
        return name is not None

    def _at_least(
        self, clause: tuple[int, int], rest: str, chain: str, value: Value, behind: str
    ) -> bool:
        """至少V of X do. Return whether it was one."""
        alone = value.unit == "%" and chain.endswith(("至少", "超过", "约"))
        if not alone or names.without_times(rest).strip(","):
            return False
        return self._share(clause, "", chain, value, behind)

    def _built_noun(
        self, clause: tuple[int, int], verb: str, value: Value, noun: str, behind: str
    ) -> None:
        """建成V X."""
        self.state.counted_to = value.end + behind.find(noun) + len(noun)
        if len(noun) > LONGEST:
            noun = noun.rsplit("的", 1)[-1]
        if verb in ("有", "为") or p.PARTS.search(noun):
            return
        is_small = value.unit not in COUNTS and value.number < _NO_THRESHOLD
        if is_small and not _LIMITED.search(verb) and (value.after or behind.startswith("的")):
            return
        of_one = {"千瓦": p.SINGLE_PLANT}.get(value.unit)
        of_one = p.FARM if value.unit in p.LIVESTOCK else of_one
        if of_one and of_one.search(noun):
            return
        self.state.verb = verb
        before = len(self.state.found)
        self.record(clause, noun, value, verb, verb)
        if len(self.state.found) > before:
            names.complete_levels(self.state.found, noun)
            names.complete_work(self.state.found, noun)

    def _distribute(
        self, clause: tuple[int, int], rest: str, chain: str, group: list[Value]
    ) -> None:
        """A、B分别达到V、W; 到2025年、2030年A分别达到V、W."""
        if (rest.endswith("的") and "占" not in rest) or "分别" in rest:
            return
        bare = words.lead_stripped(names.without_times(rest))
        verb = p.BUILD_LEAD.match(bare) if not p.IS_STRONG.search(chain) else None
        if verb and not p.INDICATOR_END.search(bare):
            bare = bare[verb.end() :]
        listed: Sequence[str] = words.items(bare, len(group))
        if not listed and not words.names_something(bare):
            at = (clause[0], self.start)
            listed = names.said_before(self.text, at, self.state, chain, len(group))
        if listed:
            self.state.names = listed
            alike = not any(value.after for value in group[:-1])
            after = group[-1].after if alike else ""
            for name, value in zip(listed, group, strict=True):
                self.record(clause, name, value, chain, "", after=after)
            return
        dated = [t for t in self.said if not t.is_base and t.start < group[0].start][-len(group) :]
        if len(group) > 1 and len(dated) == 1:
            dated = dated[0].each() or dated
        if "分别" in chain and len(dated) == len(group) and bare:
            for time, value in zip(dated, group, strict=True):
                self.record(clause, bare, value, chain, "", time=time)

    # --- pieces ---

    def _verb(self, window: str, before: str, value: Value) -> str:
        """Return the verb that a number belongs to: 完成甲、乙等5个X, 建成3条X、5个Y."""
        build = p.BUILD_RUN.search(window)
        if build:
            return build[0]
        counted_to = self.state.counted_to
        if before in _ANDS or (
            0 <= counted_to < value.start and _LINK.fullmatch(self.text, counted_to, value.start)
        ):
            return self.state.verb
        if _MEASURED.fullmatch(before):
            return words.verb_before(self.text, value.start) or self.state.verb
        listed = p.AND_OTHERS.search(before)
        if not listed and not words.counts_list(before, value):
            return ""
        return words.opening_verb(before)

    def _result(self, clause: tuple[int, int], before: str, value: Value, behind: str) -> bool:
        """V X did what, or was done to V X: 12家企业完成整治. Return whether it was one."""
        bare = words.lead_stripped(names.without_times(before))
        whole = not value.after or value.unit in COUNTS  # 2万亩以上的 are those meant
        result = p.RESULT.match(counts.without_when(behind)) if whole else None
        following = self.text[value.end + len(behind) : clause[1]][:1]
        leads_on = following.isdigit()  # 19个断面比例达到100%
        if result and not leads_on and p.RESULT_LEAD.fullmatch(bare):
            self.record(clause, result[0], value, "", "", time=self.record.behind(clause[1], value))
            return True
        if value.unit in COUNTS and not leads_on and (name := counts.work_there(before, behind)):
            self.record(clause, name, value, "", "")
            return True
        done = p.OBJECT_DONE.match(behind)
        lead = p.BUILD_INSIDE.match(bare) or p.BUILD_LEAD.match(bare)
        lead = p.BUILD_LEAD.match(p.RESULT_LEAD.sub("", bare, count=1)) or lead
        lead = lead or p.BUILD_LEAD.match(bare := names.without_times(before).lstrip(","))
        if not done or not lead or not words.names_something(bare):
            return False
        name = re.split(lead[0], bare, maxsplit=1)[-1]
        if p.INDICATOR_END.search(name):  # 流域面积200平方公里河流治理 says which are meant
            return False
        self.record(clause, name + done["noun"], value, lead[0], lead[0])
        return True
