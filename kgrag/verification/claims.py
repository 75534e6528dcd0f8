"""Compare the parts of a sentence with the clause that it cites."""

import functools
import math
import operator
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import Literal, NamedTuple, TypeVar

from kgrag.answer.support import wording
from kgrag.text.quantities import agree
from kgrag.text.words import has_han, is_latin
from kgrag.verification.names import bare
from kgrag.verification.parts import Date, Part, denials, parts_of, plain

T = TypeVar("T")
Verdict = Literal["missing", "elsewhere", "contrary", "computed"]

# Chosen on one half of the documents, see `benchmarks/decisions.md`.
_LIKE = 0.6  # share of a part's words that another one's must hold to be of the same thing
_ALIKE = 0.5  # of the words of two segments together that both have
_MARGIN = 0.2  # by which another part must be more like it than its own
_CLOSE = 0.1  # by which parts may be less like it than the best, to count as well
_MIXED, _FRAME = 0.8, 1 / 3  # share of a segment's words in two others together, and in both
_MOST_LIKE = 6  # segments of a clause that are compared with one
_SOME = 0.35  # likeness of a further sentence that is not the next one
_FAR = 0.4  # weight of the words of a sentence outside of a part's segment
_ROUNDED, _ABOUT = Fraction(1, 200), Fraction(1, 20)  # share by which a number may be off
_ANY_YEAR = 2001  # of two dates without one
_MOST_ITEMS = 30  # of a list whose items an answer counts
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_CAPITALISED = re.compile(r"\b[A-Z][a-z]+")
_JOINED = re.compile(r"[和与及或比]")
_JOINT = re.compile(r"、|,\s+(?:and\s)?|\band\b")
_COMPARED = frozenset(
    ("quantity", "time", "clock", "day", "place", "agency", "level", "per", "code")
)
_NAMED = frozenset(("title", "code", "name"))
# What may lack where nothing else stands in its place.
_OPTIONAL = frozenset(("modal", "level", "per"))
_MODAL = frozenset(("forbid", "permit", "oblige"))  # count where a segment negates, too
_UNLIKE = frozenset(
    {
        frozenset(pair)
        for pair in (
            ("forbid", "permit"), ("forbid", "oblige"), ("forbid", "plain"), ("not", "oblige"),
            ("not", "plain"), ("not", "permit"), ("permit", "oblige"),
        )
    }
)  # fmt: skip


