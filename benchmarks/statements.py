"""How many of the labelled targets and duties the rules find, and how much of it is right.

The labels (`benchmarks/labels`, README there) were made apart from the rules, without seeing them:
sentences drawn at random, with every target or duty in them, also those that have none. The rules
run over the whole document; a target that they find counts for a sentence if its number stands in
it, a duty if its organ stands in it and its clause overlaps it. What lies in no labelled sentence
is not looked at.

A target is right if indicator, value, unit, year and standing all agree (`benchmarks.agreement`):
of both indicators' cores at least 0.7 of the shorter and 0.4 of the longer are in common, and none
labelled in the sentence is nearer; the value is the same number after scaling, with both ends of a
range; the year is the labelled one, or the last of a labelled period (十四五: 2025). A duty is
right if organ and role agree; its task is the labelled one, or worded within the item. Labels that
are `optional` count neither as missed nor as wrong. A sentence without findings counts.

usage: python benchmarks/statements.py --data FOLDER [--kind targets|duties]
           [--half tune|hold|more|fresh|last|prose|fifth|sixth|seventh|eighth|ninth]
           [--misses N]
           [--labels FOLDER]

`--data` holds the documents as text files, named as the labels name them.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.agreement import (
    amount,
    bare,
    digits,
    last_year,
    organ_core,
    same_indicator,
    same_organ,
    same_task,
    unit_and_scale,
)
from kgrag.ingestion.statements.finding import Finding
from kgrag.text.quantities import narrow

HALVES = (
    "tune",
    "hold",
    "more",
    "fresh",
    "last",
    "prose",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
)
FIELDS = ("indicator", "value", "unit", "year", "standing")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\s*\d+)?")  # a line may break behind the point

Record = Mapping[str, Any]
Rule = Callable[[str], list[Finding]]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A labelled sentence: where it stands in which text, and what was read in it."""

    doc: str
    text: str
    start: int
    end: int
    labels: Sequence[Record]

    def words(self, *spans: Sequence[int]) -> str:
        """Return the words at spans of the document, put together."""
        return "".join(self.text[start:end] for start, end in spans)


@dataclass(slots=True)
class Counts:
    """What was labelled, found and right.

    Attributes:
        labelled: Labels that are not optional.
        found: Findings in labelled sentences, without those of optional labels.
        right: By what they agree in: `joint`, and each field by itself.
        misses: A line for everything missed or wrong.
    """

    labelled: int = 0
    found: int = 0
    right: Counter[str] = field(default_factory=Counter)
    misses: list[str] = field(default_factory=list)

    def measures(self, name: str) -> tuple[float, float, float]:
        """Return precision, recall and F1 in percent; 0 where nothing was found or labelled."""
        precision = 100 * self.right[name] / self.found if self.found else 0.0
        recall = 100 * self.right[name] / self.labelled if self.labelled else 0.0
        both = precision + recall
        return precision, recall, 2 * precision * recall / both if both else 0.0


def read_sentences(labels: Path, data: Path, half: str, kind: str) -> Iterator[Sentence]:
    """Yield the labelled sentences of a half; of all where `half` is empty.

    Args:
        labels: Folder whose files `KIND*.jsonl` hold the labels.
        data: Folder of the documents' texts.
        half: One of `HALVES`, or empty.
        kind: `targets` or `duties`.

    Raises:
        FileNotFoundError: If there is no file of labels, or a labelled document's text is missing.
    """
    folder = data / "policy" / "text" if (data / "policy" / "text").is_dir() else data
    if not (files := sorted(labels.glob(f"{kind}*.jsonl"))):
        raise FileNotFoundError(
            f"no labels {kind}*.jsonl in {labels}: name their folder with --labels"
        )
    for line in (line for file in files for line in file.read_text("utf-8").splitlines()):
        row = json.loads(line)
        if not half or row["half"] == half:
            text = (folder / f"{row['doc']}.txt").read_bytes().decode("utf-8")
            yield Sentence(row["doc"], text, row["start"], row["end"], row[kind])


# Targets


def place_of_value(text: str, finding: Finding) -> int:
    """Return where the value of a target stands: in the object's words, else in the clause.

    >>> place_of_value("到2025年达到50万吨。", Finding("产能", "目标为", "50万吨", 0, 12))
    8
    """
    clause = narrow(text[finding.start : finding.end])
    spaced = r"\s*".join(map(re.escape, re.sub(r"\s", "", narrow(finding.object))))
    match = re.search(spaced, clause) if spaced else None
    spans = [match.span(), (0, len(clause))] if match else [(0, len(clause))]
    wanted = digits(finding.qualifiers.value)
    for start, end in spans:
        for number in _NUMBER.finditer(clause, start, end):
            if digits(number[0]) == wanted:
                return finding.start + number.start()
    return finding.start + spans[0][0]


