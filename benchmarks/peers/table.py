"""The table of a comparison."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgrag.evaluation.experiment import differences

OURS = "kgrag grim"
MEASURES = ("R@5", "all@5", "span@1000", "span@2000", "span@4000", "MRR")
_COST = (
    "ingest s",
    "processor s",
    "encoder s",
    "model calls",
    "model tokens",
    "tokens / 1,000 characters",
    "texts encoded",
    "calls / question",
    "tokens / question",
    "ms p50",
    "ms p99",
    "processor ms",
    "memory MB",
    "not located",
)


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured of one search of one system.

    Attributes:
        system: Its name.
        scores: Of each question, in the same order for all rows, by measure in [0, 1].
        means: By measure.
        intervals: (low, high) of each, 95 %.
        n_characters: Of all documents.
        ingest: `seconds`, `processor_s`, `encoder_s`, `texts`, `calls` and tokens.
        question: The mean of one: `texts`, `calls`, `prompt_tokens`, `completion_tokens`.
        p50_ms: Of a question.
        p99_ms: Of a question.
        processor_ms: Of a question, the median.
        memory: Bytes, at most, of the process and of servers that it needs.
        n_results: Passages of all questions.
        n_unlocated: Of these, whose text is not in the document.
    """

    system: str
    scores: Sequence[Mapping[str, float]]
    means: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    n_characters: int
    ingest: Mapping[str, float]
    question: Mapping[str, float]
    p50_ms: float
    p99_ms: float
    processor_ms: float
    memory: int
    n_results: int
    n_unlocated: int


def markdown(rows: Sequence[Row]) -> str:
    """Return tables of quality in percent, of cost, and of `OURS` beside each, a row a search."""
    measures = [name for name in MEASURES if any(name in row.means for row in rows)]
    quality = [[row.system, *(_share(row, name) for name in measures)] for row in rows]
    cost = [[row.system, *_cost(row)] for row in rows]
    tables = [_table(["", *measures], quality), _table(["", *_COST], cost)]
    if ours := next((row for row in rows if row.system == OURS), None):
        apart = [[row.system, *_apart(ours, row, measures)] for row in rows if row is not ours]
        header = [f"{OURS} less", *measures, "its ms p50", "its processor ms"]
        tables.append(_table(header, apart))
    return "\n\n".join(tables)


def _share(row: Row, name: str) -> str:
    if name not in row.means:
        return "-"
    low, high = row.intervals[name]
    return f"{100 * row.means[name]:.1f} [{100 * low:.1f}, {100 * high:.1f}]"


def _cost(row: Row) -> list[str]:
    tokens = row.ingest["prompt_tokens"] + row.ingest["completion_tokens"]
    asked = row.question["prompt_tokens"] + row.question["completion_tokens"]
    return [
        f"{row.ingest['seconds']:.1f}",
        f"{row.ingest['processor_s']:.1f}",
        f"{row.ingest['encoder_s']:.1f}",
        f"{row.ingest['calls']:,.0f}",
        f"{tokens:,.0f}",
        f"{1000 * tokens / row.n_characters:,.0f}",
        f"{row.ingest['texts']:,.0f}",
        f"{row.question['calls']:.2f}",
        f"{asked:,.0f}",
        f"{row.p50_ms:.1f}",
        f"{row.p99_ms:.1f}",
        f"{row.processor_ms:.1f}",
        f"{row.memory / 1e6:,.0f}",
        f"{row.n_unlocated} of {row.n_results}",
    ]


def _apart(ours: Row, row: Row, measures: Sequence[str]) -> list[str]:
    """Return differences with intervals, paired by question, and its times by ours."""
    found = differences(row.scores, ours.scores)
    cells = [
        f"{100 * found[name].difference:+.1f} "
        f"[{100 * found[name].low:+.1f}, {100 * found[name].high:+.1f}]"
        for name in measures
    ]
    times = (row.p50_ms / ours.p50_ms, row.processor_ms / ours.processor_ms)
    return cells + [f"{ratio:.2f} x" for ratio in times]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