@dataclass(frozen=True)
class Clause:
    """What a sentence cites.

    Attributes:
        own: The quoted sentences or rows.
        above: What they stand under: title, number, places, sections, table header, lead-in.
        around: The paragraph of the quote: names and times may stand there.
        passage: The passage around; what stands only there is no support.
        known: Names of places that no list holds.
    """

    own: str
    above: str = ""
    around: str = ""
    passage: str = ""
    known: tuple[str, ...] = ()

    @classmethod
    def joined(cls, clauses: Sequence["Clause"]) -> "Clause":
        """Return several clauses as one."""
        fields = zip(*((c.own, c.above, c.around, c.passage) for c in clauses), strict=True)
        own, above, around, passage = map("\n".join, fields)
        known = tuple(dict.fromkeys(name for c in clauses for name in c.known))
        return cls(own, above, around, passage, known)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Those of the quote."""
        return parts_of(self.own, self.known)

    @cached_property
    def over(self) -> tuple[Part, ...]:
        """Those of what it stands under."""
        return parts_of(self.above, self.known)

    @cached_property
    def beside(self) -> tuple[Part, ...]:
        """Those of its paragraph."""
        return parts_of(self.around, self.known)

    @cached_property
    def before(self) -> tuple[Part, ...]:
        """Those of its passage up to the quote."""
        return parts_of(self.passage[: max(0, self.passage.find(self.own))], self.known)

    @cached_property
    def elsewhere(self) -> tuple[Part, ...]:
        """Those of its passage."""
        return parts_of(self.passage, self.known)

    @cached_property
    def letters(self) -> str:
        """Letters and digits of all but the passage, agencies by short names."""
        return bare("\n".join((self.own, self.above, self.around)))

    @cached_property
    def topic(self) -> frozenset[str]:
        """Words that all of the quote is about."""
        return wording(self.above)


class Finding(NamedTuple):
    """What was found out about a part of a sentence that its clause does not simply state.

    Attributes:
        start: Offset of the part.
        verdict: `missing`; `elsewhere`: stands only elsewhere in the passage; `contrary`: the
            clause says otherwise; `computed` from figures that stand there.
        words: The part as written, with what the clause says, or the operands.
    """

    start: int
    verdict: Verdict
    words: str


def findings(
    said: str,
    clause: Clause,
    *,
    asked: str = "",
    around: Sequence[str] = (),
    whole: Clause | None = None,
) -> list[Finding]:
    """Return the parts of a sentence that the clause it cites does not state, in order.

    A part is stated where the clause has one of the same value, said of the same thing and meant
    alike; its words do not matter. Times and names of the question are no claims, nor are counts of
    the answer's own items.

    Args:
        said: A sentence or a part of one, without [n] and bullets.
        clause: What it cites.
        asked: The question.
        around: All sentences of the block, including this one.
        whole: What all of the answer cites, where operands may stand; the clause for None.
    """
    compared = _Compared(said, clause, asked, around, whole or clause)
    found = (compared.finding(part) for part in compared.mine)
    return sorted({*filter(None, found), *compared.mixed()})


def completing(
    said: str, clause: Clause, sentences: Sequence[str], quoted: Sequence[int], *, asked: str
) -> int | None:
    """Return which further sentence of a passage states a part that a clause lacks; None for none.

    Only one beside the quoted ones or said of the same thing, and of a part that nothing in the
    clause stands against; names first.

    Args:
        said: A sentence, without [n].
        clause: The quoted sentences.
        sentences: All of the passage.
        quoted: Indices of the quoted ones, at least one.
        asked: The question.
    """
    compared = _Compared(said, clause, asked, [said], clause)
    lacking = [p for p in compared.mine if (f := compared.finding(p)) and f.verdict == "elsewhere"]
    for part in sorted(lacking, key=lambda p: p.kind == "quantity"):
        against = compared.rivals(part)
        bearing = [
            (compared.like(part, its), -min(abs(i - n) for n in quoted), i)
            for i, sentence in enumerate(sentences)
            for its in parts_of(sentence, clause.known)
            if compared.is_same(part, its)
        ]
        if fit := [b for b in bearing if compared.is_fit(*b[:2], against)]:
            return max(fit)[2]
    return None


class _Compared:
    """A sentence in comparison with its clause."""

    def __init__(
        self, said: str, clause: Clause, asked: str, around: Sequence[str], whole: Clause
    ) -> None:
        self.mine = parts_of(said, clause.known)
        self._said, self._clause, self._around, self._whole = said, clause, around, whole
        whole_sentence = next((s for s in around if said.strip() in s), said)
        self._sentence = parts_of(whole_sentence, clause.known)
        self._block = parts_of("\n".join(around), clause.known)
        self._asked, self._asked_words = parts_of(asked, clause.known), wording(asked)
        near = {part.near for part in clause.parts}
        counts, n = Counter(word for words in near for word in words), len(near)
        self.across = is_latin(said) != is_latin(clause.own)
        self._weights = {word: math.log(1 + n / count) for word, count in counts.items()}

    def finding(self, part: Part) -> Finding | None:
        """Return what is wrong with a part; None for nothing."""
        if part.kind == "modal":
            return self._otherwise(part)
        if self._is_called_otherwise(part):
            return None
        if part.is_about and (operands := self._computed(part)):  # not what is nearly as much
            return Finding(part.start, "computed", f"{part.written} = {operands}")
        same = [p for p in self._clause.parts if self.is_same(part, p)]
        rivals = [p for p in self._clause.parts if self._is_rival(part, p, beside=bool(same))]
        return self._stated(part, same, rivals) if same else self._unstated(part, rivals)

    def _is_called_otherwise(self, part: Part) -> bool:
        """Return whether a name may have another form in the clause: letters, another language."""
        in_latin = is_latin(self._clause.own)
        if part.kind == "agency":
            return in_latin and has_han(self._said)
        if part.kind not in ("name", "code"):
            return False
        in_letters = part.kind == "name" or not _DIGITS.search(part.written)
        return (in_letters and not in_latin) or self._is_short_for(part)

    def _stated(self, part: Part, same: Sequence[Part], rivals: Sequence[Part]) -> Finding | None:
        """Return whether a part is stated of something else, or meant otherwise."""
        told = frozenset[str]().union(*(p.near for p in (*same, *rivals)))
        fits = {p: self._fits(part, p, told) for p in (*same, *rivals)}
        held = max(map(fits.__getitem__, same))
        best = max(rivals, key=fits.__getitem__, default=None)
        is_better = best and fits[best] >= max(_LIKE, held + _MARGIN)
        if best and is_better and self._is_clear(part, best, same):
            return self._contrary(part, best)
        near = [p for p in same if fits[p] >= held - _CLOSE]
        like = {p: self.like(part, p) for p in near}
        likest = max(like.values()) - _CLOSE
        return self._meant_otherwise(part, [p for p in near if like[p] >= likest])

    def _unstated(self, part: Part, rivals: Sequence[Part]) -> Finding | None:
        """Return that the clause does not state a part, or what stands in its place."""
        best = max(rivals, key=lambda p: self.like(part, p), default=None)
        against = self._contrary(part, best) if best and self.like(part, best) >= _LIKE else None
        if self._stands_above(part, rivals):
            return against if part.kind == "agency" else None
        if part.kind in _OPTIONAL or self._may_be_count(part):
            beside = best and any(word[0] == "#" for word in part.near & best.near)
            return self._contrary(part, best) if best and beside else against
        if operands := self._computed(part) or ("" if against else self._counted(part)):
            return Finding(part.start, "computed", f"{part.written} = {operands}")
        return against or self._lacking(part)

    def _lacking(self, part: Part) -> Finding | None:
        """Return that a part stands elsewhere or nowhere, unless it is that of the question."""
        is_asked = part.kind != "place" and any(self.is_same(part, p) for p in self._asked)
        if is_asked and (part.kind != "quantity" or self._sets_against(part)):
            return None
        away = any(self.is_same(part, p) for p in self._clause.elsewhere)
        if away and self.across and part.kind in ("code", "name"):
            return None  # whose it is goes without saying there
        return Finding(part.start, "elsewhere" if away else "missing", part.written)

    def _sets_against(self, part: Part) -> bool:
        """Return whether a figure of the question stands beside one that the clause states."""
        held = _quantities((*self._clause.parts, *self._clause.over))
        others = [p for p in _quantities(self.mine) if not self.is_same(part, p)]
        return any(self._computed(p) or any(self.is_same(p, its) for its in held) for p in others)

    def mixed(self) -> Iterator[Finding]:
        """Yield segments that join what the clause tells apart in two segments of one frame.

        甲区为重点管理区 has a half of each: 乙区为重点管理区，甲区为一般管理区.
        """
        if self.across:
            return
        told = {p.near: p.said for p in self._clause.parts if p.kind == "modal"}
        for part in self.mine:
            if part.kind != "modal" or _JOINED.search(part.said):
                continue
            best = sorted(told, key=lambda near: -len(near & part.near))[:_MOST_LIKE]
            for one, other in combinations(best, 2):
                here, there = one & part.near, other & part.near
                both, frame = here | there, here & there
                if (
                    len(both) >= _MIXED * len(part.near)
                    and len(frame) >= _FRAME * len(part.near)
                    and min(len(here - frame), len(there - frame)) > 1
                    and not any(both <= near for near in told)
                ):
                    yield Finding(part.start, "contrary", f"{part.said}≠{told[one]}/{told[other]}")
                    break

    def rivals(self, part: Part) -> list[float]:
        """Return how like a part those of the clause are that may stand in its place."""
        own = self._clause.parts
        return [self.like(part, p) for p in own if self._is_rival(part, p, beside=False)]

    def is_fit(self, like: float, near: int, against: Sequence[float]) -> bool:
        """Return whether a sentence that states a part is of the same thing, or beside the quote.

        Args:
            like: How like the part it is there.
            near: Minus its distance to the quote, in sentences.
            against: How like the part those are that stand against it.
        """
        if like >= _SOME + max(against, default=0.0):
            return True
        return not against and (like >= _SOME / 2 or near >= -1 or self.across)

    def _is_clear(self, part: Part, rival: Part, same: Sequence[Part]) -> bool:
        """Return whether a rival shares clearly more words with a part than those of its value."""
        is_faint = not self.across and self.like(part, rival) < _SOME
        is_each = any(p.marked("each") for p in (part, rival, *same))
        bounds = frozenset[str]().union(*(p.marked("bound") for p in same))
        is_bound_alike = part.marked("bound") & bounds - rival.marked("bound")
        if is_faint or is_each or is_bound_alike:
            return False
        if part.marked("computed") and self._computed(part):
            return False
        told = (mine.near for mine in self.mine if self.is_same(mine, rival))
        words = part.near.difference(*told) | {word for word in part.far if word[0] == "#"}
        shared = max(len(words & p.near) for p in same)
        # Names overlap with what is beside them by a pair.
        is_pair = part.kind in ("place", "agency") and has_han(self._said)
        return len(words & rival.near) > shared + is_pair

    def _contrary(self, part: Part, other: Part) -> Finding:
        return Finding(part.start, "contrary", f"{part.written}≠{other.written}")

    def is_same(self, part: Part, other: Part) -> bool:
        """Return whether two parts are of the same value."""
        if part.kind != other.kind:
            return False
        if part.kind == "quantity":
            return _is_as_much(part, other)
        if part.kind == "time":
            return any(_covers(mine, its) for mine in part.dates for its in other.dates)
        if part.kind == "modal":
            said, told = part.forms, other.forms
            if said & _MODAL and told & _MODAL:
                said, told = said & _MODAL, told & _MODAL
            return any(frozenset(p) not in _UNLIKE for p in product(said, told))
        mine, its = part.marked("within"), other.marked("within")
        back = part.kind == "agency" and mine & (other.forms | (its if self.across else set()))
        return bool(part.forms & (other.forms | its) or back)  # 财政局 of 财政部门

    def _is_rival(self, part: Part, other: Part, *, beside: bool) -> bool:
        """Return whether another part of the clause may stand in a part's place.

        Args:
            part: Of the sentence.
            other: Of the clause.
            beside: Whether only parts of the same segment of the sentence may state it; else any.
        """
        if part.kind != other.kind or part.kind not in _COMPARED or self.is_same(part, other):
            return False
        if part.kind == "agency" and beside and self.across:
            return False  # what each of them does is said in another language
        if part.kind == "quantity" and not part.units & other.units:
            return False
        return not any(
            self.is_same(mine, other)
            for mine in self.mine
            if not beside or mine.segment == part.segment
        )

    def like(self, part: Part, other: Part) -> float:
        """Return the share of a part's words that another part is said with, in [0, 1]."""
        told = other.far | self._clause.topic
        words = part.near | part.far | (self._asked_words & (told | other.near))
        held = self._sum(part, words & other.near) + _FAR * self._sum(
            part, words & told - other.near
        )
        return held / (self._sum(part, words) or 1.0)

    def _fits(self, part: Part, other: Part, told: frozenset[str]) -> float:
        """Return the same of the words that parts of the clause are told with, to compare these."""
        others = (p.near for p in self.mine if p.kind == part.kind and p.segment != part.segment)
        words = (part.near | part.far.difference(*others)) & told
        return self._sum(part, words & other.near) / (self._sum(part, words) or 1.0)

    def _sum(self, part: Part, words: Iterable[str]) -> float:
        return math.fsum(
            self._weights.get(word, 1.0) * (1.0 if word in part.near else _FAR) for word in words
        )

    def _stands_above(self, part: Part, rivals: Sequence[Part]) -> bool:
        """Return whether a part stands in what the clause is under, or is written in it.

        What stands only before the clause counts where nothing in the clause stands against it.
        """
        clause = self._clause
        if part.kind == "quantity":
            over = not rivals and any(self.is_same(part, p) for p in clause.over)
            return over or self._is_written(part)
        if part.kind in _NAMED:
            return self._is_called(part)
        if part.kind == "agency" and self._is_called(part):
            return True
        before = clause.before if part.kind == "time" else clause.beside
        beside = () if rivals else before
        return any(self.is_same(part, p) for p in (*clause.over, *beside))

    def _is_called(self, part: Part) -> bool:
        """Return whether the letters of a name stand in the clause; of an agency all of them."""
        in_full = part.kind == "agency" and not self.across
        names = (bare(part.written),) if in_full else part.forms
        return any(name in self._clause.letters for name in names)

    def _is_written(self, part: Part) -> bool:
        """Return whether a number stands in the clause as it is written, or without its unit."""
        text = plain(f"{self._clause.above}\n{self._clause.own}")
        number = plain(part.written).replace(",", "")
        digits = _DIGITS.match(number)
        if not digits:
            return False
        rest = number[digits.end() :].strip()
        held = rest in text if rest else True
        return held and any(
            not unit and value == Fraction(digits[0])
            for p in (*self._clause.parts, *self._clause.over)
            if p.kind == "quantity"
            for unit, value in p.sizes
        )

    def _meant_otherwise(self, part: Part, near: Sequence[Part]) -> Finding | None:
        """Return that a part is meant otherwise wherever the clause states it: its bound, time."""
        marks = ("bound", "move", "per", "of", "role")
        if any(_is_apart(part.marked(m), [p.marked(m) for p in near], operator.eq) for m in marks):
            return Finding(part.start, "contrary", f"{part.said}≠{near[0].said}")
        for mine, theirs in (
            (part.when, [p.when for p in near]),
            (part.base, [p.base for p in near]),
        ):
            if _is_apart({date for date in mine if date[0]}, theirs, _covers):
                return Finding(part.start, "contrary", f"{part.said}≠{near[0].said}")
        return None

    def _otherwise(self, part: Part) -> Finding | None:
        """Return that a clause forbids what a segment allows, or the like."""
        if self.across:
            return self._turned(part)
        said = [p for p in (*self.mine, *self._block) if p.kind == "modal"]
        shares = [(_alike(part, p), p) for p in self._clause.parts if p.kind == "modal"]
        best = max((share for share, _ in shares), default=0.0)
        near = [
            p
            for share, p in shares
            if share >= max(_ALIKE, best - _CLOSE)
            and share >= max(_alike(mine, p) for mine in said) - _CLOSE
        ]
        if not near or any(self.is_same(part, p) for p in near):
            return None
        if 0 < denials(part.said) == denials(near[0].said):
            return None  # no is said by other words
        return self._contrary(part, near[0])

    def _turned(self, part: Part) -> Finding | None:
        """Return that a clause in another language forbids what is allowed, and nothing else."""
        told = [p for p in self._clause.parts if p.kind == "modal" and p.forms & _MODAL]
        values = frozenset[str]().union(*(p.forms for p in told)) & _MODAL
        mine = "forbid" if denials(part.said) else "permit"
        if part.forms & {"permit", "forbid"} and values == {"forbid", "permit"} - {mine}:
            return self._contrary(part, told[0])
        return None

    def _is_short_for(self, part: Part) -> bool:
        """Return whether a name stands in full where the clause has its letters, or inversely."""
        whole = f"{self._clause.above}\n{self._clause.own}"
        if part.kind == "code":
            return part.written.casefold() in _initials(whole)
        codes = (p.written.casefold() for p in self._clause.parts if p.kind == "code")
        initial = part.written[0].casefold()
        return any(initial in code and code in _initials(self._said) for code in codes)

    def _may_be_count(self, part: Part) -> bool:
        """Return whether a number in words may count what the reader sees: 三个方面."""
        return part.is_word and (part.units == {"个"} or max(part.raw) <= 1)

    def _computed(self, part: Part) -> str:
        """Return how a part follows from what stands in the clause; empty if it does not."""
        if part.kind == "time":
            return self._reckoned(part)
        if part.kind != "quantity":
            return ""
        with_asked = any(
            self.is_same(p, its) for p in _quantities(self.mine) for its in self._asked
        )
        is_told = part.marked("computed") or with_asked
        mine = self._operands(part, self._block if is_told else self._sentence)
        found = _of_one(part, mine) or _of_two(part, mine) or _of_all(part, mine)
        found = found or self._spanned(part)
        if found or not part.marked("computed"):
            return found
        # Some two of many numbers have nearly any ratio.
        return _of_two(part, _quantities(self._clause.parts), signs="+−")

    def _operands(self, part: Part, own: Sequence[Part]) -> list[Part]:
        """Return numbers of the answer that its clauses state, or that follow from these."""
        held = _quantities((*self._whole.parts, *self._whole.over, *self._asked))
        told = [p for p in _quantities((*own, *self._asked)) if not self.is_same(part, p)]
        found = [p for p in told if any(self.is_same(p, its) for its in held)]
        found += [p for p in self._clause.parts if p.marked("of") and p not in told]
        for p in told:
            if p not in found and (_of_two(p, found) or _of_all(p, found)):
                found.append(p)
        return found

    def _spanned(self, part: Part) -> str:
        """Return between which two dates of the answer a time lies, in days or months."""
        told = [p for p in (*self._asked, *self._block) if p.kind == "time"]
        for begin, end in combinations(told, 2):
            for one, other in product(begin.dates, end.dates):
                spans = _passed(one, other)
                if any(abs(spans.get(unit, -9)) - size in (0, -1) for unit, size in part.sizes):
                    return f"{end.written}−{begin.written}"
        return ""

    def _counted(self, part: Part) -> str:
        """Return of how many items a number is, in the answer's block, its sentence, the clause."""
        n_listed = (len(_JOINT.findall(text)) + 1 for text in (self._said, self._clause.own))
        counts = {len(self._around), len(self._around) - 1, *n_listed}
        for unit, value in part.sizes:
            if unit in ("个", "") and 1 < value <= _MOST_ITEMS and int(value) in counts:
                return f"{int(value)} ×"
        return ""

    def _reckoned(self, part: Part) -> str:
        """Return from which time and how many months or days a time follows."""
        told = [p for p in (*self.mine, *self._asked, *self._clause.parts) if p.kind == "time"]
        for begin, term in product(told, _quantities(self._clause.parts)):
            for one, other in product(begin.dates, part.dates):
                spans = _passed(one, other) if begin is not part else {}
                if any(unit in spans and 0 <= size - spans[unit] <= 1 for unit, size in term.sizes):
                    return f"{begin.written}+{term.written}"
        return ""


