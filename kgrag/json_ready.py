"""Conversion of dataclasses to JSON-ready mappings."""

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path


class JsonReady:
    """Base of dataclasses with a JSON form."""

    __slots__ = ()

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping of all fields."""
        return as_dict(self)


def as_dict(value: object, *, without: Collection[str] = ()) -> dict[str, object]:
    """Return a dataclass as a JSON-ready mapping of its fields, in order.

    Args:
        value: A dataclass; nested values with a `to_dict` are converted by it.
        without: Names of fields to leave out.
    """
    if not is_dataclass(value):
        raise TypeError(f"no dataclass: {type(value).__name__}")
    return {f.name: _plain(getattr(value, f.name)) for f in fields(value) if f.name not in without}


def _plain(value: object) -> object:
    if isinstance(value, JsonReady):
        return value.to_dict()
    if is_dataclass(value):
        return as_dict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
