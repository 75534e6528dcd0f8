"""Tell others what rules read in a passage, and make one fact of what both read at one place."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from kgrag.ingestion.facts import BY_RULE, Stated, facts_of, with_evidence
from kgrag.ingestion.resolve import NameResolver
from kgrag.ingestion.statements.target_grammar import as_text, values
from kgrag.qualifiers import Qualifiers
from kgrag.text.leading_region import leading_region
from kgrag.text.visible import shortened
from kgrag.text.words import normalize_name
from kgrag.types import Evidence, Fact

OWN_WORDS = "本地区，本文件，本机关"  # by which a model calls what a document is of
_STATED = ("target", "duty")  # kinds of statements that are made one
_SHOWN = 60  # characters of a name that a model is told
_OWNERS = frozenset(["agency", "document", "region"])  # types of what has figures and is none


@dataclass(frozen=True, slots=True)
class Known:
    """What rules state at one place, as a model is told it, and by whose key it corrects it.

    Attributes:
        key: Within the passage: r3.
        stated: Facts of one predicate with one object, each with its evidence there.
    """

    key: str
    stated: tuple[tuple[Fact, tuple[Evidence, ...]], ...]

    def line(self, names: NameResolver) -> str:
        """Return it in the document's words: r3: 市能源局、市财政局 | 负责 | 节能改造."""
        parts = [written(fact, evidence[0], names) for fact, evidence in self.stated]
        subjects = "、".join(sorted({subject for subject, _ in parts}))
        shown = (subjects, self.stated[0][0].predicate, parts[0][1])
        return f"{self.key}: " + " | ".join(shortened(part, _SHOWN) for part in shown)


def written(fact: Fact, evidence: Evidence, names: NameResolver) -> tuple[str, str]:
    """Return subject and object as a place words them; the document itself is 本文件."""
    told = evidence.qualifiers
    ends = ((told.subject, fact.subject), (told.object, fact.object))
    subject, object_ = (
        said or ("本文件" if entity == names.document else entity.name) for said, entity in ends
    )
    return subject, object_


def known(facts: Iterable[Fact], start: int, end: int) -> list[Known]:
    """Return what rules state from one offset of a document to another, in its order."""
    places: defaultdict[tuple[int, int, str, str, str], dict[str, tuple[Fact, list[Evidence]]]]
    places = defaultdict(dict)
    for fact in facts:
        for e in fact.evidence:
            if e.extractor == BY_RULE and start <= e.start < end:
                # the organs of a duty share a line
                whose = "" if e.qualifiers.kind == "duty" else fact.subject.name
                place = (e.start, e.end, fact.predicate, fact.object.name, whose)
                places[place].setdefault(fact.fact_id, (fact, []))[1].append(e)
    return [
        Known(f"r{n}", tuple((fact, tuple(found)) for fact, found in places[place].values()))
        for n, place in enumerate(sorted(places), 1)
    ]


