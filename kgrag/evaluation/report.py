"""Reports of experiments: text tables, Markdown, HTML and JSON."""

import unicodedata
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from kgrag.evaluation.experiment import BUDGETS, Difference, Trial
from kgrag.evaluation.lines import write_lines
from kgrag.evaluation.queries import GoldQuery, write_qrels
from kgrag.evaluation.runs import write_run
from kgrag.evaluation.scores import ALL, MEASURES, GroupScores, Report
from kgrag.text.visible import json_line

Experiment = Mapping[str, Sequence[Trial]]  # by name of the set


def text_table(
    reports: Mapping[str, Report], *, kind: str = ALL, measures: Sequence[str] = MEASURES
) -> str:
    """Return an aligned table: a row for each measure, a column for each system, in percent.

    Args:
        reports: By system, in the order of the columns.
        kind: The group of questions, shown in the corner.
        measures: Those without values are left out; a missing value is `-`.
    """
    groups = {system: _group(report, kind) for system, report in reports.items()}
    shown = [name for name in measures if any(name in g.means for g in groups.values() if g)]
    columns = [[kind, "n", *shown]]
    for system, group in groups.items():
        means = group.means if group else {}
        cells = [f"{100 * means[name]:.1f}" if name in means else "-" for name in shown]
        columns.append([system, str(group.n_queries if group else 0), *cells])
    return aligned(list(zip(*columns, strict=True)))


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines, the first column left-aligned, the others right-aligned.

    Args:
        rows: Of equally many cells; at least one.
    """
    widths = [max(_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(_line(row, widths) for row in rows)


def comparison_table(found: Mapping[str, Difference]) -> str:
    """Return an aligned table: a row for each measure; shares in percent."""
    rows = [["", "n", "A", "B", "B - A", "95 %", "p", "wins", "ties", "losses"]]
    for name, of in found.items():
        shares = (f"{100 * share:.1f}" for share in (of.mean_a, of.mean_b))
        counts = map(str, (of.wins, of.ties, of.losses))
        apart = f"{100 * of.difference:+.1f}"
        ends = f"[{100 * of.low:+.1f}, {100 * of.high:+.1f}]"
        rows.append([name, str(of.n), *shares, apart, ends, f"{of.p:.4f}", *counts])
    return aligned(rows)


def markdown(found: Experiment, *, measures: Sequence[str] = MEASURES) -> str:
    """Return a Markdown heading and table for each set, a row for each system.

    Args:
        found: Trials by set.
        measures: Columns; those without values in a set are left out there.
    """
    parts = []
    for name, trials in found.items():
        header, *rows = _rows(trials, measures)
        lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
        cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
        parts.append("\n".join([f"## {name}", "", *(f"| {' | '.join(line)} |" for line in cells)]))
    return "\n\n".join(parts)


def html_page(found: Experiment, *, measures: Sequence[str] = MEASURES) -> str:
    """Return a page of the tables, each with a chart of `span@B` if there are gold spans."""
    parts = []
    for name, trials in found.items():
        cells = ("".join(f"<td>{escape(c)}" for c in row) for row in _rows(trials, measures))
        parts.append(
            f"<h2>{escape(name)}</h2>\n<table>\n<tr>"
            + "\n<tr>".join(cells)
            + f"\n</table>\n{_drawing(trials)}"
        )
    return _PAGE.format("\n".join(parts))


def experiment_mapping(found: Experiment) -> dict[str, object]:
    """Return trials as a JSON-ready mapping by set and system, each as `Trial.to_dict`."""
    return {name: {t.system: t.to_dict() for t in trials} for name, trials in found.items()}


def write_experiment(
    folder: Path,
    found: Experiment,
    *,
    measures: Sequence[str] = MEASURES,
    gold: Mapping[str, Sequence[GoldQuery]],
) -> None:
    """Write report.md, report.html, report.json and a run for each trial: SET.SYSTEM.jsonl.

    Args:
        folder: An existing folder.
        found: Trials by set.
        measures: As for `markdown`.
        gold: Questions of sets that are also written as TREC files: SET.qrels, SET.SYSTEM.trec.

    Raises:
        EvaluationError: If a file cannot be written, or a name for TREC has blanks.
    """
    write_lines(folder / "report.md", [markdown(found, measures=measures)])
    write_lines(folder / "report.html", [html_page(found, measures=measures)])
    write_lines(folder / "report.json", [json_line(experiment_mapping(found))])
    for name, trials in found.items():
        for trial in trials:
            write_run(folder / f"{name}.{trial.system}.jsonl", trial.run)
    for name, queries in gold.items():
        write_qrels(folder / f"{name}.qrels", queries)
        for trial in found[name]:
            write_run(folder / f"{name}.{trial.system}.trec", trial.run)


_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>kgrag eval experiment</title>
<style>
body {{ font: 14px sans-serif; margin: 2em }}
td {{ padding: 2px 10px; text-align: right }} td:first-child {{ text-align: left }}
tr:first-child {{ font-weight: bold }} polyline {{ fill: none; stroke-width: 2 }}
</style>
{}"""


def _rows(trials: Sequence[Trial], measures: Sequence[str]) -> list[list[str]]:
    shown = [name for name in measures if any(name in trial.means for trial in trials)]
    rows = [["system", "n", *shown, "ms p50", "ms p99", "characters"]]
    for trial in trials:
        cells = [
            "{:.1f} [{:.1f}, {:.1f}]".format(
                *(100 * share for share in (trial.means[name], *trial.intervals[name]))
            )
            for name in shown
        ]
        cells += [f"{ms:.1f}" for ms in trial.latency_ms] + [f"{trial.characters:.0f}"]
        rows.append([trial.system, str(len(trial.report.queries)), *cells])
    return rows


def _drawing(trials: Sequence[Trial]) -> str:
    """Return an SVG of the share of gold characters in the first B of context, a line a system."""
    trials = [trial for trial in trials if f"span@{BUDGETS[0]}" in trial.means]
    if not trials:
        return ""
    across = {budget: 40 + budget // 20 for budget in BUDGETS}
    parts = ['<path d="M40 10V210H440" fill="none" stroke="#888"/>']
    parts += [f'<text x="{x - 15}" y="226">{budget}</text>' for budget, x in across.items()]
    parts += [f'<text x="5" y="{214 - 2 * share}">{share}</text>' for share in (0, 50, 100)]
    parts.append('<text x="150" y="244">span@B, %, by characters B</text>')
    for number, trial in enumerate(trials):
        colour = f"hsl({number * 137 % 360} 70% 40%)"
        ends = (f"{x},{210 - 200 * trial.means[f'span@{b}']:.1f}" for b, x in across.items())
        parts.append(f'<polyline points="{" ".join(ends)}" stroke="{colour}"/>')
        name = escape(trial.system)
        parts.append(f'<text x="460" y="{20 + 18 * number}" fill="{colour}">{name}</text>')
    height = max(250, 30 + 18 * len(trials))
    return "\n".join([f'<svg width="640" height="{height}">', *parts, "</svg>"])


def _group(report: Report, kind: str) -> GroupScores | None:
    return next((group for group in report.groups if group.kind == kind), None)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name = cells[0] + " " * (widths[0] - _width(cells[0]))
    numbers = (" " * (w - _width(c)) + c for c, w in zip(cells[1:], widths[1:], strict=True))
    return "  ".join([name, *numbers])


def _width(text: str) -> int:
    """Return the terminal columns of a text: two for each wide character."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
