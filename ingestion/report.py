"""What became of every file of a batch, and what models gave and cost."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from kgrag.json_ready import as_dict
from kgrag.llm.chat import StageUsage

if TYPE_CHECKING:
    from kgrag.llm.ledger import Prediction

Status = Literal[
    "added", "replaced", "retried", "unchanged", "duplicate", "skipped", "not followed", "failed"
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file or record.

    Attributes:
        source: The file as shown to the user.
        status: `duplicate` is a copy of a document that another file holds; `retried` is one
            whose failed passages were asked for again; `not followed` is a link that leads out
            of the folder in which it was found.
        doc_id: The document; empty where there is none.
        detail: Why it, or a passage of it, was skipped or failed, with the remedy.
        warnings: What the loader had to guess or leave out.
        failed_passages: Passages that a model could not read in this run; the rest is stored.
    """

    source: str
    status: Status
    doc_id: str = ""
    detail: str = ""
    warnings: tuple[str, ...] = ()
    failed_passages: int = 0

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as `kgrag ingest --json` lists files."""
        return {"file": self.source, **as_dict(self, without=("source",))}


@dataclass(frozen=True, slots=True)
class ModelReport:
    """What chat models gave in a run.

    Attributes:
        passages: Passages read.
        facts: Facts that they gave, counted in each passage.
        summaries: Summaries that they gave.
        dropped: What they gave and was not taken, by reason.
        failed: Passages that could not be read, by kind of failure.
        spent: Calls and tokens, by stage.
        cost: By currency; empty where no price is known.
        unavailable: Why no model could be asked any more; empty if it could.
    """

    passages: int = 0
    facts: int = 0
    summaries: int = 0
    dropped: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    failed: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    spent: Mapping[str, StageUsage] = field(default_factory=lambda: MappingProxyType({}))
    cost: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    unavailable: str = ""

    @property
    def total(self) -> StageUsage:
        """Return calls and tokens of all stages."""
        return sum(self.spent.values(), StageUsage())

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping."""
        return as_dict(self) | {"spent": _spent_dict(self.spent)}


@dataclass(frozen=True, slots=True)
class IngestReport:
    """Outcomes in the order in which files were met; every file has one.

    Attributes:
        outcomes: One for each file or record.
        seconds: Wall-clock time of all that was done.
        model: What chat models gave; None where none was to be asked.
        waiting: Passages of unchanged documents that failed in an earlier run.
        index_seconds: What of `seconds` the search indexes took.
    """

    outcomes: tuple[Outcome, ...]
    seconds: float
    model: ModelReport | None = None
    waiting: int = 0
    index_seconds: float = 0.0

    @property
    def counts(self) -> dict[Status, int]:
        """Return how many files came out each way, zeros left out."""
        return dict(Counter(outcome.status for outcome in self.outcomes))

    @property
    def failed(self) -> list[Outcome]:
        """Return the outcomes that a user must look at: nothing, or not all, was taken in."""
        return [o for o in self.outcomes if o.status == "failed" or o.failed_passages]

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as `kgrag ingest --json` prints it."""
        told: dict[str, object] = {
            "counts": self.counts,
            "seconds": self.seconds,
            "index_seconds": self.index_seconds,
            "waiting": self.waiting,
            "files": [outcome.to_dict() for outcome in self.outcomes],
        }
        return told if self.model is None else told | {"model": self.model.to_dict()}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do.

    Attributes:
        outcomes: One for each file or record.
        n_chunks: Chunks to encode at most.
        passages: Passages that a model would read.
        predictions: Calls and tokens, by stage; empty where no model would be asked.
        cost: By currency; empty where no price is known.
        sampled: What the calls took that were made to learn this, by stage; empty for none.
        sample_cost: Their cost, as `cost`.
    """

    outcomes: tuple[Outcome, ...]
    n_chunks: int
    passages: int = 0
    predictions: "Mapping[str, Prediction]" = field(default_factory=lambda: MappingProxyType({}))
    cost: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    sampled: Mapping[str, StageUsage] = field(default_factory=lambda: MappingProxyType({}))
    sample_cost: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def sample_total(self) -> StageUsage:
        """Return calls and tokens of the sample."""
        return sum(self.sampled.values(), StageUsage())

    @property
    def counts(self) -> dict[Status, int]:
        """Return how many files would come out each way, zeros left out."""
        return dict(Counter(outcome.status for outcome in self.outcomes))

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as `kgrag ingest --dry-run --json` prints it."""
        return {
            "counts": self.counts,
            "chunks": self.n_chunks,
            "passages": self.passages,
            "predictions": {stage: p.to_dict() for stage, p in self.predictions.items()},
            "cost": dict(self.cost),
            "sampled": _spent_dict(self.sampled),
            "sample_cost": dict(self.sample_cost),
        }


def _spent_dict(spent: Mapping[str, StageUsage]) -> dict[str, object]:
    return {stage: one.to_dict() for stage, one in sorted(spent.items())}
