"""Settings: one frozen dataclass for each table of `kgrag.toml`, with its defaults.

A field's type says which values are allowed, and is checked with pydantic; the text behind a bound
words it for error messages.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt

from kgrag.errors import ConfigError, IngestionError
from kgrag.files.encoding import decode_settings
from kgrag.text.messages import Message, message

# Allowed names of settings and options.
ChatProvider = Literal["glm", "deepseek", "qwen", "moonshot", "openai", "vllm", "ollama"]
EmbeddingProvider = Literal["jina", "siliconflow", "dashscope", "openai", "vllm", "tei", "ollama"]
RerankProvider = Literal["jina", "siliconflow", "cohere", "vllm", "tei"]
JsonMode = Literal["schema", "object", "none"]
ExtractCalls = Literal["combined", "separate", "facts", "summaries"]
ExtractFacts = Literal["free", "schema", "both"]
Ocr = Literal["auto", "off"]
IngestExecutor = Literal["auto", "local", "processes", "ray"]
LocalCopy = Literal["auto", "on", "off"]
Template = Literal["normal", "focused", "markdown", "steps"]
VerifyMethod = Literal["cov", "cov-paper", "chats-grid", "none"]
Writer = Literal["model", "quotes"]
QuestionKind = Literal[
    "number", "responsible", "reference", "list", "compare", "time", "several", "unanswerable"
]
SampleFormat = Literal["pairs", "instructions", "verification"]

STAGES = ("extract", "summarize", "analyse", "answer", "verify")
FILE_NAME = "kgrag.toml"
_MOST_BYTES = 1_000_000
_T = TypeVar("_T")

Positive = Annotated[int, Gt(0), "a positive whole number"]
Count = Annotated[int, Ge(0), "a whole number of 0 or more"]
Sizes = Annotated[tuple[Positive, ...], "a list of positive whole numbers"]
# No price is larger, and inf is no number to reckon with.
Amount = Annotated[float, Ge(0), Lt(1e12), "a number of 0 or more"]
Concurrency = Annotated[Positive, Le(1000)]


@dataclass(frozen=True, slots=True)
class ChunkConfig:
    """Table `[chunks]`: largest lengths in characters.

    Attributes:
        parent: Of parent chunks.
        children: Of each group of children, largest first.
    """

    parent: Positive = 2048
    children: Sizes = (1024, 512, 256)


@dataclass(frozen=True, slots=True)
class IngestConfig:
    """Table `[ingest]`: limits of the processes that read files.

    Attributes:
        executor: Where files are read and texts encoded: `local` in this process, without limits;
            `processes` of this machine; `ray`, a cluster; `auto` is `local` for a few short texts,
            else `processes`.
        address: Of the Ray cluster: `auto`, `HOST:PORT` or `ray://HOST:PORT`; empty to start Ray on
            this machine for the run.
        workers: Number of processes; 0 for as many as processors, of the cluster for `ray`.
        parse_seconds: Seconds to read a file, and again for the rules; for scans, per page.
        parse_memory_mb: Memory in MB (2^20 bytes) of a process; enforced on Linux.
        max_file_mb: Largest file in MB (10^6 bytes).
        ocr: `auto` recognises scans if the extra `ocr` is installed; or `off`.
    """

    executor: IngestExecutor = "auto"
    address: str = ""
    workers: Annotated[Count, Le(1000)] = 0
    parse_seconds: Annotated[Positive, Le(86_400)] = 120
    parse_memory_mb: Annotated[int, Ge(128), Le(1 << 20), "a whole number of 128 or more"] = 768
    max_file_mb: Annotated[Positive, Le(100_000)] = 200
    ocr: Ocr = "auto"

    @property
    def max_bytes(self) -> int:
        """The largest file in bytes."""
        return self.max_file_mb * 1_000_000


@dataclass(frozen=True, slots=True)
class EmbeddingConfig:
    """Table `[embedding]`: the encoder, and what is encoded.

    Attributes:
        model: Name of an installed model, or `hash` for the stand-in; empty for the default model
            if it is installed, else the stand-in. With an endpoint, the model's name there; empty
            for the provider's.
        threads: Processor threads; 0 for all.
        dimension: Length of the vectors, for models that can be truncated (Matryoshka); 0 for
            the full length.
        provider: Preset of an endpoint; empty for a model on this machine, or your own endpoint.
        base_url: Endpoint, e.g. `http://localhost:8080/v1`; empty for the provider's.
        api_key_env: Name of the environment variable with the key; empty for the provider's.
            The key itself is never in a file.
        query_instruction: Prefix of questions sent to an endpoint; installed models have their
            own.
        passage_instruction: Prefix of passages sent to an endpoint.
        languages: Codes of the languages that an endpoint's model reads well, e.g. `zh,en`;
            empty for any.
        batch_texts: Texts per request to an endpoint; 0 for the provider's number.
        batch_tokens: Estimated tokens per request; 0 for the provider's number.
        concurrency: Parallel requests to an endpoint.
        timeout_s: Seconds to wait for an endpoint.
        attempts: Attempts of a request that fails with a transient error.
    """

    model: str = ""
    threads: Count = 0
    dimension: Count = 0
    provider: Literal["", EmbeddingProvider] = ""
    base_url: str = ""
    api_key_env: str = ""
    query_instruction: str = ""
    passage_instruction: str = ""
    languages: str = ""
    batch_texts: Count = 0
    batch_tokens: Count = 0
    concurrency: Concurrency = 4
    timeout_s: Positive = 60
    attempts: Positive = 5

    @property
    def is_endpoint(self) -> bool:
        """Return whether texts are encoded by a server."""
        return bool(self.provider or self.base_url)


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """Table `[llm]`, and `[llm.STAGE]` for what differs in one stage.

    Attributes:
        provider: Preset for what is left empty; empty for your own endpoint.
        model: Name of the model; empty for the provider's.
        base_url: Endpoint, e.g. `http://localhost:8000/v1`; empty for the provider's.
        api_key_env: Name of the environment variable with the key; empty for the provider's.
            The key itself is never in a file.
        json: How JSON is requested: by a `schema`, as any `object`, or by the prompt alone
            (`none`); empty for the provider's way.
        concurrency: Parallel calls, at most 1000.
        requests_per_minute: Calls started per minute; 0 for no limit.
        tokens_per_minute: Tokens in and out per minute; 0 for no limit.
        timeout_s: Seconds to wait for an answer; if it is streamed (answers, extraction), for
            its first and each next piece.
        attempts: Attempts of a call that fails with a transient error.
        max_tokens: Longest answer; 0 for the provider's value for the model. Limits that an
            endpoint reports are respected.
        temperature: 0 for the most likely answer, at most 2.
        price_in: Price of a million input tokens in `currency`; negative for the provider's
            table. A stage with another model takes no price from `[llm]`.
        price_cached: Price of a million input tokens that the endpoint had in its cache.
        price_out: Price of a million output tokens.
        currency: Of the prices, e.g. `CNY`.
        calls: File with cached answers and the ledger; empty for `calls.db` in the knowledge
            base's folder, or in the user's cache folder for a server. Only in `[llm]`.
    """

    provider: Literal["", ChatProvider] = ""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    json: Literal["", JsonMode] = ""
    concurrency: Concurrency = 8
    requests_per_minute: Count = 0
    tokens_per_minute: Count = 0
    timeout_s: Positive = 120
    attempts: Positive = 5
    max_tokens: Count = 0
    temperature: Annotated[Amount, Le(2)] = 0.0
    price_in: Amount = -1.0
    price_cached: Amount = -1.0
    price_out: Amount = -1.0
    currency: str = ""
    calls: str = ""

    @property
    def is_configured(self) -> bool:
        """Return whether a model is named at all."""
        return bool(self.provider or self.base_url)


@dataclass(frozen=True, slots=True)
class ExtractConfig:
    """Table `[extract]`: extraction by a model.

    Attributes:
        calls: `combined` requests facts and summaries of a passage in one call, `separate` in
            two, `facts` and `summaries` only one of them.
        facts: `free` for open triples, `schema` for those of the meta-model, `both` for the
            meta-model's types and relations and open triples.
        meta_model: `dual-carbon`, or a TOML file.
        passage_chars: Maximum characters per call; neighbouring parents are combined. The default
            keeps within 1 call for 2048 characters, and answers below 4000 tokens.
    """

    calls: ExtractCalls = "combined"
    facts: ExtractFacts = "both"
    meta_model: str = "dual-carbon"
    passage_chars: Positive = 3584


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """Table `[search]`.

    Attributes:
        system: Name of the retrieval preset.
        top_k: Number of results.
        local_copy: Local copy of a server's knowledge base in the user's cache folder. `auto`: a
            long-running process makes one in the background, and deletes it at its end. `on`:
            it is kept, and updated before each question. `off`: none.
    """

    system: str = "grim"
    top_k: Positive = 10
    local_copy: LocalCopy = "auto"


@dataclass(frozen=True, slots=True)
class RerankConfig:
    """Table `[rerank]`: a cross-encoder that reorders the best results; off by default.

    Attributes:
        provider: Preset of an endpoint; empty for your own endpoint.
        model: The model's name at the endpoint; empty for the provider's.
        base_url: Endpoint without `/rerank`, e.g. `http://localhost:8080`; empty for the
            provider's.
        api_key_env: Name of the environment variable with the key; empty for the provider's.
            The key itself is never in a file.
        candidates: Number of results to reorder.
        timeout_s: Seconds to wait for an answer of an endpoint; no attempt starts later.
        attempts: Attempts of a request that fails with a transient error.
    """

    provider: Literal["", RerankProvider] = ""
    model: str = ""
    base_url: str = ""
    api_key_env: str = ""
    candidates: Annotated[Positive, Le(100)] = 30
    timeout_s: Positive = 20
    attempts: Positive = 2

    @property
    def is_endpoint(self) -> bool:
        """Return whether a server is asked."""
        return bool(self.provider or self.base_url)


@dataclass(frozen=True, slots=True)
class AnswerConfig:
    """Table `[answer]`.

    Attributes:
        max_chars: Maximum characters of the clauses that are quoted, without a model.
        template: Form of a model's answer.
        context_tokens: Maximum length of what a model is given at first, and of what its tools
            give in a round.
        tool_rounds: Maximum number of times that a model may call tools before it answers; 0 for
            none.
    """

    max_chars: Positive = 1080
    template: Template = "normal"
    context_tokens: Positive = 2000
    tool_rounds: Count = 3


@dataclass(frozen=True, slots=True)
class VerifyConfig:
    """Table `[verify]`.

    Attributes:
        method: Method of verification.
        max_rounds: Maximum number of answers, the first included; 0 for the method's default: 2
            for `cov` and its variants, 5 for `chats-grid`.
        max_calls: Maximum number of calls per question.
        timeout_s: Maximum seconds per question; a running call is cancelled then.
    """

    method: VerifyMethod = "cov"
    max_rounds: Count = 0
    max_calls: Positive = 40
    timeout_s: Positive = 300


@dataclass(frozen=True, slots=True)
class Config:
    """All settings; every table and key is optional in the file.

    Attributes:
        llm: The model of every stage without its own.
        stages: Models by stage, completed from `llm`.
        vision: Table `[vision]`: the model that reads pictures of pages; none by default.
    """

    chunks: ChunkConfig = ChunkConfig()
    ingest: IngestConfig = IngestConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    llm: ModelConfig = ModelConfig()
    extract: ExtractConfig = ExtractConfig()
    search: SearchConfig = SearchConfig()
    rerank: RerankConfig = RerankConfig()
    answer: AnswerConfig = AnswerConfig()
    verify: VerifyConfig = VerifyConfig()
    vision: ModelConfig = ModelConfig()
    stages: Mapping[str, ModelConfig] = field(default_factory=lambda: MappingProxyType({}))

    def model_of(self, stage: str) -> ModelConfig:
        """Return the model of a stage."""
        return self.vision if stage == "vision" else self.stages.get(stage, self.llm)


_TABLES = {f.name: f.default for f in fields(Config) if f.name != "stages"}


def read_config(path: Path | None = None) -> Config:
    """Read a file of settings.

    Args:
        path: The file; for None `kgrag.toml` in the working folder, or the defaults without it.

    Raises:
        ConfigError: If the file cannot be read, or a table, key or value is unknown or out of
            range; names key and file.
    """
    if path is None:
        path = Path(FILE_NAME)
        if not path.is_file():
            return Config()
    data = read_toml(path)
    unknown = sorted(set(data) - set(_TABLES))
    if unknown:
        known = ", ".join(sorted(_TABLES))
        said = "{path}: unknown table [{table}]; known are {known}"
        raise ConfigError(said, path=path, table=unknown[0], known=known)
    own = _stage_tables(path, data.get("llm", {}))
    tables: dict[str, Any] = {
        name: _table(path, name, data.get(name, {}), table) for name, table in _TABLES.items()
    }
    stages = {
        stage: _table(path, f"llm.{stage}", values, _base(tables["llm"], values))
        for stage, values in own.items()
    }
    named = {"llm": tables["llm"], **{f"llm.{stage}": model for stage, model in stages.items()}}
    named["vision"] = tables["vision"]
    if tables["vision"].calls:
        raise ConfigError(f"{path}: vision.calls: one file is for all models: set llm.calls")
    for name, model in named.items():
        if model.model and not model.is_configured:
            raise ConfigError(
                f"{path}: {name} names the model {model.model!r} but no endpoint:"
                " set provider or base_url beside it"
            )
    return Config(**tables, stages=MappingProxyType(stages))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file in any encoding that editors use.

    Raises:
        ConfigError: If it cannot be read or parsed.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ConfigError(f"{path}: has more than {_MOST_BYTES:,} bytes: no file of settings")
        return tomllib.loads(decode_settings(data, name=str(path)))
    except IngestionError as exc:
        raise ConfigError(str(exc)) from exc
    except (OSError, tomllib.TOMLDecodeError) as exc:
        raise ConfigError(f"{path}: cannot be read as TOML: {exc}") from exc


def _stage_tables(path: Path, llm: object) -> dict[str, object]:
    """Remove the tables of stages from `[llm]`, and return them."""
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
    """Return the defaults of a stage.

    All of `[llm]`; without its prices if the stage names another model; if it names another
    endpoint, only settings that do not depend on one.
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
    """Return defaults updated with the values of a table."""
    if not isinstance(values, Mapping):
        raise ConfigError(f"{path}: [{name}] must be a table")
    known = get_type_hints(type(defaults), include_extras=True)
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            said = "{path}: unknown key {name}.{key}; known are {known}"
            names = ", ".join(sorted(known))
            raise ConfigError(said, path=path, name=name, key=key, known=names)
        checked[key] = checked_value(f"{path}: {name}.{key}", value, known[key])
    return replace(defaults, **checked)  # type: ignore[type-var]


