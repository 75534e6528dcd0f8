"""Reports of experiments: aligned tables, Markdown and JSON."""

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from kgrag.evaluation.experiment import Difference, Trial
from kgrag.evaluation.lines import write_lines
from kgrag.evaluation.runs import write_run
from kgrag.evaluation.scores import MEASURES
from kgrag.text.visible import json_line

Experiment = Mapping[str, Sequence[Trial]]  # by name of the set


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


def experiment_mapping(found: Experiment) -> dict[str, object]:
    """Return trials as a JSON-ready mapping by set and system, each as `Trial.to_dict`."""
    return {name: {t.system: t.to_dict() for t in trials} for name, trials in found.items()}


def write_experiment(
    folder: Path,
    found: Experiment,
    *,
    measures: Sequence[str] = MEASURES,
) -> None:
    """Write report.md, report.json and a run for each trial: SET.SYSTEM.jsonl.

    Args:
        folder: An existing folder.
        found: Trials by set.
        measures: As for `markdown`.

    Raises:
        EvaluationError: If a file cannot be written.
    """
    write_lines(folder / "report.md", [markdown(found, measures=measures)])
    write_lines(folder / "report.json", [json_line(experiment_mapping(found))])
    for name, trials in found.items():
        for trial in trials:
            write_run(folder / f"{name}.{trial.system}.jsonl", trial.run)


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


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name = cells[0] + " " * (widths[0] - _width(cells[0]))
    numbers = (" " * (w - _width(c)) + c for c, w in zip(cells[1:], widths[1:], strict=True))
    return "  ".join([name, *numbers])


def _width(text: str) -> int:
    """Return the terminal columns of a text: two for each wide character."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