def agreeing(sentence: Sentence, finding: Finding, label: Record) -> frozenset[str]:
    """Return the fields in which a found target is as labelled."""
    told = finding.qualifiers
    names = [sentence.words(*each["indicator"]) for each in sentence.labels]
    name = sentence.words(*label["indicator"])
    ends = [(told.value, label["value"]), (told.value_to, label.get("value_to", ""))]
    years = {label["year"], *label.get("year_or", ())}
    if period := label.get("period"):
        years.add(last_year(period))
    tests = {
        "indicator": bool(name) and same_indicator(finding.subject, name, names),
        "value": all(amount(a, told.unit) == amount(b, label["unit"]) for a, b in ends),
        "unit": unit_and_scale(told.unit)[0] == unit_and_scale(label["unit"])[0],
        "year": (told.year or last_year(told.period)) in years,
        "standing": told.standing == label["standing"],
    }
    return frozenset(name for name, agrees in tests.items() if agrees)


def _pairs(
    sentence: Sentence,
    findings: list[Finding],
    labels: list[Record],
    enough: Callable[[frozenset[str]], bool],
) -> Iterator[tuple[Finding, Record, frozenset[str]]]:
    """Yield the pairs that agree in most, each finding and label once; they leave both lists."""
    ranked = sorted(
        (
            (-len(fields), i, j, fields)
            for i, finding in enumerate(findings)
            for j, label in enumerate(labels)
            if enough(fields := agreeing(sentence, finding, label))
        ),
        key=lambda row: row[:3],
    )
    first, second = dict(enumerate(findings)), dict(enumerate(labels))
    for _, i, j, fields in ranked:
        if i in first and j in second:
            yield first.pop(i), second.pop(j), fields
    findings[:], labels[:] = first.values(), second.values()


def score_targets(sentences: Iterable[Sentence], rule: Rule) -> Counts:
    """Return how the targets that a rule finds agree with the labels."""
    counts, known = Counts(), dict[str, list[tuple[int, Finding]]]()
    for sentence in sentences:
        if sentence.doc not in known:
            told = [found for found in rule(sentence.text) if found.qualifiers.value]
            known[sentence.doc] = [(place_of_value(sentence.text, found), found) for found in told]
        inside = [row for row in known[sentence.doc] if sentence.start <= row[0] < sentence.end]
        _count_targets(counts, sentence, inside)
    return counts


def _is_spare(label: Record, at: int, finding: Finding) -> bool:
    """Return whether a finding is of an optional label: it stands there, or has its value."""
    start, end = label["span"]
    told = finding.qualifiers
    same = amount(told.value, told.unit) == amount(label["value"], label["unit"])
    return bool(start <= at < end) or same


def _count_targets(counts: Counts, sentence: Sentence, rows: list[tuple[int, Finding]]) -> None:
    """Add what was found in one sentence, with the places of the values."""
    places, findings = {id(found): at for at, found in rows}, [found for _, found in rows]
    needed = [label for label in sentence.labels if not label.get("optional")]
    spare = [label for label in sentence.labels if label.get("optional")]
    counts.labelled += len(needed)
    right = list(_pairs(sentence, findings, needed, lambda fields: len(fields) == len(FIELDS)))
    for finding in list(findings):  # one of an optional label is neither right nor wrong
        alike = [label for label in spare if _is_spare(label, places[id(finding)], finding)]
        if alike:
            spare.remove(alike[0])
            findings.remove(finding)
    counts.found += len(right) + len(findings)
    counts.right["joint"] += len(right)
    near = list(
        _pairs(sentence, findings, needed, lambda fields: bool({"value", "indicator"} & fields))
    )
    for finding, label, fields in right + near:
        counts.right.update(fields)
        if wrong := [name for name in FIELDS if name not in fields]:
            said = f"{_label(sentence, label)} <> {_found(finding)}"
            counts.misses.append(f"{_where(sentence)} wrong {'+'.join(wrong)}: {said}")
    counts.misses += [f"{_where(sentence)} missed: {_label(sentence, each)}" for each in needed]
    counts.misses += [f"{_where(sentence)} none labelled: {_found(each)}" for each in findings]


def _where(sentence: Sentence) -> str:
    return f"{sentence.doc} {sentence.start}"


def _label(sentence: Sentence, label: Record) -> str:
    value = "~".join(filter(None, (label["value"], label.get("value_to"))))
    when = label["year"] or label.get("period", "")
    name = re.sub(r"\s", "", sentence.words(*label["indicator"]))
    return f"{name} {value} {label['unit']} {when} {label['standing']}"


