"""Reading settings from `kgrag.toml`: every table and key checked, errors that name them."""

import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from kgrag.config import (
    STAGES,
    AnswerConfig,
    ChunkConfig,
    Config,
    EmbeddingConfig,
    ExtractConfig,
    ModelConfig,
    SearchConfig,
    VerifyConfig,
)
from kgrag.encoding import decode_settings
from kgrag.errors import ConfigError, IngestionError

FILE_NAME = "kgrag.toml"

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
_ENDPOINTS = ("", "jina", "siliconflow", "dashscope", "openai", "vllm", "tei", "ollama")
_CHOICES = {  # values other than these would be found out late, or never
    "embedding.provider": _ENDPOINTS,
    "embedding.facts": _ON_OFF,
    "embedding.late_chunking": _ON_OFF,
    "llm.provider": ("", "glm", "deepseek", "qwen", "moonshot", "openai", "vllm", "ollama"),
    "llm.json": ("", "schema", "object", "none"),
    "extract.calls": ("combined", "separate", "facts", "summaries"),
    "extract.facts": ("free", "schema", "both"),
    "search.hyde": _ON_OFF,
    "search.graph_query": _ON_OFF,
    "search.local_copy": ("auto", *_ON_OFF),
    "answer.template": ("normal", "focused", "markdown", "steps"),
    "answer.integrate": _ON_OFF,
    "verify.method": ("cov", "cov-two-stage", "chats-grid", "none"),
}
_MOST: dict[str, float] = {
    "embedding.concurrency": 1000,
    "llm.concurrency": 1000,
    "llm.temperature": 2,
    "answer.compress": 1,
}
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
        return tomllib.loads(decode_settings(path.read_bytes(), name=str(path)))
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
    known = {field.name: getattr(defaults, field.name) for field in fields(defaults)}  # type: ignore[arg-type]
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise ConfigError(f"{path}: unknown key {name}.{key}; known are {sorted(known)}")
        where = f"{path}: {name}.{key}"
        setting = f"{name.partition('.')[0]}.{key}"
        choices = _CHOICES.get(setting)
        if choices and value not in choices:  # before the type: true is not "on"
            shown = ", ".join(f'"{choice}"' for choice in choices if choice)
            raise ConfigError(f"{where} must be one of {shown}, got {value!r}")
        checked[key] = _value(where, value, known[key], may_be_zero=key in _MAY_BE_ZERO)
        most = _MOST.get(setting)
        if most is not None and checked[key] > most:
            raise ConfigError(f"{where} must be at most {most:g}, got {value!r}")
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
    or_zero = default == 0 or may_be_zero
    if not _positive(value) and not (or_zero and value == 0):
        number = "whole number of 0 or more" if or_zero else "positive whole number"
        raise ConfigError(f"{where} must be a {number}, got {value!r}")
    return value


def _positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
