"""Model cards, names of models, and the catalogue of models to pull."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kgrag.embedding.embedder import TASKS, Task
from kgrag.errors import ModelNotFoundError
from kgrag.ids import digest
from kgrag.text.messages import catalogue

Pooling = Literal["cls", "mean", "last"]
Format = Literal["onnx", "transformers"]

DEFAULT_MODEL = "bge-small-zh"
STAGING = ".staging-"  # prefix of the folder of a model being installed
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_RESERVED = re.compile(
    r"hash(-\d+)?"  # the stand-in's names
    r"|(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?|.*\."  # not allowed as folders on Windows
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """The settings of a model, and the hashes of its files (sha256, hex; empty if unknown).

    Instructions are prefixes of texts. Adapters are of `transformers` models only.
    """

    name: str  # e.g. `bge-small-zh`
    dimension: int  # length of a vector
    pooling: Pooling = "mean"  # token states of a vector: the first (`cls`), all, or the last one
    query_instruction: str = ""
    passage_instruction: str = ""
    max_tokens: int = 512  # longer texts are truncated; special tokens count
    lower_case: bool = False  # whether texts are lower-cased before tokenisation
    languages: str = ""  # supported well: `zh`, `zh,en`; empty for any
    licence: str = ""  # as stated by the makers; empty if unknown
    source: str = ""  # origin of the files, for display
    format: Format = "onnx"  # of the files, which determines the runtime
    query_adapter: str = ""  # name of the adapter for questions; empty for none
    passage_adapter: str = ""
    precision: str = ""  # of the weights in the files: `float32`, `int8`, …; empty if unknown
    model_sha256: str = ""
    weights_sha256: str = ""  # of the external weights of an ONNX file; empty for none
    tokenizer_sha256: str = ""
    answered: float | None = None  # as of `Embedder.answered`
    n_bytes: int = field(default=0, compare=False)  # not part of a model's identity
    folder: Path | None = None  # None if the model is not installed

    @property
    def identity(self) -> str:
        """Return the name that a knowledge base records; equal only if all vectors are.

        It includes 12 characters of the model file's hash, and 4 for the tokenizer and settings:
        the same file with another pooling is another model.
        """
        # Later fields are left out where empty, to keep the identities that are recorded.
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
        """Return the settings that vectors depend on, for display."""
        settings = {"model": self.name, "pooling": self.pooling, "max_tokens": str(self.max_tokens)}
        for task in TASKS:
            parts = {"adapter": self.adapter(task), "instruction": self.instruction(task)}
            settings[task] = ", ".join(f"{name} {text}" for name, text in parts.items() if text)
        settings["precision"] = self.precision
        return {**settings, "lower_case": "yes"} if self.lower_case else settings

    def instruction(self, task: Task) -> str:
        """Return the prefix of texts for a task."""
        return self.query_instruction if task == "query" else self.passage_instruction

    def adapter(self, task: Task) -> str:
        """Return the name of the adapter for a task; empty for none."""
        return self.query_adapter if task == "query" else self.passage_adapter


def is_name(name: str) -> bool:
    """Return whether a model may have a name, which is also that of a folder.

    >>> is_name("bge-m3"), is_name("BAAI/bge-m3"), is_name("hash-64")
    (True, False, False)
    """
    return bool(_NAME.fullmatch(name)) and not _RESERVED.fullmatch(name)


def name_from(text: str) -> str:
    """Return a valid name of a model, derived from a file, folder or name on the hub.

    >>> name_from("BAAI/BGE M3"), name_from("hash")
    ('bge-m3', 'model')
    """
    if is_name(text):
        return text
    last = text.casefold().rstrip("/").rpartition("/")[2]
    name = re.sub(r"[^a-z0-9._-]+", "-", last)[:64].strip("-._")
    return name if is_name(name) else "model"


def remedy(name: str) -> str:
    """Return the sentence on how to install a model of this name.

    >>> remedy("bge-small-zh")
    'Remedy: kgrag models pull bge-small-zh'
    >>> remedy("mine")
    'Remedy: kgrag models add PATH --name mine'
    >>> remedy("BAAI/bge-m3")
    "Remedy: kgrag models add PATH --name bge-m3, and bge-m3 in place of 'BAAI/bge-m3'"
    """
    if any(entry.card.name == name for entry in CATALOG):
        return f"Remedy: kgrag models pull {name}"
    if name.startswith(STAGING):  # being installed, without a name yet
        return "Remedy: download its files again"
    other = name_from(name)
    changed = "" if other == name else f", and {other} in place of {name!r}"
    return f"Remedy: kgrag models add PATH --name {other}{changed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A model that can be pulled.

    Checks are (question, passage that answers, passage that does not): files with other hashes than
    the card's are accepted only if the model ranks these correctly.
    """

    card: ModelCard  # with the hashes of the files in the jar
    hub_repo: str  # repository on the Hugging Face hub
    maven_artifact: str  # `group:artifact:version` of a jar on Maven Central with both files
    size_mb: int  # approximate size of the download
    checks: Sequence[Sequence[str]]
    hub_model: str = "onnx/model_quantized.onnx"
    hub_tokenizer: str = "tokenizer.json"


def find_entry(name: str) -> CatalogEntry:
    """Return the entry of this name; ModelNotFoundError if there is none."""
    for entry in CATALOG:
        if entry.card.name == name:
            return entry
    known = ", ".join(entry.card.name for entry in CATALOG)
    raise ModelNotFoundError(
        f"no model is known by the name {name!r}; known are {known}. {remedy(name)}"
    )


def _entries() -> Iterator[CatalogEntry]:
    for entry in catalogue("kgrag.embedding", "catalog.toml")["model"]:
        yield CatalogEntry(**{**entry, "card": ModelCard(**entry["card"])})


CATALOG = tuple(_entries())