def _quantities(parts: Iterable[Part]) -> list[Part]:
    return [p for p in parts if p.kind == "quantity"]


def _passed(one: Date, other: Date) -> dict[str, int]:
    """Return how many months and days lie between two dates, as far as both tell them."""
    (year, *day), (its, *its_day) = one, other
    spans = {}
    if bool(year) == bool(its) and bool(day[0]) == bool(its_day[0]):
        spans["月"] = 12 * (its - year) + its_day[0] - day[0]
    if all(day) and all(its_day):
        with suppress(ValueError):  # 2月30日
            end = date(its or year or _ANY_YEAR, *its_day)
            spans["日"] = (end - date(year or its or _ANY_YEAR, *day)).days
    return spans


@functools.lru_cache(maxsize=1 << 8)
def _initials(text: str) -> str:
    """Return the first letters of the capitalised words of a text: those of a name are together."""
    return "".join(word[0] for word in _CAPITALISED.findall(text)).casefold()


def _is_as_much(part: Part, other: Part) -> bool:
    """Return whether two quantities are the same, but for rounding where one was converted."""
    one, two = part.sizes, other.sizes
    if "" in part.units | other.units:
        one, two = (frozenset(("", raw) for raw in p.raw) for p in (part, other))
    off = _ABOUT if part.is_about > other.is_about else Fraction(0)
    if part.is_converted or other.is_converted:
        off = max(off, _ROUNDED)
    return any(
        agree(unit, its) and abs(size - value) <= off * abs(value)
        for (unit, size), (its, value) in product(one, two)
    )