def checked_value(where: str, value: object, kind: Any) -> Any:
    """Return a value of a setting, validated against its type with pydantic.

    Args:
        where: Names the setting in the error.
        value: As given.
        kind: Its type.

    Raises:
        ConfigError: If it is of another type, or out of range.
    """
    from pydantic import (  # slow to import, and few have a file
        ConfigDict,
        TypeAdapter,
        ValidationError,
    )

    given = tuple(value) if isinstance(value, list) else value
    try:
        kinds = TypeAdapter(kind, config=ConfigDict(allow_inf_nan=False))
        return kinds.validate_python(given, strict=True)
    except ValidationError as exc:
        (error, *_) = exc.errors()
        wanted = _in_words(kind)
        if error["type"] == "less_than_equal":
            wanted = message("at most {n:g}", n=error["ctx"]["le"])
        said = "{where} must be {wanted}, got {value}"
        raise ConfigError(said, where=where, wanted=wanted, value=repr(value)) from exc


def _in_words(kind: Any) -> Message:
    """Return the allowed values in words."""
    if kind is str:
        return message("a text")
    if get_origin(kind) is Literal:
        choices = ", ".join(f'"{choice}"' for choice in get_args(kind) if choice)
        return message("one of {choices}", choices=choices)
    return message(next(text for text in get_args(kind) if isinstance(text, str)))
