"""The card of a model: which files it is, and how it is to be used."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kgrag.embedding.embedder import Task
from kgrag.ids import digest

Pooling = Literal["cls", "mean"]

POOLINGS: tuple[Pooling, ...] = ("cls", "mean")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """How a model is to be used, and which files it is.

    Attributes:
        name: What the user calls it, e.g. `bge-small-zh`.
        dimension: Length of a vector.
        pooling: Which token states become the vector: the first (`cls`) or all (`mean`).
        query_instruction: Put before a question.
        passage_instruction: Put before a passage.
        max_tokens: Longer texts are cut; special tokens count.
        lower_case: Lower the case before the tokenizer sees a text.
        languages: Codes of the languages that it reads well, comma-separated (`zh`, `zh,en`);
            empty for any.
        licence: Of the model, as its makers state it; empty where unknown.
        source: Where the files came from, for people.
        model_sha256: Of the model file, hex; empty while unknown.
        tokenizer_sha256: Of the tokenizer file, hex; empty while unknown.
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
    model_sha256: str = ""
    tokenizer_sha256: str = ""
    folder: Path | None = None

    @property
    def identity(self) -> str:
        """Return the name that a knowledge base records: equal only if all vectors are.

        It holds 12 characters of the model file's hash, and 4 that stand for the tokenizer and
        the settings: the same file pooled otherwise is another model.
        """
        settings = digest(
            self.tokenizer_sha256,
            self.pooling,
            self.query_instruction,
            self.passage_instruction,
            f"max_tokens={self.max_tokens}",
            f"lower_case={self.lower_case}",
            length=4,
        )
        return f"{self.name}-{self.model_sha256[:12]}-{settings}"

    def instruction(self, task: Task) -> str:
        """Return what goes before a text of this task."""
        return self.query_instruction if task == "query" else self.passage_instruction
