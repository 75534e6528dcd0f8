"""The list of organs (`organs.txt`), by section."""

import functools
from collections.abc import Mapping
from importlib import resources


@functools.cache
def _sections() -> Mapping[str, tuple[tuple[str, str], ...]]:
    text = resources.files("kgrag.language").joinpath("organs.txt").read_text(encoding="utf-8")
    found: dict[str, list[tuple[str, str]]] = {}
    for line in text.splitlines():
        if line.startswith("["):
            found[line.strip("[]")] = []
        elif line and not line.startswith("#"):
            name, _, others = line.partition("：")
            found[list(found)[-1]].append((name, others))
    return {section: tuple(lines) for section, lines in found.items()}


@functools.cache
def central() -> Mapping[str, str]:
    """Return full names of central organs, former ones too, by every name that is theirs alone."""
    found: dict[str, str] = {}
    for name, others in _sections()["国家"]:
        found |= dict.fromkeys((name, *others.partition("|")[0].split()), name)
    for names, _ in _sections()["沿革"]:
        found |= dict.fromkeys(names.split(), names.split()[0])
    return found


@functools.cache
def successors() -> Mapping[str, str]:
    """Return the organs that have the tasks of former ones now, by their full names."""
    return {names.split()[0]: now for names, now in _sections()["沿革"]}


@functools.cache
def national() -> Mapping[str, str]:
    """Return full names by those that mean a central organ in national documents."""
    lines = _sections()["国家"]
    return {word: name for name, others in lines for word in others.partition("|")[2].split()}


@functools.cache
def fields() -> Mapping[str, str]:
    """Return the fields of local organs in full, by every word for them."""
    found: dict[str, str] = {}
    for name, others in _sections()["地方"]:
        found |= dict.fromkeys((name, *others.split()), name)
    return found


@functools.cache
def whole_names() -> Mapping[str, str]:
    """Return what stands behind a place in full, by every word for it."""
    found: dict[str, str] = {}
    for name, others in _sections()["整名"]:
        found |= dict.fromkeys((name, *others.split()), name)
    return found
