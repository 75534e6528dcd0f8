"""What a person states of a document, as its properties and as its metadata."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from kgrag.ids import digest
from kgrag.ingestion.load.stated_values import (
    BETWEEN,
    LISTED,
    METADATA_FIELDS,
    NATIONAL,
    field_of,
    shortened,
    stated_value,
)
from kgrag.metadata import Metadata
from kgrag.text.regions import level_of

PREFIX = "stated."  # of the properties of a document that hold a statement


def statement(values: Iterable[tuple[str, object]]) -> tuple[dict[str, str], list[str]]:
    """Return what a row states as properties of a document, and what is wrong with it.

    Args:
        values: Columns or keys with what stands there: text, a number, a list of these. Of two
            that mean the same field the first that says something holds.

    Returns:
        (properties, each name with `PREFIX`; problems with their remedy). What is wrong is left
        out, the rest holds.

    >>> statement([("标题", "节能规划"), ("日期", "2022年3月5日"), ("备注", "")])
    ({'stated.title': '节能规划', 'stated.issued': '2022-03-05'}, [])
    """
    found: dict[str, str] = {}
    problems: list[str] = []
    for name, value in values:
        field = field_of(name)
        if not field or field == "file" or PREFIX + field in found:
            continue
        try:
            text = stated_value(field, _text(value))
        except ValueError as exc:
            problems.append(f"{shortened(name.strip())}: {exc}")
            continue
        if text:
            found[PREFIX + field] = text
    return found, problems


def stated_fields(properties: Mapping[str, str]) -> dict[str, str | tuple[str, ...]]:
    """Return the fields of `Metadata` that are stated of a document, ready for `replace`.

    Args:
        properties: Of the document. What a `.jsonl` record states of itself may have any form:
            what cannot be read is left out.

    >>> stated_fields({"stated.issuers": "甲厅；乙局", "stated.title": "丙", "encoding": "gbk"})
    {'issuers': ('甲厅', '乙局')}
    >>> stated_fields({"stated.regions": "全国"})
    {'regions': ()}
    """
    found: dict[str, str | tuple[str, ...]] = {}
    for name, written in properties.items():
        field = field_of(name.removeprefix(PREFIX))
        if not name.startswith(PREFIX) or field not in METADATA_FIELDS:
            continue
        try:
            text = stated_value(field, written)
        except ValueError:
            continue
        if field == "regions" and text == NATIONAL:
            found[field] = ()
        elif text:
            found[field] = tuple(text.split(BETWEEN)) if field in LISTED else text
    return found


def with_stated(metadata: Metadata, properties: Mapping[str, str]) -> Metadata:
    """Return metadata with what is stated of the document in place of what was read.

    Where a region is stated and no level, the level is the region's. What is stated is no longer
    inferred.

    Args:
        metadata: As read.
        properties: Of the document.

    >>> read = Metadata(issuers=("甲厅",), level="省", regions=("云岭省",))
    >>> told = with_stated(read, {"stated.regions": "云岭省；青川市"})
    >>> told.issuers, told.level, told.regions
    (('甲厅',), '市', ('云岭省', '青川市'))
    """
    fields = stated_fields(properties)
    regions = fields.get("regions")
    if regions is not None and "level" not in fields:
        national = metadata.level if metadata.level in ("国家", "部门") else "国家"
        fields["level"] = level_of(regions[-1]) if regions else national
    suggested = tuple(name for name in metadata.inferred if name not in fields)
    return replace(metadata, **fields, inferred=suggested)  # type: ignore[arg-type]


def stated_title(properties: Mapping[str, str]) -> str:
    """Return the title that is stated of a document; "" where none is."""
    return properties.get(f"{PREFIX}title", "")


def stated_digest(properties: Mapping[str, str]) -> str:
    """Return a hash of all that is stated of a document; "" where nothing is."""
    stated = sorted((k, v) for k, v in properties.items() if k.startswith(PREFIX))
    return digest("stated", *(part for pair in stated for part in pair)) if stated else ""


def _text(value: object) -> str:
    if isinstance(value, list):
        return BETWEEN.join(map(_text, value))
    if isinstance(value, bool) or not isinstance(value, str | int | float | None):
        raise ValueError(f"{shortened(str(value))} is no text, number or list of these")
    return "" if value is None else str(value)
