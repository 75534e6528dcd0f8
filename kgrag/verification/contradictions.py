"""Find figures, years, agencies, roles and modal verbs that a cited text states otherwise.

A number of the text may belong to another indicator there. A claim is compared with the most
similar sentences of the text; it is contradicted if these contain another figure (or agency), and
clearly not its own.
"""

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from kgrag.text.quantities import Quantity, agree, narrow, quantities
from kgrag.text.words import character_pairs, is_latin, quoted_titles, sentence_spans
from kgrag.verification.names import Name, names, short_agencies

# Chosen on one half of the documents, see `benchmarks/decisions.md`.
_LIKE = 0.6  # share of a claim's words that another figure's words must hold
_MARGIN = 0.25  # by which they must be more like it than the figure's own
_CLOSE = 0.1  # share by which clauses may be less like it than the best, to count as well
_FEWEST = 3  # pairs of characters that make a place comparable

_CLAUSE = re.compile(r"[^，,；;。：:|\n（）()]+")
_SEGMENT = re.compile(r"[^，,；;。：:、|\n（）()]+")
_YEAR = re.compile(
    r"(?<!\d)(?P<from>(?:比|较|与|以)\s*)?(?P<year>(?:19|20)\d\d)(?=\s*年|\s*[—–\-~～至])"
)
_DUTY_REMARK = re.compile(r"[（(][^）)]{0,12}(?:单位|部门|牵头)")
_OPEN_REMARK = re.compile(r"[（(][^（()）]{0,12}(?:单位|部门|牵头)[^）)]*$")  # goes on behind ；
_FIGURE = re.compile(r"[\d.,]+")
_AIMED = re.compile(
    r"到?\d{4}年[底末]?|力争|争取|确保|努力|进一步|[达提上下增减升降][到升高长降少低]?[到至]?\d[\d.,]*\S{0,4}$"
    r"|(?:达到|提升|提高|增加|上升|下降|降低|减少|控制)[到至在为]?|以上|以下|左右"
)
_NO_FIGURE = frozenset("年月日号条章款项期批级岁时") | {"期间"}
_MODAL = {
    "forbid": re.compile(r"不得|不准|严禁|禁止|不允许|不许|不予|不可以|不能|不应"),
    "permit": re.compile(r"(?<!不)可以|(?<!不)(?:允许|准许)|有权"),
    "oblige": re.compile(r"(?<!不)应当|必须|(?<!不)应(?=[由在按及依将向符有])|务必"),
}
_ROLE = re.compile(
    r"(?P<role>牵头|主办|配合|协助|负责|责任)(?:责任)?(?:(?:单位|部门)(?P<label>[：:])?)?|(?P<end>[，,；;。\n])"
)
_ROLES = {"牵头": "牵头", "主办": "牵头", "配合": "配合", "协助": "配合"}
MODAL = re.compile("|".join(p.pattern for p in _MODAL.values()))
NEGATION = re.compile(r"[未不无非没禁严]")


