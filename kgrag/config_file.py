"""Reading settings from `kgrag.toml`: every table and key checked, errors that name them."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from kgrag.config import (
    ON_OFF,
    STAGES,
    AnswerConfig,
    ChunkConfig,
    Config,
    EmbeddingConfig,
    ExtractConfig,
    IngestConfig,
    ModelConfig,
    RerankConfig,
    SearchConfig,
    VerifyConfig,
)
from kgrag.errors import ConfigError, IngestionError
from kgrag.files.encoding import decode_settings

FILE_NAME = "kgrag.toml"
_MOST_BYTES = 1_000_000

_TABLES = {
    "chunks": ChunkConfig,
    "ingest": IngestConfig,
    "embedding": EmbeddingConfig,
    "llm": ModelConfig,
    "extract": ExtractConfig,
    "search": SearchConfig,
    "rerank": RerankConfig,
    "answer": AnswerConfig,
    "verify": VerifyConfig,
}
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
    data = read_toml(path)
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


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a TOML file says; it may be in any encoding that an editor saves it in.

    Raises:
        ConfigError: If it cannot be read, or is not TOML.
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
    known = get_type_hints(type(defaults), include_extras=True)
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise ConfigError(f"{path}: unknown key {name}.{key}; known are {sorted(known)}")
        checked[key] = _value(f"{path}: {name}.{key}", value, known[key])
    return replace(defaults, **checked)  # type: ignore[type-var]


def _value(where: str, value: object, kind: Any) -> object:
    """Return a setting's value, of its kind: a type with the bounds that pydantic knows."""
    from pydantic import (  # slow to import, and few have a file
        ConfigDict,
        TypeAdapter,
        ValidationError,
    )

    given = tuple(value) if isinstance(value, list) else value
    if kind is bool and isinstance(value, str):
        given = ON_OFF.get(value, value)
    try:
        kinds = TypeAdapter(kind, config=ConfigDict(allow_inf_nan=False))
        return kinds.validate_python(given, strict=True)
    except ValidationError as exc:
        (error, *_) = exc.errors()
        wanted = _in_words(kind)
        if error["type"] == "less_than_equal":
            wanted = f"at most {error['ctx']['le']:g}"
        raise ConfigError(f"{where} must be {wanted}, got {value!r}") from exc


def _in_words(kind: Any) -> str:
    """Return what a setting may be."""
    if kind is bool:
        return 'one of true, false, "on", "off"'
    if kind is str:
        return "a text"
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(f'"{choice}"' for choice in get_args(kind) if choice)
    return next(text for text in get_args(kind) if isinstance(text, str))
