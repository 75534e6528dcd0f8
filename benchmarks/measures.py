"""The measures of several systems side by side."""

from collections.abc import Mapping, Sequence

from kgrag.evaluation.report import aligned
from kgrag.evaluation.scores import MEASURES, Report


def text_table(reports: Mapping[str, Report], *, measures: Sequence[str] = MEASURES) -> str:
    """Return a row for each measure of all questions, a column for each system, in percent."""
    groups = {system: report.groups[0] for system, report in reports.items()}
    shown = [name for name in measures if any(name in g.means for g in groups.values())]
    columns = [["all", "n", *shown]]
    for system, group in groups.items():
        cells = [f"{100 * group.means[name]:.1f}" if name in group.means else "-" for name in shown]
        columns.append([system, str(group.n_queries), *cells])
    return aligned(list(zip(*columns, strict=True)))