@dataclass(eq=False)
class _Reading:
    """What one reader states at one place: a figure or a duty, with who else read it there."""

    fact: Fact
    evidence: list[Evidence]
    names: NameResolver
    others: "list[_Reading]" = field(default_factory=list)
    fuller: str = ""  # name, as another tells it

    def __post_init__(self) -> None:
        self.told = self.evidence[0].qualifiers
        self.subject, self.object = written(self.fact, self.evidence[0], self.names)
        self.is_duty = self.told.kind == "duty"
        self.end = self.fact.object if self.is_duty else self.fact.subject
        self.by_rule = self.evidence[0].extractor == BY_RULE
        self.name = self.object if self.is_duty else self._measured()

    def _measured(self) -> str:
        """Return the name of what is measured, without the document's own place."""
        if self.fact.subject.type in _OWNERS:
            return ""
        name = self.names.names.resolve(self.subject)
        places, end = leading_region(name, within=self.names.regions)
        own = (*self.names.regions, self.names.region)
        return name[end:] if places and places[-1] in own else name

    @property
    def figure(self) -> tuple[str, ...]:
        """What statements that may be one have in common."""
        told = self.told
        if self.is_duty:
            return told.kind, self.fact.subject.entity_id, told.role
        return told.kind, told.value, told.value_to, told.unit

    def united(self) -> Fact:
        """Return the fact of all its readers, at its place and in its form."""
        told, object_ = self.told, self.object
        for other in self.others:
            if other.told.year and not (told.year or self.is_duty):
                object_ = other.object
            told = Qualifiers.from_record(other.told.to_record() | told.to_record())
        told = replace(told, subject=self.told.subject, object=self.told.object)
        found = [replace(e, qualifiers=told) for e in self.evidence]
        readers = {(e.extractor, e.confidence) for other in self.others for e in other.evidence}
        found += [replace(e, extractor=x, confidence=c) for e in found for x, c in sorted(readers)]
        as_it_is = replace(self.fact, evidence=tuple(found))
        name = self.fuller or (self.object if self.is_duty else self.subject)
        ends = (self.subject, name) if self.is_duty else (name, object_)
        if ends == (self.subject, self.object):
            return as_it_is
        type_ = self.fact.subject.type if self.is_duty else ""
        stated = Stated(ends[0], self.fact.predicate, ends[1], tuple(found), type_)
        return next(iter(facts_of([stated], self.names)), as_it_is)

    def corrects(self, before: "Iterable[_Reading]") -> bool:
        """Give a statement of rules its own name, if it is that but for the name."""
        at, pairs = self.evidence[0], _pairs(self.name)
        same = [
            (len(pairs & _pairs(one.name)), one)
            for one in before
            if (at.start, at.end) == (one.evidence[0].start, one.evidence[0].end)
            and self.fact.predicate == one.fact.predicate
            and (self.is_duty or self.object == one.object or not one.told.year)
        ]
        common, one = max(same, key=lambda found: found[0], default=(0, self))
        if one is self or (self.is_duty and 2 * common < len(pairs)):
            return False
        one.others.append(self)
        if self.end != one.end:
            one.name = one.fuller = self.name or self.subject
        return True

    def joins(self, before: "Iterable[_Reading]", text: str, whole: str) -> bool:
        """Add it to those of the statements before that it repeats; return whether there are any.

        `whole` is the normalised text, in which the words of a fuller name have to be.
        """
        near = [one for one in before if self._is_near(one)]
        same, fuller = self._named(near)
        if not same and not self.is_duty:
            same, fuller = self._owner(near)
        if not same and not self.is_duty:
            same, fuller = self._counted(near, text)
        for one in same:
            one.others.append(self)
            if len(fuller) > len(one.fuller) and stands(fuller, whole):
                one.fuller = fuller
        return bool(same)

    def _is_near(self, one: "_Reading") -> bool:
        at, own = one.evidence[0], self.evidence[0]
        years = {self.told.year, one.told.year} - {""}
        return own.start < at.end and at.start < own.end and len(years) < 2

    def _named(self, near: "Sequence[_Reading]") -> "tuple[Sequence[_Reading], str]":
        """Return those of which one name holds the other, and its name where that is fuller."""
        name = self.name
        alike = [one for one in near if name and (_holds(name, one.name) or _holds(one.name, name))]
        equal = [one for one in alike if self.end == one.end or _holds(one.name, name)]
        return (equal, "") if equal else (alike, name if len(alike) == 1 else "")

    def _owner(self, near: "Sequence[_Reading]") -> "tuple[Sequence[_Reading], str]":
        """Return a figure that its predicate names, and whose: 改造项目 | 节能量 | 100万吨."""
        done, own = self.fact.predicate, _pairs(self.name)
        for one in near:
            named, pairs = _holds(done, one.name), _pairs(one.name)
            if named or _pairs(done) & pairs:
                tells = own and (named or not own & pairs)
                return [one], f"{self.name}{one.name}" if tells else ""
        return [], ""

    def _counted(self, near: "Sequence[_Reading]", text: str) -> "tuple[Sequence[_Reading], str]":
        """Return the figures that its words hold, or with a number that stands there only once."""
        said = f"{self.name}{self.fact.predicate}{self.object}"
        told = [one for one in near if _holds(said, one.name)]
        quote = text[self.evidence[0].start : self.evidence[0].end] if near and not told else ""
        if [as_text(value.number) for value in values(quote)].count(self.told.value) != 1:
            return told, ""
        clauses = {one: text[one.evidence[0].start : one.evidence[0].end] for one in near}
        own = _pairs(self.name.replace("的", ""))  # the particle is no word of its own
        same = [one for one, at in clauses.items() if not (own - _pairs(one.name)) & _pairs(at)]
        names = [_pairs(one.name) for one in same]
        is_fuller = len(names) == 1 and len(names[0]) < min(len(own), 2 * len(own & names[0]))
        return same, self.name if is_fuller else ""


