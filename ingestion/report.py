"""Reports of ingestion: outcomes of files, results and costs of models."""

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
    """The outcome of one file or record.

    Attributes:
        source: The file as shown to the user.
        status: `duplicate` is a copy of a document from another file; `retried` had failed
            passages that were read again; `not followed` is a link that leads out of its folder.
        doc_id: The document; empty where there is none.
        detail: Why it, or a passage of it, was skipped or failed, with the remedy.
        warnings: What the loader had to guess or leave out.
        failed_passages: Passages that a model could not read in this run, or in an earlier one if
            the document is unchanged and there is a model; the rest is stored.
    """

    source: str
    status: Status
    doc_id: str = ""
    detail: str = ""
    warnings: tuple[str, ...] = ()
    failed_passages: int = 0

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as in `kgrag ingest --json`."""
        return {"file": self.source, **as_dict(self, without=("source",))}


@dataclass(frozen=True, slots=True)
class ModelReport:
    """The results and costs of chat models in a run.

    Attributes:
        facts: Extracted facts, counted in each passage.
        dropped: Unusable items, by reason.
        failed: Passages that could not be read, by kind of failure.
        spent: Calls and tokens, by stage.
        cost: By currency; empty where no price is known.
        unavailable: Why no model could be called any more; empty if it could.
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
    """The outcome of every file: what could not be read first, then as they were stored."""

    outcomes: tuple[Outcome, ...]
    seconds: float  # wall-clock time in all
    model: ModelReport | None = None  # results of chat models; None where none was used
    index_seconds: float = 0.0  # part of `seconds` spent on search indexes
    # New documents that seem to be versions of others: file, the other's title, clauses that differ
    versions: tuple[tuple[str, str, int], ...] = ()

    @property
    def counts(self) -> dict[Status, int]:
        """Return the number of files by status, zeros left out."""
        return dict(Counter(outcome.status for outcome in self.outcomes))

    @property
    def failed(self) -> list[Outcome]:
        """Return the outcomes where nothing, or not all, could be ingested."""
        return [o for o in self.outcomes if o.status == "failed" or o.failed_passages]

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as printed by `kgrag ingest --json`."""
        told: dict[str, object] = {
            "counts": self.counts,
            "seconds": self.seconds,
            "index_seconds": self.index_seconds,
            "waiting": sum(o.failed_passages for o in self.outcomes if o.status == "unchanged"),
            "files": [outcome.to_dict() for outcome in self.outcomes],
            "versions": [
                {"file": file, "replaces": title, "clauses": n} for file, title, n in self.versions
            ],
        }
        return told if self.model is None else told | {"model": self.model.to_dict()}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would do.

    Attributes:
        n_chunks: Maximum number of chunks to encode.
        passages: Passages that a model would read.
        predictions: Calls and tokens, by stage; empty without models.
        cost: By currency; empty where no price is known.
        sampled: Calls and tokens spent on measuring rates, by stage; empty for none.
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
        """Return the number of files by expected status, zeros left out."""
        return dict(Counter(outcome.status for outcome in self.outcomes))

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as printed by `kgrag ingest --dry-run --json`."""
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
