"""The card of a model: which files it is, and how it is to be used."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kgrag.embedding.embedder import Task
from kgrag.ids import digest

Pooling = Literal["cls", "mean", "last"]
Format = Literal["onnx", "transformers"]

POOLINGS: tuple[Pooling, ...] = ("cls", "mean", "last")
FORMATS: tuple[Format, ...] = ("onnx", "transformers")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """How a model is to be used, and which files it is.

    Attributes:
        name: What the user calls it, e.g. `bge-small-zh`.
        dimension: Length of a vector.
        pooling: Which token states become the vector: the first (`cls`), all (`mean`), or the
            last one (`last`).
        query_instruction: Put before a question.
        passage_instruction: Put before a passage.
        max_tokens: Longer texts are cut; special tokens count.
        lower_case: Lower the case before the tokenizer sees a text.
        languages: Codes of the languages that it reads well, comma-separated (`zh`, `zh,en`);
            empty for any.
        licence: Of the model, as its makers state it; empty where unknown.
        source: Where the files came from, for people.
        format: Which files they are, and with that what runs them.
        query_adapter: Name of the adapter that encodes questions; empty for none. Only of
            `transformers` models, like the next.
        passage_adapter: Name of the adapter that encodes passages.
        precision: Of the weights, as the files have it: `float32`, `float16`, `int8`, …; empty
            where it was not measured.
        model_sha256: Of the model's weights, hex; empty while unknown.
        weights_sha256: Of the weights that lie beside an onnx file, hex; empty for none.
        tokenizer_sha256: Of the tokenizer file, hex; empty while unknown.
        n_bytes: Of its files together; 0 where an older kgrag installed it.
        folder: Where the files are; None where the model is not installed.
    """

    name: str
    dimension: int
    pooling: Pooling = "mean"
    query_instruction: str = ""
    passage_instruction: str = ""
    max_tokens: int = 512
    lower_case: bool = False
    languages: str = ""
    licence: str = ""
    source: str = ""
    format: Format = "onnx"
    query_adapter: str = ""
    passage_adapter: str = ""
    precision: str = ""
    model_sha256: str = ""
    weights_sha256: str = ""
    tokenizer_sha256: str = ""
    n_bytes: int = field(default=0, compare=False)  # it is no part of what a model is
    folder: Path | None = None

    @property
    def identity(self) -> str:
        """Return the name that a knowledge base records: equal only if all vectors are.

        It holds 12 characters of the model file's hash, and 4 that stand for the tokenizer and
        the settings: the same file pooled otherwise is another model.
        """
        # What the first models did not have is left out: knowledge bases record their identity.
        more: tuple[str, ...] = ()
        if self.format != "onnx":
            more = (self.format, self.query_adapter, self.passage_adapter, self.precision)
        if self.weights_sha256:
            more = (*more, self.weights_sha256)
        settings = digest(
            self.tokenizer_sha256,
            self.pooling,
            self.query_instruction,
            self.passage_instruction,
            f"max_tokens={self.max_tokens}",
            f"lower_case={self.lower_case}",
            *more,
            length=4,
        )
        return f"{self.name}-{self.model_sha256[:12]}-{settings}"

    @property
    def settings(self) -> dict[str, str]:
        """Return what the vectors depend on, for people."""
        settings = {
            "model": self.name,
            "pooling": self.pooling,
            "max_tokens": str(self.max_tokens),
            "query": self._preparation("query"),
            "passage": self._preparation("passage"),
            "precision": self.precision,
        }
        return {**settings, "lower_case": "yes"} if self.lower_case else settings

    def _preparation(self, task: Task) -> str:
        adapter, instruction = self.adapter(task), self.instruction(task)
        return ", ".join(
            f"{name} {value}"
            for name, value in (("adapter", adapter), ("instruction", instruction))
            if value
        )

    def instruction(self, task: Task) -> str:
        """Return what goes before a text of this task."""
        return self.query_instruction if task == "query" else self.passage_instruction

    def adapter(self, task: Task) -> str:
        """Return the name of the adapter for this task; empty for none."""
        return self.query_adapter if task == "query" else self.passage_adapter
