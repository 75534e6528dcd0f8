"""The form in which a model gives facts: rows below the quote that states them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from kgrag.ingestion.meta_model import MetaModel, TypedTriple
from kgrag.llm.chat import Schema

_SIGN = re.compile(r"[-+<>=≥≤≈~～－＋]+")
_TEXT: Schema = {"type": "string"}
# Without a meta-model a row has no types. What is not told is empty, and left out at the end.
_ROW: Schema = {
    "type": "array",
    "items": _TEXT,
    "minItems": 3,
    "maxItems": 11,
    "description": "subject, type, relation, object, type, value, unit, year, comparison, region, "
    "condition",
}


def object_of(**properties: Schema) -> Schema:
    """Return the schema of an object with exactly these properties, as strict endpoints require."""
    one: Schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {**one, "additionalProperties": False}


def list_of(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


ITEMS = list_of(object_of(quote=_TEXT, triples=list_of(_ROW)))
CORRECTIONS = list_of(object_of(id=_TEXT, subject=_TEXT, object=_TEXT))


@dataclass(frozen=True, slots=True)
class Told:
    """What a model tells beside a triple, as written; empty for what it does not.

    Attributes:
        value: The number.
        unit: Of the value.
        year: In which it holds or is due.
        comparator: How the value is meant: `>=`, or 不低于.
        region: The place that the fact is about.
        condition: Under which it holds.
    """

    value: str = ""
    unit: str = ""
    year: str = ""
    comparator: str = ""
    region: str = ""
    condition: str = ""


@dataclass(frozen=True, slots=True)
class Statement:
    """A triple as a model gave it.

    Attributes:
        quote: The words that it was taken from.
        triple: With the types that were told.
        told: What stands beside it.
        item: Number of the quote within the answer: two quotes may be equal.
    """

    quote: str
    triple: TypedTriple
    told: Told
    item: int


@dataclass(frozen=True, slots=True)
class Correction:
    """Other names for a statement of rules that a model was told by its key; empty for the same."""

    key: str
    subject: str
    object: str


def read_items(items: Sequence[object], meta_model: MetaModel | None = None) -> list[Statement]:
    """Return the statements of an answer; what is missing in one is empty.

    Args:
        items: Of the answer.
        meta_model: By whose types a row is known to have types.

    Raises:
        ValueError: If no item has the form asked for, though there are some.
    """
    found = [
        Statement(_text(item, "quote"), *_read(row, meta_model), item=number)
        for number, item in enumerate(items)
        if isinstance(item, Mapping)
        for row in _rows(item.get("triples"))
    ]
    if items and not any(s.triple.subject and s.triple.object for s in found):
        raise ValueError('no item of "facts" has a "quote" and "triples" with subject and object')
    return found


def read_corrections(items: Iterable[object]) -> list[Correction]:
    """Return the corrections of an answer; what has another form is left out."""
    rows = [item for item in items if isinstance(item, Mapping)]
    return [Correction(_text(r, "id"), _text(r, "subject"), _text(r, "object")) for r in rows]


def _rows(triples: object) -> list[list[object]]:
    rows = triples if isinstance(triples, list) else []
    if len(rows) >= 3 and all(isinstance(part, str) for part in rows):
        return [rows]  # the only row, not in a list of its own
    return [row for row in rows if isinstance(row, list)]


def _read(row: Sequence[object], meta_model: MetaModel | None) -> tuple[TypedTriple, Told]:
    """Return the triple of a row, and what stands beside it.

    Where its object is only a sign (+), the value that is told is its object.
    """
    parts = [_plain(part) for part in row]
    typed = meta_model is not None and _has_types(parts, meta_model)
    wanted = (0, 1, 2, 3, 4) if typed else (0, None, 1, 2, None)
    triple = TypedTriple(*("" if i is None else _part(parts, i) for i in wanted))
    rest = parts[5 if typed else 3 :]
    told = Told(*(_part(rest, i) for i in range(len(fields(Told)))))
    if not told.value or not _SIGN.fullmatch(triple.object):
        return triple, told
    sign = told.comparator or triple.object
    return replace(triple, object=f"{told.value}{told.unit}"), replace(told, comparator=sign)


def _has_types(parts: Sequence[str], meta_model: MetaModel) -> bool:
    """Return whether a row has types: it is told one, or is too long for one without."""
    told = [meta_model.type_of(part) for i in (1, 4) for part in [_part(parts, i)] if part]
    return any(told) or (len(parts) == 5 and meta_model.relation_of(parts[2]) is not None)


def _part(parts: Sequence[str], i: int) -> str:
    return parts[i] if i < len(parts) else ""


def _text(item: Mapping[str, object], key: str) -> str:
    return _plain(item.get(key))


def _plain(value: object) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
