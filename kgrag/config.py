"""Settings from `kgrag.toml`: read once, checked, frozen."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from kgrag.errors import ConfigError

FILE_NAME = "kgrag.toml"
STAGES = ("extract", "summarize", "analyse", "answer", "verify")


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """Table `[chunks]`: largest lengths in characters.

    Attributes:
        parent: Of parent chunks.
        children: Of each group of children, largest first.
    """

    parent: int = 2048
    children: tuple[int, ...] = (1024, 512, 256)


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Table `[embedding]`.

    Attributes:
        model: Name of an installed model, or `hash` for the stand-in; empty takes the default
            model where it is installed, else the stand-in.
        threads: Processor threads; 0 takes all.
    """

    model: str = ""
    threads: int = 0


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Table `[llm]`, and `[llm.STAGE]` for what differs in one stage.

    Attributes:
        provider: Preset that fills in what is left empty: `glm`, `deepseek`, `qwen`, `moonshot`,
            `openai`, `vllm`, `ollama`; empty for an endpoint of your own.
        model: Name of the model; empty takes the provider's.
        base_url: Endpoint, e.g. `http://localhost:8000/v1`; empty takes the provider's.
        api_key_env: Name of the environment variable that holds the key; empty takes the
            provider's. The key itself never stands in a file.
        json: How JSON is asked for: `schema`, `object`, or `none` for endpoints that have
            neither; empty takes the provider's.
        concurrency: Calls under way at the same time, at most 1000.
        requests_per_minute: Calls begun in a minute; 0 for no limit.
        tokens_per_minute: Tokens in and out in a minute; 0 for no limit.
        timeout_s: Seconds that an answer may take; where it is streamed, to wait for its first
            and each next piece, and five times that for all of it.
        attempts: Tries of a call that fails in a way that may pass.
        max_tokens: Longest answer; some endpoints refuse more than 4095.
        temperature: 0 for the most likely answer, at most 2.
        price_in: Of a million tokens sent, in `currency`; negative takes the provider's table.
            A stage with another model takes no price from `[llm]`.
        price_cached: Of a million tokens sent that the endpoint had in its cache.
        price_out: Of a million tokens answered.
        currency: Of the prices, e.g. `CNY`.
        calls: File that keeps answers and the ledger; empty is `calls.db` in the knowledge
            base's folder, or in the user's cache folder for a server. Only in `[llm]`.
    """

    provider: str = ""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    json: str = ""
    concurrency: int = 8
    requests_per_minute: int = 0
    tokens_per_minute: int = 0
    timeout_s: int = 120
    attempts: int = 5
    max_tokens: int = 4000
    temperature: float = 0.0
    price_in: float = -1.0
    price_cached: float = -1.0
    price_out: float = -1.0
    currency: str = ""
    calls: str = ""

    @property
    def is_configured(self) -> bool:
        """Return whether a model is named at all."""
        return bool(self.provider or self.base_url)


@dataclass(frozen=True, slots=True)
class ExtractConfig:
    """Table `[extract]`: what a model reads out of documents.

    Attributes:
        calls: `combined` asks for facts and summaries in one call a passage, `separate` in two,
            `facts` and `summaries` for one of them only.
        facts: `free` for open triples, `schema` for those of the meta-model only, `both` for
            the meta-model's types and relations with open triples beside them.
        meta_model: `dual-carbon`, or a TOML file.
        passage_chars: Most characters of a call; neighbouring parents are put together. The
            default keeps to 1 call for 2048 characters, and answers below 4000 tokens.
    """

    calls: str = "combined"
    facts: str = "both"
    meta_model: str = "dual-carbon"
    passage_chars: int = 3584


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """Table `[search]`.

    Attributes:
        system: Name of the retrieval preset.
        top_k: Results.
        expansions: Further wordings of a question that a model gives and that are searched,
            too; Chats-Grid finds 2 enough. 0 for none.
        hyde: `on` searches with a passage that a model made up, too.
        graph_query: `on` has a model write a query to the graph, too.
    """

    system: str = "grim"
    top_k: int = 10
    expansions: int = 2
    hyde: str = "off"
    graph_query: str = "off"


@dataclass(frozen=True, slots=True)
class AnswerConfig:
    """Table `[answer]`.

    Attributes:
        max_sentences: Sentences quoted at most, without a model.
        template: `normal`, `focused`, `markdown` or `steps`.
        context_tokens: Longest context that a model is given.
        compress: Share of each passage that is kept, by BM25-Extract; 1 keeps all.
        integrate: `on` completes the answer from the best passage in a second call.
    """

    max_sentences: int = 5
    template: str = "normal"
    context_tokens: int = 6000
    compress: float = 1.0
    integrate: str = "off"


@dataclass(frozen=True, slots=True)
class VerifyConfig:
    """Table `[verify]`.

    Attributes:
        method: `cov`, `cov-two-stage`, `chats-grid` or `none`.
        max_rounds: Answers at most, the first included; 0 for the method's own number: 2 for
            `cov`, 5 for `chats-grid`.
        max_calls: Calls of a model at most, for one question.
        timeout_s: Seconds at most, for one question; a call under way is ended then.
    """

    method: str = "cov"
    max_rounds: int = 0
    max_calls: int = 40
    timeout_s: int = 300


@dataclass(frozen=True, slots=True)
class Config:
    """All settings; every table and key is optional in the file.

    Attributes:
        llm: The model of every stage that has none of its own.
        stages: What a stage has of its own, by stage; `llm` fills in the rest.
    """

    chunks: ChunkConfig = ChunkConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    llm: ModelConfig = ModelConfig()
    extract: ExtractConfig = ExtractConfig()
    search: SearchConfig = SearchConfig()
    answer: AnswerConfig = AnswerConfig()
    verify: VerifyConfig = VerifyConfig()
    stages: Mapping[str, ModelConfig] = field(default_factory=lambda: MappingProxyType({}))

    def model_of(self, stage: str) -> ModelConfig:
        """Return the model of a stage."""
        return self.stages.get(stage, self.llm)


_TABLES = {
    "chunks": ChunkConfig,
    "embedding": EmbeddingConfig,
    "llm": ModelConfig,
    "extract": ExtractConfig,
    "search": SearchConfig,
    "answer": AnswerConfig,
    "verify": VerifyConfig,
}
_ON_OFF = ("on", "off")
_CHOICES = {  # values other than these would be found out late, or never
    "llm.provider": ("", "glm", "deepseek", "qwen", "moonshot", "openai", "vllm", "ollama"),
    "llm.json": ("", "schema", "object", "none"),
    "extract.calls": ("combined", "separate", "facts", "summaries"),
    "extract.facts": ("free", "schema", "both"),
    "search.hyde": _ON_OFF,
    "search.graph_query": _ON_OFF,
    "answer.template": ("normal", "focused", "markdown", "steps"),
    "answer.integrate": _ON_OFF,
    "verify.method": ("cov", "cov-two-stage", "chats-grid", "none"),
}
_MOST: dict[str, float] = {"llm.concurrency": 1000, "llm.temperature": 2, "answer.compress": 1}
_LARGEST = 1e12  # no price is, and inf is no number to reckon with
_MAY_BE_ZERO = frozenset(["expansions"])
_T = TypeVar("_T")


def read_config(path: Path | None = None) -> Config:
    """Return the settings in a file; the defaults where there is none.

    Args:
        path: The file; `kgrag.toml` in the working folder for None, if it is there.

    Raises:
        ConfigError: If the file cannot be read, or a table, key or value is not known or out of
            range; names key and file.
    """
    if path is None:
        path = Path(FILE_NAME)
        if not path.is_file():
            return Config()
    try:
        with path.open("rb") as file:
            data = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as exc:
        raise ConfigError(f"{path}: cannot be read as TOML: {exc}") from exc
    unknown = sorted(set(data) - set(_TABLES))
    if unknown:
        raise ConfigError(f"{path}: unknown table [{unknown[0]}]; known are {sorted(_TABLES)}")
    own = _stage_tables(path, data.get("llm", {}))
    tables: dict[str, Any] = {
        name: _table(path, name, data.get(name, {}), table()) for name, table in _TABLES.items()
    }
    stages = {
        stage: _table(path, f"llm.{stage}", values, _base(tables["llm"], values))
        for stage, values in own.items()
    }
    named = {"llm": tables["llm"], **{f"llm.{stage}": model for stage, model in stages.items()}}
    for name, model in named.items():
        if model.model and not model.is_configured:
            raise ConfigError(
                f"{path}: {name} names the model {model.model!r} but no endpoint:"
                " set provider or base_url beside it"
            )
    return Config(**tables, stages=MappingProxyType(stages))


def _stage_tables(path: Path, llm: object) -> dict[str, object]:
    """Take the tables of stages out of `[llm]`."""
    if not isinstance(llm, dict):
        return {}
    own = {stage: llm.pop(stage) for stage in STAGES if stage in llm}
    for name, values in llm.items():
        if isinstance(values, Mapping):
            known = ", ".join(f"[llm.{stage}]" for stage in STAGES)
            raise ConfigError(f"{path}: unknown table [llm.{name}]; known are {known}")
    for stage, values in own.items():
        if isinstance(values, Mapping) and "calls" in values:
            raise ConfigError(
                f"{path}: llm.{stage}.calls: one file is for all stages: set llm.calls"
            )
    return own


def _base(llm: ModelConfig, values: object) -> ModelConfig:
    """Return what a stage begins with.

    All of `[llm]`, but its prices where the stage names another model; where it names an endpoint
    of its own, only what is no matter of endpoints: the limits per minute are one's own, too.
    """
    if not isinstance(values, Mapping):
        return llm
    blank = ModelConfig()
    if not {"provider", "base_url"} & values.keys():
        if values.get("model", llm.model) == llm.model:
            return llm
        return replace(
            llm,
            price_in=blank.price_in,
            price_cached=blank.price_cached,
            price_out=blank.price_out,
        )
    kept = ("concurrency", "timeout_s", "attempts", "max_tokens", "temperature", "calls")
    return replace(blank, **{name: getattr(llm, name) for name in kept})


def _table(path: Path, name: str, values: object, defaults: _T) -> _T:
    """Return defaults with what a table says put in."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{path}: [{name}] must be a table")
    known = {field.name: getattr(defaults, field.name) for field in fields(defaults)}  # type: ignore[arg-type]
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise ConfigError(f"{path}: unknown key {name}.{key}; known are {sorted(known)}")
        where = f"{path}: {name}.{key}"
        checked[key] = _value(where, value, known[key], may_be_zero=key in _MAY_BE_ZERO)
        setting = f"{name.partition('.')[0]}.{key}"
        most = _MOST.get(setting)
        if most is not None and checked[key] > most:
            raise ConfigError(f"{where} must be at most {most:g}, got {value!r}")
        choices = _CHOICES.get(setting)
        if choices and checked[key] not in choices:
            shown = ", ".join(filter(None, choices))
            raise ConfigError(f"{where} must be one of {shown}, got {value!r}")
    return replace(defaults, **checked)  # type: ignore[type-var]


def _value(where: str, value: object, default: object, *, may_be_zero: bool) -> object:
    if isinstance(default, tuple):
        whole = isinstance(value, list) and all(_positive(item) for item in value)
        if not whole or not isinstance(value, list):
            raise ConfigError(f"{where} must be a list of positive whole numbers, got {value!r}")
        return tuple(value)
    if isinstance(default, str):
        if not isinstance(value, str):
            raise ConfigError(f"{where} must be a text, got {value!r}")
        return value
    if isinstance(default, float):
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ConfigError(f"{where} must be a number, got {value!r}")
        if not 0 <= value <= _LARGEST:  # nor is nan
            raise ConfigError(f"{where} must be a number of 0 or more, got {value!r}")
        return float(value)
    if not _positive(value) and not ((default == 0 or may_be_zero) and value == 0):
        raise ConfigError(f"{where} must be a positive whole number, got {value!r}")
    return value


def _positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
