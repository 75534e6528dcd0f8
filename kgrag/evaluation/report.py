"""Reports of experiments: a table for people, a mapping for programs."""

import unicodedata
from collections.abc import Mapping, Sequence

from kgrag.evaluation.experiment import ALL, GroupScores, Report

# What a table shows unless it is told otherwise; a measure that no system has is left out.
COLUMNS = (
    "R@1",
    "R@2",
    "R@5",
    "R@10",
    "all@5",
    "nDCG@10",
    "MRR@10",
    "both@5",
    "span@1000",
    "span@2000",
    "span@4000",
    "span@8000",
    "MRR",
)


def text_table(
    reports: Mapping[str, Report], *, kind: str = ALL, columns: Sequence[str] = COLUMNS
) -> str:
    """Return an aligned table: a row for each system, a column for each measure, in percent.

    Args:
        reports: By name of the system, in the order of the rows.
        kind: The group of questions.
        columns: Measures; those that no system has are left out, a missing value is `-`.
    """
    groups = {system: _group(report, kind) for system, report in reports.items()}
    shown = [name for name in columns if any(name in g.means for g in groups.values() if g)]
    rows = [["system", "n", *shown]]
    for system, group in groups.items():
        means = group.means if group else {}
        cells = [f"{100 * means[name]:.1f}" if name in means else "-" for name in shown]
        rows.append([system, str(group.n_queries if group else 0), *cells])
    return aligned(rows)


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines: the first column to the left, the others to the right.

    Args:
        rows: Of cells, the same number in each; at least one.
    """
    widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(_line(row, widths) for row in rows)


def as_mapping(reports: Mapping[str, Report]) -> dict[str, object]:
    """Return the reports as JSON-ready mappings, by name of the system.

    Shape: {system: {"n_unanswered", "groups": {kind: {"n_queries", "scores": {measure: mean}}},
    "queries": [{"id", "kind", "n_results", "scores"}]}}; scores lie in [0, 1], unrounded.
    """
    return {system: report.to_dict() for system, report in reports.items()}


def _group(report: Report, kind: str) -> GroupScores | None:
    return next((group for group in report.groups if group.kind == kind), None)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name = cells[0] + " " * (widths[0] - _width(cells[0]))
    numbers = (" " * (w - _width(c)) + c for c, w in zip(cells[1:], widths[1:], strict=True))
    return "  ".join([name, *numbers])


def _width(text: str) -> int:
    """Return how many columns a terminal gives to a text: two for each wide character."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
