"""Settings from `kgrag.toml`: read once, checked, frozen."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from kgrag.errors import ConfigError

FILE_NAME = "kgrag.toml"


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
class SearchConfig:
    """Table `[search]`.

    Attributes:
        system: Name of the retrieval preset.
        top_k: Results.
    """

    system: str = "grim"
    top_k: int = 10


@dataclass(frozen=True, slots=True)
class AnswerConfig:
    """Table `[answer]`.

    Attributes:
        max_sentences: Sentences quoted at most.
    """

    max_sentences: int = 5


@dataclass(frozen=True, slots=True)
class Config:
    """All settings; every table and key is optional in the file."""

    chunks: ChunkConfig = ChunkConfig()
    embedding: EmbeddingConfig = EmbeddingConfig()
    search: SearchConfig = SearchConfig()
    answer: AnswerConfig = AnswerConfig()


_TABLES = ("chunks", "embedding", "search", "answer")
_T = TypeVar("_T", ChunkConfig, EmbeddingConfig, SearchConfig, AnswerConfig)


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
    return Config(
        chunks=_table(path, "chunks", data.get("chunks", {}), ChunkConfig),
        embedding=_table(path, "embedding", data.get("embedding", {}), EmbeddingConfig),
        search=_table(path, "search", data.get("search", {}), SearchConfig),
        answer=_table(path, "answer", data.get("answer", {}), AnswerConfig),
    )


def _table(path: Path, name: str, values: object, table: type[_T]) -> _T:
    if not isinstance(values, Mapping):
        raise ConfigError(f"{path}: [{name}] must be a table")
    known = {field.name: field.default for field in fields(table)}
    checked: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise ConfigError(f"{path}: unknown key {name}.{key}; known are {sorted(known)}")
        checked[key] = _value(f"{path}: {name}.{key}", value, known[key])
    return table(**checked)


def _value(where: str, value: object, default: object) -> object:
    if isinstance(default, tuple):
        whole = isinstance(value, list) and all(_positive(item) for item in value)
        if not whole or not isinstance(value, list):
            raise ConfigError(f"{where} must be a list of positive whole numbers, got {value!r}")
        return tuple(value)
    if isinstance(default, str):
        if not isinstance(value, str):
            raise ConfigError(f"{where} must be a text, got {value!r}")
        return value
    if not _positive(value) and not (default == 0 and value == 0):
        raise ConfigError(f"{where} must be a positive whole number, got {value!r}")
    return value


def _positive(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