def contradictions(claim: str, text: str) -> tuple[str, ...]:
    """Return the figures, years, agencies, roles and modal verbs that a text states otherwise.

    Chinese only; figures with a unit. What does not occur in the text at all is not reported.

    Args:
        claim: A sentence or a part of one, without [n] and bullets.
        text: The cited text.
    """
    if is_latin(claim):
        return ()
    source = _read(text)
    checks = (_figures, _agencies, _roles, _modals)
    return tuple(dict.fromkeys(word for check in checks for word in check(claim, source)))


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure with its words."""

    written: str
    values: frozenset[Decimal]
    unit: str
    words: frozenset[str]
    segment: tuple[int, int]
    year: str
    base: str = ""  # the year that it is compared with


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    words: frozenset[str]
    agencies: frozenset[str]
    roles: frozenset[tuple[str, str]]  # 牵头 or 配合, by the agency's form


@dataclass(frozen=True, slots=True)
class _Source:
    figures: tuple[_Figure, ...]
    sentences: tuple[_Sentence, ...]
    clauses: tuple[tuple[str, frozenset[str], str], ...]  # with their words and their sentence


@lru_cache(maxsize=256)
def _read(text: str) -> _Source:
    told = _joined(text)
    return _Source(
        tuple(figure for sentence in told for figure in _figures_of(sentence)),
        tuple(
            _Sentence(
                s, _words(s), _agency_forms(s), frozenset((n.forms[0], r) for n, r in _held_by(s))
            )
            for s in told
        ),
        tuple(
            (m.group(), _words(MODAL.sub(" ", m.group())), s)
            for s in told
            for m in _CLAUSE.finditer(s)
        ),
    )


def _joined(text: str) -> list[str]:
    """Return the sentences of a text; a remark in brackets is joined to the one before it."""
    found: list[str] = []
    for start, end in sentence_spans(text):
        piece = text[start:end].strip()
        if found and (_DUTY_REMARK.match(piece) or _OPEN_REMARK.search(found[-1])):
            found[-1] += piece
        elif piece:
            found.append(piece)
    return found


def _words(text: str) -> frozenset[str]:
    bare = _FIGURE.sub(" ", narrow(text))
    return frozenset(p for part in bare.split() for p in character_pairs(part) if len(p) > 1)


def _figures_of(sentence: str) -> Iterator[_Figure]:
    """Yield the figures of a sentence, each with the words and the year of its segment."""
    year, before = "", frozenset[str]()
    found = _measured(sentence)
    begins = [q.start for q in found]
    for match in _SEGMENT.finditer(sentence):
        (start, end), segment = match.span(), match.group()
        years = [(bool(m["from"]), m["year"]) for m in _YEAR.finditer(segment)]
        base = next((y for is_base, y in years if is_base), "")
        year = next((y for is_base, y in reversed(years) if not is_base), year)
        own = _words(_YEAR.sub(" ", segment))
        # 到2030年达到0.8亿吨 says nothing of what it is: that stands before
        says = _words(_AIMED.sub(" ", segment))
        words = own if len(says) >= _FEWEST else own | before
        for q in found[bisect_left(begins, start) : bisect_left(begins, end)]:
            written = sentence[q.start : q.end].strip()
            yield _Figure(written, q.values, q.unit, words, (start, end), year, base)
        before = words


def _measured(sentence: str) -> list[Quantity]:
    """Return the quantities of a sentence that measure something, outside of titles."""
    titled = [(start, end) for start, end, _ in quoted_titles(sentence)]
    return [
        q
        for q in quantities(sentence)
        if q.unit and q.unit not in _NO_FIGURE and not q.is_word
        and not any(a <= q.start < b for a, b in titled)
    ]  # fmt: skip


def _figures(claim: str, source: _Source) -> Iterator[str]:
    """Yield figures that a text states of something else, and years it states otherwise."""
    weights = _weights(f.words for f in source.figures)
    mine = list(_figures_of(claim))
    for figure in mine:
        same = [f for f in source.figures if _is_same(figure, f)]
        in_order = "分别" in claim[: figure.segment[1]]
        if same and not in_order and len(figure.words) >= _FEWEST:
            yield from _otherwise(figure, same, _others(figure, mine, source), weights)


def _otherwise(
    figure: _Figure, same: Sequence[_Figure], others: Iterable[_Figure], weights: dict[str, float]
) -> Iterator[str]:
    """Yield a figure that the text states of something else, or the years that it has not there.

    Args:
        figure: The figure of the claim.
        same: The text's figures of its value.
        others: Those of other values.
        weights: Of words.
    """
    own = max(_alike(figure.words, f.words, weights) for f in same)
    # A total has words that its parts have not: who has all that is said is not contrary.
    least = max(_LIKE, _CLOSE + max(_held(figure.words, f.words, weights) for f in same))
    for f in others:
        held = _held(figure.words, f.words, weights)
        if held >= least and _alike(figure.words, f.words, weights) >= own + _MARGIN:
            yield figure.written
            return
    near = [f for f in same if _alike(figure.words, f.words, weights) >= own - _MARGIN / 2]
    yield from _other_years(figure, near)


def _others(figure: _Figure, mine: Sequence[_Figure], source: _Source) -> Iterator[_Figure]:
    """Yield the text's figures of a unit that the claim's segment of a figure does not state."""
    beside = [m for m in mine if m.segment == figure.segment]
    for other in source.figures:
        if agree(other.unit, figure.unit) and not any(_is_same(m, other) for m in beside):
            yield other


def _other_years(figure: _Figure, near: Sequence[_Figure]) -> Iterator[str]:
    """Yield the years of a figure that has other years wherever the text states it."""
    for year, its in (
        (figure.year, [f.year for f in near]),
        (figure.base, [f.base for f in near]),
    ):
        if year and all(its) and year not in its:
            yield f"{year}年"


def _is_same(one: _Figure, other: _Figure) -> bool:
    return bool(one.values & other.values) and agree(one.unit, other.unit)


def _weights(several: Iterable[frozenset[str]]) -> dict[str, float]:
    every = list(several)
    counts: dict[str, int] = {}
    for words in every:
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    return {word: math.log(1 + len(every) / n) for word, n in counts.items()}


def _sum(words: Iterable[str], weights: dict[str, float]) -> float:
    return math.fsum(weights.get(word, 1.0) for word in words)


def _alike(one: frozenset[str], other: frozenset[str], weights: dict[str, float]) -> float:
    both = _sum(one, weights) + _sum(other, weights)
    return 2 * _sum(one & other, weights) / both if both else 0.0


def _held(one: frozenset[str], other: frozenset[str], weights: dict[str, float]) -> float:
    return _sum(one & other, weights) / (_sum(one, weights) or 1.0)


def _agency_names(text: str) -> list[Name]:
    found = names(text, source_is_latin=False)
    return [
        n
        for n in found
        if not n.is_place and n.written[0] != "《" and n.written[-1] in "局委厅部会门"
    ]


def _agency_forms(text: str) -> frozenset[str]:
    return frozenset(form for name in _agency_names(text) for form in name.forms)


def _agencies(claim: str, source: _Source) -> Iterator[str]:
    """Yield agencies of the text whose duty it assigns to another one."""
    mine = _agency_names(claim)
    if not mine:
        return
    bare = claim
    for name in mine:
        bare = bare.replace(name.written, " ")
    said = _words(bare)
    weights = _weights(s.words for s in source.sentences)
    if len(said) < _FEWEST:
        return
    alike = [(_held(said, s.words, weights), s) for s in source.sentences if s.agencies]
    for name in mine:
        form = name.forms[0]
        own = max((a for a, s in alike if form in short_agencies(s.text)), default=None)
        other = max((a for a, s in alike if form not in short_agencies(s.text)), default=0.0)
        if own is not None and other >= max(_LIKE, own + _MARGIN):
            yield name.written


def _held_by(text: str) -> Iterator[tuple[Name, str]]:
    """Yield the agencies that a text names as leading (牵头) or supporting (配合), with the role.

    Roles precede a list of agencies with a colon (牵头单位：), or follow it.
    """
    named = _agency_names(text)
    labelled, at = "", 0
    for mark in (*_ROLE.finditer(text), None):
        end = mark.start() if mark else len(text)
        waiting = [name for name in named if at <= name.start < end]
        if labelled:
            yield from ((name, labelled) for name in waiting)
        if mark is None:
            return
        at = mark.end()
        role = _ROLES.get(mark["role"], "")
        if mark["label"]:
            labelled = role
        elif role and not labelled:
            yield from ((name, role) for name in waiting)
        elif mark["end"] and mark["end"] not in "，,":
            labelled = ""


def _roles(claim: str, source: _Source) -> Iterator[str]:
    """Yield agencies whose role, leading or supporting, is the other one in the text."""
    held = list(_held_by(claim))
    said = _words(claim)
    for name, role in held:
        form, other = name.forms[0], "配合" if role == "牵头" else "牵头"
        its = [
            (_held(said, s.words, {}), s.roles)
            for s in source.sentences
            if {(form, role), (form, other)} & s.roles
        ]
        best = max((alike for alike, _ in its), default=0.0)
        near = [roles for alike, roles in its if alike >= best - _CLOSE]
        if near and not any((form, role) in roles for roles in near):
            yield f"{name.written}{role}"


def _modals(claim: str, source: _Source) -> Iterator[str]:
    """Yield the modal verbs of clauses that differ in the text: 不得 for 可以."""
    for match in _CLAUSE.finditer(claim):
        segment = match.group()
        mine = _modal_verbs(segment)
        said = _words(MODAL.sub(" ", segment))
        if len(mine) != 1 or len(said) < _FEWEST:
            continue
        ((kind, written),) = mine.items()
        shares = [(len(said & words) / len(said), c, s) for c, words, s in source.clauses]
        best = max((share for share, _, _ in shares), default=0.0)
        near = [(c, s) for share, c, s in shares if share >= max(_LIKE, best - _CLOSE)]
        otherwise = all((its := _modal_verbs(c)) and kind not in its for c, _ in near)
        plain = kind == "forbid" and not any(NEGATION.search(s) for _, s in near)
        if near and (otherwise or plain):
            yield written


def _modal_verbs(text: str) -> dict[str, str]:
    """Return the first modal verb of each kind in a text."""
    return {kind: m.group() for kind, pattern in _MODAL.items() if (m := pattern.search(text))}