def agreed(facts: Iterable[Fact], names: NameResolver, text: str) -> list[Fact]:
    """Return the facts of a document; what several readers state at one place is one of them all.

    A figure is the same where value and unit are, at places that overlap, in no other year, if
    one name holds the other's characters, or if the number stands there once and the other name
    has no word there of its own. A duty is the same where organ and role are, and one task's name
    holds the other's. The fuller name counts if the document has its words, and a name by which a
    model corrected the rules' statement. Where several figures share a number (甲和乙均达到90%)
    each keeps its name. What only one tells, as a year, all get.

    Args:
        facts: Of rules, models and imports; one fact may be there more than once.
        names: Of the document.
        text: Of the document.
    """
    found: dict[Fact, dict[Evidence, None]] = {}  # by fact as worded

    def add(fact: Fact, evidence: Iterable[Evidence]) -> None:
        found.setdefault(replace(fact, evidence=()), {}).update(dict.fromkeys(evidence))

    facts = list(facts)
    for fact in facts:
        add(fact, (e for e in fact.evidence if e.qualifiers.kind not in _STATED))
    stated: defaultdict[tuple[str, ...], list[_Reading]] = defaultdict(list)
    others: list[_Reading] = []
    for one in sorted(_readings(facts, names), key=lambda one: not one.by_rule):
        if one.by_rule:
            stated[one.figure].append(one)
        elif not one.corrects(stated[one.figure]):
            others.append(one)
    whole = normalize_name(text) if others else ""
    for one in others:
        if not one.joins(stated[one.figure], text, whole):
            stated[one.figure].append(one)
    for fact in (one.united() for group in stated.values() for one in group):
        add(fact, fact.evidence)
    return [with_evidence(fact, evidence) for fact, evidence in found.items() if evidence]


def _readings(facts: Iterable[Fact], names: NameResolver) -> Iterator[_Reading]:
    """Yield what is stated of figures and duties, once for each reader and place."""
    for fact in facts:
        at: defaultdict[tuple[str, int, int], list[Evidence]] = defaultdict(list)
        for e in fact.evidence:
            if e.qualifiers.kind in _STATED:
                at[e.extractor, e.start, e.end].append(e)
        yield from (_Reading(fact, evidence, names) for evidence in at.values())


def _holds(name: str, other: str) -> bool:
    """Return whether a name has all characters of another, as often."""
    return Counter(normalize_name(other)) <= Counter(normalize_name(name))


def _pairs(name: str) -> set[str]:
    bare = normalize_name(name)
    return {bare[i : i + 2] for i in range(len(bare) - 1)}


def stands(name: str, whole: str) -> bool:
    """Return whether a name is made of pieces of a text, each of two characters or more."""
    bare, at = normalize_name(name), 0
    while at < len(bare):
        end = next((e for e in range(len(bare), at + 1, -1) if bare[at:e] in whole), 0)
        if not end:
            return False
        at = end
    return bool(bare)
