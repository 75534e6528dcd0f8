"""The form in which a model gives facts: rows below the quote that states them, or objects."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from kgrag.ingestion.meta_model import MetaModel, TypedTriple
from kgrag.llm.chat import Schema

_SIGN = re.compile(r"[-+<>=≥≤≈~～－＋]+")
_TEXT: Schema = {"type": "string"}
# A row is subject, type, relation, object, type and then these; without a meta-model it has no
# types. What nothing is told of is empty, and left out at the end.
ITEMS: Schema = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "quote": _TEXT,
            "triples": {"type": "array", "items": {"type": "array", "items": _TEXT}},
        },
        "required": ["quote", "triples"],
        "additionalProperties": False,
    },
}


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
        item: Number of the quote within the answer: two quotes may be equal.
        told: What stands beside it.
    """

    quote: str
    triple: TypedTriple
    item: int = 0
    told: Told = Told()


_TOLD = tuple(field.name for field in fields(Told))


def read_items(items: Iterable[object], meta_model: MetaModel | None = None) -> list[Statement]:
    """Return the statements of an answer; what is missing in one is empty.

    Triples may be rows or objects, with short keys or long ones, below their quote or beside it.

    Args:
        items: Of the answer.
        meta_model: By whose types a row is known to have types.

    Raises:
        ValueError: If no item has the form asked for, though there are some.
    """
    items = list(items)
    found: list[Statement] = []
    for number, item in enumerate(items):
        if not isinstance(item, Mapping):
            continue
        quote = _text(item, "quote")
        beside = "triples" not in item
        if beside and found and found[-1].quote == quote:
            number = found[-1].item
        found += [
            Statement(quote, *_with_value(*_read(row, meta_model, number))) for row in _rows(item)
        ]
    if items and not any(s.triple.subject and s.triple.object for s in found):
        raise ValueError('no item of "facts" has a "quote" and "triples" with subject and object')
    return found


def _rows(item: Mapping[str, object]) -> Iterator[Mapping[str, object] | Sequence[object]]:
    inner = item.get("triples")
    if not isinstance(inner, list):
        yield item
    elif len(inner) >= 3 and all(isinstance(part, str) for part in inner):
        yield inner  # the only row, not in a list of its own
    else:
        yield from (row for row in inner if isinstance(row, Mapping | list))


def _read(
    row: Mapping[str, object] | Sequence[object], meta_model: MetaModel | None, item: int
) -> tuple[TypedTriple, int, Told]:
    if isinstance(row, Mapping):
        triple = TypedTriple(
            subject=_text(row, "s", "subject"),
            subject_type=_text(row, "st", "subject_type"),
            predicate=_text(row, "p", "predicate", "relation"),
            object=_text(row, "o", "object"),
            object_type=_text(row, "ot", "object_type"),
        )
        return triple, item, Told(*(_text(row, name) for name in _TOLD))
    parts = [_plain(part) for part in row]
    typed = meta_model is not None and _has_types(parts, meta_model)
    wanted = (0, 1, 2, 3, 4) if typed else (0, None, 1, 2, None)
    triple = TypedTriple(*("" if i is None else _part(parts, i) for i in wanted))
    rest = parts[5 if typed else 3 :]
    return triple, item, Told(*(_part(rest, i) for i in range(len(_TOLD))))


def _with_value(triple: TypedTriple, item: int, told: Told) -> tuple[TypedTriple, int, Told]:
    """Return a row whose object is only a sign (+) with the value that is told as its object."""
    if not told.value or not _SIGN.fullmatch(triple.object):
        return triple, item, told
    object_ = f"{told.value}{told.unit}"
    sign = told.comparator or triple.object
    return replace(triple, object=object_), item, replace(told, comparator=sign)


def _has_types(parts: Sequence[str], meta_model: MetaModel) -> bool:
    """Return whether a row has types: it is told one, or is too long for one without."""
    told = [meta_model.type_of(part) for i in (1, 4) for part in [_part(parts, i)] if part]
    return any(told) or (len(parts) == 5 and meta_model.relation_of(parts[2]) is not None)


def _part(parts: Sequence[str], i: int) -> str:
    return parts[i] if i < len(parts) else ""


def _text(row: Mapping[str, object], *keys: str) -> str:
    return _plain(next((row[key] for key in keys if key in row), ""))


def _plain(value: object) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int | float) else ""