def _alike(part: Part, other: Part) -> float:
    """Return how alike two segments are, in all words and in what their modal words govern."""
    both = 2 * len(part.near & other.near) / (len(part.near) + len(other.near))
    if not part.far and not other.far:
        return both
    mine, its = part.far or part.near, other.far or other.near
    share = len(mine & its) / min(len(mine), len(its))
    return (both + share) / 2 if share >= _ALIKE else 0.0


def _of_one(part: Part, terms: Sequence[Part]) -> str:
    """Return of which number a number is the double or the half."""
    for term in terms:
        for (unit, size), (its, value) in product(part.sizes, term.sizes):
            if agree(unit, its) and size in (2 * value, value / 2):
                return f"{term.written}{'×' if size > value else '÷'}2"
    return ""


def _of_two(part: Part, terms: Sequence[Part], signs: str = "+−×÷") -> str:
    """Return of which two numbers a number is the sum, difference, product or ratio."""
    for one, other in combinations(terms, 2):
        for (unit, a), (its, b) in product(one.sizes, other.sizes):
            for sign, result, of in _results(unit, a, its, b):
                off = _ROUNDED * abs(result) if sign in "×÷" else 0
                right = any(agree(u, of) and abs(v - result) <= off for u, v in part.sizes)
                if sign != "×":  # no ratio of shares, unless it says that it is one
                    right &= sign != "÷" or unit != "%" or bool(part.marked("computed"))
                    right &= part.marked("bound") <= one.marked("bound") | other.marked("bound")
                if right and sign in signs:
                    return f"{one.written}{sign}{other.written}"
    return ""


