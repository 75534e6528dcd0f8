"""Meta-models: the types of entities and the relations allowed between them."""

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Predicate

from kgrag.config import checked_value, read_toml
from kgrag.errors import ConfigError
from kgrag.ids import digest
from kgrag.text.words import normalize_name
from kgrag.types import Language

SHIPPED = ("dual-carbon",)
ANY = "*"  # in a relation: every type

_Word = Annotated[str, Predicate(str.strip), "a text that is not blank"]
_Words = Annotated[tuple[_Word, ...], "a list of texts"]
# Beside a description, which is for the readers of the file.
_KEYS: Mapping[str, Mapping[str, Any]] = {
    "types": dict.fromkeys(("key", "zh", "en"), _Word),
    "relations": dict.fromkeys(("zh", "en"), _Word)
    | dict.fromkeys(("subject", "object", "aliases"), _Words),
}


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of entity."""

    key: str  # stored type of entities, e.g. `agency`
    zh: str  # Chinese name
    en: str  # English name


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation between entities."""

    zh: str  # predicate in Chinese
    en: str  # predicate in English
    subjects: tuple[str, ...]  # keys of the types allowed as subject; `*` is every type
    objects: tuple[str, ...]  # keys of the types allowed as object
    aliases: tuple[str, ...] = ()  # synonyms, in any language

    @property
    def names(self) -> frozenset[str]:
        """Return the predicates and aliases."""
        return frozenset([self.zh, self.en, *self.aliases])


@dataclass(frozen=True, slots=True)
class TypedTriple:
    """A triple with types, as returned by a model."""

    subject: str
    subject_type: str
    predicate: str
    object: str
    object_type: str


@dataclass(frozen=True, slots=True)
class MetaModel:
    """Entity types and relations of a domain; GRIM (sections 4.6(2) and 7) asks for one."""

    name: str
    types: tuple[EntityType, ...]
    relations: tuple[Relation, ...]

    @property
    def identity(self) -> str:
        """Return a digest of the content."""
        return digest("meta-model", repr(self))

    def type_of(self, name: str) -> str | None:
        """Return the key of a type, given its key or one of its names; None for none."""
        return _types_by_name(self).get(normalize_name(name))

    def relation_of(self, predicate: str) -> Relation | None:
        """Return the relation of a predicate or alias; None for none."""
        return _relations_by_name(self).get(normalize_name(predicate))

    def check(self, triple: TypedTriple) -> str | None:
        """Return `relation not allowed` or `type not allowed`; None for a valid triple."""
        relation = self.relation_of(triple.predicate)
        if relation is None:
            return "relation not allowed"
        ends = (
            (triple.subject_type, relation.subjects),
            (triple.object_type, relation.objects),
        )
        for type_, allowed in ends:
            key = self.type_of(type_)
            if key is None or (ANY not in allowed and key not in allowed):
                return "type not allowed"
        return None

    def listing(self, language: Language) -> str:
        """Return types and relations as listed in a prompt.

        Relations between the same types share a line, to keep the prompt short.
        """
        zh = language == "zh"
        colon, comma = ("：", "、") if zh else (": ", ", ")
        types = [
            t.key if name == t.key else f"{t.key}{colon}{name}"
            for t in self.types
            for name in [t.zh if zh else t.en]
        ]
        lines: dict[str, list[str]] = {}
        for r in self.relations:
            ends = f"{'/'.join(r.subjects)} → {'/'.join(r.objects)}"
            lines.setdefault(ends, []).append(r.zh if zh else r.en)
        relations = [f"{comma.join(names)}{colon}{ends}" for ends, names in lines.items()]
        return "\n".join([comma.join(types), *relations])


@functools.lru_cache(maxsize=8)
def _types_by_name(model: MetaModel) -> Mapping[str, str]:
    return {normalize_name(name): t.key for t in model.types for name in (t.en, t.zh, t.key)}


@functools.lru_cache(maxsize=8)
def _relations_by_name(model: MetaModel) -> Mapping[str, Relation]:
    return {normalize_name(name): r for r in model.relations for name in r.names}


def read_meta_model(name_or_path: str) -> MetaModel:
    """Load a meta-model: a shipped one by name (`dual-carbon`), or a TOML file by path.

    Raises:
        ConfigError: If there is none, or it is malformed; names file and key.
    """
    if name_or_path in SHIPPED:
        file = resources.files("kgrag.ingestion").joinpath("meta_models", f"{name_or_path}.toml")
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        return _parsed(name_or_path, f"{name_or_path}.toml", data)
    path = Path(name_or_path)
    try:
        data = read_toml(path)
    except ConfigError as exc:
        raise ConfigError(
            f"meta-model {name_or_path!r}: {exc}; shipped are {', '.join(SHIPPED)}, "
            "others are given as a TOML file"
        ) from exc
    return _parsed(path.stem, str(path), data)


def _parsed(name: str, file: str, data: Mapping[str, Any]) -> MetaModel:
    if unknown := sorted(data.keys() - {"name", "types", "relations"}):
        raise ConfigError(f"{file}: unknown key {unknown[0]!r}; known are name, types, relations")
    types = tuple(EntityType(**row) for row in _rows(data, "types", file))
    keys = [t.key for t in types]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice:
        raise ConfigError(f"{file}: types: key {twice!r} stands twice")
    relations = []
    for i, row in enumerate(_rows(data, "relations", file)):
        for end in ("subject", "object"):
            if not row[end] or not {*row[end]} <= {*keys, ANY}:
                where = f"{file}: relations[{i}].{end}"
                raise ConfigError(f"{where} must name types {keys} or '*', got {list(row[end])}")
        relations.append(Relation(*(row[key] for key in _KEYS["relations"])))
    _unambiguous(relations, file)
    name = checked_value(f"{file}: name", data.get("name", name), _Word)
    return MetaModel(name, types, tuple(relations))


def _rows(data: Mapping[str, Any], key: str, file: str) -> list[dict[str, Any]]:
    """Return the checked values of tables of a kind."""
    rows, kinds = data.get(key), _KEYS[key]
    if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in rows):
        raise ConfigError(f"{file}: {key} must be one or more tables [[{key}]]")
    checked = []
    for i, row in enumerate(rows):
        where, given = f"{file}: {key}[{i}]", {"aliases": [], **row}
        if unknown := sorted(row.keys() - kinds.keys() - {"description"}):
            raise ConfigError(f"{where}: unknown key {unknown[0]!r}; known are {sorted(kinds)}")
        values = {k: checked_value(f"{where}.{k}", given.get(k), kinds[k]) for k in kinds}
        checked.append(values)
    return checked


def _unambiguous(relations: Sequence[Relation], file: str) -> None:
    owner: dict[str, Relation] = {}
    for relation in relations:
        for word in relation.names:
            other = owner.setdefault(normalize_name(word), relation)
            if other is not relation:
                raise ConfigError(f"{file}: {word!r} names both {other.zh!r} and {relation.zh!r}")