def _found(finding: Finding) -> str:
    told = finding.qualifiers
    value = "~".join(filter(None, (told.value, told.value_to)))
    return f"{finding.subject} {value} {told.unit} {told.year or told.period} {told.standing}"


# Duties


def score_duties(sentences: Iterable[Sentence], rule: Rule) -> Counts:
    """Return how the duties that a rule finds agree with the labels in organ, role and task."""
    counts, known = Counts(), dict[str, list[Finding]]()
    for sentence in sentences:
        if sentence.doc not in known:
            known[sentence.doc] = rule(sentence.text)
        _count_duties(counts, sentence, [f for f in known[sentence.doc] if _stands(sentence, f)])
    return counts


def _stands(sentence: Sentence, finding: Finding) -> bool:
    """Return whether a duty overlaps the clause and names an organ that stands in it."""
    overlaps = finding.start < sentence.end and sentence.start < finding.end
    name = organ_core(finding.subject)
    return overlaps and name in bare(sentence.text[sentence.start : sentence.end])


def _count_duties(counts: Counts, sentence: Sentence, findings: Sequence[Finding]) -> None:
    """Add what was found in one clause; an organ and its role count once."""
    once = {(bare(f.subject), f.predicate): f for f in reversed(findings)}
    left = list(once.values())
    organs = [(duty, organ) for duty in sentence.labels for organ in duty["organs"]]
    for duty, organ in sorted(organs, key=lambda pair: bool(pair[1].get("optional"))):
        name, optional = sentence.words(organ["span"]), bool(organ.get("optional"))
        roles = {organ["role"], *organ.get("role_or", ())}
        named = [f for f in left if same_organ(f.subject, name)]
        fit = next((f for f in named if f.predicate in roles), named[0] if named else None)
        if fit:
            left.remove(fit)
        if optional:
            continue
        counts.labelled += 1
        said = f"{name} {organ['role']} {sentence.words(duty['task'])}"
        if fit is None:
            counts.misses.append(f"{_where(sentence)} missed: {said}")
            continue
        agrees = {
            "organ": True,
            "joint": fit.predicate in roles,
            "task": same_task(
                fit.object, sentence.words(duty["task"]), sentence.words(duty["item"])
            ),
        }
        agrees["joint and task"] = agrees["joint"] and agrees["task"]
        counts.found += 1
        counts.right.update(key for key, is_so in agrees.items() if is_so)
        if not agrees["joint and task"]:
            found = f"{fit.subject} {fit.predicate} {fit.object}"
            counts.misses.append(f"{_where(sentence)} wrong: {said} <> {found}")
    counts.found += len(left)
    for each in left:
        found = f"{each.subject} {each.predicate} {each.object}"
        counts.misses.append(f"{_where(sentence)} none labelled: {found}")


# Tables

SCORES: Mapping[str, Callable[[Iterable[Sentence], Rule], Counts]] = {
    "targets": score_targets,
    "duties": score_duties,
}
ROWS = {"targets": ("joint", *FIELDS), "duties": ("joint", "organ", "task", "joint and task")}
NAMES = {"targets": " and ".join(FIELDS), "duties": "organ and role"}


def table(kind: str, counts: Counts) -> str:
    """Return a Markdown table of precision, recall and F1 in percent."""
    lines = [
        f"{counts.labelled} labelled, {counts.found} found\n",
        f"| {kind} | right | precision | recall | F1 |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for row in ROWS[kind]:
        cells = " | ".join(f"{share:.1f}" for share in counts.measures(row))
        name = row.replace("joint", NAMES[kind])
        lines.append(f"| {name} | {counts.right[row]} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    """Score the rules of one kind or both; print tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=HALVES, default="")
    parser.add_argument("--kind", choices=tuple(SCORES))
    parser.add_argument("--misses", type=int, nargs="?", const=sys.maxsize, default=0)
    parser.add_argument("--labels", type=Path, default=Path(__file__).parent / "labels")
    given = parser.parse_args()
    for kind in [given.kind] if given.kind else SCORES:
        rule: Rule = getattr(import_module(f"kgrag.ingestion.statements.{kind}"), kind)
        sentences = list(read_sentences(given.labels, given.data, given.half, kind))
        counts = SCORES[kind](sentences, rule)
        print(f"## {kind.capitalize()}: {len(sentences)} sentences, {given.half or 'all halves'}\n")
        print(table(kind, counts), "\n", sep="")
        for line in counts.misses[: given.misses]:
            print("-", re.sub(r"\s+", " ", line))


if __name__ == "__main__":
    main()