def _of_all(part: Part, terms: Sequence[Part]) -> str:
    """Return of which three or more numbers of its unit a number is the sum."""
    (unit, value), *_ = part.sizes
    alike = [p for p in terms if any(agree(unit, its) for its in p.units)]
    is_sum = len(alike) > 2 and value == sum(max(size for _, size in p.sizes) for p in alike)
    return "+".join(p.written for p in alike) if is_sum else ""


def _results(unit: str, a: Fraction, its: str, b: Fraction) -> Iterator[tuple[str, Fraction, str]]:
    """Yield (sign, result, its unit) of what may be computed from two numbers."""
    for of, share in ((unit, its), (its, unit)):
        if of and of not in ("%", share):
            yield "×", a * b / (100 if share == "%" else 1), of
    if not agree(unit, its):
        return
    yield "+", a + b, unit
    yield "−", abs(a - b), unit
    if unit == "%":
        yield "−", abs(a - b), "个百分点"
    for one, other in ((a, b), (b, a)):
        if other:
            yield "÷", 100 * one / other, "%"
            yield "÷", 100 * abs(one - other) / other, "%"
            yield "÷", one / other, "倍"


def _is_apart(
    mine: Collection[T], theirs: Sequence[Collection[T]], alike: Callable[[T, T], bool]
) -> bool:
    """Return whether something is told of a part, and of all others, and nowhere alike."""
    told = bool(mine) and all(theirs)
    return told and not any(alike(a, b) for a in mine for its in theirs for b in its)


def _covers(mine: Date, its: Date) -> bool:
    """Return whether a time is another one, or a longer one around it; 0 is not told."""
    return all(
        not own or own == other or (other == 0 and i == 0)
        for i, (own, other) in enumerate(zip(mine, its, strict=True))
    )
